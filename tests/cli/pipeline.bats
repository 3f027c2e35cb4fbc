# SPDX-License-Identifier: Apache-2.0
# Records from a producer's input to consumers' outputs: all of them, once, as they were.

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

# N bytes that do not repeat soon and hold every value, the same each time.
noise() { # N
    awk -v n=65536 'BEGIN { x = 1; for (i = 0; i < n; i++) { x = (x * 69069 + 1) % 4294967296
        printf "%08x", x } }' | xxd -r -p >noise.block
    while :; do cat noise.block; done 2>/dev/null | head -c "$1"
}

# Lines of as many bytes as are given.
lines_of() { # BYTES...
    local n
    for n in "$@"; do
        head -c "$n" /dev/zero | tr '\0' 'x'
        printf '\n'
    done
}

# Records of one digit, the lengths in front.
u32_of() { # DIGIT...
    printf '\0\0\0\1%s' "$@"
}

# ---- the main job ----------------------------------------------------------------------------

@test "pipeline: the place for long records is named when it cannot take one: status 6" {
    [[ $BUILD != */wrapped ]] || skip 'valgrind needs that place for itself'
    head -c 6000000 /dev/zero | tr '\0' x >input
    start_producer producer <input
    TMPDIR=/nonexistent run --separate-stderr -6 fnet-consume "$address"
    assert_one_complaint '^fnet-consume: main:0: the temporary file of a long record in /nonexistent: No such file or directory$'
    finish producer
    assert_status 1

    TMPDIR=/nonexistent run --separate-stderr -6 fnet-produce -l 0 <input
    assert_one_complaint '^fnet-produce: .*: the temporary file of a long record in /nonexistent: No such file or directory$'
}

@test "pipeline: ten million lines by hash into four subpartitions and two consumers: all, once" {
    seq 1 "$(scaled 10000000)" >input
    start_producer producer -n 4 -s hash <input
    start_consumer first "$address/main:0-1"
    start_consumer second "$address/main:2-3"
    finish_well first second producer
    [[ -s first.out && -s second.out ]]
    sort -n first.out second.out | cmp - input
}

@test "pipeline: every key is in one subpartition, in the order of the input" {
    awk -v n="$(scaled 200000)" 'BEGIN { for (i = 0; i < n; i++) print i * 7919 % 1000 "\t" i }' >input
    transfer input -n 4 -s hash -k 1 -- --tag
    # tag, key, number
    awk -F '\t' '
        !($2 in where) { where[$2] = $1; keys++ }
        where[$2] != $1 || ($2 in last && $3 <= last[$2]) { print "stray: " $0; exit 1 }
        { last[$2] = $3; places[$1] }
        END { for (p in places) used++; if (keys != 1000 || used != 4) exit 1 }' "$received"
    assert_same_lines input <(cut -f 2- "$received")
}

