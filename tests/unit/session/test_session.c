/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two machines joined in memory by pipes of little room, moving a few bytes at a time: the whole
 * protocol from the first request to the last CloseRequest, and its early ends.
 */
#include "../failmalloc.h"
#include "../gate/made_gate.h"
#include "../partition/made_partition.h"

#include "fnet/session.h"

#define PARTS_MAX 2
#define SUBPARTITIONS_MAX 8
#define PIPE_BYTES 8192

/* Bytes on their way from one session to the other. */
struct tube {
    uint8_t bytes[PIPE_BYTES];
    size_t len;
    size_t room;
    uint64_t total; /* that ever went in */
};

/* One channel, what it should receive, and how far it is. */
struct line {
    struct fnet_partition *partition;
    uint32_t subpartition;
    uint64_t written; /* bytes, each the next of the line's own sequence */
    uint64_t read;
    bool has_data_ended;
};

struct joined {
    struct made_partition parts[PARTS_MAX];
    size_t part_count;
    struct fnet_registry registry;
    struct made_gate gate;
    struct fnet_session *producer;
    struct fnet_session *consumer;
    struct tube requests;
    struct tube responses;
    size_t step;     /* most bytes that move at a time */
    uint64_t target; /* bytes for each line */
    struct line lines[PARTS_MAX * SUBPARTITIONS_MAX];
    int channel_errors;
    enum fnet_err last_error;
    uint32_t random;
};

/* What is joined, and how. */
struct plan {
    size_t parts;
    uint32_t subpartitions; /* of each */
    uint32_t exclusive;
    uint32_t floating;
    size_t step;
    size_t room;
    uint64_t target;
};

/* What the two speak. */
static const struct fnet_dialect *spoken;

static uint32_t next_random(struct joined *j)
{
    j->random = j->random * 1664525u + 1013904223u;
    return j->random >> 16;
}

static void on_channel_error(void *arg, struct fnet_channel *channel, enum fnet_err err,
                             const char *text)
{
    struct joined *j = arg;

    (void)channel;
    CHECK(text[0] != '\0');
    j->channel_errors++;
    j->last_error = err;
}

static void on_description(void *arg, const struct fnet_id *request,
                           const struct fnet_description_response *description)
{
    (void)arg;
    (void)request;
    (void)description;
}

static void on_description_error(void *arg, const struct fnet_id *request, enum fnet_err err,
                                 const char *text)
{
    (void)arg;
    (void)request;
    (void)err;
    (void)text;
}

static void join(struct joined *j, const struct plan *plan)
{
    static const char *const names[PARTS_MAX] = {"first", "second"};
    size_t channels = plan->parts * plan->subpartitions;

    memset(j, 0, sizeof *j);
    j->part_count = plan->parts;
    j->step = plan->step;
    j->target = plan->target;
    j->requests.room = j->responses.room = plan->room;
    j->random = 1;
    make_gate(&j->gate, channels, plan->exclusive, plan->floating);
    for (size_t p = 0; p < plan->parts; p++) {
        make_partition(&j->parts[p], names[p], plan->subpartitions, 2 * plan->subpartitions + 4, 4);
        CHECK_INT(fnet_registry_add(&j->registry, j->parts[p].partition), FNET_OK);
        for (uint32_t s = 0; s < plan->subpartitions; s++)
            j->lines[p * plan->subpartitions + s] =
                (struct line){.partition = j->parts[p].partition, .subpartition = s};
    }
    const struct fnet_consumer_listener listener = {.channel_error = on_channel_error,
                                                    .description = on_description,
                                                    .description_error = on_description_error,
                                                    .arg = j};
    CHECK_INT(fnet_producer_session_new(&j->registry, spoken, &j->producer), FNET_OK);
    CHECK_INT(fnet_consumer_session_new(&listener, spoken, &j->consumer), FNET_OK);
}

static enum fnet_err request_all(struct joined *j)
{
    enum fnet_err err = FNET_OK;

