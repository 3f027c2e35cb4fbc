/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One subpartition in memory: what makes data available, how much is said to wait behind it, and
 * that bytes come out as they went in, whenever they are taken.
 */
#include "../../../lib/partition/pipelined.h"

#include "../failmalloc.h"
#include "../tap.h"

#define SEGMENTS 8

/* A subpartition, and the pool its builders come from. */
struct bench {
    struct fnet_network_pool *network;
    struct fnet_local_pool *pool;
    struct fnet__pipelined s;
    int rings;
};

static void count_ring(void *arg)
{
    ++*(int *)arg;
}

static void begin(struct bench *b, bool yields_empty)
{
    *b = (struct bench){.rings = 0};
    CHECK_INT(fnet_network_pool_new(FNET_SEGMENT_MIN_BYTES, SEGMENTS, &b->network), FNET_OK);
    CHECK_INT(fnet_local_pool_new(b->network, SEGMENTS, SEGMENTS, &b->pool), FNET_OK);
    fnet__pipelined_init(&b->s, SEGMENTS);
    b->s.yields_empty = yields_empty;
    b->s.state = FNET_SUBPARTITION_READING;
    b->s.bell = (struct fnet_bell){.ring = count_ring, .arg = &b->rings};
}

static void end(struct bench *b)
{
    fnet__pipelined_clear(&b->s);
    CHECK_INT(b->s.backlog, 0);
    CHECK_INT(b->s.quota.used, 0);
    CHECK_INT(fnet_local_pool_used(b->pool), 0);
    fnet_local_pool_free(b->pool);
    fnet_network_pool_free(b->network);
}

static enum fnet_err open_builder(struct bench *b)
{
    enum fnet_err err = fnet_local_pool_take(b->pool, &b->s.quota, &b->s.builder);

    return err == FNET_OK ? fnet__pipelined_add(&b->s, &b->s.builder) : err;
}

/* Bytes are numbered: what is written goes on where it stopped, what is read must too. */
static void write_some(struct bench *b, size_t len, uint8_t *next)
{
    uint8_t *pos = fnet_builder_pos(&b->s.builder);

    CHECK(len <= fnet_builder_room(&b->s.builder));
    for (size_t i = 0; i < len; i++)
        pos[i] = (*next)++;
    fnet_builder_commit(&b->s.builder, len);
}

static void seal(struct bench *b)
{
    fnet_builder_seal(&b->s.builder);
    fnet__pipelined_notice_sealed(&b->s);
}

static void write_new(struct bench *b, size_t len)
{
    uint8_t byte = 0;

    CHECK_INT(open_builder(b), FNET_OK);
    write_some(b, len, &byte);
}

static void add_event(struct bench *b, uint8_t type)
{
    const uint8_t bytes[] = {0, 0, 0, type};
    struct fnet_buffer event = {.segment = NULL};

    CHECK_INT(fnet_buffer_new_heap(fnet_span_of(bytes, sizeof bytes), type, &event), FNET_OK);
    CHECK_INT(fnet__pipelined_add_event(&b->s, &event), FNET_OK);
    fnet_buffer_clear(&event);
}

/* Take an item of LEN bytes with BACKLOG behind it. */
static void take(struct bench *b, uint8_t type, uint32_t len, uint32_t backlog)
{
    struct fnet_view_item item;

    if (!CHECK_INT(fnet__pipelined_next(&b->s, &item), FNET_OK))
        return;
    CHECK_INT(item.buffer.data_type, type);
    CHECK_INT(item.buffer.len, len);
    CHECK_INT(item.backlog, backlog);
    fnet_buffer_clear(&item.buffer);
}

static void check_nothing(struct bench *b)
{
    struct fnet_view_item item;

    CHECK(!fnet__pipelined_is_available(&b->s, 1));
    CHECK_INT(fnet__pipelined_next(&b->s, &item), FNET_AGAIN);
}

