/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bodies of all messages: one row of functions for each, and the two that walk the table.
 *
 * Source: Flink NettyMessage, NonBufferResponseDecoder (1.5 to 2.3); 64 and 65 are fnet's own.
 */
#include "buffer_response.h"
#include "dialect_probe.h"
#include "frame.h"
#include "object_stream.h"

/* What stands behind the throwable of an ErrorResponse: a boolean, then perhaps a receiver. */
#define ERROR_TAIL_BYTES (1 + FNET_ID_BYTES)

/* A boolean is one byte; any other than 0 and 1 clears IS_BOOL. */
static bool get_bool(struct fnet_reader *r, bool *is_bool)
{
    uint8_t byte = fnet_get_u8(r);

    if (byte > 1)
        *is_bool = false;
    return byte != 0;
}

/* ---- 1: ErrorResponse -------------------------------------------------------------------- */

/*
 * How many bytes stand behind the throwable, whose length is not on the wire; 0 when they cannot
 * be told. Exact when the walk over the object reaches its end; else a guess that errs when a
 * fatal error happens to have a 1 where the boolean in front of a receiver would be.
 */
static size_t error_tail_bytes(struct fnet_span body)
{
    size_t object;

    if (fnet__wire_object_walk(body, NULL, &object) == FNET_OK) {
        size_t tail = body.len - object;
        if (tail == 1 && body.ptr[object] == 0)
            return tail;
        if (tail == ERROR_TAIL_BYTES && body.ptr[object] == 1)
            return tail;
    }
    if (body.len >= ERROR_TAIL_BYTES && body.ptr[body.len - ERROR_TAIL_BYTES] == 1)
        return ERROR_TAIL_BYTES;
    return body.ptr[body.len - 1] == 0 ? 1 : 0;
}

static bool get_error(const struct fnet_dialect *d, struct fnet_reader *r, struct fnet_message *m)
{
    (void)d;
    struct fnet_span body = fnet_get_span(r, fnet_reader_left(r));
    size_t tail = error_tail_bytes(body);

    m->error.has_receiver = tail == ERROR_TAIL_BYTES;
    m->error.throwable = fnet_span_of(body.ptr, body.len - tail);
    if (m->error.has_receiver)
        memcpy(m->receiver.bytes, body.ptr + body.len - FNET_ID_BYTES, FNET_ID_BYTES);
    return tail > 0;
}

static void put_error(const struct fnet_dialect *d, struct fnet_writer *w,
                      const struct fnet_message *m)
{
    (void)d;
    fnet_put_bytes(w, m->error.throwable.ptr, m->error.throwable.len);
    fnet_put_u8(w, m->error.has_receiver);
    if (m->error.has_receiver)
        fnet_put_id(w, &m->receiver);
}

/* ---- 2: PartitionRequest ----------------------------------------------------------------- */

static bool get_request(const struct fnet_dialect *d, struct fnet_reader *r, struct fnet_message *m)
{
    bool is_bool = true;

    fnet_get_partition_id_in(d, r, &m->request.partition);
    m->request.first = fnet_get_i32(r);
    m->request.last = d->has_ranges ? fnet_get_i32(r) : m->request.first;
    fnet_get_id(r, &m->receiver);
    m->request.credit = fnet_get_i32(r);
    m->request.recovers = d->has_recovery && get_bool(r, &is_bool);
    return is_bool;
}

static void put_request(const struct fnet_dialect *d, struct fnet_writer *w,
                        const struct fnet_message *m)
{
    fnet_put_partition_id_in(d, w, &m->request.partition);
    fnet_put_i32(w, m->request.first);
    if (d->has_ranges)
        fnet_put_i32(w, m->request.last);
    fnet_put_id(w, &m->receiver);
    fnet_put_i32(w, m->request.credit);
    if (d->has_recovery)
        fnet_put_u8(w, m->request.recovers);
}

static bool is_valid_request(const struct fnet_dialect *d, const struct fnet_message *m)
{
    const struct fnet_partition_request *q = &m->request;

    return q->first >= 0 && q->last >= q->first && q->credit >= 0 &&
           (d->has_ranges || q->last == q->first) && (d->has_recovery || !q->recovers);
}

/* ---- 3: TaskEventRequest ----------------------------------------------------------------- */

static bool get_task_event(const struct fnet_dialect *d, struct fnet_reader *r,
                           struct fnet_message *m)
{
    m->task_event.event = fnet_get_span(r, fnet_get_u32(r));
    fnet_get_partition_id_in(d, r, &m->task_event.partition);
    fnet_get_id(r, &m->receiver);
    return true;
}

