/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's end of a connection to be: bind, listen, accept.
 *
 * Source: the sockets API; Flink NettyServer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fnet/connection.h"

#define BACKLOG 1024
#define ACCEPTS_PER_TURN 64
/* Out of descriptors: some time for connections to end before the next try. */
#define PAUSE_NS (100 * UINT64_C(1000000))

struct fnet_listener {
    struct fnet_listener_config config;
    struct fnet_address address;
    int fd;
    struct fnet_watch watch;
    struct fnet_timer pause;
};

static void on_pause_over(void *arg)
{
    struct fnet_listener *l = arg;

    fnet_watch_want(&l->watch, FNET_WANT_READ);
}

static void pause_accepting(struct fnet_listener *l, int saved_errno)
{
    l->config.refused(l->config.arg, saved_errno);
    if (fnet_timer_set(l->config.loop, &l->pause, fnet_loop_now_ns(l->config.loop) + PAUSE_NS) ==
        FNET_OK)
        fnet_watch_want(&l->watch, FNET_WANT_NOTHING);
}

static void on_ready(void *arg, unsigned happened)
{
    struct fnet_listener *l = arg;

    (void)happened;
    for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) {
            l->config.accepted(l->config.arg, fd);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_accepting(l, errno);
        /* All else is a connection that went away before it was accepted, or none left. */
        if (errno != ECONNABORTED && errno != EINTR)
            return;
    }
}

/* Is the socket's file left over from a process that is gone? Only then may it be replaced. */
static bool is_stale(const struct fnet_address *address)
{
    struct stat st;
    bool stale = false;

    if (lstat(address->un.sun_path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    stale = connect(fd, &address->any, address->len) != 0 && errno == ECONNREFUSED;
    close(fd);
    return stale;
}

static int bind_and_listen(int fd, const struct fnet_address *address)
{
    const int on = 1;
    int family = address->any.sa_family;

    if (family != AF_UNIX)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* [::] and 0.0.0.0 are two addresses: each --listen means exactly what it says. */
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    int rc = bind(fd, &address->any, address->len);
    if (rc != 0 && errno == EADDRINUSE && family == AF_UNIX && is_stale(address)) {
        unlink(address->un.sun_path);
        rc = bind(fd, &address->any, address->len);
    }
    return rc == 0 ? listen(fd, BACKLOG) : rc;
}

enum fnet_err fnet_listener_open(const struct fnet_listener_config *config,
                                 const struct fnet_address *address, struct fnet_listener **out)
{
    struct fnet_listener *l = calloc(1, sizeof *l);
    if (!l)
        return FNET_NOMEM;

    enum fnet_err err = FNET_SYSTEM;
    l->config = *config;
    l->pause = (struct fnet_timer){.run = on_pause_over, .arg = l};
    l->fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        goto fail;
    if (bind_and_listen(l->fd, address) != 0)
        goto fail;
    l->address = *address;
    if (address->any.sa_family != AF_UNIX)
        getsockname(l->fd, &l->address.any, &l->address.len);
    err = fnet_watch_open(&l->watch, config->loop, l->fd, on_ready, l);
    if (err != FNET_OK)
        goto fail;
    fnet_watch_want(&l->watch, FNET_WANT_READ);
    *out = l;
    return FNET_OK;

fail:;
    int saved_errno = errno;
    if (l->fd >= 0)
        close(l->fd);
    free(l);
    errno = saved_errno;
    return err;
}

void fnet_listener_close(struct fnet_listener *l)
{
    if (!l)
        return;
    fnet_timer_cancel(l->config.loop, &l->pause);
    fnet_watch_close(&l->watch);
    close(l->fd);
    if (l->address.any.sa_family == AF_UNIX)
        unlink(l->address.un.sun_path);
    free(l);
}

const struct fnet_address *fnet_listener_address(const struct fnet_listener *l)
{
    return &l->address;
}
