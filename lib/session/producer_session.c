/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's side of a connection: what its consumer says, and the answers.
 *
 * Source: Flink PartitionRequestServerHandler, PartitionRequestQueue.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "readings.h"

struct producer_session {
    struct fnet_session base;
    const struct fnet_registry *registry;
    const struct fnet_dialect *assumed;
    bool is_settled; /* the dialect was found out, or is about to be */
    bool is_asking;  /* ... by a probe, before whose answer no data is sent */
    bool is_ending;  /* it closes once every reading was taken leave of */
    struct fnet__readings readings;
};

static struct producer_session *producer_of(const struct fnet_session *session)
{
    return fnet_entry(session, struct producer_session, base);
}

/* ---- answers ----------------------------------------------------------------------------- */

static enum fnet_err say_error(struct fnet_session *session, const struct fnet_id *receiver,
                               bool is_not_found, const char *text)
{
    uint8_t bytes[FNET_THROWABLE_ENCODED_MAX_BYTES];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
    enum fnet_err err = fnet_throwable_encode(is_not_found, text, &w);

    if (err != FNET_OK)
        return err;
    struct fnet_message message = {
        .type = FNET_ERROR_RESPONSE,
        .error = {.has_receiver = receiver != NULL,
                  .throwable = fnet_span_of(bytes, (size_t)(w.pos - bytes))},
    };
    if (receiver)
        message.receiver = *receiver;
    return fnet__session_say(session, &message);
}

static void on_error(struct fnet_session *session)
{
    /* If even this fails the connection just ends. */
    if (say_error(session, NULL, false, session->text) == FNET_OK)
        session->is_closing = true;
}

void fnet_producer_session_abort(struct fnet_session *session, const char *text)
{
    if (session->is_closing)
        return;
    session->error = fnet__session_fail(session, FNET_STATE, "%s", text);
    on_error(session);
}

/* To Flink an end of the connection is a loss while it has not taken leave of a channel, even one
   whose end it has received. */
static void close_if_left(struct producer_session *s)
{
    if (!s->is_ending || !fnet__readings_are_none(&s->readings))
        return;
    s->base.is_closing = true;
    fnet_bell_ring(&s->base.bell);
}

void fnet_producer_session_close(struct fnet_session *session)
{
    struct producer_session *s = producer_of(session);

    s->is_ending = true;
    close_if_left(s);
}

/* ---- readings ---------------------------------------------------------------------------- */

static struct fnet__reading *reading_of(struct producer_session *s,
                                        const struct fnet_message *message, enum fnet_err *err)
{
    struct fnet__reading *reading = fnet__readings_find(&s->readings, &message->receiver);

    if (!reading) {
        char id[FNET_ID_TEXT_BYTES];
        fnet_id_format(&message->receiver, id);
        *err = fnet__session_fail(&s->base, FNET_UNKNOWN_RECEIVER, "%s for unknown receiver %s",
                                  fnet_message_type_name(message->type), id);
    }
    return reading;
}

static enum fnet_err refuse(struct producer_session *s, const struct fnet_message *message,
                            const struct fnet_partition *partition, enum fnet_err why)
{
    const struct fnet_partition_request *request = &message->request;
    char text[FNET__SESSION_TEXT_BYTES];

    if (why == FNET_RANGE)
        snprintf(text, sizeof text, "%s has subpartitions 0 to %" PRIu32 ", not %" PRId32,
                 fnet_partition_name(partition), fnet_partition_subpartitions(partition) - 1,
                 request->last);
    else if (why == FNET_STATE)
        snprintf(text, sizeof text, "%s:%" PRId32 " is read by another consumer, or was",
                 fnet_partition_name(partition), request->first);
    else
        snprintf(text, sizeof text,
                 "a range of subpartitions (%" PRId32 " to %" PRId32 ") in one "
                 "request is not supported",
                 request->first, request->last);
    return say_error(&s->base, &message->receiver, why == FNET_RANGE, text);
}

/* ---- the dialect ------------------------------------------------------------------------- */

static void speak(struct producer_session *s, const struct fnet_dialect *dialect)
{
    fnet_decoder_set_dialect(s->base.decoder, dialect);
    s->base.dialect = dialect;
    fnet__readings_speak(&s->readings);
}

/* What the length of its request leaves open another fnet says in the id of its channel, and Flink
   when it is asked, where that is possible. */
static enum fnet_err settle_dialect(struct producer_session *s, const struct fnet_id *receiver)
{
    static const struct fnet_message probe = {.type = FNET_DIALECT_PROBE};
    const uint8_t length = s->base.dialect->partition_request_bytes;
    const struct fnet_dialect *told = fnet_channel_id_dialect(receiver);

