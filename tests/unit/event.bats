# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

# The programs look for golden files from the top directory.
setup() { cd "$BATS_TEST_DIRNAME/../.." || return 1; }

@test "event/event_codec: the bytes are Flink's, and wrong ones are refused" { "$BUILD/tests/unit/event/test_event_codec"; }
@test "event: every event that a version of Flink wrote is understood and written alike" { "$BUILD/tests/unit/event/test_flink_events"; }