    for (size_t i = 0; err == FNET_OK && i < j->gate.count; i++) {
        err = fnet_consumer_session_add(j->consumer, j->gate.channels[i]);
        if (err == FNET_OK)
            err = fnet_consumer_session_request(j->consumer, j->gate.channels[i],
                                                fnet_partition_id(j->lines[i].partition),
                                                j->lines[i].subpartition);
    }
    return err;
}

static void unjoin(struct joined *j)
{
    fnet_session_free(j->consumer);
    fnet_session_free(j->producer);
    unmake_gate(&j->gate);
    fnet_registry_clear(&j->registry);
    for (size_t p = 0; p < j->part_count; p++)
        unmake_partition(&j->parts[p]);
}

/* ---- moving ------------------------------------------------------------------------------ */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool move_out(struct joined *j, struct fnet_session *from, struct tube *tube)
{
    struct iovec spans[6];
    size_t n = fnet_session_send_spans(from, spans, 6);
    size_t most = least(j->step, tube->room - tube->len);
    size_t moved = 0;

    for (size_t i = 0; i < n && moved < most; i++) {
        size_t some = least(spans[i].iov_len, most - moved);
        memcpy(tube->bytes + tube->len + moved, spans[i].iov_base, some);
        moved += some;
    }
    tube->len += moved;
    tube->total += moved;
    fnet_session_sent(from, moved);
    return moved > 0;
}

static bool move_in(struct joined *j, struct tube *tube, struct fnet_session *to)
{
    struct iovec spaces[FNET_SESSION_RECV_SPACES];
    size_t most = least(j->step, tube->len);
    size_t moved = 0;

    if (most == 0 || !fnet_session_wants_read(to))
        return false;
    size_t n = fnet_session_recv_spaces(to, spaces);
    for (size_t i = 0; i < n && moved < most; i++) {
        size_t some = least(spaces[i].iov_len, most - moved);
        memcpy(spaces[i].iov_base, tube->bytes + moved, some);
        moved += some;
    }
    tube->len -= moved;
    memmove(tube->bytes, tube->bytes + moved, tube->len);
    (void)!fnet_session_received(to, moved);
    return moved > 0;
}

/* Both directions, one step each; false when nothing moved. */
static bool move(struct joined *j)
{
    bool has_moved = move_out(j, j->consumer, &j->requests);

    has_moved |= move_out(j, j->producer, &j->responses);
    has_moved |= move_in(j, &j->requests, j->producer);
    has_moved |= move_in(j, &j->responses, j->consumer);
    return has_moved;
}

/* ---- the two ends ------------------------------------------------------------------------ */

static uint8_t byte_of(const struct joined *j, const struct line *line, uint64_t i)
{
    return (uint8_t)(i * 7 + i / 256 + (uint64_t)(line - j->lines) * 31);
}

/* Write some bytes of LINE if there is memory; false when all of it is written. */
static bool write_some(struct joined *j, struct line *line)
{
    struct fnet_builder *builder;

    if (line->written == j->target)
        return false;
    if (fnet_partition_builder(line->partition, line->subpartition, &builder) != FNET_OK)
        return true;
    size_t n = least(1 + next_random(j) % 200, fnet_builder_room(builder));
    n = least(n, (size_t)(j->target - line->written));
    uint8_t *pos = fnet_builder_pos(builder);
    for (size_t i = 0; i < n; i++)
        pos[i] = byte_of(j, line, line->written++);
    fnet_builder_commit(builder, n);
    return true;
}

/* Write a little everywhere; false when all is written and the partitions are finished. */
static bool produce(struct joined *j)
{
    bool is_more = false;

    for (size_t i = 0; i < j->gate.count; i++)
        is_more |= write_some(j, &j->lines[i]);
    for (size_t p = 0; p < j->part_count; p++) {
        struct fnet_partition *partition = j->parts[p].partition;
        if (next_random(j) % 4 == 0)
            fnet_partition_flush(partition);
        if (!is_more && !fnet_partition_is_finished(partition))
            (void)!fnet_partition_finish(partition);
    }
    return is_more;
}