static void put_task_event(const struct fnet_dialect *d, struct fnet_writer *w,
                           const struct fnet_message *m)
{
    fnet_put_u32(w, (uint32_t)m->task_event.event.len);
    fnet_put_bytes(w, m->task_event.event.ptr, m->task_event.event.len);
    fnet_put_partition_id_in(d, w, &m->task_event.partition);
    fnet_put_id(w, &m->receiver);
}

/* ---- 4, 7, 8: a receiver; 5: nothing ----------------------------------------------------- */

static bool get_receiver(const struct fnet_dialect *d, struct fnet_reader *r,
                         struct fnet_message *m)
{
    (void)d;
    fnet_get_id(r, &m->receiver);
    return true;
}

static void put_receiver(const struct fnet_dialect *d, struct fnet_writer *w,
                         const struct fnet_message *m)
{
    (void)d;
    fnet_put_id(w, &m->receiver);
}

static bool get_nothing(const struct fnet_dialect *d, struct fnet_reader *r, struct fnet_message *m)
{
    (void)d;
    (void)r;
    (void)m;
    return true;
}

static void put_nothing(const struct fnet_dialect *d, struct fnet_writer *w,
                        const struct fnet_message *m)
{
    (void)d;
    (void)w;
    (void)m;
}

/* ---- 6: AddCredit ------------------------------------------------------------------------ */

static bool get_credit(const struct fnet_dialect *d, struct fnet_reader *r, struct fnet_message *m)
{
    if (d->credit_names_partition)
        fnet_get_partition_id_in(d, r, &m->credited);
    m->credit = fnet_get_i32(r);
    fnet_get_id(r, &m->receiver);
    return true;
}

static void put_credit(const struct fnet_dialect *d, struct fnet_writer *w,
                       const struct fnet_message *m)
{
    if (d->credit_names_partition)
        fnet_put_partition_id_in(d, w, &m->credited);
    fnet_put_i32(w, m->credit);
    fnet_put_id(w, &m->receiver);
}

/* ---- 9: BacklogAnnouncement, 10: NewBufferSize -------------------------------------------- */

/*
 * These are alike: credit, backlog and buffer_size share one place in the union, and the number
 * stands in front of the receiver.
 */
static bool get_number(const struct fnet_dialect *d, struct fnet_reader *r, struct fnet_message *m)
{
    (void)d;
    m->backlog = fnet_get_i32(r);
    fnet_get_id(r, &m->receiver);
    return true;
}

static void put_number(const struct fnet_dialect *d, struct fnet_writer *w,
                       const struct fnet_message *m)
{
    (void)d;
    fnet_put_i32(w, m->backlog);
    fnet_put_id(w, &m->receiver);
}

static bool is_valid_number(const struct fnet_dialect *d, const struct fnet_message *m)
{
    (void)d;
    return m->backlog > 0;
}

/* ---- 11: SegmentId ----------------------------------------------------------------------- */

static bool get_segment(const struct fnet_dialect *d, struct fnet_reader *r, struct fnet_message *m)
{
    m->segment.subpartition = d->segment_names_subpartition ? fnet_get_i32(r) : 0;
    m->segment.segment = fnet_get_i32(r);
    fnet_get_id(r, &m->receiver);
    return true;
}

static void put_segment(const struct fnet_dialect *d, struct fnet_writer *w,
                        const struct fnet_message *m)
{
    if (d->segment_names_subpartition)
        fnet_put_i32(w, m->segment.subpartition);
    fnet_put_i32(w, m->segment.segment);
    fnet_put_id(w, &m->receiver);
}

static bool is_valid_segment(const struct fnet_dialect *d, const struct fnet_message *m)
{
    (void)d;
    return m->segment.subpartition >= 0 && m->segment.segment > 0;
}

/* ---- 64, 65: description ----------------------------------------------------------------- */

static bool get_describe(const struct fnet_dialect *d, struct fnet_reader *r,
                         struct fnet_message *m)
{
    (void)d;
    bool is_bool = true;

    fnet_get_id(r, &m->receiver);
    m->describe.all = get_bool(r, &is_bool);
    fnet_get_partition_id(r, &m->describe.partition);
    return is_bool;
}

