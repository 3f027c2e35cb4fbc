/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire: frames and messages between a producer and a consumer, and the pull decoder that finds
 * them in a byte stream cut anywhere. No I/O, no payload copies.
 *
 * A frame is
 *
 *     offset  bytes  meaning
 *     0       4      length of the whole frame, these 4 bytes included, int32
 *     4       4      magic number 0xBADC0FFE
 *     8       1      message type
 *     9       ...    body
 *
 * and its body is laid out as the dialect of the connection says (fnet/dialect.h); the structs
 * below have the newest form. All integers are big-endian. "request" messages go from consumer (the
 * TCP client) to producer, "response" messages the other way.
 *
 * Source: Flink NettyMessage, NettyMessageDecoder, BufferResponseDecoder, NonBufferResponseDecoder.
 */
#ifndef FNET_WIRE_H
#define FNET_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/data_type.h"
#include "fnet/dialect.h"
#include "fnet/err.h"
#include "fnet/id.h"
#include "fnet/throwable.h"

#define FNET_MAGIC 0xBADC0FFEu
#define FNET_FRAME_HEADER_BYTES 9
/**
 * Frame header and fixed fields of a BufferResponse, in front of partial sizes and payload, in the
 * newest dialect; in no other they are more.
 */
#define FNET_BUFFER_RESPONSE_HEAD_BYTES 47
/** Most payload bytes of one BufferResponse: no segment and no event is larger. */
#define FNET_PAYLOAD_MAX_BYTES (64u << 20)
/** Most partial buffers in one BufferResponse. */
#define FNET_PARTIALS_MAX 4096u
/** Longest frame of any other message; an ErrorResponse with a long stack trace is ~10 KiB. */
#define FNET_MESSAGE_MAX_BYTES (1u << 20)

/** Message types on the wire. 64 and above are fnet's own and never go to a Flink peer. */
enum fnet_message_type {
    FNET_BUFFER_RESPONSE = 0,
    FNET_ERROR_RESPONSE = 1,
    FNET_PARTITION_REQUEST = 2,
    FNET_TASK_EVENT_REQUEST = 3,
    FNET_CANCEL_PARTITION_REQUEST = 4,
    FNET_CLOSE_REQUEST = 5,
    FNET_ADD_CREDIT = 6,
    FNET_RESUME_CONSUMPTION = 7,
    FNET_ACK_ALL_USER_RECORDS_PROCESSED = 8,
    FNET_BACKLOG_ANNOUNCEMENT = 9,
    FNET_NEW_BUFFER_SIZE = 10,
    FNET_SEGMENT_ID = 11,
    FNET_DESCRIPTION_REQUEST = 64,
    FNET_DESCRIPTION_RESPONSE = 65,
    FNET_DIALECT_PROBE = 256, /**< no number on the wire: see fnet_dialect_probe_answer() */
};

/** Flink's name of message TYPE ("BufferResponse"), static; NULL for an unknown one. */
FNET_API const char *fnet_message_type_name(unsigned type);

/** 0: one buffer or event of a channel; SIZE payload bytes follow the head. */
struct fnet_buffer_response {
    int32_t subpartition; /**< -1: not known; it is not said before 1.19 */
    int32_t sequence;     /**< from 0, data and events alike; INT32_MIN follows INT32_MAX */
    int32_t backlog;      /**< >= 0, data buffers queued behind this one */
    uint8_t data_type;    /**< enum fnet_data_type */
    bool is_compressed;
    uint32_t size;                  /**< payload bytes <= FNET_PAYLOAD_MAX_BYTES, 0 in data only */
    uint32_t partials;              /**< number of partial buffers, 0 for pipelined partitions */
    struct fnet_span partial_sizes; /**< 4 * PARTIALS bytes, int32 each, their sum is SIZE */
};

/**
 * 1: an error of one channel, or, without receiver, of the whole connection. On the wire nothing
 * says how long the throwable is; it is found by following its grammar. Where that fails (the
 * stream is none, or holds what only its own classes can read) a 1 where the boolean in front of
 * a receiver would stand decides.
 */
struct fnet_error_response {
    bool has_receiver;
    struct fnet_span throwable; /**< a Java object stream holding one Throwable */
};

/** 2: begin to send subpartitions FIRST to LAST of PARTITION to the receiver. */
struct fnet_partition_request {
    struct fnet_partition_id partition;
    int32_t first; /**< 0 <= first <= last, inclusive */
    int32_t last;
    int32_t credit; /**< >= 0, the exclusive buffers of the channel */
    bool recovers;  /**< since 2.4: nothing may be sent before an AddCredit */
};

