#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Peak resident memory of both sides at 1 to 10,000 channels, against the formula: two buffers of
# 32 KiB for each channel, and eight. The consumer's output is not read until neither side moves any
# more, so that every buffer that may be used is, and full; then all of it is delivered.
#
#     BUILD=build/release tests/bench/memory.sh          (settings: see harness.bash)
# shellcheck source=tests/bench/harness.bash
source "$(dirname "$0")/harness.bash"

mkfifo "$work/out"
buffer_kib=32

formula_kib() { # CHANNELS
    echo $(((2 * $1 + 8) * buffer_kib))
}

# What a process has read and written so far.
transferred() { # PID
    awk '/^[rw]char/ { n += $2 } END { print n }' "/proc/$1/io" 2>/dev/null
}

# The command that a meter runs.
child_of() { # PID
    local children
    read -r children <"/proc/$1/task/$1/children"
    printf '%s' "${children%% *}"
}

await_standstill() { # PID...
    local before='' now pid tries same=0
    for ((tries = 0; tries < 400 && same < 6; tries++)); do
        pause 0.05
        now=$(for pid in "$@"; do transferred "$pid"; done)
        [[ $now == "$before" ]] && same=$((same + 1)) || same=0
        before=$now
    done
    ((same == 6))
}

# Both sides' buffers and a quarter more.
make_input() { # CHANNELS
    make_lines 100 $((5 * $(formula_kib "$1") * 1024 / 2000000 + 1)) "$work/input"
}

run_channels() { # CHANNELS
    exec 5<>"$work/out"
    spawn send fnet-produce -q -n "$1" --buffer-timeout none -l 127.0.0.1:0 --ready-fd 3 <"$work/input" 3>"$work/ready"
    await_ready || return 1
    spawn receive fnet-consume -q "$address" >"$work/out"
    await_standstill "$(child_of "${running[0]}")" "$(child_of "${running[1]}")" || return 1
    spawn reader cat <"$work/out" >/dev/null
    exec 5<&-
}

note_formula() { # CHANNELS
    awk -v kib="$(formula_kib "$1")" '
        $1 == "send" || $1 == "receive" {
            if ($3 > most)
                most = $3
        }
        END {
            printf "%.2f %.2f\n", kib / 1024, (most - kib) / 1024
        }' "$work/usage" | {
        read -r formula excess
        note formula "$formula"
        note excess "$excess"
    }
}

for channels in 1 100 1000 10000; do
    is_wanted "memory/$channels" || continue
    begin_group "memory/$channels" "peak memory with $channels channels"
    contender fnet run_channels "$channels"
    make_input "$channels"
    run_rounds note_formula "$channels"
    report 'send receive formula excess cpu'
done
