/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture/savefile: pcap in both byte orders, files cut anywhere, and files that are none.
 */
#include "../failmalloc.h"
#include "captured_file.h"

static void put_pcap_header(struct file *f, uint32_t magic, uint32_t link_type)
{
    put(f, magic, 4);
    put(f, 2, 2);
    put(f, 4, 2);
    put(f, 0, 8);
    put(f, 65535, 4);
    put(f, link_type, 4);
}

static void put_pcap_packet(struct file *f, uint32_t s, uint32_t fraction, const char *text,
                            uint32_t original)
{
    put(f, s, 4);
    put(f, fraction, 4);
    put(f, strlen(text), 4);
    put(f, original, 4);
    put_text(f, text, strlen(text));
}

static void test_pcap(void)
{
    static const struct {
        bool is_big_endian;
        uint32_t magic;
        uint32_t fraction;
    } cases[] = {
        {false, 0xa1b2c3d4, 5},
        {true, 0xa1b2c3d4, 5},
        {false, 0xa1b23c4d, 5000},
        {true, 0xa1b23c4d, 5000},
    };

    CASE("pcap files of both magics in both byte orders say the same");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct file f = {.is_big_endian = cases[i].is_big_endian};
        put_pcap_header(&f, cases[i].magic, 101);
        put_pcap_packet(&f, 1700000000, cases[i].fraction, "first", 5);
        put_pcap_packet(&f, 0, 0, "", 0);
        put_pcap_packet(&f, 0xffffffff, 0, "cut", 1500);
        CHECK(fnet_savefile_is_magic(f.bytes));
        check_file(&f, "1700000000000005000 link 101 of 5: first\n"
                       "0 link 101 of 0: \n"
                       "4294967295000000000 link 101 of 1500: cut\n");
    }

    CASE("bits above the link type tell about checksums and are ignored");
    struct file f = {.is_big_endian = false};
    put_pcap_header(&f, 0xa1b2c3d4, 0x14000001);
    put_pcap_packet(&f, 1, 0, "longer than it was", 3);
    check_file(&f, "1000000000 link 1 of 18: longer than it was\n");
}

static void test_bad(void)
{
    struct file f = {.is_big_endian = false};
    struct listing l;

    CASE("what is no savefile is refused at its first bytes");
    list(&l, (const uint8_t *)"GET / HTTP/1.1\r\n", 16, 1);
    CHECK_INT(l.err, FNET_BAD_MAGIC);
    CHECK(!fnet_savefile_is_magic((const uint8_t *)"GET "));
    CHECK(fnet_savefile_is_magic((const uint8_t *)"\x0a\x0d\x0d\x0a"));

    CASE("an absurd packet length is an error with its offset, and nothing is allocated for it");
    put_pcap_header(&f, 0xa1b2c3d4, 1);
    put_pcap_packet(&f, 1, 2, "good", 4);
    put_pcap_packet(&f, 1, 2, "bad", 3);
    CHECK_INT(err_with(&f, 52, FNET_SAVEFILE_RECORD_MAX_BYTES + 1), FNET_BAD_LENGTH);
    CHECK_INT(err_with(&f, 52, UINT32_MAX), FNET_BAD_LENGTH);
    CHECK_INT(err_with(&f, 52, FNET_SAVEFILE_RECORD_MAX_BYTES), FNET_AGAIN);
    CHECK_INT(err_with(&f, 4, 3), FNET_BAD_MAGIC); /* version 3 */
}

/* Write LEN bytes into the parser's own space; returns where that was. */
static uint8_t *fill(struct fnet_savefile *s, const uint8_t *bytes, size_t len)
{
    uint8_t *ptr = NULL;
    size_t room = 0;

    CHECK_INT(fnet_savefile_space(s, &ptr, &room), FNET_OK);
    CHECK(room >= FNET_SAVEFILE_SPACE_BYTES / 2);
    memcpy(ptr, bytes, len);
    fnet_savefile_commit(s, len);
    return ptr;
}

