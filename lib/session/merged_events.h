/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session, private: several events of one type in one frame, as a sort-merge partition sends those
 * that stand side by side in its file. Each has a number of its own and is received by itself.
 */
#ifndef FNET_SESSION_MERGED_EVENTS_H
#define FNET_SESSION_MERGED_EVENTS_H

#include "fnet/gate.h"
#include "fnet/wire.h"

#include "session_private.h"

/**
 * May RESPONSE, several events, be for a channel, which reads one subpartition?
 *
 * Errors: FNET_BAD_LENGTH  one of them has no bytes.
 *         FNET_BAD_VALUE   more than one end, or more than one that stops the sender. The session
 *                          has a text for each.
 */
FNET_CHECKED enum fnet_err fnet__merged_events_check(struct fnet_session *session,
                                                     const struct fnet_buffer_response *response);

/** Events whose bytes are all there. */
struct fnet__merged_events {
    const uint32_t *sizes; /**< borrowed; of each */
    uint32_t count;
    int32_t sequence; /**< of the first */
    uint32_t backlog; /**< behind the last */
};

/**
 * Give CHANNEL the events in the payload of SESSION, translated from its dialect, one after the
 * other; one that was cancelled meanwhile drops them. The payload is consumed, with an error too.
 *
 * Errors: FNET_NOMEM; FNET_NO_CREDIT, too many wait; FNET_BAD_SEQUENCE, one stands behind an end;
 *         those of fnet__session_translate(). The session has a text for each.
 */
FNET_CHECKED enum fnet_err fnet__merged_events_receive(struct fnet_session *session,
                                                       struct fnet_channel *channel,
                                                       const struct fnet__merged_events *events);

#endif
