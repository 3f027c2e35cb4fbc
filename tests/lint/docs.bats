# SPDX-License-Identifier: Apache-2.0
# --help, the man page and the three completions of a command name the same options, and every
# page states the exit statuses that cmd/cli/exitcode.h defines.

bats_require_minimum_version 1.5.0

setup() {
    load ../helpers
}

# Skip while a command does not exist yet.
need_source() { # COMMAND
    [[ -f $TOP/cmd/$1.c ]] || skip "there is no cmd/$1.c"
    need_commands "$1"
}

# Options, one a line, sorted: `-l` and `--listen`.
options_of_help() { # COMMAND
    "$1" --help | grep -oE '^ *(-[A-Za-z0-9], *)?(--?[A-Za-z0-9][a-z0-9-]*)' |
        tr -s ' ,' '\n' | grep -E '^-' | sort -u
}

# In mdoc an option is `.It Fl l , Fl -listen Ar ADDR`.
options_of_man() { # COMMAND
    grep -E '^\.It Fl' "$TOP/man/$1.1" | tr ' ' '\n' |
        awk 'was_flag { print "-" $0 } { was_flag = $0 == "Fl" }' | sort -u
}

# What bash offers after `COMMAND -`.
options_of_bash() { # COMMAND
    bash -c '
        source "$1"
        COMP_WORDS=("$2" -) COMP_CWORD=1 COMP_LINE="$2 -" COMP_POINT=$((${#2} + 2)) COMPREPLY=()
        "$(complete -p "$2" | sed -E "s/.* -F ([^ ]+) .*/\1/")" "$2" - "$2"
        printf "%s\n" "${COMPREPLY[@]%=}"' - "$TOP/completions/bash/$1" "$1" | tr -d ' ' | sort -u
}

# The specifications of _arguments: '(-l --listen)'{-l+,--listen=}'[text]:address'.
options_of_zsh() { # COMMAND
    grep -v '^ *#' "$TOP/completions/zsh/_$1" |
        sed -E -e 's/_arguments( +-[A-Za-z])*//' -e 's/\[[^]]*\]//g' | tr -s " {},()'\"*:" '\n' |
        sed -nE 's/^(--[A-Za-z0-9][a-z0-9-]*[a-z0-9]|-[A-Za-z0-9])[=+-]*$/\1/p' | sort -u
}

# complete -c COMMAND -s l -l listen ...
options_of_fish() { # COMMAND
    grep -E "^complete -c $1 " "$TOP/completions/fish/$1.fish" |
        sed -E "s/'[^']*'|\"[^\"]*\"//g" |
        grep -oE -- ' -[sl] [A-Za-z0-9][a-z0-9-]*' |
        sed -E -e 's/ -s /-/' -e 's/ -l /--/' | sort -u
}

compare_all() { # COMMAND
    need_source "$1"
    local expected source
    expected=$(options_of_help "$1")
    [[ $(wc -l <<<"$expected") -ge 4 ]]
    for source in man bash zsh fish; do
        diff -u --label "$1 --help" --label "$source" \
            - <("options_of_$source" "$1") <<<"$expected" >&2
    done
}

@test "docs: fnet-produce: help, page and completions name the same options" {
    compare_all fnet-produce
}

@test "docs: fnet-consume: help, page and completions name the same options" {
    compare_all fnet-consume
}

@test "docs: fnet-inspect: help, page and completions name the same options" {
    compare_all fnet-inspect
}

@test "docs: every page of a command states the exit statuses of exitcode.h" {
    [[ -f $TOP/cmd/cli/exitcode.h ]] || skip 'there is no cmd/cli/exitcode.h'
    local source name expected
    # 128 stands for 128 and the number of a signal.
    expected=$(sed -nE 's/^ *EXIT_[A-Z_]+ = ([0-9]+),.*/\1/p' "$TOP/cmd/cli/exitcode.h" | sort -un)
    [[ -n $expected ]]
    for source in "$TOP"/cmd/fnet-*.c; do
        [[ -f $source ]] || skip 'there is no command yet'
        name=$(basename "$source" .c)
        diff -u --label exitcode.h --label "$name.1" - <(
            sed -n '/^\.Sh EXIT STATUS/,/^\.Sh ENV/p' "$TOP/man/$name.1" |
                sed -nE 's/^\.It (Li )?([0-9]+)( ?\+ ?n)?$/\2/p' | sort -un
        ) <<<"$expected" >&2
    done
}

@test "docs: completions are valid scripts of their shells" {
    local file shell
    for file in "$TOP"/completions/bash/fnet-*; do
        [[ ! -e $file ]] || bash -n "$file"
    done
    for shell in zsh fish; do
        command -v "$shell" >/dev/null || continue
        for file in "$TOP/completions/$shell"/*; do
            [[ ! -e $file ]] || "$shell" -n "$file"
        done
    done
}

@test "docs: pages are clean mdoc" {
    need_tools mandoc
    local pages=()
    mapfile -t pages < <("$TOP/tests/lint/sources.sh" man)
    [[ ${#pages[@]} -gt 0 ]] || skip 'there is no page yet'
    (cd "$TOP" && mandoc -T lint -W warning "${pages[@]}") >&2
}
