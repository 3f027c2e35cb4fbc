/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: the bytes of one direction of a connection, which may have gaps, into messages. What is
 * no message is counted and skipped up to the next frame, found by its magic number.
 */
#ifndef INSPECT_FRAME_STREAM_H
#define INSPECT_FRAME_STREAM_H

#include "fnet/capture.h"
#include "fnet/record.h"
#include "fnet/wire.h"
#include "inspect/dialect_guess.h"

enum frame_item_kind {
    FRAME_NOTHING, /**< never given */
    FRAME_MESSAGE,
    FRAME_SKIPPED, /**< bytes were missing, or were no frame */
    FRAME_FOREIGN, /**< nothing in this direction is Flink's; the last item */
};

/** Why and how far a stream was out of step. */
struct frame_skip {
    bool is_mid_stream; /**< it began before the capture, or lost count of its bytes */
    bool is_at_end;     /**< no frame follows */
    bool is_cut;        /**< a frame of LENGTH bytes and TYPE (0: not known) goes no further */
    enum fnet_err err;  /**< why a frame of LENGTH bytes and TYPE did not decode; FNET_OK: none */
    uint32_t length;
    uint8_t type;     /**< a message type or any other byte */
    uint64_t lost;    /**< bytes that were not captured */
    uint64_t skipped; /**< captured bytes that belong to no whole frame */
};

/** What a stream holds next. */
struct frame_item {
    enum frame_item_kind kind;
    uint64_t offset; /**< of its first byte in the stream, known gaps counted */
    bool has_time;
    uint64_t time_ns; /**< when its last byte was captured */

    /* FRAME_MESSAGE; borrowed until the next call of next, feed or clear. */
    const struct fnet_dialect *dialect; /**< in which it was read */
    struct fnet_message message;
    size_t length;            /**< of the frame */
    struct fnet_span payload; /**< of a BufferResponse, without what is missing or went past */
    size_t missing;           /**< bytes of the payload that were not captured */

    struct frame_skip skip; /**< FRAME_SKIPPED */

    /* FRAME_FOREIGN */
    const char *name; /**< what it looks like, static; NULL: like nothing known */
    uint64_t bytes;   /**< as far as seen */
};

/** Most frames kept back whose time is remembered; that of more is that of the last. */
#define KEPT_STAMPS 16

/** When something was captured. */
struct frame_stamp {
    bool has_time;
    uint64_t time_ns;
};

enum frame_stream_state {
    FRAME_STREAM_AT_START,
    FRAME_STREAM_SYNCED, /**< a frame begins at BEGIN */
    FRAME_STREAM_SEARCHING,
    FRAME_STREAM_FOREIGN,
};

/** One direction; frame_stream_init() before use. */
struct frame_stream {
    enum frame_stream_state state;
    struct fnet_spill_buffer staged; /**< [begin, len) was fed and not used yet */
    size_t begin;
    uint64_t offset;                      /**< of BEGIN in the stream */
    uint64_t seen;                        /**< bytes fed */
    struct dialect_guess *guess;          /**< borrowed; of the whole connection */
    const struct fnet_dialect *dialect;   /**< of the frame at BEGIN; NULL: not decided */
    bool must_decide;                     /**< frame_stream_decide() */
    struct frame_stamp kept[KEPT_STAMPS]; /**< of whole frames from BEGIN on that were kept back */
    size_t kept_count;
    bool has_time;
    uint64_t time_ns;       /**< of the last bytes fed */
    bool is_flink;          /**< a frame was found */
    size_t missing;         /**< payload bytes of the frame at BEGIN that never come */
    size_t passed;          /**< payload bytes of that frame that went past, skip_ahead() */
    size_t due;             /**< more payload bytes are all that the frame lacks, a data buffer */
    uint64_t gap_after;     /**< the gap that follows that frame; 0: none */
    bool is_finished;       /**< nothing will be fed any more */
    const char *looks_like; /**< what the first bytes are, if no frame */
    struct frame_skip skip; /**< what is not said yet */
    uint64_t skip_offset;
};

/**
 * Begin a stream; its temporary files go to SPILL_DIR, borrowed. GUESS, borrowed, says in which
 * dialect it is; the messages found narrow it.
 */
void frame_stream_init(struct frame_stream *s, const char *spill_dir, struct dialect_guess *guess);
void frame_stream_clear(struct frame_stream *s);

/**
 * Append BYTES, captured at TIME_NS; when next() gave FNET_AGAIN or at first.
 *
 * Errors: FNET_NOMEM, FNET_SYSTEM (errno in staged.saved_errno).
 */
FNET_CHECKED enum fnet_err frame_stream_feed(struct frame_stream *s, struct fnet_span bytes,
                                             bool has_time, uint64_t time_ns);

/**
 * How many of LEN bytes should be fed at once: few where a payload may follow that is better left
 * to go past, all of it where one is due and did not.
 */
size_t frame_stream_bite(const struct frame_stream *s, size_t len);

/**
 * The payload bytes that the data buffer at hand lacks. They may go past the stream, whoever wants
 * no payloads: frame_stream_skip_ahead(). 0: it is no data buffer, or its head is not whole. When
 * next() gave FNET_AGAIN.
 */
size_t frame_stream_due(const struct frame_stream *s);

/**
 * The data buffer of which bytes are due, and what was fed of its payload. Both borrow until the
 * next call of feed or clear.
 */
struct fnet_span frame_stream_peek(const struct frame_stream *s, struct fnet_message *message);

/** N <= frame_stream_due() bytes, captured at TIME_NS, went past. */
void frame_stream_skip_ahead(struct frame_stream *s, size_t n, bool has_time, uint64_t time_ns);

/**
 * Frames may have been kept back because those behind them tell their dialect. None will be any
 * more, up to the next feed: take the items that there are.
 */
void frame_stream_decide(struct frame_stream *s);

/**
 * LOST bytes, or FNET_GAP_UNKNOWN, were not captured; when next() gave FNET_AGAIN or at first, and
 * behind frame_stream_decide().
 */
void frame_stream_gap(struct frame_stream *s, uint64_t lost);

/** Nothing follows; next() may still have items. */
void frame_stream_finish(struct frame_stream *s);

/** The next item. Errors: FNET_AGAIN  feed more. */
FNET_CHECKED enum fnet_err frame_stream_next(struct frame_stream *s, struct frame_item *out);

#endif