    s->is_settled = true;
    if (told && told->partition_request_bytes == length) {
        speak(s, told);
        return FNET_OK;
    }
    if (s->base.dialect == s->assumed || !fnet_dialect_probe_exists(s->base.dialect))
        return FNET_OK;
    s->is_asking = true;
    return fnet__session_say(&s->base, &probe);
}

/* Is a cancellation for RECEIVER the answer to a probe? */
static bool take_answer(struct producer_session *s, const struct fnet_id *receiver)
{
    const struct fnet_dialect *dialect;

    if (!fnet_dialect_probe_answer(receiver, &dialect))
        return false;
    if (s->is_asking && dialect) {
        s->is_asking = false;
        speak(s, dialect);
        fnet_bell_ring(&s->base.bell);
    }
    return true;
}

/* ---- messages ---------------------------------------------------------------------------- */

static enum fnet_err on_partition_request(struct producer_session *s,
                                          const struct fnet_message *message)
{
    const struct fnet_partition_request *request = &message->request;
    struct fnet_partition *partition =
        fnet_registry_find(s->registry, s->base.dialect, &request->partition);

    if (s->base.is_closing || s->is_ending) /* nobody would read it to its end */
        return FNET_OK;
    if (!s->is_settled) {
        enum fnet_err err = settle_dialect(s, &message->receiver);
        if (err != FNET_OK)
            return err;
    }
    if (!partition) {
        char id[FNET_PARTITION_ID_TEXT_BYTES];
        char text[FNET__SESSION_TEXT_BYTES];
        fnet_partition_id_format(&request->partition, id);
        snprintf(text, sizeof text, "Partition %s not found.", id);
        return say_error(&s->base, &message->receiver, true, text);
    }
    if (request->first != request->last)
        return refuse(s, message, partition, FNET_INVALID);
    enum fnet_err err = fnet__readings_open(&s->readings, message, partition);
    return err == FNET_RANGE || err == FNET_STATE ? refuse(s, message, partition, err) : err;
}

static enum fnet_err on_add_credit(struct producer_session *s, const struct fnet_message *message)
{
    enum fnet_err err = FNET_OK;
    struct fnet__reading *reading = reading_of(s, message, &err);

    if (!reading)
        return err;
    err = fnet__credited_view_add_credit(&reading->view, message->credit);
    if (err != FNET_OK)
        return fnet__session_fail(&s->base, FNET_BAD_VALUE, "AddCredit of %" PRId32,
                                  message->credit);
    fnet__reading_make_ready(reading);
    return FNET_OK;
}

static enum fnet_err on_acknowledge(struct producer_session *s, const struct fnet_message *message)
{
    enum fnet_err err = FNET_OK;
    struct fnet__reading *reading = reading_of(s, message, &err);

    if (!reading)
        return err;
    err = fnet_view_acknowledge(reading->view.view);
    if (err == FNET_STATE)
        return fnet__session_fail(&s->base, FNET_BAD_VALUE,
                                  "AckAllUserRecordsProcessed before EndOfData, or twice");
    return err;
}

static enum fnet_err on_resume(struct producer_session *s, const struct fnet_message *message)
{
    enum fnet_err err = FNET_OK;

    if (!reading_of(s, message, &err))
        return err;
    return fnet__session_fail(&s->base, FNET_BAD_VALUE,
                              "ResumeConsumption of a subpartition that is not blocked");
}

static void on_cancel(struct producer_session *s, const struct fnet_message *message)
{
    struct fnet__reading *reading = fnet__readings_find(&s->readings, &message->receiver);

    if (take_answer(s, &message->receiver))
        return;
    if (reading) /* else it ended already: Flink ignores that too */
        fnet__reading_drop(reading, false);
    close_if_left(s);
}

static void on_close(struct producer_session *s)
{
    fnet__readings_drop(&s->readings, false);
    s->base.is_closing = true;
}

static enum fnet_err describe(struct producer_session *s, const struct fnet_id *receiver,
                              const struct fnet_partition *partition, size_t remaining)
{
    struct fnet_message message = {
        .type = FNET_DESCRIPTION_RESPONSE,
        .receiver = *receiver,
        .description = {.remaining = (int32_t)remaining},
    };
    struct fnet_partition_id named;
    if (partition) {
        const char *name = fnet_partition_name(partition);
        message.description.partition = *fnet_partition_id(partition);
        message.description.subpartitions = (int32_t)fnet_partition_subpartitions(partition);
        message.description.partition_type = (uint8_t)fnet_partition_type(partition);
        message.description.format = fnet_partition_format(partition);
        message.description.state = fnet_partition_is_finished(partition);
        message.description.codec = (uint8_t)fnet_partition_codec(partition);
        if (fnet_partition_id_from_name(name, &named) == FNET_OK) /* else it is a Flink id */
            message.description.name = fnet_span_of(name, strlen(name));
    }
    return fnet__session_say(&s->base, &message);
}

