/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outbox: frames go out byte for byte as they were put in, however little is sent at a time,
 * payloads from where they are.
 */
#include "../../../lib/session/outbox.h"

#include "../failmalloc.h"
#include "../tap.h"

#define FRAMES 200

static const struct fnet_message credit = {.type = FNET_ADD_CREDIT, .credit = 7};

static struct fnet_message response_of(int32_t sequence, uint32_t size)
{
    return (struct fnet_message){
        .type = FNET_BUFFER_RESPONSE,
        .buffer = {.sequence = sequence, .data_type = FNET_DATA_BUFFER, .size = size}};
}

static struct fnet_buffer payload_of(uint8_t byte, uint32_t len)
{
    struct fnet_buffer buffer = {.segment = NULL};

    CHECK_INT(fnet_buffer_new_heap_room(len, FNET_DATA_BUFFER, &buffer), FNET_OK);
    memset(buffer.segment->bytes, byte, len);
    return buffer;
}

static void append(struct fnet_writer *w, const struct fnet_message *message, uint8_t byte)
{
    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), message, w), FNET_OK);
    if (message->type == FNET_BUFFER_RESPONSE && message->buffer.size > 0)
        memset(fnet_put_room(w, message->buffer.size), byte, message->buffer.size);
}

/* A mixture of frames: with and without payload, empty payloads, and one too long for the ring. */
static void push(struct fnet__outbox *outbox, struct fnet_writer *expected, unsigned i)
{
    static const uint8_t stack_trace[3000] = {0xac, 0xed};
    const struct fnet_message error = {
        .type = FNET_ERROR_RESPONSE,
        .error = {.throwable = fnet_span_of(stack_trace, sizeof stack_trace)}};
    const struct fnet_message response = response_of((int32_t)i, i % 9 * 40);

    if (i % 4 == 0 || i % 16 == 1) {
        const struct fnet_message *plain = i % 4 == 0 ? &credit : &error;
        CHECK_INT(fnet__outbox_push(outbox, fnet_dialect_newest(), plain, NULL), FNET_OK);
        append(expected, plain, 0);
        return;
    }
    struct fnet_buffer payload = payload_of((uint8_t)i, response.buffer.size);
    CHECK_INT(fnet__outbox_push(outbox, fnet_dialect_newest(), &response, &payload), FNET_OK);
    CHECK(payload.segment == NULL);
    append(expected, &response, (uint8_t)i);
}

/* Send up to STEP bytes out of at most SPANS spans; returns how many. */
static size_t send(struct fnet__outbox *outbox, size_t step, size_t spans, uint8_t *to,
                   size_t *frames)
{
    struct iovec iov[16];
    size_t moved = 0;
    size_t n = fnet__outbox_gather(outbox, iov, spans);

    CHECK(n <= spans);
    for (size_t i = 0; i < n && moved < step; i++) {
        size_t some = iov[i].iov_len < step - moved ? iov[i].iov_len : step - moved;
        CHECK(iov[i].iov_len > 0);
        memcpy(to + moved, iov[i].iov_base, some);
        moved += some;
    }
    *frames += fnet__outbox_advance(outbox, moved);
    return moved;
}

static void check_sent(size_t step, size_t spans)
{
    static uint8_t bytes[FRAMES * 4096], sent[FRAMES * 4096];
    struct fnet_writer expected = fnet_writer_of(bytes, sizeof bytes);
    struct fnet__outbox outbox = {.count = 0};
    size_t len = 0, frames = 0;

    for (unsigned i = 0; i < FRAMES; i++) {
        push(&outbox, &expected, i);
        if (i % 3 == 0) /* so that the ring wraps around */
            len += send(&outbox, step, spans, sent + len, &frames);
    }
    size_t n;
    while ((n = send(&outbox, step, spans, sent + len, &frames)) > 0)
        len += n;
    CHECK_INT(outbox.count, 0);
    CHECK_INT(frames, FRAMES);
    if (CHECK_INT(len, expected.pos - bytes))
        CHECK_MEM(sent, bytes, len);
    fnet__outbox_clear(&outbox);
}

static void test_sending(void)
{
    const size_t steps[] = {1, 2, 7, 47, 48, 4096, SIZE_MAX};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (size_t spans = 1; spans <= 16; spans += 5) {
            CASE("frames go out as they were put in, however few bytes or spans at a time");
            check_sent(steps[i], spans);
        }
}

