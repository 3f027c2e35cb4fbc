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

enum fnet_err fnet_record_deserializer_next(struct fnet_record_deserializer *d,
                                            struct fnet_span *records, size_t max, size_t *count)
{
    assert(max > 0);
    if (d->is_delivered) {
        fnet_spill_buffer_reset(&d->record);
        d->header_len = 0;
        d->is_delivered = false;
    }
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
