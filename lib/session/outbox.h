/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session, private: frames on their way out.
 */
#ifndef FNET_SESSION_OUTBOX_H
#define FNET_SESSION_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "fnet/buffer.h"
#include "fnet/wire.h"

/** Room for the head of any frame but ErrorResponse and DescriptionResponse. */
#define FNET__OUTBOX_HEAD_BYTES 100
/** Data frames are added while fewer wait: what one gathered write sends. */
#define FNET__OUTBOX_DATA_FRAMES 32
/** More answers than this that the peer does not read: nothing more is read from it. */
#define FNET__OUTBOX_FULL_FRAMES 128

struct fnet__outgoing {
    uint8_t head[FNET__OUTBOX_HEAD_BYTES];
    uint32_t head_len;
    struct fnet_buffer payload; /**< owned; behind the head, if it has a segment */
};

/** A ring of COUNT frames from FIRST; of the first, SENT bytes are gone. All zero is empty. */
struct fnet__outbox {
    struct fnet__outgoing *ring; /**< owned */
    size_t capacity;             /**< 0 or a power of two */
    size_t first;
    size_t count;
    size_t sent;
};

void fnet__outbox_clear(struct fnet__outbox *outbox);

/**
 * Append MESSAGE in DIALECT, a BufferResponse with its PAYLOAD (consumed; NULL for any other
 * message).
 *
 * Errors: FNET_NOMEM, FNET_INVALID (as fnet_message_encode()).
 */
FNET_CHECKED enum fnet_err fnet__outbox_push(struct fnet__outbox *outbox,
                                             const struct fnet_dialect *dialect,
                                             const struct fnet_message *message,
                                             struct fnet_buffer *payload);

size_t fnet__outbox_gather(const struct fnet__outbox *outbox, struct iovec *spans, size_t max);
/** N bytes are gone; returns how many frames are thereby whole. */
size_t fnet__outbox_advance(struct fnet__outbox *outbox, size_t n);

#endif
