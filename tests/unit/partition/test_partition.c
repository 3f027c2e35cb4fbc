/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A result partition from the writer's side: where bytes go, what they cost, when they can be
 * read, and how it ends.
 */
#include "made_partition.h"

#include "../failmalloc.h"

static void test_formula(void)
{
    uint32_t required = 0, max = 0;

    CASE("a bounded partition needs N + 1 segments and may have c * N + f");
    fnet_partition_buffers(FNET_PIPELINED_BOUNDED, 4, 2, 8, &required, &max);
    CHECK_INT(required, 5);
    CHECK_INT(max, 16);

    CASE("... but never fewer than it needs");
    fnet_partition_buffers(FNET_PIPELINED_BOUNDED, 4, 0, 1, &required, &max);
    CHECK_INT(required, 5);
    CHECK_INT(max, 5);

    CASE("an unbounded partition may have all there are");
    fnet_partition_buffers(FNET_PIPELINED, 4, 2, 8, &required, &max);
    CHECK_INT(required, 5);
    CHECK_INT(max, UINT32_MAX);

    CASE("numbers too large for the formula are cut, not wrapped");
    fnet_partition_buffers(FNET_PIPELINED_BOUNDED, FNET_SUBPARTITIONS_MAX, UINT32_MAX, UINT32_MAX,
                           &required, &max);
    CHECK_INT(required, FNET_SUBPARTITIONS_MAX + 1);
    CHECK_INT(max, UINT32_MAX);
}

static enum fnet_err try_new(const struct fnet_partition_config *config)
{
    struct fnet_partition *partition = NULL;
    enum fnet_err err = fnet_partition_new(config, &partition);

    CHECK((partition != NULL) == (err == FNET_OK));
    fnet_partition_free(partition);
    return err;
}

static void test_configuration(void)
{
    char name[FNET_NAME_MAX_BYTES + 2];
    struct fnet_partition_config config = FNET_PARTITION_CONFIG_INIT;

    config.name = "main";
    CASE("a partition has between one and the most subpartitions");
    config.subpartitions = 0;
    CHECK_INT(try_new(&config), FNET_RANGE);
    config.subpartitions = FNET_SUBPARTITIONS_MAX + 1;
    CHECK_INT(try_new(&config), FNET_RANGE);
    config.subpartitions = FNET_SUBPARTITIONS_MAX;
    CHECK_INT(try_new(&config), FNET_OK);

    CASE("a subpartition may have at least one segment");
    config.subpartitions = 1;
    config.max_buffers_per_channel = 0;
    CHECK_INT(try_new(&config), FNET_INVALID);
    config.max_buffers_per_channel = 1;

    CASE("a name is at most as long as a description can tell");
    memset(name, 'x', sizeof name);
    name[FNET_NAME_MAX_BYTES + 1] = '\0';
    config.name = name;
    CHECK_INT(try_new(&config), FNET_INVALID);
    name[FNET_NAME_MAX_BYTES] = '\0';
    CHECK_INT(try_new(&config), FNET_OK);

    CASE("without memory there is no partition");
    unsigned n = 0;
    do {
        failmalloc_arm(++n);
        enum fnet_err err = try_new(&config);
        CHECK(err == FNET_OK || err == FNET_NOMEM);
    } while (failmalloc_disarm());
}

static void test_what_it_says(void)
{
    struct made_partition m;
    struct fnet_partition_id id;

    CASE("a partition says what it was made as");
    make_partition(&m, "lines", 3, 4, 2);
    CHECK_INT(fnet_partition_id_from_name("lines", &id), FNET_OK);
    CHECK(fnet_partition_id_is_equal(fnet_partition_id(m.partition), &id));
    CHECK_STR(fnet_partition_name(m.partition), "lines");
    CHECK_INT(fnet_partition_subpartitions(m.partition), 3);
    CHECK_INT(fnet_partition_type(m.partition), FNET_PIPELINED_BOUNDED);
    CHECK_INT(fnet_partition_format(m.partition), 0);
    CHECK(!fnet_partition_is_finished(m.partition));
    CHECK(!fnet_partition_wants_flush(m.partition));
    CHECK_INT(fnet_partition_count(m.partition, FNET_SUBPARTITION_WAITING), 3);
    CHECK_INT(fnet_partition_queued(m.partition), 0);
    unmake_partition(&m);
}

