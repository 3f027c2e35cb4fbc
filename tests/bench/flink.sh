#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Flink's own network benchmarks (flink-benchmarks, StreamNetwork...BenchmarkExecutor) by their
# names, with their records of 8 bytes, channels and buffer timeouts; one writer, and one consumer
# of all channels. Records are counted as Flink counts them: those that were written.
# Skewed: every channel gets one record, channel 0 all others.
#
#     BUILD=build/release tests/bench/flink.sh           (settings: see harness.bash)
# shellcheck source=tests/bench/harness.bash
source "$(dirname "$0")/harness.bash"
# shellcheck source=tests/bench/contenders.bash
source "$bench/contenders.bash"

columns='records rate wall cpu send receive'
input=$work/input
format=(-f fixed:8)

make_records() { # MEGABYTES
    make_lines 8 "$1" "$input" raw
    count_records
}

# The key of a record is its channel's number: 00000000.
make_skewed() { # MEGABYTES
    make_zeros
    repeat_block "$1" "$work/zeros"
    {
        seq -f '%08.0f' 1 999 | tr -d '\n'
        cat "$work/zeros"
    } >"$input"
    rm "$work/zeros"
    count_records
}
make_zeros() {
    head -c 1000000 /dev/zero | tr '\0' 0 >"$work/block"
}

count_records() {
    bytes=$(stat -c %s "$input")
    records=$((bytes / 8))
}

# A hundredth of the input is as much to send.
make_broadcast() { # MEGABYTES
    local size=$(($1 * 10000))
    make_zeros
    repeat_block $(($1 / 100 + 1)) "$input"
    truncate -s "$size" "$input"
    records=$((size / 8))
    bytes=$((size * 100))
}

throughput() {
    begin_group flink/throughput 'networkThroughput (channels, buffer timeout)'
    contender 100,100ms run_fnet -n 100 --buffer-timeout 100ms "${format[@]}" -- "${format[@]}"
    contender 1000,1ms run_fnet -n 1000 --buffer-timeout 1ms "${format[@]}" -- "${format[@]}"
    contender 1000,100ms run_fnet -n 1000 --buffer-timeout 100ms "${format[@]}" -- "${format[@]}"
    fit_input make_records
    run_rounds note_rate
    report "$columns" 1000,{1ms,100ms}/100,100ms 1000,1ms/1000,100ms
}

skewed() {
    begin_group flink/skewed 'networkSkewedThroughput (1000 channels, 1 ms)'
    contender 1000,1ms run_fnet -n 1000 -s index --buffer-timeout 1ms "${format[@]}" -- \
        "${format[@]}"
    fit_input make_skewed
    run_rounds note_rate
    report "$columns"
}

broadcast() {
    begin_group flink/broadcast \
        'networkBroadcastThroughput (100 channels, 100 ms; MB/s as delivered to all)'
    contender 100,100ms run_fnet -n 100 -s broadcast --buffer-timeout 100ms "${format[@]}" -- \
        "${format[@]}"
    fit_input make_broadcast
    run_rounds note_rate
    report "$columns"
}

! is_wanted flink/throughput || throughput
! is_wanted flink/skewed || skewed
! is_wanted flink/broadcast || broadcast
