#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How fast are lines carried from one process to another over TCP on this host, by fnet, by the bare
# loop (bareloop.c) and by tools that frame nothing? Every tool reads the same file by redirection
# and writes to /dev/null; they take turns, ROUNDS times, so that a busy moment hits all alike.
#
#     BUILD=build/release tests/bench/loopback.sh [LINE-BYTES]...        (8 100)
#
# MEGABYTES of input (512), ROUNDS (5), TOOLS='fnet nc ...' only those, BASELINE=FILE a table of
# medians printed earlier to compare with. First come the medians as TSV (name, value, unit), then a
# table to read. A tool that is missing is said to be skipped.
set -euo pipefail

BUILD=$(cd "${BUILD:-build/release}" && pwd)
PATH=$BUILD:$BUILD/tests/bench:$PATH
megabytes=${MEGABYTES:-512}
rounds=${ROUNDS:-5}
read -ra tools <<<"${TOOLS:-bareloop fnet fnet-hash nc socat mbuffer}"
sizes=("$@")
[[ ${#sizes[@]} -gt 0 ]] || sizes=(8 100)

# In memory where that is possible: a disk would be measured otherwise.
place=/tmp
[[ ! -w /dev/shm ]] || place=/dev/shm
work=$(mktemp -d "$place/fnet-bench.XXXXXX")
listener=
tidy() {
    [[ -z $listener ]] || kill "$listener" 2>/dev/null || true
    rm -rf "$work"
}
trap tidy EXIT

# ---- input -----------------------------------------------------------------------------------

# 100,000 different lines of BYTES each, again and again.
make_input() { # BYTES FILE
    local block_bytes=$((($1 + 1) * 100000)) i
    seq -f "%0$1.0f" 1 100000 >"$work/block"
    for ((i = 0; i <= megabytes * 1000000 / block_bytes; i++)); do
        cat "$work/block"
    done >"$2"
}

# ---- ports -----------------------------------------------------------------------------------
# What can choose a port by itself does; for the others a free one is drawn below the range from
# which the kernel takes the ports of outgoing connections.

is_listening() { # PORT
    awk -v port="$(printf ':%04X' "$1")" '
        $4 == "0A" && $2 ~ port "$" { found = 1 } END { exit !found }' /proc/net/tcp /proc/net/tcp6
}

free_port() {
    port=$((20000 + RANDOM % 12000))
    while is_listening "$port"; do
        port=$((20000 + RANDOM % 12000))
    done
}

# Wait until CONDITION holds while process PID lives.
await() { # PID CONDITION...
    local pid=$1 tries
    shift
    for ((tries = 0; tries < 1000; tries++)); do
        ! "$@" || return 0
        kill -0 "$pid" 2>/dev/null || return 1
        sleep 0.01
    done
    return 1
}

# ---- the tools -------------------------------------------------------------------------------
# Each has a function that brings up the listening side and one that runs the other; time runs from
# the start of the second until both have ended.

listen_bareloop() {
    bareloop send "$work/port" <"$input" &
    listener=$!
    await "$listener" test -s "$work/port"
}
connect_bareloop() {
    bareloop receive "$(<"$work/port")" >/dev/null
}

produce() { # OPTION...
    fnet-produce -q -n 4 "$@" -l 127.0.0.1:0 --port-file "$work/port" <"$input" &
    listener=$!
    await "$listener" test -s "$work/port"
}
listen_fnet() {
    produce
}
listen_fnet-hash() {
    produce -s hash
}
connect_fnet() {
    fnet-consume -q "$(head -n 1 "$work/port")" >/dev/null
}
connect_fnet-hash() {
    connect_fnet
}

listen_nc() {
    free_port
    nc -l 127.0.0.1 "$port" >/dev/null &
    listener=$!
    await "$listener" is_listening "$port"
}
connect_nc() {
    nc -N 127.0.0.1 "$port" <"$input"
}

listen_socat() {
    free_port
    socat -u -b131072 "TCP-LISTEN:$port,bind=127.0.0.1" - >/dev/null &
    listener=$!
    await "$listener" is_listening "$port"
}
connect_socat() {
    socat -u -b131072 - "TCP:127.0.0.1:$port" <"$input"
}

listen_mbuffer() {
    free_port
    mbuffer -q -I "127.0.0.1:$port" >/dev/null 2>&1 &
    listener=$!
    await "$listener" is_listening "$port"
}
connect_mbuffer() {
    mbuffer -q -O "127.0.0.1:$port" <"$input" >/dev/null 2>&1
}

is_there() { # TOOL
    case $1 in
    fnet | fnet-hash) [[ -x $BUILD/fnet-produce && -x $BUILD/fnet-consume ]] ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

# One run; appends "TOOL BYTES SECONDS" to the results.
measure() { # TOOL BYTES
    local from to
    rm -f "$work/port"
    listener=
    if ! "listen_$1"; then
        printf 'loopback.sh: %s did not come up\n' "$1" >&2
        exit 1
    fi
    from=$EPOCHREALTIME
    if ! { "connect_$1" && wait "$listener"; }; then
        printf 'loopback.sh: %s failed\n' "$1" >&2
        exit 1
    fi
    to=$EPOCHREALTIME
    listener=
    printf '%s %s %d\n' "$1" "$2" $((${to/./} - ${from/./})) >>"$work/results"
}

# ---- the table -------------------------------------------------------------------------------

# Medians: TOOL BYTES MB/S MRECORDS/S
medians() {
    sort -k 2,2n -k 1,1 -k 3,3n "$work/results" | awk -v megabytes="$megabytes" '
        function finish(   median, bytes) {
            if (!n)
                return
            median = n % 2 ? took[(n + 1) / 2] : (took[n / 2] + took[n / 2 + 1]) / 2
            bytes = size_of[last_bytes]
            printf "%s %s %.0f %.2f\n", last_tool, last_bytes, bytes / median,
                bytes / (last_bytes + 1) / median
        }
        NR == FNR { size_of[$1] = $2; next }
        $1 != last_tool || $2 != last_bytes { finish(); n = 0; last_tool = $1; last_bytes = $2 }
        { took[++n] = $3 }
        END { finish() }' "$work/sizes" -
}

report_tsv() {
    awk '{ printf "loopback_%s_%s\t%s\tMB/s\n", $1, $2, $3
           printf "loopback_%s_%s_records\t%s\tM/s\n", $1, $2, $4 }' "$work/medians"
}

report_table() {
    awk -v baseline="${BASELINE:-}" -v order="${tools[*]}" -v sizes="${sizes[*]}" '
        BEGIN {
            while (baseline && (getline line < baseline) > 0) {
                split(line, field, "\t")
                earlier[field[1]] = field[2]
            }
        }
        { rate[$1, $2] = $3; records[$1, $2] = $4 }
        END {
            n = split(order, tool, " ")
            m = split(sizes, size, " ")
            for (s = 1; s <= m; s++) {
                printf "\nlines of %d bytes%12s%14s%12s%s\n", size[s], "MB/s", "M lines/s",
                    "bare loop", baseline ? "   earlier MB/s" : ""
                for (t = 1; t <= n; t++) {
                    key = tool[t] SUBSEP size[s]
                    if (!(key in rate))
                        continue
                    bar = rate["bareloop", size[s]]
                    printf "  %-15s%12d%14.2f%12s", tool[t], rate[key], records[key],
                        bar ? sprintf("%.2f", rate[key] / bar) : "-"
                    name = "loopback_" tool[t] "_" size[s]
                    if (name in earlier)
                        printf "%15d", earlier[name]
                    printf "\n"
                }
            }
        }' "$work/medians"
}

present=()
for tool in "${tools[@]}"; do
    if is_there "$tool"; then
        present+=("$tool")
    else
        printf 'skipped: %s is not there\n' "$tool" >&2
    fi
done

for bytes in "${sizes[@]}"; do
    input=$work/input
    make_input "$bytes" "$input"
    printf '%s %s\n' "$bytes" "$(stat -c %s "$input")" >>"$work/sizes"
    for ((round = 1; round <= rounds; round++)); do
        for tool in "${present[@]}"; do
            [[ ! -t 2 ]] || printf '\r\033[K%s bytes, round %d, %s' "$bytes" "$round" "$tool" >&2
            measure "$tool" "$bytes"
        done
    done
    [[ ! -t 2 ]] || printf '\r\033[K' >&2
done

medians >"$work/medians"
report_tsv
report_table
