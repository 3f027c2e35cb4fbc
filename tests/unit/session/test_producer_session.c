/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's machine against a scripted consumer: how it answers what is wrong, who leaves and
 * how, descriptions.
 */
#include "../failmalloc.h"
#include "served.h"

/* ---- requests that are refused ----------------------------------------------------------- */

static void test_refused(void)
{
    struct served s;

    CASE("a partition that does not exist is an error of its channel only");
    serve(&s, SIZE_MAX);
    struct fnet_message m = request_of(&s, 0, 2);
    CHECK_INT(fnet_partition_id_from_name("other", &m.request.partition), FNET_OK);
    CHECK_INT(tell(&s.peer, &m), FNET_OK);
    must_hear_error(&s.peer, &s.ids[0], true, "not found");

    CASE("so is a subpartition that it does not have, and the text says which there are");
    m = request_of(&s, SUBPARTITIONS, 2);
    CHECK_INT(tell(&s.peer, &m), FNET_OK);
    must_hear_error(&s.peer, &s.ids[0], true, "main has subpartitions 0 to 3, not 4");

    CASE("a range of subpartitions is refused, even one that is there");
    m = request_of(&s, 0, 2);
    m.request.last = 1;
    CHECK_INT(tell(&s.peer, &m), FNET_OK);
    must_hear_error(&s.peer, &s.ids[0], false, "0 to 1");

    CASE("a subpartition is read by one at a time");
    CHECK_INT(request(&s, 3, 2), FNET_OK);
    must_be_silent(&s.peer);
    m = request_of(&s, 3, 2);
    m.receiver = s.ids[1];
    CHECK_INT(tell(&s.peer, &m), FNET_OK);
    must_hear_error(&s.peer, &s.ids[1], false, "main:3 is read by another");

    CASE("... and not again by anybody else");
    CHECK_INT(say(&s, FNET_CANCEL_PARTITION_REQUEST, 3), FNET_OK);
    CHECK_INT(tell(&s.peer, &m), FNET_OK);
    must_hear_error(&s.peer, &s.ids[1], false, "main:3 is read by another");

    CASE("a channel that was refused may ask again");
    m = request_of(&s, 1, 2);
    CHECK_INT(tell(&s.peer, &m), FNET_OK);
    must_be_silent(&s.peer);
    CHECK_INT(fnet_producer_session_readings(s.session), 1);
    CHECK_INT(state_of(&s, 1), FNET_SUBPARTITION_READING);
    stop(&s);
}

/* ---- leaving ----------------------------------------------------------------------------- */

static void test_cancel(void)
{
    struct served s;

    CASE("who cancels in mid-stream gets nothing more, the others go on");
    serve(&s, SIZE_MAX);
    for (uint32_t i = 0; i < 2; i++)
        put(&s, i, (uint8_t)('a' + i), 4 * MADE_SEGMENT_BYTES);
    CHECK_INT(request(&s, 0, 1), FNET_OK);
    CHECK_INT(request(&s, 1, 1), FNET_OK);
    must_hear_data(&s, 0, 0, 'a', MADE_SEGMENT_BYTES, 2);
    must_hear_data(&s, 1, 0, 'b', MADE_SEGMENT_BYTES, 2);
    CHECK_INT(say(&s, FNET_CANCEL_PARTITION_REQUEST, 0), FNET_OK);
    CHECK_INT(state_of(&s, 0), FNET_SUBPARTITION_CANCELLED);
    must_be_silent(&s.peer);
    CHECK_INT(add_credit(&s, 1, 1), FNET_OK);
    must_hear_data(&s, 1, 1, 'b', MADE_SEGMENT_BYTES, 1);

    CASE("a second cancel is ignored: it may cross the end");
    CHECK_INT(say(&s, FNET_CANCEL_PARTITION_REQUEST, 0), FNET_OK);
    must_be_silent(&s.peer);

    CASE("a CloseRequest cancels what is open");
    CHECK_INT(say(&s, FNET_CLOSE_REQUEST, 0), FNET_OK);
    CHECK_INT(state_of(&s, 1), FNET_SUBPARTITION_CANCELLED);
    CHECK(fnet_session_is_closing(s.session));

    CASE("a request behind it opens nothing");
    CHECK_INT(request(&s, 2, 2), FNET_OK);
    CHECK_INT(state_of(&s, 2), FNET_SUBPARTITION_WAITING);
    must_be_silent(&s.peer);
    stop(&s);
}

