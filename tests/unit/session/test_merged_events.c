/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several events in one frame: which of them a channel takes, each with its number and its bytes,
 * and what is said of the others.
 */
#include "../../../lib/session/merged_events.h"

#include "fnet/event.h"

#include "../failmalloc.h"
#include "../gate/made_gate.h"
#include "scripted_peer.h"

/* A channel that is received from a scripted producer. */
struct fetching {
    struct made_gate gate;
    struct fnet_channel *channel;
    struct fnet_session *session;
    struct scripted_peer peer;
};

static void fetch(struct fetching *f, const char *version)
{
    const struct fnet_consumer_listener listener = {.arg = NULL};
    const struct fnet_dialect *dialect = fnet_dialect_newest();
    struct fnet_partition_id partition;

    CHECK_INT(fnet_dialect_parse(version, &dialect), FNET_OK);
    make_gate(&f->gate, 1, 2, 0);
    f->channel = f->gate.channels[0];
    CHECK_INT(fnet_partition_id_from_name("main", &partition), FNET_OK);
    CHECK_INT(fnet_consumer_session_new(&listener, dialect, &f->session), FNET_OK);
    meet_in(&f->peer, f->session, dialect);
    CHECK_INT(fnet_consumer_session_add(f->session, f->channel), FNET_OK);
    CHECK_INT(fnet_consumer_session_request(f->session, f->channel, &partition, 0), FNET_OK);
    (void)must_hear(&f->peer, FNET_PARTITION_REQUEST, fnet_channel_id(f->channel));
}

static void stop(struct fetching *f)
{
    part(&f->peer);
    unmake_gate(&f->gate);
}

/* Events to come in one frame. */
struct merged {
    uint8_t sizes[4 * 8];
    uint8_t bytes[512];
    uint32_t count;
    uint32_t len;
};

static void add_bytes(struct merged *e, const void *bytes, size_t len)
{
    fnet_store_be32(e->sizes + 4 * (size_t)e->count++, (uint32_t)len);
    if (len > 0)
        memcpy(e->bytes + e->len, bytes, len);
    e->len += (uint32_t)len;
}

static void add_event(struct merged *e, const struct fnet_dialect *dialect,
                      const struct fnet_event *event)
{
    uint8_t bytes[256];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);

    CHECK_INT(fnet_event_encode(dialect, event, &w), FNET_OK);
    add_bytes(e, bytes, (size_t)(w.pos - bytes));
}

static struct fnet_message message_of(const struct fetching *f, int32_t sequence, uint8_t type,
                                      const struct merged *e)
{
    return (struct fnet_message){
        .type = FNET_BUFFER_RESPONSE,
        .receiver = *fnet_channel_id(f->channel),
        .buffer = {.sequence = sequence,
                   .backlog = 3,
                   .data_type = type,
                   .size = e->len,
                   .partials = e->count,
                   .partial_sizes = fnet_span_of(e->sizes, 4 * (size_t)e->count)},
    };
}

static enum fnet_err send(struct fetching *f, int32_t sequence, uint8_t type,
                          const struct merged *e)
{
    const struct fnet_message m = message_of(f, sequence, type, e);
    uint8_t frame[1024];
    struct fnet_writer w = fnet_writer_of(frame, sizeof frame);

    CHECK_INT(fnet_message_encode(f->peer.dialect, &m, &w), FNET_OK);
    fnet_put_bytes(&w, e->bytes, e->len);
    return feed(f->session, frame, (size_t)(w.pos - frame), f->peer.step);
}

static void must_poll(struct fetching *f, uint8_t type, const void *bytes, size_t len)
{
    struct fnet_gate_item item;

    if (!CHECK_INT(fnet_gate_poll(f->gate.gate, &item), FNET_OK))
        return;
    CHECK_INT(item.buffer.data_type, type);
    if (CHECK_INT(item.buffer.len, len))
        CHECK(memcmp(fnet_buffer_span(&item.buffer).ptr, bytes, len) == 0);
    fnet_gate_recycle(f->gate.gate, &item);
}

/* The session dies of what the producer sent, with TEXT in what it says of it. */
static void must_die(struct fetching *f, enum fnet_err actual, enum fnet_err err, const char *text)
{
    CHECK_INT(actual, err);
    CHECK_INT(fnet_session_error(f->session), err);
    CHECK_STR(fnet_session_error_text(f->session), text);
    CHECK(fnet_consumer_session_culprit(f->session) == f->channel);
    stop(f);
}

