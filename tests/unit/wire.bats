# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

# The programs look for golden files from the top directory.
setup() { cd "$BATS_TEST_DIRNAME/../.." || return 1; }

@test "wire/frame: every type has its name and its lengths" { "$BUILD/tests/unit/wire/test_frame"; }
@test "wire/message: the bytes are Flink's, and wrong ones are refused" { "$BUILD/tests/unit/wire/test_message"; }
@test "wire/buffer_response: the head holds at its limits" { "$BUILD/tests/unit/wire/test_buffer_response"; }
@test "wire/decoder: a stream is the same however it is cut" { "$BUILD/tests/unit/wire/test_decoder"; }
@test "wire/object_stream: the end of an object is found, limits hold" { "$BUILD/tests/unit/wire/test_object_stream"; }
@test "wire/java_text: Java's strings become UTF-8, and what does not fit is counted" { "$BUILD/tests/unit/wire/test_java_text"; }
@test "wire/java_throwable: class and message come out, and go in" { "$BUILD/tests/unit/wire/test_java_throwable"; }
@test "wire/throwable_chain: causes and stacks as Java says them, and no stream does harm" { "$BUILD/tests/unit/wire/test_throwable_chain"; }
@test "wire/throwable_text: a stack line is in Java's form" { "$BUILD/tests/unit/wire/test_throwable_text"; }
@test "wire: every message that a version of Flink wrote is understood and written alike" { "$BUILD/tests/unit/wire/test_flink_messages"; }

@test "wire/dialect_probe: versions of Flink whose requests are alike answer it differently" {
    "$BUILD/tests/unit/wire/test_dialect_probe"
}
