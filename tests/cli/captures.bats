# SPDX-License-Identifier: Apache-2.0
# fnet-inspect: golden captures, its options and statuses, pipes.

bats_require_minimum_version 1.5.0

setup_file() {
    load ../helpers
    suite_limits 60
}

setup() {
    load ../helpers
    need_commands fnet-inspect
    captures=$TOP/tests/golden/pcap
    cd "$captures" || return 1
}

teardown() {
    kill_started
}

# N frames that each are wrong in the same way, between good ones.
make_problems() { # N FILE
    local i
    for ((i = 0; i < $1; i++)); do
        printf 'nonsense\0\0\0\x09\xba\xdc\x0f\xfe\x05'
    done >"$2.tail"
    printf '\0\0\0\x09\xba\xdc\x0f\xfe\x05' | cat - "$2.tail" >"$2"
}

@test "inspect: every container shows the same conversation" {
    ./compare.sh container
}

@test "inspect: text, JSON, records, dumps and summaries are as documented" {
    ./compare.sh print
}

@test "inspect: each event of several in a frame is shown and counted" {
    ./compare.sh merged
}

# The codec is found out, and what is said where fnet was built without it.
check_codec() { # CODEC
    if fnet-inspect --codec "$1" --help >/dev/null 2>&1; then
        ./compare.sh "codec/$1"
        return
    fi
    run --separate-stderr fnet-inspect --strict -s "compressed-$1.raw"
    assert_status 0
    assert_stderr_match ": buffers compressed with $1, which this is built without$"
    assert_match '^ +compressed buffers 10 \(and 10 of them not decompressed\)$'
    run --separate-stderr fnet-inspect --codec "$1" "compressed-$1.raw"
    assert_status 2
    [[ ${stderr_lines[0]} == 'fnet-inspect: --codec: fnet was built without it: '* ]]
}

@test "inspect: buffers compressed with LZ4 are decompressed" {
    check_codec lz4
}

@test "inspect: buffers compressed with ZSTD are decompressed" {
    check_codec zstd
}

@test "inspect: buffers compressed with LZO are decompressed" {
    check_codec lzo
}

@test "inspect: a codec that is none is refused" {
    local codec
    for codec in none gzip LZ4 ''; do
        run --separate-stderr fnet-inspect --codec "$codec" session.raw
        assert_status 2
        assert_output ''
        [[ ${stderr_lines[0]} == 'fnet-inspect: --codec: not auto, lz4, zstd or lzo'* ]]
    done
}

@test "inspect: what is malformed, cut or missing is said, and decoding goes on" {
    ./compare.sh damage
}

@test "inspect: the dialect of a connection is found, from its beginning and in mid-stream" {
    ./compare.sh dialect
}

@test "inspect: a dialect that is given holds for every connection, one that is none is refused" {
    local version
    for version in 1.4 2.9 1 newest ''; do
        run --separate-stderr fnet-inspect --dialect "$version" session.raw
        assert_status 2
        assert_output ''
        [[ ${stderr_lines[0]} == 'fnet-inspect: --dialect: '* ]]
    done
    run --separate-stderr fnet-inspect -j --strict --dialect 2.1.3 session.raw records.raw
    assert_status 0
    [[ ${#lines[@]} -eq $(printf '%s\n' "${lines[@]}" |
        grep -c '"dialect":"2.0 to 2.3","dialect_certain":true,') ]]
}

@test "inspect: a file that is no capture is refused by its content" {
    ./compare.sh refuse
}

@test "inspect: the golden captures can be made again" {
    need_tools python3
    python3 make.py "$BATS_TEST_TMPDIR"
    local file
    for file in "$BATS_TEST_TMPDIR"/*; do
        cmp "$file" "${file##*/}" >&2
    done
    [[ $(find . -maxdepth 1 -name '*.pcap' | wc -l) -ge 20 ]]
}

@test "inspect: every line of --json is a JSON object" {
    need_tools python3
    local file
    for file in ethernet.pcap every-frame.raw records.raw gap.pcap flink-1.8.pcap merged-events.raw; do
        fnet-inspect -qjx --records "$file" |
            python3 -c 'import json, sys; [json.loads(line)["type"] for line in sys.stdin]' >&2
    done
}

@test "inspect: records survive JSON, whatever bytes they hold" {
    need_tools python3
    fnet-inspect -j --records records.raw | python3 -c '
import json, sys
records = [r for line in sys.stdin for r in json.loads(line).get("records", [])]
raw = [bytes.fromhex(r["hex"]) if isinstance(r, dict) else r.encode() for r in records]
sys.stdout.buffer.write(b"|".join(raw))' >"$BATS_TEST_TMPDIR/records"
    printf 'plain||tab\tand \033[31mred\033[0m \\|gr\xc3\xbc\xc3\x9f dich|\xff\0binary|%s|last' \
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | cmp - "$BATS_TEST_TMPDIR/records" >&2
}

@test "inspect: a pipe gives what a file gives, however it is cut" {
    local file size
    for file in two-interfaces.pcapng trace.pcap session.raw kept-back.pcap changed-dialect.raw; do
        fnet-inspect -q "$file" >"$BATS_TEST_TMPDIR/whole"
        for size in 1 7 4096; do
            dd if="$file" bs="$size" status=none | fnet-inspect -q - | cmp - "$BATS_TEST_TMPDIR/whole" >&2
        done
        FNET_LOOP=poll fnet-inspect -q - <"$file" | cmp - "$BATS_TEST_TMPDIR/whole" >&2
    done
}

