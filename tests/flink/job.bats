# SPDX-License-Identifier: Apache-2.0
# fnet-inspect finds in the traffic of a real job, of Flink's version FLINK_VERSION, what Flink says
# about it.

bats_require_minimum_version 1.5.0

setup_file() {
    load ../helpers
    suite_limits 120
    export FLINK_VERSION=${FLINK_VERSION:-2.2.1}
    find_flink "$FLINK_VERSION"
}

setup() {
    load ../helpers
    need_commands fnet-inspect
    need_tools tcpdump python3 unshare ip
    need_nothing_missing
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    kill_started
}

# The traffic of a job becomes the file capture, what Flink says about the job the file report.out.
capture_job() { # OPTION...
    for _ in 1 2 3; do
        start report "$TOP/tests/flink/capture_job.sh" "$FLINK_VERSION" capture parallelism=4 "$@"
        finish report
        # Packets were lost; a busy moment costs some.
        ((status == 75)) || break
    done
    ((status != 77)) || skip "nothing can be captured: ${stderr-}"
    assert_status 0
}

# All of the capture into the file messages, what is said about it into the file complaints.
decode() {
    fnet-inspect --json --strict --records --serde 'tuple(long,int,string)' capture \
        >messages 2>complaints || { cat complaints >&2; return 1; }
}

# Flink says the same about the job.
compare() {
    tcpdump -nnSr capture 2>/dev/null >packets
    "$TOP/tests/flink/compare_job.py" report.out messages packets >&2
}

# How many messages have TEXT in them.
count() { # TEXT
    grep -cF -- "$1" messages || true
}

# Older versions have no such jobs.
need_minor() { # MINOR-OF-1 WHAT
    if [[ $FLINK_VERSION =~ ^1\.([0-9]+)\. ]] && ((BASH_REMATCH[1] < $1)); then
        skip "$2 came with Flink 1.$1"
    fi
}

@test "job: aligned checkpoints" {
    capture_job mode=aligned records=20000 burst=20 segment=4096
    decode
    [[ ! -s complaints ]]
    compare
    # At least one checkpoint over eight channels, and all of a kind that blocks them.
    (($(count '"type":"CheckpointBarrier"') >= 8))
    # Before 1.11 it was the only kind, and not said.
    [[ $FLINK_VERSION =~ ^1\.([5-9]|10)\. ||
        $(count '"alignment":"ALIGNED"') == $(count '"type":"CheckpointBarrier"') ]]
}

@test "job: unaligned checkpoints" {
    need_minor 11 'what overtakes records'
    capture_job mode=unaligned records=20000 burst=20 segment=4096
    decode
    [[ ! -s complaints ]]
    compare
    (($(count '"type":"CheckpointBarrier"') >= 8))
    [[ $(count '"alignment":"UNALIGNED"') == $(count '"type":"CheckpointBarrier"') ]]
    # Some overtook records.
    grep -F '"type":"CheckpointBarrier"' messages | grep -qv '"backlog":0,'
}

@test "job: batch" {
    need_minor 12 'batch mode'
    capture_job mode=batch records=20000
    decode
    [[ ! -s complaints ]]
    compare
    [[ $(count '"type":"CheckpointBarrier"') == 0 ]]
}

@test "job: batch, one consumer reads ranges of subpartitions" {
    need_minor 17 'adaptive batch jobs'
    capture_job mode=batch records=20000 adaptive=true
    decode
    [[ ! -s complaints ]]
    compare
    [[ $(grep -c ^consumer report.out) == 1 ]]
    # Flink 1 asks for each subpartition.
    [[ $FLINK_VERSION != 1.* ]] || return 0
    (($(count '"last_subpartition":3') > 0))
    # The ends of several subpartitions share a frame.
    grep -qE '"events":\[\{"type":"EndOfData"[^]]*\{"type":"EndOfData"' messages
}

@test "job: batch, compressed" {
    need_minor 12 'batch mode'
    capture_job mode=batch records=20000 compression=true
    decode
    [[ ! -s complaints ]]
    compare
    (($(count '"compressed":true') > 0))
    [[ $(count '"compressed":true') == $(count '"codec":"lz4"') ]]
}
