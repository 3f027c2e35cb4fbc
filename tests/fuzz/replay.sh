#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Replay the corpus of every fuzz target, as TAP: one test per target.
set -uo pipefail
cd "$(dirname "$0")" || exit 2

shopt -s nullglob
sources=(fuzz_*.c)
printf '1..%d\n' "${#sources[@]}"

failed=0
number=0
for source in "${sources[@]}"; do
    target=${source#fuzz_}
    target=${target%.c}
    number=$((number + 1))
    # The driver names each input before it is tried: the last line is the one that failed.
    if said=$("$BUILD/tests/fuzz/replay_$target" "corpus/$target" 2>&1); then
        printf 'ok %d replay: %s, %d inputs\n' "$number" "$target" "$(wc -l <<<"$said")"
    else
        printf 'not ok %d replay: %s\n' "$number" "$target"
        tail -n 40 <<<"$said" | sed 's/^/# /'
        failed=1
    fi
done
exit "$failed"