@test "inspect: messages are printed as they come, before the pipe ends" {
    mkfifo "$BATS_TEST_TMPDIR/pipe"
    start live fnet-inspect - <>"$BATS_TEST_TMPDIR/pipe"
    exec 4>"$BATS_TEST_TMPDIR/pipe"
    head -c 1000 ethernet.pcap >&4
    wait_line "$BATS_TEST_TMPDIR/live.out" 'request AddCredit' >&2
    tail -c +1001 ethernet.pcap >&4
    wait_line "$BATS_TEST_TMPDIR/live.out" 'request CloseRequest' >&2
    signal live TERM
    finish live
    exec 4>&-
    assert_status 143
    assert_quiet
    assert_output "$(<expected/session.out)"
}

@test "inspect: a signal ends the reading, not the summary" {
    mkfifo "$BATS_TEST_TMPDIR/pipe"
    start live fnet-inspect -s session.raw - <>"$BATS_TEST_TMPDIR/pipe"
    wait_line "$BATS_TEST_TMPDIR/live.out" '==> standard input <==' >&2
    signal live TERM
    finish live
    assert_status 143
    assert_match '^ +end of partition reached$'
}

@test "inspect: several files are told apart, one that is missing does not stop the others" {
    run --separate-stderr fnet-inspect -s session.raw no-such-file ethernet.pcap
    assert_status 6
    assert_one_complaint '^fnet-inspect: no-such-file: open: No such file or directory$'
    assert_line '==> session.raw <=='
    assert_line '==> ethernet.pcap <=='
    assert_line 'connection 10.0.0.1:40000-10.0.0.2:6121'
    run --separate-stderr fnet-inspect -j session.raw session.raw
    assert_status 0
    [[ ${#lines[@]} -eq 24 ]]
}

@test "inspect: what is wrong on the command line is one line and status 2" {
    local arguments
    for arguments in '' '--nonsense x' '-s -j x' '-s --records x' '-sx x' '--strict=1 x'; do
        # shellcheck disable=SC2086 # several words
        run --separate-stderr fnet-inspect $arguments
        assert_status 2
        assert_output ''
        [[ ${#stderr_lines[@]} -eq 2 ]]
        [[ ${stderr_lines[0]} == fnet-inspect:* ]]
        [[ ${stderr_lines[1]} == "Try 'fnet-inspect --help' for more information." ]]
    done
    FNET_LOOP=select run --separate-stderr fnet-inspect session.raw
    assert_status 2
    assert_stderr_match FNET_LOOP
}

@test "inspect: --help and --version go to standard output" {
    run --separate-stderr fnet-inspect --help
    assert_status 0
    assert_quiet
    assert_match '^Usage: fnet-inspect '
    run --separate-stderr fnet-inspect --version
    assert_status 0
    assert_match '^fnet-inspect [0-9]+\.[0-9]+'
}

@test "inspect: an output that is full or an input that cannot be read is status 6" {
    run --separate-stderr bash -c 'fnet-inspect session.raw >/dev/full'
    assert_status 6
    assert_one_complaint '^fnet-inspect: standard output: write: No space left on device$'
    run --separate-stderr bash -c 'fnet-inspect --help >/dev/full'
    assert_status 6
    run --separate-stderr fnet-inspect "$BATS_TEST_TMPDIR"
    assert_status 6
    assert_one_complaint ': read: Is a directory$'
}

@test "inspect: a reader that has seen enough ends it quietly" {
    local i
    for ((i = 0; i < 2000; i++)); do cat session.raw; done >"$BATS_TEST_TMPDIR/long"
    run --separate-stderr bash -c 'fnet-inspect "$1" | head -n 1; exit "${PIPESTATUS[0]}"' - \
        "$BATS_TEST_TMPDIR/long"
    assert_status 141
    assert_quiet
    [[ ${#lines[@]} -eq 1 ]]
}

@test "inspect: a reader that leaves ends it even while the input stalls" {
    mkfifo "$BATS_TEST_TMPDIR/pipe" "$BATS_TEST_TMPDIR/result"
    start gone bash -c 'fnet-inspect - >"$0"' "$BATS_TEST_TMPDIR/result" <>"$BATS_TEST_TMPDIR/pipe"
    exec 4<"$BATS_TEST_TMPDIR/result"
    exec 4<&-
    finish gone
    assert_status 141
    assert_quiet
}

@test "inspect: many problems are a bounded number of lines, all with -v, none with -q" {
    make_problems 100 "$BATS_TEST_TMPDIR/problems"
    run --separate-stderr fnet-inspect "$BATS_TEST_TMPDIR/problems"
    assert_status 0
    [[ ${#lines[@]} -eq 102 ]]
    [[ ${#stderr_lines[@]} -eq 21 ]]
    [[ ${stderr_lines[20]} == 'fnet-inspect: 80 more lines like these, see -v' ]]
    run --separate-stderr fnet-inspect -v "$BATS_TEST_TMPDIR/problems"
    [[ ${#stderr_lines[@]} -eq 100 ]]
    run --separate-stderr fnet-inspect -q --strict "$BATS_TEST_TMPDIR/problems"
    assert_status 4
    assert_one_complaint '^fnet-inspect: data malformed, cut or missing: 100 problems$'
}

@test "inspect: the trace of a consumer holds every record it got" {
    need_commands fnet-produce fnet-consume
    need_tools python3
    seq 20000 >"$BATS_TEST_TMPDIR/in"
    start_producer producer -n 2 <"$BATS_TEST_TMPDIR/in"
    fnet-consume --trace "$BATS_TEST_TMPDIR/trace" "$address/main" >"$BATS_TEST_TMPDIR/out"
    finish producer
    assert_status 0
    fnet-inspect --strict -j --records "$BATS_TEST_TMPDIR/trace" | python3 -c '
import json, sys
for line in sys.stdin:
    for record in json.loads(line).get("records", []):
        print(record)' >"$BATS_TEST_TMPDIR/records"
    assert_same_lines "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/records"
}
