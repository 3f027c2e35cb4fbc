/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition: a result partition, its subpartitions in memory, the views that read them, and the
 * registry in which requests find them. Not thread safe.
 *
 * The writing side appends bytes to an open buffer per subpartition; the buffer stands in the
 * subpartition's queue from its first byte, so the reading side can take it while it is filled.
 * Readers learn of data in three cases: a buffer became full, a flush, an event.
 *
 * Source: Flink ResultPartition, BufferWritingResultPartition, PipelinedSubpartition,
 * PipelinedSubpartitionView, ResultPartitionManager.
 */
#ifndef FNET_PARTITION_H
#define FNET_PARTITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/buffer.h"
#include "fnet/compress.h"
#include "fnet/dialect.h"
#include "fnet/err.h"
#include "fnet/id.h"
#include "fnet/list.h"

/** Most subpartitions of one partition: Flink's bound on parallelism. */
#define FNET_SUBPARTITIONS_MAX 32768

/** ResultPartitionType; the numbers also travel in description responses. */
enum fnet_partition_type {
    FNET_PIPELINED = 0,         /**< as many buffers as the network pool has */
    FNET_PIPELINED_BOUNDED = 1, /**< at most channels x buffers-per-channel + floating */
};

/** How far the one reading of a subpartition has come. */
enum fnet_subpartition_state {
    FNET_SUBPARTITION_WAITING,      /**< no consumer has asked for it */
    FNET_SUBPARTITION_READING,      /**< a view is open */
    FNET_SUBPARTITION_ACKNOWLEDGED, /**< its consumer has processed every record */
    FNET_SUBPARTITION_DONE,         /**< ... and has taken leave */
    FNET_SUBPARTITION_CANCELLED,    /**< its consumer did not want the rest */
    FNET_SUBPARTITION_LOST,         /**< its consumer went away without a word */
};

struct fnet_partition;
struct fnet_view;

struct fnet_partition_config {
    struct fnet_partition_id id;
    const char *name; /**< for messages and descriptions; copied, at most FNET_NAME_MAX_BYTES */
    enum fnet_partition_type type;
    uint32_t subpartitions;       /**< 1 ... FNET_SUBPARTITIONS_MAX */
    uint8_t format;               /**< enum fnet_record_format, only passed on in descriptions */
    struct fnet_local_pool *pool; /**< borrowed; its bell is not touched */
    uint32_t max_buffers_per_channel; /**< > 0, most segments one subpartition may have in use */
    enum fnet_codec codec;            /**< of fnet_view_compress(); NONE: nothing is compressed */
    struct fnet_bell progress;        /**< rings when a subpartition's state changed */
};

#define FNET_PARTITION_CONFIG_INIT                                                                 \
    {                                                                                              \
        .type = FNET_PIPELINED_BOUNDED, .subpartitions = 1,                                        \
        .max_buffers_per_channel = FNET_MAX_BUFFERS_PER_CHANNEL                                    \
    }

/**
 * Segments a partition needs at least and may use at most.
 *
 * Source: Flink ResultPartitionFactory, NettyShuffleUtils: N + 1; bounded types c * N + f.
 */
void fnet_partition_buffers(enum fnet_partition_type type, uint32_t subpartitions,
                            uint32_t buffers_per_channel, uint32_t floating_buffers,
                            uint32_t *required, uint32_t *max);

/** Errors: FNET_INVALID, FNET_RANGE, FNET_UNSUPPORTED (codec), FNET_NOMEM. OUT is owned by caller.
 */
FNET_CHECKED enum fnet_err fnet_partition_new(const struct fnet_partition_config *config,
                                              struct fnet_partition **out);
/** Free PARTITION; all views are released and no session holds its buffers. Safe on NULL. */
void fnet_partition_free(struct fnet_partition *partition);

