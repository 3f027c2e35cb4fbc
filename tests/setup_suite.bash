# SPDX-License-Identifier: Apache-2.0
# Before the first test of a file: the built commands come first in PATH, and nothing of the
# caller's environment changes what they do.

setup_suite() {
    local top
    top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    export TOP=$top
    export BUILD=${BUILD:-$top/build/debug}
    export PATH=$BUILD:$PATH
    export SLOWNESS=${SLOWNESS:-1}
    export LC_ALL=C.UTF-8 TZ=UTC
    export BATS_TEST_TIMEOUT=$((60 * SLOWNESS))
    unset FNET_KEY_FILE FNET_LOOP NO_COLOR CDPATH GREP_OPTIONS
    # A make that runs this suite must not lend its flags to one that a test starts.
    unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
}