/** 3: an event for the task that produces PARTITION. */
struct fnet_task_event_request {
    struct fnet_span event;
    struct fnet_partition_id partition;
};

/** 11: the next segment of a tiered (hybrid) subpartition. */
struct fnet_segment_id {
    int32_t subpartition; /**< >= 0; 0 in 1.18, where it is not said */
    int32_t segment;      /**< > 0 */
};

/** 64: describe PARTITION, or every partition. Body: receiver 16, all 1, partition id 60. */
struct fnet_description_request {
    bool all; /**< then PARTITION is zero */
    struct fnet_partition_id partition;
};

/**
 * 65: one partition. Body: receiver 16, remaining 4, partition id 60, subpartitions 4, type 1,
 * format 1, state 1, codec 1, name length 1, name. A request for all of no partitions at all is
 * answered by one with 0 subpartitions and an empty name.
 */
struct fnet_description_response {
    int32_t remaining; /**< how many more answers follow for the same request */
    struct fnet_partition_id partition;
    int32_t subpartitions;
    uint8_t partition_type; /**< enum fnet_partition_type */
    uint8_t format;         /**< enum fnet_record_format */
    uint8_t state;          /**< 0 producing, 1 input ended */
    uint8_t codec;          /**< enum fnet_codec: of compressed buffers; 0: there are none */
    struct fnet_span name;  /**< a name, not NUL-terminated; empty: made from a Flink id */
};

/** A decoded message, or one to encode. Spans are borrowed. */
struct fnet_message {
    enum fnet_message_type type;
    struct fnet_id receiver; /**< the InputChannelID; zero in CloseRequest, fatal ErrorResponse */
    union {
        struct fnet_buffer_response buffer;
        struct fnet_error_response error;
        struct fnet_partition_request request;
        struct fnet_task_event_request task_event;
        struct fnet_segment_id segment;
        struct fnet_description_request describe;
        struct fnet_description_response description;
        struct {
            int32_t credit;                    /**< AddCredit, > 0 */
            struct fnet_partition_id credited; /**< before 1.11, of this partition; else zero */
        };
        int32_t backlog;     /**< BacklogAnnouncement, > 0 */
        int32_t buffer_size; /**< NewBufferSize, > 0 */
    };
};

/**
 * Bytes of MESSAGE's frame without the payload of a BufferResponse. The types that a dialect does
 * not have count as in the dialects that have them.
 */
FNET_API size_t fnet_message_encoded_bytes(const struct fnet_dialect *dialect,
                                           const struct fnet_message *message);

/**
 * Append MESSAGE's frame to W in DIALECT; of ids that has not room for what it has. Of a
 * BufferResponse the head and the partial sizes; the caller sends the payload's SIZE bytes behind
 * it, and the frame length counts them.
 *
 * Errors: FNET_RANGE    no room for fnet_message_encoded_bytes().
 *         FNET_INVALID  a field is outside what the struct says, or DIALECT cannot say it: it has
 *                       no such message or data type, no ranges of subpartitions, no partial or
 *                       compressed buffers.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_message_encode(const struct fnet_dialect *dialect,
                                                        const struct fnet_message *message,
                                                        struct fnet_writer *w);

/**
 * Decode the frame that begins BYTES, of a BufferResponse without its payload.
 *
 * @param bytes  at least the frame's head; may be longer than the frame.
 * @param used   frame bytes decoded: all of it, or head and partial sizes of a BufferResponse.
 * @param out    spans borrow from BYTES.
 *
 * Errors: FNET_AGAIN      BYTES ends before the message does; USED is then set to how many bytes
 *                         would be enough to get further, as far as can be told.
 *         FNET_BAD_MAGIC, FNET_BAD_KIND (DIALECT has no such type), FNET_BAD_LENGTH (frame length
 * against its contents or a named limit), FNET_BAD_VALUE (a field the protocol rules out). Cost:
 * O(1), O(partials) for a BufferResponse that has them.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_message_decode(const struct fnet_dialect *dialect,
                                                        struct fnet_span bytes, size_t *used,
                                                        struct fnet_message *out);

/* ---- the dialect probe ------------------------------------------------------------------- */

/**
 * The frame with which a producer asks a consumer whether it is of Flink 1.19 to 1.20 or of 2.x:
 * their requests look alike, and the BufferResponses they expect do not. It is one BufferResponse
 * in the eyes of fnet, told by its receiver, and two to Flink, which goes by the sizes in them:
 *
 *     offset  bytes  1.19, 1.20                              2.0 to 2.3
 *          0     43  head: receiver A, 256 bytes of data     head (47): receiver A, 295 bytes
 *         43    256  data                                    data
 *        299     43  head: receiver B, 48 bytes              data
 *        342     48  data                                    head (47): receiver C, 1 byte; data
 *
 * None of the three is a channel. Flink throws such data away and answers with a
 * CancelPartitionRequest for the receiver: for A, and for B or C.
 *
 * Source: Flink CreditBasedPartitionRequestClientHandler.decodeMsg, BufferResponseDecoder.
 */
