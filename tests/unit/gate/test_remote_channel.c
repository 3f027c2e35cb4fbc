/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A channel: what it takes from the wire and what it refuses, and the words it has for its
 * producer.
 */
#include "made_gate.h"

#include "../failmalloc.h"

/* What a session would note: which channel called last, and how often. */
struct heard {
    struct fnet_channel *last;
    int calls;
};

static void on_words(void *arg, struct fnet_channel *channel)
{
    struct heard *heard = arg;

    heard->last = channel;
    heard->calls++;
}

static void test_sequence(void)
{
    struct made_gate m;

    CASE("buffers and events are counted alike, from 0, without a gap");
    make_gate(&m, 1, 4, 0);
    struct fnet_channel *c = m.channels[0];
    CHECK_INT(arrive_data(c, 1, 'x'), FNET_BAD_SEQUENCE);
    CHECK_INT(arrive_data(c, -1, 'x'), FNET_BAD_SEQUENCE);
    CHECK_INT(arrive_data(c, 0, 'a'), FNET_OK);
    CHECK_INT(arrive_data(c, 0, 'x'), FNET_BAD_SEQUENCE);
    CHECK_INT(arrive(c, 1, FNET_EVENT_BUFFER, 'b', 1, 0), FNET_OK);
    CHECK_INT(arrive(c, 3, FNET_EVENT_BUFFER, 'x', 1, 0), FNET_BAD_SEQUENCE);
    CHECK_INT(arrive_data(c, 2, 'c'), FNET_OK);

    CASE("what was refused has left nothing behind");
    CHECK_INT(fnet_channel_counts(c).queued, 3);
    CHECK_INT(fnet_channel_counts(c).credit, 2);
    CHECK_INT(fnet_local_pool_used(m.pool), 2);
    CHECK_INT(fnet_channel_state(c), FNET_CHANNEL_OPEN);
    unmake_gate(&m);
}

/* A payload of the N parts of SIZES arrives as SEQUENCE; the bytes of each part are its index. */
static enum fnet_err arrive_parts(struct fnet_channel *channel, int32_t sequence,
                                  const uint32_t *sizes, uint32_t n, uint32_t backlog)
{
    struct fnet_buffer buffer = {.segment = NULL};
    uint32_t len = 0;

    for (uint32_t i = 0; i < n; i++)
        len += sizes[i];
    enum fnet_err err = fnet_channel_begin(channel, sequence, FNET_DATA_BUFFER, len, &buffer);
    if (err != FNET_OK)
        return err;
    uint8_t *pos = buffer.segment->bytes;
    for (uint32_t i = 0; i < n; pos += sizes[i], i++)
        memset(pos, (int)i, sizes[i]);
    return fnet_channel_receive_parts(channel, &buffer, sizes, n, backlog);
}

static void test_parts(void)
{
    static const uint32_t sizes[] = {7, 1, 0, 50, 20};
    const uint32_t n = sizeof sizes / sizeof *sizes;
    struct made_gate m;
    struct fnet_gate_item item;

    CASE("a payload of several buffers counts as so many, and takes one segment and one credit");
    make_gate(&m, 1, 2, 0);
    struct fnet_channel *c = m.channels[0];
    CHECK_INT(arrive_parts(c, 0, sizes, n, 3), FNET_OK);
    CHECK_INT(fnet_local_pool_used(m.pool), 1);
    CHECK_INT(fnet_channel_counts(c).buffers, n);
    CHECK_INT(fnet_channel_counts(c).bytes, 78);
    CHECK_INT(fnet_channel_counts(c).credit, 1);
    CHECK_INT(fnet_channel_counts(c).backlog, 3);
    CHECK_INT(arrive_data(c, 4, 'x'), FNET_BAD_SEQUENCE);
    CHECK_INT(arrive_data(c, (int32_t)n, 'x'), FNET_OK);

    CASE("they are polled one by one, and the last gives memory and credit back");
    for (uint32_t i = 0; i < n; i++) {
        check_words(c, 0, 0);
        if (!CHECK_INT(fnet_gate_poll(m.gate, &item), FNET_OK))
            break;
        CHECK_INT(item.buffer.len, sizes[i]);
        for (uint32_t k = 0; k < item.buffer.len; k++)
            CHECK_INT(fnet_buffer_span(&item.buffer).ptr[k], i);
        fnet_gate_recycle(m.gate, &item);
    }
    check_words(c, FNET_SAY_CREDIT, 1);
    CHECK_INT(fnet_local_pool_used(m.pool), 1);
    check_polled(&m, c, 'x');

    CASE("a channel that is cancelled drops those that are left");
    check_words(c, FNET_SAY_CREDIT, 1);
    CHECK_INT(arrive_parts(c, (int32_t)n + 1, sizes, n, 0), FNET_OK);
    CHECK_INT(fnet_gate_poll(m.gate, &item), FNET_OK);
    fnet_channel_cancel(c);
    CHECK_INT(fnet_local_pool_used(m.pool), 1);
    fnet_gate_recycle(m.gate, &item);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);
    unmake_gate(&m);
}