static void test_taken(void)
{
    struct merged e = {.count = 0};
    struct fetching f;

    add_bytes(&e, "\0\0\0\4abcdefgh", 12);
    add_bytes(&e, "\0\0\0\6", 4);
    add_bytes(&e, "?", 1);

    for (size_t step = 1; step <= 64; step *= 4) {
        CASE("events are received as if each had come alone, however the frame is cut");
        fetch(&f, "2.3");
        f.peer.step = step;
        CHECK_INT(send(&f, 0, FNET_EVENT_BUFFER, &e), FNET_OK);
        const struct fnet_channel_counts counts = fnet_channel_counts(f.channel);
        CHECK_INT(counts.events, 3);
        CHECK_INT(counts.queued, 3);
        CHECK_INT(counts.buffers, 0);
        CHECK_INT(counts.credit, 2);
        CHECK_INT(counts.backlog, 3);
        must_poll(&f, FNET_EVENT_BUFFER, "\0\0\0\4abcdefgh", 12);
        must_poll(&f, FNET_EVENT_BUFFER, "\0\0\0\6", 4);
        must_poll(&f, FNET_EVENT_BUFFER, "?", 1);
        CHECK_INT(poll_nothing(&f.gate), FNET_AGAIN);

        CASE("they count as so many in the sequence");
        CHECK_INT(send(&f, 3, FNET_UNALIGNED_WATERMARK_EVENT, &e), FNET_OK);
        CHECK_INT(send(&f, 6, FNET_PRIORITIZED_EVENT_BUFFER, &e), FNET_OK);
        must_be_silent(&f.peer);
        stop(&f);
    }
    CASE("and in no other");
    fetch(&f, "2.3");
    CHECK_INT(send(&f, 0, FNET_EVENT_BUFFER, &e), FNET_OK);
    must_die(&f, send(&f, 1, FNET_EVENT_BUFFER, &e), FNET_BAD_SEQUENCE,
             "wrong sequence number (EVENT_BUFFER 1)");

    CASE("one alone may be any, in the form of a merged frame, too");
    fetch(&f, "2.3");
    e = (struct merged){.count = 0};
    add_bytes(&e, "\0\0\0\10", 5);
    CHECK_INT(send(&f, 0, FNET_END_OF_DATA, &e), FNET_OK);
    must_poll(&f, FNET_END_OF_DATA, "\0\0\0\10", 5);
    stop(&f);
}

static void test_refused(void)
{
    static const struct {
        uint8_t type;
        const char *text;
    } cases[] = {
        {FNET_END_OF_DATA, "2 END_OF_DATA events in one frame for one subpartition"},
        {FNET_END_OF_PARTITION, "2 END_OF_PARTITION events in one frame for one subpartition"},
        {FNET_ALIGNED_CHECKPOINT_BARRIER,
         "2 ALIGNED_CHECKPOINT_BARRIER events in one frame, though each stops its sender"},
        {FNET_TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER,
         "2 TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER events in one frame, though each stops its "
         "sender"},
        {FNET_RECOVERY_COMPLETION,
         "2 RECOVERY_COMPLETION events in one frame, though each stops its sender"},
        {FNET_ALIGNED_WATERMARK_EVENT,
         "2 ALIGNED_WATERMARK_EVENT events in one frame, though each stops its sender"},
    };
    struct merged e = {.count = 0};
    struct fetching f;

    add_bytes(&e, "\0\0\0\10", 5);
    add_bytes(&e, "\0\0\0\10", 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CASE("what can come only once, or stops the sender, does not come twice in a frame");
        fetch(&f, "2.3");
        must_die(&f, send(&f, 0, cases[i].type, &e), FNET_BAD_VALUE, cases[i].text);
    }

    CASE("an event has a byte at least");
    add_bytes(&e, "", 0);
    fetch(&f, "2.3");
    must_die(&f, send(&f, 0, FNET_EVENT_BUFFER, &e), FNET_BAD_VALUE,
             "an event of 0 bytes among 3 in one frame");

    CASE("all together are no more than the longest event");
    fetch(&f, "2.3");
    struct fnet_message m = message_of(&f, 0, FNET_EVENT_BUFFER, &e);
    m.buffer.partials = 2;
    m.buffer.partial_sizes = fnet_span_of("\0\0\x80\0\0\0\x80\1", 8);
    m.buffer.size = FNET_EVENT_MAX_BYTES + 1;
    must_die(&f, tell(&f.peer, &m), FNET_BAD_VALUE,
             "a frame of events of 65537 bytes is larger than allowed");
}

