/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings between UTF-8 and Flink's units: what Java makes of malformed bytes and half pairs.
 */
#include <stdlib.h>

#include "fnet/selector.h"
#include "fnet/value.h"

#include "../tap.h"
#include "guarded.h"

static const struct fnet_serde string = {.field_count = 1, .fields = {FNET_VALUE_STRING}};

/* Encode TEXT into exactly the room that is asked for. */
static struct fnet_span encode(struct guarded *g, struct fnet_span text)
{
    const size_t room = fnet_values_encoded_max(&string, text);
    uint8_t *begin = g->end - room;
    struct fnet_writer w = fnet_writer_of(begin, room);
    struct fnet_value_fault fault;

    CHECK_INT(fnet_values_encode(&string, text, &w, &fault), FNET_OK);
    return fnet_span_of(begin, (size_t)(w.pos - begin));
}

/* Decode BYTES and put the text into exactly the room that is asked for. */
static struct fnet_span decode(struct guarded *g, struct fnet_span bytes)
{
    struct fnet_value values[FNET_TUPLE_MAX_FIELDS];

    if (!CHECK_INT(fnet_values_decode(&string, bytes, values), FNET_OK))
        return fnet_span_of(NULL, 0);
    const size_t room = fnet_value_text_max(&values[0]);
    uint8_t *begin = g->end - room;
    struct fnet_writer w = fnet_writer_of(begin, room);
    fnet_value_put_text(&values[0], &w);
    CHECK(!w.failed);
    return fnet_span_of(begin, (size_t)(w.pos - begin));
}

static enum fnet_err try_decode(const char *bytes, size_t len)
{
    struct fnet_value values[FNET_TUPLE_MAX_FIELDS];

    return fnet_values_decode(&string, fnet_span_of(bytes, len), values);
}

static void check_both(const char *text, const char *bytes, size_t len)
{
    struct guarded g = guarded_new(4096);
    struct fnet_span made = encode(&g, fnet_span_of(text, strlen(text)));

    CASE(text);
    CHECK_INT(made.len, len);
    CHECK_MEM(made.ptr, bytes, len);
    made = decode(&g, fnet_span_of(bytes, len));
    CHECK_INT(made.len, strlen(text));
    CHECK_MEM(made.ptr, text, made.len);
    guarded_free(&g);
}

static void test_well_formed(void)
{
    check_both("", "\1", 1);
    check_both("\\N", "\0", 1);
    check_both("\\n", "\3\\n", 3);
    check_both("\\NN", "\4\\NN", 4);
    check_both("hello", "\6hello", 6);
    check_both("a sentence of more than sixteen bytes", "&a sentence of more than sixteen bytes",
               38);
    check_both("\xc3\xa9", "\2\xe9\1", 3);
    check_both("\xe3\xbf\xbf\xe4\x80\x80", "\3\xff\x7f\x80\x80\1", 6);
    check_both("x\xf0\x9f\x98\x80y", "\5x\xbd\xb0\3\x80\xbc\3y", 9);
    check_both("\xf4\x8f\xbf\xbf", "\3\xff\xb7\3\xff\xbf\3", 7);
}

/* Each malformed part is one U+FFFD. */
static void check_replaced(const char *text, const char *readable)
{
    struct guarded g = guarded_new(4096);
    struct guarded h = guarded_new(4096);
    struct fnet_span made = decode(&h, encode(&g, fnet_span_of(text, strlen(text))));

    CASE(readable);
    CHECK_INT(made.len, strlen(readable));
    CHECK_MEM(made.ptr, readable, made.len);
    guarded_free(&g);
    guarded_free(&h);
}

#define FFFD "\xef\xbf\xbd"