static void test_three_causes(void)
{
    struct bench b;

    CASE("what is written is not available by itself");
    begin(&b, false);
    write_new(&b, 10);
    check_nothing(&b);
    CHECK_INT(b.rings, 0);

    CASE("a flush makes it available, and rings once");
    fnet__pipelined_flush(&b.s);
    fnet__pipelined_flush(&b.s);
    CHECK_INT(b.rings, 1);
    CHECK(fnet__pipelined_is_available(&b.s, 1));
    take(&b, FNET_DATA_BUFFER, 10, 0);
    check_nothing(&b);

    CASE("a buffer that is ended is available, and rings");
    uint8_t byte = 0;
    write_some(&b, 20, &byte);
    seal(&b);
    CHECK_INT(b.rings, 2);
    take(&b, FNET_DATA_BUFFER, 20, 0);
    CHECK_INT(fnet_local_pool_used(b.pool), 0);

    CASE("an event makes itself and all before it available, and rings");
    write_new(&b, 30);
    check_nothing(&b);
    seal(&b);
    b.rings = 0;
    add_event(&b, FNET_EVENT_BUFFER);
    CHECK_INT(b.rings, 1);
    take(&b, FNET_DATA_BUFFER, 30, 0);
    take(&b, FNET_EVENT_BUFFER, 4, 0);
    check_nothing(&b);

    CASE("a flush of nothing new does not ring");
    b.rings = 0;
    fnet__pipelined_flush(&b.s);
    CHECK_INT(open_builder(&b), FNET_OK);
    fnet__pipelined_flush(&b.s);
    CHECK_INT(b.rings, 0);
    check_nothing(&b);
    end(&b);
}

static void test_credit(void)
{
    struct bench b;

    CASE("data needs credit, an event does not");
    begin(&b, false);
    write_new(&b, 10);
    seal(&b);
    add_event(&b, FNET_EVENT_BUFFER);
    CHECK(!fnet__pipelined_is_available(&b.s, 0));
    CHECK(fnet__pipelined_is_available(&b.s, 1));
    take(&b, FNET_DATA_BUFFER, 10, 0);
    CHECK(fnet__pipelined_is_available(&b.s, 0));
    take(&b, FNET_EVENT_BUFFER, 4, 0);
    CHECK(!fnet__pipelined_is_available(&b.s, 1));
    end(&b);
}

static void test_taken_while_filled(void)
{
    struct bench b;
    struct fnet_view_item first, second;

    CASE("a buffer is taken in pieces while it is filled, from the same segment");
    begin(&b, false);
    write_new(&b, 10);
    fnet__pipelined_flush(&b.s);
    CHECK_INT(fnet__pipelined_next(&b.s, &first), FNET_OK);
    uint8_t byte = 10;
    write_some(&b, 5, &byte);
    check_nothing(&b);
    fnet__pipelined_flush(&b.s);
    CHECK_INT(fnet__pipelined_next(&b.s, &second), FNET_OK);
    CHECK_INT(first.buffer.offset, 0);
    CHECK_INT(first.buffer.len, 10);
    CHECK_INT(second.buffer.offset, 10);
    CHECK_INT(second.buffer.len, 5);
    CHECK(first.buffer.segment == second.buffer.segment);
    CHECK_INT(fnet_local_pool_used(b.pool), 1);

    CASE("a buffer that was taken to its end is dropped when it is sealed");
    seal(&b);
    check_nothing(&b);
    CHECK_INT(fnet__pipelined_backlog(&b.s), 0);
    CHECK_INT(b.s.count, 0);

    CASE("the segment goes back with the last piece");
    fnet_buffer_clear(&first.buffer);
    CHECK_INT(fnet_local_pool_used(b.pool), 1);
    fnet_buffer_clear(&second.buffer);
    CHECK_INT(fnet_local_pool_used(b.pool), 0);
    CHECK_INT(b.s.quota.used, 0);

    CASE("an empty buffer behind others is dropped when its turn comes");
    write_new(&b, 10);
    seal(&b);
    CHECK_INT(open_builder(&b), FNET_OK);
    seal(&b);
    CHECK_INT(b.s.count, 2);
    take(&b, FNET_DATA_BUFFER, 10, 0);
    check_nothing(&b);
    end(&b);
}

static void test_yields_empty(void)
{
    struct bench b;

    CASE("for a channel without exclusive buffers the empty rest is yielded: it gives a credit "
         "back");
    begin(&b, true);
    write_new(&b, 10);
    fnet__pipelined_flush(&b.s);
    take(&b, FNET_DATA_BUFFER, 10, 0);
    seal(&b);
    CHECK_INT(fnet__pipelined_backlog(&b.s), 1);
    add_event(&b, FNET_END_OF_DATA);
    CHECK(!fnet__pipelined_is_available(&b.s, 0));
    take(&b, FNET_DATA_BUFFER, 0, 0);
    take(&b, FNET_END_OF_DATA, 4, 0);

    CASE("an unfinished buffer without news is not yielded even so");
    CHECK_INT(open_builder(&b), FNET_OK);
    fnet__pipelined_flush(&b.s);
    check_nothing(&b);
    end(&b);
}

