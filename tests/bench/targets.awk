# SPDX-License-Identifier: Apache-2.0
# The targets of the project against the values (NAME<tab>VALUE<tab>UNIT) of one run.

BEGIN {
    FS = "\t"
}

{
    value[$1] = $2
}

function target(text, name, relation, bound,   met) {
    if (!(name in value)) {
        printf "  %-58s %10s  %s %-6s not measured\n", text, "-", relation, bound
        return
    }
    met = relation == ">=" ? value[name] + 0 >= bound + 0 : \
        relation == ">" ? value[name] + 0 > bound + 0 : value[name] + 0 <= bound + 0
    printf "  %-58s %10s  %s %-6s %s\n", text, value[name], relation, bound, met ? "met" : "NOT MET"
    met ? good++ : bad++
}

END {
    print "targets"
    target("100-byte lines, 4 subpartitions: of the bare loop", "grid/lines_100/fnet/of_bareloop", ">=", "0.90")
    target("  of nc", "grid/lines_100/fnet/of_nc", ">=", "1.25")
    target("  of mbuffer", "grid/lines_100/fnet/of_mbuffer", ">=", "2")
    target("  of socat -b131072", "grid/lines_100/fnet/of_socat", ">", "1")
    target("8-byte lines: of the bare loop", "grid/lines_8/fnet/of_bareloop", ">=", "0.80")
    target("hash on a key field, 100 bytes: of the bare loop", "grid/lines_100/fnet_hash/of_bareloop", ">=", "0.75")
    target("32 Ki records, bytes: of nc", "grid/lines_32768/fnet_bytes/of_nc", ">", "1")
    target("  of iperf3", "grid/lines_32768/fnet_bytes/of_iperf3", ">=", "0.6")
    target("1 Mi records, bytes: of nc", "grid/lines_1048576/fnet_bytes/of_nc", ">", "1")
    target("  of iperf3", "grid/lines_1048576/fnet_bytes/of_iperf3", ">=", "0.6")
    target("1,000 subpartitions: of 4", "grid/lines_100/fnet_n1000/of_fnet", ">=", "0.75")
    target("16 consumers: of one (16 subpartitions)", "grid/lines_100/fnet_c16/of_fnet_n16", ">=", "0.8")
    target("buffer timeout 1 ms: of 100 ms, saturated", "timeout/throughput/1ms/of_100ms", ">=", "0.99")
    target("latency, timeout 0, 1,000/s: p99 of the bare relay's", "timeout/latency/n1,0/of_bare", "<=", "3")
    target("  4 subpartitions", "timeout/latency/n4,0/of_bare", "<=", "3")
    target("63 of 64 channels, one stalled: of no stall", "isolation/rest/stalled/of_free", ">=", "0.95")
    for (i = 0; i <= 4; i += i ? 1 : 2)
        target("memory above the formula, MiB, " 10 ^ i " channels", "memory/" 10 ^ i "/fnet/excess", "<=", "8")
    target("inspect --summary, packets of 1,500 bytes, GB/s", "inspect/ethernet/summary/rate", ">=", "1")
    target("  of tshark", "inspect/ethernet/summary/of_tshark", ">=", "100")
    printf "  %d met, %d not met\n", good, bad
}
