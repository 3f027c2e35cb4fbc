# SPDX-License-Identifier: Apache-2.0
# What the command line tests share.
#
#     setup_file() { load ../helpers; suite_limits 60; }
#     setup()      { load ../helpers; }
#     teardown()   { kill_started; }

bats_require_minimum_version 1.5.0

# ---- amounts and deadlines -------------------------------------------------------------------

# The time one test may take, in seconds; by default 60, more under a sanitizer.
suite_limits() { # [SECONDS]
    export BATS_TEST_TIMEOUT=$((${1:-60} * SLOWNESS))
}

# A number of records or bytes, fewer where programs run slower.
scaled() { # N
    echo $(($1 / SLOWNESS))
}

# Run COMMAND again and again until it succeeds; fail when it has not within SECONDS. This is for
# state that nothing announces; what a program prints is better waited for by wait_line.
wait_until() { # SECONDS COMMAND...
    local deadline=$((SECONDS + $1 * SLOWNESS + 1))
    shift
    until "$@"; do
        if ((SECONDS >= deadline)); then
            printf 'waited too long for: %s\n' "$*" >&2
            return 1
        fi
        sleep 0.02
    done
}

# ---- background programs ---------------------------------------------------------------------

# Start COMMAND in the background with its output in $BATS_TEST_TMPDIR/NAME.out and NAME.err; its
# process id becomes $started and is remembered under NAME. Standard input is the caller's.
# Descriptor 9 is the test's own: what it holds open there stays its secret.
start() { # NAME COMMAND...
    local name=$1
    shift
    # Empty at once, and not only when the program gets to run: nobody shall see an earlier one's.
    : >"$BATS_TEST_TMPDIR/$name.out" 2>"$BATS_TEST_TMPDIR/$name.err"
    "$@" >"$BATS_TEST_TMPDIR/$name.out" 2>"$BATS_TEST_TMPDIR/$name.err" 3>&- 9>&- <&0 &
    started=$!
    started_pids[$name]=$started
}
declare -gA started_pids=()

# The beginning of FILE as text.
beginning() { # FILE
    head -c 64K -- "$1" | tr -d '\0'
}

# Wait for the program started as NAME to end; its exit status becomes $status, what it wrote
# (64 KiB of it) $output and $stderr.
finish() { # NAME
    status=0
    wait "${started_pids[$1]}" || status=$?
    unset "started_pids[$1]"
    output=$(beginning "$BATS_TEST_TMPDIR/$1.out")
    stderr=$(beginning "$BATS_TEST_TMPDIR/$1.err")
}

# The same, but it must end within SECONDS from now.
finish_within() { # SECONDS NAME
    wait_until "$1" has_ended "$2" || return 1
    finish "$2"
}

has_ended() { # NAME
    ! kill -s 0 "${started_pids[$1]}" 2>/dev/null
}

# Those started under NAMES end well: with status 0, and without a word.
finish_well() { # NAME...
    local name
    for name in "$@"; do
        finish "$name"
        assert_status 0
        assert_quiet
    done
}

# Send a signal to the program started as NAME.
signal() { # NAME SIGNAL
    kill -s "$2" "${started_pids[$1]}"
}

# For teardown: nothing that was started outlives its test.
kill_started() {
    local name
    for name in "${!started_pids[@]}"; do
        kill -s KILL "${started_pids[$name]}" 2>/dev/null || true
        wait "${started_pids[$name]}" 2>/dev/null || true
    done
    started_pids=()
}

# Wait until FILE holds a line that matches PATTERN (extended); print it.
wait_line() { # FILE PATTERN [SECONDS]
    wait_until "${3:-10}" grep -qsE -- "$2" "$1" || {
        printf '%s holds:\n' "$1" >&2
        cat -- "$1" >&2
        return 1
    }
    grep -m 1 -E -- "$2" "$1"
}

# Wait for the file that --port-file names, which appears whole; print its first address.
wait_port() { # FILE [SECONDS]
    wait_until "${2:-10}" test -s "$1" || return 1
    head -n 1 -- "$1"
}

