/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session, private: partitions and gates know one form of events; a connection may have another.
 */
#ifndef FNET_SESSION_TRANSLATION_H
#define FNET_SESSION_TRANSLATION_H

#include "fnet/buffer.h"
#include "fnet/dialect.h"

/**
 * Turn EVENT, bytes in dialect FROM, into the same event in dialect TO. A type that says no more
 * than that it is an event becomes what its bytes say, unless that would block the sender, which
 * then did not stop for it.
 *
 * @param event  replaced; untouched on errors.
 *
 * Errors: FNET_INVALID  TO has no such event.
 *         FNET_NOMEM, and the peer errors of fnet_event_decode().
 */
FNET_CHECKED enum fnet_err fnet__session_translate(const struct fnet_dialect *from,
                                                   const struct fnet_dialect *to,
                                                   struct fnet_buffer *event);

#endif
