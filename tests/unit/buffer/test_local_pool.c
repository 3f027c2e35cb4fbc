/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Local pools: promises, loans, quotas, bells, and a pool that goes before its buffers do.
 */
#include "fnet/buffer.h"

#include "../failmalloc.h"
#include "../tap.h"

#define SEGMENTS 10

static struct fnet_network_pool *new_network(void)
{
    struct fnet_network_pool *network = NULL;

    CHECK_INT(fnet_network_pool_new(FNET_SEGMENT_MIN_BYTES, SEGMENTS, &network), FNET_OK);
    return network;
}

static struct fnet_local_pool *new_local(struct fnet_network_pool *network, uint32_t required,
                                         uint32_t max)
{
    struct fnet_local_pool *local = NULL;

    CHECK_INT(fnet_local_pool_new(network, required, max, &local), FNET_OK);
    return local;
}

static void count_ring(void *arg)
{
    ++*(int *)arg;
}

static struct fnet_bell bell_of(int *rings)
{
    return (struct fnet_bell){.ring = count_ring, .arg = rings};
}

static void test_promises(void)
{
    struct fnet_network_pool *network = new_network();
    struct fnet_local_pool *none = NULL;

    CASE("a promise of nothing, or above the maximum, is refused");
    CHECK_INT(fnet_local_pool_new(network, 0, 4, &none), FNET_RANGE);
    CHECK_INT(fnet_local_pool_new(network, 5, 4, &none), FNET_RANGE);

    CASE("promises are taken from the unreserved segments");
    struct fnet_local_pool *six = new_local(network, 6, 6);
    CHECK_INT(fnet_network_pool_unreserved(network), 4);
    CHECK_INT(fnet_local_pool_max(six), 6);
    CHECK_INT(fnet_local_pool_segment_bytes(six), FNET_SEGMENT_MIN_BYTES);

    CASE("more than what is unreserved cannot be promised");
    CHECK_INT(fnet_local_pool_new(network, 5, 5, &none), FNET_NOMEM);
    CHECK(none == NULL);
    struct fnet_local_pool *four = new_local(network, 4, 100);
    CHECK_INT(fnet_network_pool_unreserved(network), 0);

    CASE("a freed pool gives its promise back");
    fnet_local_pool_free(six);
    CHECK_INT(fnet_network_pool_unreserved(network), 6);
    fnet_local_pool_free(four);
    CHECK_INT(fnet_network_pool_unreserved(network), SEGMENTS);
    fnet_local_pool_free(NULL);
    fnet_network_pool_free(network);
}

static void test_loans(void)
{
    struct fnet_network_pool *network = new_network();
    struct fnet_local_pool *greedy = new_local(network, 2, 100);
    struct fnet_local_pool *modest = new_local(network, 5, 6);
    struct fnet_builder lent[5], own[6], none = {0};

    CASE("above its promise a pool takes what is unreserved, never what others were promised");
    for (int i = 0; i < 5; i++)
        CHECK_INT(fnet_local_pool_take(greedy, NULL, &lent[i]), FNET_OK);
    CHECK_INT(fnet_network_pool_unreserved(network), 0);
    CHECK_INT(fnet_local_pool_take(greedy, NULL, &none), FNET_AGAIN);
    CHECK(!fnet_builder_is_open(&none));
    for (int i = 0; i < 5; i++)
        CHECK_INT(fnet_local_pool_take(modest, NULL, &own[i]), FNET_OK);
    CHECK_INT(fnet_local_pool_take(modest, NULL, &own[5]), FNET_AGAIN);
    CHECK_INT(fnet_network_pool_used(network), SEGMENTS);

    CASE("a returned loan serves another pool, up to its maximum");
    fnet_builder_seal(&lent[4]);
    fnet_builder_seal(&lent[3]);
    CHECK_INT(fnet_network_pool_unreserved(network), 2);
    CHECK_INT(fnet_local_pool_take(modest, NULL, &own[5]), FNET_OK);
    CHECK_INT(fnet_local_pool_take(modest, NULL, &none), FNET_AGAIN);
    CHECK_INT(fnet_network_pool_unreserved(network), 1);

    CASE("a returned segment of the promise stays promised");
    for (int i = 0; i < 3; i++)
        fnet_builder_seal(&lent[i]);
    CHECK_INT(fnet_network_pool_unreserved(network), 2);
    CHECK_INT(fnet_local_pool_used(greedy), 0);

    for (int i = 0; i < 6; i++)
        fnet_builder_seal(&own[i]);
    CHECK_INT(fnet_network_pool_unreserved(network), 3);
    fnet_local_pool_free(greedy);
    fnet_local_pool_free(modest);
    fnet_network_pool_free(network);
}

