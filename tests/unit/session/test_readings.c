/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readings of a producer session: in which turn they are served, and for which credit.
 */
#include "served.h"

/* ---- the whole of one reading ------------------------------------------------------------ */

static void check_life(size_t step)
{
    struct served s;

    CASE("a request is answered by buffers, as many as it has credit for");
    serve(&s, step);
    must_be_silent(&s.peer);
    put(&s, 1, 'a', 3 * MADE_SEGMENT_BYTES + 10);
    CHECK_INT(request(&s, 1, 2), FNET_OK);
    CHECK_INT(state_of(&s, 1), FNET_SUBPARTITION_READING);
    CHECK_INT(fnet_producer_session_readings(s.session), 1);
    CHECK_INT(fnet_producer_session_credit(s.session), 2);
    must_hear_data(&s, 1, 0, 'a', MADE_SEGMENT_BYTES, 2);
    must_hear_data(&s, 1, 1, 'a', MADE_SEGMENT_BYTES, 1);
    must_be_silent(&s.peer);
    CHECK_INT(fnet_producer_session_credit(s.session), 0);

    CASE("more credit brings more buffers");
    CHECK_INT(add_credit(&s, 1, 3), FNET_OK);
    must_hear_data(&s, 1, 2, 'a', MADE_SEGMENT_BYTES, 0);
    must_be_silent(&s.peer);
    fnet_partition_flush(s.main.partition);
    must_hear_data(&s, 1, 3, 'a', 10, 0);

    CASE("the end of data needs no credit, and the end of the partition the acknowledgement");
    CHECK_INT(fnet_partition_finish(s.main.partition), FNET_OK);
    must_hear_event(&s, 1, 4, FNET_END_OF_DATA);
    must_be_silent(&s.peer);
    CHECK_INT(say(&s, FNET_ACK_ALL_USER_RECORDS_PROCESSED, 1), FNET_OK);
    CHECK_INT(state_of(&s, 1), FNET_SUBPARTITION_ACKNOWLEDGED);
    must_hear_event(&s, 1, 5, FNET_END_OF_PARTITION);
    must_be_silent(&s.peer);

    CASE("a CloseRequest ends it all, and well");
    CHECK(!fnet_session_is_closing(s.session));
    const struct fnet_message close = {.type = FNET_CLOSE_REQUEST};
    CHECK_INT(tell(&s.peer, &close), FNET_OK);
    CHECK(fnet_session_is_closing(s.session));
    CHECK_INT(state_of(&s, 1), FNET_SUBPARTITION_DONE);
    CHECK_INT(fnet_session_end_of_stream(s.session), FNET_OK);
    CHECK_STR(fnet_session_error_text(s.session), "");

    CASE("what went over was counted");
    struct fnet_session_counts counts = fnet_session_counts(s.session);
    CHECK_INT(counts.frames_in, 4);
    CHECK_INT(counts.frames_out, 6);
    CHECK_INT(counts.buffers_out, 4);
    CHECK_INT(counts.payload_out, 3 * MADE_SEGMENT_BYTES + 10);
    CHECK_INT(counts.bytes_in, 97 + 29 + 25 + 9);
    CHECK_INT(counts.bytes_out,
              6 * FNET_BUFFER_RESPONSE_HEAD_BYTES + 3 * MADE_SEGMENT_BYTES + 10 + 5 + 4);
    stop(&s);
}

static void test_life(void)
{
    const size_t steps[] = {1, 2, 7, 47, 4096, SIZE_MAX};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        check_life(steps[i]);
}

/* ---- turns ------------------------------------------------------------------------------- */

static void test_turns(void)
{
    struct served s;

    CASE("readings take turns, one buffer each");
    serve(&s, SIZE_MAX);
    for (uint32_t i = 0; i < 3; i++)
        put(&s, i, (uint8_t)('a' + i), 3 * MADE_SEGMENT_BYTES);
    CHECK_INT(fnet_partition_finish(s.main.partition), FNET_OK);
    for (int32_t i = 0; i < 3; i++)
        CHECK_INT(request(&s, i, 10), FNET_OK);
    for (int32_t n = 0; n < 3; n++)
        for (uint32_t i = 0; i < 3; i++)
            must_hear_data(&s, i, n, (uint8_t)('a' + i), MADE_SEGMENT_BYTES, 2 - n);
    for (uint32_t i = 0; i < 3; i++)
        must_hear_event(&s, i, 3, FNET_END_OF_DATA);
    must_be_silent(&s.peer);
    stop(&s);

    CASE("a reading without credit never delays another");
    serve(&s, SIZE_MAX);
    for (uint32_t i = 0; i < 2; i++)
        put(&s, i, (uint8_t)('a' + i), 20 * MADE_SEGMENT_BYTES);
    CHECK_INT(fnet_partition_finish(s.main.partition), FNET_OK);
    CHECK_INT(request(&s, 0, 1), FNET_OK);
    CHECK_INT(request(&s, 1, 50), FNET_OK);
    must_hear_data(&s, 0, 0, 'a', MADE_SEGMENT_BYTES, 19);
    for (int32_t n = 0; n < 20; n++)
        must_hear_data(&s, 1, n, 'b', MADE_SEGMENT_BYTES, 19 - n);
    must_hear_event(&s, 1, 20, FNET_END_OF_DATA);
    must_be_silent(&s.peer);
    CHECK_INT(add_credit(&s, 0, 1), FNET_OK);
    must_hear_data(&s, 0, 1, 'a', MADE_SEGMENT_BYTES, 18);
    must_be_silent(&s.peer);
    stop(&s);

    CASE("buffers stay in the partition until there is room to send: a write's worth is taken");
    serve(&s, SIZE_MAX);
    put(&s, 0, 'a', 60 * MADE_SEGMENT_BYTES);
    CHECK_INT(request(&s, 0, 1000), FNET_OK);
    struct iovec spans[4];
    CHECK_INT(fnet_session_send_spans(s.session, spans, 4), 4);
    CHECK_INT(fnet_partition_queued(s.main.partition), 60 - 32);
    CHECK_INT(fnet_session_send_spans(s.session, spans, 4), 4);
    CHECK_INT(fnet_partition_queued(s.main.partition), 60 - 32);
    stop(&s);
}

