# SPDX-License-Identifier: Apache-2.0
# What `make demo` shows is true.

bats_require_minimum_version 1.5.0

setup() {
    load ../helpers
    need_commands fnet-produce fnet-consume fnet-inspect
}

@test "demo: the union of two consumers is the input, and the trace shows the frames" {
    RECORDS=$(scaled 1000000) run --separate-stderr "$TOP/tests/demo.sh"
    assert_status 0
    assert_line '  equal'
    assert_match '^ .*\bPartitionRequest\b'
    assert_match '^ .*\bBufferResponse\b'
}