/* Read what is there, up to MOST items. */
static void consume(struct joined *j, unsigned most)
{
    struct fnet_gate_item item;

    while (most-- > 0 && fnet_gate_poll(j->gate.gate, &item) == FNET_OK) {
        struct line *line = &j->lines[fnet_channel_index(item.channel)];
        struct fnet_span span = fnet_buffer_span(&item.buffer);
        if (fnet_data_type_is_buffer(item.buffer.data_type)) {
            CHECK(!line->has_data_ended);
            for (size_t i = 0; i < span.len; i++)
                if (!CHECK_INT(span.ptr[i], byte_of(j, line, line->read++)))
                    break;
        } else if (item.buffer.data_type == FNET_END_OF_DATA) {
            CHECK_INT(line->read, j->target);
            line->has_data_ended = true;
            fnet_channel_acknowledge(item.channel);
        }
        fnet_gate_recycle(j->gate.gate, &item);
    }
}

static bool is_broken(const struct joined *j)
{
    return fnet_session_error(j->producer) != FNET_OK || fnet_session_error(j->consumer) != FNET_OK;
}

/* Live until nothing happens any more, or something broke and the last words were said. */
static void run(struct joined *j)
{
    bool is_alive = true;

    for (unsigned long turns = 0; is_alive && turns < 2000000 && tap_failures == 0; turns++) {
        is_alive = !is_broken(j) && produce(j);
        is_alive |= move(j);
        consume(j, next_random(j) % 3);
        if (!is_alive) {
            consume(j, 1000);
            is_alive = move(j);
        }
    }
    CHECK(!is_alive);
}

static void check_delivered(struct joined *j)
{
    struct fnet_session_counts out = fnet_session_counts(j->producer);
    struct fnet_session_counts in = fnet_session_counts(j->consumer);

    for (size_t i = 0; i < j->gate.count; i++) {
        CHECK_INT(fnet_channel_state(j->gate.channels[i]), FNET_CHANNEL_ENDED);
        CHECK_INT(j->lines[i].read, j->target);
    }
    for (size_t p = 0; p < j->part_count; p++) {
        const struct fnet_partition *partition = j->parts[p].partition;
        CHECK_INT(fnet_partition_count(partition, FNET_SUBPARTITION_DONE),
                  fnet_partition_subpartitions(partition));
        CHECK_INT(fnet_local_pool_used(j->parts[p].pool), 0);
    }
    CHECK_INT(fnet_local_pool_used(j->gate.pool), 0);
    CHECK(fnet_session_is_closing(j->producer) && fnet_session_is_closing(j->consumer));
    CHECK_INT(fnet_session_end_of_stream(j->producer), FNET_OK);
    CHECK_INT(fnet_session_end_of_stream(j->consumer), FNET_OK);
    CHECK_INT(in.bytes_in, out.bytes_out);
    CHECK_INT(in.bytes_out, out.bytes_in);
    CHECK_INT(in.frames_in, out.frames_out);
    CHECK_INT(in.frames_out, out.frames_in);
    CHECK_INT(out.payload_out, j->target * j->gate.count);
    CHECK(fnet_session_dialect(j->producer) == spoken);
}

static void check_whole(const struct plan *plan)
{
    static struct joined j;

    join(&j, plan);
    CHECK_INT(request_all(&j), FNET_OK);
    run(&j);
    check_delivered(&j);
    unjoin(&j);
}

static void test_whole(void)
{
    const size_t steps[] = {1, 2, 7, 47, 4096, PIPE_BYTES};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct plan plan = {.parts = 1,
                            .subpartitions = 1,
                            .exclusive = 2,
                            .floating = 8,
                            .step = steps[i],
                            .room = PIPE_BYTES,
                            .target = 5000};
        CASE("one channel: all bytes, once, in order, however few move at a time");
        check_whole(&plan);
        CASE("nothing at all is also delivered");
        plan.target = 0;
        check_whole(&plan);
        CASE("many channels of two partitions over one connection");
        plan = (struct plan){2, SUBPARTITIONS_MAX, 2, 8, steps[i], PIPE_BYTES, 3000};
        check_whole(&plan);
        CASE("... through pipes that hold next to nothing");
        plan.room = 10;
        check_whole(&plan);
        CASE("... without exclusive buffers, for what backlog announcements bring");
        plan.exclusive = 0;
        plan.floating = 3;
        check_whole(&plan);
        CASE("... and with a single buffer for all of them");
        plan.floating = 1;
        check_whole(&plan);
        CASE("... or one exclusive buffer each, and no other");
        plan.exclusive = 1;
        plan.floating = 0;
        check_whole(&plan);
    }
}

