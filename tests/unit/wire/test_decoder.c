/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pull decoder gives back the stream it was given, however that was cut and wherever the
 * payload went.
 */
#include "fnet/wire.h"

#include "../failmalloc.h"
#include "../golden.h"
#include "../tap.h"

#define GOLDEN "tests/golden/wire/"

/* All bytes in, all bytes out again: messages encoded anew, payloads as they came. */
struct run {
    struct fnet_decoder *d;
    struct fnet_span stream;
    size_t fed;
    uint8_t *out;
    size_t out_len;
    unsigned messages;
    enum fnet_err err; /* why there is no next message */
};

static struct fnet_span all_frames(void)
{
    static const char *const files[] = {GOLDEN "flink-2.3.txt", GOLDEN "extension.txt"};
    uint8_t *bytes = malloc(1 << 16);
    size_t len = 0;

    for (size_t i = 0; i < 2; i++) {
        struct golden g = golden_open(files[i]);
        while (golden_next(&g)) {
            memcpy(bytes + len, g.bytes, g.len);
            len += g.len;
        }
    }
    return fnet_span_of(bytes, len);
}

static void free_span(struct fnet_span span)
{
    free((void *)(uintptr_t)span.ptr);
}

static void run_begin(struct run *r, struct fnet_span stream, size_t staging)
{
    *r = (struct run){.stream = stream, .out = malloc(stream.len + 1)};
    CHECK_INT(fnet_decoder_new(fnet_dialect_newest(), staging, &r->d), FNET_OK);
}

static void run_end(struct run *r)
{
    fnet_decoder_free(r->d);
    free(r->out);
}

static void append(struct run *r, struct fnet_span bytes)
{
    if (CHECK(bytes.len <= r->stream.len - r->out_len)) {
        memcpy(r->out + r->out_len, bytes.ptr, bytes.len);
        r->out_len += bytes.len;
    }
}

/* Take all that is there. */
static void drain(struct run *r)
{
    for (;;) {
        struct fnet_span payload = fnet_decoder_payload(r->d);
        append(r, payload);
        fnet_decoder_take(r->d, payload.len);

        struct fnet_message m;
        r->err = fnet_decoder_next(r->d, &m);
        CHECK(r->err != FNET_OK || fnet_decoder_offset(r->d) == r->out_len);
        if (r->err != FNET_OK)
            break;
        struct fnet_writer w = fnet_writer_of(r->out + r->out_len, r->stream.len - r->out_len);
        CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &m, &w), FNET_OK);
        r->out_len = (size_t)(w.pos - r->out);
        r->messages++;
    }
    if (r->err == FNET_AGAIN)
        CHECK_INT(fnet_decoder_is_mid_frame(r->d),
                  r->out_len < r->fed || fnet_decoder_payload_left(r->d) > 0);
}

/* Feed up to N more bytes, past the staging space where that is possible and IS_BYPASSED. */
static void feed(struct run *r, size_t n, bool is_bypassed)
{
    size_t left = r->stream.len - r->fed;
    size_t due = fnet_decoder_payload_left(r->d);
    const uint8_t *from = r->stream.ptr + r->fed;

    n = n < left ? n : left;
    if (is_bypassed && due > 0) {
        n = n < due ? n : due;
        append(r, fnet_span_of(from, n));
        fnet_decoder_skip_ahead(r->d, n);
    } else {
        uint8_t *space;
        size_t room;
        fnet_decoder_space(r->d, &space, &room);
        CHECK(room > 0);
        n = n < room ? n : room;
        memcpy(space, from, n);
        fnet_decoder_commit(r->d, n);
    }
    r->fed += n;
    drain(r);
}

static void check_same(const struct run *r, unsigned messages)
{
    CHECK_INT(r->err, FNET_AGAIN);
    CHECK_INT(r->messages, messages);
    if (CHECK_INT(r->out_len, r->stream.len))
        CHECK_MEM(r->out, r->stream.ptr, r->stream.len);
    CHECK(!fnet_decoder_is_mid_frame(r->d));
}

static unsigned count_frames(struct fnet_span stream)
{
    unsigned n = 0;

    for (size_t at = 0; at < stream.len; at += fnet_load_be32(stream.ptr + at))
        n++;
    return n;
}

