#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run test files, two at a time, and count: the last line is `N passed, N failed[, N skipped]`.
#
#     BUILD=build/debug tests/run.sh [FILE.bats]...
#
# Without FILEs all of them, and the corpus replays. LONG=1 takes the tests tagged `long` too,
# SLOWNESS=N says how much slower than usual the programs run, V=1 names every test.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

BUILD=$(cd "${BUILD:-build/debug}" && pwd) || exit 2
export BUILD SLOWNESS=${SLOWNESS:-1} LC_ALL=C.UTF-8
file_seconds=$((240 * SLOWNESS))
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# Print the tests of one file that failed, with what they said, and a line about the file. TAP that
# ends early, or a file that bats could not read, is a failure.
summarise() { # NAME TAP STATUS
    awk -v name="$1" -v status="$3" -v verbose="${V:-}" '
        /^1\.\.[0-9]+/        { planned = substr($0, 4) + 0; next }
        /^ok .*# skip/        { skipped++; report = verbose != "" }
        /^ok / && !/# skip/   { passed++; report = verbose != "" }
        /^not ok /            { failed++; report = 1 }
        !/^(ok|not ok|#)/     { report = 1 }
        report                { print }
        END {
            missing = planned - passed - failed - skipped
            if (missing > 0) {
                print "not ok " name ": " missing " tests did not run, status " status
                failed += missing
            } else if (status != 0 && failed == 0) {
                print "not ok " name ": status " status
                failed++
            }
            printf "  %-28s %d passed, %d failed%s\n", name, passed, failed,
                skipped ? ", " skipped " skipped" : ""
            printf "%d %d %d\n", passed, failed, skipped >> (ENVIRON["results"] "/counts")
        }' "$2"
}

run_one() { # FILE
    local name=${1#tests/} tap status
    name=${name%.bats}
    tap=$results/${name//\//-}.tap
    local filter=(--filter-tags '!long')
    [[ -z ${LONG:-} ]] || filter=()
    if [[ $1 == *.bats ]]; then
        timeout --kill-after=10 "$file_seconds" \
            bats --tap --setup-suite-file tests/setup_suite.bash "${filter[@]}" "$1" \
            >"$tap" 2>&1 </dev/null
    else
        timeout --kill-after=10 "$file_seconds" "$1" >"$tap" 2>&1 </dev/null
    fi
    status=$?
    summarise "$name" "$tap" "$status" >"$tap.summary"
    cat "$tap.summary"
}
export -f run_one summarise
export results file_seconds

shopt -s nullglob
files=("$@")
if [[ ${#files[@]} -eq 0 ]]; then
    # The longest first, so that two lanes end together. Under a sanitizer sources look the same,
    # and what waits for the clock of the kernel has been seen without one.
    files=(tests/cli/*.bats)
    ((SLOWNESS > 1)) || files=(tests/net/*.bats "${files[@]}" tests/lint/*.bats)
    files+=(tests/fuzz/replay.sh tests/unit/*.bats)
fi
# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P 2 bash -c 'run_one "$0"'

[[ -f $results/counts ]] || printf '0 1 0\n' >"$results/counts"
awk '
    { passed += $1; failed += $2; skipped += $3 }
    END {
        printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
        exit failed > 0
    }' "$results/counts"
