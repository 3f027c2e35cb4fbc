#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run fnet-inspect on the golden captures whose names in the list begin with PREFIX and compare what
# it prints; UPDATE=1 writes what is expected instead, to be looked through before it is kept.
set -uo pipefail
cd "$(dirname "$0")" || exit 2

prefix=${1:?PREFIX}
failed=0
count=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Is the codec that OPTIONS name, if they do, built in?
has_codec() { # OPTIONS
    # shellcheck disable=SC2086,SC2068 # two words
    [[ ! $1 =~ --codec\ [a-z0-9]+ ]] || fnet-inspect ${BASH_REMATCH[0]} --help >"$work/help" 2>&1
}

while read -r name input expected status options; do
    [[ $name == "$prefix"* ]] || continue
    count=$((count + 1))
    has_codec "$options" || continue
    # shellcheck disable=SC2086 # several words
    fnet-inspect $options "$input" >"$work/out" 2>"$work/err"
    got=$?
    if [[ -n ${UPDATE:-} ]]; then
        cp "$work/out" "expected/$expected.out"
        rm -f "expected/$expected.err"
        [[ ! -s $work/err ]] || cp "$work/err" "expected/$expected.err"
    fi
    touch "$work/nothing"
    said=expected/$expected.err
    [[ -f $said ]] || said=$work/nothing
    if ! diff -u "expected/$expected.out" "$work/out" >&2 || ! diff -u "$said" "$work/err" >&2 ||
        [[ $got -ne $status ]]; then
        printf '%s: fnet-inspect %s %s: status %d, expected %d\n' "$name" "$options" "$input" \
            "$got" "$status" >&2
        failed=1
    fi
done < <(grep -v '^#' list)

[[ $count -gt 0 ]] || { printf 'no capture is called %s...\n' "$prefix" >&2; exit 2; }
exit "$failed"
