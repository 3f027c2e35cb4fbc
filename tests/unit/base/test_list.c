/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The intrusive queue, and the bell.
 */
#include "fnet/list.h"

#include "../tap.h"

struct item {
    int number;
    struct fnet_link link;
};

static int pop(struct fnet_list *list)
{
    struct fnet_link *link = fnet_list_pop(list);

    return link ? fnet_entry(link, struct item, link)->number : -1;
}

static void test_queue(void)
{
    struct fnet_list list;
    struct item items[3] = {{.number = 0}, {.number = 1}, {.number = 2}};

    CASE("first in, first out");
    fnet_list_init(&list);
    CHECK(fnet_list_is_empty(&list));
    CHECK(fnet_list_pop(&list) == NULL);
    for (int i = 0; i < 3; i++)
        fnet_list_push(&list, &items[i].link);
    CHECK(!fnet_list_is_empty(&list));
    for (int i = 0; i < 3; i++)
        CHECK_INT(pop(&list), i);
    CHECK(fnet_list_is_empty(&list));

    CASE("what stands in a list keeps its place when it is pushed again");
    CHECK(!fnet_link_is_linked(&items[0].link));
    fnet_list_push(&list, &items[0].link);
    fnet_list_push(&list, &items[1].link);
    fnet_list_push(&list, &items[0].link);
    CHECK(fnet_link_is_linked(&items[0].link));
    CHECK_INT(pop(&list), 0);
    CHECK_INT(pop(&list), 1);
    CHECK_INT(pop(&list), -1);

    CASE("a member leaves from the front, the middle, the end, or from no list");
    for (int out = 0; out < 3; out++) {
        for (int i = 0; i < 3; i++)
            fnet_list_push(&list, &items[i].link);
        fnet_link_unlink(&items[out].link);
        fnet_link_unlink(&items[out].link);
        CHECK(!fnet_link_is_linked(&items[out].link));
        for (int i = 0; i < 3; i++)
            if (i != out)
                CHECK_INT(pop(&list), i);
        CHECK(fnet_list_is_empty(&list));
    }

    CASE("what was popped may go into another list");
    struct fnet_list other;
    fnet_list_init(&other);
    fnet_list_push(&list, &items[0].link);
    CHECK_INT(pop(&list), 0);
    fnet_list_push(&other, &items[0].link);
    CHECK(fnet_list_is_empty(&list));
    CHECK_INT(pop(&other), 0);
}

static void count(void *arg)
{
    ++*(int *)arg;
}

static void test_bell(void)
{
    int rung = 0;
    struct fnet_bell bell = {.ring = count, .arg = &rung};
    struct fnet_bell silent = {.ring = NULL};

    CASE("a bell calls who listens, if anybody does");
    fnet_bell_ring(&bell);
    fnet_bell_ring(&bell);
    fnet_bell_ring(&silent);
    CHECK_INT(rung, 2);
}

int main(void)
{
    test_queue();
    test_bell();
    return tap_done();
}