static void test_end_of_stream(void)
{
    struct served s;

    CASE("a consumer that just ends is lost, and its subpartitions with it");
    serve(&s, SIZE_MAX);
    CHECK_INT(request(&s, 0, 1), FNET_OK);
    CHECK_INT(request(&s, 2, 1), FNET_OK);
    CHECK_INT(fnet_session_end_of_stream(s.session), FNET_LOST);
    CHECK_INT(fnet_session_error(s.session), FNET_LOST);
    CHECK_STR(fnet_session_error_text(s.session), fnet_strerror(FNET_LOST));
    char names[64];
    CHECK_INT(fnet_producer_session_unfinished(s.session, names, sizeof names), 2);
    CHECK_STR(names, "main:0, main:2");
    char few[8];
    CHECK_INT(fnet_producer_session_unfinished(s.session, few, sizeof few), 2);
    CHECK_STR(few, "main:0,");
    part(&s.peer);
    CHECK_INT(state_of(&s, 0), FNET_SUBPARTITION_LOST);
    CHECK_INT(state_of(&s, 2), FNET_SUBPARTITION_LOST);
    fnet_registry_clear(&s.registry);
    unmake_partition(&s.main);

    CASE("one that acknowledged everything is not");
    serve(&s, SIZE_MAX);
    CHECK_INT(fnet_partition_finish(s.main.partition), FNET_OK);
    CHECK_INT(request(&s, 0, 1), FNET_OK);
    must_hear_event(&s, 0, 0, FNET_END_OF_DATA);
    CHECK_INT(say(&s, FNET_ACK_ALL_USER_RECORDS_PROCESSED, 0), FNET_OK);
    CHECK_INT(fnet_session_end_of_stream(s.session), FNET_OK);
    CHECK_INT(fnet_producer_session_unfinished(s.session, names, sizeof names), 0);
    CHECK_STR(names, "");
    stop(&s);

    CASE("an end in the middle of a frame is a cut frame");
    serve(&s, SIZE_MAX);
    CHECK_INT(feed(s.session, "\0\0\0\x09\xba", 5, 1), FNET_OK);
    CHECK_INT(fnet_session_end_of_stream(s.session), FNET_TRUNCATED);
    stop(&s);
}

static void test_abort(void)
{
    struct served s;

    CASE("an abort reaches the consumer with its text, behind what is half sent");
    serve(&s, SIZE_MAX);
    put(&s, 0, 'a', 4 * MADE_SEGMENT_BYTES);
    CHECK_INT(request(&s, 0, 2), FNET_OK);
    s.peer.step = 10;
    CHECK(let_come(&s.peer));
    fnet_producer_session_abort(s.session, "the input broke");
    CHECK_INT(fnet_session_error(s.session), FNET_STATE);
    CHECK_STR(fnet_session_error_text(s.session), "the input broke");
    CHECK(fnet_session_is_closing(s.session));
    CHECK(!fnet_session_wants_read(s.session));
    must_hear_data(&s, 0, 0, 'a', MADE_SEGMENT_BYTES, 2);
    must_hear_data(&s, 0, 1, 'a', MADE_SEGMENT_BYTES, 1);
    must_hear_error(&s.peer, NULL, false, "the input broke");
    must_be_silent(&s.peer);

    CASE("a second abort says nothing new");
    fnet_producer_session_abort(s.session, "something else");
    must_be_silent(&s.peer);
    CHECK_STR(fnet_session_error_text(s.session), "the input broke");
    stop(&s);
}