static void test_bell(void)
{
    struct served s;

    CASE("the bell rings when data can be sent that was not there before");
    serve(&s, SIZE_MAX);
    CHECK_INT(request(&s, 0, 2), FNET_OK);
    must_be_silent(&s.peer);
    s.rings = 0;
    put(&s, 0, 'a', 10);
    CHECK_INT(s.rings, 0);
    fnet_partition_flush(s.main.partition);
    CHECK(s.rings > 0);
    must_hear_data(&s, 0, 0, 'a', 10, 0);

    CASE("... and when the session has to say that it is over");
    fnet_producer_session_close(s.session);
    s.rings = 0;
    CHECK_INT(say(&s, FNET_CANCEL_PARTITION_REQUEST, 0), FNET_OK);
    CHECK(s.rings > 0);
    stop(&s);
}

/* ---- no exclusive buffers ---------------------------------------------------------------- */

static void test_announcement(void)
{
    struct served s;

    CASE("without initial credit the backlog is announced, once");
    serve(&s, SIZE_MAX);
    CHECK_INT(request(&s, 2, 0), FNET_OK);
    must_be_silent(&s.peer);
    put(&s, 2, 'a', 2 * MADE_SEGMENT_BYTES + 10);
    struct fnet_message m = must_hear(&s.peer, FNET_BACKLOG_ANNOUNCEMENT, &s.ids[2]);
    CHECK(m.backlog >= 1);
    must_be_silent(&s.peer);

    CASE("credit then brings data, which says itself what waits");
    CHECK_INT(add_credit(&s, 2, 1), FNET_OK);
    must_hear_data(&s, 2, 0, 'a', MADE_SEGMENT_BYTES, 1);
    m = must_hear(&s.peer, FNET_BACKLOG_ANNOUNCEMENT, &s.ids[2]);
    CHECK_INT(m.backlog, 1);
    must_be_silent(&s.peer);
    CHECK_INT(add_credit(&s, 2, 1), FNET_OK);
    must_hear_data(&s, 2, 1, 'a', MADE_SEGMENT_BYTES, 0);

    CASE("an event needs none of that");
    CHECK_INT(add_credit(&s, 2, 1), FNET_OK);
    CHECK_INT(fnet_partition_finish(s.main.partition), FNET_OK);
    must_hear_data(&s, 2, 2, 'a', 10, 0);
    must_hear_event(&s, 2, 3, FNET_END_OF_DATA);
    must_be_silent(&s.peer);
    stop(&s);
}

static void test_smallest_memory(void)
{
    struct made_partition m;
    struct fnet_registry registry = {.count = 0};
    struct fnet_session *session = NULL;
    struct scripted_peer peer;

    CASE("one segment, no exclusive buffers, no flush: the full buffer is announced all the same");
    make_partition(&m, "main", 1, 2, 1);
    CHECK_INT(fnet_registry_add(&registry, m.partition), FNET_OK);
    CHECK_INT(fnet_producer_session_new(&registry, fnet_dialect_newest(), &session), FNET_OK);
    meet(&peer, session);
    const struct fnet_message request = {.type = FNET_PARTITION_REQUEST,
                                         .request = {.partition = *fnet_partition_id(m.partition)}};
    CHECK_INT(tell(&peer, &request), FNET_OK);
    CHECK_INT(put_into(m.partition, 0, 'a', MADE_SEGMENT_BYTES + 1), FNET_AGAIN);
    CHECK_INT(must_hear(&peer, FNET_BACKLOG_ANNOUNCEMENT, NULL).backlog, 1);
    const struct fnet_message credit = {.type = FNET_ADD_CREDIT, .credit = 1};
    CHECK_INT(tell(&peer, &credit), FNET_OK);
    (void)must_hear(&peer, FNET_BUFFER_RESPONSE, NULL);
    CHECK_INT(m.pool_rings, 1);
    part(&peer);
    fnet_registry_clear(&registry);
    unmake_partition(&m);
}

int main(void)
{
    test_life();
    test_turns();
    test_bell();
    test_announcement();
    test_smallest_memory();
    return tap_done();
}