static void test_dialects(void)
{
    const size_t steps[] = {1, 47, PIPE_BYTES};

    for (size_t i = 0; (spoken = fnet_dialect_at(i)); i++) {
        CASE(spoken->name);
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            struct plan plan = {2, SUBPARTITIONS_MAX, 2, 8, steps[s], PIPE_BYTES, 3000};
            check_whole(&plan);
            plan.room = 10;
            check_whole(&plan);
            plan.exclusive = 1;
            plan.floating = 0;
            check_whole(&plan);
            plan.target = 0;
            check_whole(&plan);
            plan.target = 1000;
            plan.exclusive = 0;
            plan.floating = 1;
            if (fnet_dialect_has_message(spoken, FNET_BACKLOG_ANNOUNCEMENT))
                check_whole(&plan);
        }
    }
}

/* ---- back pressure ------------------------------------------------------------------------ */

static void test_back_pressure(void)
{
    static struct joined j;
    const struct plan plan = {1, 4, 2, 3, PIPE_BYTES, PIPE_BYTES, 100000};

    CASE("while nobody reads, only as much is on its way as there are buffers for");
    join(&j, &plan);
    CHECK_INT(request_all(&j), FNET_OK);
    for (int i = 0; i < 1000; i++) {
        produce(&j);
        fnet_partition_flush(j.parts[0].partition);
        move(&j);
    }
    uint32_t queued = 0;
    for (size_t i = 0; i < j.gate.count; i++)
        queued += fnet_channel_counts(j.gate.channels[i]).queued;
    CHECK_INT(queued, 4 * 2 + 3);
    CHECK_INT(fnet_local_pool_used(j.gate.pool), 4 * 2 + 3);
    for (size_t i = 0; i < j.gate.count; i++)
        CHECK(j.lines[i].written < 20 * MADE_SEGMENT_BYTES);

    CASE("when reading begins everything goes on");
    run(&j);
    check_delivered(&j);
    unjoin(&j);
}

static void test_stalled_gate(void)
{
    static struct joined j;
    struct made_gate stalled;
    const struct plan plan = {1, 1, 2, 2, 47, PIPE_BYTES, 50000};

    CASE("a gate that nobody reads does not delay another on the same connection");
    join(&j, &plan);
    make_gate(&stalled, 1, 2, 2);
    struct made_partition other;
    make_partition(&other, "other", 1, 12, 10);
    CHECK_INT(put_into(other.partition, 0, 'x', 10 * MADE_SEGMENT_BYTES), FNET_OK);
    CHECK_INT(fnet_registry_add(&j.registry, other.partition), FNET_OK);
    CHECK_INT(fnet_consumer_session_add(j.consumer, stalled.channels[0]), FNET_OK);
    CHECK_INT(fnet_consumer_session_request(j.consumer, stalled.channels[0],
                                            fnet_partition_id(other.partition), 0),
              FNET_OK);
    CHECK_INT(request_all(&j), FNET_OK);
    run(&j);
    CHECK_INT(j.lines[0].read, j.target);
    CHECK_INT(fnet_channel_state(j.gate.channels[0]), FNET_CHANNEL_ENDED);
    CHECK_INT(fnet_channel_state(stalled.channels[0]), FNET_CHANNEL_OPEN);
    CHECK_INT(fnet_channel_counts(stalled.channels[0]).queued, 4);

    CASE("the connection stays as long as its channel is open, and ends with it");
    CHECK(!fnet_session_is_closing(j.consumer));
    fnet_channel_cancel(stalled.channels[0]);
    run(&j);
    CHECK(fnet_session_is_closing(j.consumer) && fnet_session_is_closing(j.producer));
    CHECK_INT(fnet_partition_state(other.partition, 0), FNET_SUBPARTITION_CANCELLED);
    unjoin(&j);
    unmake_gate(&stalled);
    unmake_partition(&other);
}

