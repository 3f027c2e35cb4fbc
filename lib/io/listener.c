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
    int fd;       /* owned */
    dev_t device; /* of the unix socket's file: only our own is removed */
    ino_t inode;
    struct fnet_watch watch;
    struct fnet_timer pause;
    bool is_pausing;   /* nothing could be accepted since that was told */
    bool is_accepting; /* callbacks may be under way: memory must stay */
    bool is_closed;
};

static void on_pause_over(void *arg)
{
    struct fnet_listener *l = arg;

    fnet_watch_want(&l->watch, FNET_WANT_READ);
}

/* The connections stay where they are, in the kernel's queue. */
static void pause_accepting(struct fnet_listener *l, int saved_errno)
{
    bool is_news = !l->is_pausing;

    l->is_pausing = true;
    if (fnet_timer_set(l->config.loop, &l->pause, fnet_loop_now_ns(l->config.loop) + PAUSE_NS) ==
        FNET_OK)
        fnet_watch_want(&l->watch, FNET_WANT_NOTHING);
    if (is_news)
        l->config.refused(l->config.arg, saved_errno); /* may close L */
}

/* Returns false when there is no more to accept for now. */
static bool accept_one(struct fnet_listener *l)
{
    int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);

    if (fd >= 0) {
        l->is_pausing = false;
        l->config.accepted(l->config.arg, fd); /* may close L */
        return true;
    }
    /* A connection that went away before it was accepted: the next, please. */
    if (errno == ECONNABORTED || errno == EINTR)
        return true;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        pause_accepting(l, errno);
    return false;
}

static void on_ready(void *arg, unsigned happened)
{
    struct fnet_listener *l = arg;

    (void)happened;
    l->is_accepting = true;
    for (int i = 0; i < ACCEPTS_PER_TURN && !l->is_closed; i++)
        if (!accept_one(l))
            break;
    l->is_accepting = false;
    if (l->is_closed)
        free(l);
}

/*
 * Is the socket's file left over from a process that is gone? Only then may it be replaced. A live
 * one with more connections waiting than it allows answers EAGAIN.
 */
static bool is_stale(const struct fnet_address *address)
{
    struct stat st;
    bool stale = false;

    if (lstat(address->un.sun_path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    stale = connect(fd, &address->any, address->len) != 0 && errno == ECONNREFUSED;
    close(fd);
    return stale;
}

static int bind_unix(struct fnet_listener *l)
{
    const struct fnet_address *address = &l->address;
    struct stat st;
    int rc = bind(l->fd, &address->any, address->len);

    if (rc != 0 && errno == EADDRINUSE) {
        if (is_stale(address)) {
            unlink(address->un.sun_path);
            rc = bind(l->fd, &address->any, address->len);
        } else {
            errno = EADDRINUSE;
        }
    }
    if (rc == 0 && lstat(address->un.sun_path, &st) == 0) {
        l->device = st.st_dev;
        l->inode = st.st_ino;
    }
    return rc;
}

static int bind_tcp(struct fnet_listener *l)
{
    const int on = 1;

    setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* [::] and 0.0.0.0 are two addresses: each --listen means exactly what it says. */
    if (l->address.any.sa_family == AF_INET6)
        setsockopt(l->fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(l->fd, &l->address.any, l->address.len) != 0)
        return -1;
    return getsockname(l->fd, &l->address.any, &l->address.len);
}

/* Unless it has been replaced by somebody else's. */
static void remove_file(const struct fnet_listener *l)
{
    const char *path = l->address.un.sun_path;
    struct stat st;

    if (l->address.any.sa_family == AF_UNIX && lstat(path, &st) == 0 && st.st_dev == l->device &&
        st.st_ino == l->inode)
        unlink(path);
}

static enum fnet_err open_socket(struct fnet_listener *l)
{
    int family = l->address.any.sa_family;

    l->fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return FNET_SYSTEM;
    if ((family == AF_UNIX ? bind_unix(l) : bind_tcp(l)) != 0 || listen(l->fd, BACKLOG) != 0)
        return FNET_SYSTEM;
    return fnet_watch_open(&l->watch, l->config.loop, l->fd, on_ready, l);
}

enum fnet_err fnet_listener_open(const struct fnet_listener_config *config,
                                 const struct fnet_address *address, struct fnet_listener **out)
{
    struct fnet_listener *l = calloc(1, sizeof *l);
    if (!l)
        return FNET_NOMEM;

    l->config = *config;
    l->address = *address;
    l->pause = (struct fnet_timer){.run = on_pause_over, .arg = l};
    enum fnet_err err = open_socket(l);
    if (err != FNET_OK) {
        int saved_errno = errno;
        fnet_listener_close(l);
        errno = saved_errno;
        return err;
    }
    fnet_watch_want(&l->watch, FNET_WANT_READ);
    *out = l;
    return FNET_OK;
}

void fnet_listener_close(struct fnet_listener *l)
{
    if (!l)
        return;
    fnet_timer_cancel(l->config.loop, &l->pause);
    fnet_watch_close(&l->watch);
    remove_file(l);
    if (l->fd >= 0)
        close(l->fd);
    l->is_closed = true;
    if (!l->is_accepting)
        free(l);
}

const struct fnet_address *fnet_listener_address(const struct fnet_listener *l)
{
    return &l->address;
}
