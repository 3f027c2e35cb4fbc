# SPDX-License-Identifier: Apache-2.0
# Completion of fnet-produce for fish.

# Operands are NAME=FILE.
function __fnet_produce_partitions
    set -l word (commandline -ct)
    if string match -q '*=*' -- $word
        set -l parts (string split -m 1 = -- $word)
        for file in (__fish_complete_path $parts[2])
            echo $parts[1]=$file
        end
    end
end

complete -c fnet-produce -f -a '(__fnet_produce_partitions)'
complete -c fnet-produce -s l -l listen -x -a '(__fish_print_hostnames) unix:' -d 'Listen on PORT, HOST:PORT or unix:PATH'
complete -c fnet-produce -s n -l subpartitions -x -d 'Subpartitions of each partition'
complete -c fnet-produce -s s -l selector -x -a 'rebalance hash broadcast shuffle global forward rescale index' -d 'Which subpartition a record goes to'
complete -c fnet-produce -s k -l key -x -d 'Fields that are the key'
complete -c fnet-produce -s t -l field-separator -x -d 'What stands between fields'
complete -c fnet-produce -l max-parallelism -x -d 'Key groups for hash'
complete -c fnet-produce -s f -l format -x -a 'lines nul fixed: u32 bytes' -d 'Format of the input'
complete -c fnet-produce -s z -d 'Records end in NUL'
complete -c fnet-produce -s d -l delimiter -x -d 'What lines end in'
complete -c fnet-produce -l serde -x -a 'raw string long int bytes' -d 'Type of Flink records'
complete -c fnet-produce -s T -l type -x -a 'pipelined pipelined-bounded' -d 'Type of the partitions'
complete -c fnet-produce -l buffer-timeout -x -a '0 100ms none' -d 'Flush at the latest after'
complete -c fnet-produce -l segment-size -x -d 'Bytes of a network buffer'
complete -c fnet-produce -s b -l buffers-per-channel -x -d 'Exclusive buffers of a subpartition'
complete -c fnet-produce -l floating-buffers -x -d 'Buffers shared by subpartitions'
complete -c fnet-produce -l max-buffers-per-channel -x -d 'Most buffers of one subpartition'
complete -c fnet-produce -l memory -x -d 'Memory for all buffers'
complete -c fnet-produce -l compress -x -a 'lz4 zstd lzo' -d 'Compress buffers with'
complete -c fnet-produce -l ready-fd -x -d 'Write the bound addresses to a descriptor'
complete -c fnet-produce -l port-file -r -F -d 'Write the bound addresses to a file'
complete -c fnet-produce -l wait -x -d 'How long to wait for consumers'
complete -c fnet-produce -l idle-timeout -x -d 'When a silent consumer is lost'
complete -c fnet-produce -l plaintext -d 'Allow addresses beyond this host'
complete -c fnet-produce -l trace -r -F -d 'Write every frame to a file'
complete -c fnet-produce -l progress -f -a 'auto always never' -d 'Show progress'
complete -c fnet-produce -l stats -r -F -d 'Write statistics to a file'
complete -c fnet-produce -l stats-interval -x -d 'How often'
complete -c fnet-produce -l digest -d 'Print count and hash of records'
complete -c fnet-produce -l dry-run -d 'Print what would be done'
complete -c fnet-produce -s q -l quiet -d 'Say errors only'
complete -c fnet-produce -s v -l verbose -d 'Say more'
complete -c fnet-produce -l help -d 'Show a summary of the options'
complete -c fnet-produce -l version -d 'Show the version'
