/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading side of a subpartition: who may open it, what rings, and the order of its end:
 * EndOfData, acknowledgement, EndOfPartition, leave.
 */
#include "made_partition.h"

#include "../failmalloc.h"

static enum fnet_err reopen(struct made_partition *m, uint32_t subpartition)
{
    const struct fnet_bell nobody = {.ring = NULL};
    struct fnet_view *view = NULL;
    enum fnet_err err = fnet_view_open(m->partition, subpartition, nobody, false, &view);

    CHECK((view != NULL) == (err == FNET_OK));
    return err;
}

static void test_open(void)
{
    struct made_partition m;

    CASE("a subpartition that does not exist cannot be read");
    make_partition(&m, "main", 3, 4, 2);
    CHECK_INT(reopen(&m, 3), FNET_RANGE);
    CHECK_INT(reopen(&m, UINT32_MAX), FNET_RANGE);

    CASE("a view knows where it belongs");
    struct fnet_view *view = open_view(m.partition, 2);
    CHECK(fnet_view_partition(view) == m.partition);
    CHECK_INT(fnet_view_subpartition(view), 2);
    CHECK_INT(fnet_partition_state(m.partition, 2), FNET_SUBPARTITION_READING);

    CASE("a subpartition is read once: not twice at a time, not again afterwards");
    CHECK_INT(reopen(&m, 2), FNET_STATE);
    fnet_view_release(view, false);
    CHECK_INT(reopen(&m, 2), FNET_STATE);
    CHECK_INT(reopen(&m, 1), FNET_OK);
    unmake_partition(&m);
}

static void test_written_before(void)
{
    struct made_partition m;

    CASE("what was written before the view was opened is there for it");
    make_partition(&m, "main", 1, 4, 4);
    CHECK_INT(put_into(m.partition, 0, 'a', MADE_SEGMENT_BYTES + 10), FNET_OK);
    struct fnet_view *view = open_view(m.partition, 0);
    CHECK_INT(fnet_view_backlog(view), 1);
    CHECK(!fnet_view_is_available(view, 0));
    CHECK(fnet_view_is_available(view, 1));
    check_data(view, 'a', MADE_SEGMENT_BYTES, 0);
    check_nothing(view);
    fnet_partition_flush(m.partition);
    CHECK_INT(fnet_view_backlog(view), 1);
    check_data(view, 'a', 10, 0);
    check_nothing(view);
    unmake_partition(&m);
}

static void test_bell(void)
{
    struct made_partition m;
    struct fnet_view *view = NULL;
    int rings = 0;

    make_partition(&m, "main", 2, 6, 4);
    CHECK_INT(fnet_view_open(m.partition, 0, counting_bell(&rings), false, &view), FNET_OK);

    CASE("the bell is silent while a buffer fills");
    CHECK_INT(put_into(m.partition, 0, 'a', MADE_SEGMENT_BYTES - 1), FNET_OK);
    CHECK_INT(rings, 0);

    CASE("it rings for a full buffer");
    CHECK_INT(put_into(m.partition, 0, 'a', 2), FNET_OK);
    CHECK_INT(rings, 1);

    CASE("it rings for a flush");
    fnet_partition_flush(m.partition);
    CHECK_INT(rings, 2);

    CASE("it rings for an event, even for one that comes alone");
    struct fnet_buffer event = made_event(FNET_EVENT_BUFFER);
    CHECK_INT(fnet_partition_broadcast_event(m.partition, &event), FNET_OK);
    CHECK(rings > 2);
    rings = 0;
    event = made_event(FNET_EVENT_BUFFER);
    CHECK_INT(fnet_partition_broadcast_event(m.partition, &event), FNET_OK);
    CHECK_INT(rings, 1);

    CASE("it does not ring for what happens to another subpartition");
    CHECK_INT(put_into(m.partition, 1, 'b', MADE_SEGMENT_BYTES + 1), FNET_OK);
    fnet_partition_flush(m.partition);
    CHECK_INT(rings, 1);

    CASE("it does not ring any more once the view is released");
    fnet_view_release(view, false);
    CHECK_INT(put_into(m.partition, 0, 'a', 2 * MADE_SEGMENT_BYTES), FNET_OK);
    fnet_partition_flush(m.partition);
    CHECK_INT(rings, 1);
    unmake_partition(&m);
}

static void test_end(void)
{
    struct made_partition m;

    make_partition(&m, "main", 1, 4, 4);
    CHECK_INT(put_into(m.partition, 0, 'a', 10), FNET_OK);
    struct fnet_view *view = open_view(m.partition, 0);

    CASE("records cannot be acknowledged before EndOfData was taken");
    CHECK_INT(fnet_view_acknowledge(view), FNET_STATE);
    CHECK_INT(fnet_partition_finish(m.partition), FNET_OK);
    CHECK_INT(fnet_view_acknowledge(view), FNET_STATE);
    check_data(view, 'a', 10, 0);
    CHECK_INT(fnet_view_acknowledge(view), FNET_STATE);

    CASE("EndOfPartition does not come before the acknowledgement");
    check_event(view, FNET_END_OF_DATA, 0);
    check_nothing(view);
    CHECK_INT(fnet_partition_state(m.partition, 0), FNET_SUBPARTITION_READING);

    CASE("the acknowledgement brings EndOfPartition, once");
    CHECK_INT(fnet_view_acknowledge(view), FNET_OK);
    CHECK_INT(fnet_partition_state(m.partition, 0), FNET_SUBPARTITION_ACKNOWLEDGED);
    CHECK_INT(fnet_view_acknowledge(view), FNET_STATE);
    CHECK(fnet_view_is_available(view, 0));
    check_event(view, FNET_END_OF_PARTITION, 0);
    check_nothing(view);

    CASE("who leaves after that is done");
    fnet_view_release(view, false);
    CHECK_INT(fnet_partition_state(m.partition, 0), FNET_SUBPARTITION_DONE);
    unmake_partition(&m);
}

