# SPDX-License-Identifier: Apache-2.0
# The measuring tools measure what they say: the bare loop loses nothing, loopback.sh prints rows.

bats_require_minimum_version 1.5.0

setup() {
    load ../helpers
}

teardown() {
    kill_started
}

@test "bench: the bare loop delivers every line, the longest and an unterminated one too" {
    local port=$BATS_TEST_TMPDIR/port input=$BATS_TEST_TMPDIR/input
    {
        seq 1 "$(scaled 200000)"
        printf '\n\n'
        head -c 30000 /dev/zero | tr '\0' 'x'
        printf '\nno end'
    } >"$input"
    start sender "$BUILD/tests/bench/bareloop" send "$port" <"$input"
    start receiver "$BUILD/tests/bench/bareloop" receive "$(wait_port "$port")"
    finish receiver
    assert_status 0
    finish sender
    assert_status 0
    assert_quiet
    assert_same_lines "$input" "$BATS_TEST_TMPDIR/receiver.out"
}

@test "bench: loopback.sh prints a row per tool and line size" {
    need_tools nc
    export MEGABYTES=1 ROUNDS=2 TOOLS='bareloop nc'
    run --separate-stderr "$TOP/tests/bench/loopback.sh" 8 100
    assert_status 0
    local name
    for name in bareloop_8 nc_8 bareloop_100 nc_100; do
        assert_match "^loopback_$name	[1-9][0-9]*	MB/s\$"
    done
    assert_match '^  bareloop +[0-9]+ +[0-9.]+ +1\.00$'
}
