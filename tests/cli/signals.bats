# SPDX-License-Identifier: Apache-2.0
# Ends that nobody planned: killed, terminated, interrupted; who learns of it, when, and in what words.

bats_require_minimum_version 1.5.0

setup_file() {
    load ../helpers
    suite_limits 60
}

setup() {
    load ../helpers
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    kill_started
}

# A pair in mid-stream: the consumer has 10 records of two subpartitions, 5 each, and more may come.
start_pair() { # [CONSUME-OPTION]...
    open_feed
    start_producer producer -n 2 --buffer-timeout 1ms <"$feed"
    # A background program is born with INT ignored: this one shall hear it.
    start consumer env --default-signal=INT fnet-consume "$@" "$address/main:0-1"
    seq 10 >&9
    wait_until 10 bash -c '(($(wc -l <consumer.out) == 10))'
}

# A pair with as much on the way as the buffers hold, and a consumer whose output takes nothing more.
start_stalled_pair() {
    mkfifo stalled
    exec 8<>stalled
    start_producer producer -n 200 < <(yes 2>/dev/null)
    start consumer fnet-consume -o stalled --stats stats --stats-interval 5ms "$address" 8>&-
    # Of the gate's 408 buffers hardly any is free.
    wait_until 20 grep -qsE '"[Uu]sedMemorySegments":(40[0-8]|39[0-9]),' stats
}

# ---- KILL --------------------------------------------------------------------------------------

@test "signals: the producer is killed: the consumer says at once what it had: status 1" {
    start_pair
    signal producer KILL
    finish_within 1 consumer
    assert_status 1
    assert_one_complaint "^fnet-consume: $address: connection lost: (closed by the producer|Connection reset by peer); end of partition not reached: main:0 after 5 records, main:1 after 5 records\$"
    [[ $(sort -n <<<"$output") == "$(seq 10)" ]]
}

@test "signals: the producer is killed while much is on the way, even half a frame: status 1" {
    start_stalled_pair
    signal producer KILL
    finish_within 1 consumer
    assert_status 1
    assert_one_complaint "^fnet-consume: $address: connection lost: (closed by the producer|Connection reset by peer); end of partition not reached: main:0 after [0-9]+ records, "
}

@test "signals: of many channels and subpartitions some are listed, the others counted" {
    local eight='main:0[^,]*(, main:[1-7][^,]*){7}, and 4 more'
    start_producer producer -n 12 < <(yes 2>/dev/null)
    start_consumer consumer -o records "$address"
    wait_until 10 test -s records
    signal producer KILL
    finish consumer
    assert_one_complaint "; end of partition not reached: $eight\$"

    start_producer producer -n 12 < <(yes 2>/dev/null)
    start_consumer consumer -o records.2 "$address"
    wait_until 10 test -s records.2
    signal consumer KILL
    finish producer
    assert_one_complaint "/$eight: not delivered: the connection was lost: "

    run --separate-stderr -1 fnet-produce -l 0 -n 12 --wait 1ms </dev/null
    assert_one_complaint "^fnet-produce: $eight: not delivered: no consumer came "
}

@test "signals: the producer is killed while it streams" {
    start_producer producer -n 3 < <(yes 2>/dev/null)
    start_consumer consumer -o records "$address"
    wait_until 10 test -s records
    signal producer KILL
    finish_within 2 consumer
    assert_status 1
    assert_one_complaint 'connection lost: .*; end of partition not reached: main:0 after [0-9]+ records, main:1 after [0-9]+ records, main:2 after [0-9]+ records$'
    # What it says it has it has.
    local said
    said=$(grep -o 'after [0-9]*' <<<"$stderr" | awk '{ n += $2 } END { print n }')
    [[ $(wc -l <records) == "$said" ]]
}

@test "signals: the consumer is killed: the producer says what was not delivered: status 1" {
    start_pair
    signal consumer KILL
    finish_within 1 producer
    assert_status 1
    assert_one_complaint '^fnet-produce: 127\.0\.0\.1:[0-9]+/main:0, main:1: not delivered: the connection was lost: (closed by the consumer|Connection reset by peer)$'
}

@test "signals: the consumer is killed while the producer's buffers are full" {
    start_stalled_pair
    signal consumer KILL
    finish_within 1 producer
    assert_status 1
    assert_one_complaint '/main:0, main:1, .*not delivered: the connection was lost: '
}

@test "signals: the consumer is killed: the producer's other consumers hear of it: status 1" {
    open_feed
    start_producer producer -n 2 -s broadcast --buffer-timeout 1ms <"$feed"
    start_consumer first "$address/main:0"
    start_consumer second "$address/main:1"
    seq 10 >&9
    wait_until 10 test -s first.out
    wait_until 10 test -s second.out
    signal first KILL
    finish_within 2 producer
    assert_status 1
    assert_one_complaint '/main:0: not delivered: the connection was lost: '
    finish_within 2 second
    assert_status 1
    assert_one_complaint "^fnet-consume: $address: the producer failed: another consumer of the same producer was lost; end of partition not reached: main:1 after 10 records\$"
}

@test "signals: the same under poll" {
    export FNET_LOOP=poll
    start_pair
    signal producer KILL
    finish_within 1 consumer
    assert_status 1
    rm "$feed" consumer.out
    start_pair
    signal consumer TERM
    finish_within 1 consumer
    assert_status 143
    finish_within 1 producer
    assert_status 1
}