static void test_quota(void)
{
    struct fnet_network_pool *network = new_network();
    struct fnet_local_pool *local = new_local(network, 4, 4);
    struct fnet_quota quota = {.max = 2};
    struct fnet_builder a, b, none;

    CASE("a quota bounds its user, not the others of the pool");
    CHECK_INT(fnet_local_pool_take(local, &quota, &a), FNET_OK);
    CHECK_INT(fnet_local_pool_take(local, &quota, &b), FNET_OK);
    CHECK_INT(quota.used, 2);
    CHECK_INT(fnet_local_pool_take(local, &quota, &none), FNET_AGAIN);
    CHECK_INT(fnet_local_pool_used(local), 2);
    CHECK_INT(fnet_local_pool_take(local, NULL, &none), FNET_OK);
    fnet_builder_seal(&none);

    CASE("a segment counts until its last reference is gone");
    struct fnet_consumer consumer = fnet_builder_consumer(&a);
    struct fnet_buffer buffer = fnet_consumer_build(&consumer);
    fnet_builder_seal(&a);
    fnet_consumer_clear(&consumer);
    CHECK_INT(quota.used, 2);
    fnet_buffer_clear(&buffer);
    CHECK_INT(quota.used, 1);
    CHECK_INT(fnet_local_pool_take(local, &quota, &a), FNET_OK);

    fnet_builder_seal(&a);
    fnet_builder_seal(&b);
    CHECK_INT(quota.used, 0);
    CHECK_INT(fnet_local_pool_used(local), 0);
    fnet_local_pool_free(local);
    fnet_network_pool_free(network);
}

static void test_bells(void)
{
    struct fnet_network_pool *network = new_network();
    struct fnet_local_pool *local = new_local(network, 2, 2);
    struct fnet_local_pool *greedy = new_local(network, 1, 100);
    struct fnet_builder a, b, c, none, lent[8];
    int rings = 0, greedy_rings = 0;

    fnet_local_pool_set_bell(local, bell_of(&rings));
    fnet_local_pool_set_bell(greedy, bell_of(&greedy_rings));

    CASE("the bell is silent while no take has failed");
    CHECK_INT(fnet_local_pool_take(local, NULL, &a), FNET_OK);
    CHECK_INT(fnet_local_pool_take(local, NULL, &b), FNET_OK);
    fnet_builder_seal(&a);
    CHECK_INT(rings, 0);

    CASE("after a failed take the bell rings once");
    CHECK_INT(fnet_local_pool_take(local, NULL, &a), FNET_OK);
    CHECK_INT(fnet_local_pool_take(local, NULL, &none), FNET_AGAIN);
    fnet_builder_seal(&a);
    fnet_builder_seal(&b);
    CHECK_INT(rings, 1);

    CASE("a take that failed for its quota rings as well");
    struct fnet_quota quota = {.max = 1};
    CHECK_INT(fnet_local_pool_take(local, &quota, &a), FNET_OK);
    CHECK_INT(fnet_local_pool_take(local, &quota, &none), FNET_AGAIN);
    fnet_builder_seal(&a);
    CHECK_INT(rings, 2);

    CASE("a loan that another pool returns rings for those it can serve");
    struct fnet_local_pool *third = new_local(network, 1, 100);
    CHECK_INT(fnet_local_pool_take(third, NULL, &a), FNET_OK);
    CHECK_INT(fnet_local_pool_take(third, NULL, &b), FNET_OK);
    CHECK_INT(fnet_network_pool_unreserved(network), 5);
    for (int i = 0; i < 6; i++)
        CHECK_INT(fnet_local_pool_take(greedy, NULL, &lent[i]), FNET_OK);
    CHECK_INT(fnet_local_pool_take(greedy, NULL, &none), FNET_AGAIN);
    CHECK_INT(greedy_rings, 0);
    fnet_builder_seal(&a);
    CHECK_INT(greedy_rings, 1);
    CHECK_INT(fnet_local_pool_take(greedy, NULL, &lent[6]), FNET_OK);
    CHECK_INT(fnet_local_pool_take(greedy, NULL, &none), FNET_AGAIN);

    CASE("what another pool was promised does not ring until that pool is freed");
    fnet_builder_seal(&b);
    CHECK_INT(greedy_rings, 1);
    fnet_local_pool_free(third);
    CHECK_INT(greedy_rings, 2);
    CHECK_INT(fnet_local_pool_take(greedy, NULL, &c), FNET_OK);

    CASE("a pool that waits can be freed");
    CHECK_INT(fnet_local_pool_take(greedy, NULL, &none), FNET_AGAIN);
    fnet_builder_seal(&c);
    CHECK_INT(fnet_local_pool_take(greedy, NULL, &c), FNET_OK);
    CHECK_INT(fnet_local_pool_take(greedy, NULL, &none), FNET_AGAIN);
    greedy_rings = 0;
    fnet_local_pool_free(greedy);
    fnet_local_pool_free(local);
    for (int i = 0; i < 7; i++)
        fnet_builder_seal(&lent[i]);
    fnet_builder_seal(&c);
    CHECK_INT(greedy_rings, 0);
    CHECK_INT(fnet_network_pool_unreserved(network), SEGMENTS);
    fnet_network_pool_free(network);
}

