/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers: order, moving, cancelling, and what their callbacks may do to others.
 */
#include <stdlib.h>

#include "../failmalloc.h"
#include "loops.h"

enum { MANY = 1000 };

struct alarm {
    struct fnet_timer timer;
    struct fnet_loop *loop;
    int runs;
    uint64_t ran_at_ns;
    struct alarm *cancels;
    bool repeats; /* sets itself to the past */
};

static void on_deadline(void *arg)
{
    struct alarm *alarm = arg;

    CHECK(!fnet_timer_is_set(&alarm->timer));
    alarm->runs++;
    alarm->ran_at_ns = fnet_loop_now_ns(alarm->loop);
    if (alarm->cancels)
        fnet_timer_cancel(alarm->loop, &alarm->cancels->timer);
    if (alarm->repeats)
        CHECK_INT(fnet_timer_set(alarm->loop, &alarm->timer, 0), FNET_OK);
}

static struct alarm alarm_of(struct fnet_loop *loop)
{
    return (struct alarm){.loop = loop, .timer = {.run = on_deadline}};
}

static void set(struct alarm *alarm, uint64_t deadline_ns)
{
    alarm->timer.arg = alarm;
    CHECK_INT(fnet_timer_set(alarm->loop, &alarm->timer, deadline_ns), FNET_OK);
    CHECK(fnet_timer_is_set(&alarm->timer));
}

static void test_one(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);
    struct alarm alarm = alarm_of(loop);

    CASE("a timer runs once, not before its deadline");
    uint64_t deadline = fnet_loop_now_ns(loop) + 2 * MS;
    CHECK(!fnet_timer_is_set(&alarm.timer));
    set(&alarm, deadline);
    run_for(loop, 4 * MS);
    CHECK_INT(alarm.runs, 1);
    CHECK(alarm.ran_at_ns >= deadline);
    CHECK(!fnet_timer_is_set(&alarm.timer));

    CASE("a deadline in the past is due at once");
    set(&alarm, 1);
    turn(loop, 1);
    CHECK_INT(alarm.runs, 2);

    CASE("a cancelled timer does not run, and cancelling it again does nothing");
    set(&alarm, 1);
    fnet_timer_cancel(loop, &alarm.timer);
    fnet_timer_cancel(loop, &alarm.timer);
    CHECK(!fnet_timer_is_set(&alarm.timer));
    turn(loop, 2);
    CHECK_INT(alarm.runs, 2);

    CASE("a timer that is set again is moved");
    set(&alarm, UINT64_MAX);
    turn(loop, 1);
    CHECK_INT(alarm.runs, 2);
    set(&alarm, 1);
    turn(loop, 1);
    CHECK_INT(alarm.runs, 3);
    CHECK(!fnet_timer_is_set(&alarm.timer));
    fnet_loop_free(loop);
}

static void test_callbacks(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);
    struct alarm first = alarm_of(loop), second = alarm_of(loop), third = alarm_of(loop);

    CASE("a timer cancels another that is due in the same turn");
    first.cancels = &second;
    uint64_t now = fnet_loop_now_ns(loop);
    set(&third, now + 3);
    set(&second, now + 2);
    set(&first, now + 1);
    turn(loop, 1);
    CHECK_INT(first.runs, 1);
    CHECK_INT(second.runs, 0);
    CHECK_INT(third.runs, 1);

    CASE("a timer that sets itself to the past runs once a turn, and others run too");
    first = alarm_of(loop);
    first.repeats = true;
    set(&first, 1);
    set(&second, 2);
    turn(loop, 4);
    CHECK(first.runs >= 1 && first.runs <= 5);
    CHECK_INT(second.runs, 1);
    fnet_timer_cancel(loop, &first.timer);
    fnet_loop_free(loop);
}

static struct fnet_timer many[MANY];
static uint64_t last_ns;
static int runs;

static void check_order(void *arg)
{
    const struct fnet_timer *timer = arg;

    CHECK(timer->deadline_ns >= last_ns);
    last_ns = timer->deadline_ns;
    runs++;
}

/* A fixed sequence (Knuth's MMIX generator): what fails once fails always. */
static uint64_t draw(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static void test_order(void)
{
    struct fnet_loop *loop = new_loop(FNET_LOOP_EPOLL);
    const uint64_t now = fnet_loop_now_ns(loop);
    int left = 0;

    CASE("a thousand timers, some moved and some cancelled, run in the order of their deadlines");
    for (int i = 0; i < MANY; i++) {
        many[i] = (struct fnet_timer){.run = check_order, .arg = &many[i]};
        CHECK_INT(fnet_timer_set(loop, &many[i], now + 1 + draw() % 500), FNET_OK);
    }
    for (int i = 0; i < MANY; i++) {
        uint64_t dice = draw() % 3;
        if (dice == 0)
            fnet_timer_cancel(loop, &many[i]);
        else if (dice == 1)
            CHECK_INT(fnet_timer_set(loop, &many[i], now + 1 + draw() % 500), FNET_OK);
        left += dice != 0;
    }
    turn(loop, 1);
    CHECK_INT(runs, left);
    fnet_loop_free(loop);
}

static void test_no_memory(void)
{
    struct fnet_loop *loop = new_loop(FNET_LOOP_EPOLL);
    struct fnet_timer timer = {.run = check_order, .arg = &timer};

    CASE("without memory a timer stays idle");
    bool did_fail;
    unsigned n = 0;
    do {
        failmalloc_arm(++n);
        enum fnet_err err = fnet_timer_set(loop, &timer, 5);
        did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        CHECK_INT(fnet_timer_is_set(&timer), !did_fail);
    } while (did_fail);
    fnet_loop_free(loop);
}

int main(void)
{
    WITH_BACKENDS(test_one);
    WITH_BACKENDS(test_callbacks);
    test_order();
    test_no_memory();
    return tap_done();
}