static void put_describe(const struct fnet_dialect *d, struct fnet_writer *w,
                         const struct fnet_message *m)
{
    (void)d;
    fnet_put_id(w, &m->receiver);
    fnet_put_u8(w, m->describe.all);
    fnet_put_partition_id(w, &m->describe.partition);
}

static bool is_valid_describe(const struct fnet_dialect *d, const struct fnet_message *m)
{
    (void)d;
    static const struct fnet_partition_id zero;

    return !m->describe.all || fnet_partition_id_is_equal(&m->describe.partition, &zero);
}

static bool get_description(const struct fnet_dialect *dialect, struct fnet_reader *r,
                            struct fnet_message *m)
{
    (void)dialect;
    struct fnet_description_response *d = &m->description;

    fnet_get_id(r, &m->receiver);
    d->remaining = fnet_get_i32(r);
    fnet_get_partition_id(r, &d->partition);
    d->subpartitions = fnet_get_i32(r);
    d->partition_type = fnet_get_u8(r);
    d->format = fnet_get_u8(r);
    d->state = fnet_get_u8(r);
    d->codec = fnet_get_u8(r);
    d->name = fnet_get_span(r, fnet_get_u8(r));
    return true;
}

static void put_description(const struct fnet_dialect *dialect, struct fnet_writer *w,
                            const struct fnet_message *m)
{
    (void)dialect;
    const struct fnet_description_response *d = &m->description;

    fnet_put_id(w, &m->receiver);
    fnet_put_i32(w, d->remaining);
    fnet_put_partition_id(w, &d->partition);
    fnet_put_i32(w, d->subpartitions);
    fnet_put_u8(w, d->partition_type);
    fnet_put_u8(w, d->format);
    fnet_put_u8(w, d->state);
    fnet_put_u8(w, d->codec);
    fnet_put_u8(w, (uint8_t)d->name.len);
    fnet_put_bytes(w, d->name.ptr, d->name.len);
}

/* A name reaches terminals and scripts: nothing but a name may pass. */
static bool is_name(struct fnet_span name)
{
    char text[FNET_NAME_MAX_BYTES + 1];
    struct fnet_partition_id id;

    if (name.len > FNET_NAME_MAX_BYTES || memchr(name.ptr, 0, name.len))
        return false;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    return fnet_partition_id_from_name(text, &id) == FNET_OK;
}

static bool is_valid_description(const struct fnet_dialect *dialect, const struct fnet_message *m)
{
    (void)dialect;
    const struct fnet_description_response *d = &m->description;

    return d->remaining >= 0 && d->subpartitions >= 0 && d->state <= 1 &&
           (d->name.len == 0 || is_name(d->name));
}

/* ---- all of them ------------------------------------------------------------------------- */

static const struct body {
    void (*put)(const struct fnet_dialect *d, struct fnet_writer *w, const struct fnet_message *m);
    /* False when the bytes hold something that no field can express; the cursor knows lengths. */
    bool (*get)(const struct fnet_dialect *d, struct fnet_reader *r, struct fnet_message *m);
    bool (*is_valid)(const struct fnet_dialect *d, const struct fnet_message *m); /* NULL: always */
} bodies[] = {
    [FNET_ERROR_RESPONSE] = {put_error, get_error, NULL},
    [FNET_PARTITION_REQUEST] = {put_request, get_request, is_valid_request},
    [FNET_TASK_EVENT_REQUEST] = {put_task_event, get_task_event, NULL},
    [FNET_CANCEL_PARTITION_REQUEST] = {put_receiver, get_receiver, NULL},
    [FNET_CLOSE_REQUEST] = {put_nothing, get_nothing, NULL},
    [FNET_ADD_CREDIT] = {put_credit, get_credit, is_valid_number},
    [FNET_RESUME_CONSUMPTION] = {put_receiver, get_receiver, NULL},
    [FNET_ACK_ALL_USER_RECORDS_PROCESSED] = {put_receiver, get_receiver, NULL},
    [FNET_BACKLOG_ANNOUNCEMENT] = {put_number, get_number, is_valid_number},
    [FNET_NEW_BUFFER_SIZE] = {put_number, get_number, is_valid_number},
    [FNET_SEGMENT_ID] = {put_segment, get_segment, is_valid_segment},
    [FNET_DESCRIPTION_REQUEST] = {put_describe, get_describe, is_valid_describe},
    [FNET_DESCRIPTION_RESPONSE] = {put_description, get_description, is_valid_description},
};

