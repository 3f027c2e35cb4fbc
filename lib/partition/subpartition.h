/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition, private: what the files of the room share.
 */
#ifndef FNET_PARTITION_SUBPARTITION_H
#define FNET_PARTITION_SUBPARTITION_H

#include "pipelined.h"

#include "fnet/event.h"

/** A subpartition; to its reader it is the view. */
struct fnet_view {
    struct fnet_partition *partition;
    struct fnet__pipelined queue;
};

struct fnet_partition {
    struct fnet_partition_config config;
    char name[FNET_NAME_MAX_BYTES + 1];
    uint32_t counts[FNET_SUBPARTITION_LOST + 1]; /**< subpartitions by state */
    bool is_finished;
    bool wants_flush;                   /**< something was written since the last flush */
    struct fnet_builder shared;         /**< of broadcast */
    struct fnet_compressor *compressor; /**< owned, of all views; NULL: codec is NONE */
    struct fnet_quota copies;           /**< compressed ones of shared buffers, on the heap */
    struct fnet_view subpartitions[];
};

/** Change the state of VIEW's subpartition, and say so. */
void fnet__partition_set_state(struct fnet_view *view, enum fnet_subpartition_state state);

/** An event without fields, as a buffer. Errors: FNET_RANGE, FNET_NOMEM. */
FNET_CHECKED enum fnet_err fnet__partition_new_event(enum fnet_event_type type,
                                                     struct fnet_buffer *out);

#endif
