# SPDX-License-Identifier: Apache-2.0
# The measuring tools measure what they say: the bare loop loses nothing, the meter and the pinger
# tell the truth, bench.sh gathers values and judges them.

bats_require_minimum_version 1.5.0

setup() {
    load ../helpers
    export PATH=$BUILD/tests/bench:$PATH
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
    start sender bareloop send "$port" <"$input"
    start receiver bareloop receive "$(wait_port "$port")"
    finish receiver
    assert_status 0
    finish sender
    assert_status 0
    assert_quiet
    assert_same_lines "$input" "$BATS_TEST_TMPDIR/receiver.out"
}

@test "bench: the meter notes CPU time and memory, and passes the status on" {
    local usage=$BATS_TEST_TMPDIR/usage
    run meter 30 "$usage" worker bash -c 'for ((i = 0; i < 20000; i++)); do :; done; exit 7'
    assert_status 7
    run cat "$usage"
    assert_match '^worker [0-9.]*[1-9][0-9]* [1-9][0-9]{3,}$'
}

@test "bench: the meter ends a command whose time is over, or when it is ended itself" {
    run meter 1 "$BATS_TEST_TMPDIR/usage" waiter tail -f /dev/null
    assert_status 137
    assert_match '^meter: tail did not end within 1 seconds$'
    open_feed
    start metered meter 300 "$BATS_TEST_TMPDIR/usage" waiter sh -c 'echo up; exec tail -f /dev/null' <"$feed"
    wait_line "$BATS_TEST_TMPDIR/metered.out" '^up$'
    signal metered TERM
    finish_within 10 metered
    assert_status 143
}

@test "bench: the pinger tells how long lines were under way, without those to be skipped" {
    # One line from a second after the start of time, skipped; three of now.
    local line
    printf -v line '%020d %078d\n' 1000000000 0
    run --separate-stderr bash -c '
        { printf "%s\n" "$1"; pinger send 1000000 3; } | pinger receive 1' - "${line%$'\n'}"
    assert_status 0
    assert_quiet
    assert_match '^[0-9]+\.[0-9]( [0-9]+\.[0-9]){3}$'
    local most=${output##* }
    ((${most%.*} < 60000000 * SLOWNESS))
    # And not skipped: the time since then.
    run --separate-stderr pinger receive 0 <<<"${line%$'\n'}"
    assert_status 0
    [[ $output =~ ^([0-9]+)\.[0-9]\ ([0-9]+)\. ]]
    ((BASH_REMATCH[1] == BASH_REMATCH[2]))
}

@test "bench: the pinger's relay carries bytes unchanged" {
    local port=$BATS_TEST_TMPDIR/port input=$BATS_TEST_TMPDIR/input
    seq 1 "$(scaled 100000)" >"$input"
    start server pinger serve "$port" <"$input"
    start fetcher pinger fetch "$(wait_port "$port")"
    finish_well fetcher server
    cmp "$input" "$BATS_TEST_TMPDIR/fetcher.out"
}

# A small run of the cases that match.
run_bench() { # CASES SECTION...
    CASES=$1 OUT=$BATS_TEST_TMPDIR/out MEGABYTES=1 ROUNDS=${ROUNDS:-1} QUICK=1 \
        run --separate-stderr "$TOP/tests/bench/bench.sh" "${@:2}"
}

@test "bench: bench.sh measures contenders, gathers values and says which targets are met" {
    TOOLS='bareloop fnet fnet_hash' ROUNDS=2 run_bench 'lines_(8|100)$' grid
    assert_status 0
    local name
    for name in lines_8/bareloop lines_8/fnet lines_100/fnet_hash; do
        assert_match "^grid/$name/rate	[0-9.]*[1-9][0-9.]*	MB/s\$"
        assert_match "^grid/$name/send	[0-9.]*[1-9][0-9.]*	MiB\$"
    done
    assert_match '^  100-byte lines, .*: of the bare loop +[0-9.]+  >= 0.90   (met|NOT MET)$'
    assert_match '^  16 consumers: .* - .* not measured$'
    grep -q '^grid/lines_100/fnet_hash/of_bareloop	[0-9.]*	ratio$' "$BATS_TEST_TMPDIR"/out/*.tsv
}

@test "bench: bench.sh says which contender failed, goes on, and does not end well" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\necho no >&2\nexit 3\n' >"$BATS_TEST_TMPDIR/bin/split"
    chmod +x "$BATS_TEST_TMPDIR/bin/split"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH run_bench routing grid
    assert_status 1
    assert_stderr_match '^grid\.sh: grid/routing: split failed$'
    assert_stderr_match '^no$'
    assert_match '^grid/routing/awk/rate	'
}

@test "bench: the other sections run: Flink's cases, timeouts, a stalled channel, memory" {
    run_bench 'isolation/rest|memory/100$|flink/skewed|timeout/throughput' \
        flink timeout isolation memory
    assert_status 0
    assert_match '^flink/skewed/1000,1ms/records	'
    assert_match '^timeout/throughput/0/of_100ms	'
    assert_match '^isolation/rest/stalled/of_free	'
    assert_match '^memory/100/fnet/excess	'
}

@test "bench: Flink that cannot be had is said to be skipped" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/mvn"
    chmod +x "$BATS_TEST_TMPDIR/bin/mvn"
    FLINK_VERSION=none PATH=$BATS_TEST_TMPDIR/bin:$PATH run_bench . pairs
    rm -rf "$TOP/build/flink/none"
    assert_status 0
    assert_stderr_match '^skipped: pairs: no JDK, no Maven, or no Flink none from Maven Central$'
}