/* Bytes of the parts whose length varies. */
static size_t variable_bytes(const struct fnet_message *m)
{
    switch (m->type) {
    case FNET_BUFFER_RESPONSE: return m->buffer.partial_sizes.len;
    case FNET_ERROR_RESPONSE:
        return m->error.throwable.len + (m->error.has_receiver ? FNET_ID_BYTES : 0);
    case FNET_TASK_EVENT_REQUEST: return m->task_event.event.len;
    case FNET_DESCRIPTION_RESPONSE: return m->description.name.len;
    case FNET_PARTITION_REQUEST:
    case FNET_CANCEL_PARTITION_REQUEST:
    case FNET_CLOSE_REQUEST:
    case FNET_ADD_CREDIT:
    case FNET_RESUME_CONSUMPTION:
    case FNET_ACK_ALL_USER_RECORDS_PROCESSED:
    case FNET_BACKLOG_ANNOUNCEMENT:
    case FNET_NEW_BUFFER_SIZE:
    case FNET_SEGMENT_ID:
    case FNET_DESCRIPTION_REQUEST:
    case FNET_DIALECT_PROBE: break;
    }
    return 0;
}

size_t fnet_message_encoded_bytes(const struct fnet_dialect *dialect,
                                  const struct fnet_message *message)
{
    return fnet__wire_frame_min_bytes(dialect, message->type) + variable_bytes(message);
}

static bool is_valid(const struct fnet_dialect *d, const struct fnet_message *m)
{
    if (m->type == FNET_DIALECT_PROBE)
        return fnet_dialect_probe_exists(d);
    if ((unsigned)m->type > UINT8_MAX || !fnet_message_type_name(m->type) ||
        !fnet_dialect_has_message(d, m->type))
        return false;
    if (m->type == FNET_BUFFER_RESPONSE)
        return fnet__wire_buffer_response_is_valid(d, &m->buffer);
    return !bodies[m->type].is_valid || bodies[m->type].is_valid(d, m);
}

enum fnet_err fnet_message_encode(const struct fnet_dialect *dialect,
                                  const struct fnet_message *message, struct fnet_writer *w)
{
    if (!is_valid(dialect, message))
        return FNET_INVALID;

    size_t bytes = fnet_message_encoded_bytes(dialect, message);
    if (message->type != FNET_BUFFER_RESPONSE && bytes > FNET_MESSAGE_MAX_BYTES)
        return FNET_INVALID;
    if (w->failed || fnet_writer_left(w) < bytes)
        return FNET_RANGE;
    if (message->type == FNET_BUFFER_RESPONSE) {
        fnet__wire_buffer_response_put(dialect, fnet_put_room(w, bytes), message);
        return FNET_OK;
    }
    if (message->type == FNET_DIALECT_PROBE)
        return fnet__wire_dialect_probe_put(w);
    fnet__wire_frame_put(fnet_put_room(w, FNET_FRAME_HEADER_BYTES), (uint32_t)bytes, message->type);
    bodies[message->type].put(dialect, w, message);
    return FNET_OK;
}

enum fnet_err fnet_message_decode(const struct fnet_dialect *dialect, struct fnet_span bytes,
                                  size_t *used, struct fnet_message *out)
{
    struct fnet__wire_frame frame;
    enum fnet_err err = fnet__wire_frame_get(dialect, bytes, &frame);

    if (err != FNET_OK) {
        if (err == FNET_AGAIN)
            *used = FNET_FRAME_HEADER_BYTES;
        return err;
    }
    if (fnet__wire_dialect_probe_is(dialect, bytes, &frame))
        return fnet__wire_dialect_probe_get(bytes, used, out);
    if (frame.type == FNET_BUFFER_RESPONSE)
        return fnet__wire_buffer_response_get(dialect, bytes, frame.length, used, out);
    if (bytes.len < frame.length) {
        *used = frame.length;
        return FNET_AGAIN;
    }

    struct fnet_message m = {.type = frame.type};
    struct fnet_reader r = fnet_reader_of(
        fnet_span_of(bytes.ptr + FNET_FRAME_HEADER_BYTES, frame.length - FNET_FRAME_HEADER_BYTES));
    bool is_expressible = bodies[frame.type].get(dialect, &r, &m);
    if (r.failed || fnet_reader_left(&r) > 0)
        return FNET_BAD_LENGTH;
    if (!is_expressible || !is_valid(dialect, &m))
        return FNET_BAD_VALUE;
    *used = frame.length;
    *out = m;
    return FNET_OK;
}
