# SPDX-License-Identifier: Apache-2.0
# fnet-produce by itself: where it listens, how it says so, and when it gives up.

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

# Does a producer that was started here listen at ADDRESS?
is_served() { # ADDRESS
    fnet-consume -q --list "$1" >/dev/null 2>&1
}

# ---- readiness -------------------------------------------------------------------------------

@test "produce: --port-file and --ready-fd name every address in the order of --listen" {
    start producer fnet-produce -l 127.0.0.1:0 -l "unix:$PWD/socket" -l 127.0.0.1:0 \
        --port-file ports --ready-fd 1 </dev/null
    wait_port ports
    mapfile -t addresses <ports
    [[ ${#addresses[@]} == 3 && ${addresses[1]} == "unix:$PWD/socket" ]]
    [[ ${addresses[0]} =~ ^127\.0\.0\.1:[1-9][0-9]+$ && ${addresses[2]} =~ ^127\.0\.0\.1:[1-9][0-9]+$ ]]
    cmp ports producer.out
    local where
    for where in "${addresses[@]}"; do
        is_served "$where"
    done
}

@test "produce: --ready-fd 2 does not lay standard error open for a socket to take its place" {
    start producer fnet-produce -v -l 127.0.0.1:0 --ready-fd 2 <<<line
    wait_line producer.err '^127\.0\.0\.1:[0-9]+$'
    run --separate-stderr -0 fnet-consume "$(grep -m 1 -E '^127' producer.err)"
    assert_output line
    finish producer
    assert_status 0
    assert_stderr_match '^fnet-produce: 127\.0\.0\.1:[0-9]+: connected$'
}

@test "produce: a partition with a Flink id is listed by its id" {
    local id=00112233445566778899aabbccddeeff
    id="$id#3@${id}_${id}_3_0"
    start_producer producer "$id" <<<line
    run --separate-stderr -0 fnet-consume --list "$address"
    assert_match "/$id\s1\s"
    run --separate-stderr -0 fnet-consume "$address/$id:0"
    assert_output line
    finish producer
    assert_status 0
}

@test "produce: an input is not overwritten by a trace, statistics or the port file" {
    echo precious >input
    local option
    for option in trace stats port-file; do
        run --separate-stderr -2 fnet-produce "--$option" ./input main=input
        [[ $(<input) == precious ]]
    done
}

@test "produce: --ready-fd is closed once it has said where, so that a reader sees the end" {
    mkfifo ready
    start producer bash -c 'exec 7>ready; exec fnet-produce -l 127.0.0.1:0 --ready-fd 7' </dev/null
    run -0 timeout $((10 * SLOWNESS)) cat ready
    is_served "$output"
}

@test "produce: the port file appears whole and under its name only" {
    local i
    : >seen
    for ((i = 0; i < 5; i++)); do
        rm -f ports
        start "producer$i" fnet-produce -l 127.0.0.1:0 -l "unix:$PWD/socket$i" --port-file ports </dev/null
        until [[ -e ports ]]; do :; done
        wc -l <ports >>seen
    done
    [[ $(sort -u seen) == 2 ]]
    run -1 compgen -G 'ports.*'
}

@test "produce: a port file that is a FIFO or a device stays what it is" {
    mkfifo fifo
    start producer fnet-produce -l 127.0.0.1:0 --port-file fifo </dev/null
    run -0 timeout $((10 * SLOWNESS)) cat fifo
    is_served "$output"
    [[ -p fifo ]]
    run --separate-stderr -1 fnet-produce -q --wait 0 -l 127.0.0.1:0 --port-file /dev/stdout </dev/null
    assert_match '^127\.0\.0\.1:[0-9]+$'
    [[ -L /dev/stdout ]]
}

@test "produce: a port file that cannot be written is a local error: status 6" {
    run --separate-stderr -6 fnet-produce -l 127.0.0.1:0 --port-file nowhere/ports </dev/null
    assert_one_complaint '^fnet-produce: nowhere/ports: cannot write: No such file or directory$'
}

@test "produce: -v says where it listens and who comes, otherwise it is silent" {
    start_producer producer -v </dev/null
    start_consumer consumer "$address"
    finish_well consumer
    finish producer
    assert_status 0
    assert_output ''
    assert_stderr_match "^fnet-produce: $address: listening\$"
    assert_stderr_match '^fnet-produce: 127\.0\.0\.1:[0-9]+: connected$'
}

# ---- addresses -------------------------------------------------------------------------------

@test "produce: an occupied port: status 3, and a free one beside it is given back" {
    start_producer first </dev/null
    run --separate-stderr -3 fnet-produce -l "unix:$PWD/socket" -l "$address" </dev/null
    assert_output ''
    assert_one_complaint "^fnet-produce: $address: cannot listen: Address already in use\$"
    [[ ! -e socket ]]
    is_served "$address"
}

@test "produce: addresses that cannot be: status 3" {
    run --separate-stderr -3 fnet-produce -l no-such-host.invalid:0 </dev/null
    assert_one_complaint '^fnet-produce: no-such-host\.invalid: cannot listen: .+$'
    run --separate-stderr -3 fnet-produce -l unix:nowhere/socket </dev/null
    assert_one_complaint '^fnet-produce: unix:nowhere/socket: cannot listen: No such file or directory$'
}

@test "produce: a stale socket file is replaced, a living one and other files are not" {
    start first fnet-produce -l "unix:$PWD/socket" --port-file ports </dev/null
    wait_port ports
    run --separate-stderr -3 fnet-produce -l "unix:$PWD/socket" </dev/null
    assert_one_complaint "^fnet-produce: unix:$PWD/socket: cannot listen: Address already in use\$"
    is_served "unix:$PWD/socket"
    signal first KILL
    finish first
    [[ -S socket ]]
    rm ports
    start second fnet-produce -l "unix:$PWD/socket" --port-file ports </dev/null
    wait_port ports
    is_served "unix:$PWD/socket"
    signal second TERM
    finish second
    [[ ! -e socket ]]
    echo precious >socket
    run --separate-stderr -3 fnet-produce -l "unix:$PWD/socket" </dev/null
    [[ $(<socket) == precious ]]
}

@test "produce: the socket file goes with the producer, however it ends" {
    start producer fnet-produce -l "unix:$PWD/socket" --port-file ports </dev/null
    wait_port ports
    run -0 fnet-consume "unix:$PWD/socket"
    finish_well producer
    [[ ! -e socket ]]
    run --separate-stderr -1 fnet-produce --wait 0 -l "unix:$PWD/socket" </dev/null
    [[ ! -e socket ]]
    echo x >input
    run --separate-stderr -4 fnet-produce -s index -l "unix:$PWD/socket" <input
    [[ ! -e socket ]]
}

@test "produce: IPv6, with its address in brackets, beside IPv4 on the same port" {
    grep -qs '^0*1 ' /proc/net/if_inet6 || skip 'there is no ::1'
    seq 10 >input
    start_producer producer -n 3 -l '[::1]:0' <input
    mapfile -t addresses <producer.port
    [[ ${addresses[1]} =~ ^\[::1\]:[1-9][0-9]+$ ]]
    start_consumer first "${addresses[1]}/main:0,1"
    start_consumer second "${addresses[0]}/main:2"
    finish_well first second producer
    assert_same_lines input first.out second.out
}

# ---- input -----------------------------------------------------------------------------------

@test "produce: an input that cannot be opened or read: status 6, before anything listens" {
    run --separate-stderr -6 fnet-produce -l 127.0.0.1:0 --port-file ports main=missing
    assert_one_complaint '^fnet-produce: missing: cannot open: No such file or directory$'
    [[ ! -e ports ]]
    run --separate-stderr -6 fnet-produce -l 127.0.0.1:0 main="$PWD"
    assert_one_complaint '^fnet-produce: main: reading the input: Is a directory$'
}

@test "produce: statistics and traces that cannot be written: status 6" {
    local option
    for option in stats trace; do
        run --separate-stderr -6 fnet-produce -l 127.0.0.1:0 "--$option" nowhere/file </dev/null
        assert_one_complaint '^fnet-produce: nowhere/file: cannot open: No such file or directory$'
        seq 3 >input
        start_producer producer "--$option" /dev/full <input
        start_consumer consumer "$address"
        finish_well consumer
        cmp input consumer.out
        finish producer
        assert_status 6
        assert_one_complaint '^fnet-produce: /dev/full: cannot write: No space left on device$'
    done
}

# ---- waiting for consumers ---------------------------------------------------------------------

@test "produce: --wait ends the waiting for consumers: status 1, and who did not come is told" {
    run --separate-stderr -1 fnet-produce -n 2 --wait 10ms -l 127.0.0.1:0 </dev/null
    assert_one_complaint '^fnet-produce: main:0, main:1: not delivered: no consumer came in the time allowed by --wait$'
    # Whoever did come hears why it is over.
    open_feed
    start_producer producer -n 2 --wait 1ms --buffer-timeout 1ms <"$feed"
    start_consumer consumer "$address/main:0"
    seq 10 >&9
    wait_until 10 test -s consumer.out
    exec 9>&-
    finish producer
    assert_status 1
    assert_one_complaint '^fnet-produce: main:1: not delivered: no consumer came in the time allowed by --wait$'
    finish consumer
    # It may have had all of its own by then.
    [[ $status == 0 ]] || {
        assert_status 1
        assert_stderr_match 'the producer failed: the producer stopped waiting for consumers'
    }
}

@test "produce: --wait does not count while the input goes on" {
    open_feed
    start_producer producer --wait 1ms <"$feed"
    # Longer than --wait, and in steps that both sides see: a list is asked for and comes.
    is_served "$address"
    is_served "$address"
    start_consumer consumer "$address"
    echo late >&9
    wait_until 10 grep -qx late consumer.out
    exec 9>&-
    finish_well consumer producer
    [[ $(<consumer.out) == late ]]
}

# ---- what it tells -----------------------------------------------------------------------------

@test "produce: --stats are JSON lines with Flink's metric names, at the end and on USR2" {
    open_feed
    start_producer producer -n 2 --stats stats <"$feed"
    start_consumer consumer "$address"
    seq 100 >&9
    wait_until 10 grep -qx 100 consumer.out
    signal producer USR2
    wait_until 10 test -s stats
    exec 9>&-
    finish_well consumer producer
    [[ $(wc -l <stats) == 2 ]]
    # Flat objects of numbers.
    run -1 grep -vxE '\{"[A-Za-z]+":[0-9.]+(,"[A-Za-z]+":[0-9.]+)*\}' stats
    local name
    for name in time uptime numRecordsOut numBytesOut numBuffersOut outputQueueLength; do
        tail -n 1 stats | grep -q "\"$name\":[0-9]"
    done
    tail -n 1 stats | grep -q '"numRecordsOut":100,'
}

@test "produce: --stats - goes to standard error, --stats-interval repeats it" {
    open_feed
    start_producer producer --stats - --stats-interval 5ms <"$feed"
    wait_until 10 bash -c '(($(wc -l <producer.err) > 3))'
    start_consumer consumer "$address"
    exec 9>&-
    finish_well consumer
    finish producer
    assert_status 0
    assert_output ''
    run -1 grep -v '^{.*}$' producer.err
}

@test "produce: --progress=always is on standard error only, and -q keeps a success silent" {
    seq 100 >input
    start_producer producer --progress=always <input
    start_consumer consumer --progress=always "$address"
    finish consumer
    assert_status 0
    cmp input consumer.out
    assert_stderr_match '^fnet-consume: 100 records, .* mean$'
    finish producer
    assert_status 0
    assert_output ''
    assert_stderr_match '^fnet-produce: 100 records, .* mean$'
    transfer input -q -- -q
}

@test "produce: --trace holds the whole conversation, which fnet-inspect finds flawless" {
    need_commands fnet-inspect
    seq 100 >input
    start_producer producer -n 2 --trace trace <input
    start_consumer consumer --trace its-trace "$address"
    finish_well consumer producer
    run --separate-stderr -0 fnet-inspect --strict --json trace
    grep -c '"type":"PartitionRequest"' <<<"$output" | grep -qx 2
    grep -c '"type":"AckAllUserRecordsProcessed"' <<<"$output" | grep -qx 2
    run --separate-stderr -0 fnet-inspect --strict its-trace
}
