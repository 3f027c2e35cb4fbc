#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A table of the lines that ran, per room and per file, from the counters a coverage build left.
#
#     tests/coverage.sh build/coverage
set -euo pipefail

find "$1/lib" "$1/cmd" -name '*.gcno' ! -path '*/pic/*' -print0 |
    xargs -0 gcov --no-output --relative-only 2>/dev/null |
    awk '
        /^File /  { file = $2; gsub(/\047/, "", file); next }
        /^Lines executed:/ && file ~ /^(lib|cmd)\// {
            sub(/^Lines executed:/, "")
            split($0, part, /% of /)
            # A header is counted by each file that includes it: keep the best.
            hit = part[1] * part[2] / 100
            if (!(file in lines) || hit > hits[file]) { hits[file] = hit; lines[file] = part[2] }
            file = ""
        }
        function row(hit, all, name, into) {
            printf "%6.1f %% of %5d  %s\n", all ? 100 * hit / all : 0, all, name | into
        }
        END {
            sorted = "sort -k 5"
            for (file in lines) {
                split(file, piece, "/")
                room = piece[1] "/" piece[2]
                room_lines[room] += lines[file]
                room_hits[room] += hits[file]
                total += lines[file]
                covered += hits[file]
                row(hits[file], lines[file], file, sorted)
            }
            close(sorted)
            print ""
            fflush()
            for (room in room_lines)
                row(room_hits[room], room_lines[room], room, sorted)
            close(sorted)
            row(covered, total, "all", "cat")
        }'
