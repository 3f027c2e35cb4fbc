/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect/dialect_guess: what Flink's own frames leave possible, version by version.
 */
#include "inspect/dialect_guess.h"

#include "fnet/event.h"

#include "../flink_golden.h"

static struct dialect_guess guess;
static const struct fnet_dialect *spoken; /* by the frames that GUESS has seen */

/* Could it be DIALECT? */
static bool has(const struct dialect_guess *g, const struct fnet_dialect *dialect)
{
    for (size_t i = 0; fnet_dialect_at(i); i++)
        if (fnet_dialect_at(i) == dialect)
            return g->possible >> i & 1;
    return false;
}

static const struct fnet_dialect *dialect_of(const char *version)
{
    const struct fnet_dialect *dialect = fnet_dialect_newest();

    CHECK_INT(fnet_dialect_parse(version, &dialect), FNET_OK);
    return dialect;
}

static void check_text(const struct dialect_guess *g, const char *expected)
{
    CHECK_STR(g->versions, expected);
}

/* ---- what Flink wrote -------------------------------------------------------------------- */

/* After all messages of a version, or all its events. */
struct outcome {
    const char *version; /* of the dialect's name */
    const char *possible;
};

static const struct outcome *outcomes; /* up to one without a version */

static void check_outcome(void)
{
    const struct outcome *o = outcomes;

    while (o->version && spoken && strcmp(o->version, spoken->name) != 0)
        o++;
    if (spoken && CHECK(o->version != NULL))
        check_text(&guess, o->possible);
}

static void begin_version(const struct fnet_dialect *dialect)
{
    if (dialect == spoken)
        return;
    check_outcome();
    spoken = dialect;
    dialect_guess_init(&guess, NULL);
}

static void weigh(struct fnet_span bytes)
{
    CHECK_INT(dialect_guess_weigh(&guess, bytes), FNET_OK);
    CHECK(has(&guess, spoken));
    dialect_guess_confirm(&guess);
}

static void weigh_message(const struct flink_line *line)
{
    begin_version(line->dialect);
    weigh(line->bytes);
    /* Again, and cut everywhere: nothing may change. */
    const uint32_t possible = guess.possible;
    for (size_t len = line->bytes.len < 200 ? 0 : line->bytes.len - 200; len <= line->bytes.len;
         len++) {
        enum fnet_err err = dialect_guess_weigh(&guess, fnet_span_of(line->bytes.ptr, len));
        CHECK(err == FNET_OK || (err == FNET_AGAIN && len < line->bytes.len));
        CHECK_INT(guess.possible, possible);
    }
}

static void weigh_event(const struct flink_line *line)
{
    static uint8_t frame[1 << 17];
    struct fnet_writer w = fnet_writer_of(frame, sizeof frame);
    struct fnet_message request = {.type = FNET_PARTITION_REQUEST};
    struct fnet_message m = {.type = FNET_BUFFER_RESPONSE};
    struct fnet_event event;

    if (line->dialect != spoken) {
        begin_version(line->dialect);
        CHECK_INT(fnet_message_encode(spoken, &request, &w), FNET_OK);
        weigh(fnet_span_of(frame, sizeof frame - fnet_writer_left(&w)));
        w = fnet_writer_of(frame, sizeof frame);
    }
    if (!CHECK_INT(fnet_event_decode(spoken, line->bytes, &event), FNET_OK))
        return;
    m.buffer.data_type = (uint8_t)fnet_event_data_type(&event);
    m.buffer.size = (uint32_t)line->bytes.len;
    m.buffer.subpartition = -1;
    CHECK_INT(fnet_message_encode(spoken, &m, &w), FNET_OK);
    fnet_put_bytes(&w, line->bytes.ptr, line->bytes.len);
    weigh(fnet_span_of(frame, sizeof frame - fnet_writer_left(&w)));
}

/* In mid-stream perhaps only what the producer sent. */
static void weigh_response(const struct flink_line *line)
{
    const bool is_response = strncmp(line->fields, "type=BufferResponse;", 20) == 0;

    begin_version(line->dialect);
    if (is_response)
        weigh(line->bytes);
}

