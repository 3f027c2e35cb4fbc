/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listeners, and the connections of consumers.
 *
 * Source: Flink NettyServer.
 */
#include "produce/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Room for what is listed of a consumer's unfinished subpartitions in one message. */
#define NAMES_BYTES (FNET_UNFINISHED_LISTED * (FNET_NAME_MAX_BYTES + 13) + 32)

struct entrance {
    struct server *server;
    struct fnet_listener *listener; /* owned */
    const struct fnet_dialect *assumed;
};

struct server {
    struct server_config config;
    struct entrance **entrances; /* owned, and each of them */
    size_t count;
    struct fnet_list clients;
    struct fnet_session_counts gone; /* of connections that ended */
};

struct client {
    struct server *server;
    struct fnet_connection *connection; /* owned */
    struct fnet_link link;
};

static void add_counts(struct fnet_session_counts *sum, struct fnet_session_counts more)
{
    sum->buffers_out += more.buffers_out;
    sum->payload_out += more.payload_out;
    sum->frames_in += more.frames_in;
    sum->frames_out += more.frames_out;
    sum->bytes_in += more.bytes_in;
    sum->bytes_out += more.bytes_out;
}

static const char *reason_of(const struct fnet_session *session, enum fnet_err err, int saved_errno)
{
    if (err == FNET_LOST)
        return saved_errno != 0 ? strerror(saved_errno) : "closed by the consumer";
    const char *text = fnet_session_error_text(session);
    return text[0] != '\0' ? text : fnet_strerror(err);
}

static void drop(struct client *client)
{
    add_counts(&client->server->gone,
               fnet_session_counts(fnet_connection_session(client->connection)));
    fnet_connection_free(client->connection);
    fnet_link_unlink(&client->link);
    free(client);
}

/* A stranger that does not speak the protocol costs a line; a consumer that is lost costs all. */
static void on_closed(void *arg, struct fnet_connection *connection, enum fnet_err err,
                      int saved_errno)
{
    struct client *client = arg;
    struct server *server = client->server;
    const struct fnet_session *session = fnet_connection_session(connection);
    char where[FNET_ADDRESS_TEXT_BYTES + NAMES_BYTES + 1];
    char names[NAMES_BYTES];
    bool is_lost = false;

    snprintf(where, sizeof where, "%s", fnet_connection_peer(connection));
    if (err != FNET_OK && err != FNET_STATE) { /* FNET_STATE: we aborted it ourselves */
        is_lost = fnet_producer_session_unfinished(session, names, sizeof names) > 0;
        if (is_lost && err == FNET_TRUNCATED) /* a killed consumer may leave half a frame behind */
            err = FNET_LOST;
        const char *why = reason_of(session, err, saved_errno);
        if (is_lost) {
            snprintf(where, sizeof where, "%s/%s", fnet_connection_peer(connection), names);
            report_say(server->config.report, REPORT_ERROR, where,
                       "not delivered: the connection was lost: %s", why);
        } else {
            report_say(server->config.report, REPORT_NOTE, where, "connection dropped: %s", why);
        }
    }
    drop(client);
    if (is_lost)
        server->config.lost(server->config.arg, err);
    if (server_is_empty(server))
        server->config.emptied(server->config.arg);
}

static enum fnet_err admit(const struct entrance *entrance, int fd)
{
    struct server *server = entrance->server;
    struct client *client = calloc(1, sizeof *client);
    struct fnet_session *session = NULL;
    enum fnet_err err;

    if (!client)
        return FNET_NOMEM;
    err = fnet_producer_session_new(server->config.registry, entrance->assumed, &session);
    if (err == FNET_OK) {
        const struct fnet_connection_config config = {
            .loop = server->config.loop,
            .trace = server->config.trace,
            .is_producer = true,
            .idle_timeout_ns = server->config.idle_timeout_ns,
            .closed = on_closed,
            .arg = client,
        };
        err = fnet_connection_new(&config, session, fd, &client->connection);
    }
    if (err != FNET_OK) {
        fnet_session_free(session);
        free(client);
        return err;
    }
    client->server = server;
    fnet_list_push(&server->clients, &client->link);
    report_say(server->config.report, REPORT_DETAIL, fnet_connection_peer(client->connection),
               "connected");
    return FNET_OK;
}