const struct fnet_partition_id *fnet_partition_id(const struct fnet_partition *partition);
const char *fnet_partition_name(const struct fnet_partition *partition);
uint32_t fnet_partition_subpartitions(const struct fnet_partition *partition);
enum fnet_partition_type fnet_partition_type(const struct fnet_partition *partition);
uint8_t fnet_partition_format(const struct fnet_partition *partition);
enum fnet_codec fnet_partition_codec(const struct fnet_partition *partition);
bool fnet_partition_is_finished(const struct fnet_partition *partition);
enum fnet_subpartition_state fnet_partition_state(const struct fnet_partition *partition,
                                                  uint32_t subpartition);
/** How many subpartitions are in STATE. O(1). */
uint32_t fnet_partition_count(const struct fnet_partition *partition,
                              enum fnet_subpartition_state state);
/** Data buffers queued in all subpartitions. O(subpartitions). */
uint32_t fnet_partition_queued(const struct fnet_partition *partition);

/* ---- writing ----------------------------------------------------------------------------- */

/**
 * The builder of SUBPARTITION with room for at least one byte. A full one is sealed, a new one
 * opened and queued. Write, commit, and ask again when it has no room left.
 *
 * @param out  borrowed until the next call on PARTITION for the same subpartition.
 *
 * A subpartition that was cancelled or lost takes what is written and drops it.
 *
 * Errors: FNET_AGAIN   no segment: the local pool's bell rings.
 *         FNET_NOMEM
 * Cost:   O(1).
 */
FNET_CHECKED enum fnet_err fnet_partition_builder(struct fnet_partition *partition,
                                                  uint32_t subpartition, struct fnet_builder **out);

/**
 * Where the builders of the subpartitions stand. A writer looks here first, for every record: an
 * open builder with room needs no call.
 */
struct fnet_builder_slots {
    char *first;
    size_t stride;
};
struct fnet_builder_slots fnet_partition_builder_slots(struct fnet_partition *partition);

static inline struct fnet_builder *fnet_builder_slot(struct fnet_builder_slots slots,
                                                     uint32_t subpartition)
{
    return (struct fnet_builder *)(void *)(slots.first + subpartition * slots.stride);
}

/**
 * As fnet_partition_builder(), for one builder that every subpartition reads (broadcast). It and
 * the subpartitions' own builders end each other, so that every subpartition has all bytes in the
 * order of writing.
 */
FNET_CHECKED enum fnet_err fnet_partition_shared_builder(struct fnet_partition *partition,
                                                         struct fnet_builder **out);

/**
 * Nothing more goes into the open builder of *SUBPARTITION, or into the shared one when NULL: its
 * readers may have it. To be called once it is full, else they wait until the next one is opened.
 */
void fnet_partition_seal(struct fnet_partition *partition, const uint32_t *subpartition);

/** Bytes were committed to builders since the last flush. */
void fnet_partition_mark_written(struct fnet_partition *partition);
/** Make everything written so far available to the readers. O(subpartitions) if anything was. */
void fnet_partition_flush(struct fnet_partition *partition);
/** Is there something a flush would make available? */
bool fnet_partition_wants_flush(const struct fnet_partition *partition);

/**
 * Put an event behind everything written, in every subpartition.
 *
 * @param event  consumed: an event buffer on the heap.
 *
 * Errors: FNET_NOMEM; the event then may be in some subpartitions and not in others: fail.
 */
FNET_CHECKED enum fnet_err fnet_partition_broadcast_event(struct fnet_partition *partition,
                                                          struct fnet_buffer *event);

/**
 * End of input: EndOfData goes into every subpartition, and each gets its EndOfPartition once its
 * consumer has acknowledged all records. Nothing may be written afterwards.
 */
FNET_CHECKED enum fnet_err fnet_partition_finish(struct fnet_partition *partition);

/* ---- reading ----------------------------------------------------------------------------- */

