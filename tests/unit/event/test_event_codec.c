/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every event, against the bytes that Flink writes, and against bytes that nobody should.
 */
#include "fnet/event.h"

#include "../golden.h"
#include "../tap.h"

#define GOLDEN "tests/golden/event/"
#define TERMINATION "org.apache.flink.runtime.iterative.event.TerminationEvent"
#define BYTES(text)                                                                                \
    {                                                                                              \
        .ptr = (const uint8_t *)(text), .len = sizeof(text) - 1                                    \
    }
#define LOCATION .has_location = true, .location = BYTES("\x05\x5f\x3f\x18/s")
/* Barrier 42 of the golden file. */
#define BARRIER(...)                                                                               \
    {                                                                                              \
        .type = FNET_EVENT_CHECKPOINT_BARRIER, .barrier = {                                        \
            .id = 42,                                                                              \
            .timestamp_ms = 1700000000000,                                                         \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define ALIGNED(timeout) .alignment_type = FNET_ALIGNED, .alignment_timeout_ms = (timeout)

static char many_w[1001];

#define WATERMARK(n, aligned)                                                                      \
    {                                                                                              \
        .type = FNET_EVENT_WATERMARK, .watermark = {                                               \
            .identifier = {.ptr = (const uint8_t *)many_w, .len = (n)},                            \
            .is_aligned = (aligned),                                                               \
            .value = -1000                                                                         \
        }                                                                                          \
    }

static const struct {
    const char *name;
    struct fnet_event event;
} samples[] = {
    {"end-of-partition", {.type = FNET_EVENT_END_OF_PARTITION}},
    {"barrier-aligned", BARRIER(ALIGNED(INT64_MAX))},
    {"barrier-timeoutable", BARRIER(ALIGNED(1500))},
    {"barrier-unaligned",
     BARRIER(.alignment_type = FNET_UNALIGNED, .alignment_timeout_ms = INT64_MAX)},
    {"barrier-forced",
     BARRIER(.alignment_type = FNET_FORCED_ALIGNED, .alignment_timeout_ms = INT64_MAX)},
    {"barrier-at-least-once", BARRIER(LOCATION, .alignment_timeout_ms = INT64_MAX)},
    {"barrier-full", BARRIER(.checkpoint_type = FNET_FULL_CHECKPOINT, ALIGNED(INT64_MAX))},
    {"savepoint-canonical",
     BARRIER(.checkpoint_type = FNET_SAVEPOINT, LOCATION, ALIGNED(INT64_MAX))},
    {"savepoint-native",
     BARRIER(.checkpoint_type = FNET_SAVEPOINT, .savepoint_format = 1, ALIGNED(INT64_MAX))},
    {"savepoint-suspend", BARRIER(.checkpoint_type = FNET_SAVEPOINT_SUSPEND, .savepoint_format = 1,
                                  LOCATION, ALIGNED(INT64_MAX))},
    {"savepoint-terminate",
     BARRIER(.checkpoint_type = FNET_SAVEPOINT_TERMINATE, LOCATION, ALIGNED(INT64_MAX))},
    {"end-of-superstep", {.type = FNET_EVENT_END_OF_SUPERSTEP}},
    {"other", {.type = FNET_EVENT_OTHER, .other = {.class_name = BYTES(TERMINATION)}}},
    {"cancel-checkpoint", {.type = FNET_EVENT_CANCEL_CHECKPOINT, .checkpoint_id = 42}},
    {"end-of-output-channel-state", {.type = FNET_EVENT_END_OF_OUTPUT_CHANNEL_STATE}},
    {"announcement",
     {.type = FNET_EVENT_ANNOUNCEMENT,
      .announcement = {.sequence = 9,
                       .announced = BYTES("\0\0\0\1\0\0\0\0\0\0\0\x2a\0\0\1\x8b\xcf\xe5\x68\0\0"
                                          "\xff\xff\xff\xff\1\0\0\0\0\0\0\5\xdc\0\0\0\0")}}},
    {"subtask-connection",
     {.type = FNET_EVENT_SUBTASK_CONNECTION_DESCRIPTOR,
      .connection = {.input_subtask = 1, .output_subtask = 2}}},
    {"end-of-data-drain", {.type = FNET_EVENT_END_OF_DATA, .is_no_drain = false}},
    {"end-of-data-no-drain", {.type = FNET_EVENT_END_OF_DATA, .is_no_drain = true}},
    {"end-of-segment", {.type = FNET_EVENT_END_OF_SEGMENT}},
    {"recovery-metadata", {.type = FNET_EVENT_RECOVERY_METADATA, .final_subpartition = 6}},
    {"watermark-bool-aligned",
     {.type = FNET_EVENT_WATERMARK,
      .watermark = {.identifier = BYTES("\xc3\xbc\xc0\x80"),
                    .is_aligned = true,
                    .is_boolean = true,
                    .value = 1}}},
    {"watermark-bool",
     {.type = FNET_EVENT_WATERMARK, .watermark = {.identifier = BYTES("b"), .is_boolean = true}}},
    {"watermark-109", WATERMARK(109, true)},
    {"watermark-110", WATERMARK(110, false)},
    {"watermark-300", WATERMARK(300, false)},
    {"watermark-415", WATERMARK(415, false)},
    {"watermark-1000", WATERMARK(1000, false)},
    {"end-of-input-channel-state", {.type = FNET_EVENT_END_OF_INPUT_CHANNEL_STATE}},
};

#define SAMPLES (sizeof samples / sizeof *samples)

static void check_encodes(const struct fnet_event *event, struct fnet_span bytes)
{
    uint8_t out[4096];
    struct fnet_writer w = fnet_writer_of(out, sizeof out);

    memset(out, 0xa5, sizeof out);
    CHECK_INT(fnet_event_encoded_bytes(fnet_dialect_newest(), event), bytes.len);
    CHECK_INT(fnet_event_encode(fnet_dialect_newest(), event, &w), FNET_OK);
    if (CHECK_INT(w.pos - out, bytes.len))
        CHECK_MEM(out, bytes.ptr, bytes.len);

    w = fnet_writer_of(out, bytes.len - 1);
    CHECK_INT(fnet_event_encode(fnet_dialect_newest(), event, &w), FNET_RANGE);
    CHECK(w.pos == out && !w.failed);
}

/* Flink sets the data type of two events elsewhere than in the encoder that made the file. */
static int data_type_of(const struct golden *g)
{
    if (strcmp(g->name, "end-of-segment") == 0)
        return FNET_END_OF_SEGMENT;
    if (strcmp(g->name, "recovery-metadata") == 0)
        return FNET_RECOVERY_METADATA;
    return (int)strtoul(g->words[0], NULL, 10);
}

static void test_golden(void)
{
    struct golden g = golden_open(GOLDEN "flink-2.2.txt");
    size_t i = 0;

    for (; golden_next(&g); i++) {
        struct fnet_event event;
        CASE(g.name);
        if (!CHECK(i < SAMPLES))
            continue;
        CHECK_STR(samples[i].name, g.name);
        check_encodes(&samples[i].event, golden_span(&g));
        CHECK_INT(fnet_event_data_type(&samples[i].event), data_type_of(&g));
        CHECK_INT(fnet_event_decode(fnet_dialect_newest(), golden_span(&g), &event), FNET_OK);
        check_encodes(&event, golden_span(&g));
    }
    CASE("no sample without golden bytes");
    CHECK_INT(i, SAMPLES);
}

/* Bytes of the fields alone, as the partitions of batch jobs send them. */
static size_t exact_bytes(const struct fnet_event *event)
{
    size_t padding = 0;

    if (event->type == FNET_EVENT_CHECKPOINT_BARRIER)
        padding = event->barrier.checkpoint_type % 4 ? 3 : 4;
    if (event->type == FNET_EVENT_OTHER)
        return 4 + 2 + event->other.class_name.len;
    if (event->type == FNET_EVENT_ANNOUNCEMENT)
        return 8;
    if (event->type == FNET_EVENT_WATERMARK)
        return 4 + 2 + event->watermark.identifier.len + 1 + 4 +
               (event->watermark.is_boolean ? 1 : 8);
    return fnet_event_encoded_bytes(fnet_dialect_newest(), event) - padding;
}

static void test_lengths(void)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        struct fnet_span bytes = golden_load(GOLDEN "flink-2.2.txt", samples[i].name);
        struct fnet_event event;
        uint8_t longer[4096] = {0};
        CASE(samples[i].name);
        size_t exact = exact_bytes(&samples[i].event);
        for (size_t len = 0; len <= bytes.len; len++) {
            memset(&event, 0xa5, sizeof event);
            struct fnet_event untouched = event;
            enum fnet_err err =
                fnet_event_decode(fnet_dialect_newest(), fnet_span_of(bytes.ptr, len), &event);
            CHECK_INT(err, len < exact ? FNET_TRUNCATED : FNET_OK);
            if (err != FNET_OK)
                CHECK_MEM(&event, &untouched, sizeof event);
        }
        /* More padding than Flink's is as good. */
        memcpy(longer, bytes.ptr, bytes.len);
        memset(longer + bytes.len, 0xff, 9);
        CHECK_INT(
            fnet_event_decode(fnet_dialect_newest(), fnet_span_of(longer, bytes.len + 9), &event),
            FNET_OK);
        if (event.type != FNET_EVENT_OTHER && event.type != FNET_EVENT_ANNOUNCEMENT)
            check_encodes(&event, bytes);
        free((void *)(uintptr_t)bytes.ptr);
    }
}

