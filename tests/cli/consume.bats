# SPDX-License-Identifier: Apache-2.0
# fnet-consume by itself: whom it finds, where its output goes, and when it stops.

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

# An address of this test's own, where nobody listens: the loopback network is large.
own_address() {
    printf '127.%d.%d.%d:6121' $((BASHPID >> 16 & 255)) $((BASHPID >> 8 & 255)) $((BASHPID & 255 | 1))
}

# ---- finding producers -------------------------------------------------------------------------

@test "consume: nobody listens: status 3 and one line" {
    local nowhere
    nowhere=$(own_address)
    run --separate-stderr -3 fnet-consume "$nowhere"
    assert_output ''
    assert_one_complaint "^fnet-consume: $nowhere: cannot connect: Connection refused\$"
    run --separate-stderr -3 fnet-consume unix:nowhere/main
    assert_one_complaint '^fnet-consume: unix:nowhere: cannot connect: No such file or directory$'
    run --separate-stderr -3 fnet-consume no-such-host.invalid:1
    assert_one_complaint '^fnet-consume: no-such-host\.invalid:1: cannot connect: .+$'
}

@test "consume: --retry tries so often again, and says so with -v" {
    local nowhere
    nowhere=$(own_address)
    run --separate-stderr -3 fnet-consume --retry 2 -v "$nowhere"
    [[ ${#stderr_lines[@]} == 3 ]]
    [[ ${stderr_lines[1]} == "fnet-consume: $nowhere: cannot connect: Connection refused; trying again" ]]
    [[ ${stderr_lines[2]} == "fnet-consume: $nowhere: cannot connect: Connection refused" ]]
}

@test "consume: with --retry the order of starting does not matter, over TCP and unix sockets" {
    seq 10 >input
    local where
    for where in "$(own_address)" "unix:$PWD/socket"; do
        start_consumer consumer -v --retry forever "$where/main"
        wait_line consumer.err 'trying again'
        start producer fnet-produce -l "$where" <input
        finish consumer
        assert_status 0
        finish_well producer
        cmp input consumer.out
    done
}

@test "consume: every address of a name is tried" {
    grep -qs '^0*1 ' /proc/net/if_inet6 || skip 'there is no ::1'
    getent ahosts localhost | grep -q '^::1' || skip 'localhost has one address'
    local listen where
    seq 10 >input
    for listen in 127.0.0.1 '[::1]'; do
        start producer fnet-produce -l "$listen:0" --port-file ports <input
        where=$(wait_port ports)
        rm ports
        start_consumer consumer "localhost:${where##*:}"
        finish_well consumer producer
        cmp input consumer.out
    done
}

@test "consume: a partition that does not exist: asked for again with --request-backoff, then status 3" {
    start_producer producer -n 2 --trace trace </dev/null
    run --separate-stderr -3 fnet-consume --request-backoff 0:0 "$address/nix:0"
    assert_one_complaint "^fnet-consume: $address/nix:0: no such partition: Partition .+ not found\.\$"
    run --separate-stderr -3 fnet-consume --request-backoff 1ms:8ms "$address/nix"
    assert_one_complaint "^fnet-consume: $address/nix: no such partition: "
    run --separate-stderr -3 fnet-consume --request-backoff 1ms:8ms "$address/main:2"
    assert_one_complaint "^fnet-consume: $address/main:2: no such partition: main has subpartitions 0 to 1, not 2\$"
    # The producer did not mind.
    start_consumer consumer "$address"
    finish_well consumer producer
    # 1, 2, 4 and 8 ms after the first time.
    need_commands fnet-inspect
    fnet-inspect --json trace >messages
    [[ $(grep -c '"type":"DescriptionRequest"' messages) == 6 ]]
    [[ $(grep -c '"type":"PartitionRequest"' messages) == $((1 + 5 + 2)) ]]
}

@test "consume: -v says what is asked for again, and why" {
    start_producer producer -n 2 </dev/null
    run --separate-stderr -3 fnet-consume -v --request-backoff 1ms:1ms "$address/main:2"
    assert_stderr_match '^fnet-consume: main:2: main has subpartitions 0 to 1, not 2; asking again$'
    start_consumer consumer "$address"
    finish_well consumer producer
}

@test "consume: a subpartition that somebody else reads: status 1" {
    open_feed
    start_producer producer -n 2 --buffer-timeout 1ms <"$feed"
    start_consumer first "$address/main:0"
    seq 10 >&9
    wait_until 10 test -s first.out
    run --separate-stderr -1 fnet-consume "$address/main:0"
    assert_one_complaint "^fnet-consume: $address/main:0: refused by the producer: main:0 is read by another consumer, or was\$"
    start_consumer second "$address/main:1"
    exec 9>&-
    finish_well first second producer
}

@test "consume: --list prints what producers serve and reads none of it" {
    seq 10 >a
    start_producer producer -n 3 -f nul -T pipelined a=a b </dev/null
    # The state is told when the inputs have ended.
    wait_until 10 bash -c "[[ \$(fnet-consume --list '$address' | grep -c finished) == 2 ]]"
    run --separate-stderr -0 fnet-consume --list "$address"
    assert_quiet
    assert_line "$address/a	3	pipelined	nul	finished	none"
    assert_line "$address/b	3	pipelined	nul	finished	none"
    [[ ${#lines[@]} == 2 ]]
    run --separate-stderr -0 fnet-consume --list "$address/b"
    [[ ${#lines[@]} == 1 ]]
    start_consumer consumer -z "$address/a" "$address/b"
    finish_well consumer producer
    tr -d '\0' <consumer.out | cmp - a
}

@test "consume: --list of a producer that is not there prints nothing: status 3" {
    start_producer producer </dev/null
    run --separate-stderr -3 fnet-consume --list "$address" "$(own_address)"
    assert_output ''
    assert_one_complaint 'cannot connect: Connection refused$'
    run --separate-stderr -3 fnet-consume --list --request-backoff 0:0 "$address/nix"
    assert_output ''
}

# ---- connections -------------------------------------------------------------------------------

# Distinct connections in the trace.
connections() {
    fnet-inspect --json trace | grep -o '"connection":"\?[^,}]*' | sort -u | wc -l
}

@test "consume: all channels to a producer, of all gates, share one connection" {
    need_commands fnet-inspect
    seq 100 >input
    start_producer producer -n 8 a=input b </dev/null
    start_consumer consumer --trace trace "$address/a" "$address/b:0-3" --next "$address/b:4-7"
    finish_well consumer producer
    assert_same_lines input consumer.out
    [[ $(connections) == 1 ]]
}

@test "consume: --max-connections spreads the channels over as many" {
    need_commands fnet-inspect
    seq 100 >input
    start_producer producer -n 8 <input
    start_consumer consumer --max-connections 3 --trace trace "$address/main:0-7"
    finish_well consumer producer
    assert_same_lines input consumer.out
    [[ $(connections) == 3 ]]
}

# ---- output ------------------------------------------------------------------------------------

@test "consume: -o names a file that is made or emptied, for each gate its own" {
    seq 10 >input
    seq 100 >old
    start_producer producer a=input b=input </dev/null
    start_consumer consumer -o old "$address/a" --next -o new --tag "$address/b"
    finish_well consumer producer
    [[ ! -s consumer.out ]]
    cmp input old
    cut -f 2 new | cmp input -
}

@test "consume: two ways into one file are refused before anything is emptied" {
    echo precious >kept
    ln kept hard
    local other
    for other in ./kept hard; do
        run --separate-stderr -2 fnet-consume -o kept 127.0.0.1 --next -o "$other" 127.0.0.1
        assert_stderr_match "^fnet-consume: $other: the same file is written in another place too\$"
    done
    run --separate-stderr -2 fnet-consume --trace hard -o kept 127.0.0.1
    run --separate-stderr -2 bash -c 'fnet-consume 127.0.0.1 --next -o /dev/stdout 127.0.0.1 >>kept'
    [[ $(<kept) == precious ]]
    # What nobody reads can take everything.
    start_producer producer -n 2 <<<line
    run --separate-stderr -0 fnet-consume -o /dev/null "$address/main:0" \
        --next -o /dev/null "$address/main:1"
    finish producer
    assert_status 0
}

@test "consume: an output that cannot be opened: status 6, before the producer hears of it" {
    start_producer producer </dev/null
    run --separate-stderr -6 fnet-consume -o nowhere/file "$address"
    assert_one_complaint '^fnet-consume: nowhere/file: cannot open: No such file or directory$'
    start_consumer consumer "$address"
    finish_well consumer producer
}

@test "consume: an output that fails at the last byte: status 6, and the producer does not exit 0" {
    local target n
    for target in /dev/full -; do
        for n in 1 100000; do
            seq "$n" >input
            start_producer producer <input
            run --separate-stderr bash -c "fnet-consume -o '$target' '$address' >/dev/full"
            assert_status 6
            if [[ $target == - ]]; then
                assert_one_complaint '^fnet-consume: (-|standard output): cannot write: No space left on device$'
            else
                assert_one_complaint '^fnet-consume: /dev/full: cannot write: No space left on device$'
            fi
            finish producer
            assert_status 1
            assert_one_complaint '^fnet-produce: main:0: not delivered in full: cancelled by the consumer$'
        done
    done
}

@test "consume: a file that grows beyond what is allowed: status 6, and the producer knows" {
    seq 100000 >input
    start_producer producer <input
    start consumer bash -c "ulimit -f 64; exec fnet-consume -o file '$address'"
    finish consumer
    assert_status 6
    assert_one_complaint '^fnet-consume: file: cannot write: File too large$'
    finish producer
    assert_status 1
    # What is there is the beginning.
    head -c "$(stat -c %s file)" input | cmp - file
}

@test "consume: | head leaves at once and quietly, even when the producer is idle" {
    open_feed
    start_producer producer --buffer-timeout 1ms <"$feed"
    start reader bash -c "set -o pipefail; fnet-consume '$address' | head -n 3"
    seq 4 >&9
    # Nothing more comes, and the feed stays open.
    finish_within 5 reader
    assert_status 141
    assert_quiet
    assert_output $'1\n2\n3'
    finish_within 5 producer
    assert_status 1
    assert_one_complaint '^fnet-produce: main:0: not delivered in full: cancelled by the consumer$'
}

@test "consume: | head of a stream without end is prompt, whatever the format" {
    local format
    for format in lines nul u32 bytes fixed:1; do
        if [[ $format == lines ]]; then
            start_producer producer -n 3 < <(yes 2>/dev/null)
        else
            start_producer producer -n 3 -f "$format" </dev/zero
        fi
        start reader bash -c "fnet-consume -f '$format' '$address' | head -c 1000"
        finish_within 10 reader
        assert_status 0
        assert_quiet
        finish_within 10 producer
        assert_status 1
        [[ $(stat -c %s reader.out) == 1000 ]]
    done
}

@test "consume: --limit stops after so many records in every format, and the producer knows" {
    local option
    for option in '-f lines' '-z' '-f u32' '-f fixed:2' '-d ,'; do
        seq 10 99 >input
        start_producer producer <input
        # shellcheck disable=SC2086 # two words are wanted
        start_consumer consumer --limit 7 $option "$address"
        finish_well consumer
        case $option in
        *u32) [[ $(stat -c %s consumer.out) == 42 ]] ;;
        *fixed*) [[ $output == 10111213141516 ]] ;;
        *) [[ $(tr '\0,' '[\n*]' <consumer.out) == "$(seq 10 16)" ]] ;;
        esac
        finish producer
        assert_status 1
        assert_one_complaint '^fnet-produce: main:0: not delivered in full: cancelled by the consumer$'
    done
}

@test "consume: --limit 0 and --limit above what there is" {
    seq 10 >input
    start_producer producer <input
    start_consumer consumer --limit 0 "$address"
    finish_well consumer
    assert_output ''
    finish producer
    assert_status 1
    transfer input -- --limit 11
    cmp input "$received"
}

@test "consume: --limit leaves the producer's other subpartitions to others" {
    open_feed
    start_producer producer -n 2 -s index --buffer-timeout 1ms <"$feed"
    start_consumer first --limit 1 "$address/main:0"
    start_consumer second "$address/main:1"
    printf '0\n1\n' >&9
    finish_well first
    # What the first does not want is dropped, however much it is.
    { yes 0 | head -n "$(scaled 1000000)"; echo 1; } >&9
    exec 9>&-
    finish_well second
    assert_output $'1\n1'
    finish producer
    assert_status 1
    assert_one_complaint '^fnet-produce: main:0: not delivered in full: cancelled by the consumer$'
}

@test "consume: records come out promptly, not when a buffer is full" {
    open_feed
    start_producer producer <"$feed"
    start_consumer consumer "$address"
    local i
    for i in 1 2 3; do
        echo "$i" >&9
        wait_until 10 grep -qx "$i" consumer.out
    done
    exec 9>&-
    finish_well consumer producer
}

@test "consume: whoever shares its output does not find it changed, nor in the way of non-blocking" {
    seq 1000 >input
    mkfifo shared
    exec 8<>shared
    grep flags "/proc/$BASHPID/fdinfo/8" >before
    start_producer producer <input 8>&-
    start consumer bash -c "exec fnet-consume '$address' >&8"
    run -0 timeout $((20 * SLOWNESS)) head -n 1000 <&8
    [[ $output == "$(seq 1000)" ]]
    finish_well consumer producer
    grep flags "/proc/$BASHPID/fdinfo/8" | cmp - before
}

@test "consume: --tag says whose record it is, also in nul and u32 form" {
    printf 'x\n' >input
    transfer input -- --tag
    printf 'main:0\tx\n' | cmp - "$received"
    transfer input -- --tag -z
    printf 'main:0\tx\0' | cmp - "$received"
    transfer input -- --tag -f u32
    printf '\0\0\0\10main:0\tx' | cmp - "$received"
}

# ---- what it tells -----------------------------------------------------------------------------

@test "consume: --stats are JSON lines with Flink's metric names" {
    seq 100 >input
    start_producer producer -n 2 <input
    start_consumer consumer --stats stats "$address"
    finish_well consumer producer
    [[ $(wc -l <stats) == 1 ]]
    run -1 grep -vxE '\{"[A-Za-z]+":[0-9.]+(,"[A-Za-z]+":[0-9.]+)*\}' stats
    local name
    for name in time uptime numRecordsIn numBytesIn numBuffersInRemote inputQueueLength credit; do
        grep -q "\"$name\":[0-9]" stats
    done
    grep -q '"numRecordsIn":100,' stats
}

@test "consume: statistics and traces that cannot be written: status 6" {
    local option
    for option in stats trace; do
        seq 3 >input
        start_producer producer <input
        start_consumer consumer "--$option" /dev/full "$address"
        finish consumer
        assert_status 6
        assert_one_complaint '^fnet-consume: /dev/full: cannot write: No space left on device$'
        cmp input consumer.out
        finish producer
    done
}

@test "consume: -v says whom it is connected to, on standard error" {
    seq 3 >input
    start_producer producer <input
    start_consumer consumer -v "$address"
    finish consumer
    assert_status 0
    cmp input consumer.out
    assert_one_complaint "^fnet-consume: $address: connected to $address\$"
    finish_well producer
}