static void test_many_refusals(void)
{
    static struct joined j;
    struct fnet_partition_id missing;
    const struct plan plan = {1, 8, 1, 0, 1000, 1000, 0};

    CASE("more refusals than pipes and outboxes hold do not make the two wait for each other");
    join(&j, &plan);
    CHECK_INT(fnet_partition_id_from_name("missing", &missing), FNET_OK);
    for (size_t i = 0; i < j.gate.count; i++)
        CHECK_INT(fnet_consumer_session_add(j.consumer, j.gate.channels[i]), FNET_OK);
    for (int n = 0; n < 100; n++)
        for (size_t i = 0; i < j.gate.count; i++)
            CHECK_INT(fnet_consumer_session_request(j.consumer, j.gate.channels[i], &missing, 0),
                      FNET_OK);
    while (move(&j))
        ;
    CHECK_INT(j.channel_errors, 800);
    CHECK_INT(j.last_error, FNET_NO_PARTITION);
    unjoin(&j);
}

/* ---- early ends --------------------------------------------------------------------------- */

static void test_cancel(void)
{
    static struct joined j;
    const struct plan plan = {2, 4, 1, 4, 100, 1000, 4000};

    CASE("channels that are cancelled at any time leave the others whole, and no memory behind");
    for (uint32_t seed = 1; seed <= 60 && tap_failures == 0; seed++) {
        join(&j, &plan);
        j.random = seed;
        CHECK_INT(request_all(&j), FNET_OK);
        for (uint32_t i = 0; i < seed * 10; i++) {
            produce(&j);
            move(&j);
            consume(&j, next_random(&j) % 3);
            if (next_random(&j) % 64 == 0)
                fnet_channel_cancel(j.gate.channels[next_random(&j) % j.gate.count]);
        }
        run(&j);
        for (size_t i = 0; i < j.gate.count; i++) {
            enum fnet_subpartition_state state =
                fnet_partition_state(j.lines[i].partition, j.lines[i].subpartition);
            if (fnet_channel_state(j.gate.channels[i]) == FNET_CHANNEL_ENDED)
                CHECK(j.lines[i].read == j.target && state == FNET_SUBPARTITION_DONE);
            else if (fnet_session_is_closing(j.producer))
                CHECK(state == FNET_SUBPARTITION_CANCELLED || state == FNET_SUBPARTITION_DONE);
        }
        CHECK(fnet_session_is_closing(j.consumer));
        /* Where nothing acknowledges, one that was cancelled last ends the connection instead. */
        if (fnet_dialect_has_message(fnet_session_dialect(j.consumer),
                                     FNET_ACK_ALL_USER_RECORDS_PROCESSED))
            CHECK(fnet_session_is_closing(j.producer));
        else if (!fnet_session_is_closing(j.producer))
            CHECK_INT(fnet_session_end_of_stream(j.producer), FNET_LOST);
        unjoin(&j);
    }
}

static void test_abort(void)
{
    static struct joined j;
    const struct plan plan = {1, 2, 2, 2, 7, 1000, 100000};

    CASE("an abort in mid-stream reaches the consumer in words");
    join(&j, &plan);
    CHECK_INT(request_all(&j), FNET_OK);
    for (int i = 0; i < 500; i++) {
        produce(&j);
        move(&j);
        consume(&j, 1);
    }
    fnet_producer_session_abort(j.producer, "record 7: too long");
    while (move(&j))
        ;
    CHECK_INT(fnet_session_error(j.consumer), FNET_REMOTE);
    CHECK_STR(fnet_session_error_text(j.consumer), "record 7: too long");
    CHECK_INT(fnet_session_end_of_stream(j.consumer), FNET_REMOTE);
    fnet_session_free(j.consumer);
    j.consumer = NULL;
    CHECK_INT(fnet_channel_error(j.gate.channels[0]), FNET_REMOTE);
    unjoin(&j);
}

