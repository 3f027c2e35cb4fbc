/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both machines against peers that speak something old: which dialect is recognised, what is said
 * in it and what is not, how it ends where nobody can acknowledge.
 */
#include "../failmalloc.h"
#include "../gate/made_gate.h"
#include "../partition/made_partition.h"
#include "scripted_peer.h"

#include "fnet/event.h"

static const struct fnet_dialect *dialect_of(const char *version)
{
    const struct fnet_dialect *dialect = NULL;

    CHECK_INT(fnet_dialect_parse(version, &dialect), FNET_OK);
    return dialect;
}

/* ---- the producer ------------------------------------------------------------------------ */

struct served {
    struct made_partition main;
    struct fnet_registry registry;
    struct fnet_session *session;
    struct scripted_peer peer;
    struct fnet_id id;
};

static void serve(struct served *s, const struct fnet_dialect *dialect,
                  const struct fnet_dialect *assumed)
{
    make_partition(&s->main, "main", 2, 16, 16);
    s->registry = (struct fnet_registry){.count = 0};
    CHECK_INT(fnet_registry_add(&s->registry, s->main.partition), FNET_OK);
    CHECK_INT(fnet_producer_session_new(&s->registry, assumed, &s->session), FNET_OK);
    meet_in(&s->peer, s->session, dialect);
    fnet_id_random(&s->id);
}

static void stop(struct served *s)
{
    part(&s->peer);
    fnet_registry_clear(&s->registry);
    unmake_partition(&s->main);
}

static enum fnet_err request(struct served *s)
{
    const struct fnet_message message = {
        .type = FNET_PARTITION_REQUEST,
        .receiver = s->id,
        .request = {.partition = *fnet_partition_id(s->main.partition), .credit = 2}};

    return tell(&s->peer, &message);
}

static enum fnet_err say(struct served *s, enum fnet_message_type type)
{
    const struct fnet_message message = {.type = type, .receiver = s->id};

    return tell(&s->peer, &message);
}

static void put_barrier(struct served *s)
{
    const struct fnet_event event = {.type = FNET_EVENT_CHECKPOINT_BARRIER,
                                     .barrier = {.id = 42, .alignment_timeout_ms = INT64_MAX}};
    uint8_t bytes[64];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
    struct fnet_buffer buffer;

    CHECK_INT(fnet_event_encode(fnet_dialect_newest(), &event, &w), FNET_OK);
    CHECK_INT(fnet_buffer_new_heap(fnet_span_of(bytes, (size_t)(w.pos - bytes)),
                                   (uint8_t)fnet_event_data_type(&event), &buffer),
              FNET_OK);
    CHECK_INT(fnet_partition_broadcast_event(s->main.partition, &buffer), FNET_OK);
}

static void put_watermark(struct served *s)
{
    const struct fnet_event event = {.type = FNET_EVENT_WATERMARK, .watermark = {.value = 7}};
    uint8_t bytes[256];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
    struct fnet_buffer buffer;

    CHECK_INT(fnet_event_encode(fnet_dialect_newest(), &event, &w), FNET_OK);
    CHECK_INT(fnet_buffer_new_heap(fnet_span_of(bytes, (size_t)(w.pos - bytes)),
                                   (uint8_t)fnet_event_data_type(&event), &buffer),
              FNET_OK);
    CHECK_INT(fnet_partition_broadcast_event(s->main.partition, &buffer), FNET_OK);
}

/* Hear event number SEQUENCE, which the peer's own dialect reads. */
static struct fnet_event must_hear_event(struct served *s, int32_t sequence)
{
    struct fnet_message m = must_hear(&s->peer, FNET_BUFFER_RESPONSE, &s->id);
    struct fnet_event event = {.type = FNET_EVENT_OTHER};

    CHECK_INT(m.buffer.sequence, sequence);
    CHECK(!fnet_data_type_is_buffer(m.buffer.data_type));
    CHECK_INT(fnet_event_decode(s->peer.dialect, fnet_span_of(s->peer.payload, s->peer.payload_len),
                                &event),
              FNET_OK);
    return event;
}

static enum fnet_subpartition_state state_of(const struct served *s)
{
    return fnet_partition_state(s->main.partition, 0);
}

