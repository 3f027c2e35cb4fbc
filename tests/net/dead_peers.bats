# SPDX-License-Identifier: Apache-2.0
# Hosts of their own, in network namespaces: what loopback cannot show. Needs root and ip(8).

setup_file() {
    load ../helpers
    suite_limits 60
}

setup() {
    load ../helpers
    [[ $(id -u) -eq 0 ]] || skip 'needs root'
    command -v ip >/dev/null || skip 'needs ip(8)'
    left=fnet-l$$ right=fnet-r$$
    ip netns add "$left" 2>/dev/null || skip 'no network namespaces here'
    ip netns add "$right"
    ip -n "$left" link add name wire type veth peer name wire netns "$right" 2>/dev/null ||
        skip 'no veth here'
    ip -n "$left" addr add 192.0.2.1/24 dev wire
    ip -n "$right" addr add 192.0.2.2/24 dev wire
    ip -n "$left" link set wire up
    ip -n "$right" link set wire up
}

teardown() {
    kill_started
    ip netns del "$left" 2>/dev/null || true
    ip netns del "$right" 2>/dev/null || true
}

# A producer on the left that has sent some and then has nothing more to say.
produce_and_fall_silent() { # OPTION...
    mkfifo "$BATS_TEST_TMPDIR/pipe"
    exec 9<>"$BATS_TEST_TMPDIR/pipe"
    seq 1 1000 >&9
    start p ip netns exec "$left" fnet-produce --plaintext -l 192.0.2.1:0 \
        --port-file "$BATS_TEST_TMPDIR/port" "$@" main="$BATS_TEST_TMPDIR/pipe"
    address=$(wait_port "$BATS_TEST_TMPDIR/port")
}

# bats test_tags=long
@test "net: a host that vanishes is noticed by both ends within the idle timeout" {
    produce_and_fall_silent --idle-timeout 3s
    start c ip netns exec "$right" fnet-consume --plaintext --idle-timeout 3s "$address"
    wait_line "$BATS_TEST_TMPDIR/c.out" '^1000$'
    ip -n "$left" link set wire down
    finish c
    assert_status 1
    [[ $stderr == *'connection lost: Connection timed out; end of partition not reached: main:0 after 1000 records'* ]]
    finish p
    assert_status 1
    [[ $stderr == *'main:0: not delivered: the connection was lost: Connection timed out'* ]]
}

# bats test_tags=long
@test "net: a reader that stalls for longer than the idle timeout is not lost" {
    seq 1 2000000 >"$BATS_TEST_TMPDIR/in"
    start p ip netns exec "$left" fnet-produce --plaintext -l 192.0.2.1:0 --idle-timeout 2s \
        --port-file "$BATS_TEST_TMPDIR/port" main="$BATS_TEST_TMPDIR/in"
    address=$(wait_port "$BATS_TEST_TMPDIR/port")
    mkfifo "$BATS_TEST_TMPDIR/out"
    # The stall is the thing tested, so this sleeps: the FIFO's reader comes three timeouts late.
    start r bash -c 'exec <"$1"; sleep 6; exec wc -l' - "$BATS_TEST_TMPDIR/out"
    start c ip netns exec "$right" fnet-consume --plaintext --idle-timeout 2s \
        -o "$BATS_TEST_TMPDIR/out" "$address"
    finish c
    assert_status 0
    finish p
    assert_status 0
    finish r
    assert_output 2000000
}

# bats test_tags=long
@test "net: a connection attempt that nobody answers ends with the connect timeout" {
    ip -n "$left" link set wire down
    # A static neighbour: packets leave and vanish, as behind a firewall that drops them.
    ip -n "$right" neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev wire nud permanent
    run -3 --separate-stderr ip netns exec "$right" \
        fnet-consume --plaintext --connect-timeout 300ms 192.0.2.1:6121
    [[ $stderr == 'fnet-consume: 192.0.2.1:6121: cannot connect: Connection timed out' ]]
}

# bats test_tags=long
@test "net: an address of another host needs --plaintext on both ends" {
    run -2 --separate-stderr ip netns exec "$left" fnet-produce -l 192.0.2.1:0
    [[ $stderr == *'--plaintext allows it'* ]]
    run -2 --separate-stderr ip netns exec "$right" fnet-consume 192.0.2.1:6121
    [[ $stderr == *'--plaintext allows it'* ]]
}