static enum fnet_err err_named(const char *name)
{
    if (strcmp(name, "TRUNCATED") == 0)
        return FNET_TRUNCATED;
    if (strcmp(name, "BAD_KIND") == 0)
        return FNET_BAD_KIND;
    if (strcmp(name, "BAD_LENGTH") == 0)
        return FNET_BAD_LENGTH;
    return strcmp(name, "BAD_VALUE") == 0 ? FNET_BAD_VALUE : FNET_OK;
}

static void test_bad(void)
{
    struct golden g = golden_open(GOLDEN "bad.txt");

    while (golden_next(&g)) {
        struct fnet_event event;
        CASE(g.name);
        memset(&event, 0xa5, sizeof event);
        struct fnet_event untouched = event;
        CHECK_INT(fnet_event_decode(fnet_dialect_newest(), golden_span(&g), &event),
                  err_named(g.words[0]));
        CHECK_MEM(&event, &untouched, sizeof event);
    }
}

static void check_invalid(const struct fnet_event *event)
{
    uint8_t out[256];
    struct fnet_writer w = fnet_writer_of(out, sizeof out);

    CHECK_INT(fnet_event_encode(fnet_dialect_newest(), event, &w), FNET_INVALID);
    CHECK(w.pos == out);
}

static void test_invalid(void)
{
    static const struct fnet_event bad[] = {
        {.type = (enum fnet_event_type)13},
        BARRIER(.checkpoint_type = 5),
        BARRIER(.alignment_type = 4),
        BARRIER(.savepoint_format = 1), /* no savepoint */
        BARRIER(.checkpoint_type = FNET_SAVEPOINT, .savepoint_format = 2),
        BARRIER(.location = BYTES("x")), /* without has_location */
        BARRIER(.has_location = true),   /* an empty one */
        BARRIER(.has_location = true, .location = {.len = FNET_LOCATION_MAX_BYTES + 1}),
        WATERMARK(65536, false),
        {.type = FNET_EVENT_WATERMARK, .watermark = {.is_boolean = true, .value = 2}},
        {.type = FNET_EVENT_WATERMARK, .watermark = {.is_boolean = true, .value = -1}},
        {.type = FNET_EVENT_OTHER, .other = {.class_name = {.len = 65536}}},
    };

    CASE("fields outside of what the structs say are not sent");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_invalid(&bad[i]);
}

