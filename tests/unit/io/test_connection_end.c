/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How connections end: peers that leave in every phase, resets, last words, and those who do not
 * take leave.
 */
#include <stdlib.h>

#include "ends.h"
#include "frames.h"

static const struct fnet_id receiver = {{1}};

/* ---- the peer leaves ---------------------------------------------------------------------- */

/* Say LEN bytes of FRAMES, of which the first ANSWERED are to be answered before the rest. */
static void leave_after(struct world *w, int fd, const struct frames *frames, size_t answered,
                        size_t len)
{
    struct frames heard = {.len = 0};
    size_t first = len < answered ? len : answered;

    say_bytes(fd, frames, first);
    turn(w->loop, 3);
    CHECK_INT(send(fd, frames->bytes + first, len - first, MSG_NOSIGNAL), len - first);
    turn(w->loop, 3);
    hear(fd, &heard);
    close(fd);
}

static void consumer_leaves(enum fnet_loop_backend backend)
{
    struct frames frames = {.len = 0};
    size_t request, acknowledge;

    CASE("a consumer that leaves at any byte: lost while its reading is unfinished");
    add_request(&frames, &receiver, NAME, 0);
    request = frames.len;
    add_plain(&frames, FNET_ACK_ALL_USER_RECORDS_PROCESSED, &receiver);
    acknowledge = frames.len;
    add_plain(&frames, FNET_CLOSE_REQUEST, NULL);
    for (size_t cut = 0; cut <= frames.len; cut++) {
        struct end producer;
        struct world w;
        int fds[2];
        bool is_whole = cut == 0 || cut == request || cut == acknowledge || cut == frames.len;
        enum fnet_err err = cut == request ? FNET_LOST : FNET_OK;

        connect_pair(AF_UNIX, 0, fds);
        make_world(&w, backend, 0);
        open_producer(&w, &producer, fds[0], NULL);
        leave_after(&w, fds[1], &frames, request, cut);
        check_end(&producer, is_whole ? err : FNET_TRUNCATED, 0);
        free_world(&w);
    }
}

static void producer_leaves(enum fnet_loop_backend backend)
{
    CASE("a producer that leaves at any byte: lost before the end of every channel");
    for (size_t cut = 0, len = 0; cut <= len; cut++) {
        struct end consumer;
        struct world w;
        struct frames frames = {.len = 0};
        bool is_whole = cut == 0;
        int fds[2];

        connect_pair(AF_UNIX, 0, fds);
        make_world(&w, backend, 0);
        open_consumer(&w, &consumer, fds[1], NULL);
        for (size_t i = 0; i < SUBPARTITIONS; i++) {
            const struct fnet_id *id = fnet_channel_id(fnet_gate_channel(w.gate, i));
            const uint8_t bytes[] = {byte_at(i, 0), byte_at(i, 1)};
            add_buffer(&frames, id, 0, FNET_DATA_BUFFER, fnet_span_of(bytes, sizeof bytes));
            is_whole |= cut == frames.len;
            add_buffer(&frames, id, 1, FNET_END_OF_DATA, fnet_span_of("\0\0\0\10\0", 5));
            is_whole |= cut == frames.len;
            add_buffer(&frames, id, 2, FNET_END_OF_PARTITION, fnet_span_of("\0\0\0\0", 4));
            is_whole |= cut == frames.len;
        }
        len = frames.len;
        leave_after(&w, fds[0], &frames, 0, cut);
        if (cut == len)
            check_end(&consumer, FNET_OK, 0);
        else
            check_end(&consumer, is_whole ? FNET_LOST : FNET_TRUNCATED, 0);
        free_world(&w);
    }
}

/* ---- resets -------------------------------------------------------------------------------- */

/* Let a consumer with so many REQUESTS unsent be reset, perhaps behind last words. */
static void be_reset(enum fnet_loop_backend backend, int requests, bool has_words)
{
    struct frames frames = {.len = 0};
    struct fnet_partition_id id;
    struct end consumer;
    struct world w;
    int fds[2];

    connect_pair(AF_INET, 0, fds);
    make_world(&w, backend, 0);
    open_consumer(&w, &consumer, fds[1], NULL);
    CHECK_INT(fnet_partition_id_from_name(NAME, &id), FNET_OK);
    for (int i = 0; i < requests; i++)
        CHECK_INT(
            fnet_consumer_session_request(consumer.session, fnet_gate_channel(w.gate, 0), &id, 0),
            FNET_OK);
    add_error(&frames, "the disk is full");
    if (has_words)
        say(fds[0], &frames);
    reset(fds[0]);
    check_end(&consumer, has_words ? FNET_REMOTE : FNET_LOST, has_words ? 0 : ECONNRESET);
    if (has_words)
        CHECK_STR(consumer.text, "the disk is full");
    free_world(&w);
}

