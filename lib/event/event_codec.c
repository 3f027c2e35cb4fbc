/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events to bytes and back, with the padding that Flink's own encoder leaves behind them.
 *
 * Source: Flink EventSerializer, WatermarkEvent, Buffer.DataType.getDataType,
 * DataOutputSerializer (1.5 to 2.3).
 */
#include "fnet/event.h"

#define TYPE_BYTES 4
/* Where Flink's growing array starts, for the events that are written through one. */
#define ARRAY_BYTES 128
#define UTF_MAX_BYTES 65535

const char *fnet_event_type_name(uint32_t type)
{
    static const char *const names[] = {
        [FNET_EVENT_END_OF_PARTITION] = "EndOfPartitionEvent",
        [FNET_EVENT_CHECKPOINT_BARRIER] = "CheckpointBarrier",
        [FNET_EVENT_END_OF_SUPERSTEP] = "EndOfSuperstepEvent",
        [FNET_EVENT_OTHER] = "AbstractEvent",
        [FNET_EVENT_CANCEL_CHECKPOINT] = "CancelCheckpointMarker",
        [FNET_EVENT_END_OF_OUTPUT_CHANNEL_STATE] = "EndOfOutputChannelStateEvent",
        [FNET_EVENT_ANNOUNCEMENT] = "EventAnnouncement",
        [FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR] = "SubtaskConnectionDescriptor",
        [FNET_EVENT_END_OF_DATA] = "EndOfData",
        [FNET_EVENT_END_OF_SEGMENT] = "EndOfSegmentEvent",
        [FNET_EVENT_RECOVERY_METADATA] = "RecoveryMetadata",
        [FNET_EVENT_WATERMARK] = "WatermarkEvent",
        [FNET_EVENT_END_OF_INPUT_CHANNEL_STATE] = "EndOfInputChannelStateEvent",
    };
    return type < sizeof names / sizeof *names ? names[type] : NULL;
}

static bool is_savepoint(uint8_t checkpoint_type)
{
    return checkpoint_type == FNET_SAVEPOINT || checkpoint_type == FNET_SAVEPOINT_SUSPEND ||
           checkpoint_type == FNET_SAVEPOINT_TERMINATE;
}

static enum fnet_data_type barrier_data_type(const struct fnet_checkpoint_barrier *b)
{
    switch ((enum fnet_alignment_type)b->alignment_type) {
    case FNET_UNALIGNED:
        return is_savepoint(b->checkpoint_type) ? FNET_ALIGNED_CHECKPOINT_BARRIER
                                                : FNET_PRIORITIZED_EVENT_BUFFER;
    case FNET_FORCED_ALIGNED: return FNET_ALIGNED_CHECKPOINT_BARRIER;
    case FNET_ALIGNED:
        if (b->alignment_timeout_ms > 0 && b->alignment_timeout_ms < INT64_MAX)
            return FNET_TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER;
        return FNET_ALIGNED_CHECKPOINT_BARRIER;
    case FNET_AT_LEAST_ONCE: break;
    }
    return FNET_EVENT_BUFFER;
}

enum fnet_data_type fnet_event_data_type(const struct fnet_event *event)
{
    switch (event->type) {
    case FNET_EVENT_END_OF_PARTITION: return FNET_END_OF_PARTITION;
    case FNET_EVENT_CHECKPOINT_BARRIER: return barrier_data_type(&event->barrier);
    case FNET_EVENT_END_OF_OUTPUT_CHANNEL_STATE: return FNET_RECOVERY_COMPLETION;
    case FNET_EVENT_ANNOUNCEMENT: return FNET_PRIORITIZED_EVENT_BUFFER;
    case FNET_EVENT_END_OF_DATA: return FNET_END_OF_DATA;
    case FNET_EVENT_END_OF_SEGMENT: return FNET_END_OF_SEGMENT;
    case FNET_EVENT_RECOVERY_METADATA: return FNET_RECOVERY_METADATA;
    case FNET_EVENT_WATERMARK:
        return event->watermark.is_aligned ? FNET_ALIGNED_WATERMARK_EVENT
                                           : FNET_UNALIGNED_WATERMARK_EVENT;
    case FNET_EVENT_END_OF_SUPERSTEP:
    case FNET_EVENT_OTHER:
    case FNET_EVENT_CANCEL_CHECKPOINT:
    case FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR:
    case FNET_EVENT_END_OF_INPUT_CHANNEL_STATE: break;
    }
    return FNET_EVENT_BUFFER;
}

