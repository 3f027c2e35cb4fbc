# SPDX-License-Identifier: Apache-2.0
# One slow reader stops only itself, and costs no more memory than the formula says.

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

# Beside its network buffers a process has itself, its libraries, and 256 KiB for each input and
# output: 6 MiB are plenty.
SLACK_KB=6144

# The program started as NAME never had more than BUFFERS of 32 KiB and the slack.
assert_memory() { # NAME BUFFERS
    ((SLOWNESS == 1)) || return 0
    local peak
    peak=$(peak_memory "$1")
    ((peak <= $2 * 32 + SLACK_KB)) || {
        printf '%s had %d KiB, more than %d buffers and %d KiB\n' "$1" "$peak" "$2" "$SLACK_KB" >&2
        return 1
    }
}

# A FIFO whose reader never reads, on descriptor 8, which the programs do not get.
make_stalled() {
    mkfifo stalled
    exec 8<>stalled
}

# How far the program started as NAME has read FILE.
position() { # NAME FILE
    local fd
    for fd in "/proc/${started_pids[$1]}/fd"/*; do
        [[ $(readlink "$fd") != "$2" ]] ||
            sed -n 's/^pos:[^0-9]*//p' "/proc/${started_pids[$1]}/fdinfo/${fd##*/}"
    done | sort -n | tail -n 1
}

# Has NAME read something of FILE, and no more at ten looks in a row? For wait_until.
has_stopped_reading() { # NAME FILE
    local now
    now=$(position "$1" "$2")
    ((same_position = ${now:-0} > 0 && now == ${last_position:-0} ? same_position + 1 : 0)) || true
    last_position=$now
    ((same_position >= 10))
}

@test "backpressure: a gate stalled for good: the other's gigabyte passes on the same connection" {
    local bytes
    bytes=$(scaled 1000000000)
    make_stalled
    mkfifo fast
    exec 7<>fast
    start_producer producer -v -f fixed:1000 slow=/dev/zero fast=/dev/zero 7>&- 8>&- </dev/null
    start_consumer consumer -o stalled -f bytes "$address/slow" \
        --next -o fast -f bytes "$address/fast" 7>&- 8>&-
    timeout $((30 * SLOWNESS)) head -c "$bytes" fast | cmp -n "$bytes" - /dev/zero
    # 2 buffers for the one channel and 8 floating ones, twice.
    assert_memory consumer 20
    assert_memory producer 20
    [[ $(grep -c ': connected$' producer.err) == 1 ]]
    signal consumer TERM
    finish_within 5 consumer
    assert_status 143
}

@test "backpressure: a stalled consumer does not slow another consumer's subpartition" {
    make_stalled
    head -c "$(($(scaled 50000) * 1000))" /dev/zero >plenty
    start_producer producer -f fixed:1000 slow=/dev/zero fast=plenty </dev/null
    start_consumer slow -o stalled -f bytes "$address/slow" 8>&-
    start_consumer fast -f bytes "$address/fast"
    finish_within 20 fast
    assert_status 0
    assert_quiet
    cmp plenty fast.out
    assert_memory producer 20
    assert_memory slow 10
}

@test "backpressure: what a stalled consumer does not take is not read from the input" {
    make_stalled
    truncate -s 1G big
    start_producer producer -n 4 -f fixed:1000 main=big </dev/null
    start_consumer consumer -o stalled -f bytes "$address" 8>&-
    wait_until 20 has_stopped_reading producer "$PWD/big"
    # The buffers of both sides, and what lies in pipes, sockets and the process itself.
    (($(position producer "$PWD/big") < 16 << 20))
    # 4 channels: 4 * 2 + 8, 1 more at the producer.
    assert_memory producer 17
    assert_memory consumer 16
}

@test "backpressure: without consumers a producer reads what its buffers hold, and waits" {
    truncate -s 1G big
    start_producer producer -n 4 -f fixed:1000 main=big </dev/null
    wait_until 20 has_stopped_reading producer "$PWD/big"
    (($(position producer "$PWD/big") < 2 << 20))
    assert_memory producer 17
}

@test "backpressure: one subpartition without a consumer stops the others of its partition only" {
    yes 1 | head -n 1000 >other
    open_feed
    start_producer producer -n 2 -s index main other=other <"$feed"
    start_consumer first "$address/main:0"
    start_consumer second "$address/other"
    finish_well second
    assert_same_lines other second.out
    # More than the buffers of subpartition 1 hold: it waits for a consumer, which then comes.
    (yes 1 | head -n 1000000; echo 0) >&9 &
    exec 9>&-
    start_consumer third "$address/main:1"
    finish_well first third producer
    [[ $(<first.out) == 0 && $(wc -l <third.out) == 1000000 ]]
}

@test "backpressure: a reader that comes back gets everything" {
    mkfifo late
    exec 8<>late
    # More than all buffers and pipes on the way hold, however slow the programs are.
    seq "$(($(scaled 3000000) + 500000))" >input
    start_producer producer -n 3 main=input </dev/null 8>&-
    start_consumer consumer -o late "$address" 8>&-
    wait_until 20 has_stopped_reading producer "$PWD/input"
    # Now it is read, by someone who sees the end when the consumer closes it.
    start reader bash -c 'exec <late; : >opened; exec cat' 8>&-
    wait_until 10 test -e opened
    exec 8>&-
    finish_well consumer producer
    finish_well reader
    sort -n reader.out | cmp - input
}

@test "backpressure: no exclusive buffers, one floating buffer for ten channels" {
    seq "$(scaled 100000)" >input
    start_producer producer -n 10 <input
    start_consumer consumer -b 0 --floating-buffers 1 --stats stats "$address"
    finish_well consumer producer
    assert_same_lines input consumer.out
    grep -qiE '"peakMemorySegments":1[,}]' stats
}

@test "backpressure: a thousand stalled channels stay within the formula" {
    make_stalled
    start_producer producer -n 1000 -f fixed:1000 main=/dev/zero </dev/null
    start_consumer consumer -o stalled -f bytes --stats stats --stats-interval 10ms "$address" 8>&-
    wait_until 30 grep -qE '"inputQueueLength":(199[0-9]|200[0-9])' stats
    assert_memory consumer 2008
    assert_memory producer 2008
    run -1 grep -qE '[pP]eakMemorySegments":(200[9]|20[1-9][0-9])' stats
}

@test "backpressure: -T pipelined is bounded by --memory" {
    truncate -s 1G big
    start_producer producer -n 2 -T pipelined --memory 2M -f fixed:1000 main=big </dev/null
    wait_until 20 has_stopped_reading producer "$PWD/big"
    (($(position producer "$PWD/big") < 3 << 20))
    assert_memory producer 64
}
