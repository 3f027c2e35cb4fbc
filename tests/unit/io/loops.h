/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: loops of both backends, turned a given number of times.
 */
#ifndef TESTS_IO_LOOPS_H
#define TESTS_IO_LOOPS_H

#include <sys/epoll.h>

#include "fnet/io.h"

#include "../tap.h"

#define MS 1000000u

/** How often the epoll backend has waited: what spins is seen here. */
static int waits;

/* In front of the C library's. */
int epoll_wait(int fd, struct epoll_event *events, int count, int timeout_ms)
{
    waits++;
    return epoll_pwait(fd, events, count, timeout_ms, NULL);
}

/** Run CASES with each backend. */
#define WITH_BACKENDS(cases)                                                                       \
    (cases)(FNET_LOOP_EPOLL);                                                                      \
    (cases)(FNET_LOOP_POLL)

static inline struct fnet_loop *new_loop(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = NULL;

    CHECK_INT(fnet_loop_new(backend, &loop), FNET_OK);
    return loop;
}

struct turner {
    struct fnet_loop *loop;
    struct fnet_task task;
    int turns;
};

static inline void turn_once(void *arg)
{
    struct turner *turner = arg;

    if (turner->turns-- > 0)
        fnet_loop_post(turner->loop, &turner->task);
    else
        fnet_loop_quit(turner->loop);
}

/** Run LOOP for TURNS turns and a last one, none of which waits. */
static inline void turn(struct fnet_loop *loop, int turns)
{
    struct turner turner = {.loop = loop, .turns = turns};

    fnet_task_init(&turner.task, turn_once, &turner);
    fnet_loop_post(loop, &turner.task);
    CHECK_INT(fnet_loop_run(loop), FNET_OK);
    fnet_task_cancel(&turner.task);
}

static inline void quit(void *arg)
{
    fnet_loop_quit(arg);
}

/** Run LOOP, waiting whenever there is nothing to do, for DELAY. A handful of waits must do. */
static inline void run_for(struct fnet_loop *loop, uint64_t delay_ns)
{
    struct fnet_timer timer = {.run = quit, .arg = loop};

    waits = 0;
    CHECK_INT(fnet_timer_set(loop, &timer, fnet_loop_now_ns(loop) + delay_ns), FNET_OK);
    CHECK_INT(fnet_loop_run(loop), FNET_OK);
    fnet_timer_cancel(loop, &timer);
    CHECK(waits < 10);
    turn(loop, 0); /* what the last wait posted, however late it was */
}

#endif
