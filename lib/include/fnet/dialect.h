/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base: dialects, the layouts that the versions of Flink speak.
 *
 * No frame says which version wrote it, and all of a connection speak one. A dialect is a row of
 * what differs: where fields stand, how long ids are, which messages and events there are. Structs
 * always have the newest form, whatever dialect they were decoded from; what that has not stays
 * zero.
 *
 * Source: Flink NettyMessage, EventSerializer, Buffer.DataType, the id classes, of 1.5 to 2.3.
 */
#ifndef FNET_DIALECT_H
#define FNET_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/err.h"
#include "fnet/id.h"

/** Offsets of the fields of a BufferResponse in its frame; 0: the dialect has no such field. */
struct fnet_buffer_response_layout {
    uint8_t subpartition;
    uint8_t partials;
    uint8_t sequence;
    uint8_t backlog;
    uint8_t data_type;
    uint8_t is_compressed;
    uint8_t size;
    uint8_t head; /**< where partial sizes and payload begin */
};

/** How a barrier says whether it is aligned. */
enum fnet_alignment_form {
    FNET_ALIGNMENT_ABSENT,  /**< the receiver's configuration decides */
    FNET_ALIGNMENT_FLAGS,   /**< two booleans: exactly once, unaligned */
    FNET_ALIGNMENT_ORDINAL, /**< one byte, enum fnet_alignment_type */
};

struct fnet_barrier_layout {
    uint8_t bytes;   /**< of a barrier without location, padding included */
    bool is_compact; /**< checkpoint type in 1 byte, savepoint format behind it; else
                          type in 4, no format */
    enum fnet_alignment_form alignment;
    bool has_timeout;             /**< 8 bytes behind the alignment */
    uint8_t checkpoint_types_max; /**< the greatest enum fnet_checkpoint_type */
};

/** Data types on the wire and in structs (enum fnet_data_type). */
struct fnet_data_type_numbers {
    uint8_t to_wire[14];   /**< by enum fnet_data_type; FNET_NO_DATA_TYPE: there is none */
    uint8_t from_wire[14]; /**< by the byte on the wire; 0: there is none */
};
#define FNET_NO_DATA_TYPE 0xff

/** What the backlog of a BufferResponse counts. */
enum fnet_backlog_rule {
    FNET_BACKLOG_ALL,      /**< every queued data buffer, also one that is still being filled */
    FNET_BACKLOG_SENDABLE, /**< those that could be sent now */
};

/** One range of Flink versions that speak alike. */
struct fnet_dialect {
    const char *name;     /**< the first version ("1.16", "1.11.4"), which no other dialect has */
    const char *versions; /**< all, for people: "1.16 to 1.17" */
    bool is_released;     /**< else the layout may still change */

    uint8_t partition_request_bytes; /**< length of the frame */
    uint8_t partition_bytes;         /**< IntermediateResultPartitionID: 16, or 20 with number */
    uint8_t attempt_bytes;           /**< ExecutionAttemptID: 16, only what fnet_partition_id
                                          calls graph, or 40 */
    bool has_ranges;                 /**< requests name the last subpartition too */
    bool has_recovery;               /**< requests say whether their channel recovers */
    bool credit_names_partition;     /**< AddCredit has the ids of the partition in front */
    bool segment_names_subpartition; /**< SegmentId has a subpartition */
    struct fnet_buffer_response_layout buffer;
    const struct fnet_data_type_numbers *data_types;
    bool has_all_codecs; /**< compressed buffers may be ZSTD or LZO; else, if at all, only LZ4 */
    enum fnet_backlog_rule backlog;
    uint16_t messages; /**< bit N: message type N exists; fnet's own: newest only */
    uint16_t events;   /**< bit N: event type N exists */
    struct fnet_barrier_layout barrier;
    uint8_t end_of_data_bytes; /**< of the event: 4, or 5 with the stop mode */
};

/** All dialects from the oldest on; NULL when I is past the last. */
FNET_API const struct fnet_dialect *fnet_dialect_at(size_t i);
/** The newest one that was released: what fnet speaks where nothing else is asked for. */
FNET_API const struct fnet_dialect *fnet_dialect_newest(void);

/**
 * The dialect of a Flink VERSION: "1.17", "1.17.2". Without a patch level the newest patch is
 * meant, which matters in 1.11 and 1.12.
 *
 * Errors: FNET_INVALID  VERSION is no version, or one that is older than 1.5 or not known yet.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_dialect_parse(const char *version,
                                                       const struct fnet_dialect **out);

/**
 * The dialect of a client whose first PartitionRequest is a frame of LENGTH bytes. Versions from
 * one change of that frame to the next cannot be told apart by it (1.5 to 1.10, 1.11 to 1.15, 1.16
 * to 1.18, 1.19 to 2.3): it is ASSUMED if that is one of them, else the newest of them.
 *
 * @param assumed  may be NULL.
 *
 * Returns NULL when no version's request is that long.
 */
FNET_API const struct fnet_dialect *fnet_dialect_of_request(uint32_t length,
                                                            const struct fnet_dialect *assumed);

static inline bool fnet_dialect_has_message(const struct fnet_dialect *dialect, unsigned type)
{
    return type < 16 ? dialect->messages >> type & 1 : dialect == fnet_dialect_newest();
}

static inline bool fnet_dialect_has_event(const struct fnet_dialect *dialect, unsigned type)
{
    return type < 16 && (dialect->events >> type & 1);
}

/** The byte for TYPE (any byte) on the wire; FNET_NO_DATA_TYPE when DIALECT has none. */
static inline uint8_t fnet_dialect_put_data_type(const struct fnet_dialect *dialect, uint8_t type)
{
    return type < sizeof dialect->data_types->to_wire ? dialect->data_types->to_wire[type]
                                                      : FNET_NO_DATA_TYPE;
}

/**
 * The enum fnet_data_type that WIRE stands for; 0 for none. Before 1.19 the end of data and of a
 * partition are but events, before 1.11 barriers too.
 */
static inline uint8_t fnet_dialect_get_data_type(const struct fnet_dialect *dialect, uint8_t wire)
{
    return wire < sizeof dialect->data_types->from_wire ? dialect->data_types->from_wire[wire] : 0;
}

/** ID without what DIALECT does not carry: two ids that look alike there become equal. */
FNET_API struct fnet_partition_id fnet_partition_id_as_in(const struct fnet_dialect *dialect,
                                                          const struct fnet_partition_id *id);

/**
 * Draw at random the id of an input channel whose consumer speaks DIALECT: the ids of fnet's
 * channels say that, for a request leaves it open. Random are the last 8 bytes.
 *
 *     offset  bytes  meaning
 *          0      4  "fnet"
 *          4      3  major, minor and patch of the name of the dialect
 *          7      1  0
 */
FNET_API void fnet_channel_id_random(const struct fnet_dialect *dialect, struct fnet_id *id);
/** The dialect that the id of a channel says; NULL: it says none, as Flink's. */
FNET_API const struct fnet_dialect *fnet_channel_id_dialect(const struct fnet_id *id);

/** A partition id on the wire: partition_bytes + attempt_bytes. */
FNET_API void fnet_put_partition_id_in(const struct fnet_dialect *dialect, struct fnet_writer *w,
                                       const struct fnet_partition_id *id);
FNET_API void fnet_get_partition_id_in(const struct fnet_dialect *dialect, struct fnet_reader *r,
                                       struct fnet_partition_id *id);

#endif
