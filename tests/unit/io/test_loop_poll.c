/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The poll backend: what differs from epoll. The rest is in test_loop and test_watch.
 */
#include <errno.h>
#include <unistd.h>

#include "loops.h"

static void count(void *arg, unsigned happened)
{
    *(unsigned *)arg += 1u + 100u * happened;
}

int main(void)
{
    struct fnet_loop *loop = new_loop(FNET_LOOP_POLL);
    struct fnet_watch one = {.loop = NULL}, two = {.loop = NULL};
    unsigned calls = 0, others = 0;
    int ends[2];

    CASE("two watches of one descriptor are both told");
    CHECK_INT(pipe(ends), 0);
    CHECK_INT(fnet_watch_open(&one, loop, ends[1], count, &calls), FNET_OK);
    CHECK_INT(fnet_watch_open(&two, loop, ends[1], count, &others), FNET_OK);
    fnet_watch_want(&one, FNET_WANT_WRITE);
    fnet_watch_want(&two, FNET_WANT_WRITE);
    turn(loop, 0);
    CHECK_INT(calls, 1 + 100 * FNET_WANT_WRITE);
    CHECK_INT(others, 1 + 100 * FNET_WANT_WRITE);
    fnet_watch_close(&two);
    close(ends[0]);
    close(ends[1]);

    CASE("a descriptor that was closed under its watch counts as hung up, once");
    fnet_watch_want(&one, FNET_WANT_NOTHING);
    calls = 0;
    run_for(loop, 2 * MS);
    CHECK_INT(calls, 1 + 100 * FNET_HUNG_UP);
    fnet_watch_close(&one);
    fnet_loop_free(loop);
    return tap_done();
}
