# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034,SC2154 # shared with the scripts that source this
# What the sections of `make bench` share. A section is a script that sources this file and measures
# groups: contenders that do the same work take turns, round by round, so that a busy moment hits
# all of them alike.
#
#     begin_group NAME 'TITLE'            NAME as it stands in the table of values
#     contender NAME COMMAND...           who takes part; COMMAND is run once a round
#     fit_input FUNCTION                  FUNCTION MEGABYTES makes the input
#     run_rounds NOTE-MORE                all of it
#     report 'QUANTITY...' [A/B]...       medians and ratios
#
# On standard output go lines NAME<tab>VALUE<tab>UNIT (GROUP/CONTENDER/QUANTITY), the medians, and a
# table to read. Settings, all from the environment:
#
#     BUILD       where the programs are (build/release)
#     ROUNDS      of each group (5, or 3 if QUICK)
#     MEGABYTES   of input of each run, instead of what takes about 0.8 seconds
#     CASES       a pattern (extended): other groups are left out
#     TOOLS       'fnet nc ...': contenders of other names are left out
#     QUICK=1     short runs: whether it works, not how fast it is
#     BASELINE    a table of values of an earlier run, shown beside
set -euo pipefail

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=$(cd "${BUILD:-$bench/../../build/release}" && pwd)
PATH=$BUILD:$BUILD/tests/bench:$PATH
export LC_ALL=C
command -v meter fnet-produce fnet-consume >/dev/null || {
    printf '%s: not built; try: make all tools\n' "$0" >&2
    exit 1
}
quick=${QUICK:-}
rounds=5
[[ -z $quick ]] || rounds=3
rounds=${ROUNDS:-$rounds}
limit=$((60 * ${SLOWNESS:-1})) # seconds, the most that one program may take

# In memory where that is possible: a disk would be measured otherwise.
place=${TMPDIR:-/tmp}
[[ ! -w /dev/shm ]] || place=/dev/shm
work=$(mktemp -d "$place/fnet-bench.XXXXXX")
mkfifo "$work/ready" "$work/never"
exec 6<>"$work/never" 7<>"$work/ready"

