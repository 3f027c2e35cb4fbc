/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io: connections, the sockets that become connections, and the trace of what passes.
 *
 * Which side listens is visible in two files only: a producer has listeners, a consumer
 * connectors, as in Flink.
 *
 * Source: Flink NettyServer, NettyClient, NettyConnectionManager, PartitionRequestClientFactory.
 */
#ifndef FNET_CONNECTION_H
#define FNET_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "fnet/err.h"
#include "fnet/io.h"
#include "fnet/session.h"

/** How long a closing connection has to say its last words and hear the peer take leave too. */
#define FNET_LINGER_NS (5 * UINT64_C(1000000000))

/* ---- trace ------------------------------------------------------------------------------- */

/**
 * A file of everything that passes, in clear: classic pcap with nanoseconds, link type 252
 * (exported PDU), which fnet-inspect and Wireshark read.
 */
struct fnet_trace;

/** Create FILE. Errors: FNET_SYSTEM (errno is set), FNET_NOMEM. OUT is owned by caller. */
FNET_CHECKED enum fnet_err fnet_trace_open(struct fnet_loop *loop, const char *file,
                                           struct fnet_trace **out);
/**
 * Write out what is buffered and close. Safe on NULL.
 *
 * Errors: FNET_SYSTEM  something could not be written, now or earlier; errno is set.
 */
FNET_CHECKED enum fnet_err fnet_trace_close(struct fnet_trace *trace);

/* ---- connection -------------------------------------------------------------------------- */

struct fnet_connection;

struct fnet_connection_config {
    struct fnet_loop *loop;
    struct fnet_trace *trace; /**< borrowed; NULL: none */
    bool is_producer;         /**< which end of the trace's addresses is ours */
    /**
     * A TCP peer that is silent and unreachable for so long is lost; 0: as the system does. Who has
     * nothing to say is asked by keep-alive, whose smallest unit is the second.
     */
    uint64_t idle_timeout_ns;
    /**
     * The connection is over; free it. ERR is FNET_OK after an orderly end, FNET_LOST or (in the
     * middle of a frame) FNET_TRUNCATED with SAVED_ERRNO (0: closed by the peer), or what the
     * session returned.
     */
    void (*closed)(void *arg, struct fnet_connection *connection, enum fnet_err err,
                   int saved_errno);
    void *arg;
};

/**
 * Pump SESSION over the connected socket FD.
 *
 * @param session  consumed.
 * @param fd       consumed.
 * @param out      owned by caller.
 *
 * Errors: FNET_NOMEM, FNET_SYSTEM (errno is set).
 */
FNET_CHECKED enum fnet_err fnet_connection_new(const struct fnet_connection_config *config,
                                               struct fnet_session *session, int fd,
                                               struct fnet_connection **out);
/** Close at once and free, session included; closed() is not called. Safe on NULL. */
void fnet_connection_free(struct fnet_connection *connection);
struct fnet_session *fnet_connection_session(const struct fnet_connection *connection);
/** The peer's address as text. */
const char *fnet_connection_peer(const struct fnet_connection *connection);

/* ---- listener ---------------------------------------------------------------------------- */

struct fnet_listener;

/** Callbacks may close the listener. */
struct fnet_listener_config {
    struct fnet_loop *loop;
    /** A consumer came: FD is owned by the callee. */
    void (*accepted)(void *arg, int fd);
    /**
     * Nothing can be accepted for the moment (too many open files). It is tried again by itself,
     * and not said again before something was accepted.
     */
    void (*refused)(void *arg, int saved_errno);
    void *arg;
};

/**
 * Bind ADDRESS and listen. A unix socket left behind by a process that is gone is replaced.
 *
 * Errors: FNET_SYSTEM (errno is set), FNET_NOMEM. OUT is owned by caller.
 */
FNET_CHECKED enum fnet_err fnet_listener_open(const struct fnet_listener_config *config,
                                              const struct fnet_address *address,
                                              struct fnet_listener **out);
/** Stop listening; a unix socket's file goes, if it is still ours. Safe on NULL. */
void fnet_listener_close(struct fnet_listener *listener);
/** The address bound, with the port the system picked. */
const struct fnet_address *fnet_listener_address(const struct fnet_listener *listener);

/* ---- connector --------------------------------------------------------------------------- */

struct fnet_connector;

#define FNET_RETRY_FOREVER UINT32_MAX

/** Callbacks may free the connector. */
struct fnet_connector_config {
    struct fnet_loop *loop;
    struct fnet_endpoint endpoint;
    uint64_t timeout_ns;   /**< for each address */
    uint32_t retries;      /**< rounds over all addresses after the first; FNET_RETRY_FOREVER */
    bool is_loopback_only; /**< an address of another host fails at once */
    /** Connected: FD is owned by the callee. */
    void (*connected)(void *arg, int fd);
    /** Given up; REASON is borrowed. */
    void (*failed)(void *arg, const char *reason);
    /** A round failed and another will follow. */
    void (*retrying)(void *arg, const char *reason);
    void *arg;
};

/**
 * Connect to the first address of the endpoint that answers. Rounds wait 100 ms, doubling to 1 s.
 *
 * Errors: FNET_NOMEM. OUT is owned by caller; the callbacks come from the loop.
 */
FNET_CHECKED enum fnet_err fnet_connector_new(const struct fnet_connector_config *config,
                                              struct fnet_connector **out);
/** Stop trying. Safe on NULL. */
void fnet_connector_free(struct fnet_connector *connector);

#endif