# Start `fnet-produce OPTION...` on a port of its own choice, or where LISTEN says, with standard
# input from the caller; its address becomes $address, without a version in front.
start_producer() { # NAME OPTION...
    local name=$1
    shift
    rm -f -- "$BATS_TEST_TMPDIR/$name.port"
    start "$name" fnet-produce -l "${LISTEN:-127.0.0.1:0}" --port-file "$BATS_TEST_TMPDIR/$name.port" \
        "$@" <&0
    # shellcheck disable=SC2034 # for the test that calls
    address=$(wait_port "$BATS_TEST_TMPDIR/$name.port") || {
        cat -- "$BATS_TEST_TMPDIR/$name.err" >&2
        return 1
    }
    address=${address#*@}
}

# Start `fnet-consume ARGUMENT...`.
start_consumer() { # NAME ARGUMENT...
    start "$1" fnet-consume "${@:2}"
}

# Pass the file INPUT from one producer to one consumer of all it has, who end well; what the
# consumer wrote is in the file $received.
transfer() { # INPUT [PRODUCE-ARGUMENT]... -- [CONSUME-OPTION]...
    local input=$1 arguments=()
    shift
    while [[ $1 != -- ]]; do
        arguments+=("$1")
        shift
    done
    start_producer producer "${arguments[@]}" <"$input"
    start_consumer consumer "${@:2}" "$address"
    finish_well consumer producer
    # shellcheck disable=SC2034 # for the test that calls
    received=$BATS_TEST_TMPDIR/consumer.out
}

# A FIFO as endless standard input: what is written to descriptor 9 goes into the file $feed, whose
# end comes with `exec 9>&-`.
open_feed() {
    feed=$BATS_TEST_TMPDIR/feed
    mkfifo "$feed"
    exec 9<>"$feed"
}

# Play the script on standard input as fake_peer NAME: `connect ADDRESS` as a consumer, `listen` as a
# producer, whose address becomes $address.
start_peer() { # NAME connect ADDRESS | NAME listen
    local where=${3:-$BATS_TEST_TMPDIR/$1.port}
    [[ $2 == connect ]] || rm -f -- "$where"
    TIMEOUT=$((30 * SLOWNESS)) start "$1" "$BUILD/tests/peer/fake_peer" "$2" "$where" <&0
    # shellcheck disable=SC2034 # for the test that calls
    [[ $2 == connect ]] || address=$(wait_port "$where")
}

# Run COMMAND with MEGABYTES of address space; a sanitizer needs more than anyone would allow.
with_memory() { # MEGABYTES COMMAND...
    ((SLOWNESS > 1)) || ulimit -v "$(($1 * 1024))"
    exec "${@:2}"
}

# The most memory that the program started as NAME had so far, in KiB.
peak_memory() { # NAME
    sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB$/\1/p' "/proc/${started_pids[$1]}/status"
}

# ---- assertions ------------------------------------------------------------------------------
# Each prints what was found when it fails. They look at what `run` or `finish` left behind.

show_run() {
    printf 'status: %s\noutput: %s\nstderr: %s\n' "${status-}" "${output-}" "${stderr-}" >&2
    return 1
}

assert_status() { # NUMBER
    ((status == $1)) || { printf 'expected status %s\n' "$1" >&2; show_run; }
}

# All of standard output.
assert_output() { # TEXT
    [[ $output == "$1" ]] || { printf 'expected output: %s\n' "$1" >&2; show_run; }
}

# One whole line of standard output.
assert_line() { # TEXT
    grep -qxF -- "$1" <<<"$output" || { printf 'expected line: %s\n' "$1" >&2; show_run; }
}

# A line of standard output, or of standard error, that matches PATTERN (extended).
assert_match() { # PATTERN
    grep -qE -- "$1" <<<"$output" || { printf 'expected match: %s\n' "$1" >&2; show_run; }
}
assert_stderr_match() { # PATTERN
    grep -qE -- "$1" <<<"$stderr" || { printf 'expected on stderr: %s\n' "$1" >&2; show_run; }
}

# Exactly one line on standard error, and it matches PATTERN.
assert_one_complaint() { # PATTERN
    [[ $stderr != *$'\n'* && -n $stderr ]] || { printf 'expected one line on stderr\n' >&2; show_run; }
    assert_stderr_match "$1"
}

# Nothing on standard error.
assert_quiet() {
    [[ -z $stderr ]] || { printf 'expected nothing on stderr\n' >&2; show_run; }
}

# FILES together hold the lines of EXPECTED, in any order.
assert_same_lines() { # EXPECTED FILE...
    local expected=$1
    shift
    cmp <(sort -- "$expected") <(sort -- "$@") >&2
}

# ---- what may be missing ---------------------------------------------------------------------

# Skip the test unless every command is built.
need_commands() { # COMMAND...
    local command
    for command in "$@"; do
        [[ -x $BUILD/$command ]] || skip "$command is not built"
    done
}

# Skip the test unless every tool is installed.
need_tools() { # TOOL...
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || skip "$tool is not installed"
    done
}

# Compile what runs against this version of Flink. If the version cannot be had, $MISSING says so;
# what does not compile is a failure. For setup_file, in which bats can skip nothing.
find_flink() { # VERSION
    local status=0
    "$TOP/tests/flink/with_flink.sh" "$1" Decode events /dev/null || status=$?
    ((status != 69)) || export MISSING="Flink $1 cannot be had"
    ((status == 0 || status == 69))
}

# Skip the test if setup_file found something MISSING.
need_nothing_missing() {
    [[ -z ${MISSING:-} ]] || skip "$MISSING"
}
