# SPDX-License-Identifier: Apache-2.0
# The examples of the manual pages and of README.md run as they stand.

bats_require_minimum_version 1.5.0

setup_file() {
    load ../helpers
    suite_limits 60
}

setup() {
    load ../helpers
    cd "$BATS_TEST_TMPDIR" || return 1
}

# Take the literal blocks under EXAMPLES of PAGE apart into page-1.sh, page-2.sh, ...
extract_page() { # PAGE
    awk '
        /^\.Sh /                          { in_examples = /EXAMPLES/ }
        in_examples && /^\.Bd -literal/   { n++; in_block = 1; next }
        /^\.Ed/                           { in_block = 0 }
        in_block { gsub(/\\e/, "\\"); gsub(/\\&/, ""); print > ("page-" n ".sh") }
    ' "$TOP/man/$1"
}

# The sh blocks of README.md, but those that need root, a fixed port, an installed library, or one
# that fnet is built without.
extract_readme() {
    awk '
        /^```sh$/ { n++; in_block = 1; next }
        /^```$/   { in_block = 0 }
        in_block  { print > ("readme-" n ".sh") }
    ' "$TOP/README.md"
    grep -lE 'tcpdump|localhost|make |cc ' readme-*.sh | xargs -r rm --
    fnet-produce --compress lz4 --dry-run >/dev/null 2>&1 ||
        grep -lF -- '--compress lz4' readme-*.sh | xargs -r rm --
}

# Run each script in a directory of its own; all must succeed.
run_each() { # LEAST SCRIPT...
    local least=$1 script
    shift
    (($# >= least)) || { printf 'only %d examples\n' "$#" >&2; return 1; }
    for script in "$@"; do
        mkdir "${script%.sh}"
        (cd "${script%.sh}" && timeout $((20 * SLOWNESS)) bash -e "../$script" </dev/null) \
            >"$script.out" 2>&1 3>&- || {
            printf '%s failed:\n' "$script" >&2
            cat "$script" "$script.out" >&2
            return 1
        }
    done
}

@test "examples: those of fnet-produce(1) run" {
    extract_page fnet-produce.1
    run_each 3 page-*.sh
}

@test "examples: those of fnet-consume(1) run" {
    extract_page fnet-consume.1
    run_each 3 page-*.sh
}

@test "examples: those of fnet-inspect(1) run" {
    extract_page fnet-inspect.1
    run_each 3 page-*.sh
}

@test "examples: those of README.md run" {
    extract_readme
    run_each 3 readme-*.sh
}
