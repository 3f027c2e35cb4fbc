/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events for Flink to read: each kind of them in full, then by chance.
 */
#include <string.h>

#include "../unit/flink_events.h"
#include "dice.h"
#include "encode.h"

#define IDENTIFIER_MAX_BYTES 65535

static const int64_t longs[] = {0, 1, -1, 42, INT64_MAX, INT64_MIN};
static const int32_t ints[] = {0, 1, -1, INT32_MAX, INT32_MIN};
static const int64_t timeouts[] = {INT64_MAX, 0, 1, 1500, INT64_MAX - 1};

/* Events of Flink's that name their class, with no aggregators in them. */
static const struct {
    const char *class_name;
    size_t body_bytes;
    bool has_number; /* of a worker, in front of how many aggregators there are */
} task_events[] = {
    {"org.apache.flink.runtime.iterative.event.TerminationEvent", 0, false},
    {"org.apache.flink.runtime.iterative.event.AllWorkersDoneEvent", 4, false},
    {"org.apache.flink.runtime.iterative.event.WorkerDoneEvent", 8, true},
};

/* ---- bytes ------------------------------------------------------------------------------- */

struct fnet_span event_bytes(const struct fnet_dialect *dialect, const struct fnet_event *event)
{
    uint8_t *bytes = scratch(fnet_event_encoded_bytes(dialect, event));
    struct fnet_writer w = fnet_writer_of(bytes, fnet_event_encoded_bytes(dialect, event));

    must(fnet_event_encode(dialect, event, &w), fnet_event_type_name(event->type));
    return fnet_span_of(bytes, (size_t)(w.pos - bytes));
}

/* What can be left out at the end. */
static size_t needed_bytes(const struct fnet_dialect *dialect, struct fnet_span bytes)
{
    struct fnet_event event;

    while (bytes.len > 0 &&
           fnet_event_decode(dialect, fnet_span_of(bytes.ptr, bytes.len - 1), &event) == FNET_OK)
        bytes.len--;
    return bytes.len;
}

size_t event_own_bytes(const struct fnet_dialect *dialect, const struct fnet_event *event,
                       struct fnet_span bytes)
{
    if (event->type == FNET_EVENT_OTHER)
        return 4 + 2 + event->other.class_name.len + event->other.body.len;
    if (event->type == FNET_EVENT_ANNOUNCEMENT)
        return 4 + 4 + needed_bytes(dialect, event->announcement.announced);
    return needed_bytes(dialect, bytes);
}

static void write_event(const struct fnet_dialect *dialect, const struct fnet_event *event)
{
    struct flink_fields f = {.text = NULL};
    const struct fnet_span bytes = event_bytes(dialect, event);

    flink_add_event(&f, dialect, event);
    flink_add(&f, "data_type", "%s", flink_data_type(dialect, event));
    flink_add(&f, "padding", "%zu", bytes.len - event_own_bytes(dialect, event, bytes));
    write_line(fnet_event_type_name(event->type), &f, bytes, fnet_span_of(NULL, 0));
}

/* ---- every kind -------------------------------------------------------------------------- */

static void visit_barriers(const struct fnet_dialect *dialect, uint8_t type, uint8_t format,
                           void (*visit)(const struct fnet_dialect *, const struct fnet_event *))
{
    static const uint8_t location[300] = {0x05, 0x5f, 0x3f, 0x18, '/', 's', 0xff};
    static const size_t location_bytes[] = {0, 1, 6, sizeof location};
    static size_t turn;

    for (unsigned alignment = 0; alignment <= FNET_FORCED_ALIGNED; alignment++)
        for (size_t t = 0; t < COUNT(timeouts); t++)
            for (size_t l = 0; l < COUNT(location_bytes); l++) {
                const struct fnet_event event = {
                    .type = FNET_EVENT_CHECKPOINT_BARRIER,
                    .barrier = {.id = longs[turn % COUNT(longs)],
                                .timestamp_ms = longs[turn / COUNT(longs) % COUNT(longs)],
                                .checkpoint_type = type,
                                .savepoint_format = format,
                                .has_location = l > 0,
                                .location = fnet_span_of(location, location_bytes[l]),
                                .alignment_type = (uint8_t)alignment,
                                .alignment_timeout_ms = timeouts[t]},
                };
                turn++;
                visit(dialect, &event);
            }
}

static void visit_checkpoints(const struct fnet_dialect *dialect,
                              void (*visit)(const struct fnet_dialect *, const struct fnet_event *))
{
    for (uint8_t type = 0; type <= dialect->barrier.checkpoint_types_max; type++) {
        visit_barriers(dialect, type, 0, visit);
        if (type >= FNET_SAVEPOINT && type <= FNET_SAVEPOINT_TERMINATE)
            visit_barriers(dialect, type, 1, visit);
    }
}

