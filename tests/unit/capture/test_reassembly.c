/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture/reassembly: bytes come out once and in order, and what is missing is said.
 */
#include <stdlib.h>

#include "../failmalloc.h"
#include "../tap.h"
#include "fnet/capture.h"

#define CLIENT                                                                                     \
    {                                                                                              \
        .address = {10, 0, 0, 1}, .port = 1111, .ip_version = 4                                    \
    }
#define SERVER                                                                                     \
    {                                                                                              \
        .address = {10, 0, 0, 2}, .port = 2222, .ip_version = 4                                    \
    }

/* What came out, as text: "0:bytes", "0:(3)" a gap, "0:(?)" an unknown one, "0:." an end. Bytes
 * that follow bytes are joined. */
static char came[4096];
static int last_side;

static void append(const char *text, size_t len)
{
    size_t used = strlen(came);

    if (used + len < sizeof came) {
        memcpy(came + used, text, len);
        came[used + len] = '\0';
    }
}

static void drain(struct fnet_reassembly *r)
{
    struct fnet_stretch s;

    while (fnet_reassembly_next(r, &s) == FNET_OK) {
        char text[64] = "";
        int side = (int)(s.flow->number * 2 + s.side);
        if (side != last_side)
            snprintf(text, sizeof text, "%s%d:", *came ? " " : "", side);
        last_side = side;
        append(text, strlen(text));
        switch (s.kind) {
        case FNET_STRETCH_BYTES:
            CHECK(s.bytes.len > 0);
            append((const char *)s.bytes.ptr, s.bytes.len);
            break;
        case FNET_STRETCH_GAP:
            if (s.lost == FNET_GAP_UNKNOWN)
                strcpy(text, "(?)");
            else
                snprintf(text, sizeof text, "(%llu)", (unsigned long long)s.lost);
            append(text, strlen(text));
            break;
        case FNET_STRETCH_END: append(".", 1); break;
        }
    }
}

static struct fnet_reassembly *begin(void)
{
    struct fnet_reassembly *r = NULL;

    CHECK_INT(fnet_reassembly_new(&r), FNET_OK);
    *came = '\0';
    last_side = -1;
    return r;
}

/* Push one segment from the client ('c') or server ('s'); FLAGS of "SFR". The payload is freed
 * before the next push: nothing may borrow it any longer. */
static void push(struct fnet_reassembly *r, char from, uint32_t sequence, const char *flags,
                 const char *text)
{
    const struct fnet_flow_end client = CLIENT, server = SERVER;
    char *payload = strdup(text);
    struct fnet_packet p = {
        .kind = FNET_PACKET_TCP,
        .src = from == 'c' ? client : server,
        .dst = from == 'c' ? server : client,
        .sequence = sequence,
        .is_syn = strchr(flags, 'S'),
        .is_fin = strchr(flags, 'F'),
        .is_rst = strchr(flags, 'R'),
        .payload = fnet_span_of(payload, strlen(text)),
    };
    CHECK_INT(fnet_reassembly_push(r, &p), FNET_OK);
    drain(r);
    free(payload);
}

static void end(struct fnet_reassembly *r, const char *expected)
{
    CHECK_STR(came, expected);
    fnet_reassembly_free(r);
}

static void test_order(void)
{
    CASE("a connection in order, from handshake to end");
    struct fnet_reassembly *r = begin();
    push(r, 'c', 99, "S", "");
    push(r, 's', 499, "S", "");
    push(r, 'c', 100, "", "");
    push(r, 'c', 100, "", "ask");
    push(r, 's', 500, "", "answer");
    push(r, 'c', 103, "F", "");
    push(r, 's', 506, "F", "!");
    end(r, "0:ask 1:answer 0:. 1:!.");

    CASE("bytes sent again are dropped, overlaps cut");
    r = begin();
    push(r, 'c', 99, "S", "");
    push(r, 'c', 99, "S", "");
    push(r, 'c', 100, "", "abc");
    push(r, 'c', 100, "", "abc");
    push(r, 'c', 102, "", "cde");
    push(r, 'c', 99, "", "x"); /* keep-alive */
    push(r, 'c', 100, "", "abcdefg");
    end(r, "0:abcdefg");

    CASE("an early segment waits for those before it");
    r = begin();
    push(r, 'c', 99, "S", "");
    push(r, 'c', 109, "", "jkl");
    push(r, 'c', 106, "", "ghi");
    push(r, 'c', 108, "", "ij");
    CHECK_STR(came, "");
    push(r, 'c', 100, "", "abcdef");
    end(r, "0:abcdefghijkl");

    CASE("sequence numbers wrap");
    r = begin();
    push(r, 'c', 0xfffffffc, "S", "");
    push(r, 'c', 1, "", "ef");
    push(r, 'c', 0xfffffffd, "", "abcd");
    push(r, 'c', 0xffffffff, "", "cdefg");
    push(r, 'c', 4, "F", "");
    end(r, "0:abcdefg.");

    CASE("data may come with the SYN");
    r = begin();
    push(r, 'c', 99, "S", "ab");
    push(r, 'c', 102, "", "c");
    end(r, "0:abc");
}

