/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every event that each version of Flink wrote: its fields, its data type, its bytes again.
 */
#include <inttypes.h>

#include "fnet/event.h"

#include "../flink_golden.h"

static void add_barrier(struct flink_fields *f, const struct fnet_barrier_layout *layout,
                        const struct fnet_checkpoint_barrier *b)
{
    static const char *const types[] = {"CHECKPOINT", "SAVEPOINT", "SAVEPOINT_SUSPEND",
                                        "SAVEPOINT_TERMINATE", "FULL_CHECKPOINT"};
    static const char *const alignments[] = {"AT_LEAST_ONCE", "ALIGNED", "UNALIGNED",
                                             "FORCED_ALIGNED"};
    const bool is_savepoint =
        b->checkpoint_type >= FNET_SAVEPOINT && b->checkpoint_type <= FNET_SAVEPOINT_TERMINATE;

    flink_add(f, "id", "%" PRId64, b->id);
    flink_add(f, "timestamp", "%" PRId64, b->timestamp_ms);
    flink_add(f, "checkpoint_type", "%s", types[b->checkpoint_type]);
    if (layout->is_compact && is_savepoint)
        flink_add(f, "savepoint_format", "%s", b->savepoint_format ? "NATIVE" : "CANONICAL");
    if (b->has_location)
        flink_add_hex(f, "location", b->location);
    if (layout->alignment != FNET_ALIGNMENT_ABSENT)
        flink_add(f, "alignment", "%s", alignments[b->alignment_type]);
    else
        CHECK_INT(b->alignment_type, FNET_ALIGNED);
    if (b->alignment_timeout_ms < INT64_MAX)
        flink_add(f, "alignment_timeout", "%" PRId64, b->alignment_timeout_ms);
}

static void add_watermark(struct flink_fields *f, const struct fnet_watermark_event *m)
{
    /* One identifier is not ASCII; the file has its UTF-16. */
    if (m->identifier.len > 0 && m->identifier.ptr[0] >= 0x80)
        flink_add(f, "identifier", "\\u00fc\\u0000");
    else
        flink_add(f, "identifier", "%.*s", (int)m->identifier.len, (const char *)m->identifier.ptr);
    flink_add(f, "aligned", "%s", m->is_aligned ? "true" : "false");
    if (m->is_boolean)
        flink_add(f, "value", "%s", m->value ? "true" : "false");
    else
        flink_add(f, "value", "%" PRId64, m->value);
}

static void check_announced(const struct flink_line *line, struct fnet_span announced)
{
    struct fnet_event event;
    struct flink_fields f = {.len = 0};

    if (CHECK_INT(fnet_event_decode(line->dialect, announced, &event), FNET_OK)) {
        flink_add(&f, "announced.type", "%s", fnet_event_type_name(event.type));
        flink_check_has(line, &f);
    }
}

static void add_fields(struct flink_fields *f, const struct flink_line *line,
                       const struct fnet_event *event)
{
    switch (event->type) {
    case FNET_EVENT_CHECKPOINT_BARRIER:
        add_barrier(f, &line->dialect->barrier, &event->barrier);
        break;
    case FNET_EVENT_WATERMARK: add_watermark(f, &event->watermark); break;
    case FNET_EVENT_CANCEL_CHECKPOINT: flink_add(f, "id", "%" PRId64, event->checkpoint_id); break;
    case FNET_EVENT_ANNOUNCEMENT:
        flink_add(f, "sequence", "%" PRId32, event->announcement.sequence);
        check_announced(line, event->announcement.announced);
        break;
    case FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR:
        flink_add(f, "input_subtask", "%" PRId32, event->connection.input_subtask);
        flink_add(f, "output_subtask", "%" PRId32, event->connection.output_subtask);
        break;
    case FNET_EVENT_END_OF_DATA:
        if (line->dialect->end_of_data_bytes > 4)
            flink_add(f, "mode", "%s", event->is_no_drain ? "NO_DRAIN" : "DRAIN");
        break;
    case FNET_EVENT_RECOVERY_METADATA:
        flink_add(f, "final_subpartition", "%" PRId32, event->final_subpartition);
        break;
    case FNET_EVENT_END_OF_PARTITION:
    case FNET_EVENT_END_OF_SUPERSTEP:
    case FNET_EVENT_OTHER:
    case FNET_EVENT_END_OF_OUTPUT_CHANNEL_STATE:
    case FNET_EVENT_END_OF_SEGMENT:
    case FNET_EVENT_END_OF_INPUT_CHANNEL_STATE: break;
    }
}

static unsigned long padding_of(const struct flink_line *line)
{
    const char *at = strstr(line->fields, ";padding=");

    return at ? strtoul(at + strlen(";padding="), NULL, 10) : 0;
}

