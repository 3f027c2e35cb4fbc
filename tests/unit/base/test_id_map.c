/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map from ids to pointers behaves as one that is plainly right.
 */
#include "fnet/id.h"

#include "../failmalloc.h"
#include "../tap.h"

enum { KEYS = 300 };

static struct fnet_id id_of(unsigned n)
{
    struct fnet_id id = {{0}};

    fnet_store_be32(id.bytes + 12, n);
    return id;
}

/* All KEYS against PRESENT: the values are the addresses of the flags. */
static void check_contents(const struct fnet_id_map *map, bool present[static KEYS])
{
    size_t count = 0;
    size_t seen = 0;

    for (unsigned n = 0; n < KEYS; n++) {
        struct fnet_id id = id_of(n);
        CHECK(fnet_id_map_get(map, &id) == (present[n] ? &present[n] : NULL));
        count += present[n];
    }
    CHECK_INT(map->count, count);
    CHECK(map->count <= map->capacity / 4 * 3);
    for (size_t i = 0; i < map->capacity; i++)
        seen += fnet_id_map_at(map, i) != NULL;
    CHECK_INT(seen, count);
}

static void test_empty(void)
{
    struct fnet_id_map map = {.capacity = 0};
    struct fnet_id id = id_of(1);

    CASE("an empty map has nothing, before its first entry and after its last");
    CHECK(fnet_id_map_get(&map, &id) == NULL);
    CHECK(fnet_id_map_take(&map, &id) == NULL);
    fnet_id_map_clear(&map);
    CHECK_INT(fnet_id_map_put(&map, &id, &map), FNET_OK);
    CHECK(fnet_id_map_take(&map, &id) == &map);
    CHECK(fnet_id_map_take(&map, &id) == NULL);
    CHECK(fnet_id_map_get(&map, &id) == NULL);
    CHECK_INT(map.count, 0);

    CASE("a map that was cleared can be used");
    fnet_id_map_clear(&map);
    CHECK(map.slots == NULL && map.capacity == 0);
    CHECK_INT(fnet_id_map_put(&map, &id, &map), FNET_OK);
    CHECK_INT(map.count, 1);
    fnet_id_map_clear(&map);
}

static void test_twice(void)
{
    struct fnet_id_map map = {.capacity = 0};
    struct fnet_id id = id_of(1);
    int first;
    int second;

    CASE("an id is there once");
    CHECK_INT(fnet_id_map_put(&map, &id, &first), FNET_OK);
    CHECK_INT(fnet_id_map_put(&map, &id, &second), FNET_STATE);
    CHECK(fnet_id_map_get(&map, &id) == &first);
    CHECK_INT(map.count, 1);
    fnet_id_map_clear(&map);
}

/* A small generator: the same walk every time, through maps with different hash keys. */
static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void test_many(void)
{
    CASE("entries come and go at random, through runs that wrap around the end");
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct fnet_id_map map = {.capacity = 0};
        bool present[KEYS] = {false};
        uint32_t state = seed;
        for (unsigned step = 0; step < 2000; step++) {
            /* Few ids at first, so that removals hit small tables, then all. */
            unsigned n = draw(&state) % (step < 1000 ? 16 : KEYS);
            struct fnet_id id = id_of(n);
            if (present[n]) {
                CHECK(fnet_id_map_take(&map, &id) == &present[n]);
                present[n] = false;
            } else {
                CHECK_INT(fnet_id_map_put(&map, &id, &present[n]), FNET_OK);
                present[n] = true;
            }
            if (step % 50 == 0)
                check_contents(&map, present);
        }
        check_contents(&map, present);
        fnet_id_map_clear(&map);
    }
}

static void test_key(void)
{
    struct fnet_id_map a = {.capacity = 0};
    struct fnet_id_map b = {.capacity = 0};
    struct fnet_id id = id_of(1);

    CASE("each map draws its own hash key, and keeps it when it grows");
    CHECK_INT(fnet_id_map_put(&a, &id, &a), FNET_OK);
    CHECK_INT(fnet_id_map_put(&b, &id, &b), FNET_OK);
    CHECK(memcmp(a.key, b.key, sizeof a.key) != 0);
    memcpy(b.key, a.key, sizeof b.key);
    for (unsigned n = 2; n < 100; n++) {
        id = id_of(n);
        CHECK_INT(fnet_id_map_put(&a, &id, &a), FNET_OK);
    }
    CHECK(a.capacity >= 200);
    CHECK_MEM(a.key, b.key, sizeof a.key);
    fnet_id_map_clear(&a);
    fnet_id_map_clear(&b);
}

static void test_memory(void)
{
    bool did_fail;

    CASE("an allocation that fails leaves the map as it was");
    for (unsigned n = 1;; n++) {
        struct fnet_id_map map = {.capacity = 0};
        bool present[KEYS] = {false};
        failmalloc_arm(n);
        for (unsigned k = 0; k < KEYS; k++) {
            struct fnet_id id = id_of(k);
            enum fnet_err err = fnet_id_map_put(&map, &id, &present[k]);
            CHECK(err == FNET_OK || err == FNET_NOMEM);
            present[k] = err == FNET_OK;
        }
        did_fail = failmalloc_disarm();
        check_contents(&map, present);
        CHECK_INT(map.count, KEYS - (did_fail ? 1 : 0));
        fnet_id_map_clear(&map);
        if (!did_fail)
            break;
    }
}

int main(void)
{
    test_empty();
    test_twice();
    test_many();
    test_key();
    test_memory();
    return tap_done();
}