static void test_fields(void)
{
    struct fnet_span bytes = golden_load(GOLDEN "flink-2.2.txt", "savepoint-suspend");
    struct fnet_event event;

    CASE("the fields of a barrier");
    CHECK_INT(fnet_event_decode(fnet_dialect_newest(), bytes, &event), FNET_OK);
    CHECK_INT(event.type, FNET_EVENT_CHECKPOINT_BARRIER);
    CHECK_INT(event.barrier.id, 42);
    CHECK_INT(event.barrier.timestamp_ms, 1700000000000);
    CHECK_INT(event.barrier.checkpoint_type, FNET_SAVEPOINT_SUSPEND);
    CHECK_INT(event.barrier.savepoint_format, 1);
    CHECK(event.barrier.has_location);
    CHECK_INT(event.barrier.location.len, 6);
    CHECK(event.barrier.location.ptr == bytes.ptr + 26);
    CHECK_INT(event.barrier.alignment_type, FNET_ALIGNED);
    CHECK_INT(event.barrier.alignment_timeout_ms, INT64_MAX);
    free((void *)(uintptr_t)bytes.ptr);
}

/* What is said of barrier 42 in a dialect, and what that leaves of it. */
static const struct {
    const char *version;
    uint8_t checkpoint_type, alignment_type;
    int64_t timeout_ms;
    uint8_t alignment_type_left;
    int64_t timeout_ms_left;
} sayings[] = {
    {"2.2", FNET_CHECKPOINT, FNET_UNALIGNED, 0, FNET_UNALIGNED, INT64_MAX},
    {"2.2", FNET_FULL_CHECKPOINT, FNET_UNALIGNED, 1500, FNET_UNALIGNED, INT64_MAX},
    {"2.2", FNET_CHECKPOINT, FNET_FORCED_ALIGNED, 1500, FNET_FORCED_ALIGNED, 1500},
    {"2.2", FNET_CHECKPOINT, FNET_AT_LEAST_ONCE, 1500, FNET_AT_LEAST_ONCE, 1500},
    {"2.2", FNET_SAVEPOINT, FNET_UNALIGNED, 1500, FNET_ALIGNED, INT64_MAX},
    {"2.2", FNET_SAVEPOINT_TERMINATE, FNET_UNALIGNED, INT64_MAX, FNET_ALIGNED, INT64_MAX},
    {"2.2", FNET_SAVEPOINT, FNET_ALIGNED, 1500, FNET_ALIGNED, 1500},
    {"1.12.5", FNET_CHECKPOINT, FNET_UNALIGNED, 0, FNET_UNALIGNED, INT64_MAX},
    {"1.12.5", FNET_SAVEPOINT, FNET_UNALIGNED, 0, FNET_ALIGNED, INT64_MAX},
    {"1.12.4", FNET_CHECKPOINT, FNET_UNALIGNED, 0, FNET_UNALIGNED, 0},
    {"1.12.4", FNET_CHECKPOINT, FNET_FORCED_ALIGNED, 1500, FNET_ALIGNED, INT64_MAX},
    {"1.12.4", FNET_SAVEPOINT, FNET_UNALIGNED, 0, FNET_ALIGNED, INT64_MAX},
    {"1.11.4", FNET_SAVEPOINT, FNET_UNALIGNED, 0, FNET_ALIGNED, INT64_MAX},
    {"1.11.3", FNET_SAVEPOINT, FNET_UNALIGNED, 0, FNET_UNALIGNED, INT64_MAX},
    {"1.11.3", FNET_CHECKPOINT, FNET_FORCED_ALIGNED, 1500, FNET_ALIGNED, INT64_MAX},
    {"1.10", FNET_SAVEPOINT, FNET_UNALIGNED, 0, FNET_ALIGNED, INT64_MAX},
};

