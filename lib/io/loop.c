/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop: ready tasks, then events, then timers.
 *
 * Source: clock_gettime(2).
 */
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>

#include "loop.h"

#define NS_PER_MS 1000000u
#define NS_PER_S 1000000000u

static void read_clock(struct fnet_loop *loop)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    loop->now_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static const struct fnet__loop_backend *backend_of(enum fnet_loop_backend backend)
{
    switch (backend) {
    case FNET_LOOP_EPOLL: return &fnet__loop_epoll;
    case FNET_LOOP_POLL: break;
    }
    return &fnet__loop_poll;
}

enum fnet_err fnet_loop_new(enum fnet_loop_backend backend, struct fnet_loop **out)
{
    struct fnet_loop *loop = malloc(sizeof *loop);

    if (!loop)
        return FNET_NOMEM;
    *loop = (struct fnet_loop){.backend = backend_of(backend), .signals = {.fd = -1}};
    fnet_list_init(&loop->tasks);
    fnet_list_init(&loop->line);
    fnet_list_init(&loop->watches);
    fnet_list_init(&loop->unpollable);
    fnet_list_init(&loop->changed);
    read_clock(loop);

    enum fnet_err err = loop->backend->open(loop);
    if (err != FNET_OK) {
        free(loop);
        return err;
    }
    *out = loop;
    return FNET_OK;
}

void fnet_loop_free(struct fnet_loop *loop)
{
    if (!loop)
        return;
    if (loop->signals.fd >= 0) {
        fnet_watch_close(&loop->signals.watch);
        loop->backend->signals->close(&loop->signals);
    }
    assert(fnet_list_is_empty(&loop->watches) && fnet_list_is_empty(&loop->unpollable));
    loop->backend->close(loop);
    free(loop->timers.at);
    free(loop);
}

/* ---- a turn ------------------------------------------------------------------------------ */

static void run_first(struct fnet_list *tasks)
{
    struct fnet_link *link = fnet_list_pop(tasks);

    if (link) {
        struct fnet_task *task = fnet_entry(link, struct fnet_task, link);
        task->run(task->arg);
    }
}

static void run_tasks(struct fnet_loop *loop)
{
    struct fnet_list batch; /* a task that posts itself again waits for the next turn */

    fnet__list_move(&loop->tasks, &batch);
    while (!fnet_list_is_empty(&batch))
        run_first(&batch);
    run_first(&loop->line);
}

/* How long the kernel may wait: not at all while something can be done without it. */
static int timeout_ms(const struct fnet_loop *loop)
{
    if (loop->is_quitting || !fnet_list_is_empty(&loop->tasks) ||
        !fnet_list_is_empty(&loop->line) || fnet__watch_is_any_ready(loop))
        return 0;

    uint64_t next = fnet__timer_next_ns(loop);
    if (next == UINT64_MAX)
        return -1;
    if (next <= loop->now_ns + 1) /* set to what was the past: see fnet_timer_set() */
        return 0;
    /* Rounded up: to wake before the deadline would be to wake for nothing. */
    uint64_t ms = (next - loop->now_ns - 1) / NS_PER_MS + 1;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static enum fnet_err run_turn(struct fnet_loop *loop)
{
    run_tasks(loop);

    enum fnet_err err = fnet__watch_tell_changes(loop);
    if (err == FNET_OK)
        err = loop->backend->wait(loop, timeout_ms(loop));
    if (err != FNET_OK)
        return err;
    read_clock(loop);
    loop->backend->report(loop);
    fnet__watch_report_unpollable(loop);
    fnet__timer_run_due(loop);
    return FNET_OK;
}

enum fnet_err fnet_loop_run(struct fnet_loop *loop)
{
    enum fnet_err err = FNET_OK;

    read_clock(loop);
    while (err == FNET_OK && !loop->is_quitting)
        err = run_turn(loop);
    loop->is_quitting = false;
    return err;
}

void fnet_loop_quit(struct fnet_loop *loop)
{
    loop->is_quitting = true;
}

void fnet_loop_post(struct fnet_loop *loop, struct fnet_task *task)
{
    fnet_list_push(&loop->tasks, &task->link);
}

void fnet_loop_queue(struct fnet_loop *loop, struct fnet_task *task)
{
    fnet_list_push(&loop->line, &task->link);
}

void fnet_task_cancel(struct fnet_task *task)
{
    fnet_link_unlink(&task->link);
}

uint64_t fnet_loop_now_ns(const struct fnet_loop *loop)
{
    return loop->now_ns;
}

/* ---- signals ----------------------------------------------------------------------------- */

static void on_signal(void *arg, unsigned happened)
{
    struct fnet_loop *loop = arg;
    int signo;

    (void)happened;
    while ((signo = loop->backend->signals->next(&loop->signals)) != 0)
        loop->signals.handler(loop->signals.arg, signo);
}

enum fnet_err fnet_loop_handle_signals(struct fnet_loop *loop, const sigset_t *signals,
                                       void (*handler)(void *arg, int signo), void *arg)
{
    if (loop->signals.fd >= 0)
        return FNET_STATE;

    struct fnet__signals *heard = &loop->signals;
    *heard = (struct fnet__signals){.fd = -1, .set = *signals, .handler = handler, .arg = arg};
    enum fnet_err err = loop->backend->signals->open(heard);
    if (err != FNET_OK)
        return err;
    err = fnet_watch_open(&heard->watch, loop, heard->fd, on_signal, loop);
    if (err != FNET_OK) {
        loop->backend->signals->close(heard);
        return err;
    }
    fnet_watch_want(&heard->watch, FNET_WANT_READ);
    return FNET_OK;
}
