/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer's machine against a scripted producer: what it asks for, what it says when, which
 * answers it refuses.
 */
#include "../failmalloc.h"
#include "../golden.h"
#include "fetching.h"

/* ---- the whole of one channel ------------------------------------------------------------- */

static void check_life(size_t step)
{
    struct fetching f;

    CASE("a request says what is wanted, for whom, and the exclusive buffers as credit");
    fetch(&f, 2, 2, 0);
    f.peer.step = step;
    must_be_silent(&f.peer);
    CHECK_INT(request(&f, 1), FNET_OK);
    CHECK(f.rings > 0);
    struct fnet_message m = must_hear(&f.peer, FNET_PARTITION_REQUEST, id_of(&f, 1));
    CHECK(fnet_partition_id_is_equal(&m.request.partition, &f.partition));
    CHECK_INT(m.request.first, 1);
    CHECK_INT(m.request.last, 1);
    CHECK_INT(m.request.credit, 2);

    CASE("what was consumed is credit again, in one sum");
    CHECK_INT(send_data(&f, 1, 0, 'a'), FNET_OK);
    CHECK_INT(send_data(&f, 1, 1, 'b'), FNET_OK);
    must_be_silent(&f.peer);
    f.rings = 0;
    must_poll(&f, 1, 'a');
    must_poll(&f, 1, 'b');
    CHECK(f.rings > 0);
    must_hear_credit(&f, 1, 2);
    must_be_silent(&f.peer);

    m = buffer_of(&f, 1, 2, FNET_DATA_BUFFER, MADE_SEGMENT_BYTES);
    CHECK_INT(tell_payload(&f.peer, &m, 'c'), FNET_OK);
    must_poll(&f, 1, 'c');
    must_hear_credit(&f, 1, 1);

    CASE("the end of data is acknowledged when its owner says so");
    CHECK_INT(send(&f, 1, 3, FNET_END_OF_DATA, 'd'), FNET_OK);
    must_poll(&f, 1, 'd');
    must_be_silent(&f.peer);
    fnet_channel_acknowledge(f.gate.channels[1]);
    (void)must_hear(&f.peer, FNET_ACK_ALL_USER_RECORDS_PROCESSED, id_of(&f, 1));

    CASE("a channel at its end is cancelled while others are open");
    CHECK_INT(send(&f, 1, 4, FNET_END_OF_PARTITION, 'e'), FNET_OK);
    (void)must_hear(&f.peer, FNET_CANCEL_PARTITION_REQUEST, id_of(&f, 1));
    CHECK(!fnet_session_is_closing(f.session));

    CASE("the last one takes the connection with it");
    CHECK_INT(send(&f, 0, 0, FNET_END_OF_PARTITION, 'f'), FNET_OK);
    (void)must_hear(&f.peer, FNET_CLOSE_REQUEST, NULL);
    must_be_silent(&f.peer);
    CHECK(fnet_session_is_closing(f.session));
    CHECK_INT(fnet_session_end_of_stream(f.session), FNET_OK);
    CHECK_STR(fnet_session_error_text(f.session), "");
    must_poll(&f, 1, 'e');
    must_poll(&f, 0, 'f');
    CHECK_INT(poll_nothing(&f.gate), FNET_EOF);

    struct fnet_session_counts counts = fnet_session_counts(f.session);
    CHECK_INT(counts.frames_in, 6);
    CHECK_INT(counts.frames_out, 6);
    CHECK_INT(counts.bytes_in, 6 * FNET_BUFFER_RESPONSE_HEAD_BYTES + MADE_SEGMENT_BYTES + 5 * 10);
    CHECK_INT(counts.bytes_out, 97 + 29 + 29 + 25 + 25 + 9);
    stop(&f);
}

static void test_life(void)
{
    const size_t steps[] = {1, 2, 7, 47, 4096, SIZE_MAX};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        check_life(steps[i]);
}

/* ---- words -------------------------------------------------------------------------------- */