static void test_close(void)
{
    struct served s;

    CASE("a session that is closed still sends what is queued, and takes leave notes");
    serve(&s, SIZE_MAX);
    CHECK_INT(fnet_partition_finish(s.main.partition), FNET_OK);
    CHECK_INT(request(&s, 0, 1), FNET_OK);
    must_hear_event(&s, 0, 0, FNET_END_OF_DATA);
    CHECK_INT(say(&s, FNET_ACK_ALL_USER_RECORDS_PROCESSED, 0), FNET_OK);
    fnet_producer_session_close(s.session);
    must_hear_event(&s, 0, 1, FNET_END_OF_PARTITION);
    CHECK(!fnet_session_is_closing(s.session));

    CASE("... and the session closes when its consumer has taken leave of each reading");
    s.rings = 0;
    CHECK_INT(say(&s, FNET_CANCEL_PARTITION_REQUEST, 0), FNET_OK);
    CHECK(fnet_session_is_closing(s.session));
    CHECK(s.rings > 0);
    CHECK_INT(state_of(&s, 0), FNET_SUBPARTITION_DONE);
    CHECK_INT(fnet_session_end_of_stream(s.session), FNET_OK);
    stop(&s);
}

/* ---- what is wrong ------------------------------------------------------------------------ */

/* The session dies of ERR and tells the consumer TEXT. */
static void must_die(struct served *s, enum fnet_err actual, enum fnet_err err, const char *text)
{
    CHECK_INT(actual, err);
    CHECK_INT(fnet_session_error(s->session), err);
    if (!strstr(fnet_session_error_text(s->session), text))
        CHECK_STR(fnet_session_error_text(s->session), text);
    CHECK(!fnet_session_wants_read(s->session));
    CHECK(fnet_session_is_closing(s->session));
    must_hear_error(&s->peer, NULL, false, text);
    must_be_silent(&s->peer);
    stop(s);
}

static enum fnet_err feed_frame(struct served *s, uint32_t length, uint32_t magic, uint8_t type,
                                const uint8_t *body, size_t len)
{
    uint8_t frame[128] = {0};

    fnet_store_be32(frame, length);
    fnet_store_be32(frame + 4, magic);
    frame[8] = type;
    if (len > 0)
        memcpy(frame + FNET_FRAME_HEADER_BYTES, body, len);
    return feed(s->session, frame, FNET_FRAME_HEADER_BYTES + len, SIZE_MAX);
}

static void test_malformed(void)
{
    struct served s;
    uint8_t credit[20] = {0};

    CASE("a wrong magic number");
    serve(&s, SIZE_MAX);
    must_die(&s, feed(s.session, "GET / HTTP/1.1\r\n\r\n", 18, 3), FNET_BAD_MAGIC,
             fnet_strerror(FNET_BAD_MAGIC));

    CASE("a message that nobody knows");
    serve(&s, SIZE_MAX);
    must_die(&s, feed_frame(&s, 9, FNET_MAGIC, 12, NULL, 0), FNET_BAD_KIND,
             fnet_strerror(FNET_BAD_KIND));

    CASE("a frame of 2 GB");
    serve(&s, SIZE_MAX);
    must_die(&s, feed_frame(&s, INT32_MAX, FNET_MAGIC, FNET_TASK_EVENT_REQUEST, NULL, 0),
             FNET_BAD_LENGTH, fnet_strerror(FNET_BAD_LENGTH));

    CASE("a credit of 0, and one below");
    serve(&s, SIZE_MAX);
    must_die(&s, feed_frame(&s, 29, FNET_MAGIC, FNET_ADD_CREDIT, credit, sizeof credit),
             FNET_BAD_VALUE, fnet_strerror(FNET_BAD_VALUE));
    memset(credit, 0xff, 4);
    serve(&s, SIZE_MAX);
    must_die(&s, feed_frame(&s, 29, FNET_MAGIC, FNET_ADD_CREDIT, credit, sizeof credit),
             FNET_BAD_VALUE, fnet_strerror(FNET_BAD_VALUE));
}

