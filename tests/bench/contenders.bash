# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034,SC2154 # shared with harness.bash, which is sourced before
# How fnet, and whom it is compared with, carry the file $input from one process to another on this
# host, to /dev/null. Each function starts all programs of a run.

# ---- fnet ------------------------------------------------------------------------------------

start_producer() { # ADDRESS OPTION...
    spawn send fnet-produce -q -l "$1" --ready-fd 3 "${@:2}" <"$input" 3>"$work/ready"
    await_ready
}

run_fnet() { # [PRODUCE-OPTION]... [-- [CONSUME-OPTION]...]
    run_fnet_at 127.0.0.1:0 "$@"
}

run_fnet_unix() { # the same
    run_fnet_at "unix:$work/socket" "$@"
}

run_fnet_at() { # ADDRESS the same
    local of_producer=("$1")
    shift
    while [[ $# -gt 0 && $1 != -- ]]; do
        of_producer+=("$1")
        shift
    done
    start_producer "${of_producer[@]}" &&
        spawn receive fnet-consume -q "${@:2}" "$address" >/dev/null
}

# Each consumer reads as many of the subpartitions as the next.
run_fnet_shared() { # CONSUMERS SUBPARTITIONS [PRODUCE-OPTION]...
    local each=$(($2 / $1)) i
    start_producer 127.0.0.1:0 -n "$2" "${@:3}" || return 1
    for ((i = 0; i < $2; i += each)); do
        spawn receive fnet-consume -q "$address/main:$i-$((i + each - 1))" >/dev/null
    done
}

# Four files, as awk and split write them below.
run_fnet_files() {
    local i
    rm -f "$work"/part.*
    start_producer 127.0.0.1:0 -n 4 -s rescale || return 1
    for ((i = 0; i < 4; i++)); do
        spawn receive fnet-consume -q -o "$work/part.$i" "$address/main:$i" >/dev/null
    done
}

# ---- the bare loop, and tools that frame nothing ---------------------------------------------

run_bareloop() {
    spawn send bareloop send "$work/ready" <"$input"
    await_ready && spawn receive bareloop receive "$address" >/dev/null
}

run_nc() {
    free_port
    spawn receive nc -l 127.0.0.1 "$port" >/dev/null
    await_listening "$port" && spawn send nc -N 127.0.0.1 "$port" <"$input"
}

run_socat() {
    free_port
    spawn receive socat -u -b131072 "TCP-LISTEN:$port,bind=127.0.0.1" - >/dev/null
    await_listening "$port" && spawn send socat -u -b131072 - "TCP:127.0.0.1:$port" <"$input"
}

run_mbuffer() {
    free_port
    spawn receive mbuffer -q -I "127.0.0.1:$port" >/dev/null
    await_listening "$port" && spawn send mbuffer -q -O "127.0.0.1:$port" <"$input" >/dev/null
}

# The roof: it reads and writes no files. It knows best how long the bytes took; besides it talks.
run_iperf3() { # BYTES-A-WRITE
    free_port
    spawn receive iperf3 -s -1 -B 127.0.0.1 -p "$port" >/dev/null
    await_listening "$port" || return 1
    spawn send iperf3 -c 127.0.0.1 -p "$port" -n "$bytes" -l "$1" -J >"$work/iperf3" </dev/null
    finish || return 1
    seconds=$(awk -v bytes="$bytes" '
        /"sum_received"/                { inside = 1 }
        inside && /"bits_per_second"/   { sub(/.*:/, ""); rate = $0 + 0 }
        inside && /}/                   { inside = 0 }
        END                             { printf "%.6f", bytes * 8 / rate }' "$work/iperf3")
}

# ---- routing into four files, within one process ---------------------------------------------

run_awk() {
    rm -f "$work"/part.*
    spawn send awk -v "to=$work/part." '{ print > (to NR % 4) }' <"$input"
}

run_split() {
    rm -f "$work"/part.*
    spawn send split -n r/4 - "$work/part." <"$input"
}
