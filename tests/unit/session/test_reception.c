/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers and events that a consumer session receives: into which memory, and which it refuses.
 */
#include "fetching.h"

static void test_in_place(void)
{
    struct fetching f;
    struct iovec spaces[FNET_SESSION_RECV_SPACES];
    uint8_t head[FNET_BUFFER_RESPONSE_HEAD_BYTES];

    CASE("a payload is received into the memory in which it will be used");
    fetch(&f, 1, 2, 0);
    request_all(&f);
    CHECK_INT(fnet_session_recv_spaces(f.session, spaces), 1);
    const struct fnet_message m = buffer_of(&f, 0, 0, FNET_DATA_BUFFER, 100);
    struct fnet_writer w = fnet_writer_of(head, sizeof head);
    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &m, &w), FNET_OK);
    CHECK_INT(feed(f.session, head, sizeof head, SIZE_MAX), FNET_OK);
    CHECK_INT(fnet_session_recv_spaces(f.session, spaces), 2);
    CHECK_INT(spaces[0].iov_len, 100);
    const uint8_t *place = spaces[0].iov_base;
    memset(spaces[0].iov_base, 'a', 60);
    CHECK_INT(fnet_session_received(f.session, 60), FNET_OK);
    CHECK_INT(fnet_session_recv_spaces(f.session, spaces), 2);
    CHECK(spaces[0].iov_base == place + 60);
    CHECK_INT(spaces[0].iov_len, 40);
    CHECK_INT(poll_nothing(&f.gate), FNET_AGAIN);

    CASE("what follows it is received beside it in the same go");
    memset(spaces[0].iov_base, 'b', 40);
    struct fnet_message next = buffer_of(&f, 0, 1, FNET_DATA_BUFFER, 100);
    w = fnet_writer_of(spaces[1].iov_base, spaces[1].iov_len);
    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &next, &w), FNET_OK);
    CHECK_INT(fnet_session_received(f.session, 40 + sizeof head), FNET_OK);
    struct fnet_gate_item item;
    CHECK_INT(fnet_gate_poll(f.gate.gate, &item), FNET_OK);
    CHECK(fnet_buffer_span(&item.buffer).ptr == place);
    CHECK_INT(item.buffer.len, 100);
    CHECK_INT(place[59], 'a');
    CHECK_INT(place[60], 'b');
    fnet_gate_recycle(f.gate.gate, &item);
    CHECK_INT(fnet_session_recv_spaces(f.session, spaces), 2);
    CHECK_INT(spaces[0].iov_len, 100);

    CASE("a session that ends in the middle of it gives the memory back");
    stop(&f);
}

