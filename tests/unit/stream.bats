# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

# The programs look for golden files from the top directory.
setup() { cd "$BATS_TEST_DIRNAME/../.." || return 1; }

@test "stream/key: field lists and keys are those of cut" {
    "$BUILD/tests/unit/stream/test_key"
}

@test "stream/key_group: a key hashes as a Java String, malformed or not, and mixes as in Flink" {
    "$BUILD/tests/unit/stream/test_key_group"
}

@test "stream/key_group: the same without SSE2" {
    "$BUILD/tests/unit/stream/test_key_group_portable"
}

@test "stream/key_group, selector: 100,000 random keys go where Flink's keyBy sends them" {
    "$BUILD/tests/unit/stream/test_random_keys"
}

@test "stream/key_group, selector: the same without SSE2" {
    "$BUILD/tests/unit/stream/test_random_keys_portable"
}

@test "stream/selector: each selector sends records where it says, and bad configurations are refused" {
    "$BUILD/tests/unit/stream/test_selector"
}

@test "stream/emission: how many records go into open buffers, in lanes and one by one" {
    "$BUILD/tests/unit/stream/test_emission"
}

@test "stream/record_writer: records of every size, cut over buffers, to one or all, resumed in the middle" {
    "$BUILD/tests/unit/stream/test_record_writer"
}

@test "stream/record_reader: records cut anywhere, channels each for itself, events, streams that go wrong" {
    "$BUILD/tests/unit/stream/test_record_reader"
}
