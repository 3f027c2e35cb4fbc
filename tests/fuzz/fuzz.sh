#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run the fuzz targets (all without arguments) for FUZZ_SECONDS each, JOBS at a time. New inputs
# are kept in $BUILD/corpus, what crashed in $BUILD/crash. The last line counts.
#
#     BUILD=build/fuzz FUZZ_SECONDS=60 tests/fuzz/fuzz.sh [TARGET]...
set -uo pipefail

BUILD=$(cd "$BUILD" && pwd) || exit 2
cd "$(dirname "$0")" || exit 2
export BUILD FUZZ_SECONDS=${FUZZ_SECONDS:-60}

fuzz_one() { # TARGET
    local log=$BUILD/$1.log seeds=()
    mkdir -p "$BUILD/corpus/$1" "$BUILD/crash"
    [[ ! -d corpus/$1 ]] || seeds=("corpus/$1")
    if "$BUILD/tests/fuzz/fuzz_$1" -max_total_time="$FUZZ_SECONDS" -timeout=10 -rss_limit_mb=1024 \
        -max_len=65536 -artifact_prefix="$BUILD/crash/$1-" -print_final_stats=1 \
        "$BUILD/corpus/$1" "${seeds[@]}" >"$log" 2>&1; then
        printf 'ok %s: %s inputs tried\n' "$1" \
            "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    else
        printf 'not ok %s\n' "$1"
        tail -n 40 "$log"
    fi
}
export -f fuzz_one

targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
    shopt -s nullglob
    targets=(fuzz_*.c)
    targets=("${targets[@]#fuzz_}")
    targets=("${targets[@]%.c}")
fi
[[ ${#targets[@]} -gt 0 ]] || { printf 'no fuzz targets\n0 passed, 0 failed\n'; exit 0; }

# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\0' "${targets[@]}" |
    xargs -0 -n 1 -P "${JOBS:-2}" bash -c 'fuzz_one "$0"' |
    awk '{ print } /^ok / { passed++ } /^not ok / { failed++ }
         END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 }'