@test "signals: over a unix socket: killed ends are noticed as fast" {
    local victim where
    for victim in producer consumer; do
        open_feed
        start producer fnet-produce -l "unix:$PWD/socket" --port-file ports --buffer-timeout 1ms <"$feed"
        where=$(wait_port ports)
        start_consumer consumer "$where"
        seq 10 >&9
        wait_until 10 test -s consumer.out
        signal "$victim" KILL
        finish "$victim"
        local other=producer
        [[ $victim == consumer ]] || other=consumer
        finish_within 1 "$other"
        assert_status 1
        assert_one_complaint "^fnet-(produce|consume): unix:$PWD/socket(/main:0)?: .*lost: "
        exec 9>&-
        rm -f "$feed" ports socket consumer.out
    done
}

# ---- TERM, INT, HUP ----------------------------------------------------------------------------

@test "signals: a producer that is ended tells why: its status is 128+n, the consumer's 1" {
    local name number words where
    while read -r name number words; do
        open_feed
        rm -f consumer.out
        start producer env "--default-signal=$name" fnet-produce -l 127.0.0.1:0 --port-file ports \
            --buffer-timeout 1ms <"$feed"
        where=$(wait_port ports)
        start_consumer consumer "$where"
        seq 10 >&9
        wait_until 10 test -s consumer.out
        signal producer "$name"
        finish_within 2 producer
        assert_status $((128 + number))
        assert_quiet
        finish_within 1 consumer
        assert_status 1
        assert_one_complaint "^fnet-consume: $where: the producer failed: the producer was ended by signal $number \($words\); end of partition not reached: main:0 after 10 records\$"
        exec 9>&-
        rm "$feed" ports
    done <<'END'
TERM 15 Terminated
INT 2 Interrupt
HUP 1 Hangup
END
}

@test "signals: a consumer that is ended cancels: its status is 128+n, the producer's 1" {
    local name number
    while read -r name number; do
        start_pair
        signal consumer "$name"
        finish_within 2 consumer
        assert_status $((128 + number))
        assert_quiet
        finish_within 1 producer
        assert_status 1
        assert_one_complaint '^fnet-produce: main:0, main:1: not delivered in full: cancelled by the consumer$'
        exec 9>&-
        rm "$feed" consumer.out
    done <<'END'
TERM 15
INT 2
HUP 1
END
}

@test "signals: TERM ends a consumer whose output is stalled, and tells its producer" {
    start_stalled_pair
    signal consumer TERM
    finish_within 3 consumer
    assert_status 143
    assert_quiet
    finish_within 2 producer
    assert_status 1
    assert_one_complaint 'not delivered in full: cancelled by the consumer$'
}

@test "signals: TERM ends a producer whose consumer is stalled" {
    start_stalled_pair
    signal producer TERM
    finish_within 3 producer
    assert_status 143
    assert_quiet
    finish_within 3 consumer
    assert_status 1
}

@test "signals: TERM ends those who wait: for consumers, for a producer, for a partition" {
    open_feed
    start_producer producer -l "unix:$PWD/socket" <"$feed"
    start_consumer early --retry forever -v unix:missing/main
    wait_line early.err 'trying again'
    signal early TERM
    finish_within 2 early
    assert_status 143
    start_consumer patient --request-backoff 1ms:1h --trace trace "$address/nix"
    wait_until 10 bash -c '(($(stat -c %s trace) > 1000))'
    signal patient TERM
    finish_within 2 patient
    assert_status 143
    assert_quiet
    signal producer TERM
    finish_within 2 producer
    assert_status 143
    assert_quiet
    [[ ! -e socket ]]
}

@test "signals: what was ignored from birth stays ignored, as nohup wants it" {
    local where
    open_feed
    start producer nohup fnet-produce -l 127.0.0.1:0 --port-file ports <"$feed"
    where=$(wait_port ports)
    start consumer nohup fnet-consume -v "$where"
    wait_line consumer.err 'connected to'
    signal producer HUP
    signal consumer HUP
    seq 3 >&9
    exec 9>&-
    finish consumer
    assert_status 0
    assert_output $'1\n2\n3'
    finish producer
    assert_status 0
}

@test "signals: USR2 without --stats changes nothing" {
    start_pair
    signal producer USR2
    signal consumer USR2
    exec 9>&-
    finish_well consumer producer
}

@test "signals: statistics are written when a signal ends it" {
    start_pair --stats stats
    signal consumer TERM
    finish consumer
    assert_status 143
    grep -q '"numRecordsIn":10,' stats
}

# ---- descriptors that are not there ------------------------------------------------------------

@test "signals: closed standard descriptors never carry what is meant for others" {
    [[ $BUILD != */wrapped ]] || skip 'valgrind takes descriptors for itself'
    seq 3 >input
    start_producer producer <input
    run --separate-stderr -6 bash -c "fnet-consume '$address' >&-"
    assert_one_complaint '^fnet-consume: standard output: .*Bad file descriptor$'
    start consumer bash -c "exec fnet-consume -v -o file '$address' <&- >&- 2>&-"
    finish consumer
    assert_status 0
    cmp input file
    finish_well producer
    run --separate-stderr -6 bash -c "fnet-produce -l 127.0.0.1:0 <&-"
    assert_one_complaint '^fnet-produce: .*: Bad file descriptor$'
    start producer bash -c "exec fnet-produce -v -l 127.0.0.1:0 --port-file ports main=input <&- >&- 2>&-"
    local where
    where=$(wait_port ports)
    start_consumer consumer "$where"
    finish_well consumer producer
    cmp input consumer.out
}
