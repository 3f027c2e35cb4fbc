/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a savefile gives the same packets, error and offset however it is cut. Input: a byte
 * that says how to cut, then the file.
 */
#include <stdlib.h>

#include "fnet/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* What came out of a file: its packets as a hash, since there may be many. */
struct outcome {
    uint64_t hash;
    unsigned packets;
    enum fnet_err err;
    uint64_t offset;
    bool is_mid_record;
};

static void add(struct outcome *o, uint64_t value)
{
    o->hash = (o->hash ^ value) * UINT64_C(0x100000001b3);
}

static void add_packet(struct outcome *o, const struct fnet_captured *c)
{
    require(c->original_len >= c->bytes.len);
    require(c->bytes.len <= FNET_SAVEFILE_RECORD_MAX_BYTES);
    add(o, c->has_time);
    add(o, c->has_time ? c->time_ns : 0);
    add(o, c->link_type);
    add(o, c->original_len);
    add(o, c->bytes.len);
    for (size_t i = 0; i < c->bytes.len; i++)
        add(o, c->bytes.ptr[i]);
    o->packets++;
}

static struct outcome parse(struct fnet_span file, size_t most)
{
    struct outcome o = {.err = FNET_AGAIN};
    struct fnet_savefile *s;
    struct fnet_captured c;

    require(fnet_savefile_new(&s) == FNET_OK);
    while (file.len > 0 && o.err == FNET_AGAIN) {
        size_t n = file.len < most ? file.len : most;
        /* On the heap by itself, so that a sanitizer sees a read beyond it. */
        uint8_t *piece = malloc(n);
        require(piece != NULL);
        memcpy(piece, file.ptr, n);
        require(fnet_savefile_feed(s, fnet_span_of(piece, n)) == FNET_OK);
        free(piece);
        file = fnet_span_of(file.ptr + n, file.len - n);
        while ((o.err = fnet_savefile_next(s, &c)) == FNET_OK)
            add_packet(&o, &c);
    }
    o.offset = fnet_savefile_offset(s);
    o.is_mid_record = fnet_savefile_is_mid_record(s);
    if (o.err != FNET_AGAIN)
        require(fnet_savefile_next(s, &c) == FNET_STATE);
    fnet_savefile_free(s);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct fnet_span file = fnet_span_of(data + 1, size - 1);
    struct outcome whole = parse(file, SIZE_MAX);
    struct outcome cut = parse(file, 1 + (size_t)data[0] % 61);

    require(whole.hash == cut.hash && whole.packets == cut.packets);
    require(whole.err == cut.err && whole.offset == cut.offset);
    require(whole.is_mid_record == cut.is_mid_record || whole.err != FNET_AGAIN);
    return 0;
}
