#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Beside the programs of a build, in its folder `wrapped`, make scripts of the same names that run
# them under valgrind. A complaint is status 99, which no command uses.
#
#     tests/valgrind.sh build/valgrind
set -euo pipefail

build=$(cd "$1" && pwd)
rm -rf "$build/wrapped"

find "$build" -type f -executable ! -name '*.so*' | while read -r program; do
    script=$build/wrapped/${program#"$build"/}
    mkdir -p "$(dirname "$script")"
    cat >"$script" <<END
#!/bin/sh
exec valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \\
    '$program' "\$@"
END
    chmod +x "$script"
done