/* A reading to its end, or to just before the consumer's last word. */
static void serve_to_end(struct served *s, const struct fnet_dialect *dialect)
{
    int32_t sequence = 0;

    serve(s, dialect, dialect);
    CHECK_INT(put_into(s->main.partition, 0, 'a', 10), FNET_OK);
    put_barrier(s);
    put_watermark(s);
    CHECK_INT(fnet_partition_finish(s->main.partition), FNET_OK);
    CHECK_INT(request(s), FNET_OK);
    CHECK(fnet_session_dialect(s->session) == dialect);

    struct fnet_message m = must_hear(&s->peer, FNET_BUFFER_RESPONSE, &s->id);
    CHECK_INT(m.buffer.sequence, sequence++);
    CHECK_INT(m.buffer.data_type, FNET_DATA_BUFFER);
    CHECK_INT(m.buffer.size, 10);
    CHECK_INT(s->peer.payload[9], 'a');

    struct fnet_event event = must_hear_event(s, sequence++);
    CHECK_INT(event.type, FNET_EVENT_CHECKPOINT_BARRIER);
    CHECK_INT(event.barrier.id, 42);
    if (fnet_dialect_has_event(dialect, FNET_EVENT_WATERMARK))
        CHECK_INT(must_hear_event(s, sequence++).type, FNET_EVENT_WATERMARK);
    if (fnet_dialect_has_event(dialect, FNET_EVENT_END_OF_DATA)) {
        CHECK_INT(must_hear_event(s, sequence++).type, FNET_EVENT_END_OF_DATA);
        must_be_silent(&s->peer);
        CHECK_INT(say(s, FNET_ACK_ALL_USER_RECORDS_PROCESSED), FNET_OK);
        CHECK_INT(state_of(s), FNET_SUBPARTITION_ACKNOWLEDGED);
    }
    CHECK_INT(must_hear_event(s, sequence++).type, FNET_EVENT_END_OF_PARTITION);
    must_be_silent(&s->peer);
}

static void test_served(void)
{
    static struct served s;
    const struct fnet_dialect *dialect;

    for (size_t i = 0; (dialect = fnet_dialect_at(i)); i++) {
        CASE(dialect->name);
        serve_to_end(&s, dialect);
        CHECK_INT(say(&s, FNET_CANCEL_PARTITION_REQUEST), FNET_OK);
        CHECK_INT(state_of(&s), FNET_SUBPARTITION_DONE);
        stop(&s);

        serve_to_end(&s, dialect);
        CHECK_INT(say(&s, FNET_CLOSE_REQUEST), FNET_OK);
        CHECK_INT(state_of(&s), FNET_SUBPARTITION_DONE);
        CHECK_INT(fnet_session_end_of_stream(s.session), FNET_OK);
        stop(&s);
    }
}

static void test_unheard(void)
{
    static struct served s;
    char names[64];

    CASE("where nobody can acknowledge, all is not delivered before the leave");
    serve_to_end(&s, dialect_of("1.8"));
    CHECK_INT(state_of(&s), FNET_SUBPARTITION_READING);
    CHECK_INT(fnet_producer_session_unfinished(s.session, names, sizeof names), 1);
    CHECK_INT(fnet_session_end_of_stream(s.session), FNET_LOST);
    fnet_session_free(s.session);
    s.peer.session = NULL;
    CHECK_INT(state_of(&s), FNET_SUBPARTITION_LOST);
    stop(&s);

    CASE("... and a leave before the end is a cancellation");
    serve(&s, dialect_of("1.8"), dialect_of("1.8"));
    CHECK_INT(put_into(s.main.partition, 0, 'a', 10), FNET_OK);
    CHECK_INT(request(&s), FNET_OK);
    CHECK_INT(say(&s, FNET_CANCEL_PARTITION_REQUEST), FNET_OK);
    CHECK_INT(state_of(&s), FNET_SUBPARTITION_CANCELLED);
    stop(&s);
}