static void test_states(void)
{
    struct made_partition m;

    CASE("each change of a state is counted and rings");
    make_partition(&m, "main", 3, 4, 2);
    struct fnet_view *first = open_view(m.partition, 0);
    struct fnet_view *second = open_view(m.partition, 1);
    CHECK_INT(m.progress_rings, 2);
    CHECK_INT(fnet_partition_count(m.partition, FNET_SUBPARTITION_WAITING), 1);
    CHECK_INT(fnet_partition_count(m.partition, FNET_SUBPARTITION_READING), 2);
    fnet_view_release(first, true);
    CHECK_INT(fnet_partition_count(m.partition, FNET_SUBPARTITION_READING), 1);
    CHECK_INT(fnet_partition_count(m.partition, FNET_SUBPARTITION_LOST), 1);
    CHECK_INT(fnet_partition_finish(m.partition), FNET_OK);
    check_event(second, FNET_END_OF_DATA, 0);
    CHECK_INT(m.progress_rings, 3);
    CHECK_INT(fnet_view_acknowledge(second), FNET_OK);
    CHECK_INT(m.progress_rings, 4);
    CHECK_INT(fnet_partition_count(m.partition, FNET_SUBPARTITION_ACKNOWLEDGED), 1);
    fnet_view_release(second, false);
    CHECK_INT(m.progress_rings, 5);
    CHECK_INT(fnet_partition_count(m.partition, FNET_SUBPARTITION_DONE), 1);
    CHECK_INT(fnet_partition_state(m.partition, 2), FNET_SUBPARTITION_WAITING);
    unmake_partition(&m);
}

static void test_own_builders(void)
{
    struct made_partition m;
    struct fnet_builder *builder = NULL, *again = NULL;

    CASE("a builder is the same until it is full");
    make_partition(&m, "main", 2, 6, 6);
    CHECK_INT(fnet_partition_builder(m.partition, 1, &builder), FNET_OK);
    CHECK_INT(fnet_builder_room(builder), MADE_SEGMENT_BYTES);
    fnet_builder_commit(builder, MADE_SEGMENT_BYTES - 1);
    CHECK_INT(fnet_partition_builder(m.partition, 1, &again), FNET_OK);
    CHECK(again == builder);
    CHECK_INT(fnet_builder_room(again), 1);
    CHECK_INT(fnet_local_pool_used(m.pool), 1);
    fnet_builder_commit(again, 1);
    CHECK_INT(fnet_partition_builder(m.partition, 1, &again), FNET_OK);
    CHECK_INT(fnet_builder_room(again), MADE_SEGMENT_BYTES);
    CHECK_INT(fnet_local_pool_used(m.pool), 2);
    CHECK_INT(fnet_partition_queued(m.partition), 2);

    CASE("what goes into one subpartition is not in another");
    struct fnet_view *other = open_view(m.partition, 0);
    fnet_partition_flush(m.partition);
    check_nothing(other);
    unmake_partition(&m);
}

static size_t room_of_next(struct fnet_partition *partition, uint32_t subpartition)
{
    struct fnet_builder *builder = NULL;

    CHECK_INT(fnet_partition_builder(partition, subpartition, &builder), FNET_OK);
    size_t room = fnet_builder_room(builder);
    fnet_builder_commit(builder, room);
    return room;
}

static void test_staggered(void)
{
    struct made_partition m;
    unsigned shorter = 0;

    CASE("of many subpartitions the first buffers differ in length, only the first");
    make_partition(&m, "main", 64, 130, 10);
    for (uint32_t i = 0; i < 64; i++) {
        size_t room = room_of_next(m.partition, i);
        CHECK(room > 0 && room <= MADE_SEGMENT_BYTES);
        shorter += room < MADE_SEGMENT_BYTES;
        CHECK_INT(room_of_next(m.partition, i), MADE_SEGMENT_BYTES);
    }
    CHECK_INT(shorter, 60);
    unmake_partition(&m);

    CASE("of few they do not");
    make_partition(&m, "main", 63, 130, 10);
    for (uint32_t i = 0; i < 63; i++)
        CHECK_INT(room_of_next(m.partition, i), MADE_SEGMENT_BYTES);
    unmake_partition(&m);
}

