#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Throughput: every axis (bytes per record, subpartitions, selector, consumers, kind of socket,
# format) varied around one base case, which is lines of 100 bytes into 4 subpartitions in turn,
# over TCP to one consumer; beside the bare loop and tools that only carry the bytes.
#
#     BUILD=build/release tests/bench/grid.sh            (settings: see harness.bash)
# shellcheck source=tests/bench/harness.bash
source "$(dirname "$0")/harness.bash"
# shellcheck source=tests/bench/contenders.bash
source "$bench/contenders.bash"

columns='rate records wall cpu send receive'
input=$work/input

make_input() { # MEGABYTES
    make_lines "$line_bytes" "$1" "$input"
    bytes=$(stat -c %s "$input")
    records=$((bytes / (line_bytes + 1)))
}

begin_lines() { # BYTES
    line_bytes=$1
    begin_group "grid/lines_$1" "lines of $1 bytes"
}

add_rivals() { # BYTES-A-WRITE
    rival nc nc run_nc
    rival socat socat run_socat
    rival mbuffer mbuffer run_mbuffer
    rival iperf3 iperf3 run_iperf3 "$1"
}

# SHORT lines: the bare loop is the bar.
short_lines() { # BYTES
    begin_lines "$1"
    contender bareloop run_bareloop
    contender fnet run_fnet -n 4
    add_rivals 128K
    fit_input make_input
    run_rounds note_rate
    report "$columns" {fnet,nc,socat,mbuffer,iperf3}/bareloop
}

base_case() {
    begin_lines 100
    contender bareloop run_bareloop
    contender fnet run_fnet -n 4
    contender fnet_hash run_fnet -n 4 -s hash -k 2
    contender fnet_n1 run_fnet -n 1
    contender fnet_n16 run_fnet -n 16
    contender fnet_n100 run_fnet -n 100
    contender fnet_n1000 run_fnet -n 1000
    contender fnet_hash_n1000 run_fnet -n 1000 -s hash -k 2
    contender fnet_c4 run_fnet_shared 4 16
    contender fnet_c16 run_fnet_shared 16 16
    contender fnet_unix run_fnet_unix -n 4
    contender fnet_bytes run_fnet -n 1 -f bytes -- -f bytes
    add_rivals 128K
    fit_input make_input
    run_rounds note_rate
    report "$columns" {fnet,fnet_{hash,n1,n16,n100,n1000,hash_n1000,c4,c16,unix,bytes}}/bareloop \
        {nc,socat,mbuffer,iperf3}/bareloop fnet/{nc,socat,mbuffer,iperf3} \
        fnet_{n1,n100,n1000,unix}/fnet fnet_{c4,c16}/fnet_n16
}

# LONG records, which span network buffers: too long for the bare loop.
long_records() { # BYTES BYTES-A-WRITE
    begin_lines "$1"
    title="records of $1 bytes (fnet_bytes: format bytes; fnet_fixed: fixed; fnet: lines)"
    contender fnet_bytes run_fnet -n 1 -f bytes -- -f bytes
    contender fnet run_fnet -n 4
    contender fnet_fixed run_fnet -n 4 -f "fixed:$(($1 + 1))" -- -f bytes
    contender fnet_bytes_unix run_fnet_unix -n 1 -f bytes -- -f bytes
    add_rivals "$2"
    fit_input make_input
    run_rounds note_rate
    report "$columns" {fnet_bytes,fnet,fnet_fixed,fnet_bytes_unix,nc,socat,mbuffer}/iperf3 \
        fnet_bytes/{nc,socat,mbuffer}
}

# Into four files of this host, record by record.
routing() {
    begin_lines 100
    group=grid/routing
    title='lines of 100 bytes in turn into four files (fnet: four consumers)'
    contender fnet run_fnet_files
    rival awk awk run_awk
    rival split split run_split
    fit_input make_input
    run_rounds note_rate
    rm -f "$work"/part.*
    report "$columns" fnet/{split,awk}
}

! is_wanted grid/lines_8 || short_lines 8
! is_wanted grid/lines_100 || base_case
! is_wanted grid/lines_1024 || short_lines 1024
! is_wanted grid/lines_32768 || long_records 32768 32K
! is_wanted grid/lines_1048576 || long_records 1048576 1M
! is_wanted grid/routing || routing