/* Without its connection a channel is at its end if that was received, else it failed. */
static void check_left(struct joined *j, enum fnet_err err)
{
    bool has_failed = false;

    fnet_session_free(j->consumer);
    j->consumer = NULL;
    for (size_t i = 0; i < j->gate.count; i++)
        has_failed |= fnet_channel_state(j->gate.channels[i]) == FNET_CHANNEL_FAILED;
    CHECK(has_failed || err == FNET_OK || err == FNET_TRUNCATED);
    CHECK(!has_failed || err != FNET_OK);
}

/* The connection breaks when CUT bytes of responses have arrived; false if there are no more. */
static bool check_broken(uint64_t cut)
{
    static struct joined j;
    const struct plan plan = {1, 2, 2, 2, 1, 1, 300};
    bool is_alive = true;

    join(&j, &plan);
    CHECK_INT(request_all(&j), FNET_OK);
    while (j.responses.total < cut && is_alive) {
        is_alive = produce(&j);
        is_alive |= move(&j);
        consume(&j, 1);
    }
    if (j.responses.total == cut) {
        bool is_done = fnet_channel_state(j.gate.channels[0]) == FNET_CHANNEL_ENDED &&
                       fnet_channel_state(j.gate.channels[1]) == FNET_CHANNEL_ENDED;
        enum fnet_err err = fnet_session_end_of_stream(j.consumer);
        /* Where nothing can be acknowledged any more it is enough to have received all. */
        bool can_say = fnet_dialect_has_message(spoken, FNET_ACK_ALL_USER_RECORDS_PROCESSED);
        CHECK(err == FNET_OK ? is_done || !can_say : err == FNET_LOST || err == FNET_TRUNCATED);
        CHECK(!is_done || err == FNET_OK);
        CHECK((fnet_session_error_text(j.consumer)[0] == '\0') == (err == FNET_OK));
        check_left(&j, err);
        bool is_acknowledged =
            fnet_partition_count(j.parts[0].partition, FNET_SUBPARTITION_WAITING) +
                fnet_partition_count(j.parts[0].partition, FNET_SUBPARTITION_READING) ==
            0;
        err = fnet_session_end_of_stream(j.producer);
        CHECK(!is_acknowledged || err == FNET_OK || err == FNET_TRUNCATED);
    }
    unjoin(&j);
    return is_alive;
}

static void test_broken(void)
{
    uint64_t cut = 0;

    CASE("a connection that breaks at any byte is noticed, unless all was received before");
    while (check_broken(cut) && tap_failures == 0)
        cut++;
    CHECK(cut > 2 * 300);
}

static void test_no_memory(void)
{
    static struct joined j;
    const struct plan plan = {2, 2, 1, 2, 4096, PIPE_BYTES, 1500};
    unsigned n = 0;

    CASE("without memory somewhere it ends early, but without leak, and nobody waits for good");
    do {
        join(&j, &plan);
        failmalloc_arm(++n);
        enum fnet_err err = request_all(&j);
        if (err == FNET_OK)
            run(&j);
        bool did_fail = failmalloc_disarm();
        CHECK(err == FNET_OK || did_fail);
        if (!did_fail)
            check_delivered(&j);
        else if (is_broken(&j))
            CHECK(fnet_session_error(j.producer) == FNET_NOMEM ||
                  fnet_session_error(j.consumer) == FNET_NOMEM);
        unjoin(&j);
        if (!did_fail)
            break;
    } while (n < 10000 && tap_failures == 0);
    CHECK(n < 10000);
}

/* The oldest dialect, in which the leave is the acknowledgement, has ends of its own. */
static void test_early_ends(const struct fnet_dialect *dialect)
{
    spoken = dialect;
    test_cancel();
    test_abort();
    test_broken();
    test_no_memory();
}

int main(void)
{
    test_dialects();
    spoken = fnet_dialect_newest();
    test_whole();
    test_back_pressure();
    test_stalled_gate();
    test_many_refusals();
    test_early_ends(fnet_dialect_newest());
    test_early_ends(fnet_dialect_at(0));
    return tap_done();
}