static void on_refused(void *arg, int saved_errno)
{
    const struct entrance *entrance = arg;

    report_say(entrance->server->config.report, REPORT_NOTE, NULL, "cannot accept a connection: %s",
               strerror(saved_errno));
}

static void on_accepted(void *arg, int fd)
{
    enum fnet_err err = admit(arg, fd);

    if (err == FNET_OK)
        return;
    on_refused(arg, err == FNET_SYSTEM ? errno : ENOMEM);
    close(fd);
}

enum fnet_err server_new(const struct server_config *config, struct server **out)
{
    struct server *server = calloc(1, sizeof *server);

    if (!server)
        return FNET_NOMEM;
    server->config = *config;
    fnet_list_init(&server->clients);
    *out = server;
    return FNET_OK;
}

void server_free(struct server *server)
{
    if (!server)
        return;
    while (!fnet_list_is_empty(&server->clients))
        drop(fnet_entry(server->clients.head.next, struct client, link));
    server_stop_listening(server);
    free(server);
}

enum fnet_err server_listen(struct server *server, const struct fnet_address *address,
                            const struct fnet_dialect *assumed)
{
    struct entrance **grown =
        reallocarray(server->entrances, server->count + 1, sizeof(struct entrance *));
    if (!grown)
        return FNET_NOMEM;
    server->entrances = grown;

    struct entrance *entrance = calloc(1, sizeof *entrance);
    if (!entrance)
        return FNET_NOMEM;
    entrance->server = server;
    entrance->assumed = assumed;
    const struct fnet_listener_config config = {.loop = server->config.loop,
                                                .accepted = on_accepted,
                                                .refused = on_refused,
                                                .arg = entrance};
    enum fnet_err err = fnet_listener_open(&config, address, &entrance->listener);
    if (err != FNET_OK) {
        int saved_errno = errno;
        free(entrance);
        errno = saved_errno;
        return err;
    }
    grown[server->count++] = entrance;
    return FNET_OK;
}

size_t server_listeners(const struct server *server)
{
    return server->count;
}

const struct fnet_address *server_address(const struct server *server, size_t i)
{
    return fnet_listener_address(server->entrances[i]->listener);
}

void server_stop_listening(struct server *server)
{
    for (size_t i = 0; i < server->count; i++) {
        fnet_listener_close(server->entrances[i]->listener);
        free(server->entrances[i]);
    }
    free(server->entrances);
    server->entrances = NULL;
    server->count = 0;
}

void server_abort(struct server *server, const char *why)
{
    for (struct fnet_link *l = server->clients.head.next; l != &server->clients.head; l = l->next)
        fnet_producer_session_abort(
            fnet_connection_session(fnet_entry(l, struct client, link)->connection), why);
}

void server_close(struct server *server)
{
    struct fnet_link *link = server->clients.head.next;

    while (link != &server->clients.head) {
        struct client *client = fnet_entry(link, struct client, link);
        struct fnet_session *session = fnet_connection_session(client->connection);
        link = link->next;
        if (fnet_session_counts(session).frames_in > 0)
            fnet_producer_session_close(session);
        else
            drop(client); /* it never said a word: it is not waited for */
    }
}

bool server_is_empty(const struct server *server)
{
    return fnet_list_is_empty(&server->clients);
}

uint64_t server_credit(const struct server *server)
{
    uint64_t sum = 0;

    for (struct fnet_link *l = server->clients.head.next; l != &server->clients.head; l = l->next)
        sum += fnet_producer_session_credit(
            fnet_connection_session(fnet_entry(l, struct client, link)->connection));
    return sum;
}

struct fnet_session_counts server_counts(const struct server *server)
{
    struct fnet_session_counts sum = server->gone;

    for (struct fnet_link *l = server->clients.head.next; l != &server->clients.head; l = l->next)
        add_counts(&sum, fnet_session_counts(fnet_connection_session(
                             fnet_entry(l, struct client, link)->connection)));
    return sum;
}
