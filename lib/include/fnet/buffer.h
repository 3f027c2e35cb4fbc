/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer: memory segments, counted buffers over them, the pools they come from, and the builder /
 * consumer pair by which a buffer is read while it is still being filled. Not thread safe.
 *
 * Source: Flink MemorySegment, NetworkBuffer, BufferBuilder, BufferConsumer, NetworkBufferPool,
 * LocalBufferPool.
 */
#ifndef FNET_BUFFER_H
#define FNET_BUFFER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/data_type.h"
#include "fnet/err.h"
#include "fnet/list.h"

#define FNET_SEGMENT_BYTES (32u << 10)     /**< default, taskmanager.memory.segment-size */
#define FNET_SEGMENT_MIN_BYTES 256u        /**< smallest that is accepted */
#define FNET_SEGMENT_MAX_BYTES (64u << 20) /**< largest */
#define FNET_BUFFERS_PER_CHANNEL 2         /**< exclusive buffers of a channel */
#define FNET_FLOATING_BUFFERS 8            /**< floating buffers of a gate */
#define FNET_MAX_BUFFERS_PER_CHANNEL 10    /**< most in use by one subpartition */

struct fnet_local_pool;
struct fnet_network_pool;

/** How many segments one user of a local pool (a subpartition), or of the heap, has in use. */
struct fnet_quota {
    uint32_t used; /**< counted down when the segment's last reference goes */
    uint32_t max;
};

/**
 * A block of memory, counted. Fields are for the inline functions of this header; users hold
 * buffers, builders and consumers. A segment returns to its pool with its last reference.
 */
struct fnet_segment {
    uint8_t *bytes;
    uint32_t capacity;
    uint32_t written; /**< published by the builder; consumers read below it */
    uint32_t refs;
    bool is_sealed;               /**< nothing will be written any more */
    struct fnet_local_pool *pool; /**< NULL: on the heap, freed with the last reference */
    union {
        struct fnet_quota *quota;  /**< in use: whose use counts it, borrowed; NULL: nobody's */
        struct fnet_segment *next; /**< free: in the network pool's list */
    };
};

void fnet__segment_free(struct fnet_segment *segment);

static inline struct fnet_segment *fnet_segment_ref(struct fnet_segment *segment)
{
    segment->refs++;
    return segment;
}

static inline void fnet_segment_unref(struct fnet_segment *segment)
{
    assert(segment->refs > 0);
    if (--segment->refs == 0)
        fnet__segment_free(segment);
}

/* ---- buffers ----------------------------------------------------------------------------- */

/**
 * A counted reference to a range of a segment: a value. Copying the struct does not count; who
 * holds it owns one reference, until fnet_buffer_clear() or until it is consumed by a call.
 */
struct fnet_buffer {
    struct fnet_segment *segment; /**< NULL: no buffer */
    uint32_t offset;              /**< offset + len <= segment->written */
    uint32_t len;
    uint8_t data_type; /**< enum fnet_data_type */
    bool is_compressed;
};

static inline struct fnet_span fnet_buffer_span(const struct fnet_buffer *buffer)
{
    return fnet_span_of(buffer->segment->bytes + buffer->offset, buffer->len);
}

/** Give the reference back; BUFFER is then no buffer. Safe on no buffer. */
static inline void fnet_buffer_clear(struct fnet_buffer *buffer)
{
    if (buffer->segment)
        fnet_segment_unref(buffer->segment);
    buffer->segment = NULL;
}

/** Another reference to the same range, owned by caller. */
static inline struct fnet_buffer fnet_buffer_ref(const struct fnet_buffer *buffer)
{
    fnet_segment_ref(buffer->segment);
    return *buffer;
}

/**
 * Make a buffer on the heap that holds a copy of BYTES: events, which take no pool memory.
 *
 * @param out  owned by caller.
 *
 * Errors: FNET_RANGE  more than FNET_SEGMENT_MAX_BYTES.
 *         FNET_NOMEM
 */
FNET_CHECKED enum fnet_err fnet_buffer_new_heap(struct fnet_span bytes, uint8_t data_type,
                                                struct fnet_buffer *out);

/** As fnet_buffer_new_heap(), but LEN bytes not yet written: the receiver fills segment->bytes. */
FNET_CHECKED enum fnet_err fnet_buffer_new_heap_room(uint32_t len, uint8_t data_type,
                                                     struct fnet_buffer *out);

/* ---- builder and consumer ---------------------------------------------------------------- */

/** The writing end of one segment. All zero: none open. */
struct fnet_builder {
    struct fnet_segment *segment; /**< owned reference */
};

/** The reading end of the same segment; several may read one builder (broadcast). */
struct fnet_consumer {
    struct fnet_segment *segment; /**< owned reference */
    uint32_t read;                /**< bytes already taken, <= segment->written */
};

static inline bool fnet_builder_is_open(const struct fnet_builder *builder)
{
    return builder->segment != NULL;
}

/** Where the next bytes go. */
static inline uint8_t *fnet_builder_pos(const struct fnet_builder *builder)
{
    return builder->segment->bytes + builder->segment->written;
}

static inline size_t fnet_builder_room(const struct fnet_builder *builder)
{
    return builder->segment->capacity - builder->segment->written;
}

