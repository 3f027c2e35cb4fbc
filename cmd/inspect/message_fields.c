/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages, events and errors into named fields.
 *
 * Source: Flink CheckpointType, SavepointType, CheckpointOptions.AlignmentType (the names of
 * values); toString of the ids.
 */
#include "inspect/message_fields.h"

#include <assert.h>

#include "fnet/partition.h"
#include "fnet/record.h"

/* ---- building the list ------------------------------------------------------------------- */

static struct field *add(struct message_fields *f, const char *key, enum field_kind kind)
{
    assert(f->count < FIELDS_MAX);
    struct field *field = &f->fields[f->count++];
    *field = (struct field){.key = key, .kind = kind};
    return field;
}

static void add_number(struct message_fields *f, const char *key, int64_t number)
{
    add(f, key, FIELD_NUMBER)->number = number;
}

static void add_flag(struct message_fields *f, const char *key, bool flag)
{
    add(f, key, FIELD_FLAG)->number = flag;
}

static void add_span(struct message_fields *f, const char *key, enum field_kind kind,
                     struct fnet_span bytes)
{
    add(f, key, kind)->bytes = bytes;
}

static void add_text(struct message_fields *f, const char *key, const char *text)
{
    add_span(f, key, FIELD_TEXT, fnet_span_of(text, strlen(text)));
}

/* A value by its name, or by its number if it has none. */
static void add_name(struct message_fields *f, const char *key, const char *const names[],
                     size_t count, uint8_t value)
{
    if (value < count && names[value])
        add_text(f, key, names[value]);
    else
        add_number(f, key, value);
}

#define ADD_NAME(f, key, names, value)                                                             \
    add_name(f, key, names, sizeof(names) / sizeof *(names), value)

/* "HEX#NUMBER@GRAPH_VERTEX_SUBTASK_ATTEMPT", of which old dialects have HEX@GRAPH. */
const char *message_partition_split(const struct fnet_dialect *dialect,
                                    const struct fnet_partition_id *id,
                                    char text[static FNET_PARTITION_ID_TEXT_BYTES])
{
    fnet_partition_id_format(id, text);
    char *producer = strchr(text, '@');
    *producer++ = '\0';
    if (dialect->partition_bytes == FNET_ID_BYTES)
        *strchr(text, '#') = '\0';
    if (dialect->attempt_bytes == FNET_ID_BYTES)
        *strchr(producer, '_') = '\0';
    return producer;
}

/* Two ids for Flink, two fields here. */
static void add_partition(struct message_fields *f, const struct fnet_partition_id *id)
{
    const char *producer = message_partition_split(f->dialect, id, f->partition);

    add_text(f, "partition", f->partition);
    add_text(f, "producer", producer);
}

/* ---- events and errors ------------------------------------------------------------------- */

static void add_barrier(struct message_fields *f, const struct fnet_checkpoint_barrier *b)
{
    static const char *const types[] = {
        [FNET_CHECKPOINT] = "CHECKPOINT",
        [FNET_SAVEPOINT] = "SAVEPOINT",
        [FNET_SAVEPOINT_SUSPEND] = "SAVEPOINT_SUSPEND",
        [FNET_SAVEPOINT_TERMINATE] = "SAVEPOINT_TERMINATE",
        [FNET_FULL_CHECKPOINT] = "FULL_CHECKPOINT",
    };
    static const char *const formats[] = {"CANONICAL", "NATIVE"};
    static const char *const alignments[] = {
        [FNET_AT_LEAST_ONCE] = "AT_LEAST_ONCE",
        [FNET_ALIGNED] = "ALIGNED",
        [FNET_UNALIGNED] = "UNALIGNED",
        [FNET_FORCED_ALIGNED] = "FORCED_ALIGNED",
    };

    const struct fnet_barrier_layout *layout = &f->dialect->barrier;

    add_number(f, "id", b->id);
    add_number(f, "timestamp", b->timestamp_ms);
    ADD_NAME(f, "checkpoint_type", types, b->checkpoint_type);
    if (layout->is_compact && b->checkpoint_type >= FNET_SAVEPOINT &&
        b->checkpoint_type <= FNET_SAVEPOINT_TERMINATE)
        ADD_NAME(f, "savepoint_format", formats, b->savepoint_format);
    if (b->has_location)
        add_span(f, "location", FIELD_BYTES, b->location);
    if (layout->alignment != FNET_ALIGNMENT_ABSENT)
        ADD_NAME(f, "alignment", alignments, b->alignment_type);
    if (b->alignment_timeout_ms != INT64_MAX)
        add_number(f, "alignment_timeout", b->alignment_timeout_ms);
}

static void add_watermark(struct message_fields *f, const struct fnet_watermark_event *w)
{
    add_span(f, "identifier", FIELD_TEXT, w->identifier);
    add_flag(f, "aligned", w->is_aligned);
    if (w->is_boolean)
        add_flag(f, "value", w->value != 0);
    else
        add_number(f, "value", w->value);
}