static void test_recognised(void)
{
    static struct served s;

    CASE("a first request that several dialects have is the newest one's");
    serve(&s, dialect_of("1.15"), NULL);
    CHECK(fnet_session_dialect(s.session) == fnet_dialect_newest());
    CHECK_INT(request(&s), FNET_OK);
    CHECK(fnet_session_dialect(s.session) == dialect_of("1.15"));
    stop(&s);
    CASE("... also when another kind of request was to be taken for an old one");
    serve(&s, dialect_of("1.18"), dialect_of("1.11"));
    CHECK_INT(request(&s), FNET_OK);
    CHECK(fnet_session_dialect(s.session) == dialect_of("1.18"));
    stop(&s);

    CASE("who asks for a description speaks the newest, whatever was assumed");
    serve(&s, fnet_dialect_newest(), dialect_of("1.19"));
    const struct fnet_message describe = {
        .type = FNET_DESCRIPTION_REQUEST, .receiver = s.id, .describe = {.all = true}};
    CHECK_INT(tell(&s.peer, &describe), FNET_OK);
    must_hear(&s.peer, FNET_DESCRIPTION_RESPONSE, &s.id);
    CHECK_INT(request(&s), FNET_OK);
    CHECK(fnet_session_dialect(s.session) == fnet_dialect_newest());
    stop(&s);

    CASE("nobody asks in two dialects over one connection");
    serve(&s, dialect_of("1.8"), NULL);
    CHECK_INT(request(&s), FNET_OK);
    s.peer.dialect = fnet_dialect_newest();
    fnet_id_random(&s.id);
    CHECK_INT(request(&s), FNET_BAD_LENGTH);
    must_hear_error(&s.peer, NULL, false, fnet_strerror(FNET_BAD_LENGTH));
    stop(&s);

    CASE("nor in one that does not exist");
    serve(&s, fnet_dialect_newest(), NULL);
    CHECK_INT(feed(s.session, "\0\0\0\x46\xba\xdc\x0f\xfe\2", 9, 1), FNET_BAD_LENGTH);
    CHECK_STR(fnet_session_error_text(s.session),
              "no version of Flink has a PartitionRequest of 70 bytes");
    stop(&s);

    CASE("what a dialect does not have breaks the protocol");
    serve(&s, dialect_of("1.8"), NULL);
    CHECK_INT(request(&s), FNET_OK);
    CHECK_INT(feed(s.session, "\0\0\0\x19\xba\xdc\x0f\xfe\x08", 9, SIZE_MAX), FNET_BAD_KIND);
    stop(&s);
}

/* Take leave of RECEIVER as Flink does that finds no such channel. */
static void cancel(struct served *s, const char receiver[static FNET_ID_BYTES])
{
    struct fnet_message message = {.type = FNET_CANCEL_PARTITION_REQUEST};

    memcpy(message.receiver.bytes, receiver, FNET_ID_BYTES);
    CHECK_INT(tell(&s->peer, &message), FNET_OK);
}

/* Hear the probe, and answer as DIALECT; no data comes before that. */
static void answer_probe(struct served *s, const struct fnet_dialect *dialect)
{
    must_hear(&s->peer, FNET_DIALECT_PROBE, NULL);
    must_be_silent(&s->peer);
    cancel(s, "fnet dialect: A");
    must_be_silent(&s->peer);
    cancel(s, dialect == dialect_of("1.19") ? "fnet dialect: B" : "fnet dialect: C");
    CHECK(fnet_session_dialect(s->session) == dialect);
    fnet_decoder_set_dialect(s->peer.decoder, dialect);
}

