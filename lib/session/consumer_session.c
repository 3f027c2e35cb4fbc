/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer's side of a connection: requests and credits out, buffers in.
 *
 * Source: Flink NettyPartitionRequestClient, CreditBasedPartitionRequestClientHandler.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "reception.h"
#include "silent_channel.h"
#include "thrown.h"

struct consumer_session {
    struct fnet_session base;
    struct fnet_consumer_listener listener;
    struct fnet_id_map channels; /* of struct fnet_channel, by id; they stay until the end */
    struct fnet_id_map silent;   /* of struct fnet__silent_channel, owned: see there */
    struct fnet_list words;      /* channels that have something to say */
    size_t open;                 /* channels not released */
    size_t describing;           /* description requests without an answer */
    struct fnet__reception reception;
};

static struct consumer_session *consumer_of(const struct fnet_session *session)
{
    return fnet_entry(session, struct consumer_session, base);
}

/* ---- out --------------------------------------------------------------------------------- */

static void has_words(void *arg, struct fnet_channel *channel)
{
    struct consumer_session *s = arg;

    fnet_list_push(&s->words, fnet_channel_link(channel));
    fnet_bell_ring(&s->base.bell);
}

enum fnet_err fnet_consumer_session_add(struct fnet_session *session, struct fnet_channel *channel)
{
    struct consumer_session *s = consumer_of(session);

    if (session->is_closing)
        return FNET_STATE;
    enum fnet_err err = fnet_id_map_put(&s->channels, fnet_channel_id(channel), channel);
    if (err != FNET_OK)
        return err;
    fnet_channel_attach(channel, has_words, s);
    s->open++;
    return FNET_OK;
}

static bool is_silent(const struct consumer_session *s)
{
    return !fnet_dialect_has_message(s->base.dialect, FNET_ACK_ALL_USER_RECORDS_PROCESSED);
}

static struct fnet__silent_channel *silent_of(const struct consumer_session *s,
                                              const struct fnet_channel *channel)
{
    return fnet__silent_channel_find(&s->silent, channel);
}

enum fnet_err fnet_consumer_session_request(struct fnet_session *session,
                                            struct fnet_channel *channel,
                                            const struct fnet_partition_id *partition,
                                            uint32_t subpartition)
{
    struct consumer_session *s = consumer_of(session);

    if (session->is_closing || fnet_channel_state(channel) != FNET_CHANNEL_OPEN)
        return FNET_STATE;
    if (is_silent(s)) {
        enum fnet_err err = fnet__silent_channel_keep(&s->silent, channel, partition);
        if (err != FNET_OK)
            return err;
    }

    const struct fnet_message message = {
        .type = FNET_PARTITION_REQUEST,
        .receiver = *fnet_channel_id(channel),
        .request = {.partition = *partition,
                    .first = (int32_t)subpartition,
                    .last = (int32_t)subpartition,
                    .credit = (int32_t)fnet_channel_initial_credit(channel)},
    };
    return fnet__session_say(session, &message);
}

enum fnet_err fnet_consumer_session_describe(struct fnet_session *session,
                                             const struct fnet_id *request,
                                             const struct fnet_partition_id *partition)
{
    struct fnet_message message = {
        .type = FNET_DESCRIPTION_REQUEST,
        .receiver = *request,
        .describe = {.all = partition == NULL},
    };
    if (partition)
        message.describe.partition = *partition;
    enum fnet_err err = fnet__session_say(session, &message);
    if (err == FNET_OK)
        consumer_of(session)->describing++;
    return err;
}

static enum fnet_err say_plain(struct fnet_session *session, enum fnet_message_type type,
                               const struct fnet_id *receiver)
{
    struct fnet_message message = {.type = type};

    if (receiver)
        message.receiver = *receiver;
    return fnet__outbox_push(&session->outbox, session->dialect, &message, NULL);
}

/* In a dialect without acknowledgements a leave says that every record was processed. While that is
   not so for some channel, the connection just ends: a loss to the producer, which it is. */
static bool may_take_leave(const struct consumer_session *s)
{
    for (size_t i = 0; is_silent(s) && i < s->channels.capacity; i++) {
        const struct fnet_channel *channel = fnet_id_map_at(&s->channels, i);
        const struct fnet__silent_channel *silent = channel ? silent_of(s, channel) : NULL;
        if (silent && !silent->has_left && fnet_channel_state(channel) != FNET_CHANNEL_ENDED)
            return false;
    }
    return true;
}

static enum fnet_err take_leave(struct consumer_session *s)
{
    s->base.is_closing = true;
    return may_take_leave(s) ? say_plain(&s->base, FNET_CLOSE_REQUEST, NULL) : FNET_OK;
}

/* The last channel takes the connection with it. */
static enum fnet_err say_release(struct consumer_session *s, const struct fnet_channel *channel)
{
    if (--s->open > 0 || s->describing > 0) {
        struct fnet__silent_channel *silent = silent_of(s, channel);
        if (silent)
            silent->has_left = true;
        return say_plain(&s->base, FNET_CANCEL_PARTITION_REQUEST, fnet_channel_id(channel));
    }
    return s->base.is_closing ? FNET_OK : take_leave(s);
}

