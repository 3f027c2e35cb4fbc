/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: the other end of a session, played by the test: messages are told to the session, and what
 * it says is heard.
 */
#ifndef TESTS_SESSION_SCRIPTED_PEER_H
#define TESTS_SESSION_SCRIPTED_PEER_H

#include "fnet/session.h"

#include "../tap.h"

#define PEER_PAYLOAD_BYTES (64u << 10)

struct scripted_peer {
    struct fnet_session *session; /**< borrowed */
    const struct fnet_dialect *dialect;
    struct fnet_decoder *decoder;        /**< of what the session says */
    size_t step;                         /**< bytes that go over at a time */
    uint8_t payload[PEER_PAYLOAD_BYTES]; /**< of the BufferResponse heard last */
    size_t payload_len;
};

__attribute__((unused)) static void meet_in(struct scripted_peer *p, struct fnet_session *session,
                                            const struct fnet_dialect *dialect)
{
    p->session = session;
    p->dialect = dialect;
    p->step = SIZE_MAX;
    p->payload_len = 0;
    CHECK_INT(fnet_decoder_new(dialect, 0, &p->decoder), FNET_OK);
}

__attribute__((unused)) static void meet(struct scripted_peer *p, struct fnet_session *session)
{
    meet_in(p, session, fnet_dialect_newest());
}

__attribute__((unused)) static void part(struct scripted_peer *p)
{
    fnet_session_free(p->session);
    fnet_decoder_free(p->decoder);
}

/** Put LEN bytes into SESSION, at most STEP at a time. */
__attribute__((unused)) static enum fnet_err feed(struct fnet_session *session, const void *bytes,
                                                  size_t len, size_t step)
{
    const uint8_t *pos = bytes;

    while (len > 0) {
        struct iovec spaces[FNET_SESSION_RECV_SPACES];
        size_t n = fnet_session_recv_spaces(session, spaces);
        size_t moved = 0;
        for (size_t i = 0; i < n && len > 0 && moved < step; i++) {
            size_t most = step - moved < len ? step - moved : len;
            size_t some = spaces[i].iov_len < most ? spaces[i].iov_len : most;
            memcpy(spaces[i].iov_base, pos, some);
            pos += some;
            len -= some;
            moved += some;
        }
        if (!CHECK(moved > 0))
            return FNET_STATE;
        enum fnet_err err = fnet_session_received(session, moved);
        if (err != FNET_OK)
            return err;
    }
    return FNET_OK;
}

/** Say MESSAGE to the session; with a BufferResponse its payload, all zeros behind the first byte.
 */
__attribute__((unused)) static enum fnet_err tell_payload(struct scripted_peer *p,
                                                          const struct fnet_message *message,
                                                          uint8_t first)
{
    static uint8_t frame[FNET_BUFFER_RESPONSE_HEAD_BYTES + (1u << 20)];
    struct fnet_writer w = fnet_writer_of(frame, sizeof frame);

    CHECK_INT(fnet_message_encode(p->dialect, message, &w), FNET_OK);
    size_t len = (size_t)(w.pos - frame);
    if (message->type == FNET_BUFFER_RESPONSE) {
        memset(frame + len, 0, message->buffer.size);
        frame[len] = first;
        len += message->buffer.size;
    }
    return feed(p->session, frame, len, p->step);
}

__attribute__((unused)) static enum fnet_err tell(struct scripted_peer *p,
                                                  const struct fnet_message *message)
{
    return tell_payload(p, message, 0);
}

/** Let up to STEP bytes come from the session; false when it has nothing to say. */
static bool let_come(struct scripted_peer *p)
{
    struct iovec spans[8];
    uint8_t *space;
    size_t room;
    size_t moved = 0;
    size_t n = fnet_session_send_spans(p->session, spans, 8);

    fnet_decoder_space(p->decoder, &space, &room);
    if (room > p->step)
        room = p->step;
    for (size_t i = 0; i < n && moved < room; i++) {
        size_t some = spans[i].iov_len < room - moved ? spans[i].iov_len : room - moved;
        memcpy(space + moved, spans[i].iov_base, some);
        moved += some;
    }
    fnet_decoder_commit(p->decoder, moved);
    fnet_session_sent(p->session, moved);
    return moved > 0;
}

/** The next message of the session, its payload in P; false when it says nothing. */
__attribute__((unused)) static bool hear(struct scripted_peer *p, struct fnet_message *out)
{
    enum fnet_err err;

    while ((err = fnet_decoder_next(p->decoder, out)) == FNET_AGAIN)
        if (!let_come(p))
            return false;
    if (!CHECK_INT(err, FNET_OK))
        return false;
    if (out->type != FNET_BUFFER_RESPONSE)
        return true;
    p->payload_len = 0;
    while (fnet_decoder_payload_left(p->decoder) > 0) {
        struct fnet_span some = fnet_decoder_payload(p->decoder);
        if (some.len > 0)
            memcpy(p->payload + p->payload_len, some.ptr, some.len);
        p->payload_len += some.len;
        fnet_decoder_take(p->decoder, some.len);
        if (fnet_decoder_payload_left(p->decoder) > 0 && !CHECK(let_come(p)))
            return false;
    }
    return true;
}

/** Hear a message of TYPE for RECEIVER (NULL: whoever). */
__attribute__((unused)) static struct fnet_message must_hear(struct scripted_peer *p,
                                                             enum fnet_message_type type,
                                                             const struct fnet_id *receiver)
{
    struct fnet_message message = {.type = type};

    if (!CHECK(hear(p, &message)))
        return (struct fnet_message){.type = type};
    CHECK_STR(fnet_message_type_name(message.type), fnet_message_type_name(type));
    if (receiver)
        CHECK(fnet_id_is_equal(&message.receiver, receiver));
    return message;
}

__attribute__((unused)) static void must_be_silent(struct scripted_peer *p)
{
    struct fnet_message message;

    if (hear(p, &message))
        CHECK_STR(fnet_message_type_name(message.type), "silence");
}

/** Hear an ErrorResponse, for RECEIVER or (NULL) for the connection, whose message has TEXT. */
__attribute__((unused)) static void must_hear_error(struct scripted_peer *p,
                                                    const struct fnet_id *receiver,
                                                    bool is_not_found, const char *text)
{
    struct fnet_message message = must_hear(p, FNET_ERROR_RESPONSE, receiver);
    struct fnet_throwable thrown = {.message = ""};

    CHECK_INT(message.error.has_receiver, receiver != NULL);
    CHECK_INT(fnet_throwable_decode(message.error.throwable, &thrown), FNET_OK);
    CHECK_INT(strcmp(thrown.class_name, FNET_PARTITION_NOT_FOUND_CLASS) == 0, is_not_found);
    if (!strstr(thrown.message, text))
        CHECK_STR(thrown.message, text);
}

#endif
