/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every event that each version of Flink wrote: its fields, its data type, its bytes again.
 */
#include "fnet/event.h"

#include "../flink_events.h"
#include "../flink_golden.h"

static unsigned long padding_of(const struct flink_line *line)
{
    const char *at = strstr(line->fields, ";padding=");

    return at ? strtoul(at + strlen(";padding="), NULL, 10) : 0;
}

static void check_fields(const struct flink_line *line, const struct fnet_event *event)
{
    struct fnet_event own = *event;
    struct flink_fields f = {.text = NULL};

    if (own.type == FNET_EVENT_OTHER)
        own.other.body.len -= padding_of(line);
    flink_add_event(&f, line->dialect, &own);
    flink_add(&f, "data_type", "%s", flink_data_type(line->dialect, event));
    flink_check_begins(line, &f);
    if (own.type == FNET_EVENT_CHECKPOINT_BARRIER &&
        line->dialect->barrier.alignment == FNET_ALIGNMENT_ABSENT)
        CHECK_INT(own.barrier.alignment_type, FNET_ALIGNED);
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
