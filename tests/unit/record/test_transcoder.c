/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of texts into elements and back, in place, long ones, without memory.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fnet/element.h"
#include "fnet/value.h"

#include "../failmalloc.h"
#include "../tap.h"

static struct fnet_transcoder transcoder_of(const char *name)
{
    struct fnet_serde serde = FNET_SERDE_INIT;
    struct fnet_transcoder t;

    CHECK_INT(fnet_serde_parse(name, &serde), FNET_OK);
    fnet_transcoder_init(&t, &serde, NULL);
    return t;
}

static struct fnet_span span_of(const char *text)
{
    return fnet_span_of(text, strlen(text));
}

static void check_span(struct fnet_span span, const char *expected, size_t len)
{
    CHECK_INT(span.len, len);
    CHECK_MEM(span.ptr, expected, len);
}

static void test_batch(void)
{
    struct fnet_transcoder t = transcoder_of("tuple(string,int)");
    struct fnet_transcoder back = transcoder_of("tuple(string,int)");
    struct fnet_span spans[] = {span_of("a\t1"), span_of("\\N\t-1"), span_of("\t0")};
    struct fnet_value_fault fault;
    size_t done = 0;
    size_t count = 0;

    CASE("a batch in place, one element behind the other");
    CHECK_INT(fnet_transcoder_encode(&t, spans, 3, spans, &done, &fault), FNET_OK);
    CHECK_INT(done, 3);
    check_span(spans[0], "\1\2a\0\0\0\1", 7);
    check_span(spans[1], "\1\0\377\377\377\377", 6);
    check_span(spans[2], "\1\1\0\0\0\0", 6);
    CHECK(spans[0].ptr == t.scratch.ptr && spans[1].ptr == spans[0].ptr + 7);
    CHECK_INT(t.scratch.len, 19);
    CHECK(fnet_records_are_adjacent(spans, 3));

    CASE("and back");
    CHECK_INT(fnet_transcoder_decode(&back, spans, 3, spans, &count, &done), FNET_OK);
    CHECK(count == 3 && done == 3);
    check_span(spans[0], "a\t1", 3);
    check_span(spans[1], "\\N\t-1", 5);
    check_span(spans[2], "\t0", 2);
    CHECK(fnet_records_are_adjacent(spans, 3));
    fnet_transcoder_clear(&t);
    fnet_transcoder_clear(&back);
}

static void test_other_elements(void)
{
    struct fnet_transcoder t = transcoder_of("int");
    const struct fnet_span elements[] = {
        fnet_span_of("\2\0\0\0\0\0\0\0\1", 9),           fnet_span_of("\1\0\0\0\7", 5),
        fnet_span_of("\4\377\377\377\377", 5),           fnet_span_of("\5\1", 2),
        fnet_span_of("\0\0\0\0\0\0\0\0\1\0\0\0\x8", 13),
    };
    struct fnet_span texts[5];
    size_t count = 9;
    size_t done = 9;

    CASE("what is no record is left out");
    CHECK_INT(fnet_transcoder_decode(&t, elements, 5, texts, &count, &done), FNET_OK);
    CHECK(count == 2 && done == 5);
    check_span(texts[0], "7", 1);
    check_span(texts[1], "8", 1);
    CHECK_INT(fnet_transcoder_decode(&t, elements, 1, texts, &count, &done), FNET_OK);
    CHECK(count == 0 && done == 1);
    fnet_transcoder_clear(&t);
}

