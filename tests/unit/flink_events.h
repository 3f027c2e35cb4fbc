/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: what an event says in one dialect, as fields of tests/flink/README.
 */
#ifndef TESTS_FLINK_EVENTS_H
#define TESTS_FLINK_EVENTS_H

#include <inttypes.h>

#include "fnet/event.h"

#include "flink_fields.h"

static bool flink_is_savepoint(const struct fnet_checkpoint_barrier *b)
{
    return b->checkpoint_type >= FNET_SAVEPOINT && b->checkpoint_type <= FNET_SAVEPOINT_TERMINATE;
}

/* As Flink's coordinators make barriers, and as later versions insist. */
static struct fnet_checkpoint_barrier flink_barrier(const struct fnet_barrier_layout *layout,
                                                    const struct fnet_checkpoint_barrier *b)
{
    const bool is_1_11_0 = layout->alignment == FNET_ALIGNMENT_FLAGS && !layout->has_timeout;
    const bool is_1_12_0 = layout->alignment == FNET_ALIGNMENT_FLAGS && layout->has_timeout;
    const bool is_forced = b->alignment_type == FNET_FORCED_ALIGNED && (is_1_11_0 || is_1_12_0);
    struct fnet_checkpoint_barrier made = *b;

    if (is_forced || (b->alignment_type == FNET_UNALIGNED && flink_is_savepoint(b) && !is_1_11_0)) {
        made.alignment_type = FNET_ALIGNED;
        made.alignment_timeout_ms = INT64_MAX;
    } else if (b->alignment_type == FNET_UNALIGNED && !is_1_12_0) {
        made.alignment_timeout_ms = INT64_MAX;
    }
    return made;
}

static void flink_add_barrier(struct flink_fields *f, const struct fnet_barrier_layout *layout,
                              const struct fnet_checkpoint_barrier *barrier)
{
    static const char *const alignments[] = {"AT_LEAST_ONCE", "ALIGNED", "UNALIGNED",
                                             "FORCED_ALIGNED"};
    static const char *const types[] = {"CHECKPOINT", "SAVEPOINT", "SAVEPOINT_SUSPEND",
                                        "SAVEPOINT_TERMINATE", "FULL_CHECKPOINT"};
    const struct fnet_checkpoint_barrier made = flink_barrier(layout, barrier);
    const struct fnet_checkpoint_barrier *b = &made;

    flink_add(f, "id", "%" PRId64, b->id);
    flink_add(f, "timestamp", "%" PRId64, b->timestamp_ms);
    flink_add(f, "checkpoint_type", "%s", types[b->checkpoint_type]);
    if (layout->is_compact && flink_is_savepoint(b))
        flink_add(f, "savepoint_format", "%s", b->savepoint_format ? "NATIVE" : "CANONICAL");
    if (b->has_location)
        flink_add_hex(f, "location", b->location);
    if (layout->alignment != FNET_ALIGNMENT_ABSENT)
        flink_add(f, "alignment", "%s", alignments[b->alignment_type]);
    if (layout->has_timeout && b->alignment_timeout_ms < INT64_MAX)
        flink_add(f, "alignment_timeout", "%" PRId64, b->alignment_timeout_ms);
}

static void flink_add_watermark(struct flink_fields *f, const struct fnet_watermark_event *m)
{
    flink_add_units(f, "identifier", m->identifier);
    flink_add_flag(f, "aligned", m->is_aligned);
    if (m->is_boolean)
        flink_add_flag(f, "value", m->value);
    else
        flink_add(f, "value", "%" PRId64, m->value);
}

/* Of an event that names its class BODY is to be without padding. */
static void flink_add_own_fields(struct flink_fields *f, const struct fnet_dialect *dialect,
                                 const struct fnet_event *e)
{
    if (e->type == FNET_EVENT_OTHER)
        flink_add_units(f, "type", e->other.class_name);
    else
        flink_add(f, "type", "%s", fnet_event_type_name(e->type));
    switch (e->type) {
    case FNET_EVENT_CHECKPOINT_BARRIER: flink_add_barrier(f, &dialect->barrier, &e->barrier); break;
    case FNET_EVENT_WATERMARK: flink_add_watermark(f, &e->watermark); break;
    case FNET_EVENT_OTHER: flink_add_hex(f, "body", e->other.body); break;
    case FNET_EVENT_CANCEL_CHECKPOINT: flink_add(f, "id", "%" PRId64, e->checkpoint_id); break;
    case FNET_EVENT_ANNOUNCEMENT:
        flink_add(f, "sequence", "%" PRId32, e->announcement.sequence);
        break;
    case FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR:
        flink_add(f, "input_subtask", "%" PRId32, e->connection.input_subtask);
        flink_add(f, "output_subtask", "%" PRId32, e->connection.output_subtask);
        break;
    case FNET_EVENT_END_OF_DATA:
        if (dialect->end_of_data_bytes > 4)
            flink_add(f, "mode", "%s", e->is_no_drain ? "NO_DRAIN" : "DRAIN");
        break;
    case FNET_EVENT_RECOVERY_METADATA:
        flink_add(f, "final_subpartition", "%" PRId32, e->final_subpartition);
        break;
    case FNET_EVENT_END_OF_PARTITION:
    case FNET_EVENT_END_OF_SUPERSTEP:
    case FNET_EVENT_END_OF_OUTPUT_CHANNEL_STATE:
    case FNET_EVENT_END_OF_SEGMENT:
    case FNET_EVENT_END_OF_INPUT_CHANNEL_STATE: break;
    }
}

/* An announced event that cannot be decoded is left out. */
__attribute__((unused)) static void flink_add_event(struct flink_fields *f,
                                                    const struct fnet_dialect *dialect,
                                                    const struct fnet_event *e)
{
    struct fnet_event announced;
    const size_t prefix_len = strlen(f->prefix);

    flink_add_own_fields(f, dialect, e);
    if (e->type != FNET_EVENT_ANNOUNCEMENT ||
        fnet_event_decode(dialect, e->announcement.announced, &announced) != FNET_OK)
        return;
    snprintf(f->prefix + prefix_len, sizeof f->prefix - prefix_len, "announced.");
    flink_add_own_fields(f, dialect, &announced);
    f->prefix[prefix_len] = '\0';
}

/* In the encoder that makes the files Flink gives two events another type than elsewhere. */
__attribute__((unused)) static const char *flink_data_type(const struct fnet_dialect *dialect,
                                                           const struct fnet_event *e)
{
    const bool is_other =
        e->type == FNET_EVENT_END_OF_SEGMENT || e->type == FNET_EVENT_RECOVERY_METADATA;
    const enum fnet_data_type type = is_other ? FNET_EVENT_BUFFER : fnet_event_data_type(e);
    const uint8_t wire = fnet_dialect_put_data_type(dialect, (uint8_t)type);

    return fnet_data_type_name(fnet_dialect_get_data_type(dialect, wire));
}

#endif