static void test_asked(void)
{
    static const char *const versions[] = {"1.19", "2.0"};
    static struct served s;

    for (size_t i = 0; i < 2; i++) {
        const struct fnet_dialect *dialect = dialect_of(versions[i]);
        CASE("1.19 and 2.0 ask alike: Flink is asked which it is, all channels wait");
        serve(&s, dialect, NULL);
        CHECK_INT(put_into(s.main.partition, 0, 'a', 10), FNET_OK);
        CHECK_INT(put_into(s.main.partition, 1, 'b', 20), FNET_OK);
        put_watermark(&s);
        CHECK_INT(fnet_partition_finish(s.main.partition), FNET_OK);
        CHECK_INT(request(&s), FNET_OK);
        struct fnet_message second = {.type = FNET_PARTITION_REQUEST,
                                      .request = {.partition = *fnet_partition_id(s.main.partition),
                                                  .first = 1,
                                                  .last = 1,
                                                  .credit = 2}};
        fnet_id_random(&second.receiver);
        CHECK_INT(tell(&s.peer, &second), FNET_OK);
        answer_probe(&s, dialect);
        CHECK_INT(must_hear(&s.peer, FNET_BUFFER_RESPONSE, &s.id).buffer.size, 10);
        CHECK_INT(must_hear(&s.peer, FNET_BUFFER_RESPONSE, &second.receiver).buffer.size, 20);

        CASE("what was asked for before the answer gets the events that its dialect has");
        int32_t sequence = 1;
        if (fnet_dialect_has_event(dialect, FNET_EVENT_WATERMARK)) {
            CHECK_INT(must_hear_event(&s, sequence++).type, FNET_EVENT_WATERMARK);
            must_hear(&s.peer, FNET_BUFFER_RESPONSE, &second.receiver);
        }
        CHECK_INT(must_hear_event(&s, sequence).type, FNET_EVENT_END_OF_DATA);

        CASE("an answer that comes twice, or that nobody asked for, changes nothing");
        cancel(&s, "fnet dialect: B");
        cancel(&s, "fnet dialect: C");
        CHECK(fnet_session_dialect(s.session) == dialect);
        stop(&s);
    }

    CASE("what a partition that does not exist is answered with does not wait");
    serve(&s, dialect_of("2.0"), NULL);
    struct fnet_message message = {.type = FNET_PARTITION_REQUEST, .receiver = s.id};
    CHECK_INT(tell(&s.peer, &message), FNET_OK);
    must_hear(&s.peer, FNET_DIALECT_PROBE, NULL);
    must_hear_error(&s.peer, &s.id, true, "not found");
    stop(&s);

    CASE("nobody is asked for whom a version was named, or whose channel names one");
    serve(&s, dialect_of("1.19"), dialect_of("1.19"));
    CHECK_INT(request(&s), FNET_OK);
    must_be_silent(&s.peer);
    CHECK(fnet_session_dialect(s.session) == dialect_of("1.19"));
    stop(&s);
}

static void test_named(void)
{
    static struct served s;
    const struct fnet_dialect *dialect;

    for (size_t i = 0; (dialect = fnet_dialect_at(i)); i++) {
        CASE("a channel that names its dialect is spoken to in it");
        serve(&s, dialect, NULL);
        fnet_channel_id_random(dialect, &s.id);
        CHECK_INT(put_into(s.main.partition, 0, 'a', 10), FNET_OK);
        CHECK_INT(fnet_partition_finish(s.main.partition), FNET_OK);
        CHECK_INT(request(&s), FNET_OK);
        CHECK(fnet_session_dialect(s.session) == dialect);
        CHECK_INT(must_hear(&s.peer, FNET_BUFFER_RESPONSE, &s.id).buffer.size, 10);
        stop(&s);
    }

    CASE("... but not if the request is of another length");
    serve(&s, dialect_of("1.18"), NULL);
    fnet_channel_id_random(dialect_of("2.0"), &s.id);
    CHECK_INT(request(&s), FNET_OK);
    CHECK(fnet_session_dialect(s.session) == dialect_of("1.18"));
    stop(&s);
}

static void test_ids(void)
{
    static struct served s;

    CASE("a partition is found by what the dialect says of it");
    serve(&s, dialect_of("1.14"), NULL);
    struct fnet_message message = {
        .type = FNET_PARTITION_REQUEST,
        .receiver = s.id,
        .request = {.partition = *fnet_partition_id(s.main.partition), .credit = 2}};
    message.request.partition.attempt = 3;
    fnet_id_random(&message.request.partition.vertex);
    CHECK_INT(tell(&s.peer, &message), FNET_OK);
    CHECK_INT(state_of(&s), FNET_SUBPARTITION_READING);
    CASE("... and not by less");
    fnet_id_random(&message.receiver);
    message.request.partition.number = 1;
    CHECK_INT(tell(&s.peer, &message), FNET_OK);
    must_hear_error(&s.peer, &message.receiver, true, "not found");
    stop(&s);
}

