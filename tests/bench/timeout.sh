#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the buffer timeout costs and buys. Throughput: lines of 100 bytes as fast as they go. Latency:
# 1,000 lines a second that hold the time at which they were written, from one pipe to another;
# beside the bare relay of pinger.c (pipe, TCP, pipe) and nc.
#
#     BUILD=build/release tests/bench/timeout.sh         (settings: see harness.bash)
# shellcheck source=tests/bench/harness.bash
source "$(dirname "$0")/harness.bash"
# shellcheck source=tests/bench/contenders.bash
source "$bench/contenders.bash"

input=$work/input
timeouts=(0 1ms 10ms 100ms none)

make_input() { # MEGABYTES
    make_lines 100 "$1" "$input"
    bytes=$(stat -c %s "$input")
    records=$((bytes / 101))
}

# Ratios near 1 need more rounds than others.
throughput() {
    local timeout
    begin_group timeout/throughput 'throughput of lines of 100 bytes, by buffer timeout'
    for timeout in "${timeouts[@]}"; do
        contender "$timeout" run_fnet -n 4 --buffer-timeout "$timeout"
    done
    fit_input make_input
    rounds=$((2 * rounds))
    run_rounds note_rate
    rounds=$((rounds / 2))
    report 'rate records wall cpu send receive' {0,1ms,10ms,none}/100ms
}

# ---- latency ---------------------------------------------------------------------------------

rate=1000
seconds_each=3
[[ -z $quick ]] || seconds_each=1
skip=$((rate / 4)) # while both sides come up
mkfifo "$work/in" "$work/out"

# Both pipes have both ends open here until all programs are there: no open waits for another.
run_ping() { # FUNCTION [ARGUMENT]...
    exec 4<>"$work/in" 5<>"$work/out"
    "$@" || return 1
    spawn pinger pinger receive "$skip" <"$work/out" >"$work/delays"
    spawn pinger pinger send "$rate" $((rate * seconds_each + skip)) >"$work/in"
    exec 4<&- 5<&-
}

ping_fnet() { # SUBPARTITIONS TIMEOUT
    spawn send fnet-produce -q -n "$1" --buffer-timeout "$2" -l 127.0.0.1:0 --ready-fd 3 \
        <"$work/in" 3>"$work/ready"
    await_ready && spawn receive fnet-consume -q "$address" >"$work/out"
}

ping_bare() {
    spawn send pinger serve "$work/ready" <"$work/in"
    await_ready && spawn receive pinger fetch "$address" >"$work/out"
}

ping_nc() {
    free_port
    spawn receive nc -l 127.0.0.1 "$port" >"$work/out"
    await_listening "$port" && spawn send nc -N 127.0.0.1 "$port" <"$work/in"
}

note_delays() {
    local p50 p99 p999 most
    read -r p50 p99 p999 most <"$work/delays"
    note p50 "$p50"
    note p99 "$p99"
    note p99.9 "$p999"
    note max "$most"
}

latency() {
    local timeout
    begin_group timeout/latency \
        "latency at $rate lines a second, by subpartitions and buffer timeout"
    contender bare run_ping ping_bare
    rival nc nc run_ping ping_nc
    for timeout in "${timeouts[@]}"; do
        contender "n1,$timeout" run_ping ping_fnet 1 "$timeout"
    done
    for timeout in "${timeouts[@]}"; do
        contender "n4,$timeout" run_ping ping_fnet 4 "$timeout"
    done
    run_rounds note_delays
    report 'p99 p50 p99.9 max cpu send receive' nc/bare n{1,4},{0,1ms,10ms,100ms,none}/bare \
        n{1,4},0/bare:p50 n{1,4},0/bare:p99.9
}

! is_wanted timeout/throughput || throughput
! is_wanted timeout/latency || latency