static void test_cuts(void)
{
    struct fnet_span stream = all_frames();
    unsigned messages = count_frames(stream);
    struct run r;

    CASE("pieces of every size, through the staging space and past it");
    for (size_t piece = 1; piece <= 200; piece++)
        for (int is_bypassed = 0; is_bypassed < 2; is_bypassed++) {
            run_begin(&r, stream, piece % 2 ? 0 : 1500);
            while (r.fed < stream.len)
                feed(&r, piece, is_bypassed);
            check_same(&r, messages);
            run_end(&r);
        }

    CASE("two pieces, cut at every byte");
    for (size_t cut = 0; cut <= stream.len; cut++) {
        run_begin(&r, stream, 8192);
        feed(&r, cut, false);
        while (r.fed < stream.len)
            feed(&r, stream.len, cut % 2);
        check_same(&r, messages);
        run_end(&r);
    }
    free_span(stream);
}

static void test_cut_end(void)
{
    struct fnet_span stream = golden_load(GOLDEN "flink-2.3.txt", "BufferResponse.hello");
    struct run r;

    CASE("a stream that ends inside a frame is seen, at its end it is not");
    for (size_t len = 0; len <= stream.len; len++) {
        run_begin(&r, stream, 0);
        feed(&r, len, false);
        CHECK_INT(fnet_decoder_is_mid_frame(r.d), len > 0 && len < stream.len);
        CHECK_INT(fnet_decoder_offset(r.d), len == stream.len ? stream.len : 0);
        run_end(&r);
    }
    free_span(stream);
}

/* An ErrorResponse of LEN bytes without receiver. */
static struct fnet_span long_error(size_t len)
{
    uint8_t *bytes = calloc(1, len);

    fnet_store_be32(bytes, (uint32_t)len);
    fnet_store_be32(bytes + 4, FNET_MAGIC);
    bytes[8] = FNET_ERROR_RESPONSE;
    return fnet_span_of(bytes, len);
}

static void test_long_messages(void)
{
    struct run r;
    uint8_t *space;
    size_t room;

    CASE("the longest message fits, and the space that grew for it shrinks again");
    struct fnet_span stream = long_error(FNET_MESSAGE_MAX_BYTES);
    run_begin(&r, stream, 4096);
    while (r.fed < stream.len)
        feed(&r, 10000, false);
    check_same(&r, 1);
    fnet_decoder_space(r.d, &space, &room);
    CHECK_INT(room, 4096);
    run_end(&r);
    free_span(stream);

    CASE("a header that promises much takes no more than the limit");
    stream = long_error(FNET_MESSAGE_MAX_BYTES);
    run_begin(&r, stream, 4096);
    feed(&r, 9, false);
    fnet_decoder_space(r.d, &space, &room);
    CHECK_INT(room, FNET_MESSAGE_MAX_BYTES - 9);
    run_end(&r);
    free_span(stream);
}

static void test_space(void)
{
    struct fnet_span hello = golden_load(GOLDEN "flink-2.3.txt", "BufferResponse.hello");
    struct fnet_span credit = golden_load(GOLDEN "flink-2.3.txt", "AddCredit");
    struct fnet_message m;
    struct fnet_decoder *d;
    uint8_t *space;
    uint8_t *first;
    size_t room;

    CASE("when nothing is left the whole space is there again");
    CHECK_INT(fnet_decoder_new(fnet_dialect_newest(), 2048, &d), FNET_OK);
    fnet_decoder_space(d, &first, &room);
    CHECK_INT(room, 2048);
    for (unsigned i = 0; i < 100; i++) {
        fnet_decoder_space(d, &space, &room);
        CHECK(space == first && room == 2048);
        memcpy(space, credit.ptr, credit.len);
        fnet_decoder_commit(d, credit.len);
        CHECK_INT(fnet_decoder_next(d, &m), FNET_OK);
        CHECK_INT(m.credit, 3);
        CHECK_INT(fnet_decoder_offset(d), i * credit.len);
        CHECK_INT(fnet_decoder_next(d, &m), FNET_AGAIN);
    }

    CASE("a payload that nobody takes stays, and there is no next message behind it");
    fnet_decoder_space(d, &space, &room);
    memcpy(space, hello.ptr, hello.len);
    memcpy(space + hello.len, credit.ptr, credit.len);
    fnet_decoder_commit(d, hello.len + credit.len);
    CHECK_INT(fnet_decoder_next(d, &m), FNET_OK);
    CHECK_INT(fnet_decoder_payload_left(d), 11);
    CHECK_INT(fnet_decoder_payload(d).len, 11);
    fnet_decoder_take(d, 4);
    CHECK_INT(fnet_decoder_next(d, &m), FNET_AGAIN);
    fnet_decoder_space(d, &space, &room);
    CHECK(room >= 2048 - hello.len - credit.len);
    CHECK_INT(fnet_decoder_payload(d).len, 7);
    CHECK_MEM(fnet_decoder_payload(d).ptr, hello.ptr + hello.len - 7, 7);
    CHECK_INT(fnet_decoder_offset(d), 100 * credit.len);
    fnet_decoder_take(d, 7);
    CHECK_INT(fnet_decoder_next(d, &m), FNET_OK);
    CHECK_INT(m.type, FNET_ADD_CREDIT);

    CASE("of a message that is cut only what there is of it is kept");
    fnet_decoder_space(d, &space, &room);
    memset(space, 0, room);
    memcpy(space, hello.ptr, hello.len);
    memcpy(space + hello.len, credit.ptr, 20);
    fnet_decoder_commit(d, hello.len + 20);
    CHECK_INT(fnet_decoder_next(d, &m), FNET_OK);
    fnet_decoder_take(d, 11);
    CHECK_INT(fnet_decoder_next(d, &m), FNET_AGAIN);
    fnet_decoder_space(d, &space, &room);
    CHECK_INT(room, 2048 - 20);
    memcpy(space, credit.ptr + 20, credit.len - 20);
    fnet_decoder_commit(d, credit.len - 20);
    CHECK_INT(fnet_decoder_next(d, &m), FNET_OK);
    fnet_decoder_free(d);
    free_span(hello);
    free_span(credit);
}