static void test_lengths(void)
{
    struct made_gate m;

    make_gate(&m, 1, 4, 0);
    struct fnet_channel *c = m.channels[0];

    CASE("a data buffer may be empty, or as large as a segment, but no larger");
    CHECK_INT(arrive(c, 0, FNET_DATA_BUFFER, 'a', 0, 0), FNET_OK);
    CHECK_INT(arrive(c, 1, FNET_DATA_BUFFER, 'a', MADE_SEGMENT_BYTES, 0), FNET_OK);
    CHECK_INT(arrive(c, 2, FNET_DATA_BUFFER, 'a', MADE_SEGMENT_BYTES + 1, 0), FNET_BAD_LENGTH);

    CASE("an event has a byte at least and its own limit, whatever a segment holds");
    CHECK_INT(arrive(c, 2, FNET_EVENT_BUFFER, 'a', 0, 0), FNET_BAD_LENGTH);
    CHECK_INT(arrive(c, 2, FNET_EVENT_BUFFER, 'a', FNET_EVENT_MAX_BYTES, 0), FNET_OK);
    CHECK_INT(arrive(c, 3, FNET_EVENT_BUFFER, 'a', FNET_EVENT_MAX_BYTES + 1, 0), FNET_BAD_LENGTH);

    CASE("a data buffer with a clear end is data");
    CHECK_INT(arrive(c, 3, FNET_DATA_BUFFER_WITH_CLEAR_END, 'a', 1, 0), FNET_OK);
    CHECK_INT(fnet_channel_counts(c).buffers, 3);
    CHECK_INT(fnet_channel_counts(c).bytes, MADE_SEGMENT_BYTES + 1);
    CHECK_INT(fnet_channel_counts(c).events, 1);
    unmake_gate(&m);
}

static void test_credit(void)
{
    struct made_gate m;

    CASE("data beyond the credit given is refused, events need none");
    make_gate(&m, 1, 2, 0);
    struct fnet_channel *c = m.channels[0];
    CHECK_INT(arrive_data(c, 0, 'a'), FNET_OK);
    CHECK_INT(arrive_data(c, 1, 'b'), FNET_OK);
    CHECK_INT(arrive_data(c, 2, 'c'), FNET_NO_CREDIT);
    CHECK_INT(arrive(c, 2, FNET_EVENT_BUFFER, 'c', 1, 0), FNET_OK);

    CASE("a credit counts once it was taken to be said, not before");
    check_polled(&m, c, 'a');
    CHECK_INT(arrive_data(c, 3, 'd'), FNET_NO_CREDIT);
    check_words(c, FNET_SAY_CREDIT, 1);
    CHECK_INT(arrive_data(c, 3, 'd'), FNET_OK);
    unmake_gate(&m);
}

static void test_backlog(void)
{
    struct made_gate m;

    CASE("the backlog of a buffer or an announcement brings floating buffers, told in one sum");
    make_gate(&m, 1, 1, 5);
    struct fnet_channel *c = m.channels[0];
    CHECK_INT(arrive(c, 0, FNET_DATA_BUFFER, 'a', 1, 2), FNET_OK);
    CHECK_INT(fnet_channel_counts(c).backlog, 2);
    fnet_channel_announce_backlog(c, 4);
    CHECK_INT(fnet_channel_counts(c).backlog, 4);
    CHECK_INT(fnet_channel_counts(c).credit, 0);
    check_words(c, FNET_SAY_CREDIT, 5);
    CHECK_INT(fnet_channel_counts(c).credit, 5);

    CASE("a channel that is not open asks for nothing");
    fnet_channel_fail(c, FNET_LOST);
    fnet_channel_announce_backlog(c, 100);
    check_words(c, FNET_SAY_RELEASE, 0);
    unmake_gate(&m);
}

