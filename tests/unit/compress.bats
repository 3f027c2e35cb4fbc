# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

# The programs look for golden files from the top directory.
setup() { cd "$BATS_TEST_DIRNAME/../.." || return 1; }

# Run the test of a codec, which ends with 77 where fnet is built without it.
with_codec() { # PROGRAM
    local status=0
    "$1" || status=$?
    [[ $status -ne 77 ]] || skip 'built without it'
    return "$status"
}

@test "compress/codec: codecs have Flink's names, and those that are not built in say so" {
    "$BUILD/tests/unit/compress/test_codec"
}

@test "compress/compressor: a block is shorter than its original, or there is none" {
    "$BUILD/tests/unit/compress/test_compressor"
}

@test "compress/decompressor: each length is checked before anything is read or written" {
    "$BUILD/tests/unit/compress/test_decompressor"
}

@test "compress/lz4_block: Flink's blocks are read, ours come back, bad ones are refused" {
    with_codec "$BUILD/tests/unit/compress/test_lz4_block"
}

@test "compress/zstd_block: Flink's blocks are read, ours come back, bad ones are refused" {
    with_codec "$BUILD/tests/unit/compress/test_zstd_block"
}

@test "compress/lzo_block: Flink's blocks are read, ours come back, bad ones are refused" {
    with_codec "$BUILD/tests/unit/compress/test_lzo_block"
}
