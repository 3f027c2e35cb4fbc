/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a stream gives the same messages, payloads and end however it is cut and wherever
 * payloads go, and messages and payloads together are the stream. Input: two bytes that say how to
 * cut and in which dialect, the newest for 0 and 1, then the stream.
 */
#include <stdlib.h>

#include "fnet/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* What came out of a stream. */
struct outcome {
    uint8_t *bytes; /* as many as the stream has */
    size_t len;
    unsigned messages;
    enum fnet_err err;
    uint64_t offset; /* of the last frame */
};

static void append(struct outcome *o, struct fnet_span stream, struct fnet_span bytes)
{
    require(bytes.len <= stream.len - o->len);
    if (bytes.len)
        memcpy(o->bytes + o->len, bytes.ptr, bytes.len);
    o->len += bytes.len;
}

static void drain(const struct fnet_dialect *dialect, struct fnet_decoder *d,
                  struct fnet_span stream, struct outcome *o)
{
    do {
        struct fnet_span payload = fnet_decoder_payload(d);
        append(o, stream, payload);
        fnet_decoder_take(d, payload.len);

        struct fnet_message m;
        o->err = fnet_decoder_next(d, &m);
        if (o->err == FNET_OK) {
            struct fnet_writer w = fnet_writer_of(o->bytes + o->len, stream.len - o->len);
            require(fnet_decoder_offset(d) == o->len);
            require(fnet_message_encode(dialect, &m, &w) == FNET_OK);
            o->len = (size_t)(w.pos - o->bytes);
            o->messages++;
        }
    } while (o->err == FNET_OK);
}

/* Feed STREAM in pieces of at most MOST bytes, payloads past the decoder when IS_BYPASSED. */
static struct outcome decode(const struct fnet_dialect *dialect, struct fnet_span stream,
                             size_t most, bool is_bypassed)
{
    struct outcome o = {.bytes = malloc(stream.len + 1), .err = FNET_AGAIN};
    struct fnet_decoder *d;
    size_t fed = 0;

    require(o.bytes != NULL && fnet_decoder_new(dialect, 0, &d) == FNET_OK);
    while (fed < stream.len && o.err == FNET_AGAIN) {
        size_t n = most < stream.len - fed ? most : stream.len - fed;
        size_t due = fnet_decoder_payload_left(d);
        if (is_bypassed && due > 0) {
            n = n < due ? n : due;
            append(&o, stream, fnet_span_of(stream.ptr + fed, n));
            fnet_decoder_skip_ahead(d, n);
        } else {
            uint8_t *space;
            size_t room;
            fnet_decoder_space(d, &space, &room);
            require(room > 0);
            n = n < room ? n : room;
            memcpy(space, stream.ptr + fed, n);
            fnet_decoder_commit(d, n);
        }
        fed += n;
        drain(dialect, d, stream, &o);
    }
    o.offset = fnet_decoder_offset(d);
    require(o.err != FNET_AGAIN || fnet_decoder_payload_left(d) > 0 ||
            fnet_decoder_is_mid_frame(d) == (o.len < stream.len));
    fnet_decoder_free(d);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;

    struct fnet_span stream = fnet_span_of(data + 2, size - 2);
    const struct fnet_dialect *dialect = fnet_dialect_at(data[1] >> 1);
    if (data[1] < 2 || !dialect)
        dialect = fnet_dialect_newest();
    struct outcome whole = decode(dialect, stream, SIZE_MAX, false);
    struct outcome cut = decode(dialect, stream, 1 + data[0], data[1] & 1);

    require(whole.err == cut.err && whole.messages == cut.messages);
    require(whole.len == cut.len && whole.offset == cut.offset);
    require(memcmp(whole.bytes, stream.ptr, whole.len) == 0);
    require(memcmp(cut.bytes, stream.ptr, cut.len) == 0);
    free(whole.bytes);
    free(cut.bytes);
    return 0;
}