static void add_event(struct message_fields *f, const char *key, const struct fnet_event *e)
{
    add(f, key, FIELD_OBJECT);
    if (e->type == FNET_EVENT_OTHER)
        add_span(f, "type", FIELD_TEXT, e->other.class_name);
    else
        add_text(f, "type", fnet_event_type_name(e->type));
    switch (e->type) {
    case FNET_EVENT_CHECKPOINT_BARRIER: add_barrier(f, &e->barrier); break;
    case FNET_EVENT_WATERMARK: add_watermark(f, &e->watermark); break;
    case FNET_EVENT_CANCEL_CHECKPOINT: add_number(f, "id", e->checkpoint_id); break;
    case FNET_EVENT_ANNOUNCEMENT: add_number(f, "sequence", e->announcement.sequence); break;
    case FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR:
        add_number(f, "input_subtask", e->connection.input_subtask);
        add_number(f, "output_subtask", e->connection.output_subtask);
        break;
    case FNET_EVENT_END_OF_DATA:
        if (f->dialect->end_of_data_bytes > 4)
            add_text(f, "mode", e->is_no_drain ? "NO_DRAIN" : "DRAIN");
        break;
    case FNET_EVENT_RECOVERY_METADATA:
        add_number(f, "final_subpartition", e->final_subpartition);
        break;
    case FNET_EVENT_END_OF_PARTITION:
    case FNET_EVENT_END_OF_SUPERSTEP:
    case FNET_EVENT_OTHER:
    case FNET_EVENT_END_OF_OUTPUT_CHANNEL_STATE:
    case FNET_EVENT_END_OF_SEGMENT:
    case FNET_EVENT_END_OF_INPUT_CHANNEL_STATE: break;
    }
    add(f, NULL, FIELD_END);
}

/* A field that in lines is led by WORDS. */
static struct field *add_in_words(struct message_fields *f, const char *key, enum field_kind kind,
                                  const char *words)
{
    struct field *field = add(f, key, kind);

    field->words = words;
    return field;
}

static void add_text_in_words(struct message_fields *f, const char *key, const char *words,
                              const char *text)
{
    if (*text)
        add_in_words(f, key, FIELD_TEXT, words)->bytes = fnet_span_of(text, strlen(text));
}

static void add_throwable(struct message_fields *f, size_t i)
{
    struct fnet_throwable *thrown = &f->thrown[i];

    fnet_throwable_chain_get(f->error, i, thrown);
    add_text(f, "type", thrown->class_name);
    add_text_in_words(f, "original_type", " for ", thrown->original_class);
    add_text_in_words(f, "message", ": ", thrown->message);
    if (f->error->throwables[i].line_count > 0)
        add(f, "stack", FIELD_STACK)->number = (int64_t)i;
}

/* Each cause is an object within the one that it caused. */
static void add_error(struct message_fields *f, const struct fnet_throwable_chain *error)
{
    f->error = error;
    add(f, "error", FIELD_OBJECT);
    add_throwable(f, 0);
    if (error->end != FNET_OK)
        add_in_words(f, "incomplete", FIELD_FLAG, ", incomplete")->number = true;
    for (size_t i = 1; i < error->count; i++) {
        if (i == error->count - 1 && error->left_out > 0)
            add_in_words(f, "causes_more", FIELD_NUMBER, ", causes left out: ")->number =
                (int64_t)error->left_out;
        add_in_words(f, "cause", FIELD_OBJECT, ", caused by ");
        add_throwable(f, i);
    }
    for (size_t i = 1; i < error->count; i++)
        add_in_words(f, NULL, FIELD_END, "");
    add(f, NULL, FIELD_END);
}

/* ---- messages ---------------------------------------------------------------------------- */

static void add_buffer(struct message_fields *f, const struct inspected *m)
{
    const struct fnet_buffer_response *b = &m->item->message.buffer;

    if (f->dialect->buffer.subpartition)
        add_number(f, "subpartition", b->subpartition);
    add_number(f, "sequence", b->sequence);
    add_number(f, "backlog", b->backlog);
    add_text(f, "data_type", fnet_data_type_name(b->data_type));
    if (f->dialect->buffer.is_compressed)
        add_flag(f, "compressed", b->is_compressed);
    if (m->codec != FNET_CODEC_NONE)
        add_text(f, "codec", fnet_codec_name(m->codec));
    add_number(f, "size", b->size);
    if (b->partials)
        add_span(f, "partial_sizes", FIELD_NUMBERS, b->partial_sizes);
    if (m->item->missing)
        add_number(f, "missing", (int64_t)m->item->missing);
}

