# SPDX-License-Identifier: Apache-2.0
# Peers that break the protocol, on purpose or by mistake: one line, the documented status, bounded
# memory, and no harm to others. The peers are played by tests/peer/fake_peer.

bats_require_minimum_version 1.5.0

setup_file() {
    load ../helpers
    suite_limits 60
}

setup() {
    load ../helpers
    cd "$BATS_TEST_TMPDIR" || return 1
    # Peers that are played say no version, and are not to be asked for it.
    export LISTEN=2.3@127.0.0.1:0
}

teardown() {
    kill_started
}

# More than any of the programs needs here, less than what a peer could ask for.
MEMORY_MB=32

# ---- a consumer and a wrong producer -------------------------------------------------------------

# A consumer of main:0 meets the producer that the script on standard input describes. The script is
# played to its end; what the consumer left is in $status, $output and $stderr.
consume_from() { # [CONSUME-OPTION]...
    start_peer peer listen
    start consumer with_memory "$MEMORY_MB" fnet-consume "$@" "$address/main:0"
    finish_within 20 peer
    assert_status 0
    finish_within 10 consumer
}

# Each line of standard input is `STEPS | MESSAGE`: to a producer that answers a request by STEPS the
# consumer says MESSAGE and leaves with STATUS.
blames_producer() { # STATUS
    local expected=$1 line cases=0
    while IFS= read -r line; do
        printf '%s\n' open 'expect PartitionRequest' "${line%% | *}" end >script
        consume_from <script
        printf 'case: %s\n' "$line" >&2
        assert_status "$expected"
        assert_one_complaint '^fnet-consume: '
        [[ $stderr == "fnet-consume: $address: ${line#* | }"*"; end of partition not reached: main:0 after "+([0-9])" records" ]] ||
            show_run
        cases=$((cases + 1))
    done
    ((cases > 3))
}

@test "protocol: a consumer and a producer as it should be" {
    consume_from <<'END'
open
expect PartitionRequest
send BufferResponse record=hello backlog=1
send BufferResponse record=world
send BufferResponse event=EndOfData
await AckAllUserRecordsProcessed
send BufferResponse event=EndOfPartition
await CloseRequest
close
END
    assert_status 0
    assert_quiet
    assert_output $'hello\nworld'
    grep -qx 'PartitionRequest first=0 last=0 credit=2' peer.out
}

@test "protocol: a producer that breaks the protocol: status 4, and the consumer says how" {
    blames_producer 4 <<'END'
text HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n | broken protocol: wrong magic number, the peer does not speak Flink's protocol
hex 15030100020232 7f7f7f7f7f7f | broken protocol: wrong magic number, the peer does not speak Flink's protocol
send BufferResponse magic=0x0badc0ff record=a | broken protocol: wrong magic number, the peer does not speak Flink's protocol
send BufferResponse length=0x7fffffff record=a | broken protocol: impossible length
send BufferResponse length=0xffffffff record=a | broken protocol: impossible length
send BufferResponse length=0 record=a | broken protocol: impossible length
send BufferResponse length=8 record=a | broken protocol: impossible length
send BufferResponse size=0x7fffffff record=a | broken protocol: impossible length
hex 00000009badc0ffe0c | broken protocol: unexpected message or event
hex 00000009badc0ffeff | broken protocol: unexpected message or event
send BufferResponse record=a; send BufferResponse sequence=2 record=b | broken protocol: wrong sequence number
send BufferResponse record=a; send BufferResponse sequence=0 record=b | broken protocol: wrong sequence number
send BufferResponse sequence=-1 record=a | broken protocol: wrong sequence number
flood send BufferResponse record=a | broken protocol: buffer without credit
send BufferResponse fill=32765 | broken protocol: a buffer of 32769 bytes is larger than a segment
send BufferResponse backlog=-1 record=a | broken protocol: impossible value
send BufferResponse receiver=7 record=a | broken protocol: BufferResponse for unknown receiver 07070707070707070707070707070707
send BufferResponse compressed=1 event=EndOfData | broken protocol: a compressed event
send BufferResponse partials=2 size=4 body=000000020000000300000000 | broken protocol: impossible value
send BufferResponse partials=2 size=10 type=9 body=000000050000000500000008000000000800 | broken protocol: 2 END_OF_DATA events in one frame for one subpartition
send BufferResponse partials=2 size=8 type=10 body=00000004000000040000000000000000 | broken protocol: 2 END_OF_PARTITION events in one frame for one subpartition
send BufferResponse partials=2 size=8 type=4 body=00000004000000040000000100000001 | broken protocol: 2 ALIGNED_CHECKPOINT_BARRIER events in one frame, though each stops its sender
send BufferResponse partials=2 size=4 type=2 body=000000040000000000000004 | broken protocol: an event of 0 bytes among 2 in one frame
send BufferResponse type=99 record=a | broken protocol: impossible value
send BufferResponse type=9 | broken protocol: impossible value
send BacklogAnnouncement backlog=0 | broken protocol: impossible value
send BacklogAnnouncement backlog=-5 | broken protocol: impossible value
send ErrorResponse body=00000000 | broken protocol: ErrorResponse without a readable Throwable
send DescriptionResponse | broken protocol: DescriptionResponse that was not asked for
send PartitionRequest | broken protocol: PartitionRequest from a producer
send AddCredit receiver=@0 | broken protocol: AddCredit from a producer
END
}