static void test_words(void)
{
    struct fetching f;

    CASE("what a channel says while the socket is full comes together when it is not");
    fetch(&f, 1, 3, 0);
    request_all(&f);
    for (int32_t i = 0; i < 3; i++)
        CHECK_INT(send_data(&f, 0, i, 'a'), FNET_OK);
    CHECK_INT(send(&f, 0, 3, FNET_ALIGNED_CHECKPOINT_BARRIER, 'b'), FNET_OK);
    for (int i = 0; i < 3; i++)
        must_poll(&f, 0, 'a');
    must_poll(&f, 0, 'b');
    fnet_channel_resume(f.gate.channels[0]);
    fnet_channel_acknowledge(f.gate.channels[0]);
    must_hear_credit(&f, 0, 3);
    (void)must_hear(&f.peer, FNET_RESUME_CONSUMPTION, id_of(&f, 0));
    (void)must_hear(&f.peer, FNET_ACK_ALL_USER_RECORDS_PROCESSED, id_of(&f, 0));
    must_be_silent(&f.peer);
    stop(&f);

    CASE("the backlog of a buffer brings credit for floating buffers, which is not given twice");
    fetch(&f, 2, 1, 4);
    request_all(&f);
    struct fnet_message m = buffer_of(&f, 1, 0, FNET_DATA_BUFFER, 10);
    m.buffer.backlog = 3;
    CHECK_INT(tell_payload(&f.peer, &m, 'c'), FNET_OK);
    must_hear_credit(&f, 1, 4);
    must_poll(&f, 1, 'c');
    must_be_silent(&f.peer);
    stop(&f);

    CASE("a consumer reads, however many requests it has not been able to send yet");
    fetch(&f, MADE_CHANNELS_MAX, 1, 0);
    for (int n = 0; n < 10; n++)
        for (size_t i = 0; i < MADE_CHANNELS_MAX; i++)
            CHECK_INT(request(&f, i), FNET_OK);
    CHECK(fnet_session_wants_read(f.session));
    stop(&f);
}

static void test_no_exclusive(void)
{
    struct fetching f;

    CASE("without exclusive buffers the request gives no credit; an announcement brings it");
    fetch(&f, 2, 0, 3);
    CHECK_INT(request(&f, 0), FNET_OK);
    CHECK_INT(must_hear(&f.peer, FNET_PARTITION_REQUEST, NULL).request.credit, 0);
    CHECK_INT(announce(&f, 0, 2), FNET_OK);
    must_hear_credit(&f, 0, 2);
    CHECK_INT(announce(&f, 1, 5), FNET_OK);
    must_hear_credit(&f, 1, 1);

    CASE("who waits gets what another has consumed");
    CHECK_INT(send_data(&f, 0, 0, 'a'), FNET_OK);
    must_be_silent(&f.peer);
    must_poll(&f, 0, 'a');
    must_hear_credit(&f, 1, 1);
    must_be_silent(&f.peer);

    CASE("an announcement for a channel that is not there is ignored");
    struct fnet_message m = {.type = FNET_BACKLOG_ANNOUNCEMENT, .backlog = 1};
    CHECK_INT(tell(&f.peer, &m), FNET_OK);
    must_be_silent(&f.peer);
    stop(&f);
}

/* ---- errors that are told ----------------------------------------------------------------- */

static void test_channel_errors(void)
{
    struct fetching f;

    CASE("a missing partition is told to the owner of the channel, who may ask again");
    fetch(&f, 2, 2, 0);
    request_all(&f);
    CHECK_INT(send_error(&f, id_of(&f, 0), true, "Partition x not found."), FNET_OK);
    CHECK_INT(f.told.channel_errors, 1);
    CHECK(f.told.channel == f.gate.channels[0]);
    CHECK_INT(f.told.err, FNET_NO_PARTITION);
    CHECK_STR(f.told.text, "Partition x not found.");
    CHECK_INT(fnet_channel_state(f.gate.channels[0]), FNET_CHANNEL_OPEN);
    CHECK_INT(request(&f, 0), FNET_OK);
    (void)must_hear(&f.peer, FNET_PARTITION_REQUEST, id_of(&f, 0));
    CHECK_INT(send_data(&f, 0, 0, 'a'), FNET_OK);
    must_poll(&f, 0, 'a');
    must_hear_credit(&f, 0, 1);

    CASE("another error of a channel is the producer's; a channel that fails is released");
    f.told.fails_channel = true;
    CHECK_INT(send_error(&f, id_of(&f, 0), false, "refused"), FNET_OK);
    CHECK_INT(f.told.err, FNET_REMOTE);
    CHECK_INT(fnet_channel_error(f.gate.channels[0]), FNET_REMOTE);
    (void)must_hear(&f.peer, FNET_CANCEL_PARTITION_REQUEST, id_of(&f, 0));
    CHECK_INT(request(&f, 0), FNET_STATE);

    CASE("an error of a channel that is over, or of none, is not told");
    CHECK_INT(send_error(&f, id_of(&f, 0), false, "refused"), FNET_OK);
    CHECK_INT(send_error(&f, &(struct fnet_id){.bytes = {7}}, false, "refused"), FNET_OK);
    CHECK_INT(f.told.channel_errors, 2);
    CHECK_INT(f.told.description_errors, 0);

    CASE("when the last channel fails the connection ends");
    CHECK_INT(send_error(&f, id_of(&f, 1), false, "refused"), FNET_OK);
    (void)must_hear(&f.peer, FNET_CLOSE_REQUEST, NULL);
    CHECK(fnet_session_is_closing(f.session));
    CHECK_INT(fnet_session_end_of_stream(f.session), FNET_OK);
    stop(&f);
}