static void test_translated(void)
{
    const struct fnet_event cancel = {.type = FNET_EVENT_CANCEL_CHECKPOINT, .checkpoint_id = 42};
    const struct fnet_event end = {.type = FNET_EVENT_END_OF_PARTITION};
    const struct fnet_dialect *snapshot = NULL;
    struct merged e = {.count = 0};
    struct fetching f;

    CASE("in another dialect each is translated by itself");
    CHECK_INT(fnet_dialect_parse("2.4", &snapshot), FNET_OK);
    add_event(&e, snapshot, &cancel);
    add_event(&e, snapshot, &cancel);
    fetch(&f, "2.4");
    CHECK_INT(send(&f, 0, FNET_EVENT_BUFFER, &e), FNET_OK);
    must_poll(&f, FNET_EVENT_BUFFER, "\0\0\0\4\0\0\0\0\0\0\0*", 12);
    must_poll(&f, FNET_EVENT_BUFFER, "\0\0\0\4\0\0\0\0\0\0\0*", 12);
    stop(&f);

    CASE("one that cannot be is told by its number, those before it are there");
    add_bytes(&e, "\0\0\0\x63", 4);
    fetch(&f, "2.4");
    CHECK_INT(send(&f, 0, FNET_EVENT_BUFFER, &e), FNET_BAD_KIND);
    CHECK_INT(fnet_channel_counts(f.channel).queued, 2);
    must_die(&f, FNET_BAD_KIND, FNET_BAD_KIND, "unexpected message or event (event 2)");

    CASE("nothing follows what is an end by its bytes");
    e = (struct merged){.count = 0};
    add_event(&e, snapshot, &end);
    add_event(&e, snapshot, &cancel);
    fetch(&f, "2.4");
    must_die(&f, send(&f, 0, FNET_EVENT_BUFFER, &e), FNET_BAD_SEQUENCE,
             "wrong sequence number (event 1)");
}

static void test_cancelled(void)
{
    struct merged e = {.count = 0};
    struct fetching f;
    uint8_t head[256];

    CASE("a channel that is cancelled while they come drops them");
    add_bytes(&e, "\0\0\0\4abcdefgh", 12);
    add_bytes(&e, "\0\0\0\4abcdefgh", 12);
    fetch(&f, "2.3");
    const struct fnet_message m = message_of(&f, 0, FNET_EVENT_BUFFER, &e);
    struct fnet_writer w = fnet_writer_of(head, sizeof head);
    CHECK_INT(fnet_message_encode(f.peer.dialect, &m, &w), FNET_OK);
    CHECK_INT(feed(f.session, head, (size_t)(w.pos - head), SIZE_MAX), FNET_OK);
    fnet_channel_cancel(f.channel);
    CHECK_INT(feed(f.session, e.bytes, e.len, 5), FNET_OK);
    CHECK_INT(fnet_channel_counts(f.channel).queued, 0);
    CHECK_INT(poll_nothing(&f.gate), FNET_EOF);
    stop(&f);
}

static void test_flood(void)
{
    struct merged e = {.count = 0};
    enum fnet_err err = FNET_OK;
    struct fetching f;
    int32_t n = 0;

    CASE("those that nobody polls are bounded, however many come in a frame");
    for (int i = 0; i < 8; i++)
        add_bytes(&e, "!", 1);
    fetch(&f, "2.3");
    for (; err == FNET_OK && n < INT32_MAX - 8; n += 8)
        err = send(&f, n, FNET_EVENT_BUFFER, &e);
    CHECK(n > 8);
    CHECK((size_t)n * sizeof(struct fnet_segment) <= FNET_GATE_EVENT_BYTES_MAX);
    CHECK_INT(err, FNET_NO_CREDIT);
    CHECK(strstr(fnet_session_error_text(f.session), "too many events that nobody reads") != NULL);
    stop(&f);
}

static void test_no_memory(void)
{
    struct merged e = {.count = 0};
    unsigned n = 0;
    bool failed;

    CASE("without memory the session fails and nothing is left behind");
    for (int i = 0; i < 4; i++)
        add_bytes(&e, "\0\0\0\4abcdefgh", 12);
    do {
        struct fetching f;
        fetch(&f, "2.4");
        failmalloc_arm(++n);
        enum fnet_err err = send(&f, 0, FNET_EVENT_BUFFER, &e);
        failed = failmalloc_disarm();
        CHECK_INT(err, failed ? FNET_NOMEM : FNET_OK);
        stop(&f);
    } while (failed);
}

int main(void)
{
    test_taken();
    test_refused();
    test_translated();
    test_cancelled();
    test_flood();
    test_no_memory();
    return tap_done();
}
