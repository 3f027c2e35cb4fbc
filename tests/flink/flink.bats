# SPDX-License-Identifier: Apache-2.0
# fnet's commands and Flink's own network stack, of version FLINK_VERSION, read from each other.

bats_require_minimum_version 1.5.0

setup_file() {
    load ../helpers
    suite_limits 120
    export FLINK_VERSION=${FLINK_VERSION:-2.2.1}
    # Before two do at once.
    find_flink "$FLINK_VERSION"
    [[ ! $FLINK_VERSION =~ ^1\.([5-9]|1[0-3])\. ]] || export MISSING='its network stack runs from 1.14 on'
}

setup() {
    load ../helpers
    need_nothing_missing
    cd "$BATS_TEST_TMPDIR" || return 1
    stalled_polls=0 stalled_queue=
    flink=("$TOP/tests/flink/with_flink.sh" "$FLINK_VERSION")
    dialect=()
    [[ $FLINK_VERSION != 1.* ]] || dialect=(--dialect "${FLINK_VERSION%.*}")
}

teardown() {
    kill_started
}

# An id as this version of Flink prints it.
partition_id() { # NUMBER
    local attempt=b0b1b2b3b4b5b6b7b8b9babbbcbdbebf
    case $FLINK_VERSION in
    1.1[1-5].*) ;;
    *) attempt+=_c0c1c2c3c4c5c6c7c8c9cacbcccdcecf_3_1 ;;
    esac
    printf 'a0a1a2a3a4a5a6a7a8a9aaabacadaeaf#%d@%s\n' "$1" "$attempt"
}

# Start Flink as a consumer of partition 0 of the fnet-produce at $address.
start_flink_consumer() { # NAME OPTION...
    start "$1" "${flink[@]}" live.Consume "address=$address" "partitions=$(partition_id 0)" "${@:2}"
}

