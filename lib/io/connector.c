/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer's end of a connection to be: every address in turn, and again while allowed.
 *
 * Source: Flink PartitionRequestClientFactory, NettyClient.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fnet/connection.h"

#define FIRST_PAUSE_NS (100 * UINT64_C(1000000))
#define LONGEST_PAUSE_NS (1000 * UINT64_C(1000000))

struct fnet_connector {
    struct fnet_connector_config config;
    struct fnet_address *addresses; /* owned; of this round */
    size_t count;
    size_t next;          /* the address to try next */
    int fd;               /* of the try under way; -1: none */
    uint64_t deadline_ns; /* of it */
    uint32_t rounds;      /* that failed */
    uint64_t pause_ns;
    struct fnet_watch watch;
    struct fnet_timer timer; /* ends a try, or the pause between rounds */
    struct fnet_task step;
    char reason[256]; /* why the last try failed */
};

static void set_timer(struct fnet_connector *c, uint64_t in_ns)
{
    if (fnet_timer_set(c->config.loop, &c->timer, fnet_loop_now_ns(c->config.loop) + in_ns) !=
        FNET_OK)
        fnet_loop_post(c->config.loop, &c->step); /* no memory: no pause */
}

static void drop_try(struct fnet_connector *c)
{
    fnet_timer_cancel(c->config.loop, &c->timer);
    fnet_watch_close(&c->watch);
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

static void finish_round(struct fnet_connector *c)
{
    free(c->addresses);
    c->addresses = NULL;
    c->count = 0;
    c->next = 0;
    if (c->config.retries != FNET_RETRY_FOREVER && c->rounds >= c->config.retries) {
        c->config.failed(c->config.arg, c->reason); /* may free C */
        return;
    }
    c->rounds++;
    set_timer(c, c->pause_ns);
    c->pause_ns = c->pause_ns * 2 < LONGEST_PAUSE_NS ? c->pause_ns * 2 : LONGEST_PAUSE_NS;
    c->config.retrying(c->config.arg, c->reason);
}

static void fail_try(struct fnet_connector *c, int error)
{
    drop_try(c);
    snprintf(c->reason, sizeof c->reason, "%s", strerror(error));
    fnet_loop_post(c->config.loop, &c->step);
}

/* Of a port that nobody listens at, connected to from itself: the kernel picked it for us. */
static bool is_echo(int fd)
{
    struct fnet_address ours = {.len = sizeof ours - sizeof ours.len};
    struct fnet_address theirs = ours;

    if (getsockname(fd, &ours.any, &ours.len) != 0 ||
        getpeername(fd, &theirs.any, &theirs.len) != 0)
        return false;
    return ours.any.sa_family != AF_UNIX && ours.len == theirs.len &&
           memcmp(&ours.any, &theirs.any, ours.len) == 0;
}

static void succeed(struct fnet_connector *c)
{
    int fd = c->fd;

    if (is_echo(fd)) {
        fail_try(c, ECONNREFUSED);
        return;
    }
    c->fd = -1;
    drop_try(c);
    fnet_task_cancel(&c->step);
    c->config.connected(c->config.arg, fd); /* may free C */
}

static void on_ready(void *arg, unsigned happened)
{
    struct fnet_connector *c = arg;
    int error = 0;
    socklen_t len = sizeof error;

    (void)happened;
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
        error = errno;
    if (error != 0)
        fail_try(c, error);
    else
        succeed(c);
}

static void knock(struct fnet_connector *c)
{
    const struct fnet_address *address = &c->addresses[c->next - 1];
    uint64_t left_ns = c->deadline_ns - fnet_loop_now_ns(c->config.loop);

    if (connect(c->fd, &address->any, address->len) == 0) {
        succeed(c);
        return;
    }
    if (errno == EAGAIN) { /* a unix socket where many wait: the kernel tells nobody of room */
        set_timer(c, left_ns < FIRST_PAUSE_NS ? left_ns : FIRST_PAUSE_NS);
        return;
    }
    if (errno != EINPROGRESS) {
        fail_try(c, errno);
        return;
    }
    enum fnet_err err = fnet_watch_open(&c->watch, c->config.loop, c->fd, on_ready, c);
    if (err != FNET_OK) {
        fail_try(c, err == FNET_NOMEM ? ENOMEM : errno);
        return;
    }
    fnet_watch_want(&c->watch, FNET_WANT_WRITE);
    set_timer(c, left_ns);
}

static void on_timer(void *arg)
{
    struct fnet_connector *c = arg;

    if (c->fd < 0)
        fnet_loop_post(c->config.loop, &c->step);
    else if (fnet_loop_now_ns(c->config.loop) < c->deadline_ns)
        knock(c);
    else
        fail_try(c, ETIMEDOUT);
}

static void try_next(struct fnet_connector *c)
{
    const struct fnet_address *address = &c->addresses[c->next++];

    if (c->config.is_loopback_only && !fnet_address_is_loopback(address)) {
        fail_try(c, EPERM);
        return;
    }
    c->fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->fd < 0) {
        fail_try(c, errno);
        return;
    }
    c->deadline_ns = fnet_loop_now_ns(c->config.loop) + c->config.timeout_ns;
    knock(c);
}

static void look_up(struct fnet_connector *c)
{
    const char *why;
    enum fnet_err err =
        fnet_endpoint_resolve(&c->config.endpoint, false, &c->addresses, &c->count, &why);

    if (err != FNET_OK) {
        snprintf(c->reason, sizeof c->reason, "%s", why);
        finish_round(c);
        return;
    }
    /* In the next turn, for which the clock is read again: a name server may take its time, which
     * is not that of the first address. */
    fnet_loop_post(c->config.loop, &c->step);
}

static void step(void *arg)
{
    struct fnet_connector *c = arg;

    if (c->fd >= 0)
        fail_try(c, ENOMEM); /* its timer could not be set */
    else if (c->count == 0)
        look_up(c);
    else if (c->next < c->count)
        try_next(c);
    else
        finish_round(c);
}

enum fnet_err fnet_connector_new(const struct fnet_connector_config *config,
                                 struct fnet_connector **out)
{
    struct fnet_connector *c = calloc(1, sizeof *c);

    if (!c)
        return FNET_NOMEM;
    c->config = *config;
    c->fd = -1;
    c->pause_ns = FIRST_PAUSE_NS;
    c->timer = (struct fnet_timer){.run = on_timer, .arg = c};
    fnet_task_init(&c->step, step, c);
    fnet_loop_post(config->loop, &c->step);
    *out = c;
    return FNET_OK;
}

void fnet_connector_free(struct fnet_connector *c)
{
    if (!c)
        return;
    drop_try(c);
    fnet_task_cancel(&c->step);
    free(c->addresses);
    free(c);
}