running=()
stop_running() {
    [[ ${#running[@]} -gt 0 ]] || return 0
    kill "${running[@]}" 2>/dev/null || true
    wait "${running[@]}" 2>/dev/null || true
    running=()
}
# A contender that failed takes no further part, and is not forgotten.
failures=0
tidy() {
    local status=$?
    stop_running
    rm -rf "$work"
    [[ $status -ne 0 || $failures -eq 0 ]] || exit 1
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

complain() { # MESSAGE
    [[ ! -t 2 ]] || printf '\r\033[K' >&2
    head -n 20 "$work/said" >&2
    printf '%s: %s\n' "${0##*/}" "$1" >&2
}

# ---- programs of a run -----------------------------------------------------------------------

# Start a program of the run that is being measured; descriptors 0 to 3 are the caller's. CPU and
# memory are those of the roles `send` and `receive`; what only helps has another one. What they say
# is shown if the run fails.
spawn() { # ROLE COMMAND...
    meter "$limit" "$work/usage" "$@" <&0 2>>"$work/said" &
    running+=("$!")
}

# Wait until all of them have ended, well.
finish() {
    local pid status=0
    for pid in "${running[@]}"; do
        wait "$pid" || status=$?
    done
    running=()
    return "$status"
}

# What listens writes where to $work/ready; that becomes $address.
await_ready() {
    await_line && address=$line
}

# A line that the program started last writes there becomes $line. When its time is over a read has
# got the beginning; and a program that has ended may have written before.
await_line() {
    local part has_ended=
    line=
    until read -r -t 0.2 -u 7 part; do
        line+=$part
        [[ ! $has_ended ]] || return 1
        kill -0 "${running[-1]}" 2>/dev/null || has_ended=1
    done
    line+=$part
}

# What cannot do that gets a port that is free, below the range from which the kernel takes the
# ports of outgoing connections.
is_listening() { # PORT
    local pattern
    printf -v pattern ':%04X 0*:0000 0A' "$1"
    grep -qE "$pattern" /proc/net/tcp /proc/net/tcp6 2>/dev/null
}
free_port() {
    port=$((20000 + RANDOM % 12000))
    while is_listening "$port"; do
        port=$((20000 + RANDOM % 12000))
    done
}
await_listening() { # PORT
    local tries
    for ((tries = 0; tries < 5000; tries++)); do
        ! is_listening "$1" || return 0
        pause 0.001
    done
    return 1
}
pause() { # SECONDS
    read -r -t "$1" -u 6 _ || true
}

# ---- input -----------------------------------------------------------------------------------

# MEGABYTES of different lines of BYTES each, of three fields divided by tabs if there is room: a
# number, a key, filling. Without line ends if RAW is given.
make_lines() { # BYTES MEGABYTES FILE [RAW]
    local block_lines=$((($2 < 10 ? $2 : 10) * 1000000 / ($1 + 1) + 1))
    awk -v bytes="$1" -v lines="$block_lines" '
        BEGIN {
            for (fill = "x"; length(fill) < bytes; )
                fill = fill fill
            for (i = 1; i <= lines; i++)
                if (bytes < 24)
                    printf "%0" bytes "d\n", i
                else
                    printf "%010d\t%010d\t%s\n", i, i * 7919 % 1000003,
                        substr(fill, 1, bytes - 22)
        }' | if [[ ${4-} ]]; then tr -d '\n'; else cat; fi >"$work/block"
    repeat_block "$2" "$3"
}

# $work/block again and again, at least once.
repeat_block() { # MEGABYTES FILE
    local block_bytes count
    block_bytes=$(stat -c %s "$work/block")
    count=$((($1 * 1000000 + block_bytes - 1) / block_bytes))
    while ((count-- > 0)); do
        cat "$work/block"
    done >"$2"
}

# ---- groups ----------------------------------------------------------------------------------

begin_group() { # NAME TITLE
    group=$1
    title=$2
    order=()
    declare -gA command_of=()
    round=0
    : >"$work/results"
}

is_wanted() { # GROUP
    [[ -z ${CASES:-} || $1 =~ $CASES ]]
}

contender() { # NAME COMMAND...
    [[ -z ${TOOLS:-} || " $TOOLS " == *" $1 "* ]] || return 0
    order+=("$1")
    printf -v "command_of[$1]" '%q ' "${@:2}"
}

# The same for a tool that may be missing.
rival() { # NAME PROGRAM COMMAND...
    if command -v "$2" >/dev/null; then
        contender "$1" "${@:3}"
    else
        printf 'skipped: %s is not there\n' "$2" >&2
    fi
}

note() { # QUANTITY VALUE
    [[ $round -eq 0 ]] || printf '%s %s %s %s\n' "$who" "$round" "$1" "$2" >>"$work/results"
}

# One run. The clock runs from the start of its first program to the end of its last; a command may
# set $seconds to what it knows better.
run_once() { # CONTENDER
    local from
    who=$1
    seconds=
    : >"$work/usage"
    : >"$work/said"
    [[ ! -t 2 ]] || printf '\r\033[K%s, round %d: %s' "$group" "$round" "$1" >&2
    from=$EPOCHREALTIME
    if ! { eval "${command_of[$1]}" && finish; }; then
        drop_contender
        return 1
    fi
    [[ $seconds ]] || seconds=$(micro_seconds "$from" "$EPOCHREALTIME")
    note_usage
}

drop_contender() {
    stop_running
    exec 4<&- 5<&-
    while read -r -t 0.1 -u 7 _; do :; done
    complain "$group: $who failed"
    failures=$((failures + 1))
    unset "command_of[$who]"
}

micro_seconds() { # FROM TO
    local took=$((${2/./} - ${1/./}))
    printf '%d.%06d' $((took / 1000000)) $((took % 1000000))
}

# CPU seconds of all programs; the largest memory of one that sends and one that receives.
note_usage() {
    local quantity value
    while read -r quantity value; do
        note "$quantity" "$value"
    done < <(awk '
        $1 == "send" || $1 == "receive" {
            cpu += $2
            if ($3 > most[$1])
                most[$1] = $3
        }
        END {
            printf "cpu %.4f\n", cpu
            for (role in most)
                printf "%s %.2f\n", role, most[role] / 1024
        }' "$work/usage")
}

note_rate() {
    note wall "$seconds"
    note rate "$(awk -v n="$bytes" -v s="$seconds" 'BEGIN { printf "%.3f", n / s / 1e6 }')"
    note records "$(awk -v n="$records" -v s="$seconds" 'BEGIN { printf "%.4f", n / s / 1e6 }')"
}

# All rounds; each begins with another contender. NOTE-MORE notes what was found besides, about the
# $bytes and $records of the input for example.
run_rounds() { # NOTE-MORE...
    local i next count=${#order[@]}
    for ((round = 1; round <= rounds; round++)); do
        for ((i = 0; i < count; i++)); do
            next=${order[(i + round) % count]}
            [[ -z ${command_of[$next]+x} ]] || ! run_once "$next" || "$@"
        done
    done
    [[ ! -t 2 ]] || printf '\r\033[K' >&2
}

# FUNCTION makes so many megabytes of input that a run of the first contender lasts as long as
# wished: the second of two tells, the first one warms up.
fit_input() { # FUNCTION
    local wish=0.8 least=32
    [[ -z $quick ]] || wish=0.2 least=8
    if [[ ${MEGABYTES:-} ]]; then
        "$1" "$MEGABYTES"
        return
    fi
    "$1" "$least"
    seconds=$wish
    [[ ${#order[@]} -eq 0 ]] || { run_once "${order[0]}" && run_once "${order[0]}"; } || exit 1
    "$1" "$(awk -v s="$seconds" -v n="$least" -v wish="$wish" 'BEGIN {
        m = int(wish / s) * n
        printf "%d", (m < n ? n : m > 1024 ? 1024 : m) }')"
}

# The medians of these quantities; and for contenders A and B the median of what A is to B in the
# same round, in the first quantity or in that which is named.
report() { # 'QUANTITY...' [A/B[:QUANTITY]]...
    local columns=$1
    shift
    awk -v group="$group" -v title="$title" -v order="${order[*]}" -v columns="$columns" \
        -v pairs="$*" -v baseline="${BASELINE:-}" -v rounds="$rounds" \
        -f "$bench/report.awk" "$work/results"
}
