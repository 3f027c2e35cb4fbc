/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: the records of a channel are the same however its bytes are cut into buffers, and
 * what was serialised comes back. Input: one byte that says how to cut, then the stream.
 */
#include <stdint.h>
#include <stdlib.h>

#include "fnet/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All that can be observed of a stream: how many records, an FNV-1a hash of them, how it ended. */
struct outcome {
    size_t count;
    uint64_t hash;
    enum fnet_err err;
    bool is_mid_record;
};

static void observe(struct outcome *o, struct fnet_span record)
{
    o->count++;
    o->hash = (o->hash ^ record.len) * 0x100000001b3;
    for (size_t i = 0; i < record.len; i++)
        o->hash = (o->hash ^ record.ptr[i]) * 0x100000001b3;
}

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void require_same(const struct outcome *a, const struct outcome *b)
{
    require(a->count == b->count && a->hash == b->hash);
    require(a->err == b->err && a->is_mid_record == b->is_mid_record);
}

/* Deserialise STREAM in buffers of at most MOST bytes. */
static struct outcome deserialize(struct fnet_span stream, size_t most)
{
    struct outcome o = {.err = FNET_AGAIN};
    struct fnet_record_deserializer d;
    struct fnet_span records[7];
    size_t count = 0;

    fnet_record_deserializer_init(&d, NULL);
    for (size_t at = 0; at < stream.len && o.err == FNET_AGAIN;) {
        /* Sizes that are not all alike: MOST, 1, MOST, 2, MOST, 3 ... */
        size_t len = at % 2 ? 1 + at % most : most;
        len = len < stream.len - at ? len : stream.len - at;
        /* A copy, so that a sanitizer sees a read outside of it or after its time. */
        uint8_t *buffer = malloc(len);
        require(buffer != NULL);
        memcpy(buffer, stream.ptr + at, len);
        fnet_record_deserializer_feed(&d, fnet_span_of(buffer, len));
        while ((o.err = fnet_record_deserializer_next(&d, records, 7, &count)) == FNET_OK)
            for (size_t i = 0; i < count; i++)
                observe(&o, records[i]);
        free(buffer);
        at += len;
    }
    o.is_mid_record = fnet_record_deserializer_is_mid_record(&d);
    fnet_record_deserializer_clear(&d);
    return o;
}

/* Serialise the lines of TEXT through rooms of at most MOST bytes, and read them back. */
static void round_trip(struct fnet_span text, size_t most)
{
    struct fnet_writer w = fnet_writer_of(malloc(5 * text.len + 8), 5 * text.len + 8);
    uint8_t *stream = w.pos;
    struct outcome original = {.err = FNET_AGAIN};

    require(stream != NULL);
    while (text.len > 0) {
        const uint8_t *stop = memchr(text.ptr, '\n', text.len);
        size_t len = stop ? (size_t)(stop - text.ptr) : text.len;
        struct fnet_record_serializer s;
        observe(&original, fnet_span_of(text.ptr, len));
        fnet_record_serializer_begin(&s, fnet_span_of(text.ptr, len));
        while (!fnet_record_serializer_is_done(&s))
            w.pos += fnet_record_serializer_write(&s, w.pos, most);
        len += stop ? 1 : 0;
        text.ptr += len;
        text.len -= len;
    }
    struct outcome back = deserialize(fnet_span_of(stream, (size_t)(w.pos - stream)), most);
    require_same(&original, &back);
    free(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;

    size_t most = 1 + data[0];
    struct fnet_span stream = fnet_span_of(data + 1, size - 1);
    struct outcome whole = deserialize(stream, stream.len);
    struct outcome cut = deserialize(stream, most);
    /* The one that is cut may stop before bytes that the other was given. */
    if (whole.err == FNET_BAD_LENGTH)
        cut.is_mid_record = whole.is_mid_record;
    require_same(&whole, &cut);
    round_trip(stream, most);
    return 0;
}
