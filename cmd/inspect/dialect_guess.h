/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: which dialect a connection speaks, as far as its frames tell. No frame says so; each one
 * rules out the dialects in which it could not be read.
 */
#ifndef INSPECT_DIALECT_GUESS_H
#define INSPECT_DIALECT_GUESS_H

#include "fnet/dialect.h"
#include "fnet/wire.h"

/** Longest frame of which the payload, too, is asked. */
#define GUESS_FRAME_MAX_BYTES (64u << 10)

/** Room for a text of versions, NUL included. */
#define DIALECTS_TEXT_BYTES 160

/** What is known about a connection, of both directions; dialect_guess_init() before use. */
struct dialect_guess {
    bool is_given;     /**< by the user: nothing is guessed */
    uint32_t possible; /**< bit I: fnet_dialect_at(I) could have been read; not 0 */
    uint32_t likely;   /**< those of them that make more sense; not 0 */
    const struct fnet_dialect *dialect; /**< to read in: the newest that is likely */
    unsigned trust;                     /**< messages that were read, less frames that were not */
    unsigned restarts;                  /**< how often it turned out to be wrong */

    /* What follows from POSSIBLE. Dialects that are not released count only where no other is. */
    bool is_sure; /**< it is one dialect */
    char versions[DIALECTS_TEXT_BYTES];
    bool has_one_layout; /**< all have the same of BufferResponses */
    uint32_t data_types; /**< bit N: byte N on the wire is data in all of them */
    uint32_t weighed;    /**< bit N: a message of type N, which has a fixed length, was weighed */
};

/** Begin, knowing nothing, or, if GIVEN is not NULL, everything. */
void dialect_guess_init(struct dialect_guess *g, const struct fnet_dialect *given);

/**
 * Rule out what cannot read the frame that begins BYTES.
 *
 * Errors: FNET_AGAIN  more of the frame would tell more, GUESS_FRAME_MAX_BYTES at most.
 *         The peer errors of fnet_message_decode(): no dialect that is possible reads it, which is
 *         not held against them.
 */
FNET_CHECKED enum fnet_err dialect_guess_weigh(struct dialect_guess *g, struct fnet_span bytes);

/** Do all likely dialects find the same in the frame that begins BYTES? After it was weighed. */
bool dialect_guess_is_clear(const struct dialect_guess *g, struct fnet_span bytes);

/** Can frames tell no more, so that none needs to be weighed? */
static inline bool dialect_guess_is_settled(const struct dialect_guess *g)
{
    return (g->possible & (g->possible - 1)) == 0;
}

/** Would it be in vain to weigh the frame that begins BYTES, since its like tell nothing more? */
bool dialect_guess_is_moot(const struct dialect_guess *g, struct fnet_span bytes);

/** Could any dialect that was not excluded by the user read the frame whose header HEADER is? */
bool dialect_guess_is_header(const struct dialect_guess *g,
                             const uint8_t header[static FNET_FRAME_HEADER_BYTES]);

/** A message was read in the guessed dialect. */
void dialect_guess_confirm(struct dialect_guess *g);

/**
 * The frame that begins BYTES was refused. If other dialects read it, and no more messages speak
 * for the guess than frames against it, it begins anew from those, and the frame should be tried
 * again.
 */
bool dialect_guess_doubt(struct dialect_guess *g, struct fnet_span bytes);

/** The versions of DIALECTS, a set like those above: "1.10, 1.12 to 1.18". */
void dialects_format(uint32_t dialects, char text[static DIALECTS_TEXT_BYTES]);

/** The dialects whose PartitionRequest has LENGTH bytes. */
uint32_t dialects_of_request(uint32_t length);

#endif
