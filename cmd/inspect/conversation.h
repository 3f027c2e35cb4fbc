/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: what the messages of a capture say together: connections, their channels, and each
 * channel's credit, backlog, sequence numbers, records and end. No printing.
 */
#ifndef INSPECT_CONVERSATION_H
#define INSPECT_CONVERSATION_H

#include "fnet/event.h"
#include "inspect/block_reader.h"
#include "inspect/frame_stream.h"
#include "inspect/payload_parts.h"
#include "inspect/record_counter.h"

/** Most channels of one file that are followed. */
#define CHANNELS_MAX (1u << 18)

enum direction { REQUEST, RESPONSE };

/** Smallest and largest of a row of values. */
struct extremes {
    bool is_known; /**< a value was there */
    int64_t min;
    int64_t max;
};

/** A logical channel: everything that names the same receiver on one connection. */
struct channel {
    struct channel *next; /**< in order of appearance */
    struct connection *connection;
    struct fnet_id id;

    bool has_request; /**< a PartitionRequest was seen: the fields to CREDIT begin there */
    const struct fnet_dialect *dialect; /**< in which that was read */
    struct fnet_partition_id partition;
    int32_t first; /**< subpartitions */
    int32_t last;
    int32_t initial_credit;

    bool is_credit_known; /**< no gap since the request */
    int64_t credit;       /**< announced and not used yet */
    struct extremes credits;
    struct extremes backlogs;

    bool is_sequence_known;
    uint32_t next_sequence;
    uint64_t sequence_gaps;

    bool are_records_known;                  /**< the next data byte is where these two expect it */
    struct fnet_record_deserializer decoder; /**< of records that are taken */
    struct record_place place;               /**< of records that are counted */
    bool is_record_missed;                   /**< some data went by whose records were not known */
    uint64_t records;

    uint64_t messages;
    uint64_t bytes;   /**< of their frames */
    uint64_t buffers; /**< of data; those merged in one frame count each, as events do */
    uint64_t compressed;
    uint64_t undecoded;    /**< of the compressed ones those that could not be decompressed */
    enum fnet_codec codec; /**< of the compressed one that was decompressed last; NONE: none */
    uint64_t events;
    uint64_t payload_bytes;
    uint64_t errors;
    uint64_t ends; /**< of subpartitions, since the request */
    bool is_ended; /**< the end of the partition was reached: all that was asked for ended */
};

/** A connection, or a raw stream without addresses. */
struct connection {
    struct connection *next; /**< in order of appearance */
    bool has_ends;
    struct fnet_flow_end consumer;
    struct fnet_flow_end producer;
    uint32_t reuse;                    /**< how many earlier connections had the same ends */
    const struct dialect_guess *guess; /**< borrowed; which dialect it speaks */
    bool has_time;
    uint64_t first_ns;
    uint64_t last_ns;
    uint64_t messages[2]; /**< by direction */
    uint64_t bytes[2];
    uint64_t errors;        /**< of the whole connection, not of a channel */
    struct fnet_id_map map; /**< id -> channel */
    struct channel *channels;
    struct channel **last_channel;
};

struct conversation {
    const char *spill_dir;
    struct block_reader blocks;
    struct connection *connections;
    struct connection **last_connection;
    size_t channels;
};

/** What is wrong with a message, or ends at it; bits. */
enum finding {
    FOUND_BAD_SEQUENCE = 1,  /**< buffers before it are missing, or it was there before */
    FOUND_NO_CREDIT = 2,     /**< a data buffer that no credit paid for */
    FOUND_BAD_EVENT = 4,     /**< the event does not decode */
    FOUND_BAD_ERROR = 8,     /**< the Java object stream of an error does not decode */
    FOUND_RECORDS_LOST = 16, /**< from here records are not known until a boundary */
    FOUND_BAD_RECORD = 32,   /**< the length of a record is impossible */
    FOUND_CUT_RECORD = 64,   /**< the partition ended inside a record */
    FOUND_TOO_MANY = 128,    /**< its channel is not followed */
    FOUND_BAD_ELEMENT = 256, /**< a record is no element of the type that was asked for */
    FOUND_BAD_BLOCK = 512,   /**< a compressed buffer does not decompress */
    FOUND_NO_CODEC = 1024,   /**< the same, for want of the codec; not said of every buffer */
};