static void resets(enum fnet_loop_backend backend)
{
    struct frames frames = {.len = 0};
    struct end consumer;
    struct world w;
    int fds[2];

    CASE("an error that arrived before a reset is what is reported");
    be_reset(backend, 0, true);
    CASE("also when much is still to be sent");
    be_reset(backend, 200, true);
    CASE("a reset without a word is told as such");
    be_reset(backend, 0, false);
    be_reset(backend, 200, false);

    CASE("a unix socket closed with what we said unread: its last words are heard");
    connect_pair(AF_UNIX, 0, fds);
    make_world(&w, backend, 0);
    open_consumer(&w, &consumer, fds[1], NULL);
    turn(w.loop, 2);
    add_error(&frames, "the disk is full");
    say(fds[0], &frames);
    close(fds[0]);
    check_end(&consumer, FNET_REMOTE, 0);
    free_world(&w);
}

static void deaf_peer(enum fnet_loop_backend backend)
{
    struct frames frames = {.len = 0};
    struct end producer;
    struct world w;
    int fds[2];

    CASE("a peer that reads no more is heard to where it was, not for ever");
    connect_pair(AF_UNIX, 0, fds);
    make_world(&w, backend, 0);
    open_producer(&w, &producer, fds[0], NULL);
    shutdown(fds[1], SHUT_RD);
    add_request(&frames, &receiver, NAME, 0);
    say(fds[1], &frames);
    check_end(&producer, FNET_LOST, 0);
    close(fds[1]);
    free_world(&w);
}

/* ---- last words ---------------------------------------------------------------------------- */

