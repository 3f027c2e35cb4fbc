/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture/packet: link types, IP versions and TCP, and packets cut or broken anywhere.
 */
#include <stdlib.h>

#include "../tap.h"
#include "fnet/capture.h"

struct bytes {
    uint8_t at[512];
    size_t len;
};

static void hex(struct bytes *b, const char *text)
{
    char pair[3] = "";

    for (; *text; text++) {
        if (*text == ' ')
            continue;
        pair[0] = *text++;
        pair[1] = *text;
        b->at[b->len++] = (uint8_t)strtoul(pair, NULL, 16);
    }
}

#define ETHERNET "020000000002 020000000001"
/* 10.0.0.1:4660 > 10.0.0.2:6121, sequence 0x01020304, PSH ACK, with 5 bytes of payload. */
#define IPV4 "4500 002d 0000 4000 40 06 0000 0a000001 0a000002 "
#define IPV6                                                                                       \
    "60000000 0019 06 40 20010db8000000000000000000000001 20010db8000000000000000000000002 "
#define TCP "1234 17e9 01020304 00000000 5018 ffff 0000 0000 "
#define HELLO "68656c6c6f"

static enum fnet_err decode(uint32_t link, const struct bytes *b, size_t captured,
                            struct fnet_packet *p)
{
    struct fnet_captured c = {
        .has_time = true,
        .time_ns = 7,
        .link_type = link,
        .original_len = (uint32_t)b->len,
        .bytes = fnet_span_of(b->at, captured),
    };
    return fnet_packet_decode(&c, p);
}

static void check_ends(const struct fnet_packet *p, const char *src, const char *dst)
{
    char text[FNET_FLOW_END_TEXT_BYTES];

    fnet_flow_end_format(&p->src, text);
    CHECK_STR(text, src);
    fnet_flow_end_format(&p->dst, text);
    CHECK_STR(text, dst);
}