@test "protocol: --segment-size is named where a buffer is too large, not for events" {
    local frame
    for frame in 'fill=32765' 'type=2 length=65584 size=65537' 'partials=2 size=4 type=2 body=000000040000000000000004'; do
        printf '%s\n' open 'expect PartitionRequest' "send BufferResponse $frame" end >script
        consume_from <script
        assert_status 4
        assert_one_complaint '(a segment \(see --segment-size\)|larger than allowed|in one frame); end of'
    done
}

# One credit pays for a frame of several buffers, which count in the sequence each for itself.
@test "protocol: buffers that come merged, as from a sort-merge partition" {
    consume_from --floating-buffers 0 <<'END'
open
expect PartitionRequest
send BufferResponse partials=2 size=11 body=00000005000000060000000161000000026263
send BufferResponse sequence=2 partials=1 size=6 body=00000006000000026465
expect AddCredit
send BufferResponse sequence=3 event=EndOfData
await AckAllUserRecordsProcessed
send BufferResponse sequence=4 event=EndOfPartition
await CloseRequest
close
END
    assert_status 0
    assert_quiet
    assert_output $'a\nbc\nde'
}

@test "protocol: events that come merged, as from a sort-merge partition" {
    local cancel=000000040000000000000007
    consume_from <<END
open
expect PartitionRequest
send BufferResponse record=a
send BufferResponse sequence=1 partials=2 size=24 type=2 body=0000000c0000000c$cancel$cancel
send BufferResponse sequence=3 record=b
send BufferResponse sequence=4 partials=1 size=5 type=9 body=000000050000000800
await AckAllUserRecordsProcessed
send BufferResponse sequence=5 partials=1 size=4 type=10 body=0000000400000000
await CloseRequest
close
END
    assert_status 0
    assert_quiet
    assert_output $'a\nb'
}

@test "protocol: a producer that leaves early: status 1, even in the middle of a frame" {
    blames_producer 1 <<'END'
send BufferResponse record=a; half | connection lost: closed by the producer
hex 00000040; half | connection lost: closed by the producer
send BufferResponse length=67 size=20 record=hello; half | connection lost: closed by the producer
send BufferResponse record=a; send BufferResponse event=EndOfData; half | connection lost: closed by the producer
send FatalErrorResponse error=boom | the producer failed: boom (if that is an older Flink, see --dialect)
send BufferResponse record=a; send FatalErrorResponse error=boom | the producer failed: boom
send BufferResponse record=a; send ErrorResponse error=boom | the producer failed: boom
END
}

@test "protocol: a producer whose connection is reset: status 1" {
    local steps
    for steps in '' 'send BufferResponse length=67 size=20 record=hello'; do
        consume_from < <(printf '%s\n' open 'expect PartitionRequest' "$steps" reset)
        assert_status 1
        assert_one_complaint "^fnet-consume: $address: connection lost: Connection reset by peer; end of partition not reached: main:0 after 0 records\$"
    done
}

