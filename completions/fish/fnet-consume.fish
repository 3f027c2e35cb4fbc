# SPDX-License-Identifier: Apache-2.0
# Completion of fnet-consume for fish.

# Operands are HOST[:PORT][/NAME[:SUBS]] or unix:PATH/NAME[:SUBS].
function __fnet_consume_endpoints
    set -l word (commandline -ct)
    if string match -q 'unix:*' -- $word
        for file in (__fish_complete_path (string replace unix: '' -- $word))
            echo unix:$file
        end
    else
        __fish_print_hostnames
        echo unix:
    end
end

complete -c fnet-consume -f -a '(__fnet_consume_endpoints)'
complete -c fnet-consume -s o -l output -r -F -d 'Where records go'
complete -c fnet-consume -s f -l format -x -a 'lines nul fixed: u32 bytes' -d 'Format of the output'
complete -c fnet-consume -s z -d 'Records end in NUL'
complete -c fnet-consume -s d -l delimiter -x -d 'What lines end in'
complete -c fnet-consume -l serde -x -a 'raw string long int bytes' -d 'Type of Flink records'
complete -c fnet-consume -s t -l field-separator -x -d 'What stands between fields of a tuple'
complete -c fnet-consume -l tag -d 'Put NAME:SUB before each record'
complete -c fnet-consume -l limit -x -d 'Stop after so many records'
complete -c fnet-consume -s b -l buffers-per-channel -x -d 'Exclusive buffers of a channel'
complete -c fnet-consume -l floating-buffers -x -d 'Buffers shared by channels'
complete -c fnet-consume -l dialect -x -d 'Speak as a version of Flink'
complete -c fnet-consume -l codec -x -a 'lz4 zstd lzo' -d 'Codec of compressed buffers'
complete -c fnet-consume -l next -d 'What follows is another gate'
complete -c fnet-consume -l connect-timeout -x -d 'How long an address may take to answer'
complete -c fnet-consume -l retry -x -a 'forever' -d 'Try again to connect'
complete -c fnet-consume -l request-backoff -x -d 'Wait before asking again for a partition'
complete -c fnet-consume -l idle-timeout -x -d 'When a silent producer is lost'
complete -c fnet-consume -l max-connections -x -d 'Connections to each producer'
complete -c fnet-consume -l segment-size -x -d 'Bytes of a network buffer'
complete -c fnet-consume -l plaintext -d 'Allow addresses beyond this host'
complete -c fnet-consume -l list -d 'Print what the producers serve'
complete -c fnet-consume -l trace -r -F -d 'Write every frame to a file'
complete -c fnet-consume -l progress -f -a 'auto always never' -d 'Show progress'
complete -c fnet-consume -l stats -r -F -d 'Write statistics to a file'
complete -c fnet-consume -l stats-interval -x -d 'How often'
complete -c fnet-consume -l digest -d 'Print count and hash of records'
complete -c fnet-consume -l dry-run -d 'Print what would be done'
complete -c fnet-consume -s q -l quiet -d 'Say errors only'
complete -c fnet-consume -s v -l verbose -d 'Say more'
complete -c fnet-consume -l help -d 'Show a summary of the options'
complete -c fnet-consume -l version -d 'Show the version'
