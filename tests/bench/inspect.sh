#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How fast are captures decoded, by fnet-inspect and by tshark? Lines are carried from a producer to a
# consumer and captured three ways:
#
#     trace     by the consumer's --trace
#     loopback  by tcpdump on the loopback interface as it comes, packets of up to 64 KiB
#     ethernet  the same with packets of 1500 bytes, as on a wire
#
# Then the programs take turns at each file, ROUNDS times, so that a busy moment hits all alike.
#
#     BUILD=build/release tests/bench/inspect.sh [LINE-BYTES]            (100)
#
# MEGABYTES of lines (256), ROUNDS (5), CAPTURES='trace ...' only those. First come the medians as TSV
# (name, value, unit), then a table to read. What is missing is said to be skipped: tcpdump needs a
# network namespace of its own, as root or where users may have one. tshark is given up after
# TSHARK_SECONDS (60): then its rate is at most what is said.
set -euo pipefail

BUILD=$(cd "${BUILD:-build/release}" && pwd)
PATH=$BUILD:$PATH
line_bytes=${1:-100}
megabytes=${MEGABYTES:-256}
rounds=${ROUNDS:-5}
tshark_seconds=${TSHARK_SECONDS:-60}
read -ra captures <<<"${CAPTURES:-trace loopback ethernet}"
tools=(summary text json tshark tshark_conv)

# In memory where that is possible: a disk would be measured otherwise.
place=/tmp
[[ ! -w /dev/shm ]] || place=/dev/shm
work=$(mktemp -d "$place/fnet-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT

say() {
    printf 'inspect.sh: %s\n' "$*" >&2
}

progress() {
    [[ ! -t 2 ]] || printf '\r\033[K%s' "$*" >&2
}

# ---- captures --------------------------------------------------------------------------------

# 100,000 different lines, again and again.
make_input() {
    local i
    seq -f "%0${line_bytes}.0f" 1 100000 >"$work/block"
    for ((i = 0; i <= megabytes * 10 / (line_bytes + 1); i++)); do
        cat "$work/block"
    done >"$work/input"
    rm "$work/block"
}

# Wait until CONDITION holds, 10 seconds at most.
await() { # CONDITION...
    local tries
    for ((tries = 0; tries < 1000; tries++)); do
        ! "$@" || return 0
        sleep 0.01
    done
    return 1
}

# Carry the input from one process to another on PORT (0: any).
carry() { # PORT CONSUME-OPTION...
    local producer port=$1
    shift
    rm -f "$work/port"
    fnet-produce -q -n 4 -l "127.0.0.1:$port" --port-file "$work/port" <"$work/input" &
    producer=$!
    await test -s "$work/port"
    fnet-consume -q "$@" "$(head -n 1 "$work/port")" >/dev/null
    wait "$producer"
}

# Has tcpdump nothing more to write?
is_quiet() { # FILE
    local before
    before=$(stat -c %s "$1")
    sleep 0.3
    [[ $(stat -c %s "$1") -eq $before ]]
}

# Capture to FILE what goes over the loopback interface, in packets of up to MTU bytes; fails if some
# were lost. Runs in a network namespace of its own, so that the port is free and nothing else goes by.
record() { # FILE MTU
    local tcpdump
    : >"$work/tcpdump"
    ip link set lo up mtu "$2"
    # Else segments are cut into packets only where a network card does it: on loopback nowhere.
    [[ $2 -gt 1500 ]] || ip link set lo gso_max_size "$2" gso_max_segs 1
    tcpdump -i lo -s 0 -B 262144 -Z "$(id -un)" -w "$1" tcp port 6121 2>"$work/tcpdump" &
    tcpdump=$!
    await grep -q 'listening on' "$work/tcpdump"
    carry 6121
    await is_quiet "$1"
    kill -s INT "$tcpdump"
    wait "$tcpdump"
    grep -q '^0 packets dropped by kernel' "$work/tcpdump"
}

# Words that make unshare give a network namespace; fails if it does not.
namespace_options() {
    local options
    for options in --net '--net --map-root-user'; do
        # shellcheck disable=SC2086 # several words
        if unshare $options true 2>/dev/null; then
            printf '%s\n' "$options"
            return
        fi
    done
    return 1
}

# A busy moment costs packets: another try or two.
record_apart() { # FILE MTU
    local options try
    options=$(namespace_options)
    export work
    export -f record carry await is_quiet
    for try in 1 2 3; do
        # shellcheck disable=SC2086 # several words
        ! unshare $options bash -euc 'record "$@"' record "$1" "$2" || return 0
    done
    say "$try captures in turn failed: $(tail -n 1 "$work/tcpdump")"
    exit 1
}

make_capture() { # NAME
    case $1 in
    trace) carry 0 --trace "$work/$1" ;;
    loopback) record_apart "$work/$1" 65536 ;;
    ethernet) record_apart "$work/$1" 1500 ;;
    esac
}

