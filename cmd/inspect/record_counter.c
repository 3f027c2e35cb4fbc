/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records counted by their lengths alone.
 *
 * Source: Flink RecordWriter.serializeRecord (an int32 and so many bytes).
 */
#include "inspect/record_counter.h"

#define RUN 8

bool record_place_is_mid_record(const struct record_place *p)
{
    return p->body_left > 0 || p->length_seen > 0;
}

bool record_place_is_same(const struct record_place *a, const struct record_place *b)
{
    return a->body_left == b->body_left && a->length == b->length &&
           a->length_seen == b->length_seen;
}

static struct fnet_span behind(struct fnet_span bytes, size_t n)
{
    return fnet_span_of(bytes.ptr + n, bytes.len - n);
}

/* What BYTES have of the current body; returns what follows. */
static struct fnet_span take_body(struct record_count *c, struct fnet_span bytes)
{
    const size_t n = bytes.len < c->to.body_left ? bytes.len : c->to.body_left;

    if (c->to.body_left == 0)
        return bytes;
    c->to.body_left -= (uint32_t)n;
    c->records += c->to.body_left == 0;
    return behind(bytes, n);
}

/* Are the RUN records that begin at POS, STRIDE bytes apart, of the same length as the one before
 * them? All are looked at at once: to go from one to the next is to wait for each length. */
static bool is_run(const uint8_t *pos, size_t stride)
{
    uint32_t differ = 0;

    for (size_t i = 0; i < RUN; i++)
        differ |= fnet_load_be32(pos + i * stride) ^ (uint32_t)(stride - FNET_RECORD_HEADER_BYTES);
    return differ == 0;
}

/* Records at the head of BYTES, RUN at a time as long as all are STRIDE bytes; returns how many. */
static size_t find_run(struct fnet_span bytes, size_t stride)
{
    size_t n = 0;

    while ((n + RUN) * stride <= bytes.len && is_run(bytes.ptr + n * stride, stride))
        n += RUN;
    return n;
}

/* The records that lie whole at the head of BYTES; returns what follows. */
static struct fnet_span take_whole(struct record_count *c, struct fnet_span bytes)
{
    size_t patience = 1; /* records until the next look for a run; doubled where there was none */
    size_t countdown = 1;

    while (bytes.len >= FNET_RECORD_HEADER_BYTES) {
        const size_t len = fnet_load_be32(bytes.ptr);
        if (len > FNET_RECORD_MAX_BYTES || len > bytes.len - FNET_RECORD_HEADER_BYTES)
            break;
        bytes = behind(bytes, FNET_RECORD_HEADER_BYTES + len);
        c->records++;
        if (--countdown > 0)
            continue;
        const size_t n = find_run(bytes, FNET_RECORD_HEADER_BYTES + len);
        bytes = behind(bytes, n * (FNET_RECORD_HEADER_BYTES + len));
        c->records += n;
        patience = n > 0 ? 1 : 2 * patience;
        countdown = patience;
    }
    return bytes;
}

/* A length that is cut, or whose body is, or that is none; returns what follows. */
static struct fnet_span take_length(struct record_count *c, struct fnet_span bytes)
{
    struct record_place *to = &c->to;

    while (bytes.len > 0 && to->length_seen < FNET_RECORD_HEADER_BYTES) {
        to->length = to->length << 8 | *bytes.ptr;
        to->length_seen++;
        bytes = behind(bytes, 1);
    }
    if (to->length_seen < FNET_RECORD_HEADER_BYTES)
        return bytes;
    c->is_bad = to->length > FNET_RECORD_MAX_BYTES;
    c->records += to->length == 0;
    *to = (struct record_place){.body_left = to->length};
    return bytes;
}

void record_count_add(struct record_count *c, struct fnet_span bytes)
{
    while (bytes.len > 0 && !c->is_bad) {
        bytes = take_body(c, bytes);
        if (c->to.length_seen == 0)
            bytes = take_whole(c, bytes);
        bytes = take_length(c, bytes);
    }
}