/* The state of a subpartition whose reader leaves after STEPS of: data, EndOfData, acknowledge. */
static enum fnet_subpartition_state state_after(int steps, bool is_lost)
{
    struct made_partition m;
    struct fnet_view_item item;

    make_partition(&m, "main", 1, 4, 4);
    CHECK_INT(put_into(m.partition, 0, 'a', 10), FNET_OK);
    CHECK_INT(fnet_partition_finish(m.partition), FNET_OK);
    struct fnet_view *view = open_view(m.partition, 0);
    for (int i = 0; i < steps && i < 2; i++) {
        CHECK_INT(fnet_view_next(view, &item), FNET_OK);
        fnet_buffer_clear(&item.buffer);
    }
    if (steps == 3)
        CHECK_INT(fnet_view_acknowledge(view), FNET_OK);
    fnet_view_release(view, is_lost);
    enum fnet_subpartition_state state = fnet_partition_state(m.partition, 0);
    CHECK_INT(fnet_partition_count(m.partition, state), 1);
    CHECK_INT(fnet_partition_queued(m.partition), 0);
    unmake_partition(&m);
    return state;
}

static void test_release(void)
{
    for (int steps = 0; steps < 3; steps++) {
        CASE("who leaves before acknowledging has cancelled");
        CHECK_INT(state_after(steps, false), FNET_SUBPARTITION_CANCELLED);
        CASE("who vanishes before acknowledging is lost");
        CHECK_INT(state_after(steps, true), FNET_SUBPARTITION_LOST);
    }
    CASE("who acknowledged is done, however he left");
    CHECK_INT(state_after(3, false), FNET_SUBPARTITION_DONE);
    CHECK_INT(state_after(3, true), FNET_SUBPARTITION_DONE);
}

static void test_yield_empty(void)
{
    struct made_partition m;
    struct fnet_view *view = NULL;
    const struct fnet_bell nobody = {.ring = NULL};

    CASE("a view for 0 exclusive buffers yields the empty end of a buffer");
    make_partition(&m, "main", 1, 4, 4);
    CHECK_INT(fnet_view_open(m.partition, 0, nobody, true, &view), FNET_OK);
    CHECK_INT(put_into(m.partition, 0, 'a', 10), FNET_OK);
    fnet_partition_flush(m.partition);
    check_data(view, 'a', 10, 0);
    CHECK_INT(fnet_partition_finish(m.partition), FNET_OK);
    CHECK_INT(fnet_view_backlog(view), 1);
    check_data(view, 'a', 0, 0);
    check_event(view, FNET_END_OF_DATA, 0);
    unmake_partition(&m);

    CASE("any other view does not");
    make_partition(&m, "main", 1, 4, 4);
    view = open_view(m.partition, 0);
    CHECK_INT(put_into(m.partition, 0, 'a', 10), FNET_OK);
    fnet_partition_flush(m.partition);
    check_data(view, 'a', 10, 0);
    CHECK_INT(fnet_partition_finish(m.partition), FNET_OK);
    CHECK_INT(fnet_view_backlog(view), 0);
    check_event(view, FNET_END_OF_DATA, 0);
    unmake_partition(&m);
}

static void test_buffer_outlives_view(void)
{
    struct made_partition m;
    struct fnet_view_item item;

    CASE("a buffer that was taken is there when the view is not any more");
    const uint32_t zero = 0;
    make_partition(&m, "main", 1, 2, 1);
    CHECK_INT(put_into(m.partition, 0, 'a', MADE_SEGMENT_BYTES), FNET_OK);
    fnet_partition_seal(m.partition, &zero);
    struct fnet_view *view = open_view(m.partition, 0);
    CHECK_INT(fnet_view_next(view, &item), FNET_OK);
    fnet_view_release(view, true);
    CHECK_INT(fnet_buffer_span(&item.buffer).ptr[MADE_SEGMENT_BYTES - 1], 'a');

    CASE("... and counts against its subpartition until it is cleared");
    CHECK_INT(put_into(m.partition, 0, 'b', 1), FNET_AGAIN);
    CHECK_INT(m.pool_rings, 0);
    fnet_buffer_clear(&item.buffer);
    CHECK_INT(m.pool_rings, 1);
    CHECK_INT(put_into(m.partition, 0, 'b', 1), FNET_OK);
    unmake_partition(&m);
}

static void test_no_memory(void)
{
    unsigned n = 0;

    CASE("without memory an acknowledgement changes nothing and may be tried again");
    do {
        struct made_partition m;
        make_partition(&m, "main", 1, 2, 2);
        CHECK_INT(fnet_partition_finish(m.partition), FNET_OK);
        struct fnet_view *view = open_view(m.partition, 0);
        check_event(view, FNET_END_OF_DATA, 0);
        failmalloc_arm(++n);
        enum fnet_err err = fnet_view_acknowledge(view);
        if (err != FNET_OK) {
            CHECK_INT(err, FNET_NOMEM);
            CHECK_INT(fnet_partition_state(m.partition, 0), FNET_SUBPARTITION_READING);
            check_nothing(view);
            CHECK_INT(fnet_view_acknowledge(view), FNET_OK);
        }
        check_event(view, FNET_END_OF_PARTITION, 0);
        unmake_partition(&m);
    } while (failmalloc_disarm());
}

int main(void)
{
    test_open();
    test_written_before();
    test_bell();
    test_end();
    test_release();
    test_yield_empty();
    test_buffer_outlives_view();
    test_no_memory();
    return tap_done();
}
