/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages into channels.
 *
 * Source: Flink RemoteInputChannel, CreditBasedSequenceNumberingViewReader (credit, sequence);
 * PipelinedSubpartition (where a record may be cut).
 */
#include "inspect/conversation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void conversation_init(struct conversation *c, const char *spill_dir)
{
    *c = (struct conversation){.spill_dir = spill_dir};
    c->last_connection = &c->connections;
}

static void free_connection(struct connection *connection)
{
    while (connection->channels) {
        struct channel *channel = connection->channels;
        connection->channels = channel->next;
        fnet_record_deserializer_clear(&channel->decoder);
        free(channel);
    }
    fnet_id_map_clear(&connection->map);
    free(connection);
}

void conversation_clear(struct conversation *c)
{
    while (c->connections) {
        struct connection *connection = c->connections;
        c->connections = connection->next;
        free_connection(connection);
    }
    conversation_init(c, c->spill_dir);
}

enum direction conversation_direction(enum fnet_message_type type)
{
    switch (type) {
    case FNET_BUFFER_RESPONSE:
    case FNET_ERROR_RESPONSE:
    case FNET_BACKLOG_ANNOUNCEMENT:
    case FNET_DESCRIPTION_RESPONSE:
    case FNET_DIALECT_PROBE: return RESPONSE;
    case FNET_PARTITION_REQUEST:
    case FNET_TASK_EVENT_REQUEST:
    case FNET_CANCEL_PARTITION_REQUEST:
    case FNET_CLOSE_REQUEST:
    case FNET_ADD_CREDIT:
    case FNET_RESUME_CONSUMPTION:
    case FNET_ACK_ALL_USER_RECORDS_PROCESSED:
    case FNET_NEW_BUFFER_SIZE:
    case FNET_SEGMENT_ID:
    case FNET_DESCRIPTION_REQUEST: break;
    }
    return REQUEST;
}

/* ---- connections and channels ------------------------------------------------------------ */

enum fnet_err conversation_connect(struct conversation *c, const struct fnet_flow *flow,
                                   unsigned side, enum direction direction,
                                   const struct dialect_guess *guess, struct connection **out)
{
    struct connection *connection = calloc(1, sizeof *connection);

    if (!connection)
        return FNET_NOMEM;
    if (flow) {
        unsigned consumer = direction == REQUEST ? side : !side;
        connection->has_ends = true;
        connection->consumer = flow->ends[consumer];
        connection->producer = flow->ends[!consumer];
        connection->reuse = flow->reuse;
    }
    connection->guess = guess;
    connection->last_channel = &connection->channels;
    *c->last_connection = connection;
    c->last_connection = &connection->next;
    *out = connection;
    return FNET_OK;
}

void conversation_name(const struct connection *connection, char text[static CONNECTION_NAME_BYTES])
{
    char consumer[FNET_FLOW_END_TEXT_BYTES];
    char producer[FNET_FLOW_END_TEXT_BYTES];
    char reuse[12] = "";

    if (!connection->has_ends) {
        snprintf(text, CONNECTION_NAME_BYTES, "-");
        return;
    }
    fnet_flow_end_format(&connection->consumer, consumer);
    fnet_flow_end_format(&connection->producer, producer);
    if (connection->reuse)
        snprintf(reuse, sizeof reuse, "#%" PRIu32, connection->reuse + 1);
    snprintf(text, CONNECTION_NAME_BYTES, "%s-%s%s", consumer, producer, reuse);
}

/* The channel of ID; NULL with FNET_OK if there are too many. */
static enum fnet_err find_channel(struct conversation *c, struct connection *connection,
                                  const struct fnet_id *id, struct channel **out)
{
    *out = fnet_id_map_get(&connection->map, id);
    if (*out || c->channels == CHANNELS_MAX)
        return FNET_OK;

    struct channel *channel = calloc(1, sizeof *channel);
    enum fnet_err err = channel ? fnet_id_map_put(&connection->map, id, channel) : FNET_NOMEM;
    if (err != FNET_OK) {
        free(channel);
        return err;
    }
    channel->connection = connection;
    channel->id = *id;
    fnet_record_deserializer_init(&channel->decoder, c->spill_dir);
    *connection->last_channel = channel;
    connection->last_channel = &channel->next;
    c->channels++;
    *out = channel;
    return FNET_OK;
}

static bool has_channel(const struct fnet_message *m)
{
    const struct fnet_dialect *dialect;

    if (fnet_dialect_probe_answer(&m->receiver, &dialect))
        return false;
    return m->type != FNET_CLOSE_REQUEST && m->type != FNET_DESCRIPTION_REQUEST &&
           m->type != FNET_DESCRIPTION_RESPONSE &&
           (m->type != FNET_ERROR_RESPONSE || m->error.has_receiver);
}

/* ---- what a message changes -------------------------------------------------------------- */

static void note(struct extremes *e, int64_t value)
{
    if (!e->is_known || value < e->min)
        e->min = value;
    if (!e->is_known || value > e->max)
        e->max = value;
    e->is_known = true;
}

