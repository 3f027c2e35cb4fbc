# SPDX-License-Identifier: Apache-2.0
# The arrows between rooms, and that the check which guards them can say no.

bats_require_minimum_version 1.5.0

setup() {
    load ../helpers
    tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree"/lib/{base,wire,io,include/fnet} "$tree"/cmd/{cli,inspect}
}

# Put a file with these lines into the made-up tree.
plant() { # PATH LINE...
    local path=$tree/$1
    shift
    printf '%s\n' "$@" >"$path"
}

layers() {
    run --separate-stderr "$TOP/tests/lint/layers.sh" "$tree"
}

@test "layers: every include of this tree follows the table" {
    run "$TOP/tests/lint/layers.sh"
    assert_status 0
}

@test "layers: an arrow downward and a room's own headers are fine" {
    plant lib/wire/frame.h ''
    plant lib/wire/frame.c '#include "fnet/wire.h"' '#include "frame.h"' '#include "fnet/list.h"'
    plant cmd/inspect/print.h ''
    plant cmd/fnet-inspect.c '#include "inspect/print.h"' '#include "fnet/fnet.h"'
    layers
    assert_status 0
    assert_output ''
}

@test "layers: an arrow upward is reported with its place" {
    plant lib/base/err.c '' '#include "fnet/wire.h"'
    layers
    assert_status 1
    assert_output 'lib/base/err.c:2: base may not include fnet/wire.h'
}

@test "layers: a public header belongs to its room" {
    plant lib/include/fnet/wire.h '#include "fnet/io.h"'
    layers
    assert_status 1
    assert_output 'lib/include/fnet/wire.h:1: wire may not include fnet/io.h'
}

@test "layers: nobody reaches into the private headers of another room" {
    plant lib/wire/frame.h ''
    plant lib/io/loop.c '#include "../wire/frame.h"' '#include "frame.h"'
    layers
    assert_status 1
    assert_line 'lib/io/loop.c:1: a private header of another folder: ../wire/frame.h'
    assert_line 'lib/io/loop.c:2: no such header in lib/io/: frame.h'
}

@test "layers: sockets and libsodium stay in their rooms" {
    plant lib/io/loop.c '#include <sys/epoll.h>'
    plant lib/wire/frame.c '#include <sys/epoll.h>' '#include <sodium.h>'
    layers
    assert_status 1
    assert_output 'lib/wire/frame.c:1: <sys/epoll.h> is not for this file
lib/wire/frame.c:2: <sodium.h> is not for this file'
}

@test "layers: an unknown room, and cli using a command's folder, are reported" {
    mkdir -p "$tree/lib/util"
    plant lib/util/misc.c ''
    plant cmd/cli/options.c '#include "inspect/print.h"'
    layers
    assert_status 1
    assert_line 'lib/util/misc.c: util is no room of layers.txt'
    assert_line 'cmd/cli/options.c:1: cmd/cli may not include inspect/print.h'
}
