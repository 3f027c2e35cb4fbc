# SPDX-License-Identifier: Apache-2.0
# Bytes without a network, of any version from 1.5 on, FLINK_VERSION: what Flink encodes, and decodes.

bats_require_minimum_version 1.5.0

setup_file() {
    load ../helpers
    suite_limits 120
    export FLINK_VERSION=${FLINK_VERSION:-2.2.1}
    find_flink "$FLINK_VERSION"
}

setup() {
    load ../helpers
    need_nothing_missing
    cd "$BATS_TEST_TMPDIR" || return 1
    flink=("$TOP/tests/flink/with_flink.sh" "$FLINK_VERSION")
}

@test "flink: the golden files are what it writes" {
    local golden=$TOP/tests/golden/flink/$FLINK_VERSION kind
    "${flink[@]}" Golden .
    for kind in messages events elements; do
        cmp "$kind.tsv" "$golden/$kind.tsv"
    done
}

@test "flink: random keys go where the golden digests say" {
    "${flink[@]}" Keys digests | cmp - "$TOP/tests/golden/hash/random.tsv"
}

@test "flink: the golden files say what it reads" {
    local golden=$TOP/tests/golden/flink/$FLINK_VERSION kind
    for kind in messages events elements; do
        "${flink[@]}" Decode "$kind" "$golden/$kind.tsv" | diff - <(cut -f 1,2 "$golden/$kind.tsv")
    done
}

# Of what fnet's encoders made Flink understands what they were to say.
decodes() { # KIND
    "$BUILD/tests/flink/encode" "$FLINK_VERSION" "$1" >encoded
    [[ $(wc -l <encoded) -gt 3000 ]]
    "${flink[@]}" Decode "$1" encoded >decoded
    cut -f 1,2 encoded | cmp - decoded || {
        cut -f 1,2 encoded | diff - decoded | cut -c 1-500 | head -n 20 >&2
        return 1
    }
}

@test "flink: it decodes the messages that fnet encoded" {
    decodes messages
}

@test "flink: it decodes the events that fnet encoded" {
    decodes events
}

@test "flink: it decodes the elements that fnet encoded" {
    decodes elements
}
