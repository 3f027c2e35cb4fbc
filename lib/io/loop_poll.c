/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop's backend over poll, for systems without epoll. The question is put together anew from
 * the watches before each wait: poll looks at all of them anyway.
 *
 * Source: poll(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

#include "loop.h"

#define FIRST_CAPACITY 16

struct poll_state {
    struct pollfd *fds;          /* owned, capacity of them, as is watches */
    struct fnet_watch **watches; /* whose fds[i] is; NULL: closed since the wait */
    size_t capacity;             /* >= watched */
    size_t watched;              /* watches of the loop */
    size_t count;                /* asked about in the last wait; [next ... count) not reported */
    size_t next;
};

static enum fnet_err open_poll(struct fnet_loop *loop)
{
    loop->kernel = calloc(1, sizeof(struct poll_state));
    return loop->kernel ? FNET_OK : FNET_NOMEM;
}

static void close_poll(struct fnet_loop *loop)
{
    struct poll_state *state = loop->kernel;

    free(state->fds);
    free(state->watches);
    free(state);
}

/* Both arrays grow here, never before a wait: whoever opens a watch hears of the lack of memory. */
static enum fnet_err grow(struct poll_state *state)
{
    size_t capacity = state->capacity ? state->capacity * 2 : FIRST_CAPACITY;

    struct pollfd *fds = realloc(state->fds, capacity * sizeof *fds);
    if (!fds)
        return FNET_NOMEM;
    state->fds = fds;
    struct fnet_watch **watches = realloc(state->watches, capacity * sizeof *watches);
    if (!watches)
        return FNET_NOMEM;
    state->watches = watches;
    state->capacity = capacity;
    return FNET_OK;
}

static enum fnet_err add(struct fnet_loop *loop, struct fnet_watch *watch, int fd,
                         bool *is_unpollable)
{
    struct poll_state *state = loop->kernel;

    (void)watch;
    (void)is_unpollable; /* poll calls ready by itself what it cannot watch */
    if (fcntl(fd, F_GETFD) < 0)
        return FNET_SYSTEM;
    if (state->watched == state->capacity) {
        enum fnet_err err = grow(state);
        if (err != FNET_OK)
            return err;
    }
    state->watched++;
    return FNET_OK;
}

static void remove_watch(struct fnet_loop *loop, struct fnet_watch *watch)
{
    struct poll_state *state = loop->kernel;

    state->watched--;
    for (size_t i = state->next; i < state->count; i++)
        if (state->watches[i] == watch)
            state->watches[i] = NULL;
}

static enum fnet_err tell(struct fnet_loop *loop, struct fnet_watch *watch)
{
    (void)loop;
    (void)watch;
    return FNET_OK;
}

static size_t gather(struct fnet_loop *loop, struct poll_state *state)
{
    struct fnet_link *link = loop->watches.head.next;
    size_t n = 0;

    for (; link != &loop->watches.head; link = link->next) {
        struct fnet_watch *watch = fnet_entry(link, struct fnet_watch, member);
        if (!watch->wanted)
            continue;
        int events = (watch->wanted & FNET_WANT_READ ? POLLIN : 0) |
                     (watch->wanted & FNET_WANT_WRITE ? POLLOUT : 0);
        state->fds[n] = (struct pollfd){.fd = watch->fd, .events = (short)events};
        state->watches[n++] = watch;
    }
    return n;
}

static enum fnet_err wait_for_events(struct fnet_loop *loop, int timeout_ms)
{
    struct poll_state *state = loop->kernel;
    size_t count = gather(loop, state);
    int ready = poll(state->fds, count, timeout_ms);

    if (ready < 0 && errno != EINTR)
        return FNET_SYSTEM;
    state->count = ready > 0 ? count : 0;
    state->next = 0;
    return FNET_OK;
}

static void report(struct fnet_loop *loop)
{
    struct poll_state *state = loop->kernel;

    while (state->next < state->count) {
        struct fnet_watch *watch = state->watches[state->next];
        int events = state->fds[state->next++].revents;
        if (watch && events)
            fnet__watch_report(watch,
                               (events & POLLIN ? FNET_WANT_READ : 0u) |
                                   (events & POLLOUT ? FNET_WANT_WRITE : 0u) |
                                   (events & (POLLERR | POLLHUP | POLLNVAL) ? FNET_HUNG_UP : 0u));
    }
}

const struct fnet__loop_backend fnet__loop_poll = {.open = open_poll,
                                                   .close = close_poll,
                                                   .add = add,
                                                   .remove = remove_watch,
                                                   .tell = tell,
                                                   .wait = wait_for_events,
                                                   .report = report,
                                                   .signals = &fnet__signal_pipe};