static void test_fatal_error(void)
{
    struct fetching f;

    CASE("an error of the whole connection kills the session with the producer's words");
    fetch(&f, 2, 2, 0);
    request_all(&f);
    CHECK_INT(send_data(&f, 0, 0, 'a'), FNET_OK);
    CHECK_INT(send(&f, 1, 0, FNET_END_OF_PARTITION, 'b'), FNET_OK);
    CHECK_INT(send_error(&f, NULL, false, "the input broke"), FNET_REMOTE);
    CHECK_INT(fnet_session_error(f.session), FNET_REMOTE);
    CHECK_STR(fnet_session_error_text(f.session), "the input broke");
    CHECK(fnet_session_is_closing(f.session));
    CHECK(!fnet_session_wants_read(f.session));
    CHECK(fnet_consumer_session_culprit(f.session) == NULL);

    CASE("... and its open channels when it goes; what they had can be polled");
    part(&f.peer);
    CHECK_INT(fnet_channel_state(f.gate.channels[0]), FNET_CHANNEL_FAILED);
    CHECK_INT(fnet_channel_error(f.gate.channels[0]), FNET_REMOTE);
    CHECK_INT(fnet_channel_state(f.gate.channels[1]), FNET_CHANNEL_ENDED);
    must_poll(&f, 0, 'a');
    must_poll(&f, 1, 'b');
    CHECK_INT(poll_nothing(&f.gate), FNET_EOF);
    unmake_gate(&f.gate);

    CASE("an error that has no message is its class");
    fetch(&f, 1, 2, 0);
    CHECK_INT(send_error(&f, NULL, false, ""), FNET_REMOTE);
    CHECK_STR(fnet_session_error_text(f.session), "java.io.IOException");
    stop(&f);

    CASE("an error that was caused by another one says so");
    struct fnet_span stream = golden_load("tests/golden/wire/throwables.txt", "suppressed");
    const struct fnet_message caused = {.type = FNET_ERROR_RESPONSE, .error.throwable = stream};
    fetch(&f, 1, 2, 0);
    CHECK_INT(tell(&f.peer, &caused), FNET_REMOTE);
    CHECK_STR(fnet_session_error_text(f.session), "outer, caused by java.io.IOException: cause");
    stop(&f);
    free((void *)(uintptr_t)stream.ptr);

    CASE("an error that cannot be read is malformed");
    fetch(&f, 1, 2, 0);
    const struct fnet_message garbage = {.type = FNET_ERROR_RESPONSE,
                                         .error = {.throwable = fnet_span_of("garbage", 7)}};
    CHECK_INT(tell(&f.peer, &garbage), FNET_BAD_VALUE);
    CHECK_STR(fnet_session_error_text(f.session), "ErrorResponse without a readable Throwable");
    stop(&f);
}

/* ---- what is wrong ------------------------------------------------------------------------ */

