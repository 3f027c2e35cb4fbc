# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

@test "partition/registry: partitions are found by id, each once, in the order they were added" { "$BUILD/tests/unit/partition/test_registry"; }
@test "partition/pipelined: three causes make data available, backlog as of 1.14, buffers taken while filled" { "$BUILD/tests/unit/partition/test_pipelined"; }
@test "partition/view: one reading of a subpartition from its request to its end, for credit" { "$BUILD/tests/unit/partition/test_view"; }
@test "partition/partition: writing, broadcast, flush, quotas, the end, and all memory back" { "$BUILD/tests/unit/partition/test_partition"; }

@test "partition/view_compression: data becomes a block if that is smaller, in its place" {
    local status=0
    "$BUILD/tests/unit/partition/test_view_compression" || status=$?
    [[ $status -ne 77 ]] || skip 'built without any codec'
    return "$status"
}