/* ---- sizes ------------------------------------------------------------------------------- */

/* The size of Flink's array after it grew, write by write, until all of WRITES were in. */
static size_t array_bytes(const size_t *writes, size_t count)
{
    size_t capacity = ARRAY_BYTES;
    size_t position = 0;

    for (size_t i = 0; i < count; i++) {
        if (position + writes[i] > capacity)
            capacity += capacity > writes[i] ? capacity : writes[i];
        position += writes[i];
    }
    return capacity;
}

static size_t watermark_bytes(const struct fnet_watermark_event *m)
{
    const size_t writes[] = {TYPE_BYTES, 2 + m->identifier.len, 1, 4, m->is_boolean ? 1 : 8};

    return array_bytes(writes, sizeof writes / sizeof *writes);
}

/* The body is what came in, padding included: only what is shorter than the array grows. */
static size_t other_bytes(const struct fnet_event *event)
{
    size_t bytes = TYPE_BYTES + 2 + event->other.class_name.len + event->other.body.len;

    return bytes < ARRAY_BYTES ? ARRAY_BYTES : bytes;
}

size_t fnet_event_encoded_bytes(const struct fnet_dialect *dialect, const struct fnet_event *event)
{
    switch (event->type) {
    case FNET_EVENT_CHECKPOINT_BARRIER:
        /* Whatever its type: Flink allocates for the longest. */
        return dialect->barrier.bytes +
               (event->barrier.has_location ? event->barrier.location.len : 0);
    case FNET_EVENT_OTHER: return other_bytes(event);
    case FNET_EVENT_CANCEL_CHECKPOINT: return TYPE_BYTES + 8;
    case FNET_EVENT_ANNOUNCEMENT: return TYPE_BYTES + 4 + event->announcement.announced.len;
    case FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR: return TYPE_BYTES + 8;
    case FNET_EVENT_END_OF_DATA: return dialect->end_of_data_bytes;
    case FNET_EVENT_RECOVERY_METADATA: return TYPE_BYTES + 4;
    case FNET_EVENT_WATERMARK: return watermark_bytes(&event->watermark);
    case FNET_EVENT_END_OF_PARTITION:
    case FNET_EVENT_END_OF_SUPERSTEP:
    case FNET_EVENT_END_OF_OUTPUT_CHANNEL_STATE:
    case FNET_EVENT_END_OF_SEGMENT:
    case FNET_EVENT_END_OF_INPUT_CHANNEL_STATE: break;
    }
    return TYPE_BYTES;
}

/* ---- what the structs say ---------------------------------------------------------------- */

/*
 * B as a version with LAYOUT would send it. Only 1.11.0 to 1.11.3 have unaligned savepoints, only
 * 1.12.0 to 1.12.4 unaligned barriers with a timeout: later ones refuse to read them. Those that
 * have no name for a forced alignment would let it time out all the same.
 */
static struct fnet_checkpoint_barrier barrier_in(const struct fnet_barrier_layout *layout,
                                                 const struct fnet_checkpoint_barrier *b)
{
    const bool is_named = layout->alignment == FNET_ALIGNMENT_ORDINAL;
    struct fnet_checkpoint_barrier sent = *b;

    if (b->alignment_type == FNET_UNALIGNED && is_savepoint(b->checkpoint_type) &&
        (is_named || layout->has_timeout)) {
        sent.alignment_type = FNET_ALIGNED;
        sent.alignment_timeout_ms = INT64_MAX;
    } else if (b->alignment_type == (is_named ? FNET_UNALIGNED : FNET_FORCED_ALIGNED)) {
        sent.alignment_timeout_ms = INT64_MAX;
    }
    return sent;
}