# Start Flink as the producer of a file; $address and $endpoint are where its partition is.
start_flink_producer() { # NAME FILE OPTION...
    rm -f -- "$1.ready"
    start "$1" "${flink[@]}" live.Produce "input=$2" "ready=$1.ready" "${@:3}"
    wait_until 30 test -s "$1.ready" || { cat -- "$1.err" >&2; return 1; }
    endpoint=$(<"$1.ready")
    address=${endpoint%%/*}
}

# Start fnet-consume in the dialect of this version.
start_reader() { # NAME ARGUMENT...
    start_consumer "$1" "${dialect[@]}" "${@:2}"
}

# FILE in lines from fnet-produce to Flink; what arrived is in `received`.
to_flink() { # FILE [FLINK-OPTION]...
    start_producer producer "$(partition_id 0)=$1" </dev/null
    start_flink_consumer consumer output=received "${@:2}"
    finish consumer
    assert_status 0
    finish_well producer
}

# The last line that the Flink consumer said has all of WORDS.
assert_counts() { # NAME WORD...
    local word line
    line=" $(tail -n 1 "$1.err") "
    for word in "${@:2}"; do
        [[ $line == *" $word "* ]] || { printf 'no %s in %s\n' "$word" "$line" >&2; return 1; }
    done
}

# A Flink producer came to its end.
finish_flink() { # NAME
    finish "$1"
    assert_status 0
    [[ $stderr == $'acknowledged\nreleased' ]] || show_run
}

# MEGABYTES of numbered lines, 100 bytes each.
lines() { # MEGABYTES
    seq -f '%012.0f abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789 abcdefghijklmnopqrs' "$(($1 * 10000))"
}

# Lines of 0 to 300 characters, of one to four bytes in UTF-8; none ends in a carriage return.
texts() {
    printf '%s\n' '' hello ' ' $'a\tb' $'\x7f' 'é' '日本' '😀' "$(printf '%0300d' 7)"
    seq 500 | sed 's/.*/& ä€😀 &/'
}

# ---- fnet-produce to Flink ---------------------------------------------------------------------

@test "flink: its own producer and consumer understand each other here" {
    lines 1 >input
    start_flink_producer producer input barriers=1000
    start consumer "${flink[@]}" live.Consume "address=$address" "partitions=${endpoint#*/}" output=received
    finish consumer
    assert_status 0
    cmp input received
    finish_flink producer
}

@test "flink reads fnet-produce: 100 MB of raw records" {
    lines "$(scaled 100)" >input
    to_flink input
    cmp input received
    assert_counts consumer "records=$(wc -l <input)" EndOfData=1 EndOfPartitionEvent=1
}

@test "flink reads fnet-produce: strings and longs" {
    local serde
    texts >string.txt
    printf '%s\n' 0 -1 9223372036854775807 -9223372036854775808 >long.txt
    seq 100000 >>long.txt
    for serde in string long; do
        "${flink[@]}" live.Translate encode "$serde" <"$serde.txt" >elements
        start_producer producer -f u32 "$(partition_id 0)=elements" </dev/null
        start_flink_consumer consumer output=received "serde=$serde"
        finish consumer
        assert_status 0
        finish_well producer
        cmp "$serde.txt" received
    done
}

@test "flink reads fnet-produce: what --serde makes of lines" {
    local serde
    texts >string
    printf '%s\n' 0 -1 9223372036854775807 -9223372036854775808 >long
    printf '%s\n' 0 -1 2147483647 -2147483648 >int
    for serde in string long int; do
        start_producer producer --serde "$serde" "$(partition_id 0)=$serde" </dev/null
        start_flink_consumer consumer output=received "serde=$serde"
        finish consumer
        assert_status 0
        finish_well producer
        cmp "$serde" received
    done
}

@test "flink reads fnet-produce: a record larger than what Flink keeps in memory" {
    { head -c 6000000 /dev/zero | tr '\0' x; printf '\nshort\n'; } >input
    "${flink[@]}" live.Translate encode string <input >elements
    start_producer producer -f u32 "$(partition_id 0)=elements" </dev/null
    start_flink_consumer consumer output=received serde=string
    finish consumer
    assert_status 0
    finish_well producer
    cmp input received
}

@test "flink reads fnet-produce: with 0, 1, 2 and 8 exclusive buffers, 1 and 8 floating ones" {
    local exclusive floating
    lines "$(scaled 5)" >input
    for exclusive in 0 1 2 8; do
        for floating in 1 8; do
            to_flink input "exclusive=$exclusive" "floating=$floating"
            cmp input received
        done
    done
}

@test "flink reads fnet-produce: 100 subpartitions in 100 gates over one connection" {
    need_commands fnet-inspect
    lines "$(scaled 10)" >input
    start_producer producer -n 100 --trace trace "$(partition_id 0)=input" </dev/null
    start_flink_consumer consumer output=received subpartitions=0-99
    finish consumer
    assert_status 0
    finish_well producer
    assert_same_lines input received
    assert_counts consumer EndOfData=100 EndOfPartitionEvent=100
    [[ $(fnet-inspect --json trace | grep -o '"connection":"\?[^,}]*' | sort -u | wc -l) == 1 ]]
}

@test "flink reads fnet-produce: 100 partitions in one gate" {
    local i operands=() ids=
    for i in {0..99}; do
        seq -f "$i %.0f" 1000 >"input.$i"
        operands+=("$(partition_id "$i")=input.$i")
        ids+=,$(partition_id "$i")
    done
    start_producer producer "${operands[@]}" </dev/null
    start consumer "${flink[@]}" live.Consume "address=$address" "partitions=${ids#,}" tag=true
    finish consumer
    assert_status 0
    finish_well producer
    # Each in its own order.
    for i in 0 57 99; do
        grep "^$i:0	" consumer.out | cut -f 2 | cmp - "input.$i"
    done
    cut -f 2 consumer.out >received
    assert_same_lines <(cat input.*) received
}

@test "flink reads fnet-produce: several consumers, one of them fnet-consume" {
    lines "$(scaled 10)" >input
    start_producer producer -n 4 "$(partition_id 0)=input" </dev/null
    start_flink_consumer one subpartitions=0-1
    start_flink_consumer two subpartitions=3-3
    start_reader three "$address/$(partition_id 0):2"
    finish one
    assert_status 0
    finish two
    assert_status 0
    finish_well three producer
    assert_same_lines input one.out two.out three.out
}

@test "flink reads fnet-produce: keyBy and -s hash choose the same subpartition" {
    local n
    { texts; seq -f 'key %.0f' "$(scaled 20000)"; } >input
    for n in 1 3 128; do
        start_producer producer -n "$n" -s hash "$(partition_id 0)=input" </dev/null
        start_flink_consumer consumer tag=true "subpartitions=0-$((n - 1))"
        finish consumer
        assert_status 0
        finish_well producer
        start_flink_producer producer input "subpartitions=$n" select=hash
        start_reader reader --tag "$endpoint:0-$((n - 1))"
        finish_well reader
        finish_flink producer
        sed "s/^[^\t]*:\([0-9]*\t\)/0:\1/" reader.out >expected
        assert_same_lines expected consumer.out
    done
    # The same keys as fields.
    sed 's/.*/7;&;9/' input >fields
    start_producer producer -n "$n" -s hash -k 2 -t ';' "$(partition_id 0)=fields" </dev/null
    start_flink_consumer consumer tag=true "subpartitions=0-$((n - 1))"
    finish consumer
    assert_status 0
    finish_well producer
    assert_same_lines expected <(sed 's/\t7;/\t/; s/;9$//' consumer.out)
}

@test "flink reads fnet-produce: 100,000 random keys, each in the subpartition that keyBy chooses" {
    local n max serde
    "${flink[@]}" Keys write >keys
    while read -r n max serde; do
        start_producer producer -f u32 -n "$n" -s hash --max-parallelism "$max" --serde "$serde" \
            "$(partition_id 0)=keys" </dev/null
        start_flink_consumer consumer output=received "serde=$serde" "subpartitions=0-$((n - 1))" \
            "parallelism=$n" "max-parallelism=$max" </dev/null
        finish consumer
        assert_status 0
        finish_well producer
        assert_counts consumer records=100000
    done <<'END'
3 200 string
128 32768 string
128 12345 raw
END
}

@test "flink reads fnet-produce: a connection that Flink keeps open afterwards detains nobody" {
    open_feed
    seq 1000 >input
    start_producer producer "$(partition_id 0)=input" </dev/null
    start_flink_consumer consumer output=received hold=true <"$feed"
    finish_well producer
    exec 9>&-
    finish consumer
    assert_status 0
    cmp input received
}

@test "flink reads fnet-produce: Flink takes its time between the acknowledgement and the end" {
    seq 1000 >input
    to_flink input dawdle=300
    cmp input received
    assert_counts consumer EndOfPartitionEvent=1
}

@test "flink reads fnet-produce: cancelled in mid-stream, and fnet-produce says so" {
    lines "$(scaled 20)" >input
    start_producer producer "$(partition_id 0)=input" </dev/null
    start_flink_consumer consumer output=received cancel-after=1000
    finish consumer
    assert_status 0
    finish_within 10 producer
    assert_status 1
    assert_one_complaint '^fnet-produce: .*:0: not delivered in full: cancelled by the consumer$'
    head -n "$(wc -l <received)" input | cmp - received
}

@test "flink reads fnet-produce: one gate is cancelled, the others are read in full" {
    lines "$(scaled 10)" >input
    start_producer producer -n 4 -s rescale "$(partition_id 0)=input" </dev/null
    start_flink_consumer consumer tag=true subpartitions=0-3 cancel-after=1000 cancel-gate=true
    finish consumer
    assert_status 0
    finish_within 10 producer
    assert_status 1
    assert_one_complaint '^fnet-produce: [^ ,]*:0: not delivered in full: cancelled by the consumer$'
    assert_counts consumer EndOfPartitionEvent=3
    # Every fourth line is of the same subpartition.
    awk 'NR % 4 != 1' input >expected
    grep -v '^0:0	' consumer.out | cut -f 2 >others
    assert_same_lines expected others
}

@test "flink reads fnet-produce: a killed consumer is lost" {
    open_feed
    start_producer producer --buffer-timeout 1ms "$(partition_id 0)" <"$feed"
    start_flink_consumer consumer output=received
    seq 100000 >&9
    wait_until 30 test -s received
    signal consumer KILL
    finish_within 10 producer
    assert_status 1
    assert_one_complaint '^fnet-produce: .*:0'
}

@test "flink reads fnet-produce: when that ends early Flink hears why" {
    open_feed
    start_producer producer --buffer-timeout 1ms "$(partition_id 0)" <"$feed"
    start_flink_consumer consumer output=received
    seq 100000 >&9
    wait_until 30 test -s received
    signal producer TERM
    finish_within 10 producer
    assert_status 143
    finish_within 10 consumer
    assert_status 1
    assert_stderr_match 'RemoteTransportException: (Error|Fatal error) at remote task manager'
    assert_stderr_match '^java\.io\.IOException: the producer was ended by signal 15 '
}

@test "flink reads fnet-produce: a partition that does not exist is asked for again, then not found" {
    need_commands fnet-inspect
    seq 10 >input
    start_producer producer --trace trace other=input </dev/null
    start_flink_consumer consumer max-backoff=400
    finish consumer
    if [[ $FLINK_VERSION == 1.1[4-8].* ]]; then
        # 100, 200 and 400 ms after the first time.
        assert_counts consumer state-checks=4
    fi
    assert_status 1
    assert_stderr_match "^org\.apache\.flink\.runtime\.io\.network\.partition\.PartitionNotFoundException: Partition $(partition_id 0) not found\.\$"
    # The producer did not mind.
    start_reader reader "$address/other:0"
    finish_well reader producer
}

# The codecs that this version of Flink has, and fnet too.
common_codecs() {
    local codec codecs=(lz4 zstd lzo)
    [[ $FLINK_VERSION != 1.1[45].* ]] || codecs=(lz4)
    for codec in "${codecs[@]}"; do
        ! fnet-produce --compress "$codec" --dry-run >/dev/null 2>&1 || printf '%s\n' "$codec"
    done
}

@test "flink reads fnet-produce: compressed, if its gate is of a blocking partition" {
    need_commands fnet-inspect
    local codec codecs
    mapfile -t codecs < <(common_codecs)
    ((${#codecs[@]} > 0)) || skip 'built without any codec'
    lines "$(scaled 5)" >input
    for codec in "${codecs[@]}"; do
        start_producer producer -n 2 --compress "$codec" --trace trace "$(partition_id 0)=input" \
            </dev/null
        start_flink_consumer consumer output=received subpartitions=0-1 type=BLOCKING \
            compression=true "codec=${codec^^}"
        finish consumer
        assert_status 0
        finish_well producer
        assert_same_lines input received
        fnet-inspect -q --json "${dialect[@]}" trace >messages
        [[ $(grep -c '"compressed":true' messages) -gt 10 ]]
    done
}

@test "flink reads fnet-produce: compressed, and other gates cannot read it" {
    local codecs
    mapfile -t codecs < <(common_codecs)
    ((${#codecs[@]} > 0)) || skip 'built without any codec'
    lines 1 >input
    start_producer producer --compress "${codecs[0]}" "$(partition_id 0)=input" </dev/null
    start_flink_consumer consumer output=received
    finish consumer
    assert_status 1
    assert_stderr_match '^java\.lang\.NullPointerException: Buffer decompressor not set\.$'
    finish producer
    assert_status 1
}

# ---- Flink to fnet-consume ---------------------------------------------------------------------

@test "fnet-consume reads flink: 100 MB of raw records" {
    lines "$(scaled 100)" >input
    start_flink_producer producer input
    start_reader consumer "$endpoint:0"
    finish_well consumer
    finish_flink producer
    cmp input consumer.out
}

@test "fnet-consume reads flink: strings and longs, and watermarks among them" {
    local serde
    texts >string
    seq -5000 95000 >long
    for serde in string long; do
        start_flink_producer producer "$serde" "serde=$serde" watermarks=100
        start_reader consumer -f u32 "$endpoint:0"
        finish_well consumer
        finish_flink producer
        "${flink[@]}" live.Translate decode "$serde" <consumer.out >received
        grep -v '^Watermark @ ' received | cmp - "$serde"
        [[ $(grep -c '^Watermark @ ' received) == $(($(wc -l <"$serde") / 100)) ]]
    done
}

@test "fnet-consume reads flink: --serde takes the values out" {
    local serde
    texts >string
    printf '%s\n' 0 -1 9223372036854775807 -9223372036854775808 >long
    printf '%s\n' 0 -1 2147483647 -2147483648 >int
    for serde in string long int; do
        start_flink_producer producer "$serde" "serde=$serde" watermarks=2
        start_reader consumer --serde "$serde" "$endpoint:0"
        finish_well consumer
        finish_flink producer
        cmp "$serde" consumer.out
    done
}

@test "fnet-consume reads flink: with 0, 1, 2 and 8 exclusive buffers, 1 and 8 floating ones" {
    local exclusive floating
    lines "$(scaled 5)" >input
    for exclusive in 0 1 2 8; do
        for floating in 1 8; do
            start_flink_producer producer input
            start_reader consumer -b "$exclusive" --floating-buffers "$floating" "$endpoint:0"
            finish_well consumer
            finish_flink producer
            cmp input consumer.out
        done
    done
}

@test "fnet-consume reads flink: 100 subpartitions, one by one and broadcast" {
    lines "$(scaled 10)" >input
    start_flink_producer producer input subpartitions=100
    start_reader consumer "$endpoint:0-99"
    finish_well consumer
    finish_flink producer
    assert_same_lines input consumer.out
    seq 1000 >input
    start_flink_producer producer input subpartitions=100 select=broadcast
    start_reader consumer "$endpoint:0-99"
    finish_well consumer
    finish_flink producer
    [[ $(sort consumer.out | uniq -c | awk '$1 == 100' | wc -l) == 1000 ]]
}

@test "fnet-consume reads flink: several consumers" {
    lines "$(scaled 5)" >input
    start_flink_producer producer input subpartitions=3
    start_reader one "$endpoint:0"
    start_reader two "$endpoint:1" --next "${dialect[@]}" "$endpoint:2"
    finish_well one two
    finish_flink producer
    assert_same_lines input one.out two.out
}

@test "fnet-consume reads flink: barriers of every kind, aligned over three subpartitions" {
    need_commands fnet-inspect
    local kind expected
    lines "$(scaled 2)" >input
    for kind in ALIGNED UNALIGNED AT_LEAST_ONCE 'ALIGNED barrier-timeout=60000'; do
        # shellcheck disable=SC2086 # two words are wanted
        start_flink_producer producer input subpartitions=3 barriers=1000 barrier=$kind
        start_reader consumer --trace trace "$endpoint:0-2"
        finish_well consumer
        finish_flink producer
        assert_same_lines input consumer.out
        expected=$((3 * ($(wc -l <input) / 1000)))
        fnet-inspect --json trace >messages
        [[ $(grep -c '"type":"CheckpointBarrier"' messages) == "$expected" ]]
        # Only what blocks is to be resumed.
        [[ $kind == ALIGNED* ]] || expected=0
        [[ $(grep -c '"type":"ResumeConsumption"' messages) == "$expected" ]]
    done
}

@test "fnet-consume reads flink: it acknowledges only what was written" {
    # More than buffers and pipe hold.
    lines 5 >input
    mkfifo pipe
    exec 8<>pipe
    start_flink_producer producer input
    start_reader consumer -o pipe "$endpoint:0"
    run -0 timeout 5 head -c 1000000 <&8
    [[ ! -s producer.err ]]
    head -c "$(($(stat -c %s input) - 1000000))" <&8 >rest
    finish_well consumer
    finish_flink producer
    exec 8>&-
    tail -c +1000001 input | cmp - rest
}

@test "fnet-consume reads flink: --limit leaves with the word that Flink has for it" {
    need_commands fnet-inspect
    lines "$(scaled 10)" >input
    start_flink_producer producer input
    start_reader consumer --limit 10 --trace trace "$endpoint:0"
    finish_well consumer
    head -n 10 input | cmp - consumer.out
    fnet-inspect --json trace >messages
    grep -q '"type":"CloseRequest"' messages
}

@test "fnet-consume reads flink: a producer that fails while it sends: status 1 and one line" {
    local seconds=20
    lines "$(scaled 50)" >input
    open_feed
    start_flink_producer producer input subpartitions=100 type=PIPELINED hold=true <"$feed"
    start_reader consumer -b 8 "$endpoint:0-99"
    wait_until "$seconds" test -s consumer.out
    # With more credit than the sockets hold, buffers wait in the server for a consumer that sleeps.
    signal consumer STOP
    wait_until "$seconds" is_stalled producer
    echo fail >&9
    wait_line producer.err '^failed$'
    signal consumer CONT
    finish_within "$seconds" consumer
    assert_status 1
    assert_one_complaint '^fnet-consume: .*: (the producer failed|refused by the producer): java\.lang\.IllegalStateException: no luck, caused by java\.io\.IOException: broken on purpose(;|$)'
    exec 9>&-
}

# Whether the kernel has taken nothing more from the program started as NAME for ten polls.
is_stalled() { # NAME
    local queued
    queued=$(ss -Htnp state established |
        awk -v "pid=pid=${started_pids[$1]}," 'index($0, pid) && $2 > 0 { print $2 }')
    if [[ -n $queued && $queued == "$stalled_queue" ]]; then
        stalled_polls=$((stalled_polls + 1))
    else
        stalled_polls=0
    fi
    stalled_queue=$queued
    ((stalled_polls >= 10))
}

@test "fnet-consume reads flink: a producer that fails when nothing is to be sent is silent until it ends" {
    seq 1000 >input
    open_feed
    start_flink_producer producer input hold=true <"$feed"
    start_reader consumer "$endpoint:0"
    wait_until 30 cmp -s input consumer.out
    echo fail >&9
    wait_line producer.err '^failed$'
    exec 9>&-
    finish_within 20 consumer
    assert_status 1
    assert_one_complaint '^fnet-consume: .*: connection lost: closed by the producer; end of partition not reached: .*:0 after 1000 records$'
}

@test "fnet-consume reads flink: a killed producer is lost" {
    seq 1000 >input
    open_feed
    start_flink_producer producer input hold=true <"$feed"
    start_reader consumer "$endpoint:0"
    wait_until 30 cmp -s input consumer.out
    signal producer KILL
    finish_within 10 consumer
    assert_status 1
    assert_one_complaint '^fnet-consume: .*: connection lost: .*:0 after 1000 records$'
}

@test "fnet-consume reads flink: a partition that does not exist: status 3" {
    seq 10 >input
    open_feed
    start_flink_producer producer input hold=true request-timeout=100ms <"$feed"
    # Since 1.19 Flink waits for the partition before it answers.
    run --separate-stderr -3 fnet-consume "${dialect[@]}" --request-backoff 1ms:4ms \
        "$address/$(partition_id 7):0"
    assert_one_complaint "no such partition: Partition $(partition_id 7) not found\.\$"
    exec 9>&-
}

# What a blocking partition (a hash one, or with sort-merge=true) sends, with these options; how many
# frames were compressed is in $compressed.
reads_blocking() { # FLINK-OPTION...
    need_commands fnet-inspect
    lines "$(scaled 5)" >input
    open_feed
    start_flink_producer producer input subpartitions=3 type=BLOCKING "$@" <"$feed"
    start_reader consumer --trace trace "$endpoint:0-2"
    finish_well consumer
    assert_same_lines input consumer.out
    exec 9>&-
    finish producer
    assert_status 0
    fnet-inspect -q --json "${dialect[@]}" trace >messages
    compressed=$(grep -c '"compressed":true' messages) || true
}

@test "fnet-consume reads flink: a blocking partition" {
    reads_blocking sort-merge=false
    ((compressed == 0))
}

@test "fnet-consume reads flink: a blocking partition, compressed" {
    reads_blocking sort-merge=false compression=true
    ((compressed > 0))
}

@test "fnet-consume reads flink: a sort-merge partition" {
    reads_blocking sort-merge=true
    ((compressed == 0))
}

@test "fnet-consume reads flink: a sort-merge partition, compressed" {
    reads_blocking sort-merge=true compression=true
    ((compressed > 0))
}

# ---- measuring ---------------------------------------------------------------------------------

@test "flink and fnet side by side: every pair is measured" {
    local pair
    CASES=bytes_8 MEGABYTES=5 ROUNDS=1 QUICK=1 OUT=$BATS_TEST_TMPDIR/out \
        run --separate-stderr "$TOP/tests/bench/bench.sh" pairs
    assert_status 0
    assert_quiet
    for pair in flink_flink flink_fnet fnet_flink fnet_fnet; do
        assert_match "^pairs/bytes_8/$pair/records	[0-9.]*[1-9][0-9.]*	M/s\$"
        assert_match "^pairs/bytes_8/$pair/cpu	[0-9.]*	s\$"
    done
}