/* The rule of 1.14 and later: everything, less the last if that is unfinished and not flushed. */
static void test_backlog(void)
{
    struct bench b;

    CASE("backlog: nothing is nothing");
    begin(&b, false);
    CHECK_INT(fnet__pipelined_backlog(&b.s), 0);

    CASE("backlog: the unfinished buffer does not count");
    write_new(&b, 10);
    CHECK_INT(fnet__pipelined_backlog(&b.s), 0);
    seal(&b);
    write_new(&b, 11);
    CHECK_INT(fnet__pipelined_backlog(&b.s), 1);
    seal(&b);
    write_new(&b, 12);
    CHECK_INT(fnet__pipelined_backlog(&b.s), 2);

    CASE("backlog: the unfinished buffer counts once a flush is requested");
    fnet__pipelined_flush(&b.s);
    CHECK_INT(fnet__pipelined_backlog(&b.s), 3);

    CASE("backlog: the item being taken is not counted when it is finished");
    take(&b, FNET_DATA_BUFFER, 10, 2);
    take(&b, FNET_DATA_BUFFER, 11, 1);

    CASE("backlog: ... and when it is not, the flush is done with it");
    take(&b, FNET_DATA_BUFFER, 12, 0);
    CHECK_INT(fnet__pipelined_backlog(&b.s), 0);

    CASE("backlog: behind an event everything counts, events never do");
    uint8_t byte = 0;
    write_some(&b, 13, &byte);
    seal(&b);
    add_event(&b, FNET_EVENT_BUFFER);
    add_event(&b, FNET_EVENT_BUFFER);
    CHECK_INT(fnet__pipelined_backlog(&b.s), 1);
    write_new(&b, 14);
    seal(&b);
    add_event(&b, FNET_EVENT_BUFFER);
    CHECK_INT(fnet__pipelined_backlog(&b.s), 2);
    take(&b, FNET_DATA_BUFFER, 13, 1);
    take(&b, FNET_EVENT_BUFFER, 4, 1);
    take(&b, FNET_EVENT_BUFFER, 4, 1);
    take(&b, FNET_DATA_BUFFER, 14, 0);
    take(&b, FNET_EVENT_BUFFER, 4, 0);

    CASE("backlog: a finished buffer counts though no other follows: its writer may wait for it");
    write_new(&b, 15);
    seal(&b);
    CHECK_INT(fnet__pipelined_backlog(&b.s), 1);
    take(&b, FNET_DATA_BUFFER, 15, 0);
    end(&b);
}

static void test_flush_is_remembered(void)
{
    struct bench b;

    CASE("a flush holds for the unfinished buffer until that is taken, whatever is before it");
    begin(&b, false);
    write_new(&b, 10);
    seal(&b);
    write_new(&b, 11);
    fnet__pipelined_flush(&b.s);
    take(&b, FNET_DATA_BUFFER, 10, 1);
    take(&b, FNET_DATA_BUFFER, 11, 0);

    CASE("what is written after that waits for the next cause");
    uint8_t byte = 0;
    write_some(&b, 1, &byte);
    check_nothing(&b);

    CASE("a flush that finds its buffer finished and the next one empty is over");
    fnet__pipelined_flush(&b.s);
    seal(&b);
    CHECK_INT(open_builder(&b), FNET_OK);
    take(&b, FNET_DATA_BUFFER, 1, 1);
    struct fnet_view_item item;
    CHECK_INT(fnet__pipelined_next(&b.s, &item), FNET_AGAIN);
    write_some(&b, 1, &byte);
    check_nothing(&b);
    end(&b);
}

static void test_end(void)
{
    struct bench b;

    CASE("the end counts as yielded when it was taken, not when it was added");
    begin(&b, false);
    add_event(&b, FNET_END_OF_DATA);
    CHECK_INT(b.s.end, FNET__END_AHEAD);
    take(&b, FNET_END_OF_DATA, 4, 0);
    CHECK_INT(b.s.end, FNET__END_OF_DATA_TAKEN);
    end(&b);
}

