/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry: partitions are found by id, in the order they were added, each id once.
 */
#include "made_partition.h"

#include "../failmalloc.h"

#define N 3

static void make_all(struct made_partition made[static N])
{
    static const char *const names[N] = {"first", "second", "third"};

    for (size_t i = 0; i < N; i++)
        make_partition(&made[i], names[i], 1, 2, 2);
}

static void test_find(void)
{
    struct made_partition made[N];
    struct fnet_registry registry = {.count = 0};
    struct fnet_partition_id unknown;

    make_all(made);
    CHECK_INT(fnet_partition_id_from_name("unknown", &unknown), FNET_OK);

    CASE("an empty registry finds nothing");
    CHECK(fnet_registry_find(&registry, fnet_dialect_newest(),
                             fnet_partition_id(made[0].partition)) == NULL);

    CASE("what was added is found, by all of its id");
    for (size_t i = 0; i < N; i++)
        CHECK_INT(fnet_registry_add(&registry, made[i].partition), FNET_OK);
    for (size_t i = 0; i < N; i++)
        CHECK(fnet_registry_find(&registry, fnet_dialect_newest(),
                                 fnet_partition_id(made[i].partition)) == made[i].partition);
    CHECK(fnet_registry_find(&registry, fnet_dialect_newest(), &unknown) == NULL);
    struct fnet_partition_id other_attempt = *fnet_partition_id(made[1].partition);
    other_attempt.attempt++;
    CHECK(fnet_registry_find(&registry, fnet_dialect_newest(), &other_attempt) == NULL);

    CASE("the order is that of adding");
    CHECK_INT(registry.count, N);
    for (size_t i = 0; i < N; i++)
        CHECK(registry.partitions[i] == made[i].partition);

    CASE("an id is there once");
    CHECK_INT(fnet_registry_add(&registry, made[1].partition), FNET_STATE);
    CHECK_INT(registry.count, N);

    CASE("a cleared registry is empty and usable");
    fnet_registry_clear(&registry);
    CHECK_INT(registry.count, 0);
    CHECK(fnet_registry_find(&registry, fnet_dialect_newest(),
                             fnet_partition_id(made[0].partition)) == NULL);
    CHECK_INT(fnet_registry_add(&registry, made[2].partition), FNET_OK);
    fnet_registry_clear(&registry);

    for (size_t i = 0; i < N; i++)
        unmake_partition(&made[i]);
}

static void test_no_memory(void)
{
    struct made_partition made[N];

    CASE("without memory a registry keeps what it had");
    make_all(made);
    unsigned n = 0;
    do {
        struct fnet_registry registry = {.count = 0};
        size_t added = 0;
        failmalloc_arm(++n);
        while (added < N && fnet_registry_add(&registry, made[added].partition) == FNET_OK)
            added++;
        CHECK_INT(registry.count, added);
        for (size_t i = 0; i < added; i++)
            CHECK(fnet_registry_find(&registry, fnet_dialect_newest(),
                                     fnet_partition_id(made[i].partition)) == made[i].partition);
        fnet_registry_clear(&registry);
    } while (failmalloc_disarm());
    for (size_t i = 0; i < N; i++)
        unmake_partition(&made[i]);
}

int main(void)
{
    test_find();
    test_no_memory();
    return tap_done();
}