# The block is the one that Flink's LZ4 made of a record of 96 bytes.
@test "protocol: a compressed buffer, and one that is none" {
    local block=1400000064000000af00000060010000005b61010042506161616161
    if ! fnet-produce --compress lz4 --dry-run >/dev/null 2>&1; then
        consume_from < <(printf '%s\n' open 'expect PartitionRequest' \
            "send BufferResponse compressed=1 body=$block" end)
        assert_status 4
        assert_one_complaint ': broken protocol: a buffer is compressed, and this is built without lz4; '
        skip 'built without lz4'
    fi
    consume_from -f bytes < <(printf '%s\n' open 'expect PartitionRequest' \
        "send BufferResponse compressed=1 body=$block" 'send BufferResponse event=EndOfData' \
        'await AckAllUserRecordsProcessed' 'send BufferResponse event=EndOfPartition' \
        'await CloseRequest' close)
    assert_status 0
    assert_quiet
    { printf '\1\0\0\0['; printf 'a%.0s' {1..91}; } | cmp - consumer.out

    for block in 15"${block:2}" "${block:0:8}65${block:10}" "${block:0:8}ffffff7f${block:16}"; do
        consume_from -f bytes < <(printf '%s\n' open 'expect PartitionRequest' \
            "send BufferResponse compressed=1 body=$block" end)
        assert_status 4
        assert_one_complaint '^fnet-consume: main:0: decompressing a buffer \(see --(codec\): impossible value|segment-size\): impossible length)$'
    done
}

@test "protocol: records that are none: status 4, and whose they were" {
    local steps
    for steps in 'send BufferResponse body=7fffffff61' 'send BufferResponse body=ffffffff61'; do
        consume_from < <(printf '%s\n' open 'expect PartitionRequest' "$steps" end)
        assert_status 4
        assert_one_complaint '^fnet-consume: main:0: reading records: impossible length$'
    done
    for steps in EndOfData EndOfPartition; do
        consume_from < <(printf '%s\n' open 'expect PartitionRequest' \
            'send BufferResponse body=0000000961' "send BufferResponse event=$steps" end)
        assert_status 4
        assert_one_complaint '^fnet-consume: main:0: reading records: cut short$'
    done
}

@test "protocol: an error of one channel is that channel's: status 1" {
    consume_from <<'END'
open
expect PartitionRequest
send ErrorResponse error=no:such:luck
end
END
    assert_status 1
    assert_one_complaint "^fnet-consume: $address/main:0: refused by the producer: no:such:luck\$"
}

@test "protocol: what a producer says cannot steer the terminal" {
    # Bytes of an escape sequence and a line end in the message of a fatal error.
    consume_from < <(printf '%s\n' open 'expect PartitionRequest' \
        $'send FatalErrorResponse error=red\e[31m\rover' end)
    assert_status 1
    assert_one_complaint 'the producer failed: red\\x1b\[31m\\(r|x0d)over \(if that is an older Flink, see --dialect\);'
}

@test "protocol: PartitionNotFound is asked about again, with growing patience, until it is there" {
    consume_from --request-backoff 1ms:1s <<'END'
open
expect PartitionRequest
send ErrorResponse missing=gone
expect PartitionRequest
send ErrorResponse missing=gone
expect PartitionRequest
send ErrorResponse missing=gone
expect PartitionRequest
send BufferResponse record=found
send BufferResponse event=EndOfData
await AckAllUserRecordsProcessed
send BufferResponse event=EndOfPartition
end
END
    assert_status 0
    assert_quiet
    assert_output found
}

@test "protocol: PartitionNotFound again and again: status 3 in the end" {
    consume_from --request-backoff 1ms:4ms <<'END'
open
repeat 4 expect PartitionRequest; send ErrorResponse missing=gone
end
END
    assert_status 3
    assert_one_complaint "^fnet-consume: $address/main:0: no such partition: gone\$"
}

