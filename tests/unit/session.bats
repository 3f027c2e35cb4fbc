# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

@test "session/outbox: frames go out byte for byte, however little is sent at a time" { "$BUILD/tests/unit/session/test_outbox"; }
@test "session/credited_view: credits, sequence numbers, and what is announced without them" { "$BUILD/tests/unit/session/test_credited_view"; }
@test "session/producer_session: turns, credit, refusals, and answers to what is wrong" { "$BUILD/tests/unit/session/test_producer_session"; }
@test "session/consumer_session: requests, words, payloads in place, and what is refused" { "$BUILD/tests/unit/session/test_consumer_session"; }
@test "session/session: two machines joined run the whole protocol, cut and broken anywhere" { "$BUILD/tests/unit/session/test_session"; }