static void half_closed(enum fnet_loop_backend backend, int family)
{
    const struct fnet_message describe = {.type = FNET_DESCRIPTION_REQUEST, .describe.all = true};
    struct frames frames = {.len = 0}, heard = {.len = 0};
    struct fnet_message answer = {.type = FNET_CLOSE_REQUEST};
    struct end producer;
    struct world w;
    size_t offset = 0;
    int fds[2];

    CASE("a peer that closed its half behind a question gets the answer");
    connect_pair(family, 0, fds);
    make_world(&w, backend, 0);
    open_producer(&w, &producer, fds[0], NULL);
    add_frame(&frames, &describe);
    say(fds[1], &frames);
    shutdown(fds[1], SHUT_WR);
    check_end(&producer, FNET_OK, 0);
    hear(fds[1], &heard);
    CHECK(heard.has_end && take_frame(&heard, &offset, &answer));
    CHECK_INT(answer.type, FNET_DESCRIPTION_RESPONSE);
    close(fds[1]);

    CASE("behind nonsense too");
    connect_pair(family, 0, fds);
    open_producer(&w, &producer, fds[0], NULL);
    CHECK_INT(send(fds[1], "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
    shutdown(fds[1], SHUT_WR);
    await_end(&producer);
    CHECK(producer.err == FNET_BAD_MAGIC || producer.err == FNET_BAD_LENGTH);
    heard.len = 0;
    hear(fds[1], &heard);
    CHECK(heard.has_end);
    check_last_words(&heard, producer.text);
    close(fds[1]);
    free_world(&w);
}

static size_t say_nonsense(int fd)
{
    static const uint8_t nonsense[4096] = {'?'};
    size_t sent = 0;
    ssize_t n;

    while (sent < 256u << 10 &&
           (n = send(fd, nonsense, sizeof nonsense, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
        sent += (size_t)n;
    return sent;
}

static void unread(enum fnet_loop_backend backend)
{
    struct frames heard = {.len = 0};
    struct end producer;
    struct world w;
    int fds[2];

    CASE("what nobody will read does not take our last words back");
    connect_pair(AF_INET, 0, fds);
    make_world(&w, backend, 0);
    open_producer(&w, &producer, fds[0], NULL);
    for (int i = 0; i < 3; i++) {
        CHECK(say_nonsense(fds[1]) > 0);
        turn(w.loop, 3);
    }
    CHECK_INT(producer.closed, 0);
    hear(fds[1], &heard);
    CHECK_INT(heard.error, 0);
    CHECK(heard.has_end);
    close(fds[1]);
    await_end(&producer);
    CHECK(producer.err == FNET_BAD_MAGIC || producer.err == FNET_BAD_LENGTH);
    check_last_words(&heard, producer.text);
    free_world(&w);
}

/* ---- those who do not take leave ----------------------------------------------------------- */

static void linger(enum fnet_loop_backend backend)
{
    struct frames heard = {.len = 0};
    struct end producer;
    struct world w;
    int fds[2];

    CASE("a peer that does not close is waited for a while, at rest");
    connect_pair(AF_INET, 0, fds);
    make_world(&w, backend, 0);
    open_producer(&w, &producer, fds[0], NULL);
    turn(w.loop, 2);
    fnet_producer_session_abort(producer.session, "no more");
    turn(w.loop, 3);
    check_it_rests(w.loop);
    hear(fds[1], &heard);
    CHECK(heard.has_end);
    check_last_words(&heard, "no more");
    skip(w.loop, FNET_LINGER_NS - 1000 * (uint64_t)MS);
    CHECK_INT(producer.closed, 0);
    skip(w.loop, 1000 * (uint64_t)MS);
    check_end(&producer, FNET_STATE, 0);
    CHECK_STR(producer.text, "no more");
    close(fds[1]);

    CASE("after an orderly end as well");
    connect_pair(AF_INET, 0, fds);
    open_producer(&w, &producer, fds[0], NULL);
    fnet_producer_session_close(producer.session);
    turn(w.loop, 3);
    CHECK_INT(producer.closed, 0);
    heard.len = 0;
    hear(fds[1], &heard);
    CHECK(heard.has_end && heard.len == 0);
    skip(w.loop, FNET_LINGER_NS);
    check_end(&producer, FNET_OK, 0);
    close(fds[1]);
    free_world(&w);
}

static void stubborn(enum fnet_loop_backend backend)
{
    struct frames frames = {.len = 0};
    struct end producer;
    struct world w;
    int fds[2];

    CASE("nor longer for one that does not even read, so that our last words stay unsent");
    connect_pair(AF_UNIX, 1, fds);
    make_world(&w, backend, 100 * SEGMENT_BYTES);
    open_producer(&w, &producer, fds[0], NULL);
    add_request(&frames, &receiver, NAME, 0);
    add_frame(&frames,
              &(struct fnet_message){.type = FNET_ADD_CREDIT, .receiver = receiver, .credit = 100});
    say(fds[1], &frames);
    turn(w.loop, 10);
    fnet_producer_session_abort(producer.session, "no more");
    turn(w.loop, 3);
    check_it_rests(w.loop);
    CHECK_INT(producer.closed, 0);
    skip(w.loop, FNET_LINGER_NS);
    check_end(&producer, FNET_STATE, 0);
    close(fds[1]);

    CASE("whatever it goes on saying");
    connect_pair(AF_UNIX, 0, fds);
    open_producer(&w, &producer, fds[0], NULL);
    for (int i = 0; i < 10; i++) {
        CHECK(say_nonsense(fds[1]) > 0);
        skip(w.loop, FNET_LINGER_NS / 9);
    }
    CHECK_INT(producer.closed, 1);
    CHECK(producer.err == FNET_BAD_MAGIC || producer.err == FNET_BAD_LENGTH);
    close(fds[1]);
    free_world(&w);
}

/* ---- two sessions -------------------------------------------------------------------------- */

enum leaver {
    PRODUCER_ABORTS,
    CONSUMER_CANCELS,
    PRODUCER_DIES,
    CONSUMER_DIES,
};

static void part(enum fnet_loop_backend backend, enum leaver leaver, enum fnet_err producer_err,
                 enum fnet_err consumer_err)
{
    struct end producer, consumer;
    struct world w;
    int fds[2];

    connect_pair(AF_INET, 0, fds);
    make_world(&w, backend, 1u << 20);
    open_producer(&w, &producer, fds[0], NULL);
    open_consumer(&w, &consumer, fds[1], NULL);
    while (w.got[0] < 10 * SEGMENT_BYTES)
        turn(w.loop, 1);
    switch (leaver) {
    case PRODUCER_ABORTS: fnet_producer_session_abort(producer.session, "out of paper"); break;
    case CONSUMER_CANCELS:
        for (size_t i = 0; i < SUBPARTITIONS; i++)
            fnet_channel_cancel(fnet_gate_channel(w.gate, i));
        break;
    case PRODUCER_DIES: fnet_connection_free(producer.connection); break;
    case CONSUMER_DIES: fnet_connection_free(consumer.connection); break;
    }
    if (leaver != PRODUCER_DIES) {
        await_end(&producer);
        CHECK_INT(producer.err, producer_err);
    }
    if (leaver != CONSUMER_DIES) {
        await_end(&consumer);
        CHECK_INT(consumer.err, consumer_err);
        if (leaver == PRODUCER_ABORTS)
            CHECK_STR(consumer.text, "out of paper");
    }
    CHECK_INT(fnet_partition_count(w.partition, FNET_SUBPARTITION_CANCELLED),
              leaver == CONSUMER_CANCELS ? SUBPARTITIONS : 0);
    free_world(&w);
}

static void partings(enum fnet_loop_backend backend)
{
    CASE("the producer aborts in the middle: the consumer learns why");
    part(backend, PRODUCER_ABORTS, FNET_STATE, FNET_REMOTE);
    CASE("the consumer cancels in the middle: both part in order");
    part(backend, CONSUMER_CANCELS, FNET_OK, FNET_OK);
    CASE("one of them dies: the other has lost it");
    part(backend, PRODUCER_DIES, FNET_OK, FNET_LOST);
    part(backend, CONSUMER_DIES, FNET_LOST, FNET_OK);
}

static void cases(enum fnet_loop_backend backend)
{
    int before = count_descriptors();

    consumer_leaves(backend);
    producer_leaves(backend);
    resets(backend);
    deaf_peer(backend);
    half_closed(backend, AF_UNIX);
    half_closed(backend, AF_INET);
    unread(backend);
    linger(backend);
    stubborn(backend);
    partings(backend);
    CASE("no descriptor is left behind");
    CHECK_INT(count_descriptors(), before);
}

int main(void)
{
    WITH_BACKENDS(cases);
    return tap_done();
}
