#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# List the project's own files of one kind: c (sources and headers), shell (scripts and bats files),
# man, all. Works in a checkout, where ignored files do not count, and in an unpacked tar.
set -euo pipefail
cd "$(dirname "$0")/../.."

files() {
    if [[ -e .git ]] && command -v git >/dev/null; then
        # A file removed but not yet committed as removed is still listed by git.
        git ls-files --cached --others --exclude-standard | while read -r file; do
            [[ ! -f $file ]] || printf '%s\n' "$file"
        done
    else
        find . -path ./build -prune -o -type f -print | sed 's|^\./||'
    fi | sort
}

case ${1:-all} in
all) files ;;
c) files | grep -E '\.[ch]$' ;;
man) files | grep -E '^man/.*\.[1-9]$' || true ;;
shell)
    files | while read -r file; do
        case $file in
        *.sh | *.bash | *.bats) printf '%s\n' "$file" ;;
        .ci/*)
            # Scripts there have no suffix: their first line says what they are.
            read -r first <"$file" || true
            [[ $first != '#!'*sh ]] || printf '%s\n' "$file"
            ;;
        esac
    done
    ;;
*)
    printf 'sources.sh: all, c, man or shell, not %s\n' "$1" >&2
    exit 2
    ;;
esac