static void test_flink(void)
{
    static const struct outcome of_messages[] = {
        {"1.5", "1.5 to 1.9"},
        {"1.9", "1.5 to 1.9"},
        {"1.10", "1.10"},
        {"1.11.0", "1.11"},
        {"1.11.4", "1.11"},
        {"1.12.0", "1.12.0 to 1.12.4"},
        {"1.12.5", "1.12.5 to 1.14"},
        {"1.13", "1.12.5 to 1.14"},
        {"1.14", "1.14"},
        {"1.15", "1.15"},
        {"1.16", "1.16 to 1.18"},
        {"1.18", "1.18"},
        {"1.19", "1.19 to 1.20"},
        {"2.0", "2.0 to 2.3"},
        {NULL, NULL},
    };
    static const struct outcome of_events[] = {
        {"1.5", "1.5 to 1.9"},
        {"1.9", "1.9"},
        {"1.10", "1.10"},
        {"1.11.0", "1.11.0 to 1.11.3"},
        {"1.11.4", "1.11.4 to 1.11.6"},
        {"1.12.0", "1.12.0 to 1.12.4"},
        {"1.12.5", "1.12.5 to 1.14"},
        {"1.13", "1.13 to 1.14"},
        {"1.14", "1.14"},
        {"1.15", "1.15"},
        {"1.16", "1.16 to 1.18"},
        {"1.18", "1.18"},
        {"1.19", "1.19 to 1.20"},
        {"2.0", "2.0 to 2.3"},
        {NULL, NULL},
    };
    static const struct outcome of_responses[] = {
        {"1.5", "1.5 to 1.9"},        {"1.9", "1.5 to 1.9"},      {"1.10", "1.10"},
        {"1.11.0", "1.11"},           {"1.11.4", "1.11"},         {"1.12.0", "1.12.0 to 1.12.4"},
        {"1.12.5", "1.12.5 to 1.14"}, {"1.13", "1.12.5 to 1.14"}, {"1.14", "1.12.5 to 1.14"},
        {"1.15", "1.15 to 1.18"},     {"1.16", "1.15 to 1.18"},   {"1.18", "1.18"},
        {"1.19", "1.19 to 1.20"},     {"2.0", "2.0 to 2.3"},      {NULL, NULL},
    };

    outcomes = of_messages;
    CHECK_INT(flink_visit("messages", weigh_message), 20);
    check_outcome();
    spoken = NULL;
    outcomes = of_events;
    CHECK_INT(flink_visit("events", weigh_event), 20);
    check_outcome();
    spoken = NULL;
    outcomes = of_responses;
    CHECK_INT(flink_visit("messages", weigh_response), 20);
    check_outcome();
}

/* ---- single frames ----------------------------------------------------------------------- */

static uint8_t frame[1024];

/* The frame of M, with PAYLOAD, as DIALECT has it. */
static struct fnet_span encode(const char *version, const struct fnet_message *m,
                               struct fnet_span payload)
{
    struct fnet_writer w = fnet_writer_of(frame, sizeof frame);

    CHECK_INT(fnet_message_encode(dialect_of(version), m, &w), FNET_OK);
    fnet_put_bytes(&w, payload.ptr, payload.len);
    return fnet_span_of(frame, sizeof frame - fnet_writer_left(&w));
}

static struct fnet_span request(const char *version)
{
    const struct fnet_message m = {.type = FNET_PARTITION_REQUEST};

    return encode(version, &m, fnet_span_of("", 0));
}

static struct fnet_span buffer(const char *version, uint8_t data_type, struct fnet_span payload)
{
    const struct fnet_message m = {
        .type = FNET_BUFFER_RESPONSE,
        .buffer = {.data_type = data_type, .size = (uint32_t)payload.len},
    };

    return encode(version, &m, payload);
}

