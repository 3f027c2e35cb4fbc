#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Check every #include of lib/ and cmd/ against layers.txt. Prints what breaks the table.
#
#     tests/lint/layers.sh [TOP]      TOP is the tree to look at, by default this one
set -euo pipefail

table=$(cd "$(dirname "$0")" && pwd)/layers.txt
cd "${1:-$(dirname "$0")/../..}"

shopt -s nullglob globstar
sources=(lib/**/*.[ch] cmd/**/*.[ch])
[[ ${#sources[@]} -gt 0 ]] || { printf 'layers: no sources\n' >&2; exit 1; }

awk '
    function complain(text) { print text; bad = 1 }

    # The words of this line of the table from the second to the colon in LEFT, behind it in RIGHT.
    function sides(   i, n, line, half) {
        line = $0
        sub(/^[a-z]+ +/, "", line)
        split(line, half, / *: */)
        split("", left); split("", right)
        n = split(half[1], left, / +/)
        split(half[2], right, / +/)
        return n
    }

    FILENAME ~ /layers\.txt$/ && (/^#/ || !NF) { next }
    FILENAME ~ /layers\.txt$/ {
        n = sides()
        for (r in right)
            if (right[r] != "") {
                if ($1 == "room" && !(right[r] in is_room))
                    complain("layers.txt: " left[1] " names " right[r] ", which does not stand above it")
                if ($1 == "room" || $1 == "folder")
                    allowed[$1, left[1], right[r]] = 1
                for (l = 1; l <= n; l++) {
                    if ($1 == "header")
                        room_of[left[l]] = right[r]
                    if ($1 == "only") {
                        is_kept[left[l]] = 1
                        keeper[left[l], right[r]] = 1
                    }
                }
            }
        if ($1 == "room")
            is_room[left[1]] = 1
        if ($1 == "folder")
            is_folder[left[1]] = 1
        next
    }

    FNR == 1 {
        split(FILENAME, part, "/")
        name = FILENAME
        sub(/.*\//, "", name)
        own = part[2]
        kind = part[1]
        if (FILENAME ~ /^lib\/include\//)
            own = room_for(name)
        else if (kind == "cmd" && !part[3])
            own = ""
        delete part
        if (kind == "lib" && own != "*" && !(own in is_room))
            complain(FILENAME ": " own " is no room of layers.txt")
        if (kind == "cmd" && own != "" && !(own in is_folder))
            complain(FILENAME ": " own " is no folder of layers.txt")
    }

    # The room of a public header; the umbrella, fnet.h, belongs to all.
    function room_for(header) {
        if (header == "fnet.h")
            return "*"
        if (header in room_of)
            return room_of[header]
        sub(/\.h$/, "", header)
        return header
    }

    function is_keeper(header,   pair, split_pair) {
        for (pair in keeper) {
            split(pair, split_pair, SUBSEP)
            if (split_pair[1] == header && index(FILENAME, split_pair[2]) == 1)
                return 1
        }
        return 0
    }

    /^[ \t]*#[ \t]*include/ {
        where = FILENAME ":" FNR ": "
        header = $0
        sub(/^[^<"]*[<"]/, "", header)
        sub(/[>"].*/, "", header)
        if ($0 ~ /</) {
            if (header ~ /^fnet\//)
                complain(where "<" header "> should be in quotes")
            if (header in is_kept && !is_keeper(header))
                complain(where "<" header "> is not for this file")
        } else if (header ~ /^fnet\//) {
            target = room_for(substr(header, 6))
            if (kind == "lib" && own != "*" && own != target && !(("room", own, target) in allowed))
                complain(where own " may not include " header)
        } else if (kind == "cmd" && header ~ /\//) {
            target = header
            sub(/\/.*/, "", target)
            if (own != "" && own != target && !(("folder", own, target) in allowed))
                complain(where "cmd/" own " may not include " header)
        } else if (header ~ /\//) {
            complain(where "a private header of another folder: " header)
        } else if (FILENAME ~ /^lib\/include\//) {
            complain(where "a public header includes a private one: " header)
        } else {
            folder = FILENAME
            sub(/[^\/]*$/, "", folder)
            if (system("test -f " folder header) != 0)
                complain(where "no such header in " folder ": " header)
        }
    }

    END { exit bad }' "$table" "${sources[@]}"