#define FNET_DIALECT_PROBE_BYTES 390

/** Does DIALECT leave open what the probe asks? */
FNET_API bool fnet_dialect_probe_exists(const struct fnet_dialect *dialect);

/**
 * Is a CancelPartitionRequest for RECEIVER an answer to a probe?
 *
 * @param dialect  what the peer speaks; NULL when this answer does not say it, another will.
 */
FNET_API bool fnet_dialect_probe_answer(const struct fnet_id *receiver,
                                        const struct fnet_dialect **dialect);

/* ---- the pull decoder ------------------------------------------------------------------- */

/**
 * Finds messages in a stream. Bytes go into the decoder's staging space; payload bytes may go past
 * it, straight into the place where they are used:
 *
 *     space = fnet_decoder_space(d);          read into it, or around it while a payload is due
 *     fnet_decoder_commit(d, n);
 *     while ((err = fnet_decoder_next(d, &m)) == FNET_OK)
 *         if (m.type == FNET_BUFFER_RESPONSE)  take fnet_decoder_payload_left(d) bytes, first
 *                                              those of fnet_decoder_payload(d), then from the
 *                                              stream itself (fnet_decoder_skip_ahead)
 */
struct fnet_decoder;

/**
 * Make a decoder of a stream in DIALECT.
 *
 * @param staging  bytes of the staging space; fewer than 1024 count as 1024. It grows for a longer
 *                 message, up to FNET_MESSAGE_MAX_BYTES, and shrinks again.
 * @param out      owned by caller.
 *
 * Errors: FNET_NOMEM
 */
FNET_API FNET_CHECKED enum fnet_err fnet_decoder_new(const struct fnet_dialect *dialect,
                                                     size_t staging, struct fnet_decoder **out);
FNET_API void fnet_decoder_free(struct fnet_decoder *decoder);

/**
 * Type and frame length of the next message, before it is decoded: the length of a client's first
 * PartitionRequest says its dialect (fnet_dialect_of_request()).
 *
 * Errors: FNET_AGAIN  the frame header is not there yet, or payload is still left to be taken.
 *         FNET_BAD_MAGIC
 */
FNET_API FNET_CHECKED enum fnet_err fnet_decoder_peek(const struct fnet_decoder *decoder,
                                                      uint8_t *type, uint32_t *length);
/** The next message and all behind it are in DIALECT. */
FNET_API void fnet_decoder_set_dialect(struct fnet_decoder *decoder,
                                       const struct fnet_dialect *dialect);

/**
 * Where the next received bytes may be written; spans given out before are then void. Call it when
 * next() has nothing more to give: it is empty only when the decoder died, or when staged payload
 * that nobody takes fills it.
 */
FNET_API void fnet_decoder_space(struct fnet_decoder *decoder, uint8_t **ptr, size_t *len);
/** N bytes were written to the space. */
FNET_API void fnet_decoder_commit(struct fnet_decoder *decoder, size_t n);

/**
 * The next message. Its spans are borrowed until the next call of next, space or free.
 *
 * Errors: FNET_AGAIN  more bytes are needed, or payload is still left to be taken.
 *         FNET_NOMEM, and the peer errors of fnet_message_decode(): the decoder is dead.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_decoder_next(struct fnet_decoder *decoder,
                                                      struct fnet_message *out);

/** Payload bytes of the last BufferResponse not taken yet. */
FNET_API size_t fnet_decoder_payload_left(const struct fnet_decoder *decoder);
/** Those of them that are staged; borrowed until the next call of next, space or free. */
FNET_API struct fnet_span fnet_decoder_payload(const struct fnet_decoder *decoder);
/** N <= payload().len staged payload bytes were taken. */
FNET_API void fnet_decoder_take(struct fnet_decoder *decoder, size_t n);
/** N <= payload_left() payload bytes were received elsewhere; only while none is staged. */
FNET_API void fnet_decoder_skip_ahead(struct fnet_decoder *decoder, size_t n);

/** Offset in the stream of the first byte of the frame being decoded or last returned. */
FNET_API uint64_t fnet_decoder_offset(const struct fnet_decoder *decoder);
/**
 * Is the decoder in the middle of a frame, so that an end of stream now would cut it? To be asked
 * when next() has nothing more to give.
 */
FNET_API bool fnet_decoder_is_mid_frame(const struct fnet_decoder *decoder);

#endif
