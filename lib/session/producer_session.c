/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's side of a connection: requests in, buffers out, round robin over the readings
 * that may send.
 *
 * Source: Flink PartitionRequestServerHandler, PartitionRequestQueue.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "credited_view.h"
#include "session_private.h"

struct producer_session {
    struct fnet_session base;
    const struct fnet_registry *registry;
    const struct fnet_dialect *assumed;
    bool is_settled;                /* the dialect was found out, or is about to be */
    bool is_asking;                 /* ... by a probe, before whose answer no data is sent */
    struct fnet_id_map by_receiver; /* of struct reading */
    struct fnet_list ready;         /* readings that may have something to send */
    struct fnet_list all;
    bool is_ending; /* it closes once every reading was taken leave of */
};

struct reading {
    struct producer_session *session;
    struct fnet__credited_view view;
    struct fnet_link ready;
    struct fnet_link all;
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
    if (!s->is_ending || !fnet_list_is_empty(&s->all))
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

static void make_ready(struct reading *reading)
{
    fnet_list_push(&reading->session->ready, &reading->ready);
    fnet_bell_ring(&reading->session->base.bell);
}

static void on_view_bell(void *arg)
{
    make_ready(arg);
}

static struct reading *reading_of(struct producer_session *s, const struct fnet_message *message,
                                  enum fnet_err *err)
{
    struct reading *reading = fnet_id_map_get(&s->by_receiver, &message->receiver);

