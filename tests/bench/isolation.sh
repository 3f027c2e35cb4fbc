#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One slow reader stops only itself. One connection carries 64 channels: 63 subpartitions of one
# partition, and one of another, whose gate's output nobody reads in one contender. What is compared
# is how fast the 63 are delivered.
#
#     BUILD=build/release tests/bench/isolation.sh       (settings: see harness.bash)
# shellcheck source=tests/bench/harness.bash
source "$(dirname "$0")/harness.bash"

mkfifo "$work/rest" "$work/other"
other_bytes=4000000 # more than all buffers, sockets and pipes between hold

# Each line begins with the number of its subpartition.
make_input() { # MEGABYTES
    awk 'BEGIN {
            fill = sprintf("%097d", 0)
            for (i = 0; i < 10080; i++)
                printf "%02d\t%s\n", i % 63, fill
        }' >"$work/block"
    repeat_block "$1" "$work/input"
    bytes=$(stat -c %s "$work/input")
    records=$((bytes / 101))
}

make_other() {
    yes "$(printf '00\t%097d' 0)" | head -c "$other_bytes" >"$work/other_input" || true
}

# `main` and `other` have 63 subpartitions each, but all of other's records go to the first, and only
# that one is asked for. The run is over when all of main has come.
run_gates() { # stalled | free
    exec 4<>"$work/rest" 5<>"$work/other"
    spawn send fnet-produce -q -n 63 -s index -k 1 -l 127.0.0.1:0 --ready-fd 3 \
        "main=$work/input" "other=$work/other_input" 3>"$work/ready"
    await_ready || return 1
    spawn receive fnet-consume -q -o "$work/rest" "$address/main" \
        --next -o "$work/other" "$address/other:0"
    [[ $1 == stalled ]] || spawn reader cat <"$work/other" >/dev/null
    head -c "$bytes" "$work/rest" >/dev/null || return 1
    measured=$(micro_seconds "$from" "$EPOCHREALTIME")
    [[ $1 == free ]] || is_stalled || return 1
    end_gates
    seconds=$measured
}

# Its reader never came: neither side can have ended.
is_stalled() {
    kill -0 "${running[@]}" 2>/dev/null
}

# Subpartitions that nobody asked for keep the producer waiting in any case.
end_gates() {
    exec 4<&- 5<&-
    stop_running
}

! is_wanted isolation/rest && exit
begin_group isolation/rest '63 channels, beside one on the same connection that is free, or stalled'
make_other
contender free run_gates free
contender stalled run_gates stalled
fit_input make_input
rounds=$((2 * rounds))
run_rounds note_rate
report 'rate records wall cpu send receive' stalled/free