static void test_words(void)
{
    struct made_gate m;
    struct heard heard = {.calls = 0};

    CASE("a channel calls when it has something to say after it had nothing");
    make_gate(&m, 2, 2, 0);
    struct fnet_channel *c = m.channels[1];
    fnet_channel_attach(c, on_words, &heard);
    fnet_channel_acknowledge(c);
    CHECK_INT(heard.calls, 1);
    CHECK(heard.last == c);
    fnet_channel_resume(c);
    CHECK_INT(arrive_data(c, 0, 'a'), FNET_OK);
    check_polled(&m, c, 'a');
    CHECK_INT(heard.calls, 1);

    CASE("all words are taken at once, and are then said");
    check_words(c, FNET_SAY_CREDIT | FNET_SAY_RESUME | FNET_SAY_ACKNOWLEDGE, 1);
    check_words(c, 0, 0);
    fnet_channel_resume(c);
    CHECK_INT(heard.calls, 2);

    CASE("who leaves has only that to say");
    fnet_channel_cancel(c);
    CHECK_INT(heard.calls, 3);
    check_words(c, FNET_SAY_RELEASE, 0);
    fnet_channel_acknowledge(c);
    fnet_channel_resume(c);
    fnet_channel_cancel(c);
    fnet_channel_fail(c, FNET_LOST);
    check_words(c, 0, 0);
    CHECK_INT(heard.calls, 3);

    CASE("its link leads back to it");
    CHECK(fnet_channel_of_link(fnet_channel_link(c)) == c);
    unmake_gate(&m);
}

static void test_end(void)
{
    struct made_gate m;

    CASE("EndOfPartition ends the channel and releases it, what it said before included");
    make_gate(&m, 1, 2, 4);
    struct fnet_channel *c = m.channels[0];
    CHECK_INT(arrive(c, 0, FNET_DATA_BUFFER, 'a', 1, 3), FNET_OK);
    CHECK_INT(arrive(c, 1, FNET_END_OF_DATA, 'b', 5, 0), FNET_OK);
    CHECK_INT(fnet_channel_state(c), FNET_CHANNEL_OPEN);
    CHECK_INT(arrive(c, 2, FNET_END_OF_PARTITION, 'c', 4, 0), FNET_OK);
    CHECK_INT(fnet_channel_state(c), FNET_CHANNEL_ENDED);
    CHECK_INT(fnet_channel_error(c), FNET_OK);
    check_words(c, FNET_SAY_RELEASE, 0);

    CASE("nothing more may come");
    CHECK_INT(arrive_data(c, 3, 'd'), FNET_STATE);

    CASE("what was received is still there");
    check_polled(&m, c, 'a');
    check_polled(&m, c, 'b');
    check_polled(&m, c, 'c');
    CHECK_INT(poll_nothing(&m), FNET_EOF);
    check_words(c, 0, 0);
    unmake_gate(&m);
}

static void test_fail(void)
{
    struct made_gate m;

    CASE("a channel that failed keeps its first error and what it received, and is released");
    make_gate(&m, 1, 2, 0);
    struct fnet_channel *c = m.channels[0];
    CHECK_INT(arrive_data(c, 0, 'a'), FNET_OK);
    fnet_channel_fail(c, FNET_REMOTE);
    fnet_channel_fail(c, FNET_LOST);
    CHECK_INT(fnet_channel_error(c), FNET_REMOTE);
    check_words(c, FNET_SAY_RELEASE, 0);
    check_polled(&m, c, 'a');
    CHECK_INT(poll_nothing(&m), FNET_EOF);
    unmake_gate(&m);
}

