/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event: what travels between the buffers of a channel, and its bytes.
 *
 * An event is the payload of a BufferResponse with an event data type: a 4-byte type, then its
 * fields, laid out as the dialect of the connection says (fnet/dialect.h). Bytes behind an event's
 * last field are padding and ignored.
 *
 * Source: Flink EventSerializer; CheckpointBarrier, CheckpointOptions, WatermarkEvent.
 */
#ifndef FNET_EVENT_H
#define FNET_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/data_type.h"
#include "fnet/dialect.h"
#include "fnet/err.h"

/** Longest location reference of a barrier; a file system's is 4 bytes and a path. */
#define FNET_LOCATION_MAX_BYTES (1u << 20)

/** The 4-byte type on the wire. */
enum fnet_event_type {
    FNET_EVENT_END_OF_PARTITION = 0,
    FNET_EVENT_CHECKPOINT_BARRIER = 1,
    FNET_EVENT_END_OF_SUPERSTEP = 2,
    FNET_EVENT_OTHER = 3,
    FNET_EVENT_CANCEL_CHECKPOINT = 4,
    FNET_EVENT_END_OF_OUTPUT_CHANNEL_STATE = 5,
    FNET_EVENT_ANNOUNCEMENT = 6,
    FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR = 7,
    FNET_EVENT_END_OF_DATA = 8,
    FNET_EVENT_END_OF_SEGMENT = 9,
    FNET_EVENT_RECOVERY_METADATA = 10,
    FNET_EVENT_WATERMARK = 11,
    FNET_EVENT_END_OF_INPUT_CHANNEL_STATE = 12,
};

enum fnet_checkpoint_type {
    FNET_CHECKPOINT = 0,
    FNET_SAVEPOINT = 1,
    FNET_SAVEPOINT_SUSPEND = 2,
    FNET_SAVEPOINT_TERMINATE = 3,
    FNET_FULL_CHECKPOINT = 4,
};

enum fnet_alignment_type {
    FNET_AT_LEAST_ONCE = 0,
    FNET_ALIGNED = 1,
    FNET_UNALIGNED = 2,
    FNET_FORCED_ALIGNED = 3,
};

/**
 * 1. An alignment timeout of INT64_MAX means none. Before 1.15 no barrier says its savepoint
 * format, canonical; before 1.12 none has a timeout; before 1.11 none says how it is aligned, and
 * it counts as aligned.
 */
struct fnet_checkpoint_barrier {
    int64_t id;
    int64_t timestamp_ms;
    uint8_t checkpoint_type;   /**< enum fnet_checkpoint_type */
    uint8_t savepoint_format;  /**< 0 canonical, 1 native; of savepoints (types 1, 2, 3) only */
    bool has_location;         /**< else the default location */
    struct fnet_span location; /**< an opaque reference, 1 to FNET_LOCATION_MAX_BYTES */
    uint8_t alignment_type;    /**< enum fnet_alignment_type */
    int64_t alignment_timeout_ms;
};

/** 11. A generalised watermark (DataStream V2). */
struct fnet_watermark_event {
    struct fnet_span identifier; /**< modified UTF-8, at most 65535 bytes */
    bool is_aligned;
    bool is_boolean; /**< VALUE is 0 or 1 */
    int64_t value;
};

/** A decoded event, or one to encode. Spans are borrowed. */
struct fnet_event {
    enum fnet_event_type type;
    union {
        struct fnet_checkpoint_barrier barrier;
        struct fnet_watermark_event watermark;
        int64_t checkpoint_id; /**< 4 */
        struct {
            struct fnet_span class_name; /**< modified UTF-8 */
            struct fnet_span body;       /**< the class's own bytes and any padding */
        } other;                         /**< 3 */
        struct {
            int32_t sequence;
            struct fnet_span announced; /**< an encoded event and any padding */
        } announcement;                 /**< 6 */
        struct {
            int32_t input_subtask;
            int32_t output_subtask;
        } connection;               /**< 7 */
        bool is_no_drain;           /**< 8: stop mode NO_DRAIN, else DRAIN, as always in 1.14 */
        int32_t final_subpartition; /**< 10 */
    };
};

/**
 * Flink's simple class name of TYPE ("CheckpointBarrier"), static; NULL for an unknown one. Type 3
 * is "AbstractEvent": such an event names its own class.
 */
FNET_API const char *fnet_event_type_name(uint32_t type);

/**
 * The data type under which EVENT travels: an unaligned barrier as a prioritised event, unless it
 * is a savepoint's. What a dialect calls it is fnet_dialect_put_data_type()'s part.
 */
FNET_API enum fnet_data_type fnet_event_data_type(const struct fnet_event *event);

/**
 * Bytes of EVENT as Flink's pipelined subpartitions send it: a barrier ends in the zero padding
 * that Flink's fixed-size array leaves, events 3 and 11 fill the array they are written into. It
 * has 128 bytes at first and grows, when the next field does not fit, by the larger of that field
 * and itself. The body of an event 3 is taken as it is and padded to 128 at least.
 */
FNET_API size_t fnet_event_encoded_bytes(const struct fnet_dialect *dialect,
                                         const struct fnet_event *event);

/**
 * Append EVENT to W in DIALECT, padding included. What a dialect has no place for is left out: the
 * alignment, the timeout, the savepoint format, the stop mode. What its versions do not send, and
 * mostly refuse, is left out too: an unaligned barrier has a timeout in 1.12.0 to 1.12.4 only, and
 * is a savepoint's in 1.11.0 to 1.11.3 only.
 *
 * Errors: FNET_RANGE    no room for fnet_event_encoded_bytes().
 *         FNET_INVALID  a field is outside what the struct says, or DIALECT has no such event or
 *                       checkpoint type.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_event_encode(const struct fnet_dialect *dialect,
                                                      const struct fnet_event *event,
                                                      struct fnet_writer *w);

/**
 * Decode the event in BYTES; OUT's spans borrow from BYTES.
 *
 * Errors: FNET_TRUNCATED, FNET_BAD_KIND (DIALECT has no such type), FNET_BAD_LENGTH,
 * FNET_BAD_VALUE.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_event_decode(const struct fnet_dialect *dialect,
                                                      struct fnet_span bytes,
                                                      struct fnet_event *out);

#endif