static void check_fields(const struct flink_line *line, const struct fnet_event *event)
{
    struct flink_fields f = {.len = 0};

    if (event->type == FNET_EVENT_OTHER) {
        struct fnet_span body = event->other.body;
        body.len -= padding_of(line);
        flink_add(&f, "type", "%.*s", (int)event->other.class_name.len,
                  (const char *)event->other.class_name.ptr);
        flink_add_hex(&f, "body", body);
    } else {
        flink_add(&f, "type", "%s", fnet_event_type_name(event->type));
        add_fields(&f, line, event);
    }
    flink_check_begins(line, &f);
}

/* Elsewhere than in the encoder that made the file Flink gives two events another type. */
static void check_data_type(const struct flink_line *line, const struct fnet_event *event)
{
    struct flink_fields f = {.len = 0};
    uint8_t wire = fnet_dialect_put_data_type(line->dialect, (uint8_t)fnet_event_data_type(event));

    if (event->type == FNET_EVENT_END_OF_SEGMENT || event->type == FNET_EVENT_RECOVERY_METADATA)
        return;
    flink_add(&f, "data_type", "%s",
              fnet_data_type_name(fnet_dialect_get_data_type(line->dialect, wire)));
    flink_check_has(line, &f);
}

static void check_encodes(const struct flink_line *line, const struct fnet_event *event)
{
    uint8_t out[4096];
    struct fnet_writer w = fnet_writer_of(out, sizeof out);

    memset(out, 0xa5, sizeof out);
    CHECK_INT(fnet_event_encoded_bytes(line->dialect, event), line->bytes.len);
    CHECK_INT(fnet_event_encode(line->dialect, event, &w), FNET_OK);
    if (CHECK_INT(w.pos - out, line->bytes.len))
        CHECK_MEM(out, line->bytes.ptr, line->bytes.len);
    w = fnet_writer_of(out, line->bytes.len - 1);
    CHECK_INT(fnet_event_encode(line->dialect, event, &w), FNET_RANGE);
}

/* Padding may be missing, a field not; what an event of a class holds only its class knows. */
static void check_truncations(const struct flink_line *line, const struct fnet_event *event)
{
    const bool is_open = event->type == FNET_EVENT_OTHER || event->type == FNET_EVENT_ANNOUNCEMENT;
    struct fnet_event part;

    for (size_t len = 0; len < line->bytes.len && !is_open; len++)
        CHECK_INT(fnet_event_decode(line->dialect, fnet_span_of(line->bytes.ptr, len), &part),
                  len < line->bytes.len - padding_of(line) ? FNET_TRUNCATED : FNET_OK);
}

static void check_line(const struct flink_line *line)
{
    struct fnet_event event;

    if (!CHECK_INT(fnet_event_decode(line->dialect, line->bytes, &event), FNET_OK))
        return;
    check_fields(line, &event);
    check_data_type(line, &event);
    check_encodes(line, &event);
    check_truncations(line, &event);
}

/* What Flink says of a barrier in one dialect, said in all the others and understood again. */
static void check_translation(const struct flink_line *line)
{
    struct fnet_event event;
    uint8_t bytes[1024];

    if (fnet_event_decode(line->dialect, line->bytes, &event) != FNET_OK ||
        event.type == FNET_EVENT_OTHER || event.type == FNET_EVENT_ANNOUNCEMENT)
        return;

    const struct fnet_dialect *dialect;
    for (size_t i = 0; (dialect = fnet_dialect_at(i)); i++) {
        struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
        enum fnet_err err = fnet_event_encode(dialect, &event, &w);
        bool is_sayable = fnet_dialect_has_event(dialect, event.type) &&
                          (event.type != FNET_EVENT_CHECKPOINT_BARRIER ||
                           event.barrier.checkpoint_type <= dialect->barrier.checkpoint_types_max);
        struct fnet_event again;

        CHECK_INT(err, is_sayable ? FNET_OK : FNET_INVALID);
        if (err != FNET_OK) {
            CHECK(w.pos == bytes);
            continue;
        }
        struct fnet_span said = fnet_span_of(bytes, (size_t)(w.pos - bytes));
        if (CHECK_INT(fnet_event_decode(dialect, said, &again), FNET_OK)) {
            CHECK_INT(again.type, event.type);
            if (event.type == FNET_EVENT_CHECKPOINT_BARRIER) {
                CHECK_INT(again.barrier.id, event.barrier.id);
                CHECK_INT(again.barrier.checkpoint_type, event.barrier.checkpoint_type);
                CHECK_INT(again.barrier.location.len, event.barrier.location.len);
            }
        }
    }
}

int main(void)
{
    size_t versions = flink_visit("events", check_line);

    CASE("every version is there");
    CHECK(versions >= 20);
    flink_visit("events", check_translation);
    return tap_done();
}
