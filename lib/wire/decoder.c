/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pull decoder: received bytes in, messages out, payload past it where possible.
 *
 * Source: Flink NettyMessageClientDecoderDelegate, BufferResponseDecoder (what is staged and what
 * is received in place).
 */
#include "fnet/wire.h"

#include <assert.h>
#include <stdlib.h>

#include "frame.h"

#define STAGING_MIN_BYTES 1024

struct fnet_decoder {
    const struct fnet_dialect *dialect;
    uint8_t *bytes;  /* owned, CAPACITY of them */
    size_t capacity; /* STAGING, more while a longer message is being collected */
    size_t staging;
    size_t start; /* start <= end <= capacity; between them what is staged and not yet used */
    size_t end;
    size_t needed;     /* bytes from START without which next() cannot get further; 0: not known */
    size_t payload;    /* bytes of the last BufferResponse not taken; the first of them at START */
    uint64_t offset;   /* of START in the stream */
    uint64_t frame;    /* offset of the frame being decoded or last returned */
    enum fnet_err err; /* what it died of */
};

enum fnet_err fnet_decoder_new(const struct fnet_dialect *dialect, size_t staging,
                               struct fnet_decoder **out)
{
    struct fnet_decoder *d = calloc(1, sizeof *d);

    if (!d)
        return FNET_NOMEM;
    d->dialect = dialect;
    d->staging = staging < STAGING_MIN_BYTES ? STAGING_MIN_BYTES : staging;
    d->capacity = d->staging;
    d->bytes = malloc(d->capacity);
    if (!d->bytes) {
        free(d);
        return FNET_NOMEM;
    }
    *out = d;
    return FNET_OK;
}

void fnet_decoder_free(struct fnet_decoder *decoder)
{
    if (!decoder)
        return;
    free(decoder->bytes);
    free(decoder);
}

static size_t staged(const struct fnet_decoder *d)
{
    return d->end - d->start;
}

static void move_to_front(struct fnet_decoder *d)
{
    memmove(d->bytes, d->bytes + d->start, staged(d));
    d->end = staged(d);
    d->start = 0;
}

static bool resize(struct fnet_decoder *d, size_t capacity)
{
    move_to_front(d);

    uint8_t *bytes = realloc(d->bytes, capacity);
    if (!bytes)
        return false;
    d->bytes = bytes;
    d->capacity = capacity;
    return true;
}

/* Is moving what is staged cheap (no byte moves more than once per byte used up) or a must? */
static bool should_move(const struct fnet_decoder *d)
{
    return d->start >= staged(d) || d->end == d->capacity || d->start + d->needed > d->capacity;
}

void fnet_decoder_space(struct fnet_decoder *decoder, uint8_t **ptr, size_t *len)
{
    struct fnet_decoder *d = decoder;

    if (d->capacity > d->staging && d->needed <= d->staging && staged(d) < d->staging)
        (void)resize(d, d->staging); /* if it cannot shrink it stays large */
    if (d->start > 0 && should_move(d))
        move_to_front(d);
    *ptr = d->bytes + d->end;
    *len = d->err == FNET_OK ? d->capacity - d->end : 0;
}

void fnet_decoder_commit(struct fnet_decoder *decoder, size_t n)
{
    assert(n <= decoder->capacity - decoder->end);
    decoder->end += n;
}

/* Take N bytes out of the stream that stand at START. */
static void advance(struct fnet_decoder *d, size_t n)
{
    d->start += n;
    d->offset += n;
}

enum fnet_err fnet_decoder_peek(const struct fnet_decoder *decoder, uint8_t *type, uint32_t *length)
{
    if (decoder->payload > 0)
        return FNET_AGAIN;
    return fnet__wire_frame_peek(fnet_span_of(decoder->bytes + decoder->start, staged(decoder)),
                                 type, length);
}

void fnet_decoder_set_dialect(struct fnet_decoder *decoder, const struct fnet_dialect *dialect)
{
    decoder->dialect = dialect;
}

/* The message at START needs NEEDED bytes, no more than a named limit allows: make room. */
static enum fnet_err wait_for(struct fnet_decoder *d, size_t needed)
{
    d->needed = needed;
    if (needed > d->capacity && !resize(d, needed)) {
        d->err = FNET_NOMEM;
        return d->err;
    }
    return FNET_AGAIN;
}

enum fnet_err fnet_decoder_next(struct fnet_decoder *decoder, struct fnet_message *out)
{
    struct fnet_decoder *d = decoder;
    size_t used;

    if (d->err != FNET_OK)
        return d->err;
    if (d->payload > 0)
        return FNET_AGAIN;
    d->frame = d->offset;
    if (staged(d) == 0 || staged(d) < d->needed)
        return FNET_AGAIN;

    enum fnet_err err =
        fnet_message_decode(d->dialect, fnet_span_of(d->bytes + d->start, staged(d)), &used, out);
    if (err == FNET_AGAIN)
        return wait_for(d, used);
    if (err != FNET_OK) {
        d->err = err;
        return err;
    }
    d->needed = 0;
    advance(d, used);
    if (out->type == FNET_BUFFER_RESPONSE)
        d->payload = out->buffer.size;
    return FNET_OK;
}

size_t fnet_decoder_payload_left(const struct fnet_decoder *decoder)
{
    return decoder->payload;
}

struct fnet_span fnet_decoder_payload(const struct fnet_decoder *decoder)
{
    const struct fnet_decoder *d = decoder;

    return fnet_span_of(d->bytes + d->start, staged(d) < d->payload ? staged(d) : d->payload);
}

void fnet_decoder_take(struct fnet_decoder *decoder, size_t n)
{
    assert(n <= decoder->payload && n <= staged(decoder));
    advance(decoder, n);
    decoder->payload -= n;
}

void fnet_decoder_skip_ahead(struct fnet_decoder *decoder, size_t n)
{
    assert(n <= decoder->payload && (n == 0 || staged(decoder) == 0));
    decoder->offset += n;
    decoder->payload -= n;
}

uint64_t fnet_decoder_offset(const struct fnet_decoder *decoder)
{
    return decoder->frame;
}

bool fnet_decoder_is_mid_frame(const struct fnet_decoder *decoder)
{
    return decoder->payload > 0 || staged(decoder) > 0;
}
