/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consume: how long to wait before asking again.
 *
 * Source: Flink InputChannel.increaseBackoff: from the least, doubling, the longest once.
 */
#ifndef CONSUME_BACKOFF_H
#define CONSUME_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

struct backoff {
    uint64_t min_ns;  /**< 0: never ask again */
    uint64_t max_ns;  /**< >= min_ns */
    uint64_t last_ns; /**< 0 before the first wait */
};

/** The next wait; false when it is time to give up. */
static inline bool backoff_next(struct backoff *b, uint64_t *wait_ns)
{
    if (b->min_ns == 0 || b->last_ns >= b->max_ns)
        return false;
    if (b->last_ns == 0)
        b->last_ns = b->min_ns;
    else
        b->last_ns = b->last_ns < b->max_ns / 2 ? b->last_ns * 2 : b->max_ns;
    *wait_ns = b->last_ns;
    return true;
}

#endif
