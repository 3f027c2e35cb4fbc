/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every stream element that Flink wrote, its fields and its bytes again; what is none.
 */
#include "fnet/element.h"

#include "../flink_elements.h"
#include "../flink_golden.h"

static void check_encodes(const struct fnet_element *e, struct fnet_span bytes)
{
    uint8_t again[1024];
    struct fnet_writer w = fnet_writer_of(again, bytes.len);

    CHECK_INT(fnet_element_encoded_bytes(e), bytes.len);
    CHECK_INT(fnet_element_encode(e, &w), FNET_OK);
    CHECK_INT(w.pos - again, bytes.len);
    CHECK_MEM(again, bytes.ptr, bytes.len);

    w = fnet_writer_of(again, bytes.len - 1);
    CHECK_INT(fnet_element_encode(e, &w), FNET_RANGE);
    CHECK(w.pos == again);
}

/* Every shorter one is cut, unless the cut is in the value, which is not looked at. */
static void check_cuts(struct fnet_span bytes, const struct fnet_element *e)
{
    const size_t head = bytes.len - e->value.len;

    for (size_t len = 0; len < bytes.len; len++) {
        struct fnet_element cut;
        enum fnet_err err = fnet_element_decode(fnet_span_of(bytes.ptr, len), &cut);
        CHECK_INT(err, len < head ? FNET_TRUNCATED : FNET_OK);
        if (err == FNET_OK)
            CHECK_INT(cut.value.len, len - head);
    }
}

static void check_line(const struct flink_line *line)
{
    struct flink_fields f = {.text = NULL};
    struct fnet_element e;

    if (!CHECK_INT(fnet_element_decode(line->bytes, &e), FNET_OK))
        return;
    flink_add_element(&f, &e);
    flink_check_begins(line, &f);
    check_encodes(&e, line->bytes);
    check_cuts(line->bytes, &e);
}

static enum fnet_err decode(const void *bytes, size_t len)
{
    struct fnet_element untouched = {.tag = FNET_ELEMENT_WATERMARK, .timestamp = 42};
    enum fnet_err err = fnet_element_decode(fnet_span_of(bytes, len), &untouched);

    if (err != FNET_OK)
        CHECK(untouched.tag == FNET_ELEMENT_WATERMARK && untouched.timestamp == 42);
    return err;
}

static void test_mistakes(void)
{
    CASE("tags that Flink does not have");
    for (unsigned tag = 7; tag < 256; tag++) {
        const uint8_t bytes[40] = {(uint8_t)tag};
        CHECK_INT(decode(bytes, sizeof bytes), FNET_BAD_KIND);
        CHECK(fnet_element_type_name(tag) == NULL);
    }
    CASE("a status is 0 or -1, attributes are 0 or 1");
    CHECK_INT(decode("\4\0\0\0\1", 5), FNET_BAD_VALUE);
    CHECK_INT(decode("\4\377\377\377\376", 5), FNET_BAD_VALUE);
    CHECK_INT(decode("\5\2", 2), FNET_BAD_VALUE);
    CASE("nothing stands behind an element without a value");
    CHECK_INT(decode("\2\0\0\0\0\0\0\0\0\0", 10), FNET_BAD_VALUE);
    CHECK_INT(decode("\3\0\0\0\0\0\0\0\0"
                     "0123456789abcdef"
                     "\0\0\0\0\0",
                     30),
              FNET_BAD_VALUE);
    CHECK_INT(decode("\4\0\0\0\0\0", 6), FNET_BAD_VALUE);
    CHECK_INT(decode("\5\0\0", 3), FNET_BAD_VALUE);
    CHECK_INT(decode("\6\0\0\0\0\0\0\0\0\0\0\0\0\0", 14), FNET_BAD_VALUE);

    CASE("an unknown tag is not encoded");
    uint8_t room[16];
    struct fnet_writer w = fnet_writer_of(room, sizeof room);
    const struct fnet_element none = {.tag = (enum fnet_element_tag)7};
    CHECK_INT(fnet_element_encode(&none, &w), FNET_BAD_KIND);
    CHECK(w.pos == room);
}

static void test_documented(void)
{
    struct fnet_element e;

    CASE("the bytes of each tag, written by hand");
    CHECK_INT(fnet_element_decode(fnet_span_of("\0\0\0\1\213\317\345h\0v", 10), &e), FNET_OK);
    CHECK(fnet_element_is_record(&e) && e.timestamp == 1700000000000 && e.value.len == 1);
    CHECK_INT(fnet_element_decode(fnet_span_of("\1", 1), &e), FNET_OK);
    CHECK(e.tag == FNET_ELEMENT_RECORD && e.value.len == 0);
    CHECK_INT(fnet_element_decode(fnet_span_of("\2\177\377\377\377\377\377\377\377", 9), &e),
              FNET_OK);
    CHECK(!fnet_element_is_record(&e) && e.timestamp == FNET_WATERMARK_MAX);
    CHECK_INT(fnet_element_decode(fnet_span_of("\4\377\377\377\377", 5), &e), FNET_OK);
    CHECK(e.is_idle);
    CHECK_INT(fnet_element_decode(fnet_span_of("\6\0\0\0\5\0\0\0\0\0\0\0\7", 13), &e), FNET_OK);
    CHECK(e.subpartition == 5 && e.timestamp == 7);
}

int main(void)
{
    const size_t versions = flink_visit("elements", check_line);

    CASE("every version is there");
    CHECK(versions >= 20);
    test_documented();
    test_mistakes();
    return tap_done();
}
