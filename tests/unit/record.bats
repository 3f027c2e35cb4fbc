# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

@test "record/spill_buffer: grows on the heap and then in a nameless file, and a full disk is an error" {
    "$BUILD/tests/unit/record/test_spill_buffer"
}

@test "record/record_serializer: the same bytes whatever the rooms, and no byte touched outside them" {
    "$BUILD/tests/unit/record/test_record_serializer"
}

@test "record/record_deserializer: the same records however the stream is cut, bad lengths refused" {
    "$BUILD/tests/unit/record/test_record_deserializer"
}

@test "record/delimiter: every format, size and alignment, each byte searched once" {
    "$BUILD/tests/unit/record/test_delimiter"
}

@test "record/delimiter: the same without SSE2" {
    "$BUILD/tests/unit/record/test_delimiter_portable"
}

@test "record/element: every element of every Flink version, cut anywhere, and what is none" {
    "$BUILD/tests/unit/record/test_element"
}

@test "record/string_value: UTF-8 and UTF-16 as Java has them, malformed ones too" {
    "$BUILD/tests/unit/record/test_string_value"
}

@test "record/value: every value of every Flink version is a text and back; numbers and tuples are read strictly" {
    "$BUILD/tests/unit/record/test_value"
}

@test "record/transcoder: a batch in one piece of memory, which a long record gives back" {
    "$BUILD/tests/unit/record/test_transcoder"
}
