/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture/pcapng: sections, interfaces and packets in both byte orders, and blocks that are wrong.
 */
#include "../failmalloc.h"
#include "captured_file.h"

/* Begin a block; its length is filled in by end_block(). */
static size_t begin_block(struct file *f, uint32_t type)
{
    size_t at = f->len;

    put(f, type, 4);
    put(f, 0, 4);
    return at;
}

static void end_block(struct file *f, size_t at)
{
    uint32_t len = (uint32_t)(f->len + 4 - at);
    size_t end = f->len;

    put(f, len, 4);
    f->len = at + 4;
    put(f, len, 4);
    f->len = end + 4;
}

static void put_section(struct file *f)
{
    size_t at = begin_block(f, 0x0a0d0d0a);

    put(f, 0x1a2b3c4d, 4);
    put(f, 1, 2);
    put(f, 0, 2);
    put(f, UINT64_MAX, 8);
    end_block(f, at);
}

/* TSRESOL 0xff, OFFSET 0: without those options. */
static void put_interface(struct file *f, uint16_t link_type, uint32_t snap_len, uint8_t tsresol,
                          int64_t offset_s)
{
    size_t at = begin_block(f, 1);

    put(f, link_type, 2);
    put(f, 0, 2);
    put(f, snap_len, 4);
    put(f, 2, 2); /* if_name, skipped */
    put(f, 3, 2);
    put_text(f, "lo0", 4);
    if (tsresol != 0xff) {
        put(f, 9, 2);
        put(f, 1, 2);
        put(f, tsresol, 1);
        put(f, 0, 3);
    }
    if (offset_s) {
        put(f, 14, 2);
        put(f, 8, 2);
        put(f, (uint64_t)offset_s, 8);
    }
    put(f, 0, 4);
    end_block(f, at);
}

static void put_enhanced(struct file *f, uint32_t interface, uint64_t stamp, const char *text,
                         uint32_t original)
{
    size_t at = begin_block(f, 6);

    put(f, interface, 4);
    put(f, stamp >> 32, 4);
    put(f, stamp & 0xffffffff, 4);
    put(f, strlen(text), 4);
    put(f, original, 4);
    put_text(f, text, (strlen(text) + 3) & ~(size_t)3);
    end_block(f, at);
}

static void test_pcapng(void)
{
    CASE("pcapng interfaces have their own link types, resolutions and offsets");
    for (int big = 0; big < 2; big++) {
        struct file f = {.is_big_endian = big};
        put_section(&f);
        put_interface(&f, 1, 0, 0xff, 0);
        put_interface(&f, 101, 0, 9, 0);
        put_interface(&f, 113, 0, 0x8a, -100);
        put_interface(&f, 0, 0, 127, 0);
        size_t at = begin_block(&f, 5); /* interface statistics: skipped */
        put(&f, 0, 8);
        put_text(&f, "whatever", 400);
        end_block(&f, at);
        put_enhanced(&f, 0, 1700000000000005, "micro", 5);
        put_enhanced(&f, 1, 1700000000000005000, "nano!", 60);
        put_enhanced(&f, 2, 1024 * 1100 + 512, "1/1024", 6);
        put_enhanced(&f, 3, 77, "timeless", 8);
        check_file(&f, "1700000000000005000 link 1 of 5: micro\n"
                       "1700000000000005000 link 101 of 60: nano!\n"
                       "1000500000000 link 113 of 6: 1/1024\n"
                       "-1 link 0 of 8: timeless\n");
    }

    CASE("simple packets are of the first interface, whose snap length cuts them");
    struct file f = {.is_big_endian = true};
    put_section(&f);
    put_interface(&f, 101, 6, 0xff, 0);
    size_t at = begin_block(&f, 3);
    put(&f, 100, 4);
    put_text(&f, "simple", 8);
    end_block(&f, at);
    at = begin_block(&f, 2); /* obsolete: 2 bytes of interface, 2 of drops */
    put(&f, 0, 2);
    put(&f, 9, 2);
    put(&f, 0, 4);
    put(&f, 7, 4);
    put(&f, 3, 4);
    put(&f, 3, 4);
    put_text(&f, "old", 4);
    end_block(&f, at);

    CASE("a new section may turn the byte order and forgets the interfaces");
    f.is_big_endian = false;
    put_section(&f);
    put_interface(&f, 1, 0, 0xff, 0);
    put_enhanced(&f, 0, 1, "other", 5);
    check_file(&f, "-1 link 101 of 100: simple\n"
                   "7000 link 101 of 3: old\n"
                   "1000 link 1 of 5: other\n");
}

