/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: a consumer session for the channels of a gate, and a scripted producer.
 */
#ifndef TESTS_SESSION_FETCHING_H
#define TESTS_SESSION_FETCHING_H

#include "../gate/made_gate.h"
#include "scripted_peer.h"

/* What the listener was told. */
struct told {
    int channel_errors;
    struct fnet_channel *channel;
    enum fnet_err err;
    char text[256];
    bool fails_channel; /* fail the channel that has an error */
    int descriptions;
    struct fnet_id request;
    int32_t remaining;
    int description_errors;
};

/* A consumer session for the channels of a gate, and its producer. */
struct fetching {
    struct made_gate gate;
    struct fnet_session *session;
    struct scripted_peer peer;
    struct fnet_partition_id partition;
    struct told told;
    int rings;
};

__attribute__((unused)) static void on_channel_error(void *arg, struct fnet_channel *channel,
                                                     enum fnet_err err, const char *text)
{
    struct told *told = arg;

    told->channel_errors++;
    told->channel = channel;
    told->err = err;
    snprintf(told->text, sizeof told->text, "%s", text);
    if (told->fails_channel)
        fnet_channel_fail(channel, err);
}

__attribute__((unused)) static void on_description(
    void *arg, const struct fnet_id *request, const struct fnet_description_response *description)
{
    struct told *told = arg;

    told->descriptions++;
    told->request = *request;
    told->remaining = description->remaining;
}

__attribute__((unused)) static void on_description_error(void *arg, const struct fnet_id *request,
                                                         enum fnet_err err, const char *text)
{
    struct told *told = arg;

    told->description_errors++;
    told->request = *request;
    told->err = err;
    snprintf(told->text, sizeof told->text, "%s", text);
}

__attribute__((unused)) static struct fnet_consumer_listener listener_of(struct told *told)
{
    return (struct fnet_consumer_listener){.channel_error = on_channel_error,
                                           .description = on_description,
                                           .description_error = on_description_error,
                                           .arg = told};
}

/* Of a gate of CHANNELS the first ADDED are the session's. */
__attribute__((unused)) static void fetch_some(struct fetching *f, size_t channels, size_t added,
                                               uint32_t exclusive, uint32_t floating)
{
    f->told = (struct told){.err = FNET_OK};
    f->rings = 0;
    const struct fnet_consumer_listener listener = listener_of(&f->told);

    make_gate(&f->gate, channels, exclusive, floating);
    CHECK_INT(fnet_partition_id_from_name("main", &f->partition), FNET_OK);
    CHECK_INT(fnet_consumer_session_new(&listener, fnet_dialect_newest(), &f->session), FNET_OK);
    fnet_session_set_bell(f->session,
                          (struct fnet_bell){.ring = count_gate_ring, .arg = &f->rings});
    meet(&f->peer, f->session);
    for (size_t i = 0; i < added; i++)
        CHECK_INT(fnet_consumer_session_add(f->session, f->gate.channels[i]), FNET_OK);
}

__attribute__((unused)) static void fetch(struct fetching *f, size_t channels, uint32_t exclusive,
                                          uint32_t floating)
{
    fetch_some(f, channels, channels, exclusive, floating);
}

__attribute__((unused)) static void stop(struct fetching *f)
{
    part(&f->peer);
    unmake_gate(&f->gate);
}

__attribute__((unused)) static const struct fnet_id *id_of(const struct fetching *f, size_t i)
{
    return fnet_channel_id(f->gate.channels[i]);
}

__attribute__((unused)) static enum fnet_err request(struct fetching *f, size_t i)
{
    return fnet_consumer_session_request(f->session, f->gate.channels[i], &f->partition,
                                         (uint32_t)i);
}

/* All channels ask, and the producer has heard it. */
__attribute__((unused)) static void request_all(struct fetching *f)
{
    for (size_t i = 0; i < f->gate.count; i++) {
        CHECK_INT(request(f, i), FNET_OK);
        (void)must_hear(&f->peer, FNET_PARTITION_REQUEST, id_of(f, i));
    }
}

