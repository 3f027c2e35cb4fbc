/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every message, against the bytes that Flink writes, and against bytes that nobody should.
 */
#include "fnet/wire.h"

#include "../golden.h"
#include "../tap.h"
#include "samples.h"

#define GOLDEN "tests/golden/wire/"

static const char *const good_files[] = {
    GOLDEN "flink-2.0.txt",
    GOLDEN "flink-2.3.txt",
    GOLDEN "dumps.txt",
    GOLDEN "extension.txt",
};

/* Bytes of the frame that are the message's own: of a BufferResponse all but the payload. */
static size_t own_bytes(const struct fnet_message *m, size_t frame)
{
    return m->type == FNET_BUFFER_RESPONSE ? frame - m->buffer.size : frame;
}

static void check_encodes(const struct fnet_message *m, struct fnet_span frame)
{
    uint8_t out[4096];
    struct fnet_writer w = fnet_writer_of(out, sizeof out);
    size_t own = own_bytes(m, frame.len);

    CHECK_INT(fnet_message_encoded_bytes(fnet_dialect_newest(), m), own);
    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), m, &w), FNET_OK);
    if (CHECK_INT(w.pos - out, own))
        CHECK_MEM(out, frame.ptr, own);

    w = fnet_writer_of(out, own - 1);
    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), m, &w), FNET_RANGE);
    CHECK(w.pos == out);
}

/* Each prefix asks for more than it has, never for more than the message, and changes nothing. */
static void check_truncations(struct fnet_span frame, size_t own)
{
    struct fnet_message untouched;
    struct fnet_message m;

    memset(&m, 0xa5, sizeof m);
    untouched = m;
    for (size_t len = 0; len < own; len++) {
        size_t used = 0;
        CHECK_INT(
            fnet_message_decode(fnet_dialect_newest(), fnet_span_of(frame.ptr, len), &used, &m),
            FNET_AGAIN);
        CHECK(used > len && used <= own);
    }
    CHECK_MEM(&m, &untouched, sizeof m);
}

static void check_golden(const struct golden *g)
{
    const struct fnet_message *sample = sample_find(g->name);
    struct fnet_message m;
    size_t used = 0;

    CASE(g->name);
    if (!CHECK_INT(fnet_message_decode(fnet_dialect_newest(), golden_span(g), &used, &m), FNET_OK))
        return;
    CHECK_INT(used, own_bytes(&m, g->len));
    check_encodes(&m, golden_span(g));
    check_truncations(golden_span(g), used);
    if (sample)
        check_encodes(sample, golden_span(g));
    else
        CHECK(strncmp(g->name, "Error", 5) == 0);
    if (g->words[0])
        CHECK_INT(strtoul(g->words[0], NULL, 10), g->len);

    /* What follows the frame is not looked at. */
    uint8_t longer[4096];
    memset(longer, 0xff, sizeof longer);
    memcpy(longer, g->bytes, g->len);
    size_t used_of_longer = 0;
    CHECK_INT(fnet_message_decode(fnet_dialect_newest(), fnet_span_of(longer, sizeof longer),
                                  &used_of_longer, &m),
              FNET_OK);
    CHECK_INT(used_of_longer, used);
}

static void test_golden(void)
{
    for (size_t i = 0; i < sizeof good_files / sizeof *good_files; i++) {
        struct golden g = golden_open(good_files[i]);
        unsigned entries = 0;
        while (golden_next(&g)) {
            check_golden(&g);
            entries++;
        }
        CASE(good_files[i]);
        CHECK(entries >= 7);
    }
}

static enum fnet_err err_named(const char *name)
{
    static const struct {
        const char *name;
        enum fnet_err err;
    } errs[] = {
        {"BAD_MAGIC", FNET_BAD_MAGIC},
        {"BAD_KIND", FNET_BAD_KIND},
        {"BAD_LENGTH", FNET_BAD_LENGTH},
        {"BAD_VALUE", FNET_BAD_VALUE},
    };

