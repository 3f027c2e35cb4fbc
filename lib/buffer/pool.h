/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer, private: what network pool, local pools and segments know of each other.
 */
#ifndef FNET_BUFFER_POOL_H
#define FNET_BUFFER_POOL_H

#include "fnet/buffer.h"

/**
 * All segments of the process. Those that were in use return to a stack, so that the next take
 * finds memory that is still in the cache; headers and memory never used stay untouched.
 *
 * Invariant: unreserved + sum over the local pools of max(required, used) == total, hence a take
 * within a promise always finds a segment.
 */
struct fnet_network_pool {
    uint8_t *memory; /* owned mapping of total * segment_bytes */
    size_t memory_bytes;
    struct fnet_segment *headers;  /* owned, total of them */
    struct fnet_segment *returned; /* stack, through next */
    uint32_t fresh;                /* headers[fresh ...] were never taken */
    uint32_t segment_bytes;
    uint32_t total;
    uint32_t unreserved;
    uint32_t used; /* <= total */
    uint32_t peak;
    struct fnet_list starved; /* local pools that wait for unreserved to rise */
};

/** An empty segment with one reference; the caller made sure that there is one. */
struct fnet_segment *fnet__buffer_pop(struct fnet_network_pool *pool);
/** Give SEGMENT back to the network pool. */
void fnet__buffer_push(struct fnet_network_pool *pool, struct fnet_segment *segment);
/** The last reference to a segment of a local pool is gone. */
void fnet__buffer_give(struct fnet_segment *segment);

#endif
