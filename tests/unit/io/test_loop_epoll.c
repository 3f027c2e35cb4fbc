/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epoll backend: what differs from poll. The rest is in test_loop and test_watch.
 */
#include <errno.h>
#include <unistd.h>

#include "loops.h"

static void count(void *arg, unsigned happened)
{
    (void)happened;
    ++*(int *)arg;
}

int main(void)
{
    struct fnet_loop *loop = new_loop(FNET_LOOP_EPOLL);
    struct fnet_watch watch = {.loop = NULL}, again = {.loop = NULL};
    FILE *file = tmpfile();
    int ends[2], calls = 0;

    CASE("a file that epoll refuses is always ready");
    CHECK_INT(fnet_watch_open(&watch, loop, fileno(file), count, &calls), FNET_OK);
    CHECK(watch.is_unpollable);
    fnet_watch_want(&watch, FNET_WANT_WRITE);
    turn(loop, 1);
    CHECK_INT(calls, 2);
    fnet_watch_close(&watch);
    fclose(file);

    CASE("a pipe is watched by the kernel, which takes each descriptor once");
    CHECK_INT(pipe(ends), 0);
    CHECK_INT(fnet_watch_open(&watch, loop, ends[1], count, &calls), FNET_OK);
    CHECK(!watch.is_unpollable);
    CHECK_INT(fnet_watch_open(&again, loop, ends[1], count, &calls), FNET_SYSTEM);
    CHECK_INT(errno, EEXIST);

    CASE("the kernel is told of a changed interest before the wait, not at once");
    fnet_watch_want(&watch, FNET_WANT_WRITE);
    CHECK_INT(watch.registered, FNET_HUNG_UP);
    turn(loop, 0);
    CHECK_INT(watch.registered, FNET_WANT_WRITE | FNET_HUNG_UP);

    CASE("a closed watch is forgotten by the kernel too: the descriptor can be watched anew");
    fnet_watch_close(&watch);
    CHECK_INT(fnet_watch_open(&again, loop, ends[1], count, &calls), FNET_OK);
    fnet_watch_close(&again);
    close(ends[0]);
    close(ends[1]);
    fnet_loop_free(loop);
    return tap_done();
}