static void test_cancel(void)
{
    struct made_gate m;
    struct fnet_gate_item held;

    CASE("a cancelled channel drops what is queued, not what is held");
    make_gate(&m, 2, 2, 2);
    struct fnet_channel *c = m.channels[0];
    CHECK_INT(arrive(c, 0, FNET_DATA_BUFFER, 'a', 1, 2), FNET_OK);
    check_words(c, FNET_SAY_CREDIT, 2);
    CHECK_INT(arrive_data(c, 1, 'b'), FNET_OK);
    CHECK_INT(arrive(c, 2, FNET_EVENT_BUFFER, 'c', 1, 0), FNET_OK);
    CHECK_INT(fnet_gate_poll(m.gate, &held), FNET_OK);
    fnet_channel_cancel(c);
    CHECK_INT(fnet_channel_counts(c).queued, 0);
    CHECK_INT(fnet_local_pool_used(m.pool), 1);
    CHECK_INT(poll_nothing(&m), FNET_AGAIN);

    CASE("its floating buffers are free for others");
    fnet_channel_announce_backlog(m.channels[1], 2);
    check_words(m.channels[1], FNET_SAY_CREDIT, 2);
    fnet_gate_recycle(m.gate, &held);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);

    CASE("an ended channel that is cancelled drops its queue, too");
    CHECK_INT(arrive_data(m.channels[1], 0, 'd'), FNET_OK);
    CHECK_INT(arrive(m.channels[1], 1, FNET_END_OF_PARTITION, 'e', 4, 0), FNET_OK);
    fnet_channel_cancel(m.channels[1]);
    CHECK_INT(fnet_channel_state(m.channels[1]), FNET_CHANNEL_ENDED);
    CHECK_INT(poll_nothing(&m), FNET_EOF);
    unmake_gate(&m);
}

/* A payload takes its buffer when it begins; only then may another have what is left. */
static void test_begun(void)
{
    struct made_gate m;
    struct fnet_buffer buffer = {.segment = NULL}, second = {.segment = NULL};

    CASE("a payload that has begun is paid for, though its channel is cancelled meanwhile");
    make_gate(&m, 2, 0, 1);
    struct fnet_channel *a = m.channels[0], *b = m.channels[1];
    fnet_channel_announce_backlog(a, 1);
    check_words(a, FNET_SAY_CREDIT, 1);
    fnet_channel_announce_backlog(b, 1);
    CHECK_INT(fnet_channel_begin(a, 0, FNET_DATA_BUFFER, 10, &buffer), FNET_OK);
    CHECK_INT(fnet_channel_counts(a).credit, 0);
    fnet_channel_cancel(a);
    check_words(b, 0, 0);
    CHECK_INT(fnet_channel_begin(b, 0, FNET_DATA_BUFFER, 10, &second), FNET_NO_CREDIT);

    CASE("when it is complete it is dropped, and its buffer is free");
    CHECK_INT(fnet_channel_receive(a, &buffer, 5), FNET_OK);
    CHECK(buffer.segment == NULL);
    CHECK_INT(fnet_channel_counts(a).queued, 0);
    check_words(b, FNET_SAY_CREDIT, 1);

    CASE("a payload whose rest does not come gives its buffer back");
    CHECK_INT(fnet_channel_begin(b, 0, FNET_DATA_BUFFER, 10, &second), FNET_OK);
    fnet_channel_fail(b, FNET_LOST);
    fnet_channel_abandon(b, &second);
    CHECK(second.segment == NULL);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);

    CASE("so does an event");
    unmake_gate(&m);
    make_gate(&m, 1, 1, 0);
    CHECK_INT(fnet_channel_begin(m.channels[0], 0, FNET_EVENT_BUFFER, 10, &buffer), FNET_OK);
    fnet_channel_abandon(m.channels[0], &buffer);
    CHECK(buffer.segment == NULL);
    unmake_gate(&m);
}

