#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Flink and fnet, each as producer and as consumer: Flink's own partitions, writers, gates and
# deserializers (tests/flink: live.Send, live.Receive) in a JVM for each side, and fnet's commands.
# Records of one length go in turn into 4 subpartitions, over one connection. Contenders are called
# PRODUCER_CONSUMER.
#
# A producer serves WARM_UPS (5) partitions and one more, each with all of the input, and they are
# consumed one after the other. Only the last is measured, when Java's compiler has done its work:
# from the moment when the consumer, Flink's or a process of fnet's, is told to begin until it says
# that it has everything.
#
# FLINK_VERSION is 2.3.0 by default. A JDK and Maven are needed.
#
#     BUILD=build/release tests/bench/pairs.sh           (settings: see harness.bash)
# shellcheck source=tests/bench/harness.bash
source "$(dirname "$0")/harness.bash"
# shellcheck source=tests/bench/contenders.bash
source "$bench/contenders.bash"

version=${FLINK_VERSION:-2.3.0}
flink=("$bench/../flink/with_flink.sh" "$version")
subpartitions=4
warm_ups=5
[[ -z $quick ]] || warm_ups=1
warm_ups=${WARM_UPS:-$warm_ups}
input=$work/input
limit=$((2 * limit)) # a program lives through all partitions

has_flink() {
    command -v javac >/dev/null && command -v mvn >/dev/null &&
        "${flink[@]}" live.Translate encode raw </dev/null
}
has_flink || {
    printf 'skipped: pairs: no JDK, no Maven, or no Flink %s from Maven Central\n' "$version" >&2
    exit 0
}

mkfifo "$work/begin"

# What fnet calls the partitions that live.Send serves and live.Receive reads.
attempt=b0b1b2b3b4b5b6b7b8b9babbbcbdbebf
[[ $version == 1.1[45].* ]] || attempt+=_c0c1c2c3c4c5c6c7c8c9cacbcccdcecf_3_1
ids=()
for ((i = 0; i <= warm_ups; i++)); do
    ids+=("a0a1a2a3a4a5a6a7a8a9aaabacadaeaf#$i@$attempt")
done

# ---- both as producers -----------------------------------------------------------------------

# Flink has the block in memory of which the input is a multiple.
serve_flink() {
    spawn send "${flink[@]}" live.Send "input=$work/block" "times=$times" "length=$length" \
        "partitions=${#ids[@]}" "subpartitions=$subpartitions" >"$work/ready" </dev/null
    await_ready
}

serve_fnet() {
    start_producer 127.0.0.1:0 -n "$subpartitions" -f "fixed:$length" "${ids[@]/%/=$input}"
}

# ---- both as consumers -----------------------------------------------------------------------

attend_flink() {
    exec 4<>"$work/begin"
    spawn receive "${flink[@]}" live.Receive "address=$address" "length=$length" \
        "partitions=${#ids[@]}" "subpartitions=$subpartitions" >"$work/ready" <"$work/begin"
    await_ready
}

take_flink() {
    echo >&4 && await_line && received=$line
}

# A process for each partition.
attend_fnet() {
    consume=(fnet-consume -q -f "fixed:$length" --stats "$work/stats")
    [[ $version != 1.* ]] || consume+=(--dialect "${version%.*}")
}

take_fnet() { # TURN
    spawn receive "${consume[@]}" "$address/${ids[$1]}:0-$((subpartitions - 1))" >/dev/null
    wait "${running[-1]}" && unset 'running[-1]'
}

count_fnet() {
    received=$(sed -n 's/.*"numRecordsIn":\([0-9]*\).*/\1/p' "$work/stats")
}

# ---- runs ------------------------------------------------------------------------------------

# One partition; $seconds is how long it took.
take() { # CONSUMER TURN
    local from=$EPOCHREALTIME to
    "take_$1" "$2" || return 1
    to=$EPOCHREALTIME
    [[ $1 != fnet ]] || count_fnet
    seconds=$(micro_seconds "$from" "$to")
    [[ $received -eq $records ]] || {
        printf '%s records instead of %s\n' "$received" "$records" >>"$work/said"
        return 1
    }
}

# What was used until now does not count.
forget_usage() {
    local pid
    awk '{ print $1, -$2, 0 }' "$work/usage" >"$work/forget"
    for pid in "${running[@]}"; do
        awk -v ticks="$(getconf CLK_TCK)" '{ print "send", -($14 + $15) / ticks, 0 }' \
            "/proc/$(pgrep -P "$pid")/stat" >>"$work/forget"
    done
    cat "$work/forget" >>"$work/usage"
}

run_pair() { # PRODUCER CONSUMER
    local turn
    "serve_$1" && "attend_$2" || return 1
    for ((turn = 0; turn < warm_ups; turn++)); do
        take "$2" "$turn" || return 1
    done
    forget_usage
    take "$2" "$turn" || return 1
    exec 4<&-
}

make_input() { # MEGABYTES
    make_lines "$length" "$1" "$input" raw
    bytes=$(stat -c %s "$input")
    records=$((bytes / length))
    times=$((bytes / $(stat -c %s "$work/block")))
}

pairs() { # BYTES-A-RECORD MEGABYTES
    length=$1
    begin_group "pairs/bytes_$1" "records of $1 bytes from PRODUCER_CONSUMER, Flink $version"
    contender flink_flink run_pair flink flink
    contender flink_fnet run_pair flink fnet
    contender fnet_flink run_pair fnet flink
    contender fnet_fnet run_pair fnet fnet
    [[ -z $quick ]] || set -- "$1" 50
    make_input "${MEGABYTES:-$2}"
    run_rounds note_rate
    report 'records rate wall cpu send receive' {flink_fnet,fnet_flink,fnet_fnet}/flink_flink
}

# A second or two of work for Flink.
! is_wanted pairs/bytes_100 || pairs 100 600
! is_wanted pairs/bytes_8 || pairs 8 300