/** A message with what is known about it. Borrows from the item it came from. */
struct inspected {
    const struct frame_item *item;
    enum direction direction;
    const struct connection *connection;
    struct channel *channel; /**< NULL: it has none, or too many have */
    unsigned findings;       /**< enum finding, or-ed */
    uint32_t expected;       /**< the sequence number, with FOUND_BAD_SEQUENCE */
    uint32_t events;         /**< in it; of more than one each is conversation_next_event()'s */
    bool has_event;
    struct fnet_event event; /**< the only one */
    bool has_error;
    struct fnet_throwable_chain error;
    bool has_records; /**< data whose records are known, and not all taken or counted */

    /* Of a data buffer. */
    struct block_reader *blocks;
    struct fnet_span part;      /**< where records are: the payload, or decompressed from it */
    bool is_fed;                /**< to the channel's decoder */
    struct payload_parts parts; /**< compressed ones behind it */
    enum fnet_codec codec;      /**< of what was decompressed; NONE: nothing was */
    enum fnet_codec bad_codec;  /**< with FOUND_BAD_BLOCK or NO_CODEC: what that looks like, */
    enum fnet_err block_err;    /**< why it does not decompress, */
    uint32_t bad_block;         /**< and its number in the message */
};

/**
 * Begin; temporary files of long records go to SPILL_DIR, borrowed. What is compressed is of CODEC;
 * NONE: of that which it looks like.
 */
void conversation_init(struct conversation *c, const char *spill_dir, enum fnet_codec codec);
void conversation_clear(struct conversation *c);

/**
 * Add a connection: of FLOW, whose end SIDE sent a message of DIRECTION, or, if FLOW is NULL, of a
 * stream without addresses.
 *
 * @param guess  borrowed; which dialect it speaks.
 * @param out    owned by the conversation.
 *
 * Errors: FNET_NOMEM
 */
FNET_CHECKED enum fnet_err conversation_connect(struct conversation *c,
                                                const struct fnet_flow *flow, unsigned side,
                                                enum direction direction,
                                                const struct dialect_guess *guess,
                                                struct connection **out);

/** The direction in which messages of TYPE go. */
enum direction conversation_direction(enum fnet_message_type type);

/** Some messages of CONNECTION were not captured, or not understood. */
void conversation_miss(struct connection *connection);

/**
 * Take the next message of CONNECTION.
 *
 * @param item  of kind FRAME_MESSAGE; OUT borrows from it. The records must be taken until
 *              FNET_AGAIN, or counted, before the next message; in one and the same way always.
 *
 * Errors: FNET_NOMEM
 */
FNET_CHECKED enum fnet_err conversation_take(struct conversation *c, struct connection *connection,
                                             const struct frame_item *item, struct inspected *out);

/** The events of M, more than one. */
struct payload_parts conversation_events(const struct inspected *m);
/** The next one, if PARTS has one; IS_DECODED says whether it could be, to EVENT. */
bool conversation_next_event(const struct inspected *m, struct payload_parts *parts,
                             struct fnet_event *event, bool *is_decoded);

/**
 * The next records that end in the message. Findings may come with them.
 *
 * @param records  borrowed until the next call.
 * @param number   of the first of them in its channel, from 0.
 *
 * Errors: FNET_AGAIN   no more.
 *         FNET_NOMEM, FNET_SYSTEM (errno in channel->decoder.record.saved_errno).
 */
FNET_CHECKED enum fnet_err conversation_next_records(struct inspected *m, struct fnet_span *records,
                                                     size_t max, size_t *count, uint64_t *number);

/** Where the records of MESSAGE, a data buffer of CONNECTION (NULL: not known yet), may begin. */
struct record_place conversation_place(const struct connection *connection,
                                       const struct fnet_message *message);

/**
 * Count the records that end in the message instead.
 *
 * @param passed  counted from conversation_place() while the payload, not compressed, went past;
 *                NULL: the payload is all in the message.
 *
 * Errors: FNET_NOMEM
 */
FNET_CHECKED enum fnet_err conversation_count_records(struct inspected *m,
                                                      const struct record_count *passed);

/** Longest name of a connection, NUL included. */
#define CONNECTION_NAME_BYTES (2 * FNET_FLOW_END_TEXT_BYTES + 12)

/** Write "CONSUMER-PRODUCER", with "#2" for the second between the same ends, "-" if it has none.
 */
void conversation_name(const struct connection *connection,
                       char text[static CONNECTION_NAME_BYTES]);

#endif