@test "protocol: an error of an unknown channel, as a first word: status 4, for nothing else would come" {
    consume_from <<'END'
open
expect PartitionRequest
send ErrorResponse receiver=9 error=boom
end
END
    assert_status 4
    assert_one_complaint 'broken protocol: ErrorResponse for unknown receiver (09){16}: boom \(if that is an older Flink, see --dialect\);'
}

@test "protocol: errors that nobody asked for are not believed" {
    consume_from <<'END'
open
expect PartitionRequest
send BacklogAnnouncement receiver=9 backlog=1
repeat 1000 send ErrorResponse receiver=9 error=boom
repeat 1000 send ErrorResponse receiver=9 missing=boom
repeat 1000 send BacklogAnnouncement receiver=9 backlog=1
repeat 1000 send BacklogAnnouncement backlog=0x7fffffff
send BufferResponse record=a
send BufferResponse event=EndOfData
await AckAllUserRecordsProcessed
send BufferResponse event=EndOfPartition
end
END
    assert_status 0
    assert_quiet
    assert_output a
}

@test "protocol: a flood of events at a consumer whose output is stalled: status 4, bounded memory" {
    mkfifo stalled
    exec 8<>stalled
    start_peer peer listen 8>&- <<'END'
open
expect PartitionRequest
repeat 60 send BufferResponse fill=30000
flood send BufferResponse type=2 body=000000030000000000000000000000000000000000000000
END
    start consumer with_memory "$MEMORY_MB" fnet-consume -b 60 -o stalled "$address/main:0" 8>&-
    finish_within 20 peer
    assert_status 0
    assert_output $'PartitionRequest first=0 last=0 credit=60\nflood: the peer is gone'
    finish_within 5 consumer
    assert_status 4
    assert_one_complaint "^fnet-consume: $address: broken protocol: too many events that nobody reads; end of partition not reached: main:0 after [0-9]+ records"
}

@test "protocol: a flood of answers to --list: status 4, bounded memory" {
    start_peer peer listen <<'END'
open
expect DescriptionRequest
flood send DescriptionResponse remaining=1000000000 body=61
END
    start consumer with_memory "$MEMORY_MB" fnet-consume --list "$address"
    finish_within 20 peer
    assert_status 0
    assert_match '^flood: the peer is gone$'
    finish consumer
    assert_status 4
    assert_output ''
    assert_one_complaint "^fnet-consume: $address/main: broken protocol: an impossible number of partitions\$"
}

@test "protocol: descriptions that cannot be: status 4" {
    local fields
    for fields in subpartitions=0 subpartitions=32769 subpartitions=-1 remaining=-1 remaining=5 state=9; do
        start_peer peer listen <<END
open
expect DescriptionRequest
send DescriptionResponse $fields
end
END
        start consumer with_memory "$MEMORY_MB" fnet-consume "$address/main"
        finish_within 20 consumer
        assert_status 4
        assert_one_complaint "^fnet-consume: $address(/main)?: broken protocol: "
        finish peer
        assert_status 0
    done
}

@test "protocol: a producer that accepts and says nothing is waited for, and TERM ends that" {
    start_peer peer listen <<'END'
open
expect PartitionRequest
end
END
    start_consumer consumer "$address/main:0"
    wait_line peer.out PartitionRequest
    signal consumer TERM
    finish_within 5 consumer
    assert_status 143
    finish_within 5 peer
    assert_status 0
}

# ---- a producer and strangers --------------------------------------------------------------------

# A producer with a consumer in mid-stream, and another subpartition to take.
start_business() {
    open_feed
    start_producer producer -n 2 -s broadcast --buffer-timeout 1ms <"$feed"
    start_consumer consumer "$address/main:0"
    seq 10 >&9
    wait_until 10 grep -qsx 10 consumer.out
}

# All goes well to its end, and what the producer said is in $stderr.
finish_business() {
    start_consumer second "$address/main:1"
    seq 11 20 >&9
    exec 9>&-
    finish_well consumer second
    cmp consumer.out <(seq 20)
    cmp second.out <(seq 20)
    finish_within 10 producer
    assert_status 0
    assert_output ''
}

# Play the script on standard input against the producer.
trouble() {
    start_peer stranger connect "$address"
    finish_within 20 stranger
    assert_status 0
}