    for (size_t i = 0; i < sizeof errs / sizeof *errs; i++)
        if (strcmp(errs[i].name, name) == 0)
            return errs[i].err;
    return FNET_OK;
}

static void test_bad(void)
{
    struct golden g = golden_open(GOLDEN "bad.txt");

    while (golden_next(&g)) {
        struct fnet_message m;
        size_t used = 12345;
        CASE(g.name);
        memset(&m, 0xa5, sizeof m);
        struct fnet_message untouched = m;
        CHECK_INT(fnet_message_decode(fnet_dialect_newest(), golden_span(&g), &used, &m),
                  err_named(g.words[0]));
        CHECK_INT(used, 12345);
        CHECK_MEM(&m, &untouched, sizeof m);
        /* A prefix is either not enough or refused for the same reason. */
        for (size_t len = 0; len < g.len; len++) {
            enum fnet_err err =
                fnet_message_decode(fnet_dialect_newest(), fnet_span_of(g.bytes, len), &used, &m);
            CHECK(err == FNET_AGAIN || err == err_named(g.words[0]));
        }
    }

    CASE("a frame of 2 GB is refused as soon as its header is there");
    struct fnet_span frame = golden_load(GOLDEN "bad.txt", "2gb-buffer");
    CHECK_INT(frame.len, FNET_FRAME_HEADER_BYTES);
    free((void *)(uintptr_t)frame.ptr);
}

static void check_invalid(const struct fnet_message *m)
{
    uint8_t out[512];
    struct fnet_writer w = fnet_writer_of(out, sizeof out);

    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), m, &w), FNET_INVALID);
    CHECK(w.pos == out && !w.failed);
}

static void test_invalid(void)
{
    struct fnet_message m;
    static char name[FNET_NAME_MAX_BYTES + 2];

    CASE("fields outside of what the protocol allows are not sent");
    m = *sample_find("PartitionRequest");
    m.request.last = 4;
    check_invalid(&m);
    m = *sample_find("PartitionRequest");
    m.request.credit = -1;
    check_invalid(&m);
    m = *sample_find("AddCredit");
    m.credit = 0;
    check_invalid(&m);
    m = *sample_find("BufferResponse.hello");
    m.buffer.backlog = -1;
    check_invalid(&m);
    m = *sample_find("DescriptionRequest.one");
    m.describe.all = true;
    check_invalid(&m);
    m = *sample_find("DescriptionResponse.main");
    m.description.name = fnet_span_of("a b", 3);
    check_invalid(&m);
    memset(name, 'n', sizeof name);
    m.description.name = fnet_span_of(name, FNET_NAME_MAX_BYTES + 1);
    check_invalid(&m);

    CASE("types that are none are not sent");
    m = *sample_find("CloseRequest");
    m.type = (enum fnet_message_type)12;
    check_invalid(&m);
    m.type = (enum fnet_message_type)257;
    check_invalid(&m);

    CASE("a message above the limit is not sent, one at the limit is");
    size_t room = FNET_MESSAGE_MAX_BYTES + 1;
    uint8_t *bytes = calloc(1, room);
    uint8_t *out = malloc(room);
    struct fnet_writer w = fnet_writer_of(out, room);
    size_t used;
    m = (struct fnet_message){.type = FNET_ERROR_RESPONSE};
    m.error.throwable = fnet_span_of(bytes, FNET_MESSAGE_MAX_BYTES - 10);
    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &m, &w), FNET_OK);
    CHECK_INT(fnet_message_decode(fnet_dialect_newest(), fnet_span_of(out, room), &used, &m),
              FNET_OK);
    CHECK_INT(used, FNET_MESSAGE_MAX_BYTES);
    m.error.throwable = fnet_span_of(bytes, FNET_MESSAGE_MAX_BYTES - 9);
    check_invalid(&m);
    free(bytes);
    free(out);
}