/** What a view yields. */
struct fnet_view_item {
    struct fnet_buffer buffer; /**< owned by caller */
    uint32_t backlog;          /**< data buffers queued behind it that could be sent */
    uint32_t queued;           /**< all of them, also the last one while it is being filled */
};

/**
 * Begin the one reading of SUBPARTITION.
 *
 * @param bell         rings when fnet_view_is_available() may have become true.
 * @param yield_empty  yield a finished buffer without new bytes too, as the 0 exclusive buffers
 *                     of its channel make necessary: it returns a credit.
 * @param out          borrowed from the partition until released.
 *
 * Errors: FNET_RANGE  no such subpartition.
 *         FNET_STATE  it is being read or was read already.
 */
FNET_CHECKED enum fnet_err fnet_view_open(struct fnet_partition *partition, uint32_t subpartition,
                                          struct fnet_bell bell, bool yield_empty,
                                          struct fnet_view **out);

/** Is there an item that may be sent with CREDITS left? Events are free. */
bool fnet_view_is_available(const struct fnet_view *view, uint32_t credits);
/** Data buffers that could be sent, were there credit. */
uint32_t fnet_view_backlog(const struct fnet_view *view);
/** Errors: FNET_AGAIN. */
FNET_CHECKED enum fnet_err fnet_view_next(struct fnet_view *view, struct fnet_view_item *out);

/**
 * Put a compressed block in the place of BUFFER, taken from VIEW, for a reader that can decompress
 * what the partition's codec makes. BUFFER stays as it is if it is an event or empty, if it would
 * not become smaller, and if there is no memory for it: then it is sent as it is.
 *
 * Shape: the block is where the buffer was, and shorter. Only where several views read one segment
 *        (broadcast) each gets a block of its own on the heap: as many at a time as the partition's
 *        pool may have segments.
 * Cost:  the codec's, and a copy of the block.
 * Source: Flink BoundedBlockingSubpartition, ResultPartition.canBeCompressed.
 */
void fnet_view_compress(const struct fnet_view *view, struct fnet_buffer *buffer);

/**
 * The consumer has processed every record up to EndOfData: EndOfPartition may follow.
 *
 * Errors: FNET_STATE  EndOfData was not sent yet, or it was acknowledged before.
 *         FNET_NOMEM
 */
FNET_CHECKED enum fnet_err fnet_view_acknowledge(struct fnet_view *view);

/**
 * The consumer has no word by which to acknowledge: EndOfPartition may follow EndOfData at once.
 * That it takes leave after EndOfPartition is its acknowledgement then.
 *
 * Errors: FNET_STATE  EndOfData was not sent yet, or EndOfPartition is queued already.
 *         FNET_NOMEM
 */
FNET_CHECKED enum fnet_err fnet_view_conclude(struct fnet_view *view);

/**
 * End the reading: the queue is dropped, VIEW is no longer valid. It is DONE if all records were
 * acknowledged, or if it is not lost and had its EndOfPartition.
 */
void fnet_view_release(struct fnet_view *view, bool is_lost);

const struct fnet_partition *fnet_view_partition(const struct fnet_view *view);
uint32_t fnet_view_subpartition(const struct fnet_view *view);

/* ---- registry ---------------------------------------------------------------------------- */

/** The partitions of a process, in the order they were added. All zero is empty. */
struct fnet_registry {
    struct fnet_partition **partitions; /**< owned array of borrowed partitions */
    size_t count;
};

/** Errors: FNET_STATE (its id is there already), FNET_NOMEM. PARTITION is borrowed. */
FNET_CHECKED enum fnet_err fnet_registry_add(struct fnet_registry *registry,
                                             struct fnet_partition *partition);
/**
 * The first partition whose id looks like ID in DIALECT; NULL when there is none. O(partitions).
 */
struct fnet_partition *fnet_registry_find(const struct fnet_registry *registry,
                                          const struct fnet_dialect *dialect,
                                          const struct fnet_partition_id *id);
void fnet_registry_clear(struct fnet_registry *registry);

#endif
