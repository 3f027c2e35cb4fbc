/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: write a savefile into memory, and list the packets that come out of it.
 */
#ifndef TESTS_CAPTURED_FILE_H
#define TESTS_CAPTURED_FILE_H

#include <stdlib.h>

#include "../tap.h"
#include "fnet/capture.h"

/* A file being written by a test, in either byte order. */
struct file {
    bool is_big_endian;
    uint8_t bytes[4096];
    size_t len;
};

__attribute__((unused)) static void put(struct file *f, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        size_t shift = 8 * (f->is_big_endian ? width - 1 - i : i);
        f->bytes[f->len++] = (uint8_t)(value >> shift);
    }
}

__attribute__((unused)) static void put_text(struct file *f, const char *text, size_t padded)
{
    size_t len = strlen(text);

    memcpy(f->bytes + f->len, text, len);
    memset(f->bytes + f->len + len, 0, padded - len);
    f->len += padded;
}

/* Every packet of a file as a line of text each, cut off behind LIMIT packets. */
struct listing {
    char text[2048];
    enum fnet_err err;
    bool is_mid_record;
    uint64_t offset;
};

__attribute__((unused)) static enum fnet_err list_packets(struct fnet_savefile *s,
                                                          struct listing *l)
{
    struct fnet_captured c;
    enum fnet_err err;

    while ((err = fnet_savefile_next(s, &c)) == FNET_OK) {
        size_t used = strlen(l->text);
        snprintf(l->text + used, sizeof l->text - used, "%lld link %u of %u: %.*s\n",
                 c.has_time ? (long long)c.time_ns : -1LL, c.link_type, c.original_len,
                 (int)c.bytes.len, (const char *)c.bytes.ptr);
    }
    return err;
}

/* Parse BYTES in pieces of at most PIECE bytes. */
__attribute__((unused)) static void list(struct listing *l, const uint8_t *bytes, size_t len,
                                         size_t piece)
{
    struct fnet_savefile *s;

    memset(l, 0, sizeof *l);
    if (!CHECK_INT(fnet_savefile_new(&s), FNET_OK))
        return;
    l->err = FNET_AGAIN;
    for (size_t at = 0; at < len && l->err == FNET_AGAIN; at += piece) {
        size_t n = len - at < piece ? len - at : piece;
        CHECK_INT(fnet_savefile_feed(s, fnet_span_of(bytes + at, n)), FNET_OK);
        l->err = list_packets(s, l);
    }
    l->is_mid_record = fnet_savefile_is_mid_record(s);
    l->offset = fnet_savefile_offset(s);
    fnet_savefile_free(s);
}

/* The same at once, byte by byte, and cut at every place: whole records come out as in one piece.
 */
__attribute__((unused)) static void check_file(const struct file *f, const char *expected)
{
    struct listing l;

    list(&l, f->bytes, f->len, f->len);
    CHECK_INT(l.err, FNET_AGAIN);
    CHECK(!l.is_mid_record);
    CHECK_INT(l.offset, f->len);
    CHECK_STR(l.text, expected);
    list(&l, f->bytes, f->len, 1);
    CHECK_INT(l.err, FNET_AGAIN);
    CHECK(!l.is_mid_record);
    CHECK_STR(l.text, expected);
    for (size_t len = 0; len < f->len; len++) {
        list(&l, f->bytes, len, 7);
        CHECK_INT(l.err, FNET_AGAIN);
        CHECK(strncmp(l.text, expected, strlen(l.text)) == 0);
        CHECK(l.is_mid_record || l.offset == len);
    }
}

/* Set the 4 bytes at AT to VALUE and say what becomes of the file. */
__attribute__((unused)) static enum fnet_err err_with(const struct file *f, size_t at,
                                                      uint32_t value)
{
    struct file bad = *f;
    struct listing l;

    bad.len = at;
    put(&bad, value, 4);
    list(&l, bad.bytes, f->len, f->len);
    return l.err;
}

#endif
