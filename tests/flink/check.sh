#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fnet against Flink itself, version by version: golden files, and both directions of the protocol.
# The last line is `N passed, N failed, N skipped`; what cannot be had is said, and counts as
# skipped; classes that do not compile are a failure.
#
# Jobs are run with one version only, the last; before them all read from one producer.
#
#     BUILD=build/debug tests/flink/check.sh [VERSION]...
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

versions=("$@")
[[ $# -gt 0 ]] || versions=(1.14.6 1.17.2 1.20.5 2.0.2 2.2.1 2.3.0)
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The test files for a version.
files_for() { # VERSION
    printf '%s\n' tests/flink/encodings.bats tests/flink/flink.bats
    [[ $1 != "${versions[-1]}" ]] || printf '%s\n' tests/flink/versions.bats tests/flink/job.bats
}

# Without a JDK, Maven or Flink no test of the version is run.
skip_all() { # WHY
    local tests
    tests=$(cat "${files[@]}" | grep -c '^@test')
    printf '%s, %d tests skipped\n' "$1" "$tests"
    skipped=$((skipped + tests))
}

# Run one of the files and count.
run_tests() { # VERSION FILE
    local line
    FLINK_VERSION=$1 FLINK_VERSIONS=${versions[*]} tests/run.sh "$2" | tee "$log"
    line=$(tail -n 1 "$log")
    if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
        skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
    else
        failed=$((failed + 1))
    fi
}

for version in "${versions[@]}"; do
    printf '== Flink %s\n' "$version"
    mapfile -t files < <(files_for "$version")
    if ! command -v mvn >/dev/null || ! command -v javac >/dev/null; then
        skip_all 'no Maven or no JDK'
        continue
    fi
    tests/flink/with_flink.sh "$version" Decode events /dev/null 2>"$log" >&2
    case $? in
    0) ;;
    69)
        grep -m 1 ERROR "$log"
        skip_all 'Maven Central does not answer'
        continue
        ;;
    *)
        cat "$log"
        failed=$((failed + 1))
        continue
        ;;
    esac
    for file in "${files[@]}"; do
        run_tests "$version" "$file"
    done
done

printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[[ $failed -eq 0 ]]