static void add_credit(struct channel *channel, int64_t credit)
{
    if (!channel->is_credit_known)
        return;
    channel->credit += credit;
    note(&channel->credits, channel->credit);
}

static void know_records(struct channel *channel)
{
    fnet_record_deserializer_clear(&channel->decoder);
    channel->place = (struct record_place){.body_left = 0};
    channel->are_records_known = true;
}

static void lose_records(struct inspected *m)
{
    if (m->channel->are_records_known)
        m->findings |= FOUND_RECORDS_LOST;
    m->channel->are_records_known = false;
    m->channel->is_record_missed = true;
}

void conversation_miss(struct connection *connection)
{
    for (struct channel *c = connection->channels; c; c = c->next)
        c->is_credit_known = false;
}

/* A request begins the channel, also when one was refused before and is asked for again. */
static void take_request(struct channel *channel, const struct fnet_dialect *dialect,
                         const struct fnet_partition_request *request)
{
    channel->has_request = true;
    channel->dialect = dialect;
    channel->partition = request->partition;
    channel->first = request->first;
    channel->last = request->last;
    channel->initial_credit = request->credit;
    channel->is_credit_known = true;
    channel->credit = 0;
    channel->is_sequence_known = true;
    channel->next_sequence = 0;
    channel->is_ended = false;
    know_records(channel);
    add_credit(channel, request->credit);
}

static void check_sequence(struct inspected *m, const struct fnet_buffer_response *b)
{
    struct channel *channel = m->channel;
    const uint32_t sequence = (uint32_t)b->sequence;

    if (!channel->is_sequence_known && sequence == 0)
        know_records(channel);
    if (channel->is_sequence_known && sequence != channel->next_sequence) {
        m->expected = channel->next_sequence;
        m->findings |= FOUND_BAD_SEQUENCE;
        channel->sequence_gaps++;
        lose_records(m);
    }
    channel->is_sequence_known = true;
    /* Partial buffers have a number each. */
    channel->next_sequence = sequence + (b->partials ? b->partials : 1);
}

static void take_data(struct inspected *m, const struct fnet_buffer_response *b)
{
    struct channel *channel = m->channel;

    channel->buffers++;
    add_credit(channel, -1);
    if (channel->is_credit_known && channel->credit < 0)
        m->findings |= FOUND_NO_CREDIT;
    if (b->is_compressed || m->item->missing)
        lose_records(m);
    if (channel->are_records_known) {
        m->has_records = true;
        return;
    }
    channel->is_record_missed = true;
    if (b->data_type == FNET_DATA_BUFFER_WITH_CLEAR_END)
        know_records(channel);
}

/* Old dialects have no better name for many events; then the event itself says what it is. */
static enum fnet_data_type event_data_type(const struct inspected *m,
                                           const struct fnet_buffer_response *b)
{
    return m->has_event && b->data_type == FNET_EVENT_BUFFER ? fnet_event_data_type(&m->event)
                                                             : (enum fnet_data_type)b->data_type;
}

static void take_event(struct inspected *m, const struct fnet_buffer_response *b)
{
    struct channel *channel = m->channel;
    const enum fnet_data_type type = event_data_type(m, b);

    channel->events++;
    if (channel->are_records_known && type == FNET_END_OF_PARTITION &&
        (fnet_record_deserializer_is_mid_record(&channel->decoder) ||
         record_place_is_mid_record(&channel->place)))
        m->findings |= FOUND_CUT_RECORD;
    if (type == FNET_END_OF_PARTITION)
        channel->is_ended = true;
    /* Writers finish their record before an event; priority events overtake, and what follows
     * recovered state may go on with a record of before. */
    if (!channel->are_records_known && type != FNET_PRIORITIZED_EVENT_BUFFER &&
        type != FNET_RECOVERY_COMPLETION)
        know_records(channel);
}

static void take_buffer(struct inspected *m, const struct fnet_buffer_response *b)
{
    check_sequence(m, b);
    note(&m->channel->backlogs, b->backlog);
    m->channel->payload_bytes += b->size;
    if (fnet_data_type_is_buffer(b->data_type))
        take_data(m, b);
    else
        take_event(m, b);
}

/* What concerns a channel, which is there. */
static void take_for_channel(struct inspected *m, const struct fnet_message *message)
{
    struct channel *channel = m->channel;

    channel->messages++;
    channel->bytes += m->item->length;
    switch (message->type) {
    case FNET_BUFFER_RESPONSE: take_buffer(m, &message->buffer); break;
    case FNET_PARTITION_REQUEST: take_request(channel, m->item->dialect, &message->request); break;
    case FNET_ADD_CREDIT: add_credit(channel, message->credit); break;
    case FNET_BACKLOG_ANNOUNCEMENT: note(&channel->backlogs, message->backlog); break;
    case FNET_ERROR_RESPONSE: channel->errors++; break;
    case FNET_RESUME_CONSUMPTION:
        /* A channel without exclusive buffers gave its floating ones back while it was blocked. */
        if (channel->has_request && channel->initial_credit == 0)
            add_credit(channel, -channel->credit);
        break;
    case FNET_TASK_EVENT_REQUEST:
    case FNET_CANCEL_PARTITION_REQUEST:
    case FNET_CLOSE_REQUEST:
    case FNET_ACK_ALL_USER_RECORDS_PROCESSED:
    case FNET_NEW_BUFFER_SIZE:
    case FNET_SEGMENT_ID:
    case FNET_DESCRIPTION_REQUEST:
    case FNET_DESCRIPTION_RESPONSE:
    case FNET_DIALECT_PROBE: break;
    }
}

