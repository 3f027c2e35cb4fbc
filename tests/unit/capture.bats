# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0

@test "capture/savefile: pcap in both byte orders, cut anywhere" { "$BUILD/tests/unit/capture/test_savefile"; }
@test "capture/pcapng: interfaces have their own link types and clocks, wrong blocks are refused" { "$BUILD/tests/unit/capture/test_pcapng"; }
@test "capture/packet: every link type leads to the same TCP segment" { "$BUILD/tests/unit/capture/test_packet"; }
@test "capture/reassembly: bytes come out once and in order, gaps are counted" { "$BUILD/tests/unit/capture/test_reassembly"; }