static void test_recovery(void)
{
    static struct served s;

    CASE("a channel that recovers gets nothing before it gives credit");
    serve(&s, dialect_of("2.4"), NULL);
    struct fnet_message message = {.type = FNET_PARTITION_REQUEST,
                                   .receiver = s.id,
                                   .request = {.partition = *fnet_partition_id(s.main.partition),
                                               .credit = 2,
                                               .recovers = true}};
    CHECK_INT(put_into(s.main.partition, 0, 'a', 10), FNET_OK);
    fnet_partition_flush(s.main.partition);
    CHECK_INT(tell(&s.peer, &message), FNET_OK);
    must_be_silent(&s.peer);
    message = (struct fnet_message){.type = FNET_ADD_CREDIT, .receiver = s.id, .credit = 1};
    CHECK_INT(tell(&s.peer, &message), FNET_OK);
    must_hear(&s.peer, FNET_BUFFER_RESPONSE, &s.id);
    stop(&s);
}

/* Four buffers are full, a fifth is being filled; credit pays for two. */
static int32_t backlog_heard(const char *version)
{
    static struct served s;

    serve(&s, dialect_of(version), dialect_of(version));
    CHECK_INT(put_into(s.main.partition, 0, 'a', 4 * MADE_SEGMENT_BYTES + 1), FNET_OK);
    CHECK_INT(request(&s), FNET_OK);
    int32_t backlog = must_hear(&s.peer, FNET_BUFFER_RESPONSE, &s.id).buffer.backlog;
    stop(&s);
    return backlog;
}

static void test_backlog(void)
{
    CASE("up to 1.8 the buffer that is being filled counts, later not");
    CHECK_INT(backlog_heard("1.8"), 4);
    CHECK_INT(backlog_heard("1.9"), 3);
    CHECK_INT(backlog_heard("1.14"), 3);
    CHECK_INT(backlog_heard("2.0"), 3);
}

/* ---- the consumer ------------------------------------------------------------------------ */

struct fetching {
    struct made_gate gate;
    struct fnet_channel *channel;
    struct fnet_session *session;
    struct scripted_peer peer;
    struct fnet_partition_id partition;
};

static void on_channel_error(void *arg, struct fnet_channel *channel, enum fnet_err err,
                             const char *text)
{
    (void)arg;
    (void)channel;
    (void)err;
    CHECK_STR(text, "silence");
}

static void fetch(struct fetching *f, const struct fnet_dialect *dialect)
{
    const struct fnet_consumer_listener listener = {.channel_error = on_channel_error};

    make_gate(&f->gate, 1, 2, 0);
    f->channel = f->gate.channels[0];
    CHECK_INT(fnet_partition_id_from_name("main", &f->partition), FNET_OK);
    CHECK_INT(fnet_consumer_session_new(&listener, dialect, &f->session), FNET_OK);
    meet_in(&f->peer, f->session, dialect);
    CHECK_INT(fnet_consumer_session_add(f->session, f->channel), FNET_OK);
    CHECK_INT(fnet_consumer_session_request(f->session, f->channel, &f->partition, 1), FNET_OK);

    struct fnet_message m =
        must_hear(&f->peer, FNET_PARTITION_REQUEST, fnet_channel_id(f->channel));
    struct fnet_partition_id wanted = fnet_partition_id_as_in(dialect, &f->partition);
    CHECK(fnet_partition_id_is_equal(&m.request.partition, &wanted));
    CHECK_INT(m.request.first, 1);
    CHECK_INT(m.request.credit, 2);
}

static void leave(struct fetching *f)
{
    part(&f->peer);
    unmake_gate(&f->gate);
}

/* Send number SEQUENCE: a data buffer of one byte, or an event of TYPE in the peer's dialect. */
static enum fnet_err send_data(struct fetching *f, int32_t sequence)
{
    const struct fnet_message m = {
        .type = FNET_BUFFER_RESPONSE,
        .receiver = *fnet_channel_id(f->channel),
        .buffer = {.sequence = sequence, .data_type = FNET_DATA_BUFFER, .size = 1}};

