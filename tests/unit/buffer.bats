# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

@test "buffer/segment: heap buffers copy, references count, a builder is read while it is filled" { "$BUILD/tests/unit/buffer/test_segment"; }
@test "buffer/network_pool: limits, separate memory, the hottest segment first" { "$BUILD/tests/unit/buffer/test_network_pool"; }
@test "buffer/local_pool: promises, loans, quotas, bells, and buffers that outlive their pool" { "$BUILD/tests/unit/buffer/test_local_pool"; }