static void test_buffers_outlive_pool(void)
{
    struct fnet_network_pool *network = new_network();
    struct fnet_local_pool *local = new_local(network, 3, 5);
    struct fnet_quota quota = {.max = 5};
    struct fnet_builder builders[4];

    CASE("buffers keep their memory when their pool is freed");
    for (int i = 0; i < 4; i++)
        CHECK_INT(fnet_local_pool_take(local, &quota, &builders[i]), FNET_OK);
    fnet_local_pool_free(local);
    for (int i = 0; i < 4; i++)
        memset(fnet_builder_pos(&builders[i]), i, fnet_builder_room(&builders[i]));
    CHECK_INT(fnet_network_pool_used(network), 4);
    CHECK_INT(fnet_network_pool_unreserved(network), SEGMENTS - 4);

    CASE("they return to the network pool, and the quota is left alone");
    for (int i = 0; i < 4; i++) {
        fnet_builder_seal(&builders[i]);
        CHECK_INT(fnet_network_pool_unreserved(network), SEGMENTS - 3 + i);
    }
    CHECK_INT(quota.used, 4);
    CHECK_INT(fnet_network_pool_used(network), 0);

    CASE("a pool that used less than its promise gives back all of it");
    local = new_local(network, 3, 5);
    CHECK_INT(fnet_local_pool_take(local, NULL, &builders[0]), FNET_OK);
    fnet_local_pool_free(local);
    CHECK_INT(fnet_network_pool_unreserved(network), SEGMENTS - 1);
    fnet_builder_seal(&builders[0]);
    CHECK_INT(fnet_network_pool_unreserved(network), SEGMENTS);
    fnet_network_pool_free(network);
}

static void test_free_while_starved(void)
{
    struct fnet_network_pool *network = new_network();
    struct fnet_local_pool *greedy = new_local(network, SEGMENTS - 1, SEGMENTS);
    struct fnet_local_pool *starved = new_local(network, 1, SEGMENTS);
    struct fnet_builder last, none;
    int rings = 0;

    CASE("a freed pool that waited for others' segments is forgotten with its last buffer");
    fnet_local_pool_set_bell(starved, bell_of(&rings));
    CHECK_INT(fnet_local_pool_take(starved, NULL, &last), FNET_OK);
    CHECK_INT(fnet_local_pool_take(starved, NULL, &none), FNET_AGAIN);
    fnet_local_pool_free(starved);
    fnet_builder_seal(&last);
    fnet_local_pool_free(greedy);
    CHECK_INT(rings, 0);
    CHECK_INT(fnet_network_pool_unreserved(network), SEGMENTS);
    fnet_network_pool_free(network);
}

static void test_no_memory(void)
{
    struct fnet_network_pool *network = new_network();

    CASE("without memory there is no local pool and no promise");
    unsigned n = 0;
    do {
        struct fnet_local_pool *local = NULL;
        failmalloc_arm(++n);
        enum fnet_err err = fnet_local_pool_new(network, 2, 4, &local);
        if (err != FNET_OK) {
            CHECK_INT(err, FNET_NOMEM);
            CHECK(local == NULL);
            CHECK_INT(fnet_network_pool_unreserved(network), SEGMENTS);
        }
        fnet_local_pool_free(local);
    } while (failmalloc_disarm());
    fnet_network_pool_free(network);
}

int main(void)
{
    test_promises();
    test_loans();
    test_quota();
    test_bells();
    test_buffers_outlive_pool();
    test_free_while_starved();
    test_no_memory();
    return tap_done();
}