static void test_gaps(void)
{
    CASE("a capture that begins in mid-stream says so");
    struct fnet_reassembly *r = begin();
    push(r, 's', 7, "", "xy");
    push(r, 's', 9, "", "z");
    end(r, "0:(?)xyz");

    CASE("what never comes is a gap when the capture ends");
    r = begin();
    push(r, 'c', 99, "S", "");
    push(r, 'c', 103, "", "def");
    push(r, 'c', 110, "", "k");
    CHECK_STR(came, "");
    fnet_reassembly_finish(r);
    drain(r);
    end(r, "0:(3)def(4)k");

    CASE("bytes missing before a FIN are a gap, too");
    r = begin();
    push(r, 'c', 99, "S", "");
    push(r, 'c', 100, "", "a");
    push(r, 'c', 105, "F", "");
    CHECK_STR(came, "0:a");
    fnet_reassembly_finish(r);
    drain(r);
    end(r, "0:a(4).");

    CASE("a reset ends both sides and waits for nothing");
    r = begin();
    push(r, 'c', 99, "S", "");
    push(r, 's', 499, "S", "");
    push(r, 'c', 102, "", "cd");
    push(r, 's', 500, "R", "why");
    end(r, "0:(2)cd. 1:.");

    CASE("too many waiting segments end the patience");
    r = begin();
    push(r, 'c', 99, "S", "");
    for (unsigned i = 0; i < FNET_REORDER_MAX_SEGMENTS; i++)
        push(r, 'c', 102 + i, "", "x");
    CHECK_STR(came, "");
    push(r, 'c', 102 + FNET_REORDER_MAX_SEGMENTS, "", "y");
    CHECK(strncmp(came, "0:(2)xxx", 8) == 0);
    CHECK_INT(strlen(came), 5 + FNET_REORDER_MAX_SEGMENTS + 1);
    push(r, 'c', 100, "", "ab"); /* too late */
    CHECK_INT(strlen(came), 5 + FNET_REORDER_MAX_SEGMENTS + 1);
    fnet_reassembly_free(r);

    CASE("a number out of the window begins anew");
    r = begin();
    push(r, 'c', 99, "S", "");
    push(r, 'c', 100, "", "ab");
    push(r, 'c', 103, "", "lost");
    push(r, 'c', 0x70000000, "", "far");
    push(r, 'c', 0x70000003, "", "ther");
    end(r, "0:ab(?)farther");
}

static void test_snap_length(void)
{
    const struct fnet_flow_end client = CLIENT, server = SERVER;
    struct fnet_packet p = {
        .kind = FNET_PACKET_TCP,
        .src = client,
        .dst = server,
        .sequence = 100,
        .payload = fnet_span_of("abc", 3),
        .missing = 4,
    };

    CASE("what a snap length cut off is a gap of known length");
    struct fnet_reassembly *r = begin();
    push(r, 'c', 99, "S", "");
    CHECK_INT(fnet_reassembly_push(r, &p), FNET_OK);
    drain(r);
    p.sequence = 110;
    CHECK_INT(fnet_reassembly_push(r, &p), FNET_OK);
    drain(r);
    push(r, 'c', 107, "", "hij");
    push(r, 'c', 112, "", "cDEFGh");
    end(r, "0:abc(4)hijabc(4)h");
}

