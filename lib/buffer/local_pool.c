/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A local pool: how many segments one result partition or gate has been promised, how many it
 * uses, and the bell for those that found none.
 *
 * Source: Flink LocalBufferPool; NetworkBufferPool.createBufferPool for promises.
 */
#include <stdlib.h>

#include "pool.h"

struct fnet_local_pool {
    struct fnet_network_pool *network; /* borrowed */
    uint32_t required;                 /* promised; 0 once closed */
    uint32_t max;
    uint32_t used;   /* <= max; what is above required was taken from network->unreserved */
    bool is_waiting; /* a take has failed since the last ring */
    bool is_closed;  /* freed by its owner; lives until the last segment is back */
    struct fnet_bell bell;
    struct fnet_link starved; /* in network->starved */
};

enum fnet_err fnet_local_pool_new(struct fnet_network_pool *network, uint32_t required,
                                  uint32_t max, struct fnet_local_pool **out)
{
    if (required == 0 || max < required)
        return FNET_RANGE;
    if (required > network->unreserved)
        return FNET_NOMEM;

    struct fnet_local_pool *pool = malloc(sizeof *pool);
    if (!pool)
        return FNET_NOMEM;
    *pool = (struct fnet_local_pool){.network = network, .required = required, .max = max};
    network->unreserved -= required;
    *out = pool;
    return FNET_OK;
}

static void wake(struct fnet_local_pool *pool)
{
    fnet_link_unlink(&pool->starved);
    if (!pool->is_waiting)
        return;
    pool->is_waiting = false;
    fnet_bell_ring(&pool->bell);
}

/* N more segments are there for any pool. All that wait are told: who is first may not want it. */
static void unreserve(struct fnet_network_pool *network, uint32_t n)
{
    struct fnet_link *link;

    network->unreserved += n;
    while ((link = fnet_list_pop(&network->starved)))
        wake(fnet_entry(link, struct fnet_local_pool, starved));
}

void fnet_local_pool_free(struct fnet_local_pool *pool)
{
    if (!pool)
        return;

    struct fnet_network_pool *network = pool->network;
    uint32_t promised = pool->required > pool->used ? pool->required - pool->used : 0;

    fnet_link_unlink(&pool->starved);
    pool->is_waiting = false;
    pool->is_closed = true;
    pool->required = 0; /* what is still out now counts as lent above the promise */
    if (pool->used == 0)
        free(pool);
    if (promised)
        unreserve(network, promised);
}

void fnet_local_pool_set_bell(struct fnet_local_pool *pool, struct fnet_bell bell)
{
    pool->bell = bell;
}

enum fnet_err fnet_local_pool_take(struct fnet_local_pool *pool, struct fnet_quota *quota,
                                   struct fnet_builder *out)
{
    struct fnet_network_pool *network = pool->network;

    if ((quota && quota->used >= quota->max) || pool->used >= pool->max) {
        pool->is_waiting = true;
        return FNET_AGAIN;
    }
    if (pool->used >= pool->required) {
        if (network->unreserved == 0) {
            pool->is_waiting = true;
            fnet_list_push(&network->starved, &pool->starved);
            return FNET_AGAIN;
        }
        network->unreserved--;
    }
    pool->used++;
    if (quota)
        quota->used++;

    struct fnet_segment *segment = fnet__buffer_pop(network);
    segment->pool = pool;
    segment->quota = quota;
    out->segment = segment;
    return FNET_OK;
}

void fnet__buffer_give(struct fnet_segment *segment)
{
    struct fnet_local_pool *pool = segment->pool;
    struct fnet_network_pool *network = pool->network;
    bool was_lent = pool->used > pool->required;

    pool->used--;
    if (segment->quota && !pool->is_closed)
        segment->quota->used--;
    fnet__buffer_push(network, segment);
    if (pool->is_closed && pool->used == 0)
        free(pool);
    else
        wake(pool);
    if (was_lent)
        unreserve(network, 1);
}

uint32_t fnet_local_pool_used(const struct fnet_local_pool *pool)
{
    return pool->used;
}

uint32_t fnet_local_pool_max(const struct fnet_local_pool *pool)
{
    return pool->max;
}

uint32_t fnet_local_pool_segment_bytes(const struct fnet_local_pool *pool)
{
    return pool->network->segment_bytes;
}
