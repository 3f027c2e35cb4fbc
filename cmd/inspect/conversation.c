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

#include "inspect/channel_records.h"

void conversation_init(struct conversation *c, const char *spill_dir, enum fnet_codec codec)
{
    *c = (struct conversation){.spill_dir = spill_dir};
    block_reader_init(&c->blocks, codec);
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
    block_reader_clear(&c->blocks);
    conversation_init(c, c->spill_dir, c->blocks.given);
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
    channel->ends = 0;
    channel->is_ended = false;
    channel_records_know(channel);
    add_credit(channel, request->credit);
}

static void check_sequence(struct inspected *m, const struct fnet_buffer_response *b)
{
    struct channel *channel = m->channel;
    const uint32_t sequence = (uint32_t)b->sequence;

    if (!channel->is_sequence_known && sequence == 0)
        channel_records_know(channel);
    if (channel->is_sequence_known && sequence != channel->next_sequence) {
        m->expected = channel->next_sequence;
        m->findings |= FOUND_BAD_SEQUENCE;
        channel->sequence_gaps++;
        channel_records_lose(m);
    }
    channel->is_sequence_known = true;
    channel->next_sequence = sequence + payload_parts_count(b);
}

/* One credit pays for all that is merged in a frame. */
static enum fnet_err take_data(struct inspected *m, const struct fnet_buffer_response *b)
{
    struct channel *channel = m->channel;

    channel->buffers += payload_parts_count(b);
    add_credit(channel, -1);
    if (channel->is_credit_known && channel->credit < 0)
        m->findings |= FOUND_NO_CREDIT;
    return channel_records_begin(m);
}

/* Old dialects have no better name for many events; then EVENT, if it is there, says what it is. */
static enum fnet_data_type event_data_type(const struct fnet_event *event, uint8_t data_type)
{
    return event && data_type == FNET_EVENT_BUFFER ? fnet_event_data_type(event)
                                                   : (enum fnet_data_type)data_type;
}

/* The records of the next subpartition, if there is one, begin anew. */
static void take_end(struct inspected *m)
{
    struct channel *channel = m->channel;
    const int64_t asked = channel->has_request ? (int64_t)channel->last - channel->first + 1 : 1;

    channel->ends++;
    channel->is_ended = channel->ends >= (uint64_t)asked;
    if (channel->are_records_known && channel_records_is_mid_record(channel)) {
        m->findings |= FOUND_CUT_RECORD;
        channel_records_know(channel);
    }
}

static void take_event(struct inspected *m, enum fnet_data_type type)
{
    struct channel *channel = m->channel;

    channel->events++;
    if (type == FNET_END_OF_PARTITION)
        take_end(m);
    /* Writers finish their record before an event; priority events overtake, and what follows
     * recovered state may go on with a record of before. */
    if (!channel->are_records_known && type != FNET_PRIORITIZED_EVENT_BUFFER &&
        type != FNET_RECOVERY_COMPLETION)
        channel_records_know(channel);
}

static void take_events(struct inspected *m, const struct fnet_buffer_response *b)
{
    struct payload_parts parts = conversation_events(m);
    struct fnet_event event;
    bool is_decoded;

    if (m->events > 1) {
        while (conversation_next_event(m, &parts, &event, &is_decoded))
            take_event(m, event_data_type(is_decoded ? &event : NULL, b->data_type));
        return;
    }
    /* If bytes are missing, they are several all the same. */
    for (uint32_t n = payload_parts_count(b); n > 0; n--)
        take_event(m, event_data_type(m->has_event ? &m->event : NULL, b->data_type));
}

static enum fnet_err take_buffer(struct inspected *m, const struct fnet_buffer_response *b)
{
    check_sequence(m, b);
    note(&m->channel->backlogs, b->backlog);
    m->channel->payload_bytes += b->size;
    if (fnet_data_type_is_buffer(b->data_type))
        return take_data(m, b);
    take_events(m, b);
    return FNET_OK;
}

/* What concerns a channel, which is there. */
static enum fnet_err take_for_channel(struct inspected *m, const struct fnet_message *message)
{
    struct channel *channel = m->channel;

    channel->messages++;
    channel->bytes += m->item->length;
    switch (message->type) {
    case FNET_BUFFER_RESPONSE: return take_buffer(m, &message->buffer);
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
    return FNET_OK;
}

struct payload_parts conversation_events(const struct inspected *m)
{
    return payload_parts_of(&m->item->message.buffer, m->item->payload);
}

bool conversation_next_event(const struct inspected *m, struct payload_parts *parts,
                             struct fnet_event *event, bool *is_decoded)
{
    struct fnet_span bytes;

    if (!payload_parts_next(parts, &bytes))
        return false;
    *is_decoded = fnet_event_decode(m->item->dialect, bytes, event) == FNET_OK;
    return true;
}

static void check_events(struct inspected *m)
{
    struct payload_parts parts = conversation_events(m);
    struct fnet_event event;
    bool is_decoded;

    while (conversation_next_event(m, &parts, &event, &is_decoded))
        m->findings |= is_decoded ? 0u : FOUND_BAD_EVENT;
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
    if (event.len > 0)
        m->events =
            message->type == FNET_BUFFER_RESPONSE ? payload_parts_count(&message->buffer) : 1;
    if (m->events > 1) {
        check_events(m);
    } else if (m->events == 1) {
        m->has_event = fnet_event_decode(m->item->dialect, event, &m->event) == FNET_OK;
        m->findings |= m->has_event ? 0u : FOUND_BAD_EVENT;
    }
    if (message->type == FNET_ERROR_RESPONSE) {
        m->has_error = fnet_throwable_chain_decode(message->error.throwable, &m->error) == FNET_OK;
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
    out->events = 0;
    out->has_event = out->has_error = out->has_records = false;
    out->codec = FNET_CODEC_NONE;
    out->blocks = &c->blocks;
    count(connection, out);
    decode_contents(out, message);
    enum fnet_err err = FNET_OK;
    if (channel)
        err = take_for_channel(out, message);
    else if (has_channel(message))
        out->findings |= FOUND_TOO_MANY;
    if (item->missing)
        conversation_miss(connection);
    return err;
}
