/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of all segments: its bounds, its memory, and the order in which segments return.
 */
#include "fnet/buffer.h"

#include "../failmalloc.h"
#include "../tap.h"

static void test_ranges(void)
{
    struct fnet_network_pool *pool = NULL;

    CASE("segment sizes outside the limits are refused");
    CHECK_INT(fnet_network_pool_new(FNET_SEGMENT_MIN_BYTES - 1, 4, &pool), FNET_RANGE);
    CHECK_INT(fnet_network_pool_new(FNET_SEGMENT_MAX_BYTES + 1, 4, &pool), FNET_RANGE);
    CHECK_INT(fnet_network_pool_new(0, 4, &pool), FNET_RANGE);

    CASE("a pool of no segments is refused");
    CHECK_INT(fnet_network_pool_new(FNET_SEGMENT_BYTES, 0, &pool), FNET_RANGE);

    CASE("more than the address space is out of memory");
    CHECK_INT(fnet_network_pool_new(FNET_SEGMENT_MAX_BYTES, UINT32_MAX, &pool),
              SIZE_MAX > UINT32_MAX ? FNET_NOMEM : FNET_RANGE);
    CHECK(pool == NULL);

    CASE("the smallest and the largest segment are accepted");
    CHECK_INT(fnet_network_pool_new(FNET_SEGMENT_MIN_BYTES, 1, &pool), FNET_OK);
    CHECK_INT(fnet_network_pool_segment_bytes(pool), FNET_SEGMENT_MIN_BYTES);
    fnet_network_pool_free(pool);
    CHECK_INT(fnet_network_pool_new(FNET_SEGMENT_MAX_BYTES, 16, &pool), FNET_OK);
    CHECK_INT(fnet_network_pool_segments(pool), 16);
    fnet_network_pool_free(pool);

    CASE("freeing no pool does nothing");
    fnet_network_pool_free(NULL);
}

static void test_memory(void)
{
    enum { SEGMENTS = 5, BYTES = 1000 };
    struct fnet_network_pool *network = NULL;
    struct fnet_local_pool *local = NULL;
    struct fnet_builder builders[SEGMENTS];

    CHECK_INT(fnet_network_pool_new(BYTES, SEGMENTS, &network), FNET_OK);
    CHECK_INT(fnet_local_pool_new(network, SEGMENTS, SEGMENTS, &local), FNET_OK);

    CASE("every segment has its own memory, all of it usable");
    for (int i = 0; i < SEGMENTS; i++) {
        CHECK_INT(fnet_local_pool_take(local, NULL, &builders[i]), FNET_OK);
        CHECK_INT(fnet_builder_room(&builders[i]), BYTES);
        memset(fnet_builder_pos(&builders[i]), 'a' + i, BYTES);
    }
    for (int i = 0; i < SEGMENTS; i++) {
        CHECK_INT(builders[i].segment->bytes[0], 'a' + i);
        CHECK_INT(builders[i].segment->bytes[BYTES - 1], 'a' + i);
    }
    CHECK_INT(fnet_network_pool_used(network), SEGMENTS);

    CASE("the segment that returned last is taken first, empty and unsealed");
    uint8_t *last = builders[2].segment->bytes;
    fnet_builder_commit(&builders[2], BYTES);
    fnet_builder_seal(&builders[4]);
    fnet_builder_seal(&builders[2]);
    CHECK_INT(fnet_network_pool_used(network), SEGMENTS - 2);
    CHECK_INT(fnet_local_pool_take(local, NULL, &builders[2]), FNET_OK);
    CHECK(builders[2].segment->bytes == last);
    CHECK_INT(fnet_builder_room(&builders[2]), BYTES);
    CHECK(!builders[2].segment->is_sealed);

    CASE("a builder that was limited leaves a whole segment behind");
    fnet_builder_limit(&builders[2], 10);
    CHECK_INT(fnet_builder_room(&builders[2]), 10);
    fnet_builder_seal(&builders[2]);
    CHECK_INT(fnet_local_pool_take(local, NULL, &builders[2]), FNET_OK);
    CHECK_INT(fnet_builder_room(&builders[2]), BYTES);

    CASE("the peak remembers the most that was in use");
    CHECK_INT(fnet_network_pool_peak(network), SEGMENTS);
    for (int i = 0; i < 4; i++)
        fnet_builder_seal(&builders[i]);
    CHECK_INT(fnet_network_pool_used(network), 0);
    CHECK_INT(fnet_network_pool_peak(network), SEGMENTS);

    fnet_local_pool_free(local);
    fnet_network_pool_free(network);
}

static void test_no_memory(void)
{
    CASE("without memory there is no pool, the output untouched");
    unsigned n = 0;
    do {
        struct fnet_network_pool *pool = NULL;
        failmalloc_arm(++n);
        enum fnet_err err = fnet_network_pool_new(FNET_SEGMENT_BYTES, 100, &pool);
        if (err != FNET_OK) {
            CHECK_INT(err, FNET_NOMEM);
            CHECK(pool == NULL);
        }
        fnet_network_pool_free(pool);
    } while (failmalloc_disarm());
}

int main(void)
{
    test_ranges();
    test_memory();
    test_no_memory();
    return tap_done();
}