@test "protocol: a producer and a consumer as it should be" {
    seq 3 >input
    start_producer producer <input
    trouble <<'END'
open
send PartitionRequest
await BufferResponse
await BufferResponse
send AckAllUserRecordsProcessed
await BufferResponse
send CloseRequest
end
END
    assert_output 'BufferResponse sequence=0 backlog=0 DATA_BUFFER size=15
BufferResponse sequence=1 backlog=0 END_OF_DATA size=5
BufferResponse sequence=2 backlog=0 END_OF_PARTITION size=4'
    finish_well producer
}

# The answer to a dialect probe: a CancelPartitionRequest for "fnet dialect: $1".
answer() {
    printf 'hex 00000019badc0ffe04%s00' "$(printf 'fnet dialect: %s' "$1" | od -An -v -tx1 | tr -d ' \n')"
}

@test "protocol: a consumer that may be of 1.19 or of 2.0 is asked, and gets its data in answer" {
    seq 3 >input
    LISTEN=127.0.0.1:0 start_producer producer --trace trace <input
    trouble <<END
open
send PartitionRequest
expect DialectProbe
$(answer A)
$(answer C)
expect BufferResponse
await BufferResponse
send AckAllUserRecordsProcessed
await BufferResponse
send CloseRequest
end
END
    finish_well producer
    run --separate-stderr -0 fnet-inspect --strict -j trace
    [[ $output == *'"type":"DialectProbe"'* ]]
    [[ ${lines[0]} == *'"dialect":"1.19 to 2.3","dialect_certain":false,'*PartitionRequest* ]]
    [[ ${lines[-1]} == *'"dialect":"2.0 to 2.3","dialect_certain":true,'*CloseRequest* ]]
}

@test "protocol: whoever does not answer that gets nothing, and is a loss when it leaves" {
    seq 3 >input
    LISTEN=127.0.0.1:0 start_producer producer <input
    trouble <<END
open
send PartitionRequest
expect DialectProbe
$(answer A)
close
END
    finish producer
    assert_status 1
    assert_one_complaint '/main:0: not delivered: the connection was lost: closed by the consumer$'
}

@test "protocol: strangers who break the protocol get an answer and a line, consumers their data" {
    local line number=0
    start_business
    while IFS= read -r line; do
        number=$((number + 1))
        trouble < <(printf '%s\n' open "${line%% | *}" 'expect ErrorResponse' end)
        assert_output "ErrorResponse fatal java.io.IOException: ${line#* | }"
        wait_until 10 bash -c "((\$(wc -l <producer.err) == $number))"
        [[ $(tail -n 1 producer.err) =~ ^fnet-produce:\ 127\.0\.0\.1:[0-9]+:\ connection\ dropped:\ (.*)$ ]]
        [[ ${BASH_REMATCH[1]} == "${line#* | }" ]]
    done <<'END'
text GET / HTTP/1.1\r\nHost: x\r\n\r\n | wrong magic number, the peer does not speak Flink's protocol
hex 160301020001000101fc0303 | wrong magic number, the peer does not speak Flink's protocol
send PartitionRequest magic=0 | wrong magic number, the peer does not speak Flink's protocol
send PartitionRequest length=0x7fffffff | no version of Flink has a PartitionRequest of 2147483647 bytes
send PartitionRequest length=9 | no version of Flink has a PartitionRequest of 9 bytes
send TaskEventRequest length=0x100001 body=00 | impossible length
hex 00000009badc0ffe0c | unexpected message or event
send PartitionRequest first=-1 last=1 | impossible value
send PartitionRequest first=1 last=0 | impossible value
send PartitionRequest credit=-1 | impossible value
send AddCredit | AddCredit for unknown receiver 01010101010101010101010101010101
send AddCredit credit=0 | impossible value
send AddCredit credit=-7 | impossible value
send AckAllUserRecordsProcessed | AckAllUserRecordsProcessed for unknown receiver 01010101010101010101010101010101
send ResumeConsumption receiver=255 | ResumeConsumption for unknown receiver ffffffffffffffffffffffffffffffff
send BufferResponse record=a | BufferResponse from a consumer
send ErrorResponse error=a | ErrorResponse from a consumer
send BacklogAnnouncement | BacklogAnnouncement from a consumer
END
    finish_business
    [[ $(wc -l <producer.err) == "$number" ]]
}