static void test_misplaced(void)
{
    struct served s;

    CASE("what only a producer says");
    static const struct fnet_message responses[] = {
        {.type = FNET_BUFFER_RESPONSE, .buffer = {.data_type = FNET_DATA_BUFFER}},
        {.type = FNET_ERROR_RESPONSE},
        {.type = FNET_BACKLOG_ANNOUNCEMENT, .backlog = 1},
        {.type = FNET_DESCRIPTION_RESPONSE}};
    for (size_t i = 0; i < sizeof responses / sizeof *responses; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s from a consumer",
                 fnet_message_type_name(responses[i].type));
        serve(&s, SIZE_MAX);
        must_die(&s, tell(&s.peer, &responses[i]), FNET_BAD_KIND, text);
    }

    CASE("credit, resumption and acknowledgement for a channel that is not there");
    serve(&s, SIZE_MAX);
    must_die(&s, add_credit(&s, 0, 1), FNET_UNKNOWN_RECEIVER, "AddCredit for unknown receiver");
    serve(&s, SIZE_MAX);
    must_die(&s, say(&s, FNET_RESUME_CONSUMPTION, 0), FNET_UNKNOWN_RECEIVER,
             "ResumeConsumption for unknown receiver");
    serve(&s, SIZE_MAX);
    must_die(&s, say(&s, FNET_ACK_ALL_USER_RECORDS_PROCESSED, 0), FNET_UNKNOWN_RECEIVER,
             "AckAllUserRecordsProcessed for unknown receiver");

    CASE("a second request of the same channel");
    serve(&s, SIZE_MAX);
    CHECK_INT(request(&s, 0, 1), FNET_OK);
    must_die(&s, request(&s, 0, 1), FNET_BAD_VALUE, "receiver in use");

    CASE("more credit than there can be");
    serve(&s, SIZE_MAX);
    CHECK_INT(request(&s, 0, 1), FNET_OK);
    must_die(&s, add_credit(&s, 0, INT32_MAX), FNET_BAD_VALUE, "AddCredit of 2147483647");

    CASE("a resumption of what is not blocked");
    serve(&s, SIZE_MAX);
    CHECK_INT(request(&s, 0, 1), FNET_OK);
    must_die(&s, say(&s, FNET_RESUME_CONSUMPTION, 0), FNET_BAD_VALUE, "not blocked");

    CASE("an acknowledgement before the end of data");
    serve(&s, SIZE_MAX);
    CHECK_INT(request(&s, 0, 1), FNET_OK);
    must_die(&s, say(&s, FNET_ACK_ALL_USER_RECORDS_PROCESSED, 0), FNET_BAD_VALUE,
             "before EndOfData");
}

static void test_ignored(void)
{
    struct served s;

    CASE("a new buffer size and a segment id are hints, for whomever");
    serve(&s, SIZE_MAX);
    const struct fnet_message size = {.type = FNET_NEW_BUFFER_SIZE, .buffer_size = 1024};
    const struct fnet_message segment = {.type = FNET_SEGMENT_ID,
                                         .segment = {.subpartition = 0, .segment = 1}};
    CHECK_INT(tell(&s.peer, &size), FNET_OK);
    CHECK_INT(tell(&s.peer, &segment), FNET_OK);
    CHECK_INT(say(&s, FNET_CANCEL_PARTITION_REQUEST, 0), FNET_OK);
    must_be_silent(&s.peer);

    CASE("a task event finds no task");
    const struct fnet_message event = {.type = FNET_TASK_EVENT_REQUEST,
                                       .receiver = s.ids[2],
                                       .task_event = {.event = fnet_span_of("event", 5)}};
    CHECK_INT(tell(&s.peer, &event), FNET_OK);
    must_hear_error(&s.peer, &s.ids[2], false, "Task event receiver not found.");
    stop(&s);
}

