# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

@test "gate/credit: exclusive and floating buffers, sums, waiting in line, and a long walk" { "$BUILD/tests/unit/gate/test_credit"; }
@test "gate/remote_channel: sequence, sizes, credit, words for the producer, and every way to end" { "$BUILD/tests/unit/gate/test_remote_channel"; }
@test "gate/gate: round robin among channels, recycling, and the end of all" { "$BUILD/tests/unit/gate/test_gate"; }