static void test_links(void)
{
    static const struct {
        const char *name;
        uint32_t link;
        const char *header;
        const char *ip;
        const char *src;
        const char *dst;
    } cases[] = {
        {"Ethernet", 1, ETHERNET "0800", IPV4, "10.0.0.1:4660", "10.0.0.2:6121"},
        {"Ethernet, IPv6", 1, ETHERNET "86dd", IPV6, "[2001:db8::1]:4660", "[2001:db8::2]:6121"},
        {"VLAN", 1, ETHERNET "8100 0064 0800", IPV4, "10.0.0.1:4660", "10.0.0.2:6121"},
        {"stacked VLANs", 1, ETHERNET "88a8 0064 8100 0065 86dd", IPV6, "[2001:db8::1]:4660",
         "[2001:db8::2]:6121"},
        {"BSD loopback, little-endian", 0, "02000000", IPV4, "10.0.0.1:4660", "10.0.0.2:6121"},
        {"BSD loopback, big-endian", 0, "0000001e", IPV6, "[2001:db8::1]:4660",
         "[2001:db8::2]:6121"},
        {"OpenBSD loopback", 108, "00000002", IPV4, "10.0.0.1:4660", "10.0.0.2:6121"},
        {"raw IP", 101, "", IPV6, "[2001:db8::1]:4660", "[2001:db8::2]:6121"},
        {"raw IPv4", 228, "", IPV4, "10.0.0.1:4660", "10.0.0.2:6121"},
        {"Linux cooked", 113, "0000 0001 0006 0200000000010000 0800", IPV4, "10.0.0.1:4660",
         "10.0.0.2:6121"},
        {"Linux cooked 2", 276, "86dd 0000 00000001 0304 00 06 0000000000000000", IPV6,
         "[2001:db8::1]:4660", "[2001:db8::2]:6121"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes b = {.len = 0};
        struct fnet_packet p;
        CASE(cases[i].name);
        hex(&b, cases[i].header);
        hex(&b, cases[i].ip);
        hex(&b, TCP HELLO);
        size_t len = b.len;
        hex(&b, "0000000000"); /* padding of the link: no payload */
        CHECK_INT(decode(cases[i].link, &b, b.len, &p), FNET_OK);
        CHECK_INT(p.kind, FNET_PACKET_TCP);
        check_ends(&p, cases[i].src, cases[i].dst);
        CHECK(p.has_time && p.time_ns == 7);
        CHECK_INT(p.sequence, 0x01020304);
        CHECK(!p.is_syn && !p.is_fin && !p.is_rst);
        CHECK_INT(p.payload.len, 5);
        CHECK_MEM(p.payload.ptr, "hello", 5);
        CHECK_INT(p.missing, 0);

        /* Cut by a snap length: inside the payload what is missing is known, before it nothing. */
        for (size_t cut = 0; cut < len; cut++) {
            enum fnet_err err = decode(cases[i].link, &b, cut, &p);
            if (cut < len - 5) {
                CHECK_INT(err, FNET_TRUNCATED);
            } else {
                CHECK_INT(err, FNET_OK);
                CHECK_INT(p.payload.len + p.missing, 5);
                CHECK_INT(p.missing, len - cut);
            }
        }
    }
    struct bytes b = {.len = 0};
    struct fnet_packet p;
    CASE("an unknown link type is told");
    hex(&b, IPV4 TCP);
    CHECK_INT(decode(147, &b, b.len, &p), FNET_BAD_KIND);
}

static void check_kind(const char *name, const char *text, enum fnet_packet_kind kind)
{
    struct bytes b = {.len = 0};
    struct fnet_packet p;

    CASE(name);
    hex(&b, text);
    CHECK_INT(decode(1, &b, b.len, &p), FNET_OK);
    CHECK_INT(p.kind, kind);
}

static void check_err(const char *name, const char *text, enum fnet_err expected)
{
    struct bytes b = {.len = 0};
    struct fnet_packet p = {.sequence = 77};

    CASE(name);
    hex(&b, text);
    CHECK_INT(decode(1, &b, b.len, &p), expected);
    CHECK_INT(p.sequence, 77);
}

#define IPV6_TO(len, next)                                                                         \
    ETHERNET "86dd 60000000" len next                                                              \
             "40 20010db8000000000000000000000001 20010db8000000000000000000000002 "

static void test_headers(void)
{
    check_kind("ARP is other traffic", ETHERNET "0806 0001080006040001", FNET_PACKET_OTHER);
    check_kind("an 802.3 length is other traffic", ETHERNET "0026 424203000000", FNET_PACKET_OTHER);
    check_kind("UDP is other traffic",
               ETHERNET "0800 4500 001c 0000 4000 40 11 0000 0a000001 0a000002 0035003500080000",
               FNET_PACKET_OTHER);
    check_kind("IPv4 options are skipped",
               ETHERNET "0800 4600 0031 0000 4000 40 06 0000 0a000001 0a000002 01010101" TCP HELLO,
               FNET_PACKET_TCP);
    check_kind("the first fragment is a fragment",
               ETHERNET "0800 4500 002d 0000 2000 40 06 0000 0a000001 0a000002" TCP HELLO,
               FNET_PACKET_FRAGMENT);
    check_kind("a later fragment is a fragment",
               ETHERNET "0800 4500 0019 0000 0001 40 06 0000 0a000001 0a000002" HELLO,
               FNET_PACKET_FRAGMENT);
    check_kind(
        "IPv6 extension headers of every kind lead to TCP",
        IPV6_TO("0049", "00") "2b00010400000000 3c00000000000000 3300010400000000"
                              "2c020000 00000000 00000000 00000000 0600000000000000" TCP HELLO,
        FNET_PACKET_TCP);
    check_kind("an IPv6 fragment is a fragment", IPV6_TO("0021", "2c") "0600000100000000" TCP HELLO,
               FNET_PACKET_FRAGMENT);
    check_kind("a total length of 0 stands for the whole packet",
               ETHERNET "0800 4500 0000 0000 4000 40 06 0000 0a000001 0a000002" TCP HELLO,
               FNET_PACKET_TCP);

    check_err("IPv4 in name only", ETHERNET "0800 6500 002d 0000 4000 40 06 0000 0a000001 0a000002",
              FNET_BAD_LENGTH);
    check_err("an IPv4 header below its minimum",
              ETHERNET "0800 4400 002d 0000 4000 40 06 0000 0a000001 0a000002" TCP HELLO,
              FNET_BAD_LENGTH);
    check_err("an IPv4 length above the packet",
              ETHERNET "0800 4500 002e 0000 4000 40 06 0000 0a000001 0a000002" TCP HELLO,
              FNET_BAD_LENGTH);
    check_err("an IPv4 length below its header",
              ETHERNET "0800 4500 0013 0000 4000 40 06 0000 0a000001 0a000002" TCP HELLO,
              FNET_BAD_LENGTH);
    check_err("a TCP header below its minimum",
              ETHERNET "0800" IPV4 "1234 17e9 01020304 00000000 4018 ffff 0000 0000" HELLO,
              FNET_BAD_LENGTH);
    check_err("a TCP header longer than its packet",
              ETHERNET "0800" IPV4 "1234 17e9 01020304 00000000 f018 ffff 0000 0000" HELLO,
              FNET_BAD_LENGTH);
    check_err("an endless chain of extension headers",
              IPV6_TO("0058", "3c") "3c00000000000000 3c00000000000000 3c00000000000000"
                                    "3c00000000000000 3c00000000000000 3c00000000000000"
                                    "3c00000000000000 3c00000000000000 3c00000000000000"
                                    "3c00000000000000 0600000000000000",
              FNET_BAD_LENGTH);
    check_err("an endless chain of VLAN tags",
              ETHERNET "8100 00008100 00008100 00008100 00008100 00008100 00008100 00008100"
                       "00008100 00008100 00008100 00008100",
              FNET_BAD_LENGTH);
}

static void test_flags(void)
{
    struct bytes b = {.len = 0};
    struct fnet_packet p;

    CASE("SYN, FIN and RST are told");
    hex(&b, "4500 0028 0000 4000 40 06 0000 0a000001 0a000002"
            "1234 17e9 01020304 00000000 5007 ffff 0000 0000");
    CHECK_INT(decode(101, &b, b.len, &p), FNET_OK);
    CHECK(p.is_syn && p.is_fin && p.is_rst);
    CHECK_INT(p.payload.len + p.missing, 0);
}

#define FNET_NAME "000c0004 666e6574 "

static void test_exported(void)
{
    struct bytes b = {.len = 0};
    struct fnet_packet p;

    CASE("a stretch of a trace over IPv4");
    hex(&b, FNET_NAME "00140004 7f000001 00150004 7f000002 00180004 00000002"
                      "00190004 00001234 001a0004 000017e9 00000000" HELLO);
    CHECK_INT(decode(252, &b, b.len, &p), FNET_OK);
    CHECK_INT(p.kind, FNET_PACKET_STRETCH);
    check_ends(&p, "127.0.0.1:4660", "127.0.0.2:6121");
    CHECK_INT(p.payload.len, 5);
    CHECK_MEM(p.payload.ptr, "hello", 5);
    for (size_t cut = 0; cut < b.len - 5; cut++)
        CHECK_INT(decode(252, &b, cut, &p), FNET_TRUNCATED);

    CASE("a stretch of a trace over a unix socket");
    b.len = 0;
    hex(&b, FNET_NAME "00180004 00000000 00190004 00000000 001a0004 00000003 00000000" HELLO);
    CHECK_INT(decode(252, &b, b.len, &p), FNET_OK);
    CHECK_INT(p.kind, FNET_PACKET_STRETCH);
    check_ends(&p, "unix:0", "unix:3");

    CASE("a stretch of a trace over IPv6, with a padded name and a tag that nobody reads");
    b.len = 0;
    hex(&b, "000c0008 666e657400000000 00240003 616263"
            "00160010 00000000000000000000000000000001 00170010 fe800000000000000000000000000001"
            "00180004 00000002 00190004 00001234 001a0004 000017e9 00000000");
    CHECK_INT(decode(252, &b, b.len, &p), FNET_OK);
    CHECK_INT(p.kind, FNET_PACKET_STRETCH);
    check_ends(&p, "[::1]:4660", "[fe80::1]:6121");
    CHECK_INT(p.payload.len, 0);

    CASE("what others export is other traffic");
    b.len = 0;
    hex(&b, "000c0004 68747470 00000000" HELLO);
    CHECK_INT(decode(252, &b, b.len, &p), FNET_OK);
    CHECK_INT(p.kind, FNET_PACKET_OTHER);

    CASE("an address of a wrong length is an error");
    b.len = 0;
    hex(&b, FNET_NAME "00140006 7f0000010000 00000000");
    CHECK_INT(decode(252, &b, b.len, &p), FNET_BAD_LENGTH);
}

int main(void)
{
    test_links();
    test_headers();
    test_flags();
    test_exported();
    return tap_done();
}