static void test_death(void)
{
    struct golden g = golden_open(GOLDEN "bad.txt");
    struct fnet_span hello = golden_load(GOLDEN "flink-2.3.txt", "BufferResponse.hello");

    while (golden_next(&g)) {
        struct fnet_decoder *d;
        struct fnet_message m;
        uint8_t *space;
        size_t room;
        size_t used;
        CASE(g.name);
        enum fnet_err err = fnet_message_decode(fnet_dialect_newest(), golden_span(&g), &used, &m);
        CHECK_INT(fnet_decoder_new(fnet_dialect_newest(), 4096, &d), FNET_OK);
        fnet_decoder_space(d, &space, &room);
        memcpy(space, hello.ptr, hello.len);
        memcpy(space + hello.len, g.bytes, g.len);
        fnet_decoder_commit(d, hello.len + g.len);
        CHECK_INT(fnet_decoder_next(d, &m), FNET_OK);
        fnet_decoder_take(d, 11);
        CHECK_INT(fnet_decoder_next(d, &m), err);
        CHECK_INT(fnet_decoder_next(d, &m), err);
        CHECK_INT(fnet_decoder_offset(d), hello.len);
        fnet_decoder_space(d, &space, &room);
        CHECK_INT(room, 0);
        fnet_decoder_free(d);
    }
    free_span(hello);
}

static void test_memory(void)
{
    struct fnet_span stream = long_error(20000);
    unsigned n = 0;

    CASE("an allocation that fails is an error, nothing else");
    do {
        struct fnet_decoder *d = NULL;
        struct fnet_message m;
        uint8_t *space;
        size_t room;
        failmalloc_arm(++n);
        enum fnet_err err = fnet_decoder_new(fnet_dialect_newest(), 1024, &d);
        for (size_t fed = 0; err == FNET_OK && fed < stream.len;) {
            fnet_decoder_space(d, &space, &room);
            room = room < stream.len - fed ? room : stream.len - fed;
            memcpy(space, stream.ptr + fed, room);
            fnet_decoder_commit(d, room);
            fed += room;
            err = fnet_decoder_next(d, &m);
            if (err == FNET_AGAIN && fed < stream.len)
                err = FNET_OK;
        }
        if (d && err == FNET_OK)
            fnet_decoder_space(d, &space, &room);
        bool did_fail = failmalloc_disarm();
        /* The last allocation makes the space small again, which need not be. */
        CHECK(err == FNET_OK || (did_fail && err == FNET_NOMEM));
        CHECK(!d || err == FNET_OK || fnet_decoder_next(d, &m) == FNET_NOMEM);
        fnet_decoder_free(d);
        if (!did_fail)
            break;
    } while (n < 100);
    CHECK(n < 100);
    free_span(stream);
    fnet_decoder_free(NULL);
}

int main(void)
{
    test_cuts();
    test_cut_end();
    test_long_messages();
    test_space();
    test_death();
    test_memory();
    return tap_done();
}