/* What stands inside the message. */
static void decode_contents(struct inspected *m, const struct fnet_message *message)
{
    struct fnet_span event = {.len = 0};

    if (message->type == FNET_TASK_EVENT_REQUEST)
        event = message->task_event.event;
    else if (message->type == FNET_BUFFER_RESPONSE &&
             !fnet_data_type_is_buffer(message->buffer.data_type) && m->item->missing == 0)
        event = m->item->payload;
    if (event.len > 0) {
        m->has_event = fnet_event_decode(m->item->dialect, event, &m->event) == FNET_OK;
        m->findings |= m->has_event ? 0u : FOUND_BAD_EVENT;
    }
    if (message->type == FNET_ERROR_RESPONSE) {
        m->has_error = fnet_throwable_decode(message->error.throwable, &m->error) == FNET_OK;
        m->findings |= m->has_error ? 0u : FOUND_BAD_ERROR;
    }
}

static void count(struct connection *connection, const struct inspected *m)
{
    const struct frame_item *item = m->item;

    connection->messages[m->direction]++;
    connection->bytes[m->direction] += item->length;
    if (item->message.type == FNET_ERROR_RESPONSE && !item->message.error.has_receiver)
        connection->errors++;
    if (!item->has_time)
        return;
    if (!connection->has_time || item->time_ns < connection->first_ns)
        connection->first_ns = item->time_ns;
    if (!connection->has_time || item->time_ns > connection->last_ns)
        connection->last_ns = item->time_ns;
    connection->has_time = true;
}

enum fnet_err conversation_take(struct conversation *c, struct connection *connection,
                                const struct frame_item *item, struct inspected *out)
{
    const struct fnet_message *message = &item->message;
    struct channel *channel = NULL;

    if (has_channel(message)) {
        enum fnet_err err = find_channel(c, connection, &message->receiver, &channel);
        if (err != FNET_OK)
            return err;
    }
    /* Field by field: to clear the room for an error takes longer than all the rest. */
    out->item = item;
    out->direction = conversation_direction(message->type);
    out->connection = connection;
    out->channel = channel;
    out->findings = 0;
    out->has_event = out->has_error = out->has_records = out->is_fed = false;
    count(connection, out);
    decode_contents(out, message);
    if (channel)
        take_for_channel(out, message);
    else if (has_channel(message))
        out->findings |= FOUND_TOO_MANY;
    if (item->missing)
        conversation_miss(connection);
    return FNET_OK;
}

/* What follows in the message is no record. */
static void break_records(struct inspected *m)
{
    m->findings |= FOUND_BAD_RECORD;
    fnet_record_deserializer_clear(&m->channel->decoder);
    m->channel->are_records_known = false;
    m->channel->is_record_missed = true;
    m->has_records = false;
}

enum fnet_err conversation_next_records(struct inspected *m, struct fnet_span *records, size_t max,
                                        size_t *n, uint64_t *number)
{
    struct channel *channel = m->channel;

    if (!m->has_records)
        return FNET_AGAIN;
    if (!m->is_fed)
        fnet_record_deserializer_feed(&channel->decoder, m->item->payload);
    m->is_fed = true;
    enum fnet_err err = fnet_record_deserializer_next(&channel->decoder, records, max, n);
    if (err == FNET_BAD_LENGTH) {
        break_records(m);
        return FNET_AGAIN;
    }
    if (err == FNET_OK) {
        *number = channel->records;
        channel->records += *n;
    }
    return err;
}

struct record_place conversation_place(const struct connection *connection,
                                       const struct fnet_message *message)
{
    const struct channel *channel =
        connection ? fnet_id_map_get(&connection->map, &message->receiver) : NULL;

    return channel && channel->are_records_known ? channel->place
                                                 : (struct record_place){.body_left = 0};
}

void conversation_count_records(struct inspected *m, const struct record_count *passed)
{
    struct channel *channel = m->channel;
    struct record_count count;

    if (!m->has_records)
        return;
    m->has_records = false;
    count = passed ? *passed : record_count_from(channel->place);
    if (!passed)
        record_count_add(&count, m->item->payload);
    if (!record_place_is_same(&count.from, &channel->place)) {
        /* While the payload went past the channel began anew, which no peer does. */
        lose_records(m);
        return;
    }
    channel->records += count.records;
    channel->place = count.to;
    if (count.is_bad)
        break_records(m);
}