static void test_malformed(void)
{
    struct fetching f;

    CASE("a wrong magic number");
    (void)fetch_two(&f);
    must_die(&f, feed(f.session, "HTTP/1.1 400 Bad Request\r\n", 26, 5), FNET_BAD_MAGIC,
             fnet_strerror(FNET_BAD_MAGIC), -1);

    CASE("a frame of 2 GB");
    (void)fetch_two(&f);
    must_die(&f, feed(f.session, "\x7f\xff\xff\xff\xba\xdc\x0f\xfe\x01", 9, SIZE_MAX),
             FNET_BAD_LENGTH, fnet_strerror(FNET_BAD_LENGTH), -1);

    CASE("what only a consumer says");
    static const struct fnet_message requests[] = {
        {.type = FNET_PARTITION_REQUEST},
        {.type = FNET_TASK_EVENT_REQUEST},
        {.type = FNET_CANCEL_PARTITION_REQUEST},
        {.type = FNET_CLOSE_REQUEST},
        {.type = FNET_ADD_CREDIT, .credit = 1},
        {.type = FNET_RESUME_CONSUMPTION},
        {.type = FNET_ACK_ALL_USER_RECORDS_PROCESSED},
        {.type = FNET_NEW_BUFFER_SIZE, .buffer_size = 1},
        {.type = FNET_SEGMENT_ID, .segment = {.subpartition = 0, .segment = 1}},
        {.type = FNET_DESCRIPTION_REQUEST, .describe = {.all = true}}};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s from a producer", fnet_message_type_name(requests[i].type));
        (void)fetch_two(&f);
        must_die(&f, tell(&f.peer, &requests[i]), FNET_BAD_KIND, text, -1);
    }

    CASE("a description that nobody asked for");
    (void)fetch_two(&f);
    const struct fnet_message description = {.type = FNET_DESCRIPTION_RESPONSE};
    must_die(&f, tell(&f.peer, &description), FNET_BAD_KIND, "not asked for", -1);
}

/* ---- leaving ------------------------------------------------------------------------------ */

static void test_cancel(void)
{
    struct fetching f;
    uint8_t head[FNET_BUFFER_RESPONSE_HEAD_BYTES];

    CASE("a channel that is cancelled says so; what is on its way is thrown away");
    fetch(&f, 2, 2, 1);
    request_all(&f);
    CHECK_INT(send_data(&f, 0, 0, 'a'), FNET_OK);
    fnet_channel_cancel(f.gate.channels[0]);
    (void)must_hear(&f.peer, FNET_CANCEL_PARTITION_REQUEST, id_of(&f, 0));
    CHECK_INT(send_data(&f, 0, 1, 'b'), FNET_OK);
    CHECK_INT(send(&f, 0, 2, FNET_END_OF_PARTITION, 'c'), FNET_OK);
    CHECK_INT(announce(&f, 0, 5), FNET_OK);
    CHECK_INT(poll_nothing(&f.gate), FNET_AGAIN);
    must_be_silent(&f.peer);

    CASE("... even when it is cancelled in the middle of a payload");
    const struct fnet_message m = buffer_of(&f, 1, 0, FNET_DATA_BUFFER, 100);
    struct fnet_writer w = fnet_writer_of(head, sizeof head);
    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &m, &w), FNET_OK);
    CHECK_INT(feed(f.session, head, sizeof head, SIZE_MAX), FNET_OK);
    CHECK_INT(fnet_local_pool_used(f.gate.pool), 1);
    fnet_channel_cancel(f.gate.channels[1]);
    static const uint8_t rest[100];
    CHECK_INT(feed(f.session, rest, 50, 7), FNET_OK);
    CHECK_INT(fnet_local_pool_used(f.gate.pool), 1);
    CHECK_INT(feed(f.session, rest, 50, 7), FNET_OK);
    CHECK_INT(fnet_local_pool_used(f.gate.pool), 0);
    (void)must_hear(&f.peer, FNET_CLOSE_REQUEST, NULL);
    CHECK_INT(fnet_session_end_of_stream(f.session), FNET_OK);
    stop(&f);
}

static void test_close(void)
{
    struct fetching f;

    CASE("a session that is closed asks for nothing more");
    fetch_some(&f, 2, 1, 2, 0);
    fnet_consumer_session_close(f.session);
    fnet_consumer_session_close(f.session);
    (void)must_hear(&f.peer, FNET_CLOSE_REQUEST, NULL);
    must_be_silent(&f.peer);
    CHECK_INT(request(&f, 0), FNET_STATE);
    CHECK_INT(fnet_consumer_session_add(f.session, f.gate.channels[1]), FNET_STATE);

    CASE("channels that are released then need no word");
    fnet_channel_cancel(f.gate.channels[0]);
    must_be_silent(&f.peer);
    stop(&f);
}

