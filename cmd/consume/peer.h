/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consume: connections to producers, one (or --max-connections) for each address, whoever asks.
 */
#ifndef CONSUME_PEER_H
#define CONSUME_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/report.h"
#include "fnet/connection.h"

struct peers;
struct peer;

struct peers_config {
    struct fnet_loop *loop;
    const struct report *report;
    struct fnet_trace *trace; /**< borrowed; NULL: none */
    uint64_t connect_timeout_ns;
    uint32_t retries;
    uint64_t idle_timeout_ns;
    bool is_plaintext;
    struct fnet_consumer_listener listener; /**< of all sessions */
    /** PEER could not be reached. */
    void (*unreachable)(void *arg, struct peer *peer, const char *reason);
    /** The connection ended early; the session is there until the call returns. */
    void (*lost)(void *arg, struct peer *peer, enum fnet_err err, const char *reason);
    /** The last connection is gone. */
    void (*emptied)(void *arg);
    void *arg;
};

/** Errors: FNET_NOMEM. OUT is owned by caller. */
FNET_CHECKED enum fnet_err peers_new(const struct peers_config *config, struct peers **out);
void peers_free(struct peers *peers);

/** The INDEX-th connection to ENDPOINT in DIALECT. */
struct peer_place {
    struct fnet_endpoint endpoint;
    const char *name; /**< borrowed: what the endpoint is called in messages */
    uint32_t index;
    const struct fnet_dialect *dialect;
};

/**
 * The connection at PLACE; it is opened when it is first asked for. Words for its session are sent
 * once it is there.
 *
 * Errors: FNET_NOMEM
 */
FNET_CHECKED enum fnet_err peers_get(struct peers *peers, const struct peer_place *place,
                                     struct peer **out);

/** Say to all that nothing more is wanted; their connections end by themselves. */
void peers_close(struct peers *peers);
bool peers_are_gone(const struct peers *peers);

struct fnet_session *peer_session(const struct peer *peer);
const char *peer_name(const struct peer *peer);

#endif
