/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches, with either backend: interest, hang-ups, closing in the middle of a batch, and
 * descriptors that cannot be watched.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../failmalloc.h"
#include "loops.h"

/* A watch that counts. It is on the heap, so that a sanitizer sees a use after close. */
struct probe {
    struct fnet_watch watch;
    int calls;
    unsigned happened; /* the last time */
    struct probe **group;
    int group_count;
};

static void on_event(void *arg, unsigned happened)
{
    struct probe *probe = arg;

    probe->calls++;
    probe->happened = happened;
}

static struct probe *watch_fd(struct fnet_loop *loop, int fd, unsigned wanted)
{
    struct probe *probe = calloc(1, sizeof *probe);

    CHECK_INT(fnet_watch_open(&probe->watch, loop, fd, on_event, probe), FNET_OK);
    fnet_watch_want(&probe->watch, wanted);
    return probe;
}

static void unwatch(struct probe *probe)
{
    fnet_watch_close(&probe->watch);
    free(probe);
}

static void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static void test_interest(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);
    int ends[2];
    char byte;

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct probe *probe = watch_fd(loop, ends[0], FNET_WANT_NOTHING);

    CASE("what is not wanted is not reported");
    CHECK_INT(write(ends[1], "ab", 2), 2);
    turn(loop, 2);
    CHECK_INT(probe->calls, 0);

    CASE("what is wanted is reported in every turn in which it holds");
    fnet_watch_want(&probe->watch, FNET_WANT_READ);
    turn(loop, 2);
    CHECK_INT(probe->calls, 3);
    CHECK_INT(probe->happened, FNET_WANT_READ);
    CHECK_INT(read(ends[0], &byte, 1), 1);
    turn(loop, 0);
    CHECK_INT(probe->calls, 4);
    CHECK_INT(read(ends[0], &byte, 1), 1);
    turn(loop, 2);
    CHECK_INT(probe->calls, 4);

    CASE("writing can be wanted beside reading");
    fnet_watch_want(&probe->watch, FNET_WANT_READ | FNET_WANT_WRITE);
    turn(loop, 0);
    CHECK_INT(probe->calls, 5);
    CHECK_INT(probe->happened, FNET_WANT_WRITE);

    CASE("interest that is given up and taken up again between two waits is as it was");
    fnet_watch_want(&probe->watch, FNET_WANT_NOTHING);
    fnet_watch_want(&probe->watch, FNET_WANT_READ | FNET_WANT_WRITE);
    turn(loop, 0);
    CHECK_INT(probe->calls, 6);
    fnet_watch_want(&probe->watch, FNET_WANT_NOTHING);
    turn(loop, 2);
    CHECK_INT(probe->calls, 6);

    CASE("an event ends the wait");
    fnet_watch_want(&probe->watch, FNET_WANT_WRITE);
    run_for(loop, 1);
    CHECK(probe->calls > 6);

    CASE("a closed watch hears nothing, and closing it again does nothing");
    fnet_watch_want(&probe->watch, FNET_WANT_WRITE);
    fnet_watch_close(&probe->watch);
    probe->calls = 0;
    turn(loop, 2);
    CHECK_INT(probe->calls, 0);
    unwatch(probe);
    close_both(ends);
    fnet_loop_free(loop);
}

