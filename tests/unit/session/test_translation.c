/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events between the newest form and a dialect: what they are called, what is lost, what has no
 * word.
 */
#include "../../../lib/session/translation.h"

#include "fnet/event.h"

#include "../failmalloc.h"
#include "../tap.h"

static struct fnet_buffer made_event(const struct fnet_dialect *dialect,
                                     const struct fnet_event *event, uint8_t data_type)
{
    uint8_t bytes[256];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
    struct fnet_buffer buffer = {.segment = NULL};

    CHECK_INT(fnet_event_encode(dialect, event, &w), FNET_OK);
    CHECK_INT(
        fnet_buffer_new_heap(fnet_span_of(bytes, (size_t)(w.pos - bytes)), data_type, &buffer),
        FNET_OK);
    return buffer;
}

static const struct fnet_dialect *dialect_of(const char *version)
{
    const struct fnet_dialect *dialect = NULL;

    CHECK_INT(fnet_dialect_parse(version, &dialect), FNET_OK);
    return dialect;
}

static const struct fnet_event events[] = {
    {.type = FNET_EVENT_END_OF_PARTITION},
    {.type = FNET_EVENT_CANCEL_CHECKPOINT, .checkpoint_id = 42},
    {.type = FNET_EVENT_END_OF_DATA},
    {.type = FNET_EVENT_CHECKPOINT_BARRIER,
     .barrier = {.id = 1, .alignment_type = FNET_ALIGNED, .alignment_timeout_ms = INT64_MAX}},
    {.type = FNET_EVENT_CHECKPOINT_BARRIER,
     .barrier = {.id = 2, .alignment_type = FNET_ALIGNED, .alignment_timeout_ms = 1500}},
    {.type = FNET_EVENT_CHECKPOINT_BARRIER,
     .barrier = {.id = 3, .alignment_type = FNET_UNALIGNED, .alignment_timeout_ms = INT64_MAX}},
    {.type = FNET_EVENT_CHECKPOINT_BARRIER,
     .barrier = {.id = 4, .alignment_type = FNET_AT_LEAST_ONCE, .alignment_timeout_ms = INT64_MAX}},
    {.type = FNET_EVENT_WATERMARK, .watermark = {.is_aligned = true, .value = 7}},
};

/* There and back, over the one byte that says what it is. */
static void check_way(const struct fnet_dialect *dialect, const struct fnet_event *event)
{
    const uint8_t type = (uint8_t)fnet_event_data_type(event);
    struct fnet_buffer buffer = made_event(fnet_dialect_newest(), event, type);
    enum fnet_err err = fnet__session_translate(fnet_dialect_newest(), dialect, &buffer);

    CHECK_INT(err, fnet_dialect_has_event(dialect, event->type) ? FNET_OK : FNET_INVALID);
    CHECK_INT(buffer.data_type, type);
    if (err == FNET_OK) {
        struct fnet_event back = {.type = FNET_EVENT_OTHER};
        buffer.data_type =
            fnet_dialect_get_data_type(dialect, fnet_dialect_put_data_type(dialect, type));
        bool did_block = fnet_data_type_blocks_upstream(buffer.data_type);
        CHECK_INT(fnet__session_translate(dialect, fnet_dialect_newest(), &buffer), FNET_OK);
        CHECK_INT(fnet_event_decode(fnet_dialect_newest(), fnet_buffer_span(&buffer), &back),
                  FNET_OK);
        CHECK_INT(back.type, event->type);
        CHECK_INT(fnet_data_type_blocks_upstream(buffer.data_type), did_block);
        if (!fnet_data_type_blocks_upstream(type))
            CHECK_INT(buffer.data_type, dialect->barrier.alignment == FNET_ALIGNMENT_ABSENT &&
                                                event->type == FNET_EVENT_CHECKPOINT_BARRIER
                                            ? FNET_EVENT_BUFFER
                                            : type);
    }
    fnet_buffer_clear(&buffer);
}

static void test_ways(void)
{
    const struct fnet_dialect *dialect;

    for (size_t i = 0; (dialect = fnet_dialect_at(i)); i++) {
        CASE(dialect->name);
        for (size_t e = 0; e < sizeof events / sizeof *events; e++)
            check_way(dialect, &events[e]);
    }
}

static void test_refusals(void)
{
    const struct fnet_dialect *old = dialect_of("1.8");
    struct fnet_buffer buffer;

    CASE("bytes that are no event stay as they are");
    CHECK_INT(fnet_buffer_new_heap(fnet_span_of((const uint8_t *)"\0\0\0\x63", 4),
                                   FNET_EVENT_BUFFER, &buffer),
              FNET_OK);
    CHECK_INT(fnet__session_translate(old, fnet_dialect_newest(), &buffer), FNET_BAD_KIND);
    CHECK_MEM(fnet_buffer_span(&buffer).ptr, "\0\0\0\x63", 4);
    fnet_buffer_clear(&buffer);

    CASE("without memory the event is still there");
    buffer = made_event(fnet_dialect_newest(), &events[3], FNET_ALIGNED_CHECKPOINT_BARRIER);
    failmalloc_arm(1);
    enum fnet_err err = fnet__session_translate(fnet_dialect_newest(), old, &buffer);
    bool did_fail = failmalloc_disarm();
    CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
    CHECK_INT(buffer.len, did_fail ? 38 : 28);
    fnet_buffer_clear(&buffer);

    CASE("a barrier of a kind that the dialect does not know has no word in it");
    const struct fnet_event full = {.type = FNET_EVENT_CHECKPOINT_BARRIER,
                                    .barrier = {.checkpoint_type = FNET_FULL_CHECKPOINT}};
    buffer = made_event(fnet_dialect_newest(), &full, FNET_EVENT_BUFFER);
    CHECK_INT(fnet__session_translate(fnet_dialect_newest(), dialect_of("1.14"), &buffer),
              FNET_INVALID);
    CHECK_INT(buffer.len, 38);
    fnet_buffer_clear(&buffer);
}

int main(void)
{
    test_ways();
    test_refusals();
    return tap_done();
}
