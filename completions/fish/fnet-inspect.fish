# SPDX-License-Identifier: Apache-2.0
# Completion of fnet-inspect for fish.

complete -c fnet-inspect -s j -l json -d 'A JSON object per line'
complete -c fnet-inspect -s s -l summary -d 'Only what each connection and channel amounted to'
complete -c fnet-inspect -l records -d 'Decode records, too'
complete -c fnet-inspect -l serde -x -a 'raw string long int bytes' -d 'Type of Flink records'
complete -c fnet-inspect -l dialect -x -a auto -d 'Read as a version of Flink writes'
complete -c fnet-inspect -l codec -x -a 'auto lz4 zstd lzo' -d 'Codec of compressed buffers'
complete -c fnet-inspect -s x -d 'Hex dump of payloads, too'
complete -c fnet-inspect -l strict -d 'Exit 4 if anything was malformed, cut or missing'
complete -c fnet-inspect -s q -l quiet -d 'Say errors only'
complete -c fnet-inspect -s v -l verbose -d 'Say every problem'
complete -c fnet-inspect -l help -d 'Show a summary of the options'
complete -c fnet-inspect -l version -d 'Show the version'
