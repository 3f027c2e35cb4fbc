/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames on their way out: heads are kept here, payloads stay in their segments.
 *
 * Source: Flink PartitionRequestQueue.writeAndFlushNextMessageIfPossible, of which this gathers
 * several into one write.
 */
#include "outbox.h"

#include <stdlib.h>

#define FIRST_CAPACITY 64
/* As much as ever waits of data and answers. A ring that was larger, thousands of requests long, is
   of no use once they are gone. */
#define KEPT_CAPACITY FNET__OUTBOX_FULL_FRAMES

static struct fnet__outgoing *frame_at(const struct fnet__outbox *outbox, size_t i)
{
    return &outbox->ring[(outbox->first + i) & (outbox->capacity - 1)];
}

static size_t frame_bytes(const struct fnet__outgoing *frame)
{
    return frame->head_len + (frame->payload.segment ? frame->payload.len : 0);
}

void fnet__outbox_clear(struct fnet__outbox *outbox)
{
    for (size_t i = 0; i < outbox->count; i++)
        fnet_buffer_clear(&frame_at(outbox, i)->payload);
    free(outbox->ring);
    *outbox = (struct fnet__outbox){.count = 0};
}

static enum fnet_err make_room(struct fnet__outbox *outbox)
{
    if (outbox->count < outbox->capacity)
        return FNET_OK;

    size_t capacity = outbox->capacity ? outbox->capacity * 2 : FIRST_CAPACITY;
    struct fnet__outgoing *ring = malloc(capacity * sizeof *ring);
    if (!ring)
        return FNET_NOMEM;
    for (size_t i = 0; i < outbox->count; i++)
        ring[i] = *frame_at(outbox, i);
    free(outbox->ring);
    outbox->ring = ring;
    outbox->capacity = capacity;
    outbox->first = 0;
    return FNET_OK;
}

/* A frame whose head has no room in the ring travels as a payload of its own. */
static enum fnet_err encode_long(const struct fnet_dialect *dialect,
                                 const struct fnet_message *message, size_t len,
                                 struct fnet_buffer *out)
{
    struct fnet_buffer buffer;
    enum fnet_err err = fnet_buffer_new_heap_room((uint32_t)len, FNET_EVENT_BUFFER, &buffer);

    if (err != FNET_OK)
        return err;
    struct fnet_writer w = fnet_writer_of(buffer.segment->bytes, len);
    err = fnet_message_encode(dialect, message, &w);
    if (err != FNET_OK) {
        fnet_buffer_clear(&buffer);
        return err;
    }
    *out = buffer;
    return FNET_OK;
}

enum fnet_err fnet__outbox_push(struct fnet__outbox *outbox, const struct fnet_dialect *dialect,
                                const struct fnet_message *message, struct fnet_buffer *payload)
{
    enum fnet_err err = make_room(outbox);
    if (err != FNET_OK)
        return err;

    struct fnet__outgoing *frame = frame_at(outbox, outbox->count);
    size_t len = fnet_message_encoded_bytes(dialect, message);
    frame->head_len = 0;
    frame->payload = (struct fnet_buffer){.segment = NULL};
    if (len > sizeof frame->head) {
        err = encode_long(dialect, message, len, &frame->payload);
    } else {
        struct fnet_writer w = fnet_writer_of(frame->head, sizeof frame->head);
        err = fnet_message_encode(dialect, message, &w);
        frame->head_len = (uint32_t)len;
    }
    if (err != FNET_OK)
        return err;
    if (payload) {
        frame->payload = *payload;
        payload->segment = NULL;
    }
    outbox->count++;
    return FNET_OK;
}

size_t fnet__outbox_gather(const struct fnet__outbox *outbox, struct iovec *spans, size_t max)
{
    size_t skip = outbox->sent;
    size_t n = 0;

    for (size_t i = 0; i < outbox->count && n < max; i++) {
        struct fnet__outgoing *frame = frame_at(outbox, i);
        if (skip < frame->head_len)
            spans[n++] =
                (struct iovec){.iov_base = frame->head + skip, .iov_len = frame->head_len - skip};
        skip = skip > frame->head_len ? skip - frame->head_len : 0;
        if (n < max && frame->payload.segment && frame->payload.len > skip)
            spans[n++] = (struct iovec){.iov_base = frame->payload.segment->bytes +
                                                    frame->payload.offset + skip,
                                        .iov_len = frame->payload.len - skip};
        skip = 0;
    }
    return n;
}

size_t fnet__outbox_advance(struct fnet__outbox *outbox, size_t n)
{
    size_t whole = 0;

    outbox->sent += n;
    while (outbox->count > 0 && outbox->sent >= frame_bytes(frame_at(outbox, 0))) {
        struct fnet__outgoing *frame = frame_at(outbox, 0);
        outbox->sent -= frame_bytes(frame);
        fnet_buffer_clear(&frame->payload);
        outbox->first = (outbox->first + 1) & (outbox->capacity - 1);
        outbox->count--;
        whole++;
    }
    if (outbox->count == 0 && outbox->capacity > KEPT_CAPACITY)
        fnet__outbox_clear(outbox);
    return whole;
}