can_capture() { # NAME
    case $1 in
    trace) true ;;
    loopback | ethernet)
        command -v tcpdump ip unshare >/dev/null && namespace_options >/dev/null
        ;;
    *)
        say "no capture is called $1"
        exit 2
        ;;
    esac
}

# ---- the tools -------------------------------------------------------------------------------

run() { # TOOL FILE
    case $1 in
    summary) fnet-inspect -q --summary "$2" ;;
    text) fnet-inspect -q "$2" ;;
    json) fnet-inspect -q --json "$2" ;;
    tshark) timeout "$tshark_seconds" tshark -r "$2" ;;
    tshark_conv) timeout "$tshark_seconds" tshark -q -z conv,tcp -r "$2" ;;
    esac >/dev/null 2>"$work/said"
}

is_there() { # TOOL
    case $1 in
    tshark*) command -v tshark >/dev/null ;;
    *) [[ -x $BUILD/fnet-inspect ]] ;;
    esac
}

# One run; appends "CAPTURE TOOL MICROSECONDS" to the results.
measure() { # CAPTURE TOOL
    local from to status=0
    from=$EPOCHREALTIME
    run "$2" "$work/$1" || status=$?
    to=$EPOCHREALTIME
    if [[ $2 == tshark* && $status -eq 124 ]]; then
        say "$2 was given up at $1 after $tshark_seconds seconds"
        given_up[$1/$2]=1
    elif [[ $status -ne 0 ]]; then
        say "$2 failed at $1: $(tail -n 1 "$work/said")"
        exit 1
    fi
    printf '%s %s %d\n' "$1" "$2" $((${to/./} - ${from/./})) >>"$work/results"
}
declare -A given_up=()

# ---- the table -------------------------------------------------------------------------------

# Medians: CAPTURE TOOL SECONDS GB/S
medians() {
    sort -k 1,1 -k 2,2 -k 3,3n "$work/results" | awk '
        function finish(   median) {
            if (!n)
                return
            median = n % 2 ? took[(n + 1) / 2] : (took[n / 2] + took[n / 2 + 1]) / 2
            printf "%s %s %.4f %.4f\n", capture, tool, median / 1e6, size_of[capture] / median / 1e3
        }
        NR == FNR { size_of[$1] = $2; next }
        $1 != capture || $2 != tool { finish(); n = 0; capture = $1; tool = $2 }
        { took[++n] = $3 }
        END { finish() }' "$work/sizes" -
}

report_tsv() {
    awk '{ printf "inspect/%s/%s/rate\t%s\tGB/s\n", $1, $2, $4; took[$1, $2] = $3; seen[$1] = 1 }
         END {
             for (capture in seen)
                 if ((capture, "tshark") in took)
                     printf "inspect/%s/summary/of_tshark\t%.1f\tratio\n", capture,
                         took[capture, "tshark"] / took[capture, "summary"]
         }' "$work/medians"
}

report_table() {
    awk -v tools="${tools[*]}" '
        NR == FNR { order[++m] = $1; size[$1] = $2; next }
        { took[$1, $2] = $3; rate[$1, $2] = $4 }
        END {
            n = split(tools, tool, " ")
            for (c = 1; c <= m; c++) {
                printf "\n%-10s%8.0f MB%12s%12s%14s\n", order[c], size[order[c]] / 1e6, "ms",
                    "GB/s", "x tshark"
                for (t = 1; t <= n; t++) {
                    if (!((order[c], tool[t]) in took))
                        continue
                    bar = took[order[c], "tshark"]
                    printf "  %-19s%12.1f%12.2f%14s\n", tool[t], took[order[c], tool[t]] * 1e3,
                        rate[order[c], tool[t]],
                        bar ? sprintf("%.1f", bar / took[order[c], tool[t]]) : "-"
                }
            }
        }' "$work/sizes" "$work/medians"
}

present=()
for tool in "${tools[@]}"; do
    if is_there "$tool"; then
        present+=("$tool")
    else
        say "skipped: $tool is not there"
    fi
done

make_input
for capture in "${captures[@]}"; do
    if ! can_capture "$capture"; then
        say "skipped: $capture, tcpdump, ip, unshare or the right to use them is not there"
        continue
    fi
    progress "$capture"
    make_capture "$capture"
    printf '%s %s\n' "$capture" "$(stat -c %s "$work/$capture")" >>"$work/sizes"
    for ((round = 1; round <= rounds; round++)); do
        for tool in "${present[@]}"; do
            progress "$capture, round $round, $tool"
            [[ -n ${given_up[$capture/$tool]:-} ]] || measure "$capture" "$tool"
        done
    done
    progress ''
    rm "$work/$capture"
done

medians >"$work/medians"
report_tsv
report_table
