# SPDX-License-Identifier: Apache-2.0
# --serde: text becomes Flink's stream elements, elements become text, inspect shows them.

bats_require_minimum_version 1.5.0

setup_file() {
    load ../helpers
    suite_limits 60
}

setup() {
    load ../helpers
    need_commands fnet-produce fnet-consume fnet-inspect
    golden=$TOP/tests/golden/flink/2.3.0/elements.tsv
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    kill_started
}

# Each line of standard input, hex digits, as a record of the format u32.
from_hex() {
    local hex
    while read -r hex; do
        # shellcheck disable=SC2059 # the digits are the format
        printf "$(printf '%08x%s' $((${#hex} / 2)) "$hex" | sed 's/../\\x&/g')"
    done
}

# The bytes of the golden elements whose name matches PATTERN.
elements() { # PATTERN
    awk -F '\t' -v pattern="^($1)\$" '$1 ~ pattern { print $3 }' "$golden" | from_hex
}

as_hex() {
    od -An -v -tx1 | tr -d ' \n'
}

# ---- round trips -----------------------------------------------------------------------------

@test "serde: what is produced as a type is consumed as the same text" {
    printf '%s\n' hello '' 'café 日本 😀' '\N' $'a\tb' >string
    printf '%s\n' 0 -1 9223372036854775807 -9223372036854775808 >long
    printf '%s\n' 0 -1 2147483647 -2147483648 >int
    printf 'x\n\n\xff\x80\x01\n' >bytes
    printf 'key\t42\tx\n\\N\t-1\t\n\t0\t\xff\n' >'tuple(string,long,bytes)'
    local serde
    for serde in string long int bytes 'tuple(string,long,bytes)'; do
        transfer "$serde" --serde "$serde" -- --serde "$serde"
        cmp "$received" "$serde" >&2
    done
}

@test "serde: many records over several subpartitions and small buffers, of any length" {
    seq 1 "$(scaled 100000)" >input
    transfer input --serde long -n 4 --segment-size 256 -- --serde long
    assert_same_lines input "$received"
    for i in 1 5 70 300 40000 100000 2000000; do
        printf 'é%.0s' $(seq 7)
        head -c "$i" /dev/zero | tr '\0' x
        echo
    done >input
    transfer input --serde string --segment-size 1k -- --serde string
    cmp "$received" input >&2
}

@test "serde: the elements are Flink's, byte for byte" {
    printf '%s\n' hello '' $'a;b=c\\d\te~\x7f' >input
    transfer input --serde string -- -f u32
    cmp "$received" <(elements 'string|string-empty|string-ascii') >&2
    printf '%s\n' 0 -1 1234567890123 -9223372036854775808 9223372036854775807 >input
    transfer input --serde long -- -f u32
    cmp "$received" <(elements 'long-.*') >&2
    printf '%s\n' 'key,42' >input
    transfer input --serde 'tuple(string,long)' -t , -- -f u32
    cmp "$received" <(elements tuple-2) >&2
    printf '1,\xc3\xa9,\x01\x02\x03\n' >input
    transfer input --serde 'tuple(int,string,bytes)' -t , -- -f u32
    cmp "$received" <(elements tuple-3) >&2
}

@test "serde: Flink's elements are consumed, with and without time; the others are skipped and counted" {
    elements 'watermark.*|string|record-timed|status.*|latency.*|string-null|attributes.*|internal.*' >input
    transfer input -f u32 -- --serde string --stats stats
    cmp "$received" <(printf '%s\n' hello hello '\N') >&2
    tail -n 1 stats | grep -q '"numRecordsIn":3,"numSkippedElementsIn":14,'
}

@test "serde: --field-separator divides a tuple, --tag and --limit go on working" {
    printf 'a,1\nb,2\nc,3\n' >input
    transfer input --serde 'tuple(string,int)' -t , -- --serde 'tuple(string,int)' -t : --tag
    cmp "$received" <(printf 'main:0\ta:1\nmain:0\tb:2\nmain:0\tc:3\n') >&2
    start_producer producer --serde 'tuple(string,int)' -t , <input
    run --separate-stderr -0 fnet-consume --serde 'tuple(string,int)' --limit 2 "$address"
    assert_output $'a\t1\nb\t2'
    finish producer
    assert_status 1
}

@test "serde: UTF-8 that is none arrives as U+FFFD, as Java would read it" {
    printf 'a\xffz\n\xe2\x82\n' >input
    transfer input --serde string -- --serde string
    cmp "$received" <(printf 'a\xef\xbf\xbdz\n\xef\xbf\xbd\n') >&2
}

@test "serde: --digest is that of the text on both sides" {
    seq -5 100 >input
    start_producer producer --serde int -n 2 --digest <input
    start_consumer consumer --serde int --digest "$address"
    finish producer
    assert_status 0
    local said=$stderr
    finish consumer
    assert_status 0
    [[ $stderr == "$said" && $(wc -l <<<"$said") == 2 ]]
}