static void test_answers_pile_up(void)
{
    struct served s;

    CASE("nothing is read from a consumer that does not read the answers");
    serve(&s, SIZE_MAX);
    struct fnet_message m = request_of(&s, 0, 2);
    CHECK_INT(fnet_partition_id_from_name("other", &m.request.partition), FNET_OK);
    unsigned n = 0;
    while (fnet_session_wants_read(s.session) && n < 10000) {
        CHECK_INT(tell(&s.peer, &m), FNET_OK);
        n++;
    }
    CHECK_INT(n, 128);

    CASE("once it does, reading goes on");
    must_hear_error(&s.peer, &s.ids[0], true, "not found");
    CHECK(fnet_session_wants_read(s.session));
    for (; n > 1; n--)
        must_hear_error(&s.peer, &s.ids[0], true, "not found");
    must_be_silent(&s.peer);
    stop(&s);
}

/* ---- descriptions ------------------------------------------------------------------------- */

static void must_hear_description(struct scripted_peer *peer, const struct fnet_id *id,
                                  const char *name, int32_t remaining)
{
    struct fnet_message m = must_hear(peer, FNET_DESCRIPTION_RESPONSE, id);

    CHECK_INT(m.description.remaining, remaining);
    CHECK_INT(m.description.name.len, strlen(name));
    if (m.description.name.len == strlen(name))
        CHECK_MEM(m.description.name.ptr, name, strlen(name));
}

static void test_description_flood(void)
{
    enum { REQUESTS = 150, ANSWERS = 2 * REQUESTS, FULL = 128, SPANS = 2 * ANSWERS };
    static uint8_t flood[REQUESTS * 100];
    static struct iovec spans[SPANS];
    struct fnet_writer w = fnet_writer_of(flood, sizeof flood);
    struct fnet_message ask = {.type = FNET_DESCRIPTION_REQUEST, .describe = {.all = true}};
    struct made_partition other;
    struct served s;

    CASE("requests that came at once are answered as the answers are taken, not all at once");
    serve(&s, SIZE_MAX);
    make_partition(&other, "other", 1, 2, 2);
    CHECK_INT(fnet_registry_add(&s.registry, other.partition), FNET_OK);
    for (int i = 0; i < REQUESTS; i++)
        CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &ask, &w), FNET_OK);
    CHECK_INT(feed(s.session, flood, (size_t)(w.pos - flood), SIZE_MAX), FNET_OK);
    /* Each answer is at most two spans, and the last request may have added all of its own. */
    CHECK(fnet_session_send_spans(s.session, spans, SPANS) <= 2 * (FULL + 2));
    CHECK(!fnet_session_wants_read(s.session));

    CASE("in the end each has its answers");
    for (int i = 0; i < REQUESTS; i++) {
        must_hear_description(&s.peer, &ask.receiver, "main", 1);
        must_hear_description(&s.peer, &ask.receiver, "other", 0);
    }
    must_be_silent(&s.peer);
    CHECK(fnet_session_wants_read(s.session));
    part(&s.peer);
    fnet_registry_clear(&s.registry);
    unmake_partition(&other);
    unmake_partition(&s.main);
}