static void test_in_place(void)
{
    struct fnet__outbox outbox = {.count = 0};
    struct iovec spans[4];

    CASE("a payload is sent from its own memory, from its offset on");
    struct fnet_buffer payload = payload_of('a', 100);
    const uint8_t *bytes = payload.segment->bytes;
    payload.offset = 60;
    payload.len = 40;
    const struct fnet_message response = response_of(0, 40);
    CHECK_INT(fnet__outbox_push(&outbox, fnet_dialect_newest(), &response, &payload), FNET_OK);
    CHECK_INT(fnet__outbox_gather(&outbox, spans, 4), 2);
    CHECK_INT(spans[0].iov_len, FNET_BUFFER_RESPONSE_HEAD_BYTES);
    CHECK(spans[1].iov_base == bytes + 60);
    CHECK_INT(spans[1].iov_len, 40);

    CASE("what is half sent goes on there");
    CHECK_INT(fnet__outbox_advance(&outbox, FNET_BUFFER_RESPONSE_HEAD_BYTES + 1), 0);
    CHECK_INT(fnet__outbox_gather(&outbox, spans, 4), 1);
    CHECK(spans[0].iov_base == bytes + 61);
    CHECK_INT(spans[0].iov_len, 39);

    CASE("no spans, nothing gathered");
    CHECK_INT(fnet__outbox_gather(&outbox, spans, 0), 0);

    CASE("a cleared outbox gives its payloads back, is empty and usable");
    fnet__outbox_clear(&outbox);
    CHECK_INT(fnet__outbox_gather(&outbox, spans, 4), 0);
    CHECK_INT(fnet__outbox_push(&outbox, fnet_dialect_newest(), &credit, NULL), FNET_OK);
    CHECK_INT(fnet__outbox_gather(&outbox, spans, 4), 1);
    fnet__outbox_clear(&outbox);
}

/* N credits for 1, 2, 3 ... */
static void push_counting(struct fnet__outbox *outbox, int32_t n)
{
    for (int32_t i = 1; i <= n; i++) {
        const struct fnet_message message = {.type = FNET_ADD_CREDIT, .credit = i};
        CHECK_INT(fnet__outbox_push(outbox, fnet_dialect_newest(), &message, NULL), FNET_OK);
    }
}

/* Send the N frames that wait, one by one, and check that they come in order. */
static void drain_counting(struct fnet__outbox *outbox, int32_t n)
{
    const size_t len = fnet_message_encoded_bytes(fnet_dialect_newest(), &credit);

    for (int32_t i = 1; i <= n; i++) {
        const struct fnet_message message = {.type = FNET_ADD_CREDIT, .credit = i};
        uint8_t expected[FNET__OUTBOX_HEAD_BYTES];
        struct fnet_writer w = fnet_writer_of(expected, sizeof expected);
        struct iovec span;
        CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &message, &w), FNET_OK);
        CHECK_INT(fnet__outbox_gather(outbox, &span, 1), 1);
        CHECK_MEM(span.iov_base, expected, len);
        CHECK_INT(fnet__outbox_advance(outbox, len), 1);
    }
    CHECK_INT(outbox->count, 0);
}

static void test_memory(void)
{
    struct fnet__outbox outbox = {.count = 0};

    CASE("a ring of as many frames as usually wait is kept when it is empty");
    push_counting(&outbox, FNET__OUTBOX_FULL_FRAMES);
    const struct fnet__outgoing *ring = outbox.ring;
    drain_counting(&outbox, FNET__OUTBOX_FULL_FRAMES);
    push_counting(&outbox, FNET__OUTBOX_FULL_FRAMES);
    CHECK(outbox.ring == ring);
    CHECK_INT(outbox.capacity, FNET__OUTBOX_FULL_FRAMES);
    drain_counting(&outbox, FNET__OUTBOX_FULL_FRAMES);

    CASE("a larger one is given back, but only then");
    push_counting(&outbox, 10000);
    drain_counting(&outbox, 10000);
    CHECK(outbox.ring == NULL);
    CHECK_INT(outbox.capacity, 0);
    push_counting(&outbox, 3);
    drain_counting(&outbox, 3);
    fnet__outbox_clear(&outbox);
}

static void test_invalid(void)
{
    struct fnet__outbox outbox = {.count = 0};

    CASE("a message that cannot be encoded is refused; its payload stays with the caller");
    const struct fnet_message no_credit = {.type = FNET_ADD_CREDIT};
    CHECK_INT(fnet__outbox_push(&outbox, fnet_dialect_newest(), &no_credit, NULL), FNET_INVALID);
    struct fnet_message response = response_of(0, 10);
    response.buffer.backlog = -1;
    struct fnet_buffer payload = payload_of('a', 10);
    CHECK_INT(fnet__outbox_push(&outbox, fnet_dialect_newest(), &response, &payload), FNET_INVALID);
    CHECK(payload.segment != NULL);
    fnet_buffer_clear(&payload);
    CHECK_INT(outbox.count, 0);
    fnet__outbox_clear(&outbox);
}

static void test_no_memory(void)
{
    static const uint8_t long_stream[500];
    const struct fnet_message error = {
        .type = FNET_ERROR_RESPONSE,
        .error = {.throwable = fnet_span_of(long_stream, sizeof long_stream)}};
    unsigned n = 0;

    CASE("without memory what is waiting stays as it is");
    do {
        struct fnet__outbox outbox = {.count = 0};
        failmalloc_arm(++n);
        enum fnet_err err = FNET_OK;
        size_t pushed = 0;
        while (err == FNET_OK && pushed < 70) {
            err = fnet__outbox_push(&outbox, fnet_dialect_newest(), pushed % 8 ? &credit : &error,
                                    NULL);
            pushed += err == FNET_OK;
        }
        bool did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        CHECK_INT(outbox.count, pushed);
        fnet__outbox_clear(&outbox);
        if (!did_fail)
            break;
    } while (n < 1000);
    CHECK(n < 1000);
}

int main(void)
{
    test_sending();
    test_in_place();
    test_memory();
    test_invalid();
    test_no_memory();
    return tap_done();
}
