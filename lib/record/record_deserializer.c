/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The byte stream of a channel into records.
 *
 * Source: Flink SpillingAdaptiveSpanningRecordDeserializer, NonSpanningWrapper, SpanningWrapper.
 */
#include <assert.h>

#include "fnet/record.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void fnet_record_deserializer_init(struct fnet_record_deserializer *d, const char *spill_dir)
{
    *d = (struct fnet_record_deserializer){.record = {.dir = spill_dir}};
}

void fnet_record_deserializer_clear(struct fnet_record_deserializer *d)
{
    fnet_spill_buffer_clear(&d->record);
    fnet_record_deserializer_init(d, d->record.dir);
}

void fnet_record_deserializer_feed(struct fnet_record_deserializer *d, struct fnet_span buffer)
{
    assert(d->input.len == 0);
    d->input = buffer;
}

bool fnet_record_deserializer_is_mid_record(const struct fnet_record_deserializer *d)
{
    return d->input.len > 0 || (d->header_len > 0 && !d->is_delivered);
}

static void skip(struct fnet_record_deserializer *d, size_t len)
{
    d->input.ptr += len;
    d->input.len -= len;
}

/* Yield the records that lie whole at the head of the input; returns how many. */
static size_t take_whole(struct fnet_record_deserializer *d, struct fnet_span *records, size_t max)
{
    const uint8_t *pos = d->input.ptr;
    size_t left = d->input.len;
    size_t n = 0;

    while (n < max && left >= FNET_RECORD_HEADER_BYTES) {
        size_t len = fnet_load_be32(pos);
        if (len > FNET_RECORD_MAX_BYTES || len > left - FNET_RECORD_HEADER_BYTES)
            break;
        pos += FNET_RECORD_HEADER_BYTES;
        records[n++] = fnet_span_of(pos, len);
        pos += len;
        left -= FNET_RECORD_HEADER_BYTES + len;
    }
    skip(d, d->input.len - left);
    return n;
}

static enum fnet_err take_header(struct fnet_record_deserializer *d)
{
    size_t len = smaller(FNET_RECORD_HEADER_BYTES - d->header_len, d->input.len);
    if (len) {
        memcpy(d->header + d->header_len, d->input.ptr, len);
        d->header_len += len;
        skip(d, len);
    }
    if (d->header_len < FNET_RECORD_HEADER_BYTES)
        return FNET_AGAIN;
    d->record_len = fnet_load_be32(d->header);
    return d->record_len > FNET_RECORD_MAX_BYTES ? FNET_BAD_LENGTH : FNET_OK;
}

/* Add what the input has to the record being assembled: never more is reserved, whatever its
   length claims. */
static enum fnet_err assemble(struct fnet_record_deserializer *d, size_t len)
{
    enum fnet_err err = fnet_spill_buffer_reserve(&d->record, len);
    if (err != FNET_OK)
        return err;
    memcpy(d->record.ptr + d->record.len, d->input.ptr, len);
    d->record.len += len;
    skip(d, len);
    return FNET_OK;
}

/* Yield the record that is cut somewhere, as soon as its end is there. */
static enum fnet_err take_spanning(struct fnet_record_deserializer *d, struct fnet_span *record)
{
    enum fnet_err err = take_header(d);
    if (err != FNET_OK)
        return err;

    size_t rest = d->record_len - d->record.len;
    if (d->record.len == 0 && rest <= d->input.len) {
        *record = fnet_span_of(d->input.ptr, rest);
        skip(d, rest);
        d->header_len = 0;
        return FNET_OK;
    }
    if (d->input.len == 0)
        return FNET_AGAIN;
    err = assemble(d, smaller(rest, d->input.len));
    if (err != FNET_OK)
        return err;
    if (d->record.len < d->record_len)
        return FNET_AGAIN;
    *record = fnet_span_of(d->record.ptr, d->record_len);
    d->is_delivered = true;
    return FNET_OK;
}

/* The assembled record that was handed out is not borrowed any longer. */
static void drop_delivered(struct fnet_record_deserializer *d)
{
    if (!d->is_delivered)
        return;
    fnet_spill_buffer_reset(&d->record);
    d->header_len = 0;
    d->is_delivered = false;
}

enum fnet_err fnet_record_deserializer_next(struct fnet_record_deserializer *d,
                                            struct fnet_span *records, size_t max, size_t *count)
{
    assert(max > 0);
    drop_delivered(d);
    size_t n = d->header_len == 0 ? take_whole(d, records, max) : 0;
    if (n == 0) {
        enum fnet_err err = take_spanning(d, records);
        if (err != FNET_OK)
            return err;
        n = 1;
    }
    *count = n;
    return FNET_OK;
}

/* ---- in one pass to the output ------------------------------------------------------------- */

/* What a framing puts around a body; constants where the code is to be fast. */
struct framing {
    bool has_length;
    bool has_delimiter;
    uint8_t delimiter;
    size_t only; /* the length that each body must have; 0: any */
};

static inline __attribute__((always_inline)) size_t frame_whole(struct fnet_record_deserializer *d,
                                                                struct framing framing, size_t max,
                                                                struct fnet_writer *w)
{
    const size_t around =
        (framing.has_length ? FNET_RECORD_HEADER_BYTES : 0u) + (framing.has_delimiter ? 1u : 0u);
    const uint8_t *const end = d->input.ptr + d->input.len;
    const uint8_t *pos = d->input.ptr;
    uint8_t *to = w->pos;
    size_t n = 0;

    for (; n < max && end - pos >= FNET_RECORD_HEADER_BYTES; n++) {
        const size_t len = fnet_load_be32(pos);
        if (len >= FNET_LONG_RECORD_BYTES || (framing.only && len != framing.only) ||
            len > (size_t)(end - pos) - FNET_RECORD_HEADER_BYTES ||
            len + around > (size_t)(w->end - to))
            break;
        if (framing.has_length) {
            memcpy(to, pos, FNET_RECORD_HEADER_BYTES);
            to += FNET_RECORD_HEADER_BYTES;
        }
        pos += FNET_RECORD_HEADER_BYTES;
        fnet_record_copy(to, w->end, pos, end, len);
        pos += len;
        to += len;
        if (framing.has_delimiter)
            *to++ = framing.delimiter;
    }
    skip(d, (size_t)(pos - d->input.ptr));
    w->pos = to;
    return n;
}

size_t fnet_record_deserializer_frame(struct fnet_record_deserializer *d,
                                      const struct fnet_delimiter_config *config, size_t max,
                                      struct fnet_writer *w)
{
    drop_delivered(d);
    if (d->header_len > 0)
        return 0;
    switch (config->format) {
    case FNET_FORMAT_LINES:
    case FNET_FORMAT_NUL: {
        const uint8_t delimiter = config->format == FNET_FORMAT_NUL ? 0 : config->delimiter;
        return frame_whole(d, (struct framing){.has_delimiter = true, .delimiter = delimiter}, max,
                           w);
    }
    case FNET_FORMAT_U32: return frame_whole(d, (struct framing){.has_length = true}, max, w);
    case FNET_FORMAT_FIXED:
        return frame_whole(d, (struct framing){.only = config->record_bytes}, max, w);
    case FNET_FORMAT_BYTES: return frame_whole(d, (struct framing){.only = 0}, max, w);
    }
    return 0;
}