static void test_descriptions(void)
{
    struct served s;
    struct made_partition other;
    struct fnet_message ask = {.type = FNET_DESCRIPTION_REQUEST, .describe = {.all = true}};

    fnet_id_random(&ask.receiver);
    serve(&s, SIZE_MAX);
    make_partition(&other, "other", 1, 2, 2);
    CHECK_INT(fnet_registry_add(&s.registry, other.partition), FNET_OK);

    CASE("a description of all has an answer for each, which says how many follow");
    CHECK_INT(tell(&s.peer, &ask), FNET_OK);
    must_hear_description(&s.peer, &ask.receiver, "main", 1);
    must_hear_description(&s.peer, &ask.receiver, "other", 0);
    must_be_silent(&s.peer);

    CASE("a description of one says what it is and whether its input ended");
    ask.describe.all = false;
    ask.describe.partition = *fnet_partition_id(s.main.partition);
    for (uint8_t ended = 0; ended < 2; ended++) {
        CHECK_INT(tell(&s.peer, &ask), FNET_OK);
        struct fnet_message m = must_hear(&s.peer, FNET_DESCRIPTION_RESPONSE, &ask.receiver);
        CHECK(fnet_partition_id_is_equal(&m.description.partition, &ask.describe.partition));
        CHECK_INT(m.description.subpartitions, SUBPARTITIONS);
        CHECK_INT(m.description.partition_type, FNET_PIPELINED_BOUNDED);
        CHECK_INT(m.description.state, ended);
        CHECK_INT(m.description.remaining, 0);
        if (!ended)
            CHECK_INT(fnet_partition_finish(s.main.partition), FNET_OK);
    }

    CASE("a description of one that is not there is an error");
    CHECK_INT(fnet_partition_id_from_name("none", &ask.describe.partition), FNET_OK);
    CHECK_INT(tell(&s.peer, &ask), FNET_OK);
    must_hear_error(&s.peer, &ask.receiver, true, "not found");

    CASE("a description of all of none is one that says so");
    fnet_registry_clear(&s.registry);
    ask = (struct fnet_message){.type = FNET_DESCRIPTION_REQUEST, .describe = {.all = true}};
    CHECK_INT(tell(&s.peer, &ask), FNET_OK);
    struct fnet_message m = must_hear(&s.peer, FNET_DESCRIPTION_RESPONSE, NULL);
    CHECK_INT(m.description.subpartitions, 0);
    CHECK_INT(m.description.name.len, 0);
    CHECK_INT(m.description.remaining, 0);
    must_be_silent(&s.peer);
    unmake_partition(&other);
    stop(&s);
}

/* ---- no memory ---------------------------------------------------------------------------- */

/* Requests, data, an answer and an end; the first error of any of it. */
static enum fnet_err live(struct served *s)
{
    enum fnet_err err = FNET_OK;
    struct iovec spans[64];

    for (int32_t i = 0; err == FNET_OK && i < SUBPARTITIONS; i++)
        err = request(s, i, 20);
    struct fnet_message missing = request_of(s, 0, 1);
    missing.request.partition.number = 77;
    if (err == FNET_OK)
        err = tell(&s->peer, &missing);
    if (err == FNET_OK) {
        (void)fnet_session_send_spans(s->session, spans, 64);
        err = fnet_session_error(s->session);
    }
    if (err == FNET_OK)
        err = add_credit(s, 0, 1);
    return err;
}

static void test_no_memory(void)
{
    unsigned n = 0;

    CASE("without memory there is no session");
    do {
        struct fnet_registry registry = {.count = 0};
        struct fnet_session *session = NULL;
        failmalloc_arm(++n);
        enum fnet_err err = fnet_producer_session_new(&registry, fnet_dialect_newest(), &session);
        CHECK_INT(err, session ? FNET_OK : FNET_NOMEM);
        fnet_session_free(session);
    } while (failmalloc_disarm());

    CASE("a session that runs out of memory dies of it, tells if it can, and leaks nothing");
    n = 0;
    do {
        struct served s;
        serve(&s, SIZE_MAX);
        put(&s, 0, 'a', 20 * MADE_SEGMENT_BYTES);
        put(&s, 3, 'b', 20 * MADE_SEGMENT_BYTES);
        failmalloc_arm(++n);
        enum fnet_err err = live(&s);
        bool did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        CHECK_INT(fnet_session_error(s.session), err);
        stop(&s);
        if (!did_fail)
            break;
    } while (n < 1000);
    CHECK(n < 1000);
}

int main(void)
{
    test_refused();
    test_cancel();
    test_end_of_stream();
    test_abort();
    test_close();
    test_malformed();
    test_misplaced();
    test_ignored();
    test_answers_pile_up();
    test_description_flood();
    test_descriptions();
    test_no_memory();
    fnet_session_free(NULL);
    return tap_done();
}