static void test_hang_ups(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);
    int ends[2];
    char bytes[8];

    CASE("what was written before the writer left is reported readable with the hang-up");
    CHECK_INT(pipe(ends), 0);
    struct probe *probe = watch_fd(loop, ends[0], FNET_WANT_READ);
    CHECK_INT(write(ends[1], "rest", 4), 4);
    close(ends[1]);
    turn(loop, 0);
    CHECK_INT(probe->calls, 1);
    CHECK_INT(probe->happened, FNET_WANT_READ | FNET_HUNG_UP);
    CHECK_INT(read(ends[0], bytes, sizeof bytes), 4);

    CASE("so is the end that follows it");
    turn(loop, 0);
    CHECK_INT(probe->calls, 2);
    CHECK_INT(probe->happened, FNET_WANT_READ | FNET_HUNG_UP);
    CHECK_INT(read(ends[0], bytes, sizeof bytes), 0);

    CASE("a hang-up that lasts while nothing is wanted is reported once, without a busy loop");
    fnet_watch_want(&probe->watch, FNET_WANT_NOTHING);
    run_for(loop, 2 * MS);
    CHECK_INT(probe->calls, 3);
    CHECK_INT(probe->happened, FNET_HUNG_UP);
    fnet_watch_want(&probe->watch, FNET_WANT_NOTHING);
    run_for(loop, 2 * MS);
    CHECK_INT(probe->calls, 3);

    CASE("it is reported again once something is wanted");
    fnet_watch_want(&probe->watch, FNET_WANT_READ);
    turn(loop, 0);
    CHECK_INT(probe->calls, 4);
    CHECK_INT(probe->happened, FNET_WANT_READ | FNET_HUNG_UP);
    unwatch(probe);
    close(ends[0]);

    CASE("a reader that leaves is reported to a writer that wants nothing");
    CHECK_INT(pipe(ends), 0);
    probe = watch_fd(loop, ends[1], FNET_WANT_NOTHING);
    turn(loop, 2);
    CHECK_INT(probe->calls, 0);
    close(ends[0]);
    run_for(loop, 2 * MS);
    CHECK_INT(probe->calls, 1);
    CHECK_INT(probe->happened, FNET_HUNG_UP);

    CASE("a watch that is out of the kernel's sight after a hang-up can be closed");
    unwatch(probe);
    close(ends[1]);
    fnet_loop_free(loop);
}

/* Closes and frees all of its group but itself, and gives up its own interest. */
static void close_others(void *arg, unsigned happened)
{
    struct probe *self = arg;

    on_event(self, happened);
    fnet_watch_want(&self->watch, FNET_WANT_NOTHING);
    for (int i = 0; i < self->group_count; i++) {
        if (self->group[i] && self->group[i] != self) {
            unwatch(self->group[i]);
            self->group[i] = NULL;
        }
    }
}

static void unwant_others(void *arg, unsigned happened)
{
    struct probe *self = arg;

    on_event(self, happened);
    for (int i = 0; i < self->group_count; i++)
        fnet_watch_want(&self->group[i]->watch, FNET_WANT_NOTHING);
}

/* Another watch of the same descriptor, in the same memory. */
static void open_anew(void *arg, unsigned happened)
{
    struct probe *self = arg;
    struct fnet_loop *loop = self->watch.loop;

    on_event(self, happened);
    for (int i = 0; i < self->group_count; i++) {
        struct probe *other = self->group[i];
        int fd = other->watch.fd;
        fnet_watch_close(&other->watch);
        CHECK_INT(fnet_watch_open(&other->watch, loop, fd, on_event, other), FNET_OK);
    }
}

enum { GROUP = 5 };

/* GROUP probes that are all writable at once and do what READY says. */
static void open_group(struct fnet_loop *loop, int fds[GROUP][2], struct probe *group[GROUP],
                       void (*ready)(void *arg, unsigned happened))
{
    for (int i = 0; i < GROUP; i++) {
        CHECK_INT(pipe(fds[i]), 0);
        group[i] = watch_fd(loop, fds[i][1], FNET_WANT_WRITE);
        group[i]->watch.ready = ready;
        group[i]->group = group;
        group[i]->group_count = GROUP;
    }
}

static int close_group(int fds[GROUP][2], struct probe *group[GROUP])
{
    int calls = 0;

    for (int i = 0; i < GROUP; i++) {
        if (group[i]) {
            calls += group[i]->calls;
            unwatch(group[i]);
        }
        close_both(fds[i]);
    }
    return calls;
}

static void test_batches(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);
    struct probe *group[GROUP];
    int fds[GROUP][2];

    CASE("a callback closes watches that have an event in the same batch");
    open_group(loop, fds, group, close_others);
    turn(loop, 1);
    CHECK_INT(close_group(fds, group), 1);

    CASE("a callback ends the interest of watches that have an event in the same batch");
    open_group(loop, fds, group, unwant_others);
    turn(loop, 2);
    CHECK_INT(close_group(fds, group), 1);

    CASE("an event of a closed watch does not reach the one that took its place");
    open_group(loop, fds, group, open_anew);
    turn(loop, 2);
    CHECK_INT(close_group(fds, group), 1);
    fnet_loop_free(loop);
}

