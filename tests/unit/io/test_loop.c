/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop with either backend: tasks, quitting, the clock, waiting, signals.
 */
#include <stdlib.h>
#include <unistd.h>

#include "../failmalloc.h"
#include "loops.h"

/* What happened, a letter each. */
static char trace[64];

static void note(char letter)
{
    size_t len = strlen(trace);

    if (len + 1 < sizeof trace) {
        trace[len] = letter;
        trace[len + 1] = '\0';
    }
}

struct step {
    char letter;
    struct fnet_loop *loop;
    struct fnet_task task;
    struct fnet_task *posts;
    struct fnet_task *cancels;
};

static void run_step(void *arg)
{
    struct step *step = arg;

    note(step->letter);
    if (step->posts)
        fnet_loop_post(step->loop, step->posts);
    if (step->cancels)
        fnet_task_cancel(step->cancels);
}

static struct step *new_step(struct fnet_loop *loop, char letter)
{
    struct step *step = calloc(1, sizeof *step);

    step->letter = letter;
    step->loop = loop;
    fnet_task_init(&step->task, run_step, step);
    return step;
}

static void test_tasks(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);
    struct step *a = new_step(loop, 'a'), *b = new_step(loop, 'b'), *c = new_step(loop, 'c');

    CASE("tasks run once each, in the order in which they were posted");
    trace[0] = '\0';
    fnet_loop_post(loop, &b->task);
    fnet_loop_post(loop, &a->task);
    fnet_loop_post(loop, &b->task);
    turn(loop, 2);
    CHECK_STR(trace, "ba");

    CASE("a task that posts itself lets the others run first");
    trace[0] = '\0';
    a->posts = &a->task;
    fnet_loop_post(loop, &a->task);
    fnet_loop_post(loop, &c->task);
    turn(loop, 2);
    CHECK_STR(trace, "acaa");
    a->posts = NULL;
    fnet_task_cancel(&a->task);

    CASE("a task posted by a task runs in the next turn");
    trace[0] = '\0';
    b->posts = &c->task;
    fnet_loop_post(loop, &b->task);
    turn(loop, 0);
    CHECK_STR(trace, "b");
    turn(loop, 0);
    CHECK_STR(trace, "bc");
    b->posts = NULL;

    CASE("a task cancels one that is ready in the same turn");
    trace[0] = '\0';
    a->cancels = &b->task;
    fnet_loop_post(loop, &a->task);
    fnet_loop_post(loop, &b->task);
    fnet_loop_post(loop, &c->task);
    turn(loop, 1);
    CHECK_STR(trace, "ac");

    CASE("a cancelled task can be posted again");
    trace[0] = '\0';
    fnet_loop_post(loop, &b->task);
    turn(loop, 1);
    CHECK_STR(trace, "b");

    free(a);
    free(b);
    free(c);
    fnet_loop_free(loop);
}

static void test_line(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);
    struct step *a = new_step(loop, 'a'), *b = new_step(loop, 'b'), *c = new_step(loop, 'c');

    CASE(
        "of a line one runs each turn, behind what is ready, and the loop does not wait meanwhile");
    trace[0] = '\0';
    fnet_loop_queue(loop, &b->task);
    fnet_loop_queue(loop, &c->task);
    fnet_loop_queue(loop, &b->task);
    a->posts = &a->task;
    fnet_loop_post(loop, &a->task);
    turn(loop, 0);
    CHECK_STR(trace, "ab");
    a->posts = NULL;
    turn(loop, 0);
    CHECK_STR(trace, "abac");
    turn(loop, 1);
    CHECK_STR(trace, "abac");

    CASE("a task stands in one of the lists, and is cancelled in either");
    trace[0] = '\0';
    fnet_loop_queue(loop, &a->task);
    fnet_loop_post(loop, &a->task);
    fnet_loop_queue(loop, &b->task);
    fnet_task_cancel(&a->task);
    turn(loop, 2);
    CHECK_STR(trace, "b");
    free(a);
    free(b);
    free(c);
    fnet_loop_free(loop);
}

static void test_waiting(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);

    CASE("quitting before the run ends it at once, and only that run");
    fnet_loop_quit(loop);
    CHECK_INT(fnet_loop_run(loop), FNET_OK);

    CASE("with nothing to do the loop waits for its timer, and time has passed then");
    uint64_t before = fnet_loop_now_ns(loop);
    run_for(loop, 3 * MS);
    CHECK(fnet_loop_now_ns(loop) >= before + 3 * MS);
    fnet_loop_free(loop);

    CASE("freeing no loop does nothing");
    fnet_loop_free(NULL);
}

static struct fnet_loop *hearing;
static int heard[4], heard_count;

static void on_signal(void *arg, int signo)
{
    CHECK(arg == heard);
    if (heard_count < 4)
        heard[heard_count++] = signo;
    fnet_loop_quit(hearing);
}

static void test_signals(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);
    sigset_t set;

    hearing = loop;
    heard_count = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);

    CASE("a signal ends the wait and reaches the handler");
    CHECK_INT(fnet_loop_handle_signals(loop, &set, on_signal, heard), FNET_OK);
    CHECK_INT(raise(SIGUSR1), 0);
    CHECK_INT(heard_count, 0);
    CHECK_INT(fnet_loop_run(loop), FNET_OK);
    CHECK_INT(heard_count, 1);
    CHECK_INT(heard[0], SIGUSR1);

    CASE("two signals reach the handler in one turn");
    heard_count = 0;
    CHECK_INT(raise(SIGUSR2), 0);
    CHECK_INT(raise(SIGUSR1), 0);
    CHECK_INT(fnet_loop_run(loop), FNET_OK);
    CHECK_INT(heard_count, 2);
    CHECK_INT(heard[0] + heard[1], SIGUSR1 + SIGUSR2);

    CASE("signals are handled once per loop");
    CHECK_INT(fnet_loop_handle_signals(loop, &set, on_signal, heard), FNET_STATE);
    fnet_loop_free(loop);

    CASE("another loop can handle them afterwards");
    loop = new_loop(backend);
    hearing = loop;
    heard_count = 0;
    CHECK_INT(fnet_loop_handle_signals(loop, &set, on_signal, heard), FNET_OK);
    CHECK_INT(raise(SIGUSR1), 0);
    CHECK_INT(fnet_loop_run(loop), FNET_OK);
    CHECK_INT(heard_count, 1);
    fnet_loop_free(loop);
}

/* Everything of the loop itself that takes memory; how far it came. */
static enum fnet_err build(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = NULL;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    enum fnet_err err = fnet_loop_new(backend, &loop);
    if (err == FNET_OK)
        err = fnet_loop_handle_signals(loop, &set, on_signal, heard);
    else
        CHECK(loop == NULL);
    fnet_loop_free(loop);
    return err;
}

static void test_no_memory(enum fnet_loop_backend backend)
{
    CASE("without memory there is no loop, and nothing is left behind");
    bool did_fail;
    unsigned n = 0;
    do {
        failmalloc_arm(++n);
        enum fnet_err err = build(backend);
        did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
    } while (did_fail);
}

int main(void)
{
    WITH_BACKENDS(test_tasks);
    WITH_BACKENDS(test_line);
    WITH_BACKENDS(test_waiting);
    WITH_BACKENDS(test_signals);
    WITH_BACKENDS(test_no_memory);
    return tap_done();
}