static void test_narrowing(void)
{
    static const uint8_t record[] = "\0\0\0\7\1\6hello";
    const struct fnet_span hello = fnet_span_of(record, sizeof record - 1);
    struct dialect_guess g;

    CASE("at first everything is possible, and the newest release is read");
    dialect_guess_init(&g, NULL);
    check_text(&g, "1.5 to 2.3");
    CHECK(g.dialect == fnet_dialect_newest());
    CHECK(!g.is_sure);

    CASE("a request leaves the versions that have its length");
    CHECK_INT(dialect_guess_weigh(&g, request("1.13")), FNET_OK);
    check_text(&g, "1.11 to 1.15");
    CHECK(g.dialect == dialect_of("1.15"));

    CASE("data of 1.12 is no event of 1.11");
    CHECK_INT(dialect_guess_weigh(&g, buffer("1.13", FNET_DATA_BUFFER, hello)), FNET_OK);
    check_text(&g, "1.12 to 1.15");
    CHECK(!g.is_sure);

    CASE("an event of 1.11 could be data of 1.12, but it is read as the event");
    dialect_guess_init(&g, NULL);
    CHECK_INT(dialect_guess_weigh(&g, request("1.11")), FNET_OK);
    CHECK_INT(
        dialect_guess_weigh(&g, buffer("1.11", FNET_EVENT_BUFFER, fnet_span_of("\0\0\0\0", 4))),
        FNET_OK);
    check_text(&g, "1.11 to 1.15");
    CHECK(g.dialect == dialect_of("1.11"));
    CHECK_INT(dialect_guess_weigh(&g, buffer("1.11", FNET_DATA_BUFFER, hello)), FNET_OK);
    check_text(&g, "1.11");

    CASE("what is compressed is data, not an event of 1.11");
    const struct fnet_message compressed = {
        .type = FNET_BUFFER_RESPONSE,
        .buffer = {.data_type = FNET_DATA_BUFFER, .is_compressed = true, .size = 4}};
    dialect_guess_init(&g, NULL);
    CHECK_INT(dialect_guess_weigh(&g, request("1.13")), FNET_OK);
    CHECK_INT(dialect_guess_weigh(&g, encode("1.13", &compressed, fnet_span_of("\0\0\0\0", 4))),
              FNET_OK);
    check_text(&g, "1.12 to 1.15");

    CASE("the versions from 1.19 on differ in their buffers");
    dialect_guess_init(&g, NULL);
    CHECK_INT(dialect_guess_weigh(&g, request("1.20")), FNET_OK);
    check_text(&g, "1.19 to 2.3");
    CHECK_INT(dialect_guess_weigh(&g, buffer("1.20", FNET_DATA_BUFFER, hello)), FNET_OK);
    check_text(&g, "1.19 to 1.20");
    CHECK(g.is_sure);
    CHECK(dialect_guess_is_settled(&g));

    CASE("a version that is not released counts when nothing else is possible");
    dialect_guess_init(&g, NULL);
    CHECK_INT(dialect_guess_weigh(&g, buffer("2.4", FNET_DATA_BUFFER, hello)), FNET_OK);
    check_text(&g, "2.0 to 2.3");
    CHECK(g.is_sure);
    CHECK(!dialect_guess_is_settled(&g));
    CHECK_INT(dialect_guess_weigh(&g, request("2.4")), FNET_OK);
    check_text(&g, "2.4-SNAPSHOT");

    CASE("what only fnet sends is of its dialect");
    dialect_guess_init(&g, NULL);
    const struct fnet_message question = {.type = FNET_DESCRIPTION_REQUEST,
                                          .describe = {.all = true}};
    CHECK_INT(dialect_guess_weigh(&g, encode("2.3", &question, fnet_span_of("", 0))), FNET_OK);
    CHECK(dialect_guess_is_settled(&g));
    check_text(&g, "2.0 to 2.3");
}

/* What is sent of an unaligned barrier that never waited for others. */
static void test_barrier_without_timeout(void)
{
    const struct fnet_event event = {
        .type = FNET_EVENT_CHECKPOINT_BARRIER,
        .barrier = {.id = 7, .alignment_type = FNET_UNALIGNED, .alignment_timeout_ms = 0},
    };
    uint8_t bytes[64];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
    struct dialect_guess g;

    CASE("one of 1.12.0 is read in 1.12.5 as an aligned one, which would not come ahead");
    CHECK_INT(fnet_event_encode(dialect_of("1.12.0"), &event, &w), FNET_OK);
    dialect_guess_init(&g, NULL);
    CHECK_INT(dialect_guess_weigh(&g, buffer("1.12.0", FNET_PRIORITIZED_EVENT_BUFFER,
                                             fnet_span_of(bytes, (size_t)(w.pos - bytes)))),
              FNET_OK);
    check_text(&g, "1.12.0 to 1.12.4");
}

static void test_ambiguity(void)
{
    uint8_t payload[252] = {[3] = 248};
    const struct fnet_span one = fnet_span_of(payload, sizeof payload);
    const struct fnet_span two = fnet_span_of(payload, 100);
    struct dialect_guess g;

    CASE("252 bytes of 1.19 fit 1.11, too, whose other fields make sense by chance");
    dialect_guess_init(&g, NULL);
    const struct fnet_span bytes = buffer("1.19", FNET_DATA_BUFFER, one);
    CHECK_INT(dialect_guess_weigh(&g, bytes), FNET_OK);
    check_text(&g, "1.11, 1.19 to 1.20");
    CHECK(!dialect_guess_is_clear(&g, bytes));

    CASE("the next frame tells");
    CHECK_INT(dialect_guess_weigh(&g, buffer("1.19", FNET_DATA_BUFFER, two)), FNET_OK);
    check_text(&g, "1.19 to 1.20");
    CHECK(dialect_guess_is_clear(&g, bytes));

    CASE("data that may be an event must be there as a whole");
    dialect_guess_init(&g, NULL);
    struct fnet_span late = buffer("1.14", FNET_DATA_BUFFER, two);
    late.len--;
    CHECK_INT(dialect_guess_weigh(&g, late), FNET_AGAIN);
    check_text(&g, "1.10 to 1.18");
    late.len++;
    CHECK_INT(dialect_guess_weigh(&g, late), FNET_OK);
    check_text(&g, "1.10, 1.12 to 1.18");
}

