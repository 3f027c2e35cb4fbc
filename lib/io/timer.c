/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlines of a loop, in a binary heap; each timer knows its place in it.
 *
 * Source: Knuth, The Art of Computer Programming 3, 5.2.3.
 */
#include <stdlib.h>

#include "loop.h"

#define FIRST_CAPACITY 15

static void place(struct fnet__timer_heap *heap, size_t index, struct fnet_timer *timer)
{
    heap->at[index] = timer;
    timer->index = index;
}

/* Put TIMER where it belongs, at the free place INDEX or above or below it. */
static void sift(struct fnet__timer_heap *heap, size_t index, struct fnet_timer *timer)
{
    while (index > 1 && heap->at[index / 2]->deadline_ns > timer->deadline_ns) {
        place(heap, index, heap->at[index / 2]);
        index /= 2;
    }
    for (size_t child = index * 2; child <= heap->count; child = index * 2) {
        if (child < heap->count && heap->at[child + 1]->deadline_ns < heap->at[child]->deadline_ns)
            child++;
        if (heap->at[child]->deadline_ns >= timer->deadline_ns)
            break;
        place(heap, index, heap->at[child]);
        index = child;
    }
    place(heap, index, timer);
}

static enum fnet_err grow(struct fnet__timer_heap *heap)
{
    size_t capacity = heap->capacity ? heap->capacity * 2 + 1 : FIRST_CAPACITY;
    struct fnet_timer **at = realloc(heap->at, (capacity + 1) * sizeof(*at));

    if (!at)
        return FNET_NOMEM;
    heap->at = at;
    heap->capacity = capacity;
    return FNET_OK;
}

enum fnet_err fnet_timer_set(struct fnet_loop *loop, struct fnet_timer *timer, uint64_t deadline_ns)
{
    struct fnet__timer_heap *heap = &loop->timers;

    if (!fnet_timer_is_set(timer)) {
        if (heap->count == heap->capacity) {
            enum fnet_err err = grow(heap);
            if (err != FNET_OK)
                return err;
        }
        timer->index = ++heap->count;
    }
    /* After now, so that a timer that sets itself to the past waits for the next turn as well. */
    timer->deadline_ns = deadline_ns > loop->now_ns ? deadline_ns : loop->now_ns + 1;
    sift(heap, timer->index, timer);
    return FNET_OK;
}

void fnet_timer_cancel(struct fnet_loop *loop, struct fnet_timer *timer)
{
    struct fnet__timer_heap *heap = &loop->timers;

    if (!fnet_timer_is_set(timer))
        return;
    struct fnet_timer *last = heap->at[heap->count--];
    if (last != timer)
        sift(heap, timer->index, last);
    timer->index = 0;
}

uint64_t fnet__timer_next_ns(const struct fnet_loop *loop)
{
    return loop->timers.count ? loop->timers.at[1]->deadline_ns : UINT64_MAX;
}

void fnet__timer_run_due(struct fnet_loop *loop)
{
    while (fnet__timer_next_ns(loop) <= loop->now_ns) {
        struct fnet_timer *timer = loop->timers.at[1];
        fnet_timer_cancel(loop, timer);
        timer->run(timer->arg);
    }
}
