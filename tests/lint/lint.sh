#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The static checks: all of them, or those named. A check whose tool is missing is skipped, and
# says so. The last line counts.
#
#     tests/lint/lint.sh [CHECK]...
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

root=${BUILDROOT:-build}/lint
jobs=${JOBS:-2}
all=(format layers shell man gcc style clang cppcheck tidy)
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# Status 0 clean, 1 not, 77 skipped. What a check prints is shown when it is not clean.
skipped=77

need() { # TOOL
    command -v "$1" >/dev/null || { printf '%s is not installed' "$1"; exit $skipped; }
}

build() { # NAME MAKE-ARGUMENT...
    local name=$1
    shift
    make --no-print-directory -s -j"$jobs" BUILD="$root/$name" WERROR=-Werror "$@" all unit tools
}

check_format() {
    need clang-format
    tests/lint/sources.sh c | xargs clang-format --dry-run -Werror
}

check_layers() {
    tests/lint/layers.sh
}

# In test files shellcheck knows neither what `run` and helpers.bash set (SC2154) nor that
# bash -c '...' is how a test writes a pipe (SC2016).
check_shell() {
    need shellcheck
    tests/lint/sources.sh shell | grep -v '\.bats$' | xargs shellcheck -x &&
        tests/lint/sources.sh shell | grep '\.bats$' | xargs shellcheck -x -e SC2154,SC2016
}

check_man() {
    need mandoc
    tests/lint/sources.sh man | xargs -r mandoc -T lint -W warning
}

# Without assertions and with them: each hides warnings that the other shows.
check_gcc() {
    need gcc
    build gcc CC=gcc && build gcc-debug CC=gcc VARIANT=debug
}

# After gcc, whose build shows the names that the library exports.
check_style() {
    need bats
    mkdir -p "$root/gcc"
    BUILD=$root/gcc tests/run.sh tests/lint/style.bats
}

check_clang() {
    need clang
    build clang CC=clang && build clang-debug CC=clang VARIANT=debug
}

flags=(-std=c11 -D_GNU_SOURCE '-DFNET_VERSION="0"' -Ilib/include -Icmd)

check_cppcheck() {
    need cppcheck
    # missingIncludeSystem, unusedFunction: it sees neither system headers nor the whole program.
    # constParameterCallback: the type of a callback is not its author's choice.
    cppcheck --quiet -j "$jobs" --error-exitcode=1 --inline-suppr --std=c11 \
        --enable=warning,performance,portability --suppress=missingIncludeSystem \
        -D_GNU_SOURCE '-DFNET_VERSION="0"' -Ilib/include -Icmd lib cmd tests
}

# With clang's analyzer; gcc 12's calls it a leak when a struct is linked into a queue. Not the
# unit tests: past a failed check, which goes on, the analyzer sees what cannot happen.
check_tidy() {
    need clang-tidy
    tests/lint/sources.sh c | grep '\.c$' | grep -v '^tests/unit/' |
        xargs -P "$jobs" -I '{}' clang-tidy --quiet '{}' -- "${flags[@]}" 2>/dev/null
}

passed=0
failed=0
skips=0
checks=("$@")
[[ ${#checks[@]} -gt 0 ]] || checks=("${all[@]}")
for check in "${checks[@]}"; do
    if ! declare -F "check_$check" >/dev/null; then
        printf 'lint.sh: no check %s; there are: %s\n' "$check" "${all[*]}" >&2
        exit 2
    fi
    said=$("check_$check" 2>&1)
    case $? in
    0)
        printf 'ok %s\n' "$check"
        passed=$((passed + 1))
        ;;
    "$skipped")
        printf 'skipped %s: %s\n' "$check" "$said"
        skips=$((skips + 1))
        ;;
    *)
        printf '%s\nnot ok %s\n' "$said" "$check"
        failed=$((failed + 1))
        ;;
    esac
done

printf '%d passed, %d failed' "$passed" "$failed"
[[ $skips -eq 0 ]] || printf ', %d skipped' "$skips"
printf '\n'
[[ $failed -eq 0 ]]