static void test_connections(void)
{
    CASE("ports used again are a new connection, the old one is flushed at the end");
    struct fnet_reassembly *r = begin();
    push(r, 'c', 99, "S", "");
    push(r, 'c', 100, "", "one");
    push(r, 'c', 104, "", "!");
    push(r, 'c', 5000, "S", "");
    push(r, 's', 7000, "S", "");
    push(r, 'c', 5001, "", "two");
    push(r, 's', 7001, "", "too");
    fnet_reassembly_finish(r);
    drain(r);
    end(r, "0:one 2:two 3:too 0:(1)!");
}

static void test_same_ports(void)
{
    const struct fnet_flow_end ends[] = {
        CLIENT,
        SERVER,
        {.address = {10, 0, 0, 3}, .port = 1111, .ip_version = 4},
        {.address = {10, 0, 0, 4}, .port = 2222, .ip_version = 4},
        {.address = {10, 0, 0, 1}, .port = 1111, .ip_version = 6},
    };
    static const struct {
        unsigned src, dst;
    } packets[] = {{0, 1}, {2, 1}, {1, 0}, {1, 2}, {0, 3}, {3, 0}, {4, 1}, {1, 0}, {2, 1}};
    struct fnet_reassembly *r = begin();

    CASE("connections with the same ports in turn are told apart by their addresses");
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
        const struct fnet_packet p = {
            .kind = FNET_PACKET_STRETCH,
            .src = ends[packets[i].src],
            .dst = ends[packets[i].dst],
            .payload = fnet_span_of(&"abcdefghi"[i], 1),
        };
        CHECK_INT(fnet_reassembly_push(r, &p), FNET_OK);
        drain(r);
    }
    end(r, "0:a 2:b 1:c 3:d 4:e 5:f 6:g 1:h 2:i");
}

static void test_stretches(void)
{
    struct fnet_packet p = {.kind = FNET_PACKET_STRETCH, .src = {.port = 1}};
    struct fnet_packet back = {.kind = FNET_PACKET_STRETCH, .dst = {.port = 1}};
    struct fnet_packet other = {.kind = FNET_PACKET_STRETCH, .src = {.port = 2}};

    CASE("stretches of a trace just follow each other, connection by connection");
    struct fnet_reassembly *r = begin();
    p.payload = fnet_span_of("ab", 2);
    back.payload = fnet_span_of("xyz", 3);
    other.payload = fnet_span_of("o", 1);
    CHECK_INT(fnet_reassembly_push(r, &p), FNET_OK);
    drain(r);
    CHECK_INT(fnet_reassembly_push(r, &back), FNET_OK);
    drain(r);
    CHECK_INT(fnet_reassembly_push(r, &other), FNET_OK);
    drain(r);
    CHECK_INT(fnet_reassembly_push(r, &p), FNET_OK);
    drain(r);
    end(r, "0:ab 1:xyz 2:o 0:ab");
}

static enum fnet_err run_two_packets(struct fnet_reassembly **r)
{
    const struct fnet_flow_end client = CLIENT, server = SERVER;
    struct fnet_packet p = {
        .kind = FNET_PACKET_TCP, .src = client, .dst = server, .sequence = 9, .is_syn = true};
    enum fnet_err err = fnet_reassembly_new(r);

    if (err == FNET_OK)
        err = fnet_reassembly_push(*r, &p);
    p.is_syn = false;
    p.sequence = 20;
    p.payload = fnet_span_of("early", 5);
    if (err == FNET_OK)
        err = fnet_reassembly_push(*r, &p);
    return err;
}

static void test_no_memory(void)
{
    unsigned n = 0;
    bool failed;

    CASE("without memory the packet is refused and nothing is left behind");
    do {
        struct fnet_reassembly *r = NULL;
        failmalloc_arm(++n);
        enum fnet_err err = run_two_packets(&r);
        failed = failmalloc_disarm();
        CHECK_INT(err, failed ? FNET_NOMEM : FNET_OK);
        fnet_reassembly_free(r);
    } while (failed);
}

int main(void)
{
    test_order();
    test_gaps();
    test_snap_length();
    test_connections();
    test_same_ports();
    test_stretches();
    test_no_memory();
    return tap_done();
}
