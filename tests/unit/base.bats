# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

@test "base/err: every code has its family and its words" { "$BUILD/tests/unit/base/test_err"; }
@test "base/bytes: cursors stay within bounds and remember" { "$BUILD/tests/unit/base/test_bytes"; }
@test "base/id: text, wire and name forms of ids" { "$BUILD/tests/unit/base/test_id"; }
@test "base/id_map: behaves as a map that is plainly right" { "$BUILD/tests/unit/base/test_id_map"; }
@test "base/data_type: ordinals, names and nature are Flink's" { "$BUILD/tests/unit/base/test_data_type"; }
@test "base/list: first in, first out, and bells ring" { "$BUILD/tests/unit/base/test_list"; }
@test "base/digest: the same records in any order have the same digest" { "$BUILD/tests/unit/base/test_digest"; }
@test "base/dialect: each version has one layout, each first request its dialect" { "$BUILD/tests/unit/base/test_dialect"; }

@test "base/channel_id: the id of a channel says what its consumer speaks" {
    "$BUILD/tests/unit/base/test_channel_id"
}

@test "base/utf8: characters, and what the JDK makes of malformed ones" {
    "$BUILD/tests/unit/base/test_utf8"
}
