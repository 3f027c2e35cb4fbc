# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

# The programs look for golden files from the top directory.
setup() { cd "$BATS_TEST_DIRNAME/../.." || return 1; }

@test "session/outbox: frames go out byte for byte, however little is sent at a time" { "$BUILD/tests/unit/session/test_outbox"; }
@test "session/credited_view: credits, sequence numbers, and what is announced without them" { "$BUILD/tests/unit/session/test_credited_view"; }
@test "session/producer_session: refusals, leaves, and answers to what is wrong" { "$BUILD/tests/unit/session/test_producer_session"; }
@test "session/consumer_session: requests, words, payloads in place, and what is refused" { "$BUILD/tests/unit/session/test_consumer_session"; }
@test "session/thrown: an error is said with its root cause, and nothing twice" { "$BUILD/tests/unit/session/test_thrown"; }
@test "session/session: two machines joined run the whole protocol, cut and broken anywhere" { "$BUILD/tests/unit/session/test_session"; }
@test "session/translation: events have the form of the dialect, and come back" { "$BUILD/tests/unit/session/test_translation"; }
@test "session: each dialect is recognised and spoken, and ends well" { "$BUILD/tests/unit/session/test_dialects"; }
@test "session/silent_channel: the end is held until all before it was processed" { "$BUILD/tests/unit/session/test_silent_channel"; }
@test "session/merged_events: events that share a frame are received one by one, or refused" { "$BUILD/tests/unit/session/test_merged_events"; }
@test "session/readings: they take turns, each as far as its credit goes" { "$BUILD/tests/unit/session/test_readings"; }
@test "session/reception: buffers and events into their place, and those that are refused" { "$BUILD/tests/unit/session/test_reception"; }