static void test_space(void)
{
    struct file f = {.is_big_endian = false};
    struct listing l = {.err = FNET_OK};
    struct fnet_savefile *s;
    struct fnet_captured c;
    size_t room;

    CASE("bytes may be written into place, and packets lie where they were");
    put_pcap_header(&f, 0xa1b2c3d4, 1);
    put_pcap_packet(&f, 1, 2, "first", 5);
    put_pcap_packet(&f, 1, 2, "second", 6);
    CHECK_INT(fnet_savefile_new(&s), FNET_OK);
    uint8_t *ptr = fill(s, f.bytes, 50);
    CHECK_INT(fnet_savefile_next(s, &c), FNET_OK);
    CHECK(c.bytes.ptr == ptr + 40);
    CHECK_MEM(c.bytes.ptr, "first", 5);
    CHECK_INT(fnet_savefile_next(s, &c), FNET_AGAIN);

    CASE("what is cut goes on in the next space, or with what is fed");
    fill(s, f.bytes + 50, 10);
    CHECK_INT(fnet_savefile_next(s, &c), FNET_AGAIN);
    CHECK_INT(fnet_savefile_feed(s, fnet_span_of(f.bytes + 60, f.len - 60)), FNET_OK);
    CHECK_INT(list_packets(s, &l), FNET_AGAIN);
    CHECK_STR(l.text, "1000002000 link 1 of 6: second\n");
    CHECK_INT(fnet_savefile_offset(s), f.len);

    CASE("a dead parser has no space");
    fill(s, (const uint8_t *)"................", 16);
    CHECK_INT(fnet_savefile_next(s, &c), FNET_BAD_LENGTH);
    CHECK_INT(fnet_savefile_space(s, &ptr, &room), FNET_STATE);
    CHECK_INT(fnet_savefile_feed(s, fnet_span_of("", 0)), FNET_STATE);
    fnet_savefile_free(s);
}

/* A packet of LEN bytes, and one behind it, in pieces that fill the space. */
static void test_long_packet(size_t len)
{
    struct file f = {.is_big_endian = false};
    struct fnet_savefile *s;
    struct fnet_captured c;
    size_t left = len;
    enum fnet_err err;

    put_pcap_header(&f, 0xa1b2c3d4, 1);
    put(&f, 0, 8);
    put(&f, len, 4);
    put(&f, len, 4);
    CHECK_INT(fnet_savefile_new(&s), FNET_OK);
    fill(s, f.bytes, f.len);
    while ((err = fnet_savefile_next(s, &c)) == FNET_AGAIN && left > 0) {
        uint8_t *ptr;
        size_t room;
        if (!CHECK_INT(fnet_savefile_space(s, &ptr, &room), FNET_OK))
            break;
        /* No more memory than twice what came. */
        CHECK(room <= FNET_SAVEFILE_SPACE_BYTES + (len - left) + f.len);
        size_t n = left < room ? left : room;
        memset(ptr, 'x', n);
        fnet_savefile_commit(s, n);
        left -= n;
    }
    CHECK_INT(err, FNET_OK);
    CHECK_INT(c.bytes.len, len);
    CHECK(c.bytes.ptr[0] == 'x' && c.bytes.ptr[len - 1] == 'x');
    CHECK_INT(fnet_savefile_next(s, &c), FNET_AGAIN);
    CHECK(!fnet_savefile_is_mid_record(s));
    fnet_savefile_free(s);
}

static void test_long_packets(void)
{
    CASE("the space grows for a packet that is longer, as its bytes come");
    test_long_packet(FNET_SAVEFILE_SPACE_BYTES / 2);
    test_long_packet(FNET_SAVEFILE_SPACE_BYTES - 1);
    test_long_packet(FNET_SAVEFILE_SPACE_BYTES);
    test_long_packet(3 * FNET_SAVEFILE_SPACE_BYTES + 1);
    test_long_packet(FNET_SAVEFILE_RECORD_MAX_BYTES);
}

static void test_no_memory(void)
{
    struct file f = {.is_big_endian = false};
    unsigned n = 0;

    CASE("without memory the parser says so and leaves nothing behind");
    put_pcap_header(&f, 0xa1b2c3d4, 1);
    put_pcap_packet(&f, 1, 2, "packet", 6);
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
    test_pcap();
    test_bad();
    test_space();
    test_long_packets();
    test_no_memory();
    return tap_done();
}
