/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The half of a protocol machine that both sides share: bytes to messages, frames to bytes.
 *
 * Source: Flink NettyMessageClientDecoderDelegate, for payloads received into place.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "session_private.h"

/* Beside payloads, which bypass it, one read takes in this much: many small messages. */
#define STAGING_BYTES (16u << 10)
/* Behind a payload as long as this another long one is likely: no more is staged than has the next
   frame's head, so that its payload is received into place too and not copied. */
#define LONG_PAYLOAD_BYTES (8u << 10)
#define NEXT_HEAD_BYTES 256u

enum fnet_err fnet__session_init(struct fnet_session *session, const struct fnet__session_ops *ops,
                                 const struct fnet_dialect *dialect)
{
    *session = (struct fnet_session){
        .ops = ops, .dialect = dialect, .is_recognised = ops->recognise == NULL};
    return fnet_decoder_new(dialect, STAGING_BYTES, &session->decoder);
}

void fnet__session_clear(struct fnet_session *session)
{
    fnet_buffer_clear(&session->payload);
    fnet__outbox_clear(&session->outbox);
    fnet_decoder_free(session->decoder);
}

void fnet_session_free(struct fnet_session *session)
{
    if (session)
        session->ops->free(session);
}

void fnet_session_set_bell(struct fnet_session *session, struct fnet_bell bell)
{
    session->bell = bell;
}

enum fnet_err fnet__session_say(struct fnet_session *session, const struct fnet_message *message)
{
    enum fnet_err err = fnet__outbox_push(&session->outbox, session->dialect, message, NULL);

    if (err == FNET_OK)
        fnet_bell_ring(&session->bell);
    return err;
}

enum fnet_err fnet__session_fail(struct fnet_session *session, enum fnet_err err,
                                 const char *format, ...)
{
    va_list args;

    if (session->text[0] != '\0')
        return err;
    va_start(args, format);
    vsnprintf(session->text, sizeof session->text, format, args);
    va_end(args);
    return err;
}

enum fnet_err fnet_session_error(const struct fnet_session *session)
{
    return session->error;
}

const char *fnet_session_error_text(const struct fnet_session *session)
{
    return session->text;
}

struct fnet_session_counts fnet_session_counts(const struct fnet_session *session)
{
    return session->counts;
}

const struct fnet_dialect *fnet_session_dialect(const struct fnet_session *session)
{
    return session->dialect;
}

bool fnet_session_wants_read(const struct fnet_session *session)
{
    return session->error == FNET_OK && session->outbox.count < session->ops->full_frames;
}

bool fnet_session_is_closing(const struct fnet_session *session)
{
    return session->is_closing;
}

size_t fnet_session_recv_spaces(struct fnet_session *session,
                                struct iovec spaces[static FNET_SESSION_RECV_SPACES])
{
    size_t n = 0;
    uint8_t *staging;
    size_t len;

    fnet_decoder_space(session->decoder, &staging, &len);
    if (session->is_receiving && session->payload.segment) {
        spaces[n++] = (struct iovec){.iov_base = session->payload.segment->bytes + session->filled,
                                     .iov_len = session->payload.len - session->filled};
        if (session->payload.len >= LONG_PAYLOAD_BYTES && len > NEXT_HEAD_BYTES)
            len = NEXT_HEAD_BYTES;
    }
    spaces[n++] = (struct iovec){.iov_base = staging, .iov_len = len};
    return n;
}

static enum fnet_err finish_payload(struct fnet_session *session)
{
    if (fnet_decoder_payload_left(session->decoder) > 0)
        return FNET_OK;
    session->is_receiving = false;
    session->filled = 0;
    session->counts.frames_in++;
    return session->payload.segment ? session->ops->on_payload(session) : FNET_OK;
}

/* The payload's bytes that came into the staging space, because they came with its head. */
static enum fnet_err take_staged(struct fnet_session *session)
{
    struct fnet_span staged = fnet_decoder_payload(session->decoder);

    if (session->payload.segment && staged.len > 0) {
        memcpy(session->payload.segment->bytes + session->filled, staged.ptr, staged.len);
        session->filled += (uint32_t)staged.len;
    }
    fnet_decoder_take(session->decoder, staged.len);
    return finish_payload(session);
}

