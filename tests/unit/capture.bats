# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

@test "capture/savefile: pcap and pcapng in both byte orders, cut anywhere" { "$BUILD/tests/unit/capture/test_savefile"; }
@test "capture/packet: every link type leads to the same TCP segment" { "$BUILD/tests/unit/capture/test_packet"; }
@test "capture/reassembly: bytes come out once and in order, gaps are counted" { "$BUILD/tests/unit/capture/test_reassembly"; }