/* The frame of an ErrorResponse whose body is BYTES; what it says in M. */
static enum fnet_err decode_error(struct fnet_span body, uint8_t frame[static 4096],
                                  struct fnet_message *m)
{
    struct fnet_writer w = fnet_writer_of(frame, 4096);
    size_t used;

    fnet_put_u32(&w, (uint32_t)(FNET_FRAME_HEADER_BYTES + body.len));
    fnet_put_u32(&w, FNET_MAGIC);
    fnet_put_u8(&w, FNET_ERROR_RESPONSE);
    fnet_put_bytes(&w, body.ptr, body.len);
    return fnet_message_decode(fnet_dialect_newest(), fnet_span_of(frame, (size_t)(w.pos - frame)),
                               &used, m);
}

static void test_error_receiver(void)
{
    static const struct fnet_id channel = CHANNEL;
    uint8_t frame[4096];
    uint8_t body[2560];
    struct fnet_message m;

    CASE("the vectors: a fatal error, and one of a channel");
    struct fnet_span fatal = golden_load(GOLDEN "flink-2.3.txt", "ErrorFatal");
    struct fnet_span of_channel = golden_load(GOLDEN "flink-2.3.txt", "ErrorPNF");
    size_t used;
    CHECK_INT(fnet_message_decode(fnet_dialect_newest(), fatal, &used, &m), FNET_OK);
    CHECK(!m.error.has_receiver);
    CHECK_INT(m.error.throwable.len, fatal.len - 10);
    CHECK_MEM(m.receiver.bytes, (const uint8_t[16]){0}, 16);
    CHECK_INT(fnet_message_decode(fnet_dialect_newest(), of_channel, &used, &m), FNET_OK);
    CHECK(m.error.has_receiver && fnet_id_is_equal(&m.receiver, &channel));
    CHECK_INT(m.error.throwable.len, of_channel.len - 9 - 17);
    free((void *)(uintptr_t)fatal.ptr);
    free((void *)(uintptr_t)of_channel.ptr);

    CASE("a receiver that ends in 0 does not make an error fatal");
    struct fnet_writer w = fnet_writer_of(body, sizeof body);
    CHECK_INT(fnet_throwable_encode(true, "gone", &w), FNET_OK);
    size_t object = (size_t)(w.pos - body);
    fnet_put_u8(&w, 1);
    fnet_put_bytes(&w, (const uint8_t[16]){7}, 16);
    CHECK_INT(decode_error(fnet_span_of(body, object + 17), frame, &m), FNET_OK);
    CHECK(m.error.has_receiver && m.receiver.bytes[0] == 7);
    CHECK_INT(m.error.throwable.len, object);

    CASE("a throwable with a 1 where the boolean could stand is followed to its end");
    w = fnet_writer_of(body, sizeof body);
    CHECK_INT(fnet_throwable_encode(false, "x\x01yyyyyyyyyyyy", &w), FNET_OK);
    object = (size_t)(w.pos - body);
    fnet_put_u8(&w, 0);
    CHECK_INT(body[object + 1 - 17], 1);
    CHECK_INT(decode_error(fnet_span_of(body, object + 1), frame, &m), FNET_OK);
    CHECK(!m.error.has_receiver);
    CHECK_INT(m.error.throwable.len, object);

    CASE("where the stream is none, the byte in front of a receiver decides");
    memset(body, 0, sizeof body);
    CHECK_INT(decode_error(fnet_span_of(body, 40), frame, &m), FNET_OK);
    CHECK(!m.error.has_receiver && m.error.throwable.len == 39);
    body[40 - 17] = 1;
    CHECK_INT(decode_error(fnet_span_of(body, 40), frame, &m), FNET_OK);
    CHECK(m.error.has_receiver && m.error.throwable.len == 40 - 17);
}

int main(void)
{
    test_golden();
    test_bad();
    test_invalid();
    test_error_receiver();
    return tap_done();
}