static bool is_valid_barrier(const struct fnet_dialect *dialect,
                             const struct fnet_checkpoint_barrier *b)
{
    return b->checkpoint_type <= dialect->barrier.checkpoint_types_max &&
           b->alignment_type <= FNET_FORCED_ALIGNED &&
           b->savepoint_format <= (is_savepoint(b->checkpoint_type) ? 1 : 0) &&
           b->has_location == (b->location.len > 0) && b->location.len <= FNET_LOCATION_MAX_BYTES;
}

static bool is_valid(const struct fnet_dialect *dialect, const struct fnet_event *event)
{
    if (!fnet_dialect_has_event(dialect, event->type))
        return false;
    switch (event->type) {
    case FNET_EVENT_CHECKPOINT_BARRIER: return is_valid_barrier(dialect, &event->barrier);
    case FNET_EVENT_WATERMARK:
        return event->watermark.identifier.len <= UTF_MAX_BYTES &&
               (!event->watermark.is_boolean || (uint64_t)event->watermark.value <= 1);
    case FNET_EVENT_OTHER: return event->other.class_name.len <= UTF_MAX_BYTES;
    case FNET_EVENT_END_OF_PARTITION:
    case FNET_EVENT_END_OF_SUPERSTEP:
    case FNET_EVENT_CANCEL_CHECKPOINT:
    case FNET_EVENT_END_OF_OUTPUT_CHANNEL_STATE:
    case FNET_EVENT_ANNOUNCEMENT:
    case FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR:
    case FNET_EVENT_END_OF_DATA:
    case FNET_EVENT_END_OF_SEGMENT:
    case FNET_EVENT_RECOVERY_METADATA:
    case FNET_EVENT_END_OF_INPUT_CHANNEL_STATE: return true;
    }
    return false;
}

/* ---- to bytes ---------------------------------------------------------------------------- */

static void put_utf(struct fnet_writer *w, struct fnet_span text)
{
    fnet_put_u16(w, (uint16_t)text.len);
    fnet_put_bytes(w, text.ptr, text.len);
}

static void put_alignment(enum fnet_alignment_form form, struct fnet_writer *w, uint8_t type)
{
    switch (form) {
    case FNET_ALIGNMENT_ABSENT: break;
    case FNET_ALIGNMENT_FLAGS:
        fnet_put_u8(w, type != FNET_AT_LEAST_ONCE);
        fnet_put_u8(w, type == FNET_UNALIGNED);
        break;
    case FNET_ALIGNMENT_ORDINAL: fnet_put_u8(w, type); break;
    }
}

static void put_barrier(const struct fnet_barrier_layout *layout, struct fnet_writer *w,
                        const struct fnet_checkpoint_barrier *barrier)
{
    const struct fnet_checkpoint_barrier sent = barrier_in(layout, barrier);
    const struct fnet_checkpoint_barrier *b = &sent;

    fnet_put_i64(w, b->id);
    fnet_put_i64(w, b->timestamp_ms);
    if (layout->is_compact)
        fnet_put_u8(w, b->checkpoint_type);
    else
        fnet_put_u32(w, b->checkpoint_type);
    if (layout->is_compact && is_savepoint(b->checkpoint_type))
        fnet_put_u8(w, b->savepoint_format);
    fnet_put_i32(w, b->has_location ? (int32_t)b->location.len : -1);
    fnet_put_bytes(w, b->location.ptr, b->location.len);
    put_alignment(layout->alignment, w, b->alignment_type);
    if (layout->has_timeout)
        fnet_put_i64(w, b->alignment_timeout_ms);
}

static void put_watermark(struct fnet_writer *w, const struct fnet_watermark_event *m)
{
    put_utf(w, m->identifier);
    fnet_put_u8(w, m->is_aligned);
    fnet_put_u32(w, m->is_boolean);
    if (m->is_boolean)
        fnet_put_u8(w, (uint8_t)m->value);
    else
        fnet_put_i64(w, m->value);
}