static void test_full_is_available(void)
{
    struct made_partition m;
    const uint32_t zero = 0;

    CASE("a buffer that became full can be read at once when it is sealed");
    make_partition(&m, "main", 2, 6, 6);
    struct fnet_view *view = open_view(m.partition, 0);
    CHECK_INT(put_into(m.partition, 0, 'a', MADE_SEGMENT_BYTES), FNET_OK);
    check_nothing(view);
    fnet_partition_seal(m.partition, &zero);
    check_data(view, 'a', MADE_SEGMENT_BYTES, 0);
    CHECK_INT(put_bytes(m.partition, NULL, 'b', MADE_SEGMENT_BYTES), FNET_OK);
    fnet_partition_seal(m.partition, NULL);
    check_data(view, 'b', MADE_SEGMENT_BYTES, 0);

    CASE("with nothing open there is nothing to seal");
    fnet_partition_seal(m.partition, &zero);
    fnet_partition_seal(m.partition, NULL);
    check_nothing(view);
    unmake_partition(&m);
}

static void test_quota(void)
{
    struct made_partition m;

    CASE("a subpartition has at most its number of segments in use, others are not hindered");
    make_partition(&m, "main", 2, 6, 2);
    CHECK_INT(put_into(m.partition, 0, 'a', 2 * MADE_SEGMENT_BYTES + 1), FNET_AGAIN);
    CHECK_INT(fnet_local_pool_used(m.pool), 2);
    CHECK_INT(put_into(m.partition, 1, 'b', MADE_SEGMENT_BYTES + 1), FNET_OK);

    CASE("nothing that was written is lost by an FNET_AGAIN");
    struct fnet_view *view = open_view(m.partition, 0);
    CHECK_INT(fnet_view_backlog(view), 2);
    check_data(view, 'a', MADE_SEGMENT_BYTES, 1);

    CASE("the pool's bell rings when a segment returns");
    CHECK_INT(m.pool_rings, 1);
    CHECK_INT(put_into(m.partition, 0, 'c', 1), FNET_OK);
    check_data(view, 'a', MADE_SEGMENT_BYTES, 0);
    fnet_partition_flush(m.partition);
    check_data(view, 'c', 1, 0);

    CASE("the only segment that a subpartition may have can be read while its writer waits for it");
    struct made_partition one;
    make_partition(&one, "main", 1, 2, 1);
    CHECK_INT(put_into(one.partition, 0, 'a', MADE_SEGMENT_BYTES + 1), FNET_AGAIN);
    view = open_view(one.partition, 0);
    CHECK_INT(fnet_view_backlog(view), 1);
    check_data(view, 'a', MADE_SEGMENT_BYTES, 0);
    CHECK_INT(put_into(one.partition, 0, 'a', 1), FNET_OK);
    unmake_partition(&one);
    unmake_partition(&m);
}

static void test_broadcast(void)
{
    struct made_partition m;
    struct fnet_view *views[3];
    struct fnet_view_item items[3];

    CASE("what is broadcast takes one segment for all subpartitions");
    make_partition(&m, "main", 3, 4, 1);
    for (uint32_t i = 0; i < 3; i++)
        views[i] = open_view(m.partition, i);
    CHECK_INT(put_bytes(m.partition, NULL, 'a', MADE_SEGMENT_BYTES + 10), FNET_OK);
    CHECK_INT(fnet_local_pool_used(m.pool), 2);
    CHECK_INT(fnet_partition_queued(m.partition), 6);

    CASE("every subpartition reads it at its own pace, from the same memory");
    for (uint32_t i = 0; i < 3; i++)
        CHECK_INT(fnet_view_next(views[i], &items[i]), FNET_OK);
    CHECK(items[0].buffer.segment == items[1].buffer.segment);
    CHECK(items[1].buffer.segment == items[2].buffer.segment);
    fnet_partition_flush(m.partition);
    check_data(views[0], 'a', 10, 0);
    CHECK_INT(put_bytes(m.partition, NULL, 'a', 5), FNET_OK);
    check_data(views[1], 'a', 15, 0);
    fnet_partition_flush(m.partition);
    check_data(views[0], 'a', 5, 0);
    check_nothing(views[1]);

    CASE("its segment returns with the last reader");
    fnet_buffer_clear(&items[0].buffer);
    fnet_buffer_clear(&items[1].buffer);
    CHECK_INT(fnet_local_pool_used(m.pool), 2);
    fnet_buffer_clear(&items[2].buffer);
    CHECK_INT(fnet_local_pool_used(m.pool), 1);
    unmake_partition(&m);
}

