/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session, private: what a producer's error says, in one line.
 */
#ifndef FNET_SESSION_THROWN_H
#define FNET_SESSION_THROWN_H

#include <stdbool.h>

#include "fnet/throwable.h"

#include "session_private.h"

struct fnet__session_thrown {
    bool is_not_found; /* the partition is not there (yet) */
    char text[FNET__SESSION_TEXT_BYTES];
};

/*
 * Read the throwable in STREAM. Its text is the message, or the class of one that has none, and
 * then class and message of the root cause, unless they are in the message already: an exception
 * that wraps another one often repeats it, and Flink's failed producers say the class twice.
 *
 * Errors: those of fnet_throwable_chain_decode().
 */
FNET_CHECKED enum fnet_err fnet__session_thrown_read(struct fnet_span stream,
                                                     struct fnet__session_thrown *out);

#endif
