/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop's backend over epoll.
 *
 * Source: epoll(7), epoll_ctl(2).
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "loop.h"

/* Events taken from the kernel at a time; what does not fit comes with the next wait. */
#define BATCH 128

struct epoll_state {
    int fd;    /* owned */
    int count; /* events of the last wait; [next ... count) are not reported yet */
    int next;
    struct epoll_event events[BATCH];
};

static enum fnet_err open_epoll(struct fnet_loop *loop)
{
    struct epoll_state *state = malloc(sizeof *state);

    if (!state)
        return FNET_NOMEM;
    state->count = 0;
    state->next = 0;
    state->fd = epoll_create1(EPOLL_CLOEXEC);
    if (state->fd < 0) {
        free(state);
        return FNET_SYSTEM;
    }
    loop->kernel = state;
    return FNET_OK;
}

static void close_epoll(struct fnet_loop *loop)
{
    struct epoll_state *state = loop->kernel;

    close(state->fd);
    free(state);
}

static int control(struct fnet_loop *loop, int operation, struct fnet_watch *watch, int fd,
                   unsigned wanted)
{
    struct epoll_state *state = loop->kernel;
    struct epoll_event event = {.events = (wanted & FNET_WANT_READ ? EPOLLIN : 0u) |
                                          (wanted & FNET_WANT_WRITE ? EPOLLOUT : 0u),
                                .data.ptr = watch};

    return epoll_ctl(state->fd, operation, fd, &event);
}

static enum fnet_err add(struct fnet_loop *loop, struct fnet_watch *watch, int fd,
                         bool *is_unpollable)
{
    if (control(loop, EPOLL_CTL_ADD, watch, fd, FNET_WANT_NOTHING) == 0)
        return FNET_OK;
    if (errno != EPERM)
        return FNET_SYSTEM;
    *is_unpollable = true;
    return FNET_OK;
}

static void remove_watch(struct fnet_loop *loop, struct fnet_watch *watch)
{
    struct epoll_state *state = loop->kernel;

    if (watch->registered)
        control(loop, EPOLL_CTL_DEL, watch, watch->fd, FNET_WANT_NOTHING);
    for (int i = state->next; i < state->count; i++)
        if (state->events[i].data.ptr == watch)
            state->events[i].data.ptr = NULL;
}

static enum fnet_err tell(struct fnet_loop *loop, struct fnet_watch *watch)
{
    int operation = EPOLL_CTL_MOD;

    if (!watch->registered)
        operation = EPOLL_CTL_ADD;
    else if (!watch->wanted)
        operation = EPOLL_CTL_DEL;
    return control(loop, operation, watch, watch->fd, watch->wanted) == 0 ? FNET_OK : FNET_SYSTEM;
}

static enum fnet_err wait_for_events(struct fnet_loop *loop, int timeout_ms)
{
    struct epoll_state *state = loop->kernel;
    int count = epoll_wait(state->fd, state->events, BATCH, timeout_ms);

    if (count < 0 && errno != EINTR)
        return FNET_SYSTEM;
    state->count = count < 0 ? 0 : count;
    state->next = 0;
    return FNET_OK;
}

static void report(struct fnet_loop *loop)
{
    struct epoll_state *state = loop->kernel;

    while (state->next < state->count) {
        const struct epoll_event *event = &state->events[state->next++];
        if (event->data.ptr)
            fnet__watch_report(event->data.ptr,
                               (event->events & EPOLLIN ? FNET_WANT_READ : 0u) |
                                   (event->events & EPOLLOUT ? FNET_WANT_WRITE : 0u) |
                                   (event->events & (EPOLLERR | EPOLLHUP) ? FNET_HUNG_UP : 0u));
    }
}

const struct fnet__loop_backend fnet__loop_epoll = {.open = open_epoll,
                                                    .close = close_epoll,
                                                    .add = add,
                                                    .remove = remove_watch,
                                                    .tell = tell,
                                                    .wait = wait_for_events,
                                                    .report = report,
                                                    .signals = &fnet__signal_fd};
