/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: a tap listens to one connection: its bytes go in, printed messages come out.
 */
#ifndef INSPECT_CONNECTION_TAP_H
#define INSPECT_CONNECTION_TAP_H

#include "inspect/printers.h"
#include "inspect/problems.h"

/** What the taps of a file have in common. */
struct tap_board {
    const char *file; /**< for messages */
    struct print_options print;
    const struct fnet_dialect *dialect; /**< of all connections; NULL: found out */
    FILE *out;
    struct problems *problems;
    struct conversation conversation;
    uint64_t messages;      /**< so far */
    uint64_t other_streams; /**< directions of connections without any frame, of no known kind */
    uint64_t other_bytes;   /**< in them */
    bool is_foreign;        /**< a stream without addresses is no stream of frames */
    const char *looks_like; /**< what it is then; NULL: nothing known */
};

/** A payload that nobody wants to see, on its way past: only its records are counted. */
struct passage {
    bool is_begun;
    struct record_count count;
};

/** One connection; both directions of a stream without addresses are on side 0. */
struct tap {
    struct tap_board *board;
    const struct fnet_flow *flow; /**< NULL: without addresses */
    struct dialect_guess guess;
    unsigned restarts;    /**< of the guess that were said */
    uint32_t printed;     /**< what was possible when the dialect was printed last; 0: never */
    bool is_sure_printed; /**< and it was sure then */
    struct frame_stream sides[2];
    struct passage passages[2];
    struct connection *connection; /**< NULL until a message tells who asks */
};

/**
 * Listen to FLOW, borrowed; NULL: a stream without addresses.
 *
 * @param out  owned by caller.
 *
 * Errors: FNET_NOMEM
 */
FNET_CHECKED enum fnet_err tap_new(struct tap_board *board, const struct fnet_flow *flow,
                                   struct tap **out);
void tap_free(struct tap *tap); /**< safe on NULL */

/**
 * BYTES, captured at TIME_NS, came from the flow's end SIDE. Messages that they complete are
 * printed; what is wrong is said, and is no error here.
 *
 * Errors: FNET_NOMEM, FNET_SYSTEM (errno is set).
 */
FNET_CHECKED enum fnet_err tap_feed(struct tap *tap, unsigned side, struct fnet_span bytes,
                                    bool has_time, uint64_t time_ns);

/** LOST bytes, or FNET_GAP_UNKNOWN, of SIDE were not captured. Errors: as tap_feed(). */
FNET_CHECKED enum fnet_err tap_gap(struct tap *tap, unsigned side, uint64_t lost);

/** Nothing follows from SIDE. Errors: as tap_feed(). */
FNET_CHECKED enum fnet_err tap_finish(struct tap *tap, unsigned side);

/** Nothing follows from either side: print its dialect, if there is news about it. */
void tap_conclude(struct tap *tap);

#endif
