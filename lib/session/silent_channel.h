/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session, private: channels in a dialect without AckAllUserRecordsProcessed (before 1.14). Their
 * leave is all that says that every record was processed, so they must not take it before: an
 * EndOfPartition that arrives is held, the gate's reader is told the end of data instead, and gets
 * the end of the partition once it acknowledged.
 */
#ifndef FNET_SESSION_SILENT_CHANNEL_H
#define FNET_SESSION_SILENT_CHANNEL_H

#include "fnet/gate.h"

struct fnet__silent_channel {
    struct fnet_partition_id partition; /**< AddCredit names it */
    bool is_ending;                     /**< EndOfPartition was received, and is held */
    bool has_left;                      /**< CancelPartitionRequest was said */
    int32_t sequence;                   /**< ... and has this number in the gate */
};

/** What is known of CHANNEL; NULL for nothing, as in all newer dialects. */
struct fnet__silent_channel *fnet__silent_channel_find(const struct fnet_id_map *map,
                                                       const struct fnet_channel *channel);

/** Was its EndOfPartition received, and is held? */
bool fnet__silent_channel_is_ending(const struct fnet_id_map *map,
                                    const struct fnet_channel *channel);

/** CHANNEL asks for PARTITION: note it in MAP. Errors: FNET_NOMEM. */
FNET_CHECKED enum fnet_err fnet__silent_channel_keep(struct fnet_id_map *map,
                                                     const struct fnet_channel *channel,
                                                     const struct fnet_partition_id *partition);

/**
 * Hold the EndOfPartition that is in EVENT and has number SEQUENCE; EVENT becomes an EndOfData.
 *
 * Errors: FNET_NOMEM.
 */
FNET_CHECKED enum fnet_err fnet__silent_channel_hold_end(struct fnet__silent_channel *silent,
                                                         int32_t sequence,
                                                         struct fnet_buffer *event);

/**
 * Give CHANNEL the EndOfPartition, if one is held and it is open. SILENT may be NULL.
 *
 * Errors: those of fnet_channel_begin() and fnet_channel_receive().
 */
FNET_CHECKED enum fnet_err fnet__silent_channel_end(const struct fnet__silent_channel *silent,
                                                    struct fnet_channel *channel);

#endif