void fnet_consumer_session_close(struct fnet_session *session)
{
    if (session->is_closing || session->error != FNET_OK)
        return;
    /* Without memory for the frame the connection just ends, which says the same. */
    enum fnet_err err = take_leave(consumer_of(session));
    (void)err;
    fnet_bell_ring(&session->bell);
}

static enum fnet_err say_credit(struct consumer_session *s, const struct fnet_channel *channel,
                                uint32_t credit)
{
    const struct fnet__silent_channel *silent = silent_of(s, channel);
    struct fnet_message message = {.type = FNET_ADD_CREDIT, .receiver = *fnet_channel_id(channel)};

    if (silent && silent->is_ending) /* nobody is there who could use it */
        return FNET_OK;
    if (silent)
        message.credited = silent->partition;
    message.credit = (int32_t)credit;
    return fnet__outbox_push(&s->base.outbox, s->base.dialect, &message, NULL);
}

static enum fnet_err say_acknowledge(struct consumer_session *s, struct fnet_channel *channel)
{
    return is_silent(s)
               ? fnet__silent_channel_end(silent_of(s, channel), channel)
               : say_plain(&s->base, FNET_ACK_ALL_USER_RECORDS_PROCESSED, fnet_channel_id(channel));
}

static enum fnet_err say_words(struct consumer_session *s, struct fnet_channel *channel)
{
    uint32_t credit = 0;
    unsigned words = fnet_channel_take_words(channel, &credit);
    enum fnet_err err = FNET_OK;

    if (words & FNET_SAY_CREDIT)
        err = say_credit(s, channel, credit);
    if (err == FNET_OK && (words & FNET_SAY_RESUME))
        err = say_plain(&s->base, FNET_RESUME_CONSUMPTION, fnet_channel_id(channel));
    if (err == FNET_OK && (words & FNET_SAY_ACKNOWLEDGE))
        err = say_acknowledge(s, channel);
    if (err == FNET_OK && (words & FNET_SAY_RELEASE))
        err = say_release(s, channel);
    return err;
}

/* Words are taken as late as this, so that credits add up while the socket is full. */
static enum fnet_err refill(struct fnet_session *session)
{
    struct consumer_session *s = consumer_of(session);

    /* Behind a CloseRequest there is nothing to say. */
    while (!session->is_closing && session->outbox.count < FNET__OUTBOX_FULL_FRAMES / 2) {
        struct fnet_link *link = fnet_list_pop(&s->words);
        if (!link)
            break;
        enum fnet_err err = say_words(s, fnet_channel_of_link(link));
        if (err != FNET_OK)
            return err;
    }
    return FNET_OK;
}

/* ---- in ---------------------------------------------------------------------------------- */

/* MESSAGE is for a channel that does not exist; TEXT is what it says. */
static enum fnet_err refuse_answer(struct consumer_session *s, const struct fnet_message *message,
                                   const char *text)
{
    char id[FNET_ID_TEXT_BYTES];

    fnet_id_format(&message->receiver, id);
    return fnet__session_fail(&s->base, FNET_UNKNOWN_RECEIVER, "%s for unknown receiver %s%s%s",
                              fnet_message_type_name(message->type), id, *text ? ": " : "", text);
}

static enum fnet_err on_buffer_response(struct consumer_session *s,
                                        const struct fnet_message *message)
{
    struct fnet_channel *channel = fnet_id_map_get(&s->channels, &message->receiver);

    return channel ? fnet__reception_begin(&s->reception, channel, &message->buffer)
                   : refuse_answer(s, message, "");
}

static enum fnet_err on_payload(struct fnet_session *session)
{
    return fnet__reception_end(&consumer_of(session)->reception);
}

/* All channels may have been released while only this answer was due. */
static void close_if_done(struct consumer_session *s)
{
    if (s->channels.count > 0 && s->open == 0 && s->describing == 0)
        fnet_consumer_session_close(&s->base);
}

static enum fnet_err on_error_response(struct consumer_session *s,
                                       const struct fnet_message *message)
{
    struct fnet__session_thrown thrown;
    enum fnet_err err = fnet__session_thrown_read(message->error.throwable, &thrown);

    if (err != FNET_OK)
        return fnet__session_fail(&s->base, err, "ErrorResponse without a readable Throwable");

    if (!message->error.has_receiver)
        return fnet__session_fail(&s->base, FNET_REMOTE, "%s", thrown.text);

    err = thrown.is_not_found ? FNET_NO_PARTITION : FNET_REMOTE;
    struct fnet_channel *channel = fnet_id_map_get(&s->channels, &message->receiver);
    if (channel) {
        if (fnet_channel_state(channel) == FNET_CHANNEL_OPEN)
            s->listener.channel_error(s->listener.arg, channel, err, thrown.text);
    } else if (s->describing > 0) {
        s->describing--;
        s->listener.description_error(s->listener.arg, &message->receiver, err, thrown.text);
        close_if_done(s);
    } else if (s->base.counts.frames_in == 1) {
        /* Later ones are not believed, as in Flink. As a first word it says that the producer read
           the request in another dialect: nothing else would ever come. */
        return refuse_answer(s, message, thrown.text);
    }
    return FNET_OK;
}