static void put_fields(const struct fnet_dialect *dialect, struct fnet_writer *w,
                       const struct fnet_event *event)
{
    switch (event->type) {
    case FNET_EVENT_CHECKPOINT_BARRIER: put_barrier(&dialect->barrier, w, &event->barrier); break;
    case FNET_EVENT_OTHER:
        put_utf(w, event->other.class_name);
        fnet_put_bytes(w, event->other.body.ptr, event->other.body.len);
        break;
    case FNET_EVENT_CANCEL_CHECKPOINT: fnet_put_i64(w, event->checkpoint_id); break;
    case FNET_EVENT_ANNOUNCEMENT:
        fnet_put_i32(w, event->announcement.sequence);
        fnet_put_bytes(w, event->announcement.announced.ptr, event->announcement.announced.len);
        break;
    case FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR:
        fnet_put_i32(w, event->connection.input_subtask);
        fnet_put_i32(w, event->connection.output_subtask);
        break;
    case FNET_EVENT_END_OF_DATA:
        if (dialect->end_of_data_bytes > TYPE_BYTES)
            fnet_put_u8(w, event->is_no_drain);
        break;
    case FNET_EVENT_RECOVERY_METADATA: fnet_put_i32(w, event->final_subpartition); break;
    case FNET_EVENT_WATERMARK: put_watermark(w, &event->watermark); break;
    case FNET_EVENT_END_OF_PARTITION:
    case FNET_EVENT_END_OF_SUPERSTEP:
    case FNET_EVENT_END_OF_OUTPUT_CHANNEL_STATE:
    case FNET_EVENT_END_OF_SEGMENT:
    case FNET_EVENT_END_OF_INPUT_CHANNEL_STATE: break;
    }
}

enum fnet_err fnet_event_encode(const struct fnet_dialect *dialect, const struct fnet_event *event,
                                struct fnet_writer *w)
{
    if (!is_valid(dialect, event))
        return FNET_INVALID;

    const size_t bytes = fnet_event_encoded_bytes(dialect, event);
    if (w->failed || fnet_writer_left(w) < bytes)
        return FNET_RANGE;

    struct fnet_writer to = fnet_writer_of(fnet_put_room(w, bytes), bytes);
    fnet_put_u32(&to, event->type);
    put_fields(dialect, &to, event);
    memset(to.pos, 0, fnet_writer_left(&to)); /* padding */
    return FNET_OK;
}

/* ---- from bytes -------------------------------------------------------------------------- */

static struct fnet_span get_utf(struct fnet_reader *r)
{
    return fnet_get_span(r, fnet_get_u16(r));
}

static struct fnet_span get_rest(struct fnet_reader *r)
{
    return fnet_get_span(r, fnet_reader_left(r));
}

/* Flags that no barrier of Flink's has together become a type that is not valid. */
static uint8_t get_alignment(enum fnet_alignment_form form, struct fnet_reader *r)
{
    static const uint8_t types[] = {FNET_AT_LEAST_ONCE, UINT8_MAX, FNET_ALIGNED, FNET_UNALIGNED};

    if (form == FNET_ALIGNMENT_ABSENT)
        return FNET_ALIGNED;
    if (form == FNET_ALIGNMENT_ORDINAL)
        return fnet_get_u8(r);

    const uint8_t is_exactly_once = fnet_get_u8(r);
    const uint8_t is_unaligned = fnet_get_u8(r);
    return is_exactly_once > 1 || is_unaligned > 1 ? UINT8_MAX
                                                   : types[2 * is_exactly_once + is_unaligned];
}

static enum fnet_err get_barrier(const struct fnet_barrier_layout *layout, struct fnet_reader *r,
                                 struct fnet_checkpoint_barrier *b)
{
    b->id = fnet_get_i64(r);
    b->timestamp_ms = fnet_get_i64(r);

    const uint32_t type = layout->is_compact ? fnet_get_u8(r) : fnet_get_u32(r);
    if (type > FNET_FULL_CHECKPOINT)
        return FNET_BAD_VALUE;
    b->checkpoint_type = (uint8_t)type;
    b->savepoint_format =
        layout->is_compact && is_savepoint(b->checkpoint_type) ? fnet_get_u8(r) : 0;

