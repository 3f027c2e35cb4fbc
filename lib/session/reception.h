/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session, private: the BufferResponse that a consumer is receiving. Its head is checked, its
 * payload goes straight into the channel's segment, and what it holds into the gate.
 *
 * Source: Flink CreditBasedPartitionRequestClientHandler.decodeBufferOrEvent.
 */
#ifndef FNET_SESSION_RECEPTION_H
#define FNET_SESSION_RECEPTION_H

#include "fnet/gate.h"
#include "fnet/wire.h"

#include "session_private.h"

struct fnet__reception {
    struct fnet_session *session;     /**< borrowed: the consumer's, whose payload it is */
    const struct fnet_id_map *silent; /**< borrowed: struct fnet__silent_channel of channels */
    struct fnet_channel *channel;     /**< borrowed */
    struct fnet_channel *culprit;     /**< borrowed: whose buffer killed the session */
    uint32_t backlog;
    int32_t sequence;
    uint32_t parts;       /**< that it consists of, if more than one */
    uint32_t *part_sizes; /**< owned, FNET_PARTIALS_MAX; NULL: never needed yet */
};

void fnet__reception_clear(struct fnet__reception *reception);

/**
 * A buffer or event for CHANNEL begins: make room for it. What was on its way when CHANNEL was
 * cancelled gets none: it is thrown away.
 *
 * Errors: FNET_NOMEM; peer errors, for which the session has a text, and CULPRIT is set.
 */
FNET_CHECKED enum fnet_err fnet__reception_begin(struct fnet__reception *reception,
                                                 struct fnet_channel *channel,
                                                 const struct fnet_buffer_response *response);

/** All of its payload is there: give it to the channel. Errors: as above. */
FNET_CHECKED enum fnet_err fnet__reception_end(struct fnet__reception *reception);

#endif