static enum fnet_err on_description(struct consumer_session *s, const struct fnet_message *message)
{
    if (s->describing == 0)
        return fnet__session_fail(&s->base, FNET_BAD_KIND,
                                  "DescriptionResponse that was not asked for");
    if (message->description.remaining == 0)
        s->describing--;
    s->listener.description(s->listener.arg, &message->receiver, &message->description);
    close_if_done(s);
    return FNET_OK;
}

static enum fnet_err on_message(struct fnet_session *session, const struct fnet_message *message)
{
    struct consumer_session *s = consumer_of(session);
    struct fnet_channel *channel;

    switch (message->type) {
    case FNET_BUFFER_RESPONSE: return on_buffer_response(s, message);
    case FNET_ERROR_RESPONSE: return on_error_response(s, message);
    case FNET_DESCRIPTION_RESPONSE: return on_description(s, message);
    case FNET_BACKLOG_ANNOUNCEMENT:
        channel = fnet_id_map_get(&s->channels, &message->receiver);
        if (channel)
            fnet_channel_announce_backlog(channel, (uint32_t)message->backlog);
        return FNET_OK;
    case FNET_PARTITION_REQUEST:
    case FNET_TASK_EVENT_REQUEST:
    case FNET_CANCEL_PARTITION_REQUEST:
    case FNET_CLOSE_REQUEST:
    case FNET_ADD_CREDIT:
    case FNET_RESUME_CONSUMPTION:
    case FNET_ACK_ALL_USER_RECORDS_PROCESSED:
    case FNET_NEW_BUFFER_SIZE:
    case FNET_SEGMENT_ID:
    case FNET_DESCRIPTION_REQUEST:
    case FNET_DIALECT_PROBE: break; /* the ids of our channels answer it before it is asked */
    }
    return fnet__session_fail(session, FNET_BAD_KIND, "%s from a producer",
                              fnet_message_type_name(message->type));
}

/* ---- life -------------------------------------------------------------------------------- */

static bool is_unfinished(const struct fnet_session *session)
{
    const struct consumer_session *s = consumer_of(session);

    /* A channel may be at its end without having said so: that is no loss. */
    for (size_t i = 0; i < s->channels.capacity; i++) {
        const struct fnet_channel *channel = fnet_id_map_at(&s->channels, i);
        if (channel && fnet_channel_state(channel) == FNET_CHANNEL_OPEN &&
            !fnet__silent_channel_is_ending(&s->silent, channel))
            return true;
    }
    return s->describing > 0;
}

/* Flink has no frame by which a consumer complains: it closes. */
static void on_error(struct fnet_session *session)
{
    session->is_closing = true;
}

struct fnet_channel *fnet_consumer_session_culprit(const struct fnet_session *session)
{
    return consumer_of(session)->reception.culprit;
}

static void free_consumer(struct fnet_session *session)
{
    struct consumer_session *s = consumer_of(session);

    for (size_t i = 0; i < s->channels.capacity; i++) {
        struct fnet_channel *channel = fnet_id_map_at(&s->channels, i);
        if (!channel)
            continue;
        fnet_link_unlink(fnet_channel_link(channel));
        fnet_channel_attach(channel, NULL, NULL);
        enum fnet_err err = fnet__silent_channel_end(silent_of(s, channel), channel);
        if (err == FNET_OK)
            err = session->error != FNET_OK ? session->error : FNET_LOST;
        fnet_channel_fail(channel, err); /* it changes nothing for one that is at its end */
        free(silent_of(s, channel));
    }
    fnet__reception_clear(&s->reception);
    fnet_id_map_clear(&s->silent);
    fnet_id_map_clear(&s->channels);
    fnet__session_clear(session);
    free(s);
}

static const struct fnet__session_ops consumer_ops = {
    .on_message = on_message,
    .on_payload = on_payload,
    .refill = refill,
    .is_unfinished = is_unfinished,
    .on_error = on_error,
    .free = free_consumer,
    .full_frames = SIZE_MAX, /* or two peers could wait for each other to read */
};

enum fnet_err fnet_consumer_session_new(const struct fnet_consumer_listener *listener,
                                        const struct fnet_dialect *dialect,
                                        struct fnet_session **out)
{
    struct consumer_session *s = calloc(1, sizeof *s);

    if (!s)
        return FNET_NOMEM;
    enum fnet_err err = fnet__session_init(&s->base, &consumer_ops, dialect);
    if (err != FNET_OK) {
        free(s);
        return err;
    }
    s->listener = *listener;
    s->reception = (struct fnet__reception){.session = &s->base, .silent = &s->silent};
    fnet_list_init(&s->words);
    *out = &s->base;
    return FNET_OK;
}