# ---- keys ------------------------------------------------------------------------------------

@test "serde: hash sends a number where Flink's keyBy of that Long or Integer sends it" {
    # The murmur of hashCode, modulo 128 key groups, on 4 subtasks: those of tests/golden/hash.
    printf '%s\n' 97 3105 98 >input
    transfer input --serde long -n 4 -s hash -- --serde long --tag
    assert_same_lines <(printf 'main:2\t97\nmain:1\t3105\nmain:0\t98\n') "$received"
    # The same hashes, as one field of a tuple; 4294967393 is 2^32 + 97, whose Long hashes as 96.
    printf '%s\n' x,97 x,3105 x,98 >input
    transfer input --serde 'tuple(string,int)' -n 4 -s hash -t , -k 2 -- \
        --serde 'tuple(string,int)' -t , --tag
    assert_same_lines <(printf 'main:2\tx,97\nmain:1\tx,3105\nmain:0\tx,98\n') "$received"
    # However that field is called.
    transfer input --serde 'tuple(string,int)' -n 4 -s hash -t , -k 2- -- \
        --serde 'tuple(string,int)' -t , --tag
    assert_same_lines <(printf 'main:2\tx,97\nmain:1\tx,3105\nmain:0\tx,98\n') "$received"
    printf '%s\n' 97 3105 98 >input
    transfer input --serde long -n 4 -s hash -k 1 -- --serde long --tag
    assert_same_lines <(printf 'main:2\t97\nmain:1\t3105\nmain:0\t98\n') "$received"
    # And a String is hashed as one.
    printf '%s\n' a ab b >input
    transfer input --serde string -n 4 -s hash -- --serde string --tag
    assert_same_lines <(printf 'main:2\ta\nmain:1\tab\nmain:0\tb\n') "$received"
}

# ---- mistakes --------------------------------------------------------------------------------

# A producer with OPTIONs refuses what comes on standard input with status 4 and MESSAGE.
refused() { # MESSAGE OPTION...
    run --separate-stderr -4 fnet-produce -l "unix:$PWD/socket" "${@:2}"
    assert_one_complaint "^fnet-produce: main: $1: impossible value\$"
}

@test "serde: a record that is none of the type: status 4, and it is told" {
    refused "record 3: not a long: '12x'" --serde long < <(printf '1\n2\n12x\n4\n')
    refused "record 1: not an int: '2147483648'" --serde int <<<2147483648
    refused "record 1: not a long: ''" --serde long <<<''
    refused "record 2: field 2 is not an int: 'b'" --serde 'tuple(string,int)' < <(printf 'a\t1\na\tb\n')
    refused "record 1: 1 field, not 2: 'a b'" --serde 'tuple(string,int)' <<<'a b'
    refused "record 1: 3 fields, not 2: 'a,1,'" --serde 'tuple(string,int)' -t , <<<'a,1,'
    seq 1 2000 >input
    echo nix >>input
    refused "record 2001: not a long: 'nix'" --serde long <input
}

# A consumer with SERDE of the elements in hex on standard input writes what is good, then says
# MESSAGE.
malformed() { # MESSAGE SERDE
    from_hex >bad
    start_producer producer -f u32 <bad
    start_consumer consumer --serde "$2" "$address"
    finish consumer
    assert_status 4
    assert_one_complaint "^fnet-consume: main:0: $1\$"
    finish producer
    assert_status 1
}

@test "serde: a malformed element: status 4, its channel is told, and what was before it is written" {
    malformed 'what follows 2 records is no element of --serde: cut short' string < <(printf '%s\n' 010278 0200 | sed 1p)
    [[ $(<consumer.out) == $'x\nx' ]]
    malformed 'what follows 0 records is no element of --serde: cut short' long <<<01000000000000
    malformed 'what follows 0 records is no element of --serde: impossible value' int <<<010000000000
    malformed 'what follows 1 records is no element of --serde: impossible value' bytes < <(printf '%s\n' 0100000000 01ffffffff)
    malformed 'what follows 0 records is no element of --serde: unexpected message or event' string <<<68656c6c6f
    malformed 'what follows 0 records is no element of --serde: impossible value' string <<<0400000007
}

@test "serde: a serde that there is not, and where there are no records: status 2" {
    local command
    for command in fnet-produce fnet-consume fnet-inspect; do
        run --separate-stderr -2 "$command" --serde Long x </dev/null
        [[ ${stderr_lines[0]} == "$command: --serde: not raw, string, long, int, bytes or tuple(TYPE,...) of these: 'Long'" ]]
    done
    run --separate-stderr -2 fnet-produce --serde string -f bytes </dev/null
    [[ ${stderr_lines[0]} == 'fnet-produce: --format: bytes has no records that --serde could read' ]]
    run --separate-stderr -2 fnet-inspect --serde string x
    [[ ${stderr_lines[0]} == 'fnet-inspect: --serde: only together with --records' ]]
}

