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
    test_no_memory();
    return tap_done();
}
