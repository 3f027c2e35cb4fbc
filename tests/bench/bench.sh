#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every section in turn, then the targets of the project in one table.
#
#     BUILD=build/release tests/bench/bench.sh [SECTION]...
#
# A section is SECTION.sh beside this file, which prints lines NAME<tab>VALUE<tab>UNIT and tables to
# read. The former are gathered in a file below OUT (build/bench); harness.bash has the settings.
set -uo pipefail

bench=$(cd "$(dirname "$0")" && pwd)
BUILD=$(cd "${BUILD:-$bench/../../build/release}" && pwd) || exit 2
export BUILD
out=${OUT:-$BUILD/../bench}
sections=("$@")
[[ ${#sections[@]} -gt 0 ]] || sections=(grid flink pairs timeout isolation memory inspect)
mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd)
values=$out/$(date -u +%Y%m%d-%H%M%S).tsv
: >"$values"

compiler() {
    readelf -p .comment "$BUILD/fnet-produce" 2>/dev/null | sed -n 's/^ *\[ *[0-9a-f]*\] *//p' | tail -n 1
}

describe_machine() {
    printf '%s, %s cores, Linux %s, %s, %s\n' \
        "$(sed -n '/^model name/{s/.*: *//p;q}' /proc/cpuinfo)" "$(nproc)" "$(uname -r)" \
        "$(compiler)" "$(date -u +%Y-%m-%d)"
    [[ -z ${QUICK:-} ]] || printf 'QUICK: this shows that it works; its figures are not for quoting.\n'
}

# Values into the file, all else at once to standard output.
divide() {
    awk -v values="$values" -F '\t' '
        NF == 3 && $2 ~ /^[-+0-9.e]+$/ { print >> values; fflush(values); next }
        { print; fflush() }'
}

# A section runs in the background, so that a signal ends it at once.
child=
# shellcheck disable=SC2317 # the traps call it
stop() { # STATUS
    [[ -z $child ]] || kill "$child" 2>/dev/null
    wait
    exit "$1"
}
trap 'stop 130' INT
trap 'stop 143' TERM HUP

run_section() { # SECTION
    local divider result=0
    [[ -x $bench/$1.sh ]] || { printf 'bench.sh: no section %s\n' "$1" >&2; return 1; }
    exec 3> >(divide)
    divider=$!
    "$bench/$1.sh" >&3 3>&- </dev/null &
    child=$!
    exec 3>&-
    wait "$child" || result=$?
    child=
    wait "$divider"
    return "$result"
}

describe_machine
status=0
for section in "${sections[@]}"; do
    run_section "$section" || status=1
done
printf '\n'
cat "$values"
printf '\n'
awk -f "$bench/targets.awk" "$values"
printf '\nThe values are in %s\n' "$values"
exit "$status"