@test "pipeline: hash sends a key where the published vectors say that Flink sends it" {
    # key in hex, hashCode, murmur, key group, subtask of 4
    grep -v '^#' "$TOP/tests/golden/hash/vectors.tsv" >vectors
    cut -f 1 vectors | while read -r hex; do
        printf '%08x%s' $((${#hex} / 2)) "$hex"
    done | xxd -r -p >keys
    start_producer producer -n 4 -s hash -f u32 <keys
    start_consumer consumer -f u32 --tag "$address"
    finish_well consumer producer
    # u32 records "main:S<TAB>KEY", as hex
    xxd -p -c 0 consumer.out | awk '
        { while (length($0)) {
            n = strtonum_hex(substr($0, 1, 8)); r = substr($0, 9, 2 * n); $0 = substr($0, 9 + 2 * n)
            print substr(r, 15) "\t" substr(r, 12, 1) } }
        function strtonum_hex(h,    v, i) {
            for (i = 1; i <= length(h); i++) v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1
            return v }' | sort >placed
    cut -f 1,5 vectors | sort >expected
    [[ $(wc -l <expected) -gt 100 ]]
    cmp placed expected
}

# ---- records of every kind -------------------------------------------------------------------

@test "pipeline: records of 0, 1 and about 32 KiB bytes stay whole, one at a time and together" {
    lines_of 0 1 32763 32764 32765 32766 32767 32768 32769 32770 32771 32772 32773 0 0 1 98304 >input
    transfer input --
    cmp input "$received"
    transfer input -n 3 -- --tag
    assert_same_lines input <(cut -f 2- "$received")
    lines_of 0 >input
    transfer input --
    cmp input "$received"
}

@test "pipeline: long and short records go through a pipe that is read a little at a time" {
    local form lines
    lines_of 0 16383 16384 5 32764 200000 1 40000 16385 3 >input
    for form in '' --tag '-z --tag'; do
        start_producer producer -n 2 <input
        # shellcheck disable=SC2086 # several words
        fnet-consume $form "$address" 3>&- | dd bs=777 status=none | tr '\0' '\n' >received
        finish_well producer
        lines=received
        [[ $form != *--tag ]] || { cut -f 2- received >untagged; lines=untagged; }
        assert_same_lines input "$lines"
    done
}

@test "pipeline: records that span hundreds of small buffers" {
    lines_of 5000 1 0 200000 3 >input
    transfer input --segment-size 1k -- --segment-size 1k
    cmp input "$received"
}

@test "pipeline: a record of 200 MB" {
    export TMPDIR=$BATS_TEST_TMPDIR
    { lines_of 3 "$(scaled 200000000)"; printf 'end\n'; } >input
    transfer input --
    cmp input "$received"
    # What was spilled is gone.
    run -0 find . -name '*fnet*'
    assert_output ''
}

@test "pipeline: NUL bytes in lines, line ends in nul records" {
    printf 'a\0b\n\0\n\0\0\0c\n' >input
    transfer input --
    cmp input "$received"
    printf 'a\nb\0\n\0\0\n\n\0' >input
    transfer input -z -- -z
    cmp input "$received"
}

@test "pipeline: an empty input is no record, whatever the format" {
    local format
    for format in lines nul fixed:4 u32 bytes; do
        transfer /dev/null -n 2 -f "$format" -- -f "$format"
        [[ ! -s $received ]]
    done
}

@test "pipeline: an unterminated last line is a record" {
    printf 'one\ntwo' >input
    transfer input --
    printf 'one\ntwo\n' | cmp - "$received"
    printf 'x' >input
    transfer input -z -- -z
    printf 'x\0' | cmp - "$received"
}

@test "pipeline: bytes come out as they went in, every value and any amount of them" {
    local n
    for n in 1 32763 32764 32765 65536 "$(scaled 10000003)"; do
        noise "$n" >input
        transfer input -f bytes -- -f bytes
        cmp input "$received"
    done
}

@test "pipeline: bytes leave the producer before its input ends" {
    open_feed
    start_producer producer -f bytes --buffer-timeout 1ms <"$feed"
    start_consumer consumer -f bytes "$address"
    printf 'no line end' >&9
    wait_until 10 grep -q 'no line end' consumer.out
    exec 9>&-
    finish_well consumer producer
}

@test "pipeline: lines, nul, fixed and u32 records turn into one another" {
    printf '1\n2\n3\n' >lines
    printf '1\0002\0003\0' >nul
    printf '123' >fixed
    u32_of 1 2 3 >u32
    printf '1,2,3,' >commas
    local from to
    declare -A option=([lines]='-f lines' [nul]='-z' [fixed]='-f fixed:1' [u32]='-f u32' [commas]='-d ,')
    for from in lines nul fixed u32 commas; do
        for to in lines nul fixed u32 commas; do
            # shellcheck disable=SC2086 # two words are wanted
            transfer "$from" ${option[$from]} -- ${option[$to]}
            cmp "$to" "$received"
        done
    done
}

@test "pipeline: any byte can be the delimiter, by its name or its number" {
    local escape byte
    # shellcheck disable=SC1003 # a backslash is meant
    for escape in '\t' '\0' '\x0a' '\xff' '\\' 'x' '|'; do
        byte=$(printf '%b' "$escape" | xxd -p)
        [[ $escape != '\0' ]] || byte=00
        [[ ${#escape}$escape != 2*\\ ]] || byte=5c
        printf '61%s%s620a6362%s' "$byte" "$byte" "$byte" | xxd -r -p >input
        [[ $escape != '\x0a' ]] || printf 'a\n\nbc\n' >input
        transfer input -d "$escape" -- -d "$escape"
        cmp input "$received"
    done
}

@test "pipeline: fixed records may be larger than a buffer" {
    noise 100000 >input
    transfer input -f fixed:50000 -- -f fixed:50000
    cmp input "$received"
}

# Start a producer that serves the records in FILE, a consumer that has them, and then let the input
# end with what comes on standard input.
spoil() { # FILE [PRODUCE-OPTION]...
    open_feed
    start_producer producer --buffer-timeout 1ms "${@:2}" <"$feed"
    start_consumer consumer "$address"
    cat "$1" >&9
    wait_until 10 test -s consumer.out
    cat >&9
    exec 9>&-
    rm "$feed"
}

@test "pipeline: a fixed record that is cut short is said at both ends: status 4 and 1" {
    printf 'abcdefgh' >whole
    spoil whole -f fixed:4 < <(printf 12)
    finish producer
    assert_status 4
    assert_one_complaint '^fnet-produce: main: the input: cut short$'
    finish consumer
    assert_status 1
    assert_one_complaint "^fnet-consume: $address: the producer failed: the producer's input failed; end of partition not reached: main:0 after 2 records\$"
}

@test "pipeline: a u32 record that is cut short, in its length or behind it: status 4" {
    local cut
    u32_of 1 2 >whole
    for cut in 1 3 4 6; do
        spoil whole -f u32 < <(printf '\0\0\0\3abc' | head -c "$cut")
        finish producer
        assert_status 4
        assert_one_complaint '^fnet-produce: main: the input: cut short$'
        finish consumer
        assert_status 1
    done
}

@test "pipeline: a u32 length beyond every limit costs no memory: status 4" {
    u32_of 1 2 >whole
    spoil whole -f u32 < <(printf '\377\377\377\377abc')
    finish producer
    assert_status 4
    assert_one_complaint '^fnet-produce: main: the input: impossible length$'
    finish consumer
    assert_status 1
}

@test "pipeline: a record of another length than the fixed output has: status 4, and the producer knows" {
    printf 'four\nfive5\n' >input
    start_producer producer <input
    start_consumer consumer -f fixed:4 "$address"
    finish consumer
    assert_status 4
    assert_one_complaint '^fnet-consume: main:0: a record does not have the length of the fixed format$'
    finish producer
    assert_status 1
    assert_one_complaint '^fnet-produce: main:0: not delivered in full: cancelled by the consumer$'
}

# ---- selectors -------------------------------------------------------------------------------

# How many records each subpartition got, as "0:N 1:N ...".
counts() {
    cut -f 1 "$received" | sort | uniq -c | awk '{ printf "%s%s:%d", (NR > 1 ? " " : ""), substr($2, 6), $1 }'
}

@test "pipeline: what came before a record that fits no output is written" {
    printf '%s\n' aaa bbb dddd eee >input
    start_producer producer <input
    start_consumer consumer -f fixed:3 "$address"
    finish consumer
    assert_status 4
    assert_output aaabbb
    finish producer
    assert_status 1
}

@test "pipeline: rebalance and rescale deal records out in turn" {
    seq 12 >input
    local selector
    for selector in rebalance rescale; do
        transfer input -n 4 -s "$selector" -- --tag
        run -0 counts
        assert_output '0:3 1:3 2:3 3:3'
        # Those of one subpartition lie four apart.
        awk -F '\t' '$1 in last && $2 != last[$1] + 4 { exit 1 } { last[$1] = $2 }' "$received"
    done
}

@test "pipeline: broadcast gives every subpartition every record" {
    { seq 1000; lines_of 70000; } >input
    transfer input -n 3 -s broadcast -- --tag
    local sub
    for sub in 0 1 2; do
        sed -n "s/^main:$sub	//p" "$received" | cmp - input
    done
}

@test "pipeline: global and forward know only the first subpartition" {
    seq 10 >input
    transfer input -n 3 -s global -- --tag
    run -0 counts
    assert_output '0:10'
    transfer input -s forward -- --tag
    run -0 counts
    assert_output '0:10'
}

@test "pipeline: shuffle spreads, and with a seed the same way again" {
    seq 4000 >input
    transfer input -n 4 -s shuffle:42 -- --tag
    sort "$received" >once
    transfer input -n 4 -s shuffle:42 -- --tag
    sort "$received" | cmp - once
    transfer input -n 4 -s shuffle -- --tag
    run -1 cmp -s <(sort "$received") once
    cut -f 1 "$received" | sort | uniq -c | awk '$1 < 800 { exit 1 } END { exit NR != 4 }'
}

@test "pipeline: index sends a record to the subpartition that a field of it names" {
    printf 'a:2\nb:0\nc:2\nd:3\n' >input
    transfer input -n 4 -s index -t : -k 2 -- --tag
    sort "$received" | cmp - <(printf 'main:0\tb:0\nmain:2\ta:2\nmain:2\tc:2\nmain:3\td:3\n')
}

@test "pipeline: index and a field that names no subpartition: status 4, and the record is told" {
    local bad
    printf '0\n3\n' >good
    for bad in 4 -1 x '' ' 1' 99999999999999999999; do
        spoil good -n 4 -s index < <(printf '%s\n1\n' "$bad")
        finish producer
        assert_status 4
        assert_one_complaint '^fnet-produce: main: record 3: its key names no subpartition: impossible value$'
        finish consumer
        assert_status 1
        assert_one_complaint "the producer's input failed"
    done
}

# ---- many of everything ----------------------------------------------------------------------

@test "pipeline: several partitions of one producer, several gates of one consumer, each its own" {
    seq 1 1000 >left
    seq 2001 3000 >right
    start_producer producer -n 2 a=left b=right c <<<'from standard input'
    start_consumer consumer -o first "$address/a" --next -o second --tag "$address/b:1" \
        "$address/c" --next -z -o third "$address/b:0"
    finish_well consumer producer
    assert_same_lines left first
    grep -c '^b:1' second | grep -qx 500
    grep -qx 'c:[01]	from standard input' second
    assert_same_lines right <({ tr '\0' '\n' <third; sed -n 's/^b:1	//p' second; })
}

@test "pipeline: one gate takes in several producers" {
    seq 1 1000 >left
    seq 2001 3000 >right
    start_producer first a <left
    local one=$address
    start_producer second b <right
    start_consumer consumer "$one/a" "$address/b"
    finish_well consumer first second
    assert_same_lines <(cat left right) consumer.out
}

@test "pipeline: gates that write to one output never mix within a record" {
    lines_of 70000 70000 70000 | tr x 1 >left
    lines_of 70000 70000 70000 | tr x 2 >right
    start_producer producer a=left b=right </dev/null
    start_consumer consumer "$address/a" --next "$address/b"
    finish_well consumer producer
    assert_same_lines <(cat left right) consumer.out
}

@test "pipeline: 1,000 subpartitions and 1,000 channels within 1,024 descriptors" {
    ulimit -n 1024
    seq 1 "$(scaled 200000)" >input
    transfer input -n 1000 -s hash -- 
    assert_same_lines input "$received"
}

@test "pipeline: a consumer for each of many subpartitions" {
    local consumers=$((40 / SLOWNESS + 2)) i
    seq 1 10000 >input
    start_producer producer -n "$consumers" <input
    for ((i = 0; i < consumers; i++)); do
        start_consumer "consumer$i" "$address/main:$i"
    done
    for ((i = 0; i < consumers; i++)); do
        finish_well "consumer$i"
    done
    finish_well producer
    assert_same_lines input consumer*.out
}

@test "pipeline: few and small buffers are slow but lose nothing" {
    seq 1 "$(scaled 100000)" >input
    transfer input -n 3 --segment-size 1k -b 0 --floating-buffers 1 -- -b 0 --floating-buffers 1 --segment-size 1k
    assert_same_lines input "$received"
    transfer input -n 3 --buffer-timeout 0 -- -b 1 --floating-buffers 0
    assert_same_lines input "$received"
    transfer input -n 3 --buffer-timeout none --memory 128k -- -b 1
    assert_same_lines input "$received"
    transfer input -n 3 -T pipelined -- -b 1
    assert_same_lines input "$received"
}

@test "pipeline: the same through poll instead of epoll" {
    export FNET_LOOP=poll
    seq 1 "$(scaled 500000)" >input
    start_producer producer -n 4 -s hash <input
    start_consumer first "$address/main:0-1"
    start_consumer second "$address/main:2-3"
    finish_well first second producer
    assert_same_lines input first.out second.out
    transfer input -n 1000 -s hash --
    assert_same_lines input "$received"
    open_feed
    start_producer idle <"$feed"
    printf '1\n2\n3\n4\n' >&9
    fnet-consume "$address" 9>&- | head -n 3 >three
    finish_within 5 idle
    assert_status 1
    [[ $(<three) == $'1\n2\n3' ]]
}

# ---- what both ends can compare ----------------------------------------------------------------

@test "pipeline: --digest prints the same lines at both ends, on standard error" {
    seq 1 1000 >input
    local selector
    for selector in hash broadcast; do
        start_producer producer -n 3 -s "$selector" --digest <input
        start_consumer consumer --digest "$address"
        finish consumer
        assert_status 0
        finish producer
        assert_status 0
        assert_output ''
        cmp <(sort producer.err) <(sort consumer.err)
        [[ $(grep -cE '^main:[012] records [0-9]+ bytes [0-9]+ hash [0-9a-f]{16}$' producer.err) == 3 ]]
        [[ $(wc -l <producer.err) == 3 ]]
    done
    # The order of records does not matter, their bytes do.
    sort -R input >shuffled
    start_producer producer -s global --digest <shuffled
    start_consumer consumer --digest "$address"
    finish consumer
    finish producer
    mv consumer.err of-shuffled
    start_producer producer -s global --digest <input
    start_consumer consumer --digest "$address"
    finish consumer
    finish producer
    cmp consumer.err of-shuffled
}