    return tell_payload(&f->peer, &m, 'a');
}

static enum fnet_err send_event(struct fetching *f, int32_t sequence,
                                const struct fnet_event *event)
{
    uint8_t bytes[512];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
    const struct fnet_message m = {
        .type = FNET_BUFFER_RESPONSE,
        .receiver = *fnet_channel_id(f->channel),
        .buffer = {.sequence = sequence,
                   .data_type = (uint8_t)fnet_event_data_type(event),
                   .size = (uint32_t)fnet_event_encoded_bytes(f->peer.dialect, event)}};

    CHECK_INT(fnet_message_encode(f->peer.dialect, &m, &w), FNET_OK);
    CHECK_INT(fnet_event_encode(f->peer.dialect, event, &w), FNET_OK);
    return feed(f->session, bytes, (size_t)(w.pos - bytes), SIZE_MAX);
}

/* Poll what must be of TYPE and, if an event, in the newest form. */
static void must_poll(struct fetching *f, uint8_t type)
{
    struct fnet_gate_item item;
    struct fnet_event event;

    if (!CHECK_INT(fnet_gate_poll(f->gate.gate, &item), FNET_OK))
        return;
    CHECK_STR(fnet_data_type_name(item.buffer.data_type), fnet_data_type_name(type));
    if (!fnet_data_type_is_buffer(type)) {
        CHECK_INT(fnet_event_decode(fnet_dialect_newest(), fnet_buffer_span(&item.buffer), &event),
                  FNET_OK);
        CHECK(type == FNET_ALIGNED_CHECKPOINT_BARRIER || type == FNET_EVENT_BUFFER ||
              (uint8_t)fnet_event_data_type(&event) == type);
    }
    fnet_gate_recycle(f->gate.gate, &item);
}

static void test_fetched(void)
{
    static const struct fnet_event end = {.type = FNET_EVENT_END_OF_PARTITION};
    static const struct fnet_event data_end = {.type = FNET_EVENT_END_OF_DATA};
    static const struct fnet_event barrier = {
        .type = FNET_EVENT_CHECKPOINT_BARRIER,
        .barrier = {.id = 42, .alignment_type = FNET_ALIGNED, .alignment_timeout_ms = INT64_MAX}};
    static struct fetching f;
    const struct fnet_dialect *dialect;

    for (size_t i = 0; (dialect = fnet_dialect_at(i)); i++) {
        const bool blocks = fnet_dialect_has_message(dialect, FNET_RESUME_CONSUMPTION);
        const bool ends = fnet_dialect_has_event(dialect, FNET_EVENT_END_OF_DATA);
        int32_t sequence = 0;

        CASE(dialect->name);
        fetch(&f, dialect);
        CHECK_INT(send_data(&f, sequence++), FNET_OK);
        must_poll(&f, FNET_DATA_BUFFER);
        struct fnet_message m = must_hear(&f.peer, FNET_ADD_CREDIT, fnet_channel_id(f.channel));
        CHECK_INT(m.credit, 1);
        struct fnet_partition_id named = {.number = 0};
        if (dialect->credit_names_partition)
            named = fnet_partition_id_as_in(dialect, &f.partition);
        CHECK(fnet_partition_id_is_equal(&m.credited, &named));

        CHECK_INT(send_event(&f, sequence++, &barrier), FNET_OK);
        must_poll(&f, blocks ? FNET_ALIGNED_CHECKPOINT_BARRIER : FNET_EVENT_BUFFER);
        if (blocks) {
            fnet_channel_resume(f.channel);
            must_hear(&f.peer, FNET_RESUME_CONSUMPTION, fnet_channel_id(f.channel));
        }

        CASE("the gate's reader is told of the end of data first, and acknowledges it");
        CHECK_INT(send_data(&f, sequence++), FNET_OK);
        CHECK_INT(send_event(&f, sequence++, ends ? &data_end : &end), FNET_OK);
        must_poll(&f, FNET_DATA_BUFFER);
        must_poll(&f, FNET_END_OF_DATA);
        if (!ends) {
            must_be_silent(&f.peer); /* no credit either: the producer may have forgotten us */
            CHECK_INT(fnet_channel_state(f.channel), FNET_CHANNEL_OPEN);
        } else {
            must_hear(&f.peer, FNET_ADD_CREDIT, fnet_channel_id(f.channel));
        }
        fnet_channel_acknowledge(f.channel);
        if (ends) {
            must_hear(&f.peer, FNET_ACK_ALL_USER_RECORDS_PROCESSED, fnet_channel_id(f.channel));
            CHECK_INT(send_event(&f, sequence++, &end), FNET_OK);
        }
        CASE("then it leaves");
        must_hear(&f.peer, FNET_CLOSE_REQUEST, NULL);
        CHECK_INT(fnet_channel_state(f.channel), FNET_CHANNEL_ENDED);
        must_poll(&f, FNET_END_OF_PARTITION);
        CHECK_INT(fnet_session_end_of_stream(f.session), FNET_OK);
        leave(&f);
    }
}

