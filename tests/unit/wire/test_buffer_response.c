/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of a BufferResponse at its limits.
 */
#include <stdlib.h>

#include "fnet/wire.h"

#include "../tap.h"
#include "samples.h"

enum { PARTIALS_BYTES = 4 * FNET_PARTIALS_MAX };

static struct fnet_message hello(void)
{
    return *sample_find("BufferResponse.hello");
}

static void check_round_trip(const struct fnet_message *m)
{
    size_t room = FNET_BUFFER_RESPONSE_HEAD_BYTES + PARTIALS_BYTES;
    uint8_t *out = malloc(room);
    struct fnet_writer w = fnet_writer_of(out, room);
    struct fnet_message back;
    size_t used = 0;

    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), m, &w), FNET_OK);
    size_t len = (size_t)(w.pos - out);
    CHECK_INT(len, FNET_BUFFER_RESPONSE_HEAD_BYTES + m->buffer.partial_sizes.len);
    CHECK_INT(fnet_load_be32(out), len + m->buffer.size);
    CHECK_INT(fnet_message_decode(fnet_dialect_newest(), fnet_span_of(out, len), &used, &back),
              FNET_OK);
    CHECK_INT(used, len);
    CHECK(fnet_id_is_equal(&back.receiver, &m->receiver));
    CHECK_INT(back.buffer.subpartition, m->buffer.subpartition);
    CHECK_INT(back.buffer.sequence, m->buffer.sequence);
    CHECK_INT(back.buffer.backlog, m->buffer.backlog);
    CHECK_INT(back.buffer.data_type, m->buffer.data_type);
    CHECK_INT(back.buffer.is_compressed, m->buffer.is_compressed);
    CHECK_INT(back.buffer.size, m->buffer.size);
    CHECK_INT(back.buffer.partials, m->buffer.partials);
    CHECK_INT(back.buffer.partial_sizes.len, m->buffer.partial_sizes.len);
    CHECK_MEM(back.buffer.partial_sizes.ptr, m->buffer.partial_sizes.ptr,
              m->buffer.partial_sizes.len);
    free(out);
}

static void check_invalid(const struct fnet_message *m)
{
    static uint8_t out[FNET_BUFFER_RESPONSE_HEAD_BYTES + PARTIALS_BYTES + 4];
    struct fnet_writer w = fnet_writer_of(out, sizeof out);

    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), m, &w), FNET_INVALID);
    CHECK(w.pos == out);
}

static void test_fields(void)
{
    struct fnet_message m = hello();

    CASE("the largest and smallest values of all fields");
    m.buffer.subpartition = INT32_MAX;
    m.buffer.sequence = INT32_MAX;
    m.buffer.backlog = INT32_MAX;
    m.buffer.is_compressed = true;
    m.buffer.size = FNET_PAYLOAD_MAX_BYTES;
    check_round_trip(&m);
    m = hello();
    m.buffer.subpartition = -1;
    m.buffer.sequence = INT32_MIN; /* a long channel counts past INT32_MAX */
    m.buffer.size = 0;
    check_round_trip(&m);

    CASE("one beyond them");
    m.buffer.subpartition = -2;
    check_invalid(&m);
    m = hello();
    m.buffer.backlog = -1;
    check_invalid(&m);
    m = hello();
    m.buffer.size = FNET_PAYLOAD_MAX_BYTES + 1;
    check_invalid(&m);

    CASE("the thirteen data types, and events of at least one byte");
    for (unsigned type = 0; type <= UINT8_MAX; type++) {
        m = hello();
        m.buffer.data_type = (uint8_t)type;
        m.buffer.size = 1;
        if (type >= 1 && type <= 13)
            check_round_trip(&m);
        else
            check_invalid(&m);
        m.buffer.size = 0;
        if (type == FNET_DATA_BUFFER || type == FNET_DATA_BUFFER_WITH_CLEAR_END)
            check_round_trip(&m);
        else
            check_invalid(&m);
    }
}

static void test_partials(void)
{
    uint8_t *sizes = calloc(1, PARTIALS_BYTES + 4);
    struct fnet_message m = hello();

    CASE("as many partial buffers as the limit allows, their sizes adding up to the payload");
    for (size_t i = 0; i < FNET_PARTIALS_MAX; i++)
        fnet_store_be32(sizes + 4 * i, 1 << 14);
    m.buffer.partials = FNET_PARTIALS_MAX;
    m.buffer.partial_sizes = fnet_span_of(sizes, PARTIALS_BYTES);
    m.buffer.size = FNET_PARTIALS_MAX << 14;
    check_round_trip(&m);

    CASE("one more, sizes that do not add up, and a count that is not that of the sizes");
    m.buffer.partials++;
    m.buffer.partial_sizes.len += 4;
    check_invalid(&m);
    m.buffer.partials--;
    check_invalid(&m);
    m.buffer.partial_sizes.len -= 4;
    m.buffer.size--;
    check_invalid(&m);

    CASE("sizes whose sum overflows 32 bits");
    fnet_store_be32(sizes, 0x80000000);
    fnet_store_be32(sizes + 4, 0x8000000b);
    m = hello();
    m.buffer.partials = 2;
    m.buffer.partial_sizes = fnet_span_of(sizes, 8);
    check_invalid(&m);
    free(sizes);
}

static void test_steps(void)
{
    uint8_t out[64];
    struct fnet_writer w = fnet_writer_of(out, sizeof out);
    const struct fnet_message *partial = sample_find("BufferResponse.partial");
    struct fnet_message m;
    size_t used = 0;

    CASE("a decoder that waits is told of the header, then the head, then the partial sizes");
    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), partial, &w), FNET_OK);
    CHECK_INT(fnet_message_decode(fnet_dialect_newest(), fnet_span_of(out, 8), &used, &m),
              FNET_AGAIN);
    CHECK_INT(used, FNET_FRAME_HEADER_BYTES);
    CHECK_INT(fnet_message_decode(fnet_dialect_newest(), fnet_span_of(out, 9), &used, &m),
              FNET_AGAIN);
    CHECK_INT(used, FNET_BUFFER_RESPONSE_HEAD_BYTES);
    CHECK_INT(fnet_message_decode(fnet_dialect_newest(), fnet_span_of(out, 47), &used, &m),
              FNET_AGAIN);
    CHECK_INT(used, FNET_BUFFER_RESPONSE_HEAD_BYTES + 8);

    CASE("too many partial buffers are refused before their sizes are waited for");
    fnet_store_be32(out, 47 + 4 * 4097 + 22);
    fnet_store_be32(out + 29, 4097);
    CHECK_INT(fnet_message_decode(fnet_dialect_newest(), fnet_span_of(out, 47), &used, &m),
              FNET_BAD_LENGTH);
}

int main(void)
{
    test_fields();
    test_partials();
    test_steps();
    return tap_done();
}