/* A peer's dialect shows in its first frame. */
static enum fnet_err recognise(struct fnet_session *session)
{
    uint8_t type;
    uint32_t length;
    enum fnet_err err = fnet_decoder_peek(session->decoder, &type, &length);

    if (err != FNET_OK)
        return err;

    const struct fnet_dialect *dialect = session->ops->recognise(session, type, length);
    if (!dialect)
        return fnet__session_fail(session, FNET_BAD_LENGTH,
                                  "no version of Flink has a %s of %" PRIu32 " bytes",
                                  fnet_message_type_name(type), length);
    fnet_decoder_set_dialect(session->decoder, dialect);
    session->dialect = dialect;
    session->is_recognised = true;
    return FNET_OK;
}

static enum fnet_err next_message(struct fnet_session *session, struct fnet_message *out)
{
    enum fnet_err err = session->is_recognised ? FNET_OK : recognise(session);

    return err == FNET_OK ? fnet_decoder_next(session->decoder, out) : err;
}

static enum fnet_err work(struct fnet_session *session)
{
    for (;;) {
        struct fnet_message message;
        enum fnet_err err;

        if (session->is_receiving) {
            err = take_staged(session);
            if (err != FNET_OK || session->is_receiving)
                return err;
        }
        session->is_held = session->outbox.count >= session->ops->full_frames;
        if (session->is_held)
            return FNET_OK;
        err = next_message(session, &message);
        if (err == FNET_AGAIN)
            return FNET_OK;
        if (err != FNET_OK)
            return fnet__session_fail(session, err, "%s", fnet_strerror(err));
        if (message.type == FNET_BUFFER_RESPONSE)
            session->is_receiving = true;
        else
            session->counts.frames_in++;
        err = session->ops->on_message(session, &message);
        if (err != FNET_OK)
            return err;
    }
}

/* An error is told to the peer, if that is this side's part. */
static enum fnet_err settle(struct fnet_session *session, enum fnet_err err)
{
    if (err != FNET_OK) {
        session->error = fnet__session_fail(session, err, "%s", fnet_strerror(err));
        session->ops->on_error(session);
    }
    return err;
}

enum fnet_err fnet_session_received(struct fnet_session *session, size_t n)
{
    enum fnet_err err = FNET_OK;
    size_t direct = 0;

    session->counts.bytes_in += n;
    if (session->is_receiving && session->payload.segment) {
        direct = session->payload.len - session->filled;
        if (direct > n)
            direct = n;
        session->filled += (uint32_t)direct;
        fnet_decoder_skip_ahead(session->decoder, direct);
        err = finish_payload(session);
    }
    fnet_decoder_commit(session->decoder, n - direct);
    if (err == FNET_OK)
        err = work(session);
    return settle(session, err);
}

enum fnet_err fnet_session_end_of_stream(struct fnet_session *session)
{
    if (session->error != FNET_OK)
        return session->error;
    if (session->is_receiving || fnet_decoder_is_mid_frame(session->decoder))
        session->error = FNET_TRUNCATED;
    else if (session->ops->is_unfinished(session))
        session->error = FNET_LOST;
    else
        return FNET_OK;
    return fnet__session_fail(session, session->error, "%s", fnet_strerror(session->error));
}

size_t fnet_session_send_spans(struct fnet_session *session, struct iovec *spans, size_t max)
{
    if (session->error == FNET_OK) {
        enum fnet_err err = session->ops->refill(session);
        if (err != FNET_OK)
            session->error = fnet__session_fail(session, err, "%s", fnet_strerror(err));
    }
    return fnet__outbox_gather(&session->outbox, spans, max);
}

void fnet_session_sent(struct fnet_session *session, size_t n)
{
    session->counts.bytes_out += n;
    session->counts.frames_out += fnet__outbox_advance(&session->outbox, n);
    if (session->is_held && session->error == FNET_OK) {
        enum fnet_err err = settle(session, work(session));
        (void)err; /* it is kept: fnet_session_error() */
    }
}