@test "protocol: strangers who ask for what is not there are told so, and may ask again" {
    start_business
    trouble <<'END'
open
send PartitionRequest partition=nix
expect ErrorResponse
send PartitionRequest first=7 last=7
expect ErrorResponse
send PartitionRequest first=0 last=1
expect ErrorResponse
send PartitionRequest
expect ErrorResponse
send TaskEventRequest body=00
expect ErrorResponse
send CancelPartitionRequest receiver=8
send NewBufferSize
send SegmentId
send CloseRequest
end
END
    assert_match '^ErrorResponse org\.apache\.flink\.runtime\.io\.network\.partition\.PartitionNotFoundException: Partition .* not found\.$'
    assert_line 'ErrorResponse org.apache.flink.runtime.io.network.partition.PartitionNotFoundException: main has subpartitions 0 to 1, not 7'
    assert_line 'ErrorResponse java.io.IOException: a range of subpartitions (0 to 1) in one request is not supported'
    assert_line 'ErrorResponse java.io.IOException: main:0 is read by another consumer, or was'
    finish_business
    assert_quiet
}

@test "protocol: strangers who come and go harm nobody and cost no word" {
    start_business
    trouble <<'END'
repeat 100 open; close
repeat 100 open; reset
repeat 20 open; half; end
repeat 20 open; send CloseRequest; end
repeat 20 open; send DescriptionRequest; expect DescriptionResponse; close
END
    finish_business
    assert_quiet
}

@test "protocol: strangers who leave in the middle of a frame cost a line each" {
    start_business
    trouble <<'END'
open; hex 00; close
open; hex 00000061badc0ffe02; half; end
END
    finish_business
    [[ $(grep -cE '^fnet-produce: 127\.0\.0\.1:[0-9]+: connection dropped: ' producer.err) == 2 ]]
    [[ $(wc -l <producer.err) == 2 ]]
}

@test "protocol: strangers who connect and say nothing, or half of something, harm nobody" {
    start_business
    start_peer stranger connect "$address" <<'END'
repeat 100 open
repeat 100 open; hex 00000061badc0f
wait over
END
    # What comes behind 200 connections is served as well.
    run -0 timeout $((20 * SLOWNESS)) fnet-consume --list "$address"
    finish_business
    touch over
    finish stranger
}

@test "protocol: a flood of questions whose answers nobody reads is not read to its end" {
    local steps
    start_business
    for steps in 'DescriptionRequest' 'DescriptionRequest partition=nix' \
        'PartitionRequest partition=nix' 'PartitionRequest first=9 last=9' 'TaskEventRequest body=00'; do
        trouble < <(printf '%s\n' open "flood send $steps" reset)
        assert_output 'flood: the peer takes no more'
    done
    ((SLOWNESS > 1 || $(peak_memory producer) < MEMORY_MB * 1024))
    finish_business
}

@test "protocol: a consumer that asks for all and reads nothing stops only itself" {
    head -c "$(scaled 5000000)" /dev/zero >plenty
    start_producer producer -f fixed:1 slow=/dev/zero fast=plenty </dev/null
    start_peer stranger connect "$address" <<'END'
open
send PartitionRequest partition=slow credit=0x7fffffff
expect BufferResponse
wait over
reset
END
    wait_line stranger.out BufferResponse
    start_consumer consumer -f bytes "$address/fast"
    finish_within 20 consumer
    assert_status 0
    cmp plenty consumer.out
    ((SLOWNESS > 1 || $(peak_memory producer) < MEMORY_MB * 1024))
    touch over
    finish_within 10 producer
    assert_status 1
    assert_one_complaint '/slow:0: not delivered: the connection was lost: Connection reset by peer$'
}