static void test_sayings(void)
{
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++) {
        const struct fnet_event said = BARRIER(.checkpoint_type = sayings[i].checkpoint_type,
                                               .alignment_type = sayings[i].alignment_type,
                                               .alignment_timeout_ms = sayings[i].timeout_ms);
        const struct fnet_dialect *dialect = NULL;
        uint8_t out[64];
        struct fnet_writer w = fnet_writer_of(out, sizeof out);
        struct fnet_event left;

        CASE(sayings[i].version);
        CHECK_INT(fnet_dialect_parse(sayings[i].version, &dialect), FNET_OK);
        CHECK_INT(fnet_event_encode(dialect, &said, &w), FNET_OK);
        CHECK_INT(fnet_event_decode(dialect, fnet_span_of(out, (size_t)(w.pos - out)), &left),
                  FNET_OK);
        CHECK_INT(left.barrier.checkpoint_type, sayings[i].checkpoint_type);
        CHECK_INT(left.barrier.alignment_type, sayings[i].alignment_type_left);
        CHECK_INT(left.barrier.alignment_timeout_ms, sayings[i].timeout_ms_left);
    }
}

static void test_data_types(void)
{
    struct fnet_event barrier = BARRIER(ALIGNED(0));

    CASE("only a finite timeout above 0 makes an aligned barrier a timeoutable one");
    CHECK_INT(fnet_event_data_type(&barrier), FNET_ALIGNED_CHECKPOINT_BARRIER);
    barrier.barrier.alignment_timeout_ms = -1;
    CHECK_INT(fnet_event_data_type(&barrier), FNET_ALIGNED_CHECKPOINT_BARRIER);
    barrier.barrier.alignment_timeout_ms = 1;
    CHECK_INT(fnet_event_data_type(&barrier), FNET_TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER);
    barrier.barrier.alignment_timeout_ms = INT64_MAX - 1;
    CHECK_INT(fnet_event_data_type(&barrier), FNET_TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER);
    barrier.barrier.alignment_type = FNET_FORCED_ALIGNED;
    CHECK_INT(fnet_event_data_type(&barrier), FNET_ALIGNED_CHECKPOINT_BARRIER);

    CASE("a savepoint overtakes nothing");
    barrier.barrier.alignment_type = FNET_UNALIGNED;
    CHECK_INT(fnet_event_data_type(&barrier), FNET_PRIORITIZED_EVENT_BUFFER);
    barrier.barrier.checkpoint_type = FNET_SAVEPOINT;
    CHECK_INT(fnet_event_data_type(&barrier), FNET_ALIGNED_CHECKPOINT_BARRIER);
}

static void test_names(void)
{
    CASE("every type that can be decoded has a name, no other has");
    for (uint32_t type = 0; type <= 12; type++)
        CHECK(fnet_event_type_name(type) != NULL);
    CHECK(fnet_event_type_name(13) == NULL);
    CHECK(fnet_event_type_name(UINT32_MAX) == NULL);
    CHECK_STR(fnet_event_type_name(FNET_EVENT_CHECKPOINT_BARRIER), "CheckpointBarrier");
    CHECK_STR(fnet_event_type_name(FNET_EVENT_END_OF_DATA), "EndOfData");
}

int main(void)
{
    memset(many_w, 'w', sizeof many_w - 1);
    test_golden();
    test_lengths();
    test_bad();
    test_invalid();
    test_fields();
    test_sayings();
    test_data_types();
    test_names();
    return tap_done();
}