static void test_blocking(void)
{
    struct made_gate m;

    CASE("without exclusive buffers, an event that blocks its sender ends the credit he has");
    make_gate(&m, 2, 0, 3);
    struct fnet_channel *c = m.channels[0];
    fnet_channel_announce_backlog(c, 3);
    check_words(c, FNET_SAY_CREDIT, 3);
    CHECK_INT(arrive(c, 0, FNET_DATA_BUFFER, 'a', 1, 0), FNET_OK);
    check_words(c, 0, 0);
    fnet_channel_announce_backlog(c, 3);
    CHECK_INT(arrive(c, 1, FNET_ALIGNED_CHECKPOINT_BARRIER, 'b', 30, 0), FNET_OK);
    CHECK_INT(fnet_channel_counts(c).credit, 0);
    check_words(c, 0, 0);
    fnet_channel_announce_backlog(m.channels[1], 2);
    check_words(m.channels[1], FNET_SAY_CREDIT, 2);

    CASE("once he is resumed, what he announces is given anew");
    check_polled(&m, c, 'a');
    check_polled(&m, c, 'b');
    fnet_channel_resume(c);
    check_words(c, FNET_SAY_RESUME, 0);
    fnet_channel_announce_backlog(c, 1);
    check_words(c, FNET_SAY_CREDIT, 1);
    CHECK_INT(arrive_data(c, 2, 'd'), FNET_OK);

    CASE("with exclusive buffers the credit stays");
    unmake_gate(&m);
    make_gate(&m, 1, 2, 0);
    CHECK_INT(arrive(m.channels[0], 0, FNET_ALIGNED_CHECKPOINT_BARRIER, 'b', 30, 0), FNET_OK);
    CHECK_INT(fnet_channel_counts(m.channels[0]).credit, 2);
    unmake_gate(&m);
}

static void test_pool_too_small(void)
{
    struct made_gate m;
    struct fnet_builder taken;

    CASE("a pool that does not hold what was promised is an error, and costs no credit");
    make_gate(&m, 1, 1, 0);
    CHECK_INT(fnet_local_pool_take(m.pool, NULL, &taken), FNET_OK);
    CHECK_INT(arrive_data(m.channels[0], 0, 'a'), FNET_NOMEM);
    fnet_builder_seal(&taken);
    check_words(m.channels[0], FNET_SAY_CREDIT, 1);
    CHECK_INT(arrive_data(m.channels[0], 0, 'a'), FNET_OK);
    unmake_gate(&m);
}

static void test_event_flood(void)
{
    struct made_gate m;

    CASE("events that nobody polls are bounded, in bytes and in number");
    make_gate(&m, 2, 1, 0);
    const uint32_t sizes[] = {1, FNET_EVENT_MAX_BYTES};
    for (size_t i = 0; i < 2; i++) {
        struct fnet_channel *c = m.channels[i];
        int32_t n = 0;
        while (n < INT32_MAX && arrive(c, n, FNET_EVENT_BUFFER, 'a', sizes[i], 0) == FNET_OK)
            n++;
        CHECK(n > 0);
        CHECK((size_t)n * sizes[i] <= FNET_GATE_EVENT_BYTES_MAX);
        CHECK((size_t)n * sizeof(struct fnet_segment) <= FNET_GATE_EVENT_BYTES_MAX);
        CHECK_INT(arrive(c, n, FNET_EVENT_BUFFER, 'a', sizes[i], 0), FNET_NO_CREDIT);

        CASE("what is polled makes room for others");
        for (int32_t left = n; left > 0; left--)
            check_polled(&m, c, 'a');
        CHECK_INT(arrive(c, n, FNET_EVENT_BUFFER, 'b', sizes[i], 0), FNET_OK);
        check_polled(&m, c, 'b');
    }
    unmake_gate(&m);
}

static enum fnet_err receive_many(struct fnet_channel *c)
{
    enum fnet_err err = FNET_OK;

    for (int32_t i = 0; err == FNET_OK && i < 40; i++)
        err = arrive(c, i, i % 8 == 0 ? FNET_DATA_BUFFER : FNET_EVENT_BUFFER, 'a', 10, 0);
    return err;
}

static void test_no_memory(void)
{
    unsigned n = 0;

    CASE("without memory a buffer is refused, and nothing is lost or promised twice");
    do {
        struct made_gate m;
        make_gate(&m, 1, 5, 0);
        struct fnet_channel *c = m.channels[0];
        failmalloc_arm(++n);
        enum fnet_err err = receive_many(c);
        bool did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        struct fnet_channel_counts counts = fnet_channel_counts(c);
        CHECK_INT(counts.queued, counts.buffers + counts.events);
        CHECK_INT(fnet_local_pool_used(m.pool), counts.buffers);
        unmake_gate(&m);
        if (!did_fail)
            break;
    } while (n < 1000);
    CHECK(n < 1000);
}

int main(void)
{
    test_sequence();
    test_parts();
    test_lengths();
    test_credit();
    test_backlog();
    test_words();
    test_end();
    test_fail();
    test_cancel();
    test_begun();
    test_blocking();
    test_pool_too_small();
    test_event_flood();
    test_no_memory();
    return tap_done();
}