# A stranger takes main:1 of a producer in mid-stream and does as the script says; then the
# producer ends with STATUS and MESSAGE about main:1.
betrayal() { # STATUS MESSAGE
    local expected=$1 message=$2
    start_business
    { printf '%s\n' open 'send PartitionRequest first=1 last=1' 'await BufferResponse'; cat; } >script
    trouble <script
    finish_within 10 producer
    assert_status "$expected"
    assert_one_complaint "$message"
    finish_within 10 consumer
    assert_status 1
    assert_one_complaint "^fnet-consume: $address: the producer failed: another consumer of the same producer was lost; end of partition not reached: main:0 after 10 records\$"
    exec 9>&-
    rm "$feed" consumer.out
}

@test "protocol: who took a subpartition and breaks the protocol ends the producer: status 4" {
    local line
    while IFS= read -r line; do
        betrayal 4 "^fnet-produce: 127\.0\.0\.1:[0-9]+/main:1: not delivered: the connection was lost: ${line#* | }\$" \
            < <(printf '%s\n' "${line%% | *}" 'await ErrorResponse' end)
    done <<'END'
send AddCredit credit=0 | impossible value
send AddCredit credit=0x7fffffff | AddCredit of 2147483647
send AckAllUserRecordsProcessed | AckAllUserRecordsProcessed before EndOfData, or twice
send ResumeConsumption | ResumeConsumption of a subpartition that is not blocked
send PartitionRequest first=1 last=1 | PartitionRequest with a receiver in use
END
}

@test "protocol: who took a subpartition and leaves ends the producer: status 1" {
    betrayal 1 '/main:1: not delivered: the connection was lost: closed by the consumer$' <<'END'
half
end
END
    betrayal 1 '/main:1: not delivered: the connection was lost: (closed by the consumer|Connection reset by peer)$' <<'END'
hex 00000040badc0f
close
END
    betrayal 1 '/main:1: not delivered: the connection was lost: Connection reset by peer$' <<'END'
reset
END
}

@test "protocol: who cancels is told of at the end, and only then: status 1" {
    start_business
    trouble <<'END'
open
send PartitionRequest first=1 last=1
await BufferResponse
send CancelPartitionRequest
send CloseRequest
end
END
    seq 11 20 >&9
    exec 9>&-
    finish_well consumer
    cmp consumer.out <(seq 20)
    finish producer
    assert_status 1
    assert_one_complaint '^fnet-produce: main:1: not delivered in full: cancelled by the consumer$'
}

@test "protocol: everything read but nothing acknowledged is not delivered: status 1" {
    seq 3 >input
    start_producer producer <input
    trouble <<'END'
open
send PartitionRequest
await BufferResponse
await BufferResponse
close
END
    finish producer
    assert_status 1
    assert_one_complaint '/main:0: not delivered: the connection was lost: closed by the consumer$'
    # Nor is what is cancelled after all of it came.
    start_producer producer <input
    trouble <<'END'
open
send PartitionRequest
await BufferResponse
await BufferResponse
send CancelPartitionRequest
send CloseRequest
end
END
    finish producer
    assert_status 1
    assert_one_complaint '^fnet-produce: main:0: not delivered in full: cancelled by the consumer$'
}

@test "protocol: a credit of 0 is backlog announced and credit given" {
    seq 3 >input
    start_producer producer <input
    trouble <<'END'
open
send PartitionRequest credit=0
expect BacklogAnnouncement
send AddCredit credit=1
expect BufferResponse
expect BufferResponse
send AckAllUserRecordsProcessed
expect BufferResponse
send CloseRequest
end
END
    assert_line 'BacklogAnnouncement backlog=1'
    finish_well producer
}

# bats test_tags=long
@test "protocol: who acknowledges everything and then does not leave is not waited for long" {
    seq 3 >input
    start_producer producer <input
    start_peer stranger connect "$address" <<'END'
open
send PartitionRequest
await BufferResponse
await BufferResponse
send AckAllUserRecordsProcessed
await BufferResponse
wait over
END
    finish_within 10 producer
    assert_status 0
    assert_quiet
    touch over
    finish stranger
    assert_status 0
    assert_line 'BufferResponse sequence=2 backlog=0 END_OF_PARTITION size=4'
}