static void test_wrong_buffers(void)
{
    struct fetching f;

    CASE("a gap in the sequence");
    struct fnet_message m = fetch_two(&f);
    m.buffer.sequence = 1;
    must_die(&f, tell(&f.peer, &m), FNET_BAD_SEQUENCE, "(DATA_BUFFER 1)", 1);

    CASE("a buffer without credit");
    m = fetch_two(&f);
    CHECK_INT(tell(&f.peer, &m), FNET_OK);
    m.buffer.sequence++;
    CHECK_INT(tell(&f.peer, &m), FNET_OK);
    m.buffer.sequence++;
    must_die(&f, tell(&f.peer, &m), FNET_NO_CREDIT, "(DATA_BUFFER 2)", 1);

    CASE("a buffer larger than a segment");
    m = fetch_two(&f);
    m.buffer.size = MADE_SEGMENT_BYTES + 1;
    must_die(&f, tell(&f.peer, &m), FNET_BAD_LENGTH, "a buffer of 257 bytes is larger than", 1);

    CASE("an event larger than allowed");
    m = fetch_two(&f);
    m.buffer.data_type = FNET_EVENT_BUFFER;
    m.buffer.size = FNET_EVENT_MAX_BYTES + 1;
    must_die(&f, tell(&f.peer, &m), FNET_BAD_VALUE, "an event of 65537 bytes is larger than", 1);

    CASE("a buffer for a channel that is not there");
    m = fetch_two(&f);
    m.receiver.bytes[0] ^= 1;
    must_die(&f, tell(&f.peer, &m), FNET_UNKNOWN_RECEIVER, "BufferResponse for unknown receiver",
             -1);

    CASE("a compressed buffer");
    m = fetch_two(&f);
    m.buffer.is_compressed = true;
    must_die(&f, tell(&f.peer, &m), FNET_BAD_VALUE, "compressed", 1);

    CASE("a buffer behind the end of its partition");
    m = fetch_two(&f);
    int32_t next = m.buffer.sequence;
    CHECK_INT(send(&f, 1, next, FNET_END_OF_PARTITION, 0), FNET_OK);
    m.buffer.sequence = next + 1;
    must_die(&f, tell(&f.peer, &m), FNET_BAD_SEQUENCE, "wrong sequence number", 1);

    CASE("two ends in one frame");
    m = fetch_two(&f);
    m.buffer.partials = 2;
    m.buffer.data_type = FNET_END_OF_PARTITION;
    m.buffer.partial_sizes = fnet_span_of("\0\0\0\4\0\0\0\6", 8);
    must_die(&f, tell(&f.peer, &m), FNET_BAD_VALUE, "2 END_OF_PARTITION events in one frame", 1);
}

static void test_event_flood(void)
{
    struct fetching f;
    enum fnet_err err = FNET_OK;
    int32_t n = 0;

    CASE("events without end are refused when too many wait");
    struct fnet_message m = fetch_two(&f);
    m.buffer.data_type = FNET_EVENT_BUFFER;
    m.buffer.size = FNET_EVENT_MAX_BYTES;
    while (err == FNET_OK && n < 10000) {
        m.buffer.sequence = n++;
        err = tell(&f.peer, &m);
    }
    CHECK((size_t)n <= FNET_GATE_EVENT_BYTES_MAX / FNET_EVENT_MAX_BYTES + 1);
    must_die(&f, err, FNET_NO_CREDIT, "too many events that nobody reads", 1);
}

static void test_two_connections(void)
{
    struct fetching f;
    struct fnet_session *other = NULL;
    struct scripted_peer peer;
    const struct fnet_consumer_listener listener = listener_of(&f.told);
    uint8_t head[FNET_BUFFER_RESPONSE_HEAD_BYTES];

    CASE("what a broken connection was receiving is credit for the channel of another");
    fetch_some(&f, 2, 1, 0, 1);
    CHECK_INT(fnet_consumer_session_new(&listener, fnet_dialect_newest(), &other), FNET_OK);
    meet(&peer, other);
    CHECK_INT(fnet_consumer_session_add(other, f.gate.channels[1]), FNET_OK);
    CHECK_INT(announce(&f, 0, 1), FNET_OK);
    must_hear_credit(&f, 0, 1);
    const struct fnet_message backlog = {
        .type = FNET_BACKLOG_ANNOUNCEMENT, .receiver = *id_of(&f, 1), .backlog = 1};
    CHECK_INT(tell(&peer, &backlog), FNET_OK);
    const struct fnet_message m = buffer_of(&f, 0, 0, FNET_DATA_BUFFER, 100);
    struct fnet_writer w = fnet_writer_of(head, sizeof head);
    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &m, &w), FNET_OK);
    CHECK_INT(feed(f.session, head, sizeof head, SIZE_MAX), FNET_OK);
    must_be_silent(&peer);
    part(&f.peer);
    CHECK_INT(must_hear(&peer, FNET_ADD_CREDIT, id_of(&f, 1)).credit, 1);
    part(&peer);
    unmake_gate(&f.gate);
}

int main(void)
{
    test_in_place();
    test_wrong_buffers();
    test_event_flood();
    test_two_connections();
    return tap_done();
}
