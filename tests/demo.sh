#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job, shown: a million records are split by their key into four subpartitions, two
# consumers read two subpartitions each over TCP, and nothing is lost. Then a recorded
# conversation is looked at frame by frame.
#
#     BUILD=build/release [RECORDS=1000000] tests/demo.sh
set -euo pipefail

BUILD=$(cd "${BUILD:-build/release}" && pwd)
PATH=$BUILD:$PATH
records=${RECORDS:-1000000}

work=$(mktemp -d)
pids=()
tidy() {
    local pid
    for pid in "${pids[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap tidy EXIT
cd "$work"

say() {
    printf '\n%s\n' "$*"
}
show() {
    printf '  $ %s\n' "$*"
}

# Start COMMAND in the background after showing it; FILE takes its output, - the terminal.
launch() { # FILE COMMAND...
    local file=$1
    shift
    if [[ $file == - ]]; then
        "$@" <&0 &
    else
        "$@" <&0 >"$file" &
    fi
    pids+=($!)
}

# The address in the port file, which appears once the producer listens.
address_in() { # FILE
    local tries
    for ((tries = 0; tries < 1000; tries++)); do
        [[ ! -s $1 ]] || break
        sleep 0.01
    done
    head -n 1 "$1"
}

say "fnet-produce serves $records records in four subpartitions; equal keys meet in one of them:"
show "seq 1 $records | fnet-produce -n 4 -s hash -l 127.0.0.1:0 --port-file port &"
seq 1 "$records" >numbers
launch - fnet-produce -n 4 -s hash -l 127.0.0.1:0 --port-file port <numbers
address=$(address_in port)
printf '  it listens at %s\n' "$address"

say 'Two consumers take two subpartitions each, each at its own pace:'
show "fnet-consume $address/main:0-1 > first &"
show "fnet-consume $address/main:2-3 > second &"
launch first fnet-consume "$address/main:0-1"
launch second fnet-consume "$address/main:2-3"

failed=0
for pid in "${pids[@]}"; do
    wait "$pid" || failed=$?
done
pids=()
[[ $failed -eq 0 ]] || { printf 'demo: a program failed with status %d\n' "$failed" >&2; exit 1; }
printf '  all three ended with status 0: every record was acknowledged\n'
printf '  first  has %8d records\n  second has %8d records\n' "$(wc -l <first)" "$(wc -l <second)"

say 'Together they are the input, each record once:'
show "sort -n first second | cmp - <(seq 1 $records)"
sort -n first second | cmp - numbers
printf '  equal\n'

say 'The frames of a small conversation, recorded by --trace and decoded by fnet-inspect:'
show 'printf "to be\nor not\nto be\n" | fnet-produce -n 2 -s hash --trace trace ... &'
show 'fnet-inspect --records trace'
printf 'to be\nor not\nto be\n' >words
launch - fnet-produce -q -n 2 -s hash -l 127.0.0.1:0 --port-file port2 --trace trace <words
fnet-consume -q "$(address_in port2)" >/dev/null
wait "${pids[0]}"
pids=()
fnet-inspect --records trace | sed 's/^/  /' | tee decoded
grep -q BufferResponse decoded

say "That was fnet. The commands are in $BUILD; \`make install\` puts them into /usr/local."
