/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect/record_counter: counted records are those that a deserializer takes.
 */
#include "inspect/record_counter.h"

#include <stdlib.h>

#include "../tap.h"

struct stream {
    uint8_t bytes[4096];
    size_t len;
    size_t records;
};

static void put(struct stream *s, size_t len)
{
    fnet_store_be32(s->bytes + s->len, (uint32_t)len);
    /* A body that looks like a length. */
    memset(s->bytes + s->len + FNET_RECORD_HEADER_BYTES, 0, len);
    s->len += FNET_RECORD_HEADER_BYTES + len;
    s->records++;
}

/* Count S in pieces of PIECE bytes, each from where the one before ended. */
static struct record_count count(const struct stream *s, size_t piece)
{
    struct record_count c = record_count_from((struct record_place){.body_left = 0});
    uint64_t records = 0;

    for (size_t at = 0; at < s->len && !c.is_bad; at += piece) {
        size_t n = s->len - at < piece ? s->len - at : piece;
        c = record_count_from(c.to);
        record_count_add(&c, fnet_span_of(s->bytes + at, n));
        records += c.records;
    }
    c.records = records;
    return c;
}

static void check_pieces(const struct stream *s)
{
    for (size_t piece = 1; piece <= s->len; piece++) {
        const struct record_count c = count(s, piece);
        CHECK(!c.is_bad);
        CHECK_INT(c.records, s->records);
        CHECK(!record_place_is_mid_record(&c.to));
    }
}

static void test_pieces(void)
{
    struct stream s = {.len = 0};

    CASE("records of every length are counted however they are cut");
    for (size_t len = 0; len < 30; len++)
        put(&s, len);
    check_pieces(&s);

    CASE("rows of equal records, too, and what stands out in them");
    s = (struct stream){.len = 0};
    for (size_t i = 0; i < 60; i++)
        put(&s, i % 23 == 19 ? 3 : 8);
    for (size_t i = 0; i < 40; i++)
        put(&s, 0);
    for (size_t i = 0; i < 3; i++)
        put(&s, 100);
    check_pieces(&s);
}

static void test_against_deserializer(void)
{
    uint32_t random = 1;

    CASE("a deserializer takes as many");
    for (unsigned round = 0; round < 50; round++) {
        struct stream s = {.len = 0};
        struct fnet_record_deserializer d;
        struct fnet_span records[7];
        size_t taken = 0, n;
        while (s.len < 3000) {
            random = random * 1103515245 + 12345;
            put(&s, (random >> 16) % (round % 10 + 1) * (round % 7 + 1));
        }
        s.len -= (random >> 8) % 9;
        fnet_record_deserializer_init(&d, NULL);
        fnet_record_deserializer_feed(&d, fnet_span_of(s.bytes, s.len));
        while (fnet_record_deserializer_next(&d, records, 7, &n) == FNET_OK)
            taken += n;
        const struct record_count c = count(&s, 1 + (random >> 12) % 200);
        CHECK_INT(c.records, taken);
        CHECK_INT(record_place_is_mid_record(&c.to), fnet_record_deserializer_is_mid_record(&d));
        fnet_record_deserializer_clear(&d);
    }
}

static void test_bad(void)
{
    CASE("an impossible length ends the count, wherever it is cut");
    for (size_t before = 0; before < 20; before++) {
        struct stream s = {.len = 0};
        for (size_t i = 0; i < before; i++)
            put(&s, 2);
        fnet_store_be32(s.bytes + s.len, FNET_RECORD_MAX_BYTES + 1u);
        s.len += 40;
        for (size_t piece = 1; piece <= s.len; piece++) {
            const struct record_count c = count(&s, piece);
            CHECK(c.is_bad);
            CHECK_INT(c.records, before);
        }
    }

    CASE("the longest record is waited for");
    struct stream s = {.len = 0};
    fnet_store_be32(s.bytes, FNET_RECORD_MAX_BYTES);
    s.len = 100;
    const struct record_count c = count(&s, 7);
    CHECK(!c.is_bad);
    CHECK_INT(c.records, 0);
    CHECK_INT(c.to.body_left, FNET_RECORD_MAX_BYTES - 96);
    CHECK(record_place_is_mid_record(&c.to));
}

int main(void)
{
    test_pieces();
    test_against_deserializer();
    test_bad();
    return tap_done();
}
