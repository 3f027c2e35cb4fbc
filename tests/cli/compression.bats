# SPDX-License-Identifier: Apache-2.0
# Buffers that fnet-produce compresses, and those who read them.

bats_require_minimum_version 1.5.0

setup_file() {
    load ../helpers
    suite_limits 60
}

setup() {
    load ../helpers
    cd "$BATS_TEST_TMPDIR" || return 1
    codecs=()
    local codec
    for codec in lz4 zstd lzo; do
        ! fnet-produce --compress "$codec" --dry-run >/dev/null 2>&1 || codecs+=("$codec")
    done
}

teardown() {
    kill_started
}

# Skip the test where fnet is built without any of these.
need_codecs() { # CODEC...
    local codec
    for codec in "$@"; do
        [[ " ${codecs[*]} " == *" $codec "* ]] || skip "built without $codec"
    done
}

need_any_codec() {
    ((${#codecs[@]} > 0)) || skip 'built without any codec'
}

# The number NAME in the last line of statistics FILE.
statistic() { # FILE NAME
    tail -n 1 "$1" | grep -o "\"$2\":[0-9]*" | cut -d : -f 2
}

# How many buffers of TRACE are compressed, and how many data buffers are not.
count_buffers() { # TRACE
    fnet-inspect -q --json "$1" | grep '"data_type":"DATA_BUFFER"' >buffers || true
    compressed=$(grep -c '"compressed":true' buffers || true)
    plain=$(grep -vc '"compressed":true' buffers || true)
}

@test "compression: every codec that fnet is built with, and its name; others are a mistake" {
    local codec
    for codec in lz4 zstd lzo; do
        if [[ " ${codecs[*]} " == *" $codec "* ]]; then
            run --separate-stderr -0 fnet-produce --compress "$codec" --dry-run
            assert_line "compress: $codec"
        else
            run --separate-stderr -2 fnet-produce --compress "$codec" --dry-run
            assert_stderr_match "^fnet-produce: --compress: fnet was built without it: '$codec'\$"
        fi
    done
    run --separate-stderr -0 fnet-produce --dry-run
    assert_line 'compress: none'
    for codec in '' none LZ4 zlib:6; do
        run --separate-stderr -2 fnet-produce --compress "$codec" --dry-run
        assert_stderr_match "^fnet-produce: --compress: not lz4, zstd or lzo: '$codec'\$"
    done
}

@test "compression: the same bytes come out, fewer go over the connection, and the reader needs no telling" {
    need_any_codec
    need_commands fnet-inspect
    local codec format
    seq -f 'a line of some length that is like the others: %06.0f' 50000 >input
    for codec in "${codecs[@]}"; do
        for format in lines bytes; do
            transfer input -f "$format" --compress "$codec" --trace trace --stats sent -- \
                -f "$format" --stats got
            cmp input "$received"
            count_buffers trace
            [[ $compressed -gt 10 && $plain -le 1 ]]
            # Flink counts what is written, and what is received.
            (($(statistic sent numBytesOut) >= $(wc -c <input)))
            (($(statistic got numBytesIn) < $(statistic sent numBytesOut) * 2 / 3))
        done
    done
}

@test "compression: every selector, in small buffers, with and without exclusive ones" {
    need_any_codec
    local selector exclusive
    seq "$(scaled 20000)" >input
    for selector in rebalance hash broadcast; do
        for exclusive in 0 2; do
            start_producer producer -n 3 -s "$selector" --segment-size 1k \
                --compress "${codecs[0]}" <input
            start_consumer consumer -b "$exclusive" --segment-size 1k "$address"
            finish_well consumer producer
            if [[ $selector == broadcast ]]; then
                assert_same_lines <(cat input input input) consumer.out
            else
                assert_same_lines input consumer.out
            fi
        done
    done
}

@test "compression: what does not become smaller goes as it is" {
    need_any_codec
    need_commands fnet-inspect
    head -c "$(scaled 1000000)" /dev/urandom >input
    transfer input -f bytes --compress "${codecs[0]}" --trace trace -- -f bytes
    cmp input "$received"
    count_buffers trace
    [[ $compressed -eq 0 && $plain -gt 1 ]]
}

@test "compression: lines that come one by one do not wait for a full buffer" {
    need_any_codec
    open_feed
    start_producer producer --buffer-timeout 1ms --compress "${codecs[0]}" <"$feed"
    start_consumer consumer "$address"
    printf '%01000d\n' 1 >&9
    wait_line consumer.out '^0*1$'
    printf '%01000d\n' 2 >&9
    wait_line consumer.out '^0*2$'
    exec 9>&-
    finish_well consumer producer
}

@test "compression: one gate reads partitions of several codecs and of none" {
    need_codecs lz4 zstd
    local codec options endpoints=()
    for codec in none lz4 zstd; do
        seq -f "$codec %.0f" 10000 >"input.$codec"
        options=()
        [[ $codec == none ]] || options=(--compress "$codec")
        start_producer "$codec" "${options[@]}" <"input.$codec"
        endpoints+=("$address")
        run --separate-stderr -0 fnet-consume --list "$address"
        assert_match "^$address/main	1	pipelined-bounded	lines	[a-z]*	$codec\$"
    done
    start_consumer consumer "${endpoints[@]}"
    finish_well consumer none lz4 zstd
    assert_same_lines <(cat input.*) consumer.out
}

@test "compression: who names the subpartitions asks nobody, and tells LZ4 from ZSTD" {
    need_any_codec
    local codec
    seq 10000 >input
    for codec in "${codecs[@]}"; do
        [[ $codec != lzo ]] || continue
        start_producer producer --compress "$codec" <input
        start_consumer consumer "$address/main:0"
        finish_well consumer producer
        cmp input consumer.out
    done
}

@test "compression: ... but LZO is to be named: --codec, or status 4 and a hint" {
    need_codecs lzo
    seq 10000 >input
    start_producer producer --compress lzo <input
    start_consumer consumer --codec lzo "$address/main:0"
    finish_well consumer producer
    cmp input consumer.out
    start_producer producer --compress lzo <input
    run --separate-stderr -4 fnet-consume "$address/main:0"
    assert_one_complaint '^fnet-consume: main:0: decompressing a buffer \(see --codec\): impossible value$'
    finish producer
    assert_status 1
}

@test "compression: a buffer whose original is larger than a segment: status 4 and a hint" {
    need_any_codec
    yes 0123456789 | head -n 10000 >input
    start_producer producer --compress "${codecs[0]}" <input
    run --separate-stderr -4 fnet-consume --segment-size 8k "$address"
    assert_one_complaint '^fnet-consume: main:0: decompressing a buffer \(see --segment-size\): impossible length$'
    finish producer
    assert_status 1
}

# What a reader of VERSION gets of a producer that compresses with CODEC; it is told what that is.
read_as() { # CODEC VERSION
    rm -f port
    start producer fnet-produce --compress "$1" --trace trace -l "$2@0" --port-file port <input
    address=$(wait_port port)
    start_consumer consumer --codec "$1" --dialect "$2" "$address/main:0"
    finish_well consumer producer
    cmp input consumer.out
    count_buffers trace
}

@test "compression: readers of versions that do not know the codec get buffers as they are" {
    need_any_codec
    need_commands fnet-inspect
    local codec version
    seq 20000 >input
    for codec in "${codecs[@]}"; do
        for version in 1.5 1.9 1.10 1.15 1.16 2.3; do
            printf 'codec: %s, version: %s\n' "$codec" "$version" >&2
            read_as "$codec" "$version"
            case $codec-$version in
            *-1.5 | *-1.9 | zstd-1.1[05] | lzo-1.1[05]) [[ $compressed -eq 0 && $plain -gt 1 ]] ;;
            *) [[ $compressed -gt 1 ]] ;;
            esac
        done
    done
}