static void test_end_of_stream(void)
{
    struct fetching f;
    uint8_t head[FNET_BUFFER_RESPONSE_HEAD_BYTES];

    CASE("a producer that just ends is lost, with every channel that was not at its end");
    fetch(&f, 2, 2, 0);
    request_all(&f);
    CHECK_INT(send(&f, 1, 0, FNET_END_OF_PARTITION, 'a'), FNET_OK);
    CHECK_INT(fnet_session_end_of_stream(f.session), FNET_LOST);
    CHECK_STR(fnet_session_error_text(f.session), fnet_strerror(FNET_LOST));
    CHECK_INT(fnet_session_end_of_stream(f.session), FNET_LOST);
    part(&f.peer);
    CHECK_INT(fnet_channel_error(f.gate.channels[0]), FNET_LOST);
    CHECK_INT(fnet_channel_state(f.gate.channels[1]), FNET_CHANNEL_ENDED);
    unmake_gate(&f.gate);

    CASE("an end in the middle of a payload is a cut frame");
    fetch(&f, 1, 2, 0);
    const struct fnet_message m = buffer_of(&f, 0, 0, FNET_DATA_BUFFER, 100);
    struct fnet_writer w = fnet_writer_of(head, sizeof head);
    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &m, &w), FNET_OK);
    CHECK_INT(feed(f.session, head, sizeof head, SIZE_MAX), FNET_OK);
    CHECK_INT(feed(f.session, head, 20, SIZE_MAX), FNET_OK);
    CHECK_INT(fnet_session_end_of_stream(f.session), FNET_TRUNCATED);
    stop(&f);

    CASE("... and in the middle of a head");
    fetch(&f, 1, 2, 0);
    CHECK_INT(feed(f.session, head, 20, SIZE_MAX), FNET_OK);
    CHECK_INT(fnet_session_end_of_stream(f.session), FNET_TRUNCATED);
    stop(&f);

    CASE("an answer that is due is a loss, too");
    fetch(&f, 0, 2, 1);
    CHECK_INT(fnet_session_end_of_stream(f.session), FNET_OK);
    CHECK_INT(fnet_consumer_session_describe(f.session, &(struct fnet_id){.bytes = {1}}, NULL),
              FNET_OK);
    CHECK_INT(fnet_session_end_of_stream(f.session), FNET_LOST);
    stop(&f);

    CASE("a session that is freed without an error loses its channels");
    fetch(&f, 1, 2, 0);
    part(&f.peer);
    CHECK_INT(fnet_channel_error(f.gate.channels[0]), FNET_LOST);
    unmake_gate(&f.gate);
}

/* ---- descriptions -------------------------------------------------------------------------- */

static enum fnet_err describe(struct fetching *f, const struct fnet_id *request, int32_t remaining)
{
    const struct fnet_message m = {.type = FNET_DESCRIPTION_RESPONSE,
                                   .receiver = *request,
                                   .description = {.remaining = remaining,
                                                   .subpartitions = 1,
                                                   .name = fnet_span_of("main", 4)}};
    return tell(&f->peer, &m);
}

