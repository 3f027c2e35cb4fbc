/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: the buffers or events in the payload of a BufferResponse. Mostly it is one; sort-merge
 * partitions send several of one type side by side, with a sequence number each.
 */
#ifndef INSPECT_PAYLOAD_PARTS_H
#define INSPECT_PAYLOAD_PARTS_H

#include "fnet/wire.h"

/** Those that were not given yet; all zero: none. */
struct payload_parts {
    struct fnet_span payload; /**< theirs */
    struct fnet_span sizes;   /**< an int32 each; none: PAYLOAD is one */
    uint32_t left;
};

/** How many there are in BUFFER. */
static inline uint32_t payload_parts_count(const struct fnet_buffer_response *buffer)
{
    return buffer->partials ? buffer->partials : 1;
}

/** All of BUFFER, whose whole payload is PAYLOAD, borrowed as the sizes are. */
static inline struct payload_parts payload_parts_of(const struct fnet_buffer_response *buffer,
                                                    struct fnet_span payload)
{
    return (struct payload_parts){
        .payload = payload, .sizes = buffer->partial_sizes, .left = payload_parts_count(buffer)};
}

/** The next one; false: none is left. */
static inline bool payload_parts_next(struct payload_parts *p, struct fnet_span *part)
{
    if (p->left == 0)
        return false;
    *part = p->payload;
    if (p->sizes.len > 0) {
        part->len = fnet_load_be32(p->sizes.ptr);
        p->sizes = fnet_span_of(p->sizes.ptr + 4, p->sizes.len - 4);
    }
    p->payload = fnet_span_of(part->ptr + part->len, p->payload.len - part->len);
    p->left--;
    return true;
}

#endif