static void test_mistakes(void)
{
    struct fnet_transcoder t = transcoder_of("long");
    const struct fnet_span texts[] = {span_of("1"), span_of("2"), span_of("drei"), span_of("4")};
    const struct fnet_span elements[] = {fnet_span_of("\2\0\0\0\0\0\0\0\1", 9),
                                         fnet_span_of("\1\0\0\0\0\0\0\0\5", 9),
                                         fnet_span_of("\1\0\0\0\0\0\0\0", 8)};
    struct fnet_span spans[4];
    struct fnet_value_fault fault;
    size_t done = 9;
    size_t count = 9;

    CASE("which text is bad, and why");
    CHECK_INT(fnet_transcoder_encode(&t, texts, 4, spans, &done, &fault), FNET_BAD_VALUE);
    CHECK_INT(done, 2);
    CHECK(fault.text.ptr == texts[2].ptr && fault.type == FNET_VALUE_LONG && fault.field == 0);

    CASE("which element is bad; the texts before it are there");
    CHECK_INT(fnet_transcoder_decode(&t, elements, 3, spans, &count, &done), FNET_TRUNCATED);
    CHECK(count == 1 && done == 2);
    check_span(spans[0], "5", 1);
    CHECK_INT(fnet_transcoder_decode(&t, texts, 1, spans, &count, &done), FNET_BAD_KIND);
    CHECK(count == 0 && done == 0);
    fnet_transcoder_clear(&t);
}

/* A text of LEN bytes, all BYTE, there and back. */
static void check_long(struct fnet_transcoder *t, struct fnet_transcoder *back, int byte,
                       size_t len)
{
    uint8_t *text = malloc(len);
    const struct fnet_span span = fnet_span_of(text, len);
    struct fnet_span element;
    struct fnet_span again;
    struct fnet_value_fault fault;
    size_t done = 0;
    size_t count = 0;

    if (!text)
        return;
    memset(text, byte, len);
    CHECK_INT(fnet_transcoder_encode(t, &span, 1, &element, &done, &fault), FNET_OK);
    CHECK_INT(fnet_transcoder_decode(back, &element, 1, &again, &count, &done), FNET_OK);
    if (byte < 0x80) {
        CHECK_INT(again.len, len);
        CHECK_MEM(again.ptr, text, len);
    } else {
        size_t replaced = 0;
        CHECK_INT(again.len, 3 * len);
        for (size_t i = 0; i + 3 <= again.len; i += 3)
            replaced += memcmp(again.ptr + i, "\xef\xbf\xbd", 3) == 0;
        CHECK_INT(replaced, len);
    }
    free(text);
}

static void test_long(void)
{
    struct fnet_transcoder t = transcoder_of("string");
    struct fnet_transcoder back = transcoder_of("string");

    CASE("long records, on the heap and in a file, which is given back");
    check_long(&t, &back, 'x', 100000);
    check_long(&t, &back, 0xff, 100000);
    CHECK(!t.scratch.is_spilled);
    check_long(&t, &back, 'x', 6u << 20);
    CHECK(t.scratch.is_spilled && back.scratch.is_spilled);
    check_long(&t, &back, 0xff, 3u << 20);
    CHECK(t.scratch.is_spilled && back.scratch.is_spilled);
    check_long(&t, &back, 'x', 100);
    CHECK(!t.scratch.is_spilled && t.scratch.capacity < 1000 && back.scratch.capacity < 1000);
    fnet_transcoder_clear(&t);
    fnet_transcoder_clear(&back);
}

static void test_no_memory(void)
{
    const struct fnet_span text = span_of("hello");
    const struct fnet_span element = fnet_span_of("\1\6hello", 7);
    unsigned n = 0;

    CASE("without memory nothing is made, and nothing is lost");
    do {
        struct fnet_transcoder t = transcoder_of("string");
        struct fnet_span made = {.len = 77};
        struct fnet_value_fault fault;
        size_t done = 9;
        size_t count = 9;
        failmalloc_arm(++n);
        enum fnet_err encoded = fnet_transcoder_encode(&t, &text, 1, &made, &done, &fault);
        CHECK(encoded == FNET_OK ? done == 1 && made.len == 7 : done == 0 && made.len == 77);
        fnet_transcoder_clear(&t);
        enum fnet_err decoded = fnet_transcoder_decode(&t, &element, 1, &made, &count, &done);
        CHECK(decoded == FNET_OK ? count == 1 && made.len == 5 : count == 0 && done == 0);
        CHECK(encoded == FNET_OK || encoded == FNET_NOMEM);
        CHECK(decoded == FNET_OK || decoded == FNET_NOMEM);
        fnet_transcoder_clear(&t);
    } while (failmalloc_disarm());
}

int main(void)
{
    test_batch();
    test_other_elements();
    test_mistakes();
    test_long();
    test_no_memory();
    return tap_done();
}
