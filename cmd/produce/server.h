/* SPDX-License-Identifier: Apache-2.0 */
/*
 * produce: listeners, and the connections of consumers.
 */
#ifndef PRODUCE_SERVER_H
#define PRODUCE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/report.h"
#include "fnet/connection.h"

struct server;

struct server_config {
    struct fnet_loop *loop;
    const struct report *report;
    const struct fnet_registry *registry; /**< borrowed */
    struct fnet_trace *trace;             /**< borrowed; NULL: none */
    uint64_t idle_timeout_ns;
    /** A consumer went away while subpartitions were not acknowledged; it was reported. */
    void (*lost)(void *arg, enum fnet_err err);
    /** The last connection is gone. */
    void (*emptied)(void *arg);
    void *arg;
};

/** Errors: FNET_NOMEM. OUT is owned by caller. */
FNET_CHECKED enum fnet_err server_new(const struct server_config *config, struct server **out);
/** Drop all connections, stop listening, free. Safe on NULL. */
void server_free(struct server *server);

/**
 * Listen on ADDRESS too.
 *
 * @param assumed  as of fnet_producer_session_new(), of those who come there.
 *
 * Errors: FNET_SYSTEM (errno is set), FNET_NOMEM.
 */
FNET_CHECKED enum fnet_err server_listen(struct server *server, const struct fnet_address *address,
                                         const struct fnet_dialect *assumed);
size_t server_listeners(const struct server *server);
const struct fnet_address *server_address(const struct server *server, size_t i);

/** Accept nobody any more. */
void server_stop_listening(struct server *server);
/** Tell all consumers why it is over; their connections end by themselves. */
void server_abort(struct server *server, const char *why);
/** Everything is delivered: take leave; the connections end by themselves. */
void server_close(struct server *server);
bool server_is_empty(const struct server *server);

/** What all consumers may be sent now. */
uint64_t server_credit(const struct server *server);
/** Frames and bytes sent so far. */
struct fnet_session_counts server_counts(const struct server *server);

#endif