static void test_bad(void)
{
    struct file f = {.is_big_endian = false};
    struct listing l;

    CASE("what is wrong with a pcapng block is said");
    put_section(&f);               /* 28 bytes */
    put_interface(&f, 1, 0, 6, 0); /* 20 + 8 + 8 + 4 */
    put_enhanced(&f, 0, 1, "packet", 6);
    CHECK_INT(err_with(&f, 8, 0x12345678), FNET_BAD_MAGIC);
    CHECK_INT(err_with(&f, 12, 2), FNET_BAD_MAGIC);
    CHECK_INT(err_with(&f, 24, 32), FNET_BAD_LENGTH); /* trailing length */
    CHECK_INT(err_with(&f, 32, 8), FNET_BAD_LENGTH);  /* shorter than a block */
    CHECK_INT(err_with(&f, 32, 41), FNET_BAD_LENGTH); /* not a multiple of 4 */
    CHECK_INT(err_with(&f, 32, UINT32_MAX - 3), FNET_BAD_LENGTH);
    CHECK_INT(err_with(&f, 44, 0x00f00002), FNET_BAD_LENGTH); /* option longer than the block */
    CHECK_INT(err_with(&f, 76, 1), FNET_BAD_VALUE);           /* no such interface */
    CHECK_INT(err_with(&f, 88, 100), FNET_BAD_LENGTH);        /* packet longer than the block */
    CHECK_INT(err_with(&f, 88, UINT32_MAX), FNET_BAD_LENGTH);

    CASE("a block nobody wants may be as long as it likes");
    f.len = 28;
    put(&f, 0x0bad, 4);
    put(&f, 0xfffffff0, 4);
    list(&l, f.bytes, f.len, 3);
    CHECK_INT(l.err, FNET_AGAIN);
    CHECK(l.is_mid_record);
    CHECK_INT(l.offset, f.len);

    CASE("more interfaces than the limit are refused");
    struct fnet_savefile *s;
    enum fnet_err err = FNET_AGAIN;
    struct fnet_captured c;
    CHECK_INT(fnet_savefile_new(&s), FNET_OK);
    f.len = 0;
    put_section(&f);
    CHECK_INT(fnet_savefile_feed(s, fnet_span_of(f.bytes, f.len)), FNET_OK);
    f.len = 0;
    put_interface(&f, 1, 0, 6, 0);
    for (unsigned i = 0; i < FNET_SAVEFILE_INTERFACES_MAX + 1 && err == FNET_AGAIN; i++) {
        CHECK_INT(fnet_savefile_feed(s, fnet_span_of(f.bytes, f.len)), FNET_OK);
        err = fnet_savefile_next(s, &c);
    }
    CHECK_INT(err, FNET_BAD_LENGTH);
    CHECK_INT(fnet_savefile_next(s, &c), FNET_STATE);
    fnet_savefile_free(s);
}

static void test_no_memory(void)
{
    struct file f = {.is_big_endian = false};
    unsigned n = 0;

    CASE("without memory the parser says so and leaves nothing behind");
    put_section(&f);
    put_interface(&f, 1, 0, 6, 0);
    put_enhanced(&f, 0, 1, "packet", 6);
    bool failed;
    do {
        struct fnet_savefile *s = NULL;
        struct fnet_captured c;
        failmalloc_arm(++n);
        enum fnet_err err = fnet_savefile_new(&s);
        if (err == FNET_OK)
            err = fnet_savefile_feed(s, fnet_span_of(f.bytes, f.len));
        if (err == FNET_OK)
            err = fnet_savefile_next(s, &c);
        failed = failmalloc_disarm();
        CHECK_INT(err, failed ? FNET_NOMEM : FNET_OK);
        fnet_savefile_free(s);
    } while (failed);
}

int main(void)
{
    test_pcapng();
    test_bad();
    test_no_memory();
    return tap_done();
}
