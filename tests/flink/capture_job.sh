#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run live.Job in a network of its own, where nothing else passes, and capture what its TaskManagers
# send each other. What Flink says about the job is on standard output.
#
#     tests/flink/capture_job.sh VERSION CAPTURE [KEY=VALUE]...
#
# Exit 75 if packets were lost, 77 if there can be no such network or capture.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
version=$1 capture=$2
shift 2

# Without this process none of the others stays.
if [[ -z ${FNET_APART:-} ]]; then
    apart=(unshare --net --pid --fork --kill-child)
    "${apart[@]}" true 2>/dev/null || apart+=(--map-root-user)
    "${apart[@]}" true || exit 77
    FNET_APART=1 exec "${apart[@]}" "$0" "$version" "$capture" "$@"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Try COMMAND again and again for 60 seconds.
await() { # COMMAND...
    local deadline=$((SECONDS + 60))
    until "$@"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.05
    done
}

# tcpdump runs, or has ended.
is_settled() {
    grep -q 'listening on' "$work/tcpdump" || ! kill -0 "$tcpdump" 2>/dev/null
}

# How many of the packets captured so far have these flags.
count_packets() { # EXPRESSION
    tcpdump -r "$capture" "tcp[tcpflags] & $1" 2>/dev/null | wc -l
}

# All connections that were opened were closed, which is the last that is heard of them.
is_over() {
    local opened
    opened=$(count_packets '(tcp-syn|tcp-ack) == tcp-syn')
    ((opened > 0 && $(count_packets '(tcp-fin|tcp-rst) != 0') >= opened))
}

# Until the ports are known there is nothing to capture; until then the job waits.
ip link set lo up
mkfifo "$work/go"
exec 9<>"$work/go"
"$top/tests/flink/with_flink.sh" "$version" live.Job "ready=$work/ready" "$@" <"$work/go" 9>&- &
job=$!
await test -s "$work/ready"
mapfile -t ports <"$work/ready"
: >"$work/tcpdump"
tcpdump -i lo --immediate-mode -B 65536 -U -Z "$(id -un)" -w "$capture" \
    "tcp port ${ports[0]} or tcp port ${ports[1]}" 2>"$work/tcpdump" 9>&- &
tcpdump=$!
await is_settled
if ! kill -0 "$tcpdump" 2>/dev/null; then
    cat "$work/tcpdump" >&2
    exit 77
fi
exec 9>&-
wait "$job"
await is_over || exit 75
kill -s INT "$tcpdump"
wait "$tcpdump"
grep -q '^0 packets dropped by kernel' "$work/tcpdump" || exit 75