static struct fnet_event task_event(size_t i, int32_t number)
{
    struct fnet_event event = {.type = FNET_EVENT_OTHER};
    uint8_t *body = scratch(task_events[i].body_bytes);

    memset(body, 0, task_events[i].body_bytes);
    if (task_events[i].has_number)
        fnet_store_be32(body, (uint32_t)number);
    event.other.class_name =
        fnet_span_of(task_events[i].class_name, strlen(task_events[i].class_name));
    event.other.body = fnet_span_of(body, task_events[i].body_bytes);
    return event;
}

/* Around the lengths at which the array of Flink's serializer grows. */
static void visit_watermarks(const struct fnet_dialect *dialect,
                             void (*visit)(const struct fnet_dialect *, const struct fnet_event *))
{
    static const size_t lengths[] = {
        0, 1, 2, 108, 109, 110, 111, 116, 117, 118, 122, 123, 300, 5000, IDENTIFIER_MAX_BYTES};
    static uint8_t identifier[IDENTIFIER_MAX_BYTES];

    memset(identifier, 'w', sizeof identifier);
    for (size_t i = 0; i < COUNT(lengths); i++)
        for (size_t v = 0; v < 2 * (2 + COUNT(longs)); v++) {
            const bool is_boolean = v / 2 < 2;
            const struct fnet_event event = {
                .type = FNET_EVENT_WATERMARK,
                .watermark = {.identifier = fnet_span_of(identifier, lengths[i]),
                              .is_aligned = v % 2,
                              .is_boolean = is_boolean,
                              .value = is_boolean ? (int64_t)v / 2 : longs[v / 2 - 2]},
            };
            visit(dialect, &event);
        }
}

static void visit_connections(const struct fnet_dialect *dialect,
                              void (*visit)(const struct fnet_dialect *, const struct fnet_event *))
{
    for (size_t i = 0; i < COUNT(ints) * COUNT(ints); i++) {
        const struct fnet_event event = {
            .type = FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR,
            .connection = {ints[i / COUNT(ints)], ints[i % COUNT(ints)]},
        };
        visit(dialect, &event);
    }
}

static struct fnet_event announcement(const struct fnet_dialect *dialect, int32_t sequence,
                                      const struct fnet_event *announced)
{
    return (struct fnet_event){
        .type = FNET_EVENT_ANNOUNCEMENT,
        .announcement = {sequence, event_bytes(dialect, announced)},
    };
}

static void visit_announcements(const struct fnet_dialect *dialect,
                                void (*visit)(const struct fnet_dialect *,
                                              const struct fnet_event *))
{
    for (size_t i = 0; i < COUNT(ints); i++) {
        const struct fnet_event barrier = {
            .type = FNET_EVENT_CHECKPOINT_BARRIER,
            .barrier = {.id = 42, .alignment_type = FNET_ALIGNED, .alignment_timeout_ms = 1500},
        };
        const struct fnet_event cancel = {.type = FNET_EVENT_CANCEL_CHECKPOINT, .checkpoint_id = 7};
        struct fnet_event event = announcement(dialect, ints[i], &barrier);
        visit(dialect, &event);
        event = announcement(dialect, ints[i], &cancel);
        visit(dialect, &event);
    }
}

/* The kinds with one field or none. */
static void visit_small(const struct fnet_dialect *dialect, enum fnet_event_type type,
                        void (*visit)(const struct fnet_dialect *, const struct fnet_event *))
{
    const size_t count = type == FNET_EVENT_CANCEL_CHECKPOINT   ? COUNT(longs)
                         : type == FNET_EVENT_RECOVERY_METADATA ? COUNT(ints)
                         : type == FNET_EVENT_END_OF_DATA       ? dialect->end_of_data_bytes - 3u
                                                                : 1;

    for (size_t i = 0; i < count; i++) {
        struct fnet_event event = {.type = type};
        if (type == FNET_EVENT_CANCEL_CHECKPOINT)
            event.checkpoint_id = longs[i];
        else if (type == FNET_EVENT_RECOVERY_METADATA)
            event.final_subpartition = ints[i];
        else if (type == FNET_EVENT_END_OF_DATA)
            event.is_no_drain = i;
        visit(dialect, &event);
    }
}