static enum fnet_err on_description_request(struct producer_session *s,
                                            const struct fnet_message *message)
{
    const struct fnet_registry *registry = s->registry;
    const struct fnet_partition *partition;

    if (!message->describe.all) {
        partition = fnet_registry_find(registry, s->base.dialect, &message->describe.partition);
        return partition ? describe(s, &message->receiver, partition, 0)
                         : say_error(&s->base, &message->receiver, true, "Partition not found.");
    }
    if (registry->count == 0)
        return describe(s, &message->receiver, NULL, 0);
    for (size_t i = 0; i < registry->count; i++) {
        enum fnet_err err =
            describe(s, &message->receiver, registry->partitions[i], registry->count - 1 - i);
        if (err != FNET_OK)
            return err;
    }
    return FNET_OK;
}

/* What asks for a description is fnet, and new: its channels say the same. */
static const struct fnet_dialect *recognise(const struct fnet_session *session, uint8_t type,
                                            uint32_t length)
{
    return type == FNET_PARTITION_REQUEST
               ? fnet_dialect_of_request(length, producer_of(session)->assumed)
               : fnet_dialect_newest();
}

static enum fnet_err on_message(struct fnet_session *session, const struct fnet_message *message)
{
    struct producer_session *s = producer_of(session);

    switch (message->type) {
    case FNET_PARTITION_REQUEST: return on_partition_request(s, message);
    case FNET_ADD_CREDIT: return on_add_credit(s, message);
    case FNET_ACK_ALL_USER_RECORDS_PROCESSED: return on_acknowledge(s, message);
    case FNET_RESUME_CONSUMPTION: return on_resume(s, message);
    case FNET_CANCEL_PARTITION_REQUEST: on_cancel(s, message); return FNET_OK;
    case FNET_CLOSE_REQUEST: on_close(s); return FNET_OK;
    case FNET_DESCRIPTION_REQUEST: return on_description_request(s, message);
    case FNET_TASK_EVENT_REQUEST:
        return say_error(session, &message->receiver, false, "Task event receiver not found.");
    case FNET_NEW_BUFFER_SIZE:
    case FNET_SEGMENT_ID: return FNET_OK; /* hints for debloating and tiered storage */
    case FNET_BUFFER_RESPONSE:
    case FNET_ERROR_RESPONSE:
    case FNET_BACKLOG_ANNOUNCEMENT:
    case FNET_DESCRIPTION_RESPONSE:
    case FNET_DIALECT_PROBE: break;
    }
    return fnet__session_fail(session, FNET_BAD_KIND, "%s from a consumer",
                              fnet_message_type_name(message->type));
}

/* ---- life -------------------------------------------------------------------------------- */

size_t fnet_producer_session_readings(const struct fnet_session *session)
{
    return producer_of(session)->readings.by_receiver.count;
}

uint64_t fnet_producer_session_credit(const struct fnet_session *session)
{
    return fnet__readings_credit(&producer_of(session)->readings);
}

size_t fnet_producer_session_unfinished(const struct fnet_session *session, char *text, size_t size)
{
    return fnet__readings_unfinished(&producer_of(session)->readings, text, size);
}

static bool is_unfinished(const struct fnet_session *session)
{
    return fnet__readings_unfinished(&producer_of(session)->readings, NULL, 0) > 0;
}

static enum fnet_err refill(struct fnet_session *session)
{
    struct producer_session *s = producer_of(session);

    return s->is_asking ? FNET_OK : fnet__readings_refill(&s->readings);
}

static void free_producer(struct fnet_session *session)
{
    struct producer_session *s = producer_of(session);

    fnet__readings_clear(&s->readings);
    fnet__session_clear(session);
    free(s);
}

static const struct fnet__session_ops producer_ops = {
    .recognise = recognise,
    .on_message = on_message,
    .refill = refill,
    .is_unfinished = is_unfinished,
    .on_error = on_error,
    .free = free_producer,
    .full_frames = FNET__OUTBOX_FULL_FRAMES,
};

enum fnet_err fnet_producer_session_new(const struct fnet_registry *registry,
                                        const struct fnet_dialect *assumed,
                                        struct fnet_session **out)
{
    struct producer_session *s = calloc(1, sizeof *s);

    if (!s)
        return FNET_NOMEM;
    enum fnet_err err = fnet__session_init(&s->base, &producer_ops, fnet_dialect_newest());
    if (err != FNET_OK) {
        free(s);
        return err;
    }
    s->registry = registry;
    s->assumed = assumed;
    fnet__readings_init(&s->readings, &s->base);
    *out = &s->base;
    return FNET_OK;
}