static void test_moot(void)
{
    static const uint8_t payload[300];
    const struct fnet_span data = fnet_span_of(payload, sizeof payload);
    const struct fnet_message credit = {.type = FNET_ADD_CREDIT, .credit = 1};
    struct dialect_guess g;

    CASE("a message is weighed once, if it has one length in each dialect");
    dialect_guess_init(&g, NULL);
    CHECK(!dialect_guess_is_moot(&g, fnet_span_of("", 0)));
    CHECK(!dialect_guess_is_moot(&g, request("1.16")));
    CHECK_INT(dialect_guess_weigh(&g, request("1.16")), FNET_OK);
    CHECK(dialect_guess_is_moot(&g, request("1.16")));
    CHECK(!dialect_guess_is_moot(&g, encode("1.16", &credit, fnet_span_of("", 0))));

    CASE("data of dialects with the same buffers tells nothing, events may");
    CHECK(dialect_guess_is_moot(&g, buffer("1.16", FNET_DATA_BUFFER, data)));
    CHECK(!dialect_guess_is_moot(&g, fnet_span_of(frame, 33)));
    CHECK(!dialect_guess_is_moot(&g, buffer("1.16", FNET_EVENT_BUFFER, data)));

    CASE("data of dialects with other buffers tells more");
    dialect_guess_init(&g, NULL);
    CHECK_INT(dialect_guess_weigh(&g, request("1.20")), FNET_OK);
    CHECK(!dialect_guess_is_moot(&g, buffer("1.20", FNET_DATA_BUFFER, data)));
    CHECK_INT(dialect_guess_weigh(&g, buffer("1.20", FNET_DATA_BUFFER, data)), FNET_OK);
    CHECK(dialect_guess_is_moot(&g, buffer("1.20", FNET_EVENT_BUFFER, data)));

    CASE("data in one dialect, an event in the other is weighed");
    dialect_guess_init(&g, NULL);
    CHECK_INT(dialect_guess_weigh(&g, request("1.11")), FNET_OK);
    CHECK(!dialect_guess_is_moot(&g, buffer("1.12", FNET_DATA_BUFFER, data)));
}

static void test_doubt(void)
{
    const struct fnet_message close = {.type = FNET_CLOSE_REQUEST};
    struct dialect_guess g;

    CASE("a frame of another dialect is refused, and changes nothing");
    dialect_guess_init(&g, NULL);
    CHECK_INT(dialect_guess_weigh(&g, request("1.17")), FNET_OK);
    dialect_guess_confirm(&g);
    dialect_guess_confirm(&g);
    const struct dialect_guess before = g;
    const struct fnet_span other = request("1.8");
    CHECK_INT(dialect_guess_weigh(&g, other), FNET_BAD_LENGTH);
    CHECK_MEM(&g, &before, sizeof g);

    CASE("when there are more of them than of the others, the guess begins anew");
    CHECK(!dialect_guess_doubt(&g, other));
    CHECK(!dialect_guess_doubt(&g, other));
    CHECK(dialect_guess_doubt(&g, other));
    CHECK_INT(g.restarts, 1);
    CHECK(!dialect_guess_is_moot(&g, other));
    check_text(&g, "1.5 to 1.10");
    CHECK_INT(dialect_guess_weigh(&g, other), FNET_OK);

    CASE("what no dialect reads speaks against none");
    struct fnet_span broken = encode("1.8", &close, fnet_span_of("", 0));
    frame[8] = 99;
    CHECK(!dialect_guess_doubt(&g, broken));
    CHECK(!dialect_guess_is_header(&g, broken.ptr));

    CASE("a dialect that is given is never doubted");
    dialect_guess_init(&g, dialect_of("1.12.1"));
    check_text(&g, "1.12.0 to 1.12.4");
    CHECK(g.is_sure);
    CHECK(dialect_guess_is_settled(&g));
    CHECK_INT(dialect_guess_weigh(&g, request("1.8")), FNET_BAD_LENGTH);
    CHECK(!dialect_guess_doubt(&g, request("1.8")));
    CHECK(!dialect_guess_is_header(&g, request("1.8").ptr));
    CHECK(dialect_guess_is_header(&g, request("1.14").ptr));
}

