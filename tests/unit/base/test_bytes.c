/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cursors read and write big-endian within their bounds and remember that they left them.
 */
#include "fnet/bytes.h"

#include "../tap.h"

static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9};

static void test_load_and_store(void)
{
    uint8_t out[9] = {0};

    CASE("integers are big-endian at any address");
    CHECK_INT(fnet_load_be16(bytes + 1), 0x0203);
    CHECK_INT(fnet_load_be32(bytes + 1), 0x02030405);
    CHECK_INT((int64_t)fnet_load_be64(bytes), 0x0102030405060708);
    fnet_store_be16(out + 1, 0x0203);
    CHECK_MEM(out + 1, bytes + 1, 2);
    fnet_store_be32(out + 1, 0x02030405);
    CHECK_MEM(out + 1, bytes + 1, 4);
    fnet_store_be64(out + 1, 0x0102030405060708);
    CHECK_MEM(out + 1, bytes, 8);
}

static void test_reader(void)
{
    struct fnet_reader r = fnet_reader_of(fnet_span_of(bytes, sizeof bytes));

    CASE("fields come one after the other");
    CHECK_INT(fnet_get_u8(&r), 1);
    CHECK_INT(fnet_get_u16(&r), 0x0203);
    CHECK_INT(fnet_get_u32(&r), 0x04050607);
    CHECK_INT(fnet_reader_left(&r), 8);
    CHECK_INT(fnet_get_span(&r, 1).ptr[0], 8);
    CHECK_INT(fnet_get_i32(&r), -66052); /* 0xfffefdfc */
    CHECK_INT(fnet_get_span(&r, 3).len, 3);
    CHECK_INT(fnet_reader_left(&r), 0);
    CHECK_INT(fnet_get_span(&r, 0).len, 0);
    CHECK(!r.failed);

    CASE("what is not there is 0, and so is all that is asked for later");
    r = fnet_reader_of(fnet_span_of(bytes, 7));
    CHECK_INT(fnet_get_u64(&r), 0);
    CHECK(r.failed && r.pos == bytes);
    CHECK_INT(fnet_get_u8(&r), 0);
    CHECK_INT(fnet_get_span(&r, 1).len, 0);

    CASE("signed and unsigned 64 bits");
    r = fnet_reader_of(fnet_span_of(bytes, 8));
    CHECK_INT(fnet_get_i64(&r), 0x0102030405060708);
    r = fnet_reader_of(fnet_span_of("\xff\xff\xff\xff\xff\xff\xff\xfe", 8));
    CHECK_INT(fnet_get_i64(&r), -2);

    CASE("a length that no memory has");
    r = fnet_reader_of(fnet_span_of(bytes, sizeof bytes));
    CHECK_INT(fnet_get_span(&r, SIZE_MAX).len, 0);
    CHECK(r.failed);

    CASE("an empty span, even one of nowhere");
    r = fnet_reader_of(fnet_span_of(NULL, 0));
    CHECK_INT(fnet_reader_left(&r), 0);
    CHECK_INT(fnet_get_u8(&r), 0);
    CHECK(r.failed);
}

static void test_writer(void)
{
    uint8_t out[32];
    static const uint8_t expected[] = {7,    0x01, 0x02, 0xff, 0xff, 0xff, 0xfe, 0x01, 0x02,
                                       0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 'a',  'b'};
    struct fnet_writer w = fnet_writer_of(out, sizeof expected);

    CASE("fields go one behind the other");
    fnet_put_u8(&w, 7);
    fnet_put_u16(&w, 0x0102);
    fnet_put_i32(&w, -2);
    fnet_put_u64(&w, 0x0102030405060708);
    CHECK_INT(fnet_writer_left(&w), 2);
    fnet_put_bytes(&w, "ab", 2);
    fnet_put_bytes(&w, NULL, 0);
    CHECK(!w.failed);
    CHECK_INT(fnet_writer_left(&w), 0);
    CHECK_MEM(out, expected, sizeof expected);

    CASE("signed 64 bits");
    w = fnet_writer_of(out, 8);
    fnet_put_i64(&w, -2);
    CHECK_MEM(out, "\xff\xff\xff\xff\xff\xff\xff\xfe", 8);

    CASE("what does not fit is not written, nor is anything later");
    memset(out, 0xa5, sizeof out);
    w = fnet_writer_of(out, 3);
    fnet_put_u32(&w, 1);
    CHECK(w.failed && w.pos == out);
    fnet_put_u8(&w, 1);
    fnet_put_u16(&w, 1);
    fnet_put_bytes(&w, "a", 1);
    CHECK(fnet_put_room(&w, 0) == NULL);
    for (size_t i = 0; i < sizeof out; i++)
        CHECK_INT(out[i], 0xa5);

    CASE("room is handed out once");
    w = fnet_writer_of(out, 3);
    CHECK(fnet_put_room(&w, 2) == out);
    CHECK(fnet_put_room(&w, 1) == out + 2);
    CHECK(fnet_put_room(&w, 1) == NULL);
}

int main(void)
{
    test_load_and_store();
    test_reader();
    test_writer();
    return tap_done();
}
