# SPDX-License-Identifier: Apache-2.0
# What the project asks of its own sources and no compiler checks.

bats_require_minimum_version 1.5.0

setup() {
    load ../helpers
    cd "$TOP" || return 1
    mapfile -t c_files < <(tests/lint/sources.sh c)
    mapfile -t shell_files < <(tests/lint/sources.sh shell)
}

# Fail and print the lines when PATTERN (Perl) is found in a file.
nowhere() { # PATTERN FILE...
    local pattern=$1
    shift
    ! grep -nPH -- "$pattern" "$@" >&2
}

# The arguments that begin with PREFIX, into $picked.
pick() { # PREFIX FILE...
    local prefix=$1 file
    shift
    picked=()
    for file in "$@"; do
        [[ $file != "$prefix"* ]] || picked+=("$file")
    done
}

@test "style: every source says its licence in its first two lines" {
    local file
    for file in "${c_files[@]}" "${shell_files[@]}" Makefile; do
        head -n 2 "$file" | grep -qF 'SPDX-License-Identifier: Apache-2.0' ||
            { printf '%s: no SPDX line\n' "$file" >&2; return 1; }
    done
}

@test "style: every C file says what it is for right below its licence" {
    local file
    for file in "${c_files[@]}"; do
        [[ $(sed -n 2p "$file") == '/*' ]] ||
            { printf '%s: no sentence of purpose\n' "$file" >&2; return 1; }
    done
}

@test "style: every file of lib has its unit test, and every unit test is run" {
    local source room name missing=0
    for source in lib/*/*.c; do
        room=$(basename "$(dirname "$source")")
        name=$(basename "$source" .c)
        [[ -f tests/unit/$room/test_$name.c ]] ||
            { printf '%s: no tests/unit/%s/test_%s.c\n' "$source" "$room" "$name" >&2; missing=1; }
    done
    for source in tests/unit/*/test_*.c; do
        room=$(basename "$(dirname "$source")")
        name=$(basename "$source" .c)
        grep -qsF "\"\$BUILD/tests/unit/$room/$name\"" "tests/unit/$room.bats" ||
            { printf '%s: not run by tests/unit/%s.bats\n' "$source" "$room" >&2; missing=1; }
    done
    [[ $missing -eq 0 ]]
}

@test "style: file names are unique" {
    local twice
    twice=$(printf '%s\n' "${c_files[@]}" "${shell_files[@]}" | sed 's|.*/||' | sort | uniq -d)
    [[ -z $twice ]] || { printf 'twice: %s\n' "$twice" >&2; return 1; }
}

@test "style: no macro hides a return or a goto" {
    local file found
    for file in "${c_files[@]}"; do
        found=$(sed -e ':more' -e '/\\$/{N;s/\\\n//;b more' -e '}' "$file" |
            grep -nE '^[ \t]*#[ \t]*define\b.*\b(return|goto)\b') || continue
        printf '%s: %s\n' "$file" "$found" >&2
        return 1
    done
}

@test "style: nothing is marked as unfinished" {
    nowhere '\b(TO''DO|FIX''ME|XX''X|HA''CK)\b' "${c_files[@]}" "${shell_files[@]}" Makefile
}

@test "style: C lines are at most 100 long, without tabs and blanks at the end" {
    nowhere '^.{101,}|\t|[ \t]$' "${c_files[@]}"
}

@test "style: types are struct tags, not typedefs" {
    nowhere '^\s*typedef\b' "${c_files[@]}"
}

@test "style: the library neither prints nor exits nor reads the environment" {
    pick lib/ "${c_files[@]}"
    nowhere '\b(printf|vprintf|fprintf|puts|perror|exit|_exit|abort|getenv|secure_getenv)\(' \
        "${picked[@]}"
}

@test "style: only headers that are installed export functions" {
    local header headers installed
    installed=$(sed -n 's/^LIB_HEADERS := //p' Makefile)
    headers=()
    for header in lib/include/fnet/*.h; do
        [[ " $installed " == *" $(basename "$header") "* ]] || headers+=("$header")
    done
    [[ ${#headers[@]} -eq 0 ]] || nowhere '^FNET_API\b' "${headers[@]}"
}

@test "style: every global name of the library begins with fnet_" {
    need_tools nm
    [[ -f $BUILD/libfnet.a ]] || skip 'the library is not built here'
    local names
    names=$(nm -g --defined-only "$BUILD"/libfnet.a "$BUILD"/libfnet-core.a |
        awk 'NF == 3 && $3 !~ /^(fnet_|_)/ { print $3 }')
    [[ -z $names ]] || { printf '%s\n' "$names" >&2; return 1; }
}

@test "style: tests neither sleep nor use a port of their own choice" {
    pick tests/unit/ "${c_files[@]}"
    [[ ${#picked[@]} -eq 0 ]] || nowhere '\b(sleep|usleep|nanosleep)\(' "${picked[@]}"
    pick tests/cli/ "${shell_files[@]}"
    # A port at the end of an address that is listened at: what is only parsed (a table of mistakes,
    # a dry run) has no port of its own.
    [[ ${#picked[@]} -eq 0 ]] ||
        nowhere '\bsleep [0-9.]|^(?!.*(\||--dry-run)).*(-l|--listen)[ =](\S*:)?[1-9][0-9]*(?![0-9.:\]])' \
            "${picked[@]}"
}
