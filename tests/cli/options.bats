# SPDX-License-Identifier: Apache-2.0
# Command lines of fnet-produce and fnet-consume: what is refused, what is understood.

bats_require_minimum_version 1.5.0

setup_file() {
    load ../helpers
    suite_limits 60
}

setup() {
    load ../helpers
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    kill_started
}

# Each line of standard input is `ARGUMENTS | MESSAGE`: COMMAND refuses these arguments with a line
# that holds MESSAGE, a hint at --help, and status 2, without reading its input.
refuses() { # COMMAND
    local command=$1 line arguments cases=0
    while IFS= read -r line; do
        eval "arguments=(${line%% | *})"
        run --separate-stderr "$command" "${arguments[@]}" <<<'unread'
        [[ $status == 2 && -z $output && ${#stderr_lines[@]} == 2 &&
            ${stderr_lines[0]} == "$command: "*"${line#* | }" &&
            ${stderr_lines[1]} == "Try '$command --help' for more information." ]] || {
            printf '%s %s\n' "$command" "${line%% | *}" >&2
            show_run
        }
        cases=$((cases + 1))
    done
    ((cases > 10))
}

@test "options: fnet-produce refuses what it does not understand: status 2" {
    refuses fnet-produce <<'END'
--nonsense | --nonsense: unknown option
-Q | -Q: unknown option
-n | -n: needs an argument, N
-n 0 | -n: out of range: '0'
-n 32769 | -n: out of range: '32769'
-n 4x | -n: not a number: '4x'
-n '' | -n: not a number: ''
-n -1 | -n: not a number: '-1'
-n 18446744073709551617 | -n: out of range: '18446744073709551617'
-l 99999 | -l: port out of range: '99999'
-l 127.0.0.1:99999 | -l: port out of range: '127.0.0.1:99999'
-l 127.0.0.1:65536 | -l: port out of range: '127.0.0.1:65536'
-l 127.0.0.1: | -l: port missing: '127.0.0.1:'
-l '' | -l: empty address: ''
-l '[::1' | -l: ']' missing: '[::1'
-l '[::1]:x' | -l: port is not a number: '[::1]:x'
-l 1.2.3 | -l: not an IPv4 address: '1.2.3'
-l unix: | -l: path missing: 'unix:'
-s nix | or index: 'nix'
-s hash:3 | -s: only shuffle takes a seed: 'hash:3'
-s shuffle:x | -s: not a number: 'shuffle:x'
-s forward -n 2 | --selector: forward has one subpartition, not 2
-s index -k 1,3 | --key: index takes its number from one range of fields
-k 0 | divided by commas: '0'
-k 2-1 | divided by commas: '2-1'
-f nix | -f: not a format (lines, nul, fixed:N, u32 or bytes): 'nix'
-f fixed | -f: not a format (lines, nul, fixed:N, u32 or bytes): 'fixed'
-f fixed:0 | -f: out of range: 'fixed:0'
-f elements | -f: not a format (lines, nul, fixed:N, u32 or bytes): 'elements'
-f bytes -s hash | --format: bytes has no records to take a key from
--max-parallelism 2 -n 4 -s hash | --max-parallelism: 2 key groups are too few for 4 subpartitions
--memory 5x | --memory: not a size (a number, and k, M or G): '5x'
--buffer-timeout 5 | --buffer-timeout: a duration needs a unit (ms, s, m or h): '5'
--buffer-timeout 5d | --buffer-timeout: not a duration (a number, and ms, s, m or h): '5d'
--wait 876001h | --wait: longer than 100 years (876000h): '876001h'
--wait 18446744073709551617ms | --wait: longer than 100 years (876000h): '18446744073709551617ms'
--segment-size 3 | --segment-size: out of range: '3'
--ready-fd 77 | --ready-fd: not an open file descriptor: '77'
--wait | --wait: needs an argument, D
--progress=maybe | --progress: not auto, always or never: 'maybe'
--quiet=3 | --quiet: takes no argument: '--quiet=3'
a a=file | a: given twice
a b | only one partition can be read from standard input
a/b | a/b: not a partition name ([A-Za-z0-9._-]+) or Flink result partition id
a= | a=: the file's name is missing
END
}

@test "options: fnet-consume refuses what it does not understand: status 2" {
    refuses fnet-consume <<'END'
--tag | no endpoint is given
--nonsense | --nonsense: unknown option
127.0.0.1:99999 | 127.0.0.1:99999: port out of range
127.0.0.1:0 | 127.0.0.1:0: port 0 cannot be connected to
127.0.0.1:1x | 127.0.0.1:1x: port is not a number
127.0.0.1/ | not a partition name ([A-Za-z0-9._-]+) or Flink result partition id
127.0.0.1/a/b | not a partition name ([A-Za-z0-9._-]+) or Flink result partition id
127.0.0.1/a: | as in 0-3,7
127.0.0.1/a:x | as in 0-3,7
127.0.0.1/a:3-1 | as in 0-3,7
127.0.0.1/a:32768 | as in 0-3,7
127.0.0.1/a:1,2,1 | 127.0.0.1/a:1,2,1: a subpartition is given twice
unix: | unix:: path missing
127.0.0.1 --next | no endpoint is given for one of the gates
--next 127.0.0.1 | no endpoint is given for one of the gates
-o x 127.0.0.1 --next -o x 127.0.0.1 | x: the same file is written in another place too
-b 0 --floating-buffers 0 127.0.0.1 | --floating-buffers: with 0 exclusive buffers there must be some
-b x 127.0.0.1 | -b: not a number: 'x'
--tag -f bytes 127.0.0.1 | --tag: bytes records cannot carry one
--tag -f fixed:3 127.0.0.1 | --tag: fixed records cannot carry one
--retry always 127.0.0.1 | --retry: not a number: 'always'
--request-backoff 1s 127.0.0.1 | --request-backoff: not MIN:MAX: '1s'
--request-backoff 2s:1s 127.0.0.1 | --request-backoff: MAX is less than MIN: '2s:1s'
--request-backoff 1s:876001h 127.0.0.1 | --request-backoff: longer than 100 years (876000h): '1s:876001h'
--request-backoff 876001h:1s 127.0.0.1 | --request-backoff: longer than 100 years (876000h): '876001h:1s'
--limit -1 127.0.0.1 | --limit: not a number: '-1'
--max-connections 0 127.0.0.1 | --max-connections: out of range: '0'
END
}

@test "options: every duration is 100 years at most: more is status 2" {
    local command option cases=0
    for command in fnet-produce fnet-consume; do
        for option in $("$command" --help | sed -n 's/^ *\(--[a-z-]*\) D .*/\1/p'); do
            run --separate-stderr -2 "$command" --dry-run "$option" 876001h 127.0.0.1 </dev/null
            [[ ${stderr_lines[0]} == \
                "$command: $option: longer than 100 years (876000h): '876001h'" ]] || show_run
            run --separate-stderr -0 "$command" --dry-run "$option" 876000h 127.0.0.1 </dev/null
            assert_quiet
            cases=$((cases + 1))
        done
    done
    ((cases == 7))
    fnet-consume --dry-run --request-backoff 876000h:876000h 127.0.0.1
}

@test "options: fnet-produce waits the longest durations, which do not come round to none" {
    local longest=876000h
    seq 3 >input
    start_producer producer --wait "$longest" --idle-timeout "$longest" \
        --stats stats --stats-interval "$longest" <input
    # Steps that both sides see, after the end of the input.
    fnet-consume --list "$address"
    fnet-consume --list "$address"
    start_consumer consumer "$address"
    finish_well consumer producer
    cmp input consumer.out
    [[ $(wc -l <stats) == 1 ]]
    open_feed
    start_producer producer --buffer-timeout "$longest" --stats stats --stats-interval 5ms <"$feed"
    start_consumer consumer "$address"
    echo 1 >&9
    wait_line stats '"numRecordsOut":1,'
    echo 2 >&9
    wait_line stats '"numRecordsOut":2,'
    exec 9>&-
    finish_well consumer producer
    # Both in the one buffer that the end of the input sent.
    tail -n 1 stats | grep -q '"numBuffersOut":1,'
}

@test "options: fnet-consume waits the longest durations, which do not come round to none" {
    local longest=876000h
    open_feed
    start_producer producer --buffer-timeout 1ms <"$feed"
    # Two that wait to ask once more for a partition that is not there, what it has and its records;
    # without a wait they would give up before the other's records have come.
    start_consumer asking -v --request-backoff "$longest:$longest" "$address/nix"
    wait_line asking.err 'connected to'
    start_consumer consumer --connect-timeout "$longest" --idle-timeout "$longest" \
        --request-backoff "$longest:$longest" --stats stats --stats-interval "$longest" \
        "$address/nix:0" "$address/main:0"
    echo 1 >&9
    wait_line consumer.out '^1$'
    echo 2 >&9
    wait_line consumer.out '^2$'
    [[ ! -s stats ]]
    signal asking TERM
    finish asking
    assert_status 143
    signal consumer TERM
    finish consumer
    assert_status 143
    assert_quiet
    [[ $(wc -l <stats) == 1 ]]
}

@test "options: those of later versions are unknown, not ignored" {
    local option
    for option in --barrier-every=5 --checkpoint-interval=1s --workers=2 \
        --key-file=k --spill-dir=/tmp --on-event=true --schedule=eager -Kkey; do
        run --separate-stderr -2 fnet-produce "$option" </dev/null
        assert_stderr_match ': unknown option$'
    done
    run --separate-stderr -2 fnet-produce -T blocking </dev/null
    for option in --exec=cat --alignment=unaligned --checkpoint-log=f \
        --send-event=x --until-checkpoint=3 --key-file=k; do
        run --separate-stderr -2 fnet-consume "$option" 127.0.0.1
        assert_stderr_match ': unknown option$'
    done
}

@test "options: FNET_LOOP is epoll or poll: status 2" {
    local command
    export FNET_LOOP=kqueue
    for command in 'fnet-produce --wait 0 -l 127.0.0.1:0' 'fnet-consume 127.0.0.1:1'; do
        run --separate-stderr -2 bash -c "$command </dev/null"
        assert_stderr_match '^fnet-(produce|consume): FNET_LOOP: neither epoll nor poll$'
    done
}

@test "options: an address that other hosts reach needs --plaintext" {
    run --separate-stderr -2 fnet-produce -l 0.0.0.0:0 </dev/null
    assert_stderr_match '^fnet-produce: --listen: 0\.0\.0\.0:0 is reachable from other hosts, .*--plaintext allows it$'
    run --separate-stderr -2 fnet-consume 192.0.2.1
    assert_stderr_match '^fnet-consume: 192\.0\.2\.1: on another host, .*--plaintext allows it$'
    run --separate-stderr -0 fnet-produce --plaintext --wait 0 -l 0.0.0.0:0 --dry-run </dev/null
    assert_line 'listen: 0.0.0.0:0'
}

@test "options: memory below the least that the formula needs is refused with what is needed" {
    run --separate-stderr -2 fnet-produce -n 4 --memory 4k --segment-size 1k </dev/null
    assert_stderr_match '^fnet-produce: --memory: room for 4 buffers of 1024 bytes, at least 5 are needed .*: 5120 bytes$'
    # That much is enough.
    seq 1000 >input
    transfer input -n 4 --memory 5k --segment-size 1k -- --segment-size 1k
    assert_same_lines input "$received"
}

@test "options: --help and --version go to standard output, and say what they are" {
    local command
    for command in fnet-produce fnet-consume; do
        run --separate-stderr -0 "$command" --help
        assert_quiet
        assert_match "^Usage: $command \[OPTION\]"
        run --separate-stderr -0 "$command" --version
        assert_quiet
        assert_output "$command $(sed -n 's/^#define FNET_VERSION "\(.*\)"/\1/p' "$TOP/lib/include/fnet/fnet.h")"
        run --separate-stderr bash -c "'$command' --help >/dev/full"
        assert_status 6
        assert_one_complaint "^$command: standard output: write: No space left on device\$"
    done
}

@test "options: fnet-produce --dry-run prints addresses, partitions, routing and escapes, and stops" {
    run --separate-stderr -0 fnet-produce -n 4 -s hash -k 1,3- -t '\t' -d '\x07' a=x b \
        --dry-run -l 127.0.0.1:7 -l unix:socket <<<'unread'
    assert_quiet
    assert_line 'listen: 127.0.0.1:7'
    assert_line 'listen: unix:socket'
    assert_match '^partition: a, from x, id [0-9a-f]{32}#0@[0-9a-f]{32}_[0-9a-f]{32}_0_0$'
    assert_match '^partition: b, from standard input, id '
    assert_line 'type: pipelined-bounded'
    assert_line 'format: lines, delimiter \x07'
    assert_line 'selector: hash over 4 subpartitions, key: fields 1,3- between \x09, key groups: 128'
    assert_line 'buffers: 32 of 32768 bytes (1.0 MiB), at least 5 for each partition'
    assert_line 'buffer timeout: 100 ms'
    [[ ! -e socket ]]
}

@test "options: fnet-consume --dry-run prints gates, partitions and addresses, and connects to nobody" {
    run --separate-stderr -0 fnet-consume --dry-run --tag -d '\t' 127.0.0.1:1/a:0-2,7 \
        --next -o file -f u32 --limit 9 unix:socket/b
    assert_quiet
    assert_line 'gate 1: to standard output'
    assert_line '  format: lines, delimiter \t, tagged'
    assert_match '^  partition: a of 127\.0\.0\.1:1, id .*, subpartitions 0,1,2,7$'
    assert_line '  address: 127.0.0.1:1'
    assert_line 'gate 2: to file'
    assert_line '  format: u32, big-endian lengths'
    assert_line '  limit: 9 records'
    assert_match '^  partition: b of unix:socket, id .*, subpartitions all$'
    [[ ! -e file ]]
}

@test "options: the id of a partition by name is the same on both sides, and in Flink's text form" {
    local id
    id=$(fnet-produce --dry-run a </dev/null | sed -n 's/.*, id //p')
    fnet-consume --dry-run 127.0.0.1/a | grep -qF ", id $id, "
    seq 3 >input
    start_producer producer "$id" <input
    start_consumer consumer "$address/a:0"
    finish_well consumer producer
    cmp input consumer.out
    start_producer producer a <input
    start_consumer consumer "$address/$id:0"
    finish_well consumer producer
    cmp input consumer.out
}

@test "options: standard input is not read by fnet-consume, nor by fnet-produce of a file" {
    seq 3 >input
    printf 'a\nb\n' >stdin
    exec 8<stdin
    start_producer producer "main=$PWD/input" <&8
    start_consumer consumer "$address" <&8
    finish_well consumer producer
    run -0 cat <&8
    assert_output $'a\nb'
    exec 8<&-
    cmp input consumer.out
}