__attribute__((unused)) static struct fnet_message buffer_of(const struct fetching *f, size_t i,
                                                             int32_t sequence, uint8_t type,
                                                             uint32_t size)
{
    return (struct fnet_message){.type = FNET_BUFFER_RESPONSE,
                                 .receiver = *id_of(f, i),
                                 .buffer = {.sequence = sequence, .data_type = type, .size = size}};
}

/* The producer sends a buffer or event that begins with BYTE. */
__attribute__((unused)) static enum fnet_err send(struct fetching *f, size_t i, int32_t sequence,
                                                  uint8_t type, uint8_t byte)
{
    const struct fnet_message message = buffer_of(f, i, sequence, type, 10);

    return tell_payload(&f->peer, &message, byte);
}

__attribute__((unused)) static enum fnet_err send_data(struct fetching *f, size_t i,
                                                       int32_t sequence, uint8_t byte)
{
    return send(f, i, sequence, FNET_DATA_BUFFER, byte);
}

__attribute__((unused)) static enum fnet_err announce(struct fetching *f, size_t i, int32_t backlog)
{
    const struct fnet_message message = {
        .type = FNET_BACKLOG_ANNOUNCEMENT, .receiver = *id_of(f, i), .backlog = backlog};

    return tell(&f->peer, &message);
}

__attribute__((unused)) static enum fnet_err send_error(struct fetching *f,
                                                        const struct fnet_id *receiver,
                                                        bool is_not_found, const char *text)
{
    uint8_t bytes[FNET_THROWABLE_ENCODED_MAX_BYTES];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);

    CHECK_INT(fnet_throwable_encode(is_not_found, text, &w), FNET_OK);
    struct fnet_message message = {
        .type = FNET_ERROR_RESPONSE,
        .error = {.has_receiver = receiver != NULL,
                  .throwable = fnet_span_of(bytes, (size_t)(w.pos - bytes))}};
    if (receiver)
        message.receiver = *receiver;
    return tell(&f->peer, &message);
}

__attribute__((unused)) static void must_poll(struct fetching *f, size_t i, uint8_t byte)
{
    struct fnet_gate_item item;

    if (!CHECK_INT(fnet_gate_poll(f->gate.gate, &item), FNET_OK))
        return;
    CHECK(item.channel == f->gate.channels[i]);
    CHECK_INT(fnet_buffer_span(&item.buffer).ptr[0], byte);
    fnet_gate_recycle(f->gate.gate, &item);
}

__attribute__((unused)) static void must_hear_credit(struct fetching *f, size_t i, int32_t credit)
{
    CHECK_INT(must_hear(&f->peer, FNET_ADD_CREDIT, id_of(f, i)).credit, credit);
}

/* The session died of ERR with TEXT, because of channel CULPRIT (-1: of none). */
__attribute__((unused)) static void must_die(struct fetching *f, enum fnet_err actual,
                                             enum fnet_err err, const char *text, int culprit)
{
    CHECK_INT(actual, err);
    CHECK_INT(fnet_session_error(f->session), err);
    if (!strstr(fnet_session_error_text(f->session), text))
        CHECK_STR(fnet_session_error_text(f->session), text);
    CHECK(fnet_consumer_session_culprit(f->session) ==
          (culprit < 0 ? NULL : f->gate.channels[culprit]));
    CHECK(fnet_session_is_closing(f->session));
    CHECK(!fnet_session_wants_read(f->session));
    must_be_silent(&f->peer);
    part(&f->peer);
    CHECK_INT(fnet_channel_error(f->gate.channels[0]), err);
    unmake_gate(&f->gate);
}

__attribute__((unused)) static struct fnet_message fetch_two(struct fetching *f)
{
    fetch(f, 2, 2, 0);
    request_all(f);
    return buffer_of(f, 1, 0, FNET_DATA_BUFFER, 10);
}

#endif