static void test_many(enum fnet_loop_backend backend)
{
    enum { MANY = 300 };
    struct fnet_loop *loop = new_loop(backend);
    struct probe *probes[MANY];
    int ends[2], fds[MANY];

    CASE("more watches than the kernel reports at a time all get their turn");
    CHECK_INT(pipe(ends), 0);
    for (int i = 0; i < MANY; i++) {
        fds[i] = dup(ends[1]);
        probes[i] = watch_fd(loop, fds[i], FNET_WANT_WRITE);
    }
    turn(loop, 5);
    for (int i = 0; i < MANY; i++)
        CHECK(probes[i]->calls >= 1);
    for (int i = 0; i < MANY; i++) {
        unwatch(probes[i]);
        close(fds[i]);
    }
    close_both(ends);
    fnet_loop_free(loop);
}

static void check_always_ready(struct fnet_loop *loop, int fd)
{
    struct probe *probe = watch_fd(loop, fd, FNET_WANT_NOTHING);

    turn(loop, 2);
    CHECK_INT(probe->calls, 0);
    fnet_watch_want(&probe->watch, FNET_WANT_READ);
    turn(loop, 2);
    CHECK_INT(probe->calls, 3);
    CHECK_INT(probe->happened, FNET_WANT_READ);
    fnet_watch_want(&probe->watch, FNET_WANT_READ | FNET_WANT_WRITE);
    turn(loop, 0);
    CHECK_INT(probe->calls, 4);
    CHECK_INT(probe->happened, FNET_WANT_READ | FNET_WANT_WRITE);
    fnet_watch_want(&probe->watch, FNET_WANT_NOTHING);
    turn(loop, 2);
    CHECK_INT(probe->calls, 4);
    unwatch(probe);
}

static void test_unpollable(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);
    FILE *file = tmpfile();
    int null = open("/dev/null", O_RDWR);

    CASE("a regular file is ready once a turn while anything is wanted");
    check_always_ready(loop, fileno(file));
    CASE("/dev/null is ready once a turn while anything is wanted");
    check_always_ready(loop, null);

    CASE("the callback of one closes another that is ready as well");
    struct probe *pair[2];
    for (int i = 0; i < 2; i++) {
        pair[i] = watch_fd(loop, null, FNET_WANT_READ);
        pair[i]->watch.ready = close_others;
        pair[i]->group = pair;
        pair[i]->group_count = 2;
    }
    turn(loop, 1);
    CHECK(!pair[0] != !pair[1]);
    struct probe *last = pair[0] ? pair[0] : pair[1];
    CHECK_INT(last->calls, 1);
    unwatch(last);
    close(null);
    fclose(file);
    fnet_loop_free(loop);
}

static void test_errors(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);
    struct fnet_watch watch = {.fd = 77};
    int ends[2];

    CASE("a descriptor that is not open cannot be watched");
    CHECK_INT(pipe(ends), 0);
    close_both(ends);
    CHECK_INT(fnet_watch_open(&watch, loop, ends[0], on_event, NULL), FNET_SYSTEM);
    CHECK_INT(errno, EBADF);
    CHECK(watch.loop == NULL && watch.fd == 77);

    CASE("closing a watch that was never opened does nothing");
    fnet_watch_close(&watch);

    CASE("without memory nothing is watched, and the loop lives on");
    CHECK_INT(pipe(ends), 0);
    bool did_fail;
    unsigned n = 0;
    do {
        failmalloc_arm(++n);
        enum fnet_err err = fnet_watch_open(&watch, loop, ends[0], on_event, NULL);
        did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
    } while (did_fail);
    turn(loop, 1);
    fnet_watch_close(&watch);
    close_both(ends);
    fnet_loop_free(loop);
}

int main(void)
{
    WITH_BACKENDS(test_interest);
    WITH_BACKENDS(test_hang_ups);
    WITH_BACKENDS(test_batches);
    WITH_BACKENDS(test_many);
    WITH_BACKENDS(test_unpollable);
    WITH_BACKENDS(test_errors);
    return tap_done();
}