static void test_dropping(void)
{
    struct bench b;

    CASE("what is dropped goes back at once, but for the buffer that is still written");
    begin(&b, false);
    for (int i = 0; i < 3; i++) {
        write_new(&b, 10);
        if (i < 2)
            seal(&b);
    }
    add_event(&b, FNET_EVENT_BUFFER);
    fnet__pipelined_drop(&b.s);
    CHECK_INT(fnet_local_pool_used(b.pool), 1);
    CHECK_INT(fnet__pipelined_backlog(&b.s), 0);
    check_nothing(&b);

    CASE("a subpartition without reader takes nothing any more");
    const enum fnet_subpartition_state over[] = {
        FNET_SUBPARTITION_DONE, FNET_SUBPARTITION_CANCELLED, FNET_SUBPARTITION_LOST};
    for (size_t i = 0; i < sizeof over / sizeof *over; i++) {
        b.s.state = over[i];
        seal(&b);
        write_new(&b, 10);
        add_event(&b, FNET_EVENT_BUFFER);
        CHECK_INT(b.s.count, 0);
    }
    end(&b);
}

/*
 * A long pseudo-random life: bytes come out as they went in, items with data never empty, the
 * backlog is what is queued, and the ring grows and wraps around.
 */
static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void take_checked(struct bench *b, uint8_t *expected, unsigned *events)
{
    struct fnet_view_item item;
    enum fnet_err err = fnet__pipelined_next(&b->s, &item);

    if (err != FNET_OK) {
        CHECK_INT(err, FNET_AGAIN);
        return;
    }
    CHECK_INT(item.backlog, fnet__pipelined_backlog(&b->s));
    if (item.buffer.data_type == FNET_EVENT_BUFFER) {
        --*events;
    } else {
        struct fnet_span span = fnet_buffer_span(&item.buffer);
        CHECK(span.len > 0);
        for (size_t i = 0; i < span.len; i++)
            if (!CHECK_INT(span.ptr[i], (*expected)++))
                break;
    }
    fnet_buffer_clear(&item.buffer);
}

static void step(struct bench *b, uint32_t dice, uint8_t *written, unsigned *events)
{
    bool is_open = fnet_builder_is_open(&b->s.builder);

    switch (dice % 4) {
    case 0:
        if (is_open && fnet_builder_room(&b->s.builder) > 0)
            write_some(b, 1 + dice / 4 % fnet_builder_room(&b->s.builder), written);
        else if (!is_open)
            (void)!open_builder(b);
        return;
    case 1: fnet__pipelined_flush(&b->s); return;
    case 2:
        if (is_open)
            seal(b);
        return;
    default:
        if (is_open)
            seal(b);
        add_event(b, FNET_EVENT_BUFFER);
        ++*events;
        return;
    }
}

static void test_walk(void)
{
    struct bench b;
    uint32_t random = 7;
    unsigned events = 0;
    uint8_t written = 0, expected = 0;
    uint32_t most = 0;

    CASE("a long life: bytes in order, backlog as queued, everything back at the end");
    begin(&b, false);
    for (int i = 0; i < 50000 && tap_failures == 0; i++) {
        /* Times of hunger and of plenty, so that the queue is long and empty by turns. */
        uint32_t dice = next_random(&random);
        if (dice % 8 < (i / 500 % 2 ? 1u : 6u))
            take_checked(&b, &expected, &events);
        else
            step(&b, dice / 8, &written, &events);
        most = b.s.count > most ? b.s.count : most;
        CHECK(b.s.backlog <= b.s.count && b.s.backlog + events == b.s.count);
    }
    CHECK(most > 64);
    if (fnet_builder_is_open(&b.s.builder))
        seal(&b);
    while (b.s.count > 0 && tap_failures == 0)
        take_checked(&b, &expected, &events);
    CHECK_INT(expected, written);
    CHECK_INT(events, 0);
    end(&b);
}

static void test_no_memory(void)
{
    unsigned n = 0;

    CASE("without memory the queue stays as it was");
    do {
        struct bench b;
        begin(&b, false);
        struct fnet_buffer event = {.segment = NULL};
        CHECK_INT(fnet_buffer_new_heap(fnet_span_of("end", 3), FNET_EVENT_BUFFER, &event), FNET_OK);
        failmalloc_arm(++n);
        unsigned added = 0;
        while (added < 40 && fnet__pipelined_add_event(&b.s, &event) == FNET_OK)
            added++;
        CHECK_INT(b.s.count, added);
        for (unsigned i = 0; i < added; i++)
            take(&b, FNET_EVENT_BUFFER, 3, 0);
        fnet_buffer_clear(&event);
        end(&b);
    } while (failmalloc_disarm());
}

int main(void)
{
    test_three_causes();
    test_credit();
    test_taken_while_filled();
    test_yields_empty();
    test_backlog();
    test_flush_is_remembered();
    test_end();
    test_dropping();
    test_walk();
    test_no_memory();
    return tap_done();
}