/** Let an empty buffer be full at CAPACITY bytes, 0 < CAPACITY <= room. */
static inline void fnet_builder_limit(struct fnet_builder *builder, size_t capacity)
{
    assert(builder->segment->written == 0 && capacity > 0 &&
           capacity <= builder->segment->capacity);
    builder->segment->capacity = (uint32_t)capacity;
}

/** Publish N <= room bytes written at pos: consumers can see them at once. */
static inline void fnet_builder_commit(struct fnet_builder *builder, size_t n)
{
    builder->segment->written += (uint32_t)n;
}

/** Nothing more will be written: give the reference back, BUILDER is closed. */
static inline void fnet_builder_seal(struct fnet_builder *builder)
{
    builder->segment->is_sealed = true;
    fnet_segment_unref(builder->segment);
    builder->segment = NULL;
}

/** A consumer that starts at what is written now; owned by caller. */
static inline struct fnet_consumer fnet_builder_consumer(const struct fnet_builder *builder)
{
    return (struct fnet_consumer){.segment = fnet_segment_ref(builder->segment),
                                  .read = builder->segment->written};
}

/** Is there something to take? */
static inline bool fnet_consumer_has_data(const struct fnet_consumer *consumer)
{
    return consumer->read < consumer->segment->written;
}

/** Will there never be anything more to take once what is there is taken? */
static inline bool fnet_consumer_is_sealed(const struct fnet_consumer *consumer)
{
    return consumer->segment->is_sealed;
}

/** Take what is written and not yet taken as a DATA_BUFFER, possibly empty; owned by caller. */
static inline struct fnet_buffer fnet_consumer_build(struct fnet_consumer *consumer)
{
    struct fnet_buffer buffer = {.segment = fnet_segment_ref(consumer->segment),
                                 .offset = consumer->read,
                                 .len = consumer->segment->written - consumer->read,
                                 .data_type = FNET_DATA_BUFFER};
    consumer->read = consumer->segment->written;
    return buffer;
}

static inline void fnet_consumer_clear(struct fnet_consumer *consumer)
{
    fnet_segment_unref(consumer->segment);
    consumer->segment = NULL;
}

/* ---- pools ------------------------------------------------------------------------------- */

/**
 * Make the pool of all segments of the process: one mapping, whose pages cost memory once they
 * are used.
 *
 * @param out  owned by caller.
 *
 * Errors: FNET_RANGE  segment_bytes outside FNET_SEGMENT_MIN_BYTES ... FNET_SEGMENT_MAX_BYTES,
 *                     segments is 0 or the product overflows.
 *         FNET_NOMEM
 */
FNET_CHECKED enum fnet_err fnet_network_pool_new(uint32_t segment_bytes, uint32_t segments,
                                                 struct fnet_network_pool **out);
/** Free POOL; every local pool must be closed and every buffer returned. Safe on NULL. */
void fnet_network_pool_free(struct fnet_network_pool *pool);
uint32_t fnet_network_pool_segment_bytes(const struct fnet_network_pool *pool);
/** Segments in all, and those neither promised to a local pool nor lent above a promise. */
uint32_t fnet_network_pool_segments(const struct fnet_network_pool *pool);
uint32_t fnet_network_pool_unreserved(const struct fnet_network_pool *pool);
/** Segments in use now, and the most that ever were. */
uint32_t fnet_network_pool_used(const struct fnet_network_pool *pool);
uint32_t fnet_network_pool_peak(const struct fnet_network_pool *pool);

/**
 * Make a local pool: a quota of a result partition or a gate.
 *
 * @param network   borrowed until the local pool is freed.
 * @param required  segments promised to it, taken from the network pool's unreserved ones.
 * @param max       most it may ever use, >= required; what it uses above REQUIRED comes from
 *                  unreserved segments while there are any.
 * @param out       owned by caller.
 *
 * Errors: FNET_RANGE  max < required or required is 0.
 *         FNET_NOMEM  fewer than REQUIRED segments are unreserved.
 */
FNET_CHECKED enum fnet_err fnet_local_pool_new(struct fnet_network_pool *network, uint32_t required,
                                               uint32_t max, struct fnet_local_pool **out);

/**
 * Close and free POOL. Buffers still out keep their memory and return to the network pool with
 * their last reference; the quotas of its users are not touched any more. Safe on NULL.
 */
void fnet_local_pool_free(struct fnet_local_pool *pool);

/**
 * BELL rings when a take() has failed since the last ring and another may succeed: a segment of
 * POOL returned, or another pool gave back what it had above its promise.
 */
void fnet_local_pool_set_bell(struct fnet_local_pool *pool, struct fnet_bell bell);

/**
 * Take one empty segment, unsealed, with one reference.
 *
 * @param quota  borrowed until the segment returns or the pool is freed; NULL: only the pool's
 *               own bound counts.
 * @param out    owned by caller, as a builder: seal it, or take a consumer first.
 *
 * Errors: FNET_AGAIN  QUOTA or the pool is used up; the bell rings when a segment returns.
 * Cost:   O(1).
 * Source: Flink LocalBufferPool.requestBufferBuilder.
 */
FNET_CHECKED enum fnet_err fnet_local_pool_take(struct fnet_local_pool *pool,
                                                struct fnet_quota *quota, struct fnet_builder *out);

uint32_t fnet_local_pool_used(const struct fnet_local_pool *pool);
uint32_t fnet_local_pool_max(const struct fnet_local_pool *pool);
uint32_t fnet_local_pool_segment_bytes(const struct fnet_local_pool *pool);

#endif
