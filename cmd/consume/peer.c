/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections to producers.
 *
 * Source: Flink PartitionRequestClientFactory.
 */
#include "consume/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct peers {
    struct peers_config config;
    struct fnet_list all;
};

/* Connecting (connector, session), connected (connection, which owns the session), or gone. */
struct peer {
    struct peers *peers;
    struct peer_place place;
    struct fnet_connector *connector;   /* owned */
    struct fnet_connection *connection; /* owned */
    struct fnet_session *session;       /* owned until there is a connection */
    struct fnet_link link;
};

static bool is_gone(const struct peer *peer)
{
    return peer->session == NULL;
}

bool peers_are_gone(const struct peers *peers)
{
    for (struct fnet_link *l = peers->all.head.next; l != &peers->all.head; l = l->next)
        if (!is_gone(fnet_entry(l, struct peer, link)))
            return false;
    return true;
}

/* Its channels fail, unless they are at their end. */
static void drop(struct peer *peer)
{
    struct fnet_session *session = peer->session;
    if (!session)
        return;

    peer->session = NULL;
    fnet_connector_free(peer->connector);
    peer->connector = NULL;
    if (peer->connection)
        fnet_connection_free(peer->connection);
    else
        fnet_session_free(session);
    peer->connection = NULL;
}

static void drop_and_tell(struct peer *peer)
{
    struct peers *peers = peer->peers;

    drop(peer);
    if (peers_are_gone(peers))
        peers->config.emptied(peers->config.arg);
}

static void on_closed(void *arg, struct fnet_connection *connection, enum fnet_err err,
                      int saved_errno)
{
    struct peer *peer = arg;
    const struct peers_config *config = &peer->peers->config;
    const char *reason = fnet_session_error_text(peer->session);

    (void)connection;
    if (err == FNET_TRUNCATED) /* a killed producer may leave half a frame behind */
        err = FNET_LOST;
    if (err == FNET_LOST)
        reason = saved_errno != 0 ? strerror(saved_errno) : "closed by the producer";
    else if (reason[0] == '\0')
        reason = fnet_strerror(err);
    if (err != FNET_OK)
        config->lost(config->arg, peer, err, reason);
    drop_and_tell(peer);
}

static void on_failed(void *arg, const char *reason)
{
    struct peer *peer = arg;
    const struct peers_config *config = &peer->peers->config;

    config->unreachable(config->arg, peer, reason);
    drop_and_tell(peer);
}

static void on_retrying(void *arg, const char *reason)
{
    struct peer *peer = arg;

    report_say(peer->peers->config.report, REPORT_DETAIL, peer->place.name,
               "cannot connect: %s; trying again", reason);
}

static void on_connected(void *arg, int fd)
{
    struct peer *peer = arg;
    const struct peers_config *peers = &peer->peers->config;
    const struct fnet_connection_config config = {
        .loop = peers->loop,
        .trace = peers->trace,
        .idle_timeout_ns = peers->idle_timeout_ns,
        .closed = on_closed,
        .arg = peer,
    };

    fnet_connector_free(peer->connector);
    peer->connector = NULL;
    enum fnet_err err = fnet_connection_new(&config, peer->session, fd, &peer->connection);
    if (err != FNET_OK) {
        const char *reason = err == FNET_SYSTEM ? strerror(errno) : fnet_strerror(err);
        close(fd);
        on_failed(peer, reason);
        return;
    }
    report_say(peers->report, REPORT_DETAIL, peer->place.name, "connected to %s",
               fnet_connection_peer(peer->connection));
}

static enum fnet_err open_peer(struct peer *peer)
{
    const struct peers_config *peers = &peer->peers->config;
    const struct fnet_connector_config config = {
        .loop = peers->loop,
        .endpoint = peer->place.endpoint,
        .timeout_ns = peers->connect_timeout_ns,
        .retries = peers->retries,
        .is_loopback_only = !peers->is_plaintext,
        .connected = on_connected,
        .failed = on_failed,
        .retrying = on_retrying,
        .arg = peer,
    };
    enum fnet_err err =
        fnet_consumer_session_new(&peers->listener, peer->place.dialect, &peer->session);

    return err == FNET_OK ? fnet_connector_new(&config, &peer->connector) : err;
}

static bool is_same_endpoint(const struct fnet_endpoint *a, const struct fnet_endpoint *b)
{
    if (a->is_unix || b->is_unix)
        return a->is_unix && b->is_unix && strcmp(a->path, b->path) == 0;
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

static bool is_same_place(const struct peer_place *a, const struct peer_place *b)
{
    return a->index == b->index && a->dialect == b->dialect &&
           is_same_endpoint(&a->endpoint, &b->endpoint);
}

enum fnet_err peers_get(struct peers *peers, const struct peer_place *place, struct peer **out)
{
    for (struct fnet_link *l = peers->all.head.next; l != &peers->all.head; l = l->next) {
        struct peer *peer = fnet_entry(l, struct peer, link);
        if (is_same_place(&peer->place, place)) {
            *out = peer;
            return FNET_OK;
        }
    }

    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return FNET_NOMEM;
    peer->peers = peers;
    peer->place = *place;
    enum fnet_err err = open_peer(peer);
    if (err != FNET_OK) {
        drop(peer);
        free(peer);
        return err;
    }
    fnet_list_push(&peers->all, &peer->link);
    *out = peer;
    return FNET_OK;
}

enum fnet_err peers_new(const struct peers_config *config, struct peers **out)
{
    struct peers *peers = calloc(1, sizeof *peers);

    if (!peers)
        return FNET_NOMEM;
    peers->config = *config;
    fnet_list_init(&peers->all);
    *out = peers;
    return FNET_OK;
}

void peers_free(struct peers *peers)
{
    struct fnet_link *link;

    if (!peers)
        return;
    while ((link = fnet_list_pop(&peers->all)) != NULL) {
        struct peer *peer = fnet_entry(link, struct peer, link);
        drop(peer);
        free(peer);
    }
    free(peers);
}

void peers_close(struct peers *peers)
{
    for (struct fnet_link *l = peers->all.head.next; l != &peers->all.head; l = l->next) {
        struct peer *peer = fnet_entry(l, struct peer, link);
        if (peer->connection)
            fnet_consumer_session_close(peer->session);
        else
            drop(peer); /* nobody has heard of us yet */
    }
}

struct fnet_session *peer_session(const struct peer *peer)
{
    return peer->session;
}

const char *peer_name(const struct peer *peer)
{
    return peer->place.name;
}
