# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

@test "inspect/frame_stream: frames are found again behind whatever is no frame" { "$BUILD/tests/unit/inspect/test_frame_stream"; }
@test "inspect/dialect_guess: what each version of Flink writes never rules it out" { "$BUILD/tests/unit/inspect/test_dialect_guess"; }
@test "inspect/conversation: credit, sequence numbers and records of a channel are followed" { "$BUILD/tests/unit/inspect/test_conversation"; }
@test "inspect/block_reader: compressed buffers tell what compressed them, or are refused" { "$BUILD/tests/unit/inspect/test_block_reader"; }
@test "inspect/record_counter: counted records are those that a deserializer takes" { "$BUILD/tests/unit/inspect/test_record_counter"; }
@test "inspect/pipeline: how a file is read does not change what is printed" { "$BUILD/tests/unit/inspect/test_pipeline"; }