@test "serde: --dry-run says it, and what a key is" {
    run --separate-stderr -0 fnet-produce --dry-run --serde 'tuple(string,long)' -s hash -k 2 -n 4
    assert_line 'serde: tuple(string,long)'
    assert_match '^selector: hash over 4 subpartitions, key: fields 2 between \\x09, long, '
    run --separate-stderr -0 fnet-consume --dry-run --serde int 127.0.0.1
    assert_line '  serde: int'
}

# ---- inspect ---------------------------------------------------------------------------------

# Trace the elements whose names match PATTERN.
trace_elements() { # PATTERN
    elements "$1" >input
    transfer input -f u32 --trace trace -- -o none
}

@test "serde: inspect shows every kind of element in words" {
    trace_elements 'record-timed|string-ascii|string-null|watermark-minus-1|internal-watermark|latency-3|status.*|attributes.*'
    run --separate-stderr -0 fnet-inspect --strict --records --serde string trace
    assert_match '^    record 0 \(15 bytes\): StreamRecord timestamp 1700000000000 value hello$'
    assert_match '^    record 1 \(2 bytes\): StreamRecord value \\N$'
    assert_match '^    record 2 \(13 bytes\): StreamRecord value a;b=c\\\\d\\te~\\x7f$'
    assert_match '^    record 3 \(9 bytes\): Watermark timestamp -1$'
    assert_match '^    record 4 \(13 bytes\): InternalWatermark subpartition 5 timestamp 1700000000000$'
    assert_match '^    record 5 \(5 bytes\): WatermarkStatus$'
    assert_match '^    record 6 \(5 bytes\): WatermarkStatus idle$'
    assert_match '^    record 7 \(29 bytes\): LatencyMarker marked 1700000000000 operator d0d1d2d3d4d5d6d7d8d9dadbdcdddedf subtask 3$'
    assert_match '^    record 8 \(2 bytes\): RecordAttributes$'
    assert_match '^    record 9 \(2 bytes\): RecordAttributes backlog$'
    trace_elements 'tuple-3'
    run --separate-stderr -0 fnet-inspect --records --serde 'tuple(int,string,bytes)' trace
    assert_match '^    record 0 \(15 bytes\): StreamRecord value \(1,é,010203\)$'
}

# The records of the trace in JSON, sorted keys, one a line.
json_records() { # SERDE
    fnet-inspect -j --records --serde "$1" trace | python3 -c '
import json, sys
for line in sys.stdin:
    for record in json.loads(line).get("records", []):
        print(json.dumps(record, ensure_ascii=False))'
}

@test "serde: inspect shows every kind of element in JSON" {
    need_tools python3
    trace_elements 'record-timed|string-nul|string-null|string-lone-low|watermark-least|internal-watermark|latency-3|status.*|attributes.*'
    run -0 json_records string
    assert_line '{"type": "StreamRecord", "timestamp": 1700000000000, "value": "hello"}'
    assert_line '{"type": "StreamRecord", "value": null}'
    assert_line '{"type": "StreamRecord", "value": "a\u0000b"}'
    assert_line '{"type": "StreamRecord", "value": "x�y"}'
    assert_line '{"type": "Watermark", "timestamp": -9223372036854775808}'
    assert_line '{"type": "InternalWatermark", "subpartition": 5, "timestamp": 1700000000000}'
    assert_line '{"type": "WatermarkStatus", "idle": false}'
    assert_line '{"type": "WatermarkStatus", "idle": true}'
    assert_line '{"type": "LatencyMarker", "marked": 1700000000000, "operator": "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf", "subtask": 3}'
    assert_line '{"type": "RecordAttributes", "backlog": false}'
    assert_line '{"type": "RecordAttributes", "backlog": true}'
    trace_elements 'tuple-3'
    run -0 json_records 'tuple(int,string,bytes)'
    assert_output '{"type": "StreamRecord", "value": [1, "é", "010203"]}'
}

@test "serde: inspect shows what is no element, says so, and --strict exits 4" {
    need_tools python3
    printf '%s\n' 010278 0103 07 | from_hex >input
    transfer input -f u32 --trace trace -- -o none
    run --separate-stderr -4 fnet-inspect --strict --records --serde string trace
    assert_match '^    record 0 \(3 bytes\): StreamRecord value x$'
    assert_match '^    record 1 \(2 bytes\): malformed \(cut short\) 0103$'
    assert_match '^    record 2 \(1 bytes\): malformed \(unexpected message or event\) 07$'
    assert_stderr_match ': channel [0-9a-f]{32}: sequence 0: a record is no element of --serde$'
    run -0 json_records string
    assert_line '{"error": "cut short", "hex": "0103"}'
}
