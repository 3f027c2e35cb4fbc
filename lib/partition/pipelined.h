/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition, private: one subpartition kept in memory.
 */
#ifndef FNET_PARTITION_PIPELINED_H
#define FNET_PARTITION_PIPELINED_H

#include "fnet/partition.h"

/** A place in the queue: the reading end of a data buffer, or a whole event. */
struct fnet__queued {
    struct fnet_consumer consumer; /**< owned */
    uint8_t data_type;             /**< enum fnet_data_type */
};

/** How far the end of the reading has come. */
enum fnet__subpartition_end {
    FNET__END_AHEAD,
    FNET__END_OF_DATA_TAKEN, /**< by the view */
    FNET__END_OF_PARTITION_QUEUED,
    FNET__END_OF_PARTITION_TAKEN,
};

/**
 * Invariants: the queue is a ring of COUNT entries from HEAD; only the last entry may be
 * unsealed; backlog is the number of data entries.
 */
struct fnet__pipelined {
    struct fnet__queued *ring; /**< owned */
    uint32_t capacity;         /**< 0 or a power of two */
    uint32_t head;
    uint32_t count;
    uint32_t backlog;
    bool is_flush_requested;
    enum fnet__subpartition_end end;
    bool yields_empty;
    enum fnet_subpartition_state state;
    struct fnet_builder builder;
    struct fnet_quota quota; /**< of segments in use by this subpartition */
    struct fnet_bell bell;   /**< of the view */
};

/** Will what is added be read by anybody? */
static inline bool fnet__pipelined_is_dropping(const struct fnet__pipelined *s)
{
    return s->state >= FNET_SUBPARTITION_DONE;
}

/** Was anything ever queued? */
static inline bool fnet__pipelined_is_begun(const struct fnet__pipelined *s)
{
    return s->capacity > 0;
}

void fnet__pipelined_init(struct fnet__pipelined *s, uint32_t max_buffers);
void fnet__pipelined_clear(struct fnet__pipelined *s);

/** Queue the reading end of BUILDER, which has a new segment. Errors: FNET_NOMEM. */
FNET_CHECKED enum fnet_err fnet__pipelined_add(struct fnet__pipelined *s,
                                               const struct fnet_builder *builder);
/** Queue another reference to EVENT. Errors: FNET_NOMEM. */
FNET_CHECKED enum fnet_err fnet__pipelined_add_event(struct fnet__pipelined *s,
                                                     const struct fnet_buffer *event);
/** The last data buffer was sealed: it can be read to its end. */
void fnet__pipelined_notice_sealed(struct fnet__pipelined *s);
/** Let the reader have what is written so far. */
void fnet__pipelined_flush(struct fnet__pipelined *s);

/** Drop the queue. */
void fnet__pipelined_drop(struct fnet__pipelined *s);

bool fnet__pipelined_is_available(const struct fnet__pipelined *s, uint32_t credits);
uint32_t fnet__pipelined_backlog(const struct fnet__pipelined *s);
FNET_CHECKED enum fnet_err fnet__pipelined_next(struct fnet__pipelined *s,
                                                struct fnet_view_item *out);

#endif
