# SPDX-License-Identifier: Apache-2.0
# `make install` and `make uninstall`, and that another program can use what is installed.

bats_require_minimum_version 1.5.0

setup_file() {
    load ../helpers
    suite_limits 120
}

setup() {
    load ../helpers
    need_tools make pkg-config cc
    ((SLOWNESS == 1)) || skip 'what is installed is not a sanitizer build'
    dest=$BATS_TEST_TMPDIR/dest
    export PKG_CONFIG_PATH=$dest/opt/fnet/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest
}

into_dest() { # TARGET
    make -s -C "$TOP" BUILD="$BUILD" VARIANT="$(basename "$BUILD")" PREFIX=/opt/fnet \
        DESTDIR="$dest" "$1"
}

@test "install: uninstall removes to empty what install put there" {
    into_dest install
    [[ -f $dest/opt/fnet/lib/libfnet.a && -f $dest/opt/fnet/include/fnet/wire.h ]]
    local source
    for source in "$TOP"/cmd/fnet-*.c; do
        [[ ! -f $source ]] || [[ -x $dest/opt/fnet/bin/$(basename "$source" .c) ]]
    done
    into_dest uninstall
    run find "$dest" ! -type d
    assert_output ''
    [[ ! -e $dest/opt/fnet/include/fnet ]]
}

@test "install: the rooms above the library stay private" {
    into_dest install
    run ls "$dest/opt/fnet/include/fnet"
    assert_output "$(sed -n 's/^LIB_HEADERS := //p' "$TOP/Makefile" | tr ' ' '\n' | sort)"
}

@test "install: the shared library shows public names only, and carries its version" {
    into_dest install
    cd "$dest/opt/fnet/lib"
    [[ $(readlink libfnet.so) == libfnet.so.0 ]]
    run bash -c "nm -D --defined-only libfnet.so | awk '{ print \$3 }' | grep -vE '^fnet_[a-z]'"
    assert_output ''
    run nm -D --defined-only libfnet.so
    assert_match ' T fnet_message_encode$'
    run pkg-config --modversion fnet
    assert_output "$(sed -n 's/^#define FNET_VERSION "\(.*\)"/\1/p' "$TOP/lib/include/fnet/fnet.h")"
}

@test "install: a program built with pkg-config encodes a credit and decodes it again" {
    into_dest install
    cat >"$BATS_TEST_TMPDIR/credit.c" <<'END'
#include <fnet/fnet.h>
#include <stdio.h>

int main(void)
{
    struct fnet_message sent = {.type = FNET_ADD_CREDIT, .credit = 7};
    struct fnet_message received;
    uint8_t frame[64];
    struct fnet_writer w = fnet_writer_of(frame, sizeof frame);
    size_t used;

    sent.receiver.bytes[0] = 0xAB;
    if (fnet_message_encode(fnet_dialect_newest(), &sent, &w) != FNET_OK)
        return 1;
    size_t len = sizeof frame - fnet_writer_left(&w);
    if (fnet_message_decode(fnet_dialect_newest(), fnet_span_of(frame, len), &used, &received) != FNET_OK)
        return 2;
    printf("%s %d %02x %zu %zu\n", fnet_message_type_name(received.type), (int)received.credit,
           received.receiver.bytes[0], len, used);
    return 0;
}
END
    local how
    for how in --static ''; do
        # shellcheck disable=SC2046,SC2086 # words are wanted
        cc -Wall -Wextra -Werror -o "$BATS_TEST_TMPDIR/credit" "$BATS_TEST_TMPDIR/credit.c" \
            ${how:+-Wl,-Bstatic} $(pkg-config --cflags --libs $how fnet) ${how:+-Wl,-Bdynamic}
        LD_LIBRARY_PATH=$dest/opt/fnet/lib run "$BATS_TEST_TMPDIR/credit"
        assert_status 0
        assert_output 'AddCredit 7 ab 29 29'
    done
}