static void test_mixed(void)
{
    struct made_partition m;

    CASE("records for all and records for one keep their order");
    make_partition(&m, "main", 2, 8, 8);
    struct fnet_view *view = open_view(m.partition, 0);
    struct fnet_view *other = open_view(m.partition, 1);
    CHECK_INT(put_into(m.partition, 0, 'a', 1), FNET_OK);
    CHECK_INT(put_bytes(m.partition, NULL, 'b', 2), FNET_OK);
    CHECK_INT(put_into(m.partition, 0, 'c', 3), FNET_OK);
    CHECK_INT(put_into(m.partition, 1, 'd', 4), FNET_OK);
    CHECK_INT(put_bytes(m.partition, NULL, 'e', 5), FNET_OK);
    fnet_partition_flush(m.partition);
    check_data(view, 'a', 1, 3);
    check_data(view, 'b', 2, 2);
    check_data(view, 'c', 3, 1);
    check_data(view, 'e', 5, 0);
    check_nothing(view);
    check_data(other, 'b', 2, 2);
    check_data(other, 'd', 4, 1);
    check_data(other, 'e', 5, 0);
    unmake_partition(&m);
}

static void test_flush(void)
{
    struct made_partition m;

    CASE("a flush is wanted as long as something was written since the last");
    make_partition(&m, "main", 2, 6, 6);
    struct fnet_view *view = open_view(m.partition, 1);
    CHECK_INT(put_into(m.partition, 1, 'a', 1), FNET_OK);
    CHECK(fnet_partition_wants_flush(m.partition));
    fnet_partition_flush(m.partition);
    CHECK(!fnet_partition_wants_flush(m.partition));
    check_data(view, 'a', 1, 0);

    CASE("who writes through a builder he kept says so");
    struct fnet_builder *builder = NULL;
    CHECK_INT(fnet_partition_builder(m.partition, 1, &builder), FNET_OK);
    fnet_partition_flush(m.partition);
    *fnet_builder_pos(builder) = 'b';
    fnet_builder_commit(builder, 1);
    CHECK(!fnet_partition_wants_flush(m.partition));
    fnet_partition_mark_written(m.partition);
    CHECK(fnet_partition_wants_flush(m.partition));
    fnet_partition_flush(m.partition);
    check_data(view, 'b', 1, 0);
    unmake_partition(&m);
}

static void test_cancelled(void)
{
    struct made_partition m;

    CASE("a subpartition whose reader left takes what is written and drops it, without end");
    make_partition(&m, "main", 2, 3, 2);
    CHECK_INT(put_into(m.partition, 0, 'a', 2 * MADE_SEGMENT_BYTES), FNET_OK);
    CHECK_INT(put_into(m.partition, 0, 'a', 1), FNET_AGAIN);
    fnet_view_release(open_view(m.partition, 0), false);
    CHECK_INT(m.pool_rings, 1);
    CHECK_INT(put_into(m.partition, 0, 'a', 100 * MADE_SEGMENT_BYTES + 1), FNET_OK);
    CHECK_INT(fnet_partition_queued(m.partition), 0);
    CHECK(fnet_local_pool_used(m.pool) <= 1);

    CASE("when all are gone, broadcasts are dropped too");
    fnet_view_release(open_view(m.partition, 1), true);
    CHECK_INT(put_bytes(m.partition, NULL, 'b', 100 * MADE_SEGMENT_BYTES), FNET_OK);
    struct fnet_buffer event = made_event(FNET_EVENT_BUFFER);
    CHECK_INT(fnet_partition_broadcast_event(m.partition, &event), FNET_OK);
    CHECK(event.segment == NULL);
    CHECK_INT(fnet_partition_finish(m.partition), FNET_OK);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);
    unmake_partition(&m);
}

