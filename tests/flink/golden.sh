#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Write the golden files of tests/golden/flink anew, and check that Flink's decoders read from them
# what they say. A version that cannot be had keeps its files.
#
#     tests/flink/golden.sh [VERSION]...
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
golden=$here/../golden/flink
versions=("$@")
if [[ $# -eq 0 ]]; then
    mapfile -t versions < <(grep -v '^#' "$here/versions")
fi

# Whether Flink reads from the files what their second columns say.
is_understood() { # VERSION FOLDER
    local kind
    for kind in messages events elements; do
        "$here/with_flink.sh" "$1" Decode "$kind" "$2/$kind.tsv" 2>"$2/error" |
            diff - <(cut -f 1,2 "$2/$kind.tsv") || return
    done
}

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
failures=0
for version in "${versions[@]}"; do
    mkdir "$new/$version"
    "$here/with_flink.sh" "$version" Golden "$new/$version" 2>"$new/$version/error"
    status=$?
    if [[ $status -eq 0 ]] && is_understood "$version" "$new/$version"; then
        mkdir -p "$golden/$version"
        cp "$new/$version"/*.tsv "$golden/$version"
        echo "$version: $(cat "$golden/$version"/*.tsv | wc -l) vectors"
        continue
    fi
    failures=$((failures + 1))
    [[ $status -eq 69 ]] && echo "$version: cannot be had" || echo "$version: failed"
    grep -m 1 -e ERROR -e Exception "$new/$version/error"
done
exit $((failures > 0))