static void test_texts(void)
{
    char text[DIALECTS_TEXT_BYTES];

    CASE("sets of dialects have a text, however they are mixed");
    dialects_format(0, text);
    CHECK_STR(text, "");
    dialects_format(dialects_of_request(65), text);
    CHECK_STR(text, "1.5 to 1.10");
    dialects_format(dialects_of_request(93), text);
    CHECK_STR(text, "1.16 to 1.18");
    dialects_format(dialects_of_request(66), text);
    CHECK_STR(text, "");
    dialects_format(0x1c, text);
    CHECK_STR(text, "1.10 to 1.11");
    dialects_format(0x30, text);
    CHECK_STR(text, "1.11.4 to 1.12.4");
    dialects_format(0x28, text);
    CHECK_STR(text, "1.11.0 to 1.11.3, 1.12.0 to 1.12.4");
    dialects_format(0x6000, text);
    CHECK_STR(text, "2.0 to 2.4-SNAPSHOT");
    dialects_format(0x5555, text);
    CHECK(strlen(text) < sizeof text);
    dialects_format(0x2aaa, text);
    CHECK(strlen(text) < sizeof text);
}

/* ---- any bytes --------------------------------------------------------------------------- */

static uint32_t random_bits(void)
{
    static uint64_t state = 42;

    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33);
}

static void test_any_bytes(void)
{
    struct dialect_guess g;

    CASE("whatever comes, something stays possible, and a dialect of it is read");
    dialect_guess_init(&g, NULL);
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t bytes[160];
        const size_t len = random_bits() % (sizeof bytes + 1);
        uint8_t *copy = malloc(len + 1); /* of its own, so that its end is seen */
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(random_bits() % 4 ? 0 : random_bits());
        fnet_store_be32(bytes, random_bits() % sizeof bytes);
        fnet_store_be32(bytes + 4, FNET_MAGIC);
        bytes[8] = (uint8_t)(random_bits() % 3 ? 0 : random_bits() % 13);
        memcpy(copy, bytes, len);
        const struct fnet_span span = fnet_span_of(copy, len);
        enum fnet_err err = dialect_guess_weigh(&g, span);
        if (err == FNET_OK)
            (void)dialect_guess_is_clear(&g, span);
        else if (err != FNET_AGAIN && dialect_guess_doubt(&g, span))
            CHECK(dialect_guess_weigh(&g, span) == FNET_OK || len < sizeof bytes);
        CHECK((g.likely & g.possible) == g.likely && g.likely != 0);
        CHECK(has(&g, g.dialect));
        if (round % 50 == 0)
            dialect_guess_init(&g, NULL);
        free(copy);
    }
}

static void test_told(void)
{
    static const struct fnet_message probe = {.type = FNET_DIALECT_PROBE};
    uint8_t bytes[FNET_DIALECT_PROBE_BYTES];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
    struct fnet_message m = {.type = FNET_CANCEL_PARTITION_REQUEST};
    struct dialect_guess g;

    CASE("a probe leaves open what it asks, the second answer says it");
    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &probe, &w), FNET_OK);
    dialect_guess_init(&g, NULL);
    CHECK_INT(dialect_guess_weigh(&g, fnet_span_of(bytes, sizeof bytes)), FNET_OK);
    check_text(&g, "1.19 to 2.3");
    for (size_t i = 0; i < 2; i++) {
        memcpy(m.receiver.bytes, i ? "fnet dialect: B" : "fnet dialect: A", FNET_ID_BYTES);
        w = fnet_writer_of(bytes, sizeof bytes);
        CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &m, &w), FNET_OK);
        check_text(&g, "1.19 to 2.3");
        CHECK_INT(dialect_guess_weigh(&g, fnet_span_of(bytes, (size_t)(w.pos - bytes))), FNET_OK);
    }
    check_text(&g, "1.19 to 1.20");

    CASE("a channel of fnet's says its dialect at once");
    m = (struct fnet_message){.type = FNET_PARTITION_REQUEST};
    fnet_channel_id_random(dialect_of("1.13"), &m.receiver);
    w = fnet_writer_of(bytes, sizeof bytes);
    CHECK_INT(fnet_message_encode(dialect_of("1.13"), &m, &w), FNET_OK);
    dialect_guess_init(&g, NULL);
    CHECK_INT(dialect_guess_weigh(&g, fnet_span_of(bytes, (size_t)(w.pos - bytes))), FNET_OK);
    check_text(&g, "1.13");
}

int main(void)
{
    test_flink();
    test_narrowing();
    test_barrier_without_timeout();
    test_ambiguity();
    test_moot();
    test_doubt();
    test_texts();
    test_told();
    test_any_bytes();
    return tap_done();
}