static void test_event(void)
{
    struct made_partition m;

    CASE("an event stands behind everything written, in every subpartition");
    make_partition(&m, "main", 2, 6, 6);
    struct fnet_view *view = open_view(m.partition, 0);
    struct fnet_view *other = open_view(m.partition, 1);
    CHECK_INT(put_into(m.partition, 0, 'a', 1), FNET_OK);
    struct fnet_buffer event = made_event(FNET_EVENT_BUFFER);
    CHECK_INT(fnet_partition_broadcast_event(m.partition, &event), FNET_OK);
    CHECK(event.segment == NULL);
    CHECK_INT(put_into(m.partition, 0, 'b', 2), FNET_OK);
    fnet_partition_flush(m.partition);
    check_data(view, 'a', 1, 1);
    check_event(view, FNET_EVENT_BUFFER, 1);
    check_data(view, 'b', 2, 0);
    check_event(other, FNET_EVENT_BUFFER, 0);
    check_nothing(other);
    unmake_partition(&m);
}

static void test_finish(void)
{
    struct made_partition m;

    CASE("the end of input is an EndOfData in every subpartition, and nothing else");
    make_partition(&m, "main", 3, 6, 6);
    CHECK_INT(put_into(m.partition, 1, 'a', 7), FNET_OK);
    CHECK_INT(fnet_partition_finish(m.partition), FNET_OK);
    CHECK(fnet_partition_is_finished(m.partition));
    for (uint32_t i = 0; i < 3; i++) {
        struct fnet_view *view = open_view(m.partition, i);
        if (i == 1)
            check_data(view, 'a', 7, 0);
        struct fnet_view_item item;
        CHECK_INT(fnet_view_next(view, &item), FNET_OK);
        CHECK_INT(item.buffer.data_type, FNET_END_OF_DATA);
        CHECK_INT(item.buffer.len, 5);
        CHECK_MEM(fnet_buffer_span(&item.buffer).ptr, "\0\0\0\x08\0", 5);
        fnet_buffer_clear(&item.buffer);
        check_nothing(view);
    }
    CHECK_INT(fnet_local_pool_used(m.pool), 0);
    unmake_partition(&m);
}

/* Everything that may allocate; FNET_OK or the first error. */
static enum fnet_err live(struct made_partition *m)
{
    enum fnet_err err = put_into(m->partition, 0, 'a', 1);

    if (err == FNET_OK)
        err = put_bytes(m->partition, NULL, 'b', 1);
    for (int i = 0; err == FNET_OK && i < 30; i++) {
        struct fnet_buffer event = {.segment = NULL};
        err = fnet_buffer_new_heap(fnet_span_of("event", 5), FNET_EVENT_BUFFER, &event);
        if (err == FNET_OK)
            err = fnet_partition_broadcast_event(m->partition, &event);
        fnet_buffer_clear(&event); /* still ours if there was no memory */
    }
    return err == FNET_OK ? fnet_partition_finish(m->partition) : err;
}

static void test_no_memory(void)
{
    unsigned n = 0;

    CASE("without memory there is an error, and no leak");
    do {
        struct made_partition m;
        make_partition(&m, "main", 3, 6, 6);
        failmalloc_arm(++n);
        enum fnet_err err = live(&m);
        bool did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        unmake_partition(&m);
        if (!did_fail)
            break;
    } while (n < 1000);
    CHECK(n < 1000);
}

static void test_free_with_all_open(void)
{
    struct made_partition m;

    CASE("a partition may go with buffers queued and builders open");
    make_partition(&m, "main", 3, 8, 8);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_INT(put_into(m.partition, i, 'a', MADE_SEGMENT_BYTES + 1), FNET_OK);
    CHECK_INT(fnet_local_pool_used(m.pool), 6);
    unmake_partition(&m);
    make_partition(&m, "main", 3, 8, 8);
    CHECK_INT(put_bytes(m.partition, NULL, 'a', MADE_SEGMENT_BYTES + 1), FNET_OK);
    unmake_partition(&m);
    fnet_partition_free(NULL);
}

int main(void)
{
    test_formula();
    test_configuration();
    test_what_it_says();
    test_states();
    test_own_builders();
    test_staggered();
    test_full_is_available();
    test_quota();
    test_broadcast();
    test_mixed();
    test_flush();
    test_cancelled();
    test_event();
    test_finish();
    test_no_memory();
    test_free_with_all_open();
    return tap_done();
}