    int32_t length = fnet_get_i32(r);
    if (length < -1 || length == 0 || length > (int32_t)FNET_LOCATION_MAX_BYTES)
        return FNET_BAD_LENGTH;
    b->has_location = length >= 0;
    b->location = fnet_get_span(r, b->has_location ? (size_t)length : 0);
    b->alignment_type = get_alignment(layout->alignment, r);
    b->alignment_timeout_ms = layout->has_timeout ? fnet_get_i64(r) : INT64_MAX;

    const struct fnet_checkpoint_barrier sent = barrier_in(layout, b);
    return sent.alignment_type == b->alignment_type &&
                   sent.alignment_timeout_ms == b->alignment_timeout_ms
               ? FNET_OK
               : FNET_BAD_VALUE;
}

static enum fnet_err get_watermark(struct fnet_reader *r, struct fnet_watermark_event *m)
{
    m->identifier = get_utf(r);

    uint8_t is_aligned = fnet_get_u8(r);
    uint32_t kind = fnet_get_u32(r);
    if (is_aligned > 1 || kind > 1)
        return FNET_BAD_VALUE;
    m->is_aligned = is_aligned;
    m->is_boolean = kind;
    m->value = kind ? fnet_get_u8(r) : fnet_get_i64(r);
    return FNET_OK;
}

static enum fnet_err get_end_of_data(const struct fnet_dialect *dialect, struct fnet_reader *r,
                                     struct fnet_event *event)
{
    uint8_t stop_mode = dialect->end_of_data_bytes > TYPE_BYTES ? fnet_get_u8(r) : 0;

    event->is_no_drain = stop_mode;
    return stop_mode > 1 ? FNET_BAD_VALUE : FNET_OK;
}

static enum fnet_err get_fields(const struct fnet_dialect *dialect, struct fnet_reader *r,
                                struct fnet_event *event)
{
    switch (event->type) {
    case FNET_EVENT_CHECKPOINT_BARRIER: return get_barrier(&dialect->barrier, r, &event->barrier);
    case FNET_EVENT_WATERMARK: return get_watermark(r, &event->watermark);
    case FNET_EVENT_END_OF_DATA: return get_end_of_data(dialect, r, event);
    case FNET_EVENT_OTHER:
        event->other.class_name = get_utf(r);
        event->other.body = get_rest(r);
        break;
    case FNET_EVENT_CANCEL_CHECKPOINT: event->checkpoint_id = fnet_get_i64(r); break;
    case FNET_EVENT_ANNOUNCEMENT:
        event->announcement.sequence = fnet_get_i32(r);
        event->announcement.announced = get_rest(r);
        break;
    case FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR:
        event->connection.input_subtask = fnet_get_i32(r);
        event->connection.output_subtask = fnet_get_i32(r);
        break;
    case FNET_EVENT_RECOVERY_METADATA: event->final_subpartition = fnet_get_i32(r); break;
    case FNET_EVENT_END_OF_PARTITION:
    case FNET_EVENT_END_OF_SUPERSTEP:
    case FNET_EVENT_END_OF_OUTPUT_CHANNEL_STATE:
    case FNET_EVENT_END_OF_SEGMENT:
    case FNET_EVENT_END_OF_INPUT_CHANNEL_STATE: break;
    }
    return FNET_OK;
}

enum fnet_err fnet_event_decode(const struct fnet_dialect *dialect, struct fnet_span bytes,
                                struct fnet_event *out)
{
    struct fnet_reader r = fnet_reader_of(bytes);
    uint32_t type = fnet_get_u32(&r);

    if (r.failed)
        return FNET_TRUNCATED;
    if (!fnet_event_type_name(type) || !fnet_dialect_has_event(dialect, type))
        return FNET_BAD_KIND;

    struct fnet_event event = {.type = (enum fnet_event_type)type};
    enum fnet_err err = get_fields(dialect, &r, &event);
    if (r.failed)
        return FNET_TRUNCATED;
    if (err != FNET_OK)
        return err;
    if (!is_valid(dialect, &event))
        return FNET_BAD_VALUE;
    *out = event;
    return FNET_OK;
}