/* One subpartition is a number, more are its first and last. */
static void add_request(struct message_fields *f, const struct fnet_partition_request *r)
{
    add_partition(f, &r->partition);
    add_number(f, "subpartition", r->first);
    if (r->last != r->first)
        add_number(f, "last_subpartition", r->last);
    add_number(f, "credit", r->credit);
    if (f->dialect->has_recovery)
        add_flag(f, "recovers", r->recovers);
}

static void add_describe(struct message_fields *f, const struct fnet_description_request *d)
{
    if (d->all)
        add_flag(f, "all", true);
    else
        add_partition(f, &d->partition);
}

static void add_description(struct message_fields *f, const struct fnet_description_response *d)
{
    static const char *const types[] = {
        [FNET_PIPELINED] = "PIPELINED",
        [FNET_PIPELINED_BOUNDED] = "PIPELINED_BOUNDED",
    };
    static const char *const formats[] = {
        [FNET_FORMAT_LINES] = "lines", [FNET_FORMAT_NUL] = "nul",     [FNET_FORMAT_FIXED] = "fixed",
        [FNET_FORMAT_U32] = "u32",     [FNET_FORMAT_BYTES] = "bytes",
    };
    static const char *const states[] = {"producing", "input ended"};
    static const char *const codecs[] = {"none", "lz4", "zstd", "lzo"};

    add_partition(f, &d->partition);
    add(f, "description", FIELD_OBJECT);
    add_span(f, "name", FIELD_TEXT, d->name);
    add_number(f, "subpartitions", d->subpartitions);
    ADD_NAME(f, "partition_type", types, d->partition_type);
    ADD_NAME(f, "format", formats, d->format);
    ADD_NAME(f, "state", states, d->state);
    ADD_NAME(f, "codec", codecs, d->codec);
    add_number(f, "remaining", d->remaining);
    add(f, NULL, FIELD_END);
}

static bool has_receiver(const struct fnet_message *m)
{
    return m->type != FNET_CLOSE_REQUEST &&
           (m->type != FNET_ERROR_RESPONSE || m->error.has_receiver);
}

static void add_body(struct message_fields *f, const struct inspected *inspected)
{
    const struct fnet_message *m = &inspected->item->message;

    switch (m->type) {
    case FNET_BUFFER_RESPONSE: add_buffer(f, inspected); break;
    case FNET_PARTITION_REQUEST: add_request(f, &m->request); break;
    case FNET_TASK_EVENT_REQUEST: add_partition(f, &m->task_event.partition); break;
    case FNET_ADD_CREDIT:
        if (f->dialect->credit_names_partition)
            add_partition(f, &m->credited);
        add_number(f, "credit", m->credit);
        break;
    case FNET_BACKLOG_ANNOUNCEMENT: add_number(f, "backlog", m->backlog); break;
    case FNET_NEW_BUFFER_SIZE: add_number(f, "buffer_size", m->buffer_size); break;
    case FNET_SEGMENT_ID:
        if (f->dialect->segment_names_subpartition)
            add_number(f, "subpartition", m->segment.subpartition);
        add_number(f, "segment", m->segment.segment);
        break;
    case FNET_DESCRIPTION_REQUEST: add_describe(f, &m->describe); break;
    case FNET_DESCRIPTION_RESPONSE: add_description(f, &m->description); break;
    case FNET_ERROR_RESPONSE:
    case FNET_CANCEL_PARTITION_REQUEST:
    case FNET_CLOSE_REQUEST:
    case FNET_RESUME_CONSUMPTION:
    case FNET_ACK_ALL_USER_RECORDS_PROCESSED:
    case FNET_DIALECT_PROBE: break;
    }
}

void message_fields_list(const struct inspected *m, struct message_fields *out)
{
    const struct fnet_message *message = &m->item->message;

    out->count = 0;
    out->dialect = m->item->dialect;
    add_number(out, "length", (int64_t)m->item->length);
    if (has_receiver(message)) {
        fnet_id_format(&message->receiver, out->receiver);
        add_text(out, "receiver", out->receiver);
    }
    add_body(out, m);
    if (m->has_event)
        add_event(out, "event", &m->event);
    if (m->has_error)
        add_error(out, &m->error);
}

void message_fields_of_event(const struct fnet_dialect *dialect, const char *key,
                             const struct fnet_event *event, struct message_fields *out)
{
    out->count = 0;
    out->dialect = dialect;
    add_event(out, key, event);
}

bool message_is_data(const struct inspected *m)
{
    return m->item->message.type == FNET_BUFFER_RESPONSE &&
           fnet_data_type_is_buffer(m->item->message.buffer.data_type);
}

struct fnet_span message_payload(const struct inspected *m)
{
    const struct fnet_message *message = &m->item->message;

    if (message->type == FNET_TASK_EVENT_REQUEST)
        return message->task_event.event;
    if (message->type == FNET_ERROR_RESPONSE)
        return message->error.throwable;
    /* Where in it bytes are missing is not known any more. */
    return m->item->missing ? fnet_span_of(m->item->payload.ptr, 0) : m->item->payload;
}