static void test_descriptions(void)
{
    struct fetching f;
    const struct fnet_id all = {.bytes = {1}}, one = {.bytes = {2}};

    CASE("one partition or all are asked for");
    fetch(&f, 1, 2, 0);
    CHECK_INT(fnet_consumer_session_describe(f.session, &all, NULL), FNET_OK);
    CHECK(must_hear(&f.peer, FNET_DESCRIPTION_REQUEST, &all).describe.all);
    CHECK_INT(fnet_consumer_session_describe(f.session, &one, &f.partition), FNET_OK);
    struct fnet_message m = must_hear(&f.peer, FNET_DESCRIPTION_REQUEST, &one);
    CHECK(!m.describe.all);
    CHECK(fnet_partition_id_is_equal(&m.describe.partition, &f.partition));

    CASE("each answer is told, with the request it belongs to");
    CHECK_INT(describe(&f, &all, 1), FNET_OK);
    CHECK_INT(f.told.remaining, 1);
    CHECK_INT(describe(&f, &all, 0), FNET_OK);
    CHECK_INT(f.told.descriptions, 2);
    CHECK(fnet_id_is_equal(&f.told.request, &all));

    CASE("so is an error");
    CHECK_INT(send_error(&f, &one, true, "Partition not found."), FNET_OK);
    CHECK_INT(f.told.description_errors, 1);
    CHECK_INT(f.told.err, FNET_NO_PARTITION);
    CHECK(fnet_id_is_equal(&f.told.request, &one));
    CHECK_STR(f.told.text, "Partition not found.");

    CASE("nothing more is due then");
    CHECK_INT(describe(&f, &one, 0), FNET_BAD_KIND);
    stop(&f);

    CASE("while an answer is due the last channel does not close the connection, the answer does");
    for (int is_error = 0; is_error < 2; is_error++) {
        fetch(&f, 1, 2, 0);
        CHECK_INT(fnet_consumer_session_describe(f.session, &all, NULL), FNET_OK);
        (void)must_hear(&f.peer, FNET_DESCRIPTION_REQUEST, &all);
        fnet_channel_cancel(f.gate.channels[0]);
        (void)must_hear(&f.peer, FNET_CANCEL_PARTITION_REQUEST, id_of(&f, 0));
        CHECK(!fnet_session_is_closing(f.session));
        CHECK_INT(is_error ? send_error(&f, &all, false, "no") : describe(&f, &all, 0), FNET_OK);
        (void)must_hear(&f.peer, FNET_CLOSE_REQUEST, NULL);
        stop(&f);
    }

    CASE("a session without channels stays open for its owner's next question");
    fetch(&f, 0, 2, 1);
    CHECK_INT(fnet_consumer_session_describe(f.session, &all, NULL), FNET_OK);
    (void)must_hear(&f.peer, FNET_DESCRIPTION_REQUEST, &all);
    CHECK_INT(describe(&f, &all, 0), FNET_OK);
    must_be_silent(&f.peer);
    CHECK(!fnet_session_is_closing(f.session));
    stop(&f);
}

/* ---- no memory ----------------------------------------------------------------------------- */

static enum fnet_err live(struct fetching *f)
{
    enum fnet_err err = request(f, 0);

    for (int32_t i = 0; err == FNET_OK && i < 40; i++)
        err = send(f, 0, i, i % 20 == 0 ? FNET_DATA_BUFFER : FNET_EVENT_BUFFER, 'a');
    struct fnet_gate_item item;
    while (fnet_gate_poll(f->gate.gate, &item) == FNET_OK)
        fnet_gate_recycle(f->gate.gate, &item);
    if (err == FNET_OK)
        err = send(f, 0, 40, FNET_END_OF_PARTITION, 'b');
    if (err == FNET_OK) {
        struct iovec spans[64];
        (void)fnet_session_send_spans(f->session, spans, 64);
        err = fnet_session_error(f->session);
    }
    return err;
}

static void test_no_memory(void)
{
    unsigned n = 0;

    CASE("without memory there is no session, and no channel in it");
    do {
        struct told told = {.err = FNET_OK};
        const struct fnet_consumer_listener listener = listener_of(&told);
        struct fnet_session *session = NULL;
        struct made_gate gate;
        make_gate(&gate, 1, 1, 0);
        failmalloc_arm(++n);
        enum fnet_err err = fnet_consumer_session_new(&listener, fnet_dialect_newest(), &session);
        if (err == FNET_OK)
            err = fnet_consumer_session_add(session, gate.channels[0]);
        bool did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        fnet_session_free(session);
        unmake_gate(&gate);
        if (!did_fail)
            break;
    } while (n < 1000);

    CASE("a session that runs out of memory dies of it, and leaks nothing");
    n = 0;
    do {
        struct fetching f;
        fetch(&f, 1, 2, 0);
        failmalloc_arm(++n);
        enum fnet_err err = live(&f);
        bool did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        stop(&f);
        if (!did_fail)
            break;
    } while (n < 1000);
    CHECK(n < 1000);
}

int main(void)
{
    test_life();
    test_words();
    test_no_exclusive();
    test_channel_errors();
    test_fatal_error();
    test_malformed();
    test_cancel();
    test_close();
    test_end_of_stream();
    test_descriptions();
    test_no_memory();
    return tap_done();
}