static void test_malformed(void)
{
    check_replaced("\x80", FFFD);
    check_replaced("a\xffz", "a" FFFD "z");
    check_replaced("\xc3", FFFD);
    check_replaced("\xc0\xaf", FFFD FFFD);
    check_replaced("\xe2\x82", FFFD);
    check_replaced("\xe2(\xa1", FFFD "(" FFFD);
    check_replaced("\xe0\x80\xaf", FFFD FFFD FFFD);
    check_replaced("\xf0\x9f\x98", FFFD);
    check_replaced("\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD);
    check_replaced("\xed\xa0\xbd", FFFD); /* a surrogate */
}

static void check_units(const char *bytes, size_t len, const char *text)
{
    struct guarded g = guarded_new(4096);
    struct fnet_span made = decode(&g, fnet_span_of(bytes, len));

    CHECK_INT(made.len, strlen(text));
    CHECK_MEM(made.ptr, text, made.len);
    guarded_free(&g);
}

static void test_half_pairs(void)
{
    CASE("half of a pair is U+FFFD, whatever stands beside it");
    check_units("\2\xbd\xb0\3", 4, FFFD);
    check_units("\2\x80\xbc\3", 4, FFFD);
    check_units("\3\xbd\xb0\3x", 5, FFFD "x");
    check_units("\3\x80\xbc\3\xbd\xb0\3", 7, FFFD FFFD);
    check_units("\4\xbd\xb0\3\xbd\xb0\3\x80\xbc\3", 10, FFFD "\xf0\x9f\x98\x80");
    CASE("numbers in more bytes than they need are taken, as Flink takes them");
    check_units("\x82\x80\0\x81\0", 5, "\1");
}

static void test_mistakes(void)
{
    CASE("a String that cannot be");
    CHECK_INT(try_decode("", 0), FNET_TRUNCATED);
    CHECK_INT(try_decode("\x80", 1), FNET_TRUNCATED);
    CHECK_INT(try_decode("\x80\0", 2), FNET_BAD_VALUE);
    CHECK_INT(try_decode("\0x", 2), FNET_BAD_VALUE);
    CHECK_INT(try_decode("\2xx", 3), FNET_BAD_VALUE);
    CHECK_INT(try_decode("\xff\xff\xff\xff\7", 5), FNET_TRUNCATED);
    CHECK_INT(try_decode("\x80\x80\x80\x80\x08", 5), FNET_BAD_VALUE);
    CHECK_INT(try_decode("\x80\x80\x80\x80\x80\0", 6), FNET_BAD_VALUE);
    CASE("a unit that cannot be");
    CHECK_INT(try_decode("\2\xff\xff\3", 4), FNET_OK);
    CHECK_INT(try_decode("\2\x80\x80\4", 4), FNET_BAD_VALUE);
    CHECK_INT(try_decode("\2\x80\x80\x80\0", 5), FNET_BAD_VALUE);
    CHECK_INT(try_decode("\2\x80", 2), FNET_TRUNCATED);
    CHECK_INT(try_decode("\3\x80\1", 3), FNET_TRUNCATED);
}

/* Java's hashCode of an encoded String, from its units one by one. */
static uint32_t hash_of_units(struct fnet_span bytes)
{
    const uint8_t *pos = bytes.ptr;
    const uint8_t *end = pos + bytes.len;
    uint32_t hash = 0;

    while (*pos++ & 0x80)
        continue;
    while (pos < end) {
        uint32_t unit = 0;
        for (unsigned shift = 0;; shift += 7) {
            unit |= (*pos & 0x7fu) << shift;
            if (!(*pos++ & 0x80))
                break;
        }
        hash = hash * 31 + unit;
    }
    return hash;
}

static void test_random(void)
{
    static const uint8_t bytes[] = {'a',  0x7f, 0x80, 0xbf, 0xc2, 0xdf, 0xe0, 0xa0,
                                    0xed, 0xef, 0xf0, 0x90, 0xf4, 0x8f, 0xff, 'z'};
    struct guarded g = guarded_new(4096);
    struct guarded h = guarded_new(4096);
    uint64_t random = 88172645463325252u;

    CASE("random bytes become the String whose hash Java has; its text stays what it is");
    for (int round = 0; round < 20000; round++) {
        uint8_t text[64];
        const size_t len = next_random(&random) % sizeof text;
        for (size_t i = 0; i < len; i++)
            text[i] = bytes[next_random(&random) % (round % 3 ? sizeof bytes : 2)];
        const struct fnet_span made = encode(&g, fnet_span_of(text, len));
        CHECK_INT(hash_of_units(made), fnet_java_hash(0, fnet_span_of(text, len)));

        uint8_t kept[256];
        const struct fnet_span readable = decode(&h, made);
        memcpy(kept, made.ptr, made.len);
        const struct fnet_span again = encode(&g, readable);
        CHECK_INT(again.len, made.len);
        CHECK_MEM(again.ptr, kept, made.len);
    }
    guarded_free(&g);
    guarded_free(&h);
}

static void test_long(void)
{
    const size_t len = 200000;
    struct guarded g = guarded_new(3 * len + 16);
    struct guarded h = guarded_new(3 * len + 16);
    uint8_t *text = malloc(len);

    CASE("long texts, of one, two and three bytes a character");
    for (size_t width = 1; text && width <= 3; width++) {
        static const char *const characters[] = {"x", "\xc3\xa9", "\xe6\x97\xa5"};
        const size_t n = len / width * width;
        for (size_t i = 0; i < n; i += width)
            memcpy(text + i, characters[width - 1], width);
        const struct fnet_span made = encode(&g, fnet_span_of(text, n));
        CHECK_INT(made.len, 3 + n);
        const struct fnet_span back = decode(&h, made);
        CHECK_INT(back.len, n);
        CHECK_MEM(back.ptr, text, n);
    }
    free(text);
    guarded_free(&g);
    guarded_free(&h);
}

int main(void)
{
    test_well_formed();
    test_malformed();
    test_half_pairs();
    test_mistakes();
    test_random();
    test_long();
    return tap_done();
}
