# SPDX-License-Identifier: Apache-2.0
# Other versions of Flink: fnet-consume speaks like them, fnet-produce understands them.

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

# One version of each layout, and some of the same.
VERSIONS=(1.5 1.8 1.9 1.10 1.11.0 1.11 1.12.4 1.12 1.13 1.14 1.15 1.16 1.17.2 1.18 1.19 1.20.4 2.0 2.3 2.4)

@test "dialects: consumers of many versions read from one producer at the same time" {
    local i names=()
    seq 100000 >input
    start_producer producer -n "${#VERSIONS[@]}" main=input </dev/null
    for i in "${!VERSIONS[@]}"; do
        names+=("consumer$i")
        start_consumer "consumer$i" --dialect "${VERSIONS[i]}" "$address/main:$i"
    done
    finish_well "${names[@]}" producer
    assert_same_lines input "${names[@]/%/.out}"
}

@test "dialects: every version reads, in small buffers and without floating ones" {
    local version
    seq 3000 >input
    for version in "${VERSIONS[@]}"; do
        printf 'version: %s\n' "$version" >&2
        start_producer producer -n 2 --segment-size 1k <input
        start_consumer consumer --dialect "$version" --segment-size 1k -b 1 --floating-buffers 0 \
            "$address/main:0,1"
        finish_well consumer producer
        assert_same_lines input consumer.out
    done
}

@test "dialects: fnet-inspect is told them by the ids of the channels" {
    seq 1000 >input
    start_producer producer -n 2 --trace trace <input
    start_consumer old --dialect 1.12.3 "$address/main:0"
    start_consumer new --dialect 1.19 "$address/main:1"
    finish_well old new producer
    run --separate-stderr -0 fnet-inspect --strict -j trace
    [[ $(grep -o '"dialect":[^,]*,"dialect_certain":[a-z]*' <<<"$output" | sort -u) == \
'"dialect":"1.12.0 to 1.12.4","dialect_certain":true
"dialect":"1.19 to 1.20","dialect_certain":true' ]]
}

@test "dialects: each gate speaks its own" {
    seq 1000 >input
    start_producer producer -n 2 main=input </dev/null
    start consumer fnet-consume -o old --dialect 1.8 "$address/main:0" --next -o new "$address/main:1"
    finish_well consumer producer
    assert_same_lines input old new
}

@test "dialects: a partition of Flink's is found by the id that its version logs" {
    local set=a0a1a2a3a4a5a6a7a8a9aaabacadaeaf attempt=b0b1b2b3b4b5b6b7b8b9babbbcbdbebf
    local vertex=c0c1c2c3c4c5c6c7c8c9cacbcccdcecf
    seq 100 >input
    start_producer producer -n 3 "$set#0@${attempt}_${vertex}_0_1=input" </dev/null
    start_consumer a --dialect 1.8 "$address/$set@$attempt:0"
    start_consumer b --dialect 1.15 "$address/$set#0@$attempt:1"
    start_consumer c --dialect 1.16 "$address/$set#0@${attempt}_${vertex}_0_1:2"
    finish_well a b c producer
    assert_same_lines input a.out b.out c.out
}

@test "dialects: where nobody can acknowledge, a consumer that is killed is still a loss" {
    seq 1000000 >input
    start_producer producer main=input </dev/null
    mkfifo output
    # It has room for everything, but cannot write it out: more than any pipe holds.
    start consumer fnet-consume --dialect 1.8 -b 64 -o output "$address/main:0"
    exec 9<output
    head -c 1 <&9 >first
    signal consumer KILL
    finish producer
    exec 9<&-
    assert_status 1
    assert_one_complaint '/main:0: not delivered: the connection was lost: '
}

@test "dialects: --limit cancels politely in an old one" {
    seq 100000 >input
    start_producer producer main=input </dev/null
    start_consumer consumer --dialect 1.8 --limit 3 "$address/main:0"
    finish_well consumer
    seq 3 | cmp - consumer.out
    finish producer
    assert_status 1
}

@test "dialects: answers in another one break the protocol, and the message says where to look" {
    local version
    for version in 1.8 1.11 1.13 1.19; do
        start_peer peer listen <<'END'
open
send BufferResponse receiver=7 record=a
end
END
        run --separate-stderr -4 fnet-consume --dialect "$version" "$address/main:0"
        assert_one_complaint ': broken protocol: .* \(see --dialect\)'
        finish peer
    done
}

@test "dialects: what cannot be is a mistake" {
    run --separate-stderr -2 fnet-consume --dialect 1.4 somewhere
    assert_stderr_match "--dialect: not a version of Flink from 1\.5 to 2\.4, as in 1\.17 or 1\.11\.3: '1\.4'"
    run --separate-stderr -2 fnet-consume --dialect 1.17 somewhere/main
    assert_stderr_match 'somewhere: in the dialect of Flink 1\.16 to 1\.17 nobody tells how many subpartitions there are: name them, as in somewhere/main:0-3'
    run --separate-stderr -2 fnet-consume --list --dialect 1.17 somewhere
    assert_stderr_match '--list: Flink 1\.16 to 1\.17 has no such question'
    run --separate-stderr -2 fnet-consume -b 0 --dialect 1.13 somewhere/main:0
    assert_stderr_match '--buffers-per-channel: in the dialect of Flink 1\.13 a channel needs one'
    run --separate-stderr -2 fnet-produce -l 1.21@0
    assert_stderr_match '-l: in front of @ stands no version of Flink'
}

@test "dialects: --dry-run says which" {
    run --separate-stderr -0 fnet-consume --dry-run --dialect 1.20 127.0.0.1/main:0
    assert_line '  dialect: of Flink 1.19 to 1.20'
    run --separate-stderr -0 fnet-produce --dry-run -l 1.20@127.0.0.1:6122
    assert_line 'listen: 127.0.0.1:6122, of Flink 1.19 to 1.20'
}

@test "dialects: before 1.14 a consumer that did not write everything is a loss to its producer" {
    seq 1 1000 >input
    local how
    for how in '-o /dev/full' '--limit 10' '-f fixed:7'; do
        start_producer producer -l 1.13@127.0.0.1:0 <input
        # shellcheck disable=SC2086 # several words
        start_consumer consumer --dialect 1.13 $how "${address#*@}/main:0"
        finish consumer
        finish producer
        assert_status 1
        assert_one_complaint 'main:0'
    done
}
