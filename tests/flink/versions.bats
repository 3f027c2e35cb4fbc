# SPDX-License-Identifier: Apache-2.0
# Several versions of Flink, FLINK_VERSIONS, and one process of fnet's.

bats_require_minimum_version 1.5.0

setup_file() {
    load ../helpers
    suite_limits 120
    export FLINK_VERSIONS=${FLINK_VERSIONS:-1.14.6 1.17.2 1.20.5 2.0.2 2.2.1 2.3.0}
    local version
    for version in $FLINK_VERSIONS; do
        find_flink "$version"
    done
}

setup() {
    load ../helpers
    need_nothing_missing
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    kill_started
}

@test "flink reads fnet-produce: every version from the same address at the same time" {
    local versions i
    local id='a0a1a2a3a4a5a6a7a8a9aaabacadaeaf#0@b0b1b2b3b4b5b6b7b8b9babbbcbdbebf'
    local rest=_c0c1c2c3c4c5c6c7c8c9cacbcccdcecf_3_1
    read -ra versions <<<"$FLINK_VERSIONS"
    seq "$(scaled 300000)" >input
    start_producer producer -n "${#versions[@]}" -s broadcast "$id$rest=input" </dev/null
    for i in "${!versions[@]}"; do
        # As this version prints the id.
        [[ ${versions[i]} == 1.1[1-5].* ]] && rest= || rest=_c0c1c2c3c4c5c6c7c8c9cacbcccdcecf_3_1
        start "consumer.$i" "$TOP/tests/flink/with_flink.sh" "${versions[i]}" live.Consume \
            "address=$address" "partitions=$id$rest" "subpartitions=$i-$i" "output=received.$i"
    done
    for i in "${!versions[@]}"; do
        finish "consumer.$i"
        assert_status 0
        cmp input "received.$i"
    done
    finish_well producer
}
