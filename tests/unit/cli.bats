# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

@test "cli/units: numbers, sizes, durations and characters are read strictly" { "$BUILD/tests/unit/cli/test_units"; }
@test "cli/options: a table drives parsing, help and mistakes, group by group" { "$BUILD/tests/unit/cli/test_options"; }
@test "cli/escape: foreign bytes are safe on a terminal and valid in JSON" { "$BUILD/tests/unit/cli/test_escape"; }
@test "cli/report: a message is one line, an error one exit status" { "$BUILD/tests/unit/cli/test_report"; }
@test "cli/format: -f and -d are read strictly and described as they would be given" { "$BUILD/tests/unit/cli/test_format"; }
@test "cli/serde: --serde is read strictly, and what is no value is told in a line" { "$BUILD/tests/unit/cli/test_serde"; }
@test "cli/compression: --codec takes what is built in" { "$BUILD/tests/unit/cli/test_compression"; }
@test "cli/progress: one line of a terminal or a file, with rates and time left, and no disturbance" { "$BUILD/tests/unit/cli/test_progress"; }
@test "cli/telemetry: progress and statistics come in time, and a full disk is reported" { "$BUILD/tests/unit/cli/test_telemetry"; }
@test "cli/descriptors: closed standard descriptors are not taken by other files" {
    "$BUILD/tests/unit/cli/test_descriptors"
}
@test "cli/identity: one file under several names is one file" { "$BUILD/tests/unit/cli/test_identity"; }