    if (!reading) {
        char id[FNET_ID_TEXT_BYTES];
        fnet_id_format(&message->receiver, id);
        *err = fnet__session_fail(&s->base, FNET_UNKNOWN_RECEIVER, "%s for unknown receiver %s",
                                  fnet_message_type_name(message->type), id);
    }
    return reading;
}

static void drop_reading(struct reading *reading, bool is_lost)
{
    fnet_id_map_take(&reading->session->by_receiver, &reading->view.receiver);
    fnet_link_unlink(&reading->ready);
    fnet_link_unlink(&reading->all);
    fnet_view_release(reading->view.view, is_lost);
    free(reading);
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

static enum fnet_err open_reading(struct producer_session *s, const struct fnet_message *message,
                                  struct fnet_partition *partition)
{
    const struct fnet_partition_request *request = &message->request;
    struct reading *reading = calloc(1, sizeof *reading);
    if (!reading)
        return FNET_NOMEM;

    reading->session = s;
    reading->view.dialect = s->base.dialect;
    reading->view.receiver = message->receiver;
    reading->view.initial_credit = request->credit;
    reading->view.credits = request->recovers ? 0 : (uint32_t)request->credit;

    enum fnet_err err = fnet_id_map_put(&s->by_receiver, &message->receiver, reading);
    if (err != FNET_OK) {
        free(reading);
        return err == FNET_STATE ? fnet__session_fail(&s->base, FNET_BAD_VALUE,
                                                      "PartitionRequest with a receiver in use")
                                 : err;
    }
    struct fnet_bell bell = {.ring = on_view_bell, .arg = reading};
    const bool yields_empty = request->credit == 0 &&
                              fnet_dialect_has_message(s->base.dialect, FNET_BACKLOG_ANNOUNCEMENT);
    err = fnet_view_open(partition, (uint32_t)request->first, bell, yields_empty,
                         &reading->view.view);
    if (err != FNET_OK) {
        fnet_id_map_take(&s->by_receiver, &message->receiver);
        free(reading);
        return refuse(s, message, partition, err);
    }
    fnet_list_push(&s->all, &reading->all);
    make_ready(reading);
    return FNET_OK;
}

/* ---- the dialect ------------------------------------------------------------------------- */

static void speak(struct producer_session *s, const struct fnet_dialect *dialect)
{
    fnet_decoder_set_dialect(s->base.decoder, dialect);
    s->base.dialect = dialect;
    for (struct fnet_link *link = s->all.head.next; link != &s->all.head; link = link->next)
        fnet_entry(link, struct reading, all)->view.dialect = dialect;
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
    return open_reading(s, message, partition);
}

static enum fnet_err on_add_credit(struct producer_session *s, const struct fnet_message *message)
{
    enum fnet_err err = FNET_OK;
    struct reading *reading = reading_of(s, message, &err);

    if (!reading)
        return err;
    err = fnet__credited_view_add_credit(&reading->view, message->credit);
    if (err != FNET_OK)
        return fnet__session_fail(&s->base, FNET_BAD_VALUE, "AddCredit of %" PRId32,
                                  message->credit);
    make_ready(reading);
    return FNET_OK;
}

static enum fnet_err on_acknowledge(struct producer_session *s, const struct fnet_message *message)
{
    enum fnet_err err = FNET_OK;
    struct reading *reading = reading_of(s, message, &err);

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
    struct reading *reading = fnet_id_map_get(&s->by_receiver, &message->receiver);

    if (take_answer(s, &message->receiver))
        return;
    if (reading) /* else it ended already: Flink ignores that too */
        drop_reading(reading, false);
    close_if_left(s);
}

static void on_close(struct producer_session *s)
{
    while (!fnet_list_is_empty(&s->all))
        drop_reading(fnet_entry(s->all.head.next, struct reading, all), false);
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

/* ---- sending ----------------------------------------------------------------------------- */

static enum fnet_err announce(struct reading *reading)
{
    uint32_t backlog = fnet__credited_view_announce(&reading->view);

    if (backlog == 0)
        return FNET_OK;
    const struct fnet_message message = {.type = FNET_BACKLOG_ANNOUNCEMENT,
                                         .receiver = reading->view.receiver,
                                         .backlog = (int32_t)backlog};
    return fnet__outbox_push(&reading->session->base.outbox, reading->view.dialect, &message, NULL);
}

/* One buffer of one reading; who has more goes to the end of the line. */
static enum fnet_err send_one(struct reading *reading)
{
    struct producer_session *s = reading->session;
    struct fnet_message message;
    struct fnet_buffer payload;
    uint32_t bytes;
    enum fnet_err err = fnet__credited_view_next(&reading->view, &message, &payload, &bytes);

    if (err == FNET_AGAIN)
        return announce(reading);
    if (err != FNET_OK)
        return err;
    if (fnet_data_type_is_buffer(payload.data_type)) {
        s->base.counts.buffers_out++;
        s->base.counts.payload_out += bytes;
    }
    err = fnet__outbox_push(&s->base.outbox, s->base.dialect, &message, &payload);
    if (err != FNET_OK) {
        fnet_buffer_clear(&payload);
        return err;
    }
    fnet_list_push(&s->ready, &reading->ready);
    return FNET_OK;
}

static enum fnet_err refill(struct fnet_session *session)
{
    struct producer_session *s = producer_of(session);

    while (!s->is_asking && session->outbox.count < FNET__OUTBOX_DATA_FRAMES) {
        struct fnet_link *link = fnet_list_pop(&s->ready);
        if (!link)
            break;
        enum fnet_err err = send_one(fnet_entry(link, struct reading, ready));
        if (err != FNET_OK)
            return err;
    }
    return FNET_OK;
}

/* ---- life -------------------------------------------------------------------------------- */

static bool is_acknowledged(const struct reading *reading)
{
    return fnet_partition_state(fnet_view_partition(reading->view.view),
                                fnet_view_subpartition(reading->view.view)) ==
           FNET_SUBPARTITION_ACKNOWLEDGED;
}

size_t fnet_producer_session_readings(const struct fnet_session *session)
{
    return producer_of(session)->by_receiver.count;
}

uint64_t fnet_producer_session_credit(const struct fnet_session *session)
{
    const struct producer_session *s = producer_of(session);
    uint64_t sum = 0;

    for (struct fnet_link *link = s->all.head.next; link != &s->all.head; link = link->next)
        sum += fnet_entry(link, struct reading, all)->view.credits;
    return sum;
}

size_t fnet_producer_session_unfinished(const struct fnet_session *session, char *text, size_t size)
{
    struct producer_session *s = producer_of(session);
    size_t unfinished = 0;
    size_t len = 0;

    text[0] = '\0';
    for (struct fnet_link *link = s->all.head.next; link != &s->all.head; link = link->next) {
        const struct reading *reading = fnet_entry(link, struct reading, all);
        if (is_acknowledged(reading))
            continue;
        if (unfinished < FNET_UNFINISHED_LISTED && len < size)
            len += (size_t)snprintf(text + len, size - len, "%s%s:%" PRIu32,
                                    unfinished > 0 ? ", " : "",
                                    fnet_partition_name(fnet_view_partition(reading->view.view)),
                                    fnet_view_subpartition(reading->view.view));
        unfinished++;
    }
    if (unfinished > FNET_UNFINISHED_LISTED && len < size)
        snprintf(text + len, size - len, ", and %zu more", unfinished - FNET_UNFINISHED_LISTED);
    return unfinished;
}

static bool is_unfinished(const struct fnet_session *session)
{
    const struct producer_session *s = producer_of(session);

    for (struct fnet_link *link = s->all.head.next; link != &s->all.head; link = link->next)
        if (!is_acknowledged(fnet_entry(link, struct reading, all)))
            return true;
    return false;
}

static void free_producer(struct fnet_session *session)
{
    struct producer_session *s = producer_of(session);

    while (!fnet_list_is_empty(&s->all))
        drop_reading(fnet_entry(s->all.head.next, struct reading, all), true);
    fnet_id_map_clear(&s->by_receiver);
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
    fnet_list_init(&s->ready);
    fnet_list_init(&s->all);
    *out = &s->base;
    return FNET_OK;
}