static void test_held_end(void)
{
    static const struct fnet_event end = {.type = FNET_EVENT_END_OF_PARTITION};
    static struct fetching f;

    CASE("nothing may come behind the end that is held");
    fetch(&f, dialect_of("1.10"));
    CHECK_INT(send_event(&f, 0, &end), FNET_OK);
    CHECK_INT(send_data(&f, 1), FNET_BAD_SEQUENCE);
    CHECK(fnet_consumer_session_culprit(f.session) == f.channel);
    leave(&f);

    CASE("a producer that is gone meanwhile is no loss");
    fetch(&f, dialect_of("1.13"));
    CHECK_INT(send_event(&f, 0, &end), FNET_OK);
    CHECK_INT(fnet_session_end_of_stream(f.session), FNET_OK);
    fnet_session_free(f.session);
    f.peer.session = NULL;
    CHECK_INT(fnet_channel_state(f.channel), FNET_CHANNEL_ENDED);
    must_poll(&f, FNET_END_OF_DATA);
    must_poll(&f, FNET_END_OF_PARTITION);
    leave(&f);

    CASE("a channel that is cancelled before that was said does not leave: the connection ends");
    fetch(&f, dialect_of("1.13"));
    CHECK_INT(send_event(&f, 0, &end), FNET_OK);
    fnet_channel_acknowledge(f.channel);
    fnet_channel_cancel(f.channel);
    must_be_silent(&f.peer);
    CHECK(fnet_session_is_closing(f.session));
    CHECK_INT(fnet_channel_state(f.channel), FNET_CHANNEL_CANCELLED);
    leave(&f);

    CASE("without memory for its end a channel fails");
    fetch(&f, dialect_of("1.13"));
    CHECK_INT(send_event(&f, 0, &end), FNET_OK);
    failmalloc_arm(1);
    fnet_session_free(f.session);
    bool did_fail = failmalloc_disarm();
    f.peer.session = NULL;
    CHECK_INT(fnet_channel_error(f.channel), did_fail ? FNET_NOMEM : FNET_OK);
    leave(&f);
}

static void test_not_said(void)
{
    static struct fetching f;
    const struct fnet_id id = {.bytes = {1}};

    CASE("an event that is none breaks the protocol");
    fetch(&f, dialect_of("1.16"));
    const struct fnet_message m = {.type = FNET_BUFFER_RESPONSE,
                                   .receiver = *fnet_channel_id(f.channel),
                                   .buffer = {.data_type = FNET_EVENT_BUFFER, .size = 4}};
    CHECK_INT(tell_payload(&f.peer, &m, 0x7f), FNET_BAD_KIND);
    CHECK(fnet_consumer_session_culprit(f.session) == f.channel);
    leave(&f);

    CASE("nobody old is asked for a description");
    fetch(&f, dialect_of("1.20"));
    CHECK_INT(fnet_consumer_session_describe(f.session, &id, NULL), FNET_INVALID);
    must_be_silent(&f.peer);
    leave(&f);
}

int main(void)
{
    test_served();
    test_unheard();
    test_recognised();
    test_asked();
    test_named();
    test_ids();
    test_recovery();
    test_backlog();
    test_fetched();
    test_held_end();
    test_not_said();
    return tap_done();
}