static void visit_type(const struct fnet_dialect *dialect, enum fnet_event_type type,
                       void (*visit)(const struct fnet_dialect *, const struct fnet_event *))
{
    switch (type) {
    case FNET_EVENT_CHECKPOINT_BARRIER: visit_checkpoints(dialect, visit); break;
    case FNET_EVENT_WATERMARK: visit_watermarks(dialect, visit); break;
    case FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR: visit_connections(dialect, visit); break;
    case FNET_EVENT_ANNOUNCEMENT: visit_announcements(dialect, visit); break;
    case FNET_EVENT_OTHER:
        for (size_t i = 0; i < COUNT(task_events); i++) {
            const struct fnet_event event = task_event(i, INT32_MAX);
            visit(dialect, &event);
        }
        break;
    case FNET_EVENT_END_OF_PARTITION:
    case FNET_EVENT_END_OF_SUPERSTEP:
    case FNET_EVENT_CANCEL_CHECKPOINT:
    case FNET_EVENT_END_OF_OUTPUT_CHANNEL_STATE:
    case FNET_EVENT_END_OF_DATA:
    case FNET_EVENT_END_OF_SEGMENT:
    case FNET_EVENT_RECOVERY_METADATA:
    case FNET_EVENT_END_OF_INPUT_CHANNEL_STATE: visit_small(dialect, type, visit); break;
    }
}

void visit_events(const struct fnet_dialect *dialect,
                  void (*visit)(const struct fnet_dialect *dialect, const struct fnet_event *e))
{
    for (unsigned type = 0; fnet_event_type_name(type); type++)
        if (has_event(dialect, type))
            visit_type(dialect, (enum fnet_event_type)type, visit);
}

/* ---- by chance --------------------------------------------------------------------------- */

static struct fnet_checkpoint_barrier roll_barrier(const struct fnet_dialect *dialect)
{
    const uint8_t type = (uint8_t)roll_below(dialect->barrier.checkpoint_types_max + 1u);
    const bool has_format = type >= FNET_SAVEPOINT && type <= FNET_SAVEPOINT_TERMINATE;
    const bool has_location = roll_flag();

    return (struct fnet_checkpoint_barrier){
        .id = roll_between(INT64_MIN, INT64_MAX),
        .timestamp_ms = roll_between(INT64_MIN, INT64_MAX),
        .checkpoint_type = type,
        .savepoint_format = has_format && roll_flag(),
        .has_location = has_location,
        .location = roll_bytes(has_location ? 1 + roll_below(600) : 0),
        .alignment_type = (uint8_t)roll_below(FNET_FORCED_ALIGNED + 1),
        .alignment_timeout_ms = roll_flag() ? INT64_MAX : roll_between(0, INT64_MAX),
    };
}

static struct fnet_watermark_event roll_watermark(void)
{
    const bool is_boolean = roll_flag();

    return (struct fnet_watermark_event){
        .identifier = roll_units(roll_below(200)),
        .is_aligned = roll_flag(),
        .is_boolean = is_boolean,
        .value = is_boolean ? roll_flag() : roll_between(INT64_MIN, INT64_MAX),
    };
}

/* Any event but an announcement of another. */
static struct fnet_event roll_plain_event(const struct fnet_dialect *dialect)
{
    struct fnet_event event = {.type = FNET_EVENT_ANNOUNCEMENT};

    while (event.type == FNET_EVENT_ANNOUNCEMENT || !has_event(dialect, event.type))
        event.type = (enum fnet_event_type)roll_below(16);
    if (event.type == FNET_EVENT_CHECKPOINT_BARRIER)
        event.barrier = roll_barrier(dialect);
    else if (event.type == FNET_EVENT_WATERMARK)
        event.watermark = roll_watermark();
    else if (event.type == FNET_EVENT_OTHER)
        event = task_event(roll_below(COUNT(task_events)), roll_int());
    else if (event.type == FNET_EVENT_CANCEL_CHECKPOINT)
        event.checkpoint_id = roll_between(INT64_MIN, INT64_MAX);
    else if (event.type == FNET_EVENT_RECOVERY_METADATA)
        event.final_subpartition = roll_int();
    else if (event.type == FNET_EVENT_END_OF_DATA)
        event.is_no_drain = roll_flag();
    else if (event.type == FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR) {
        event.connection.input_subtask = roll_int();
        event.connection.output_subtask = roll_int();
    }
    return event;
}

struct fnet_event roll_event(const struct fnet_dialect *dialect)
{
    struct fnet_event event = roll_plain_event(dialect);

    /* Where the body of one that names its class ends an announcement does not say. */
    if (event.type != FNET_EVENT_OTHER && roll_below(10) == 0 &&
        has_event(dialect, FNET_EVENT_ANNOUNCEMENT))
        event = announcement(dialect, roll_int(), &event);
    return event;
}

void encode_events(const struct fnet_dialect *dialect, unsigned count)
{
    visit_events(dialect, write_event);
    for (unsigned i = 0; i < count; i++) {
        const struct fnet_event event = roll_event(dialect);
        write_event(dialect, &event);
    }
}
