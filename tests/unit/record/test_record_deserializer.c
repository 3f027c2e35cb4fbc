/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records out of buffers that are cut anywhere.
 */
#include <errno.h>
#include <stdlib.h>

#include "fnet/record.h"

#include "../failmalloc.h"
#include "../tap.h"
#include "guarded.h"

/* Where the records of a test are collected: count, and every length and body in one string. */
struct sink {
    uint8_t *bytes;
    size_t len;
    size_t capacity;
    size_t count;
};

static void sink_add(struct sink *sink, struct fnet_span record)
{
    while (sink->len + 4 + record.len > sink->capacity) {
        sink->capacity = 2 * sink->capacity + 64;
        sink->bytes = realloc(sink->bytes, sink->capacity);
        if (!sink->bytes)
            abort();
    }
    fnet_store_be32(sink->bytes + sink->len, (uint32_t)record.len);
    if (record.len)
        memcpy(sink->bytes + sink->len + 4, record.ptr, record.len);
    sink->len += 4 + record.len;
    sink->count++;
}

/* Feed one buffer and collect its records; returns why next() stopped, FNET_AGAIN normally. */
static enum fnet_err feed(struct fnet_record_deserializer *d, const uint8_t *ptr, size_t len,
                          size_t max, struct sink *sink)
{
    struct fnet_span records[64];
    size_t count = 0;
    enum fnet_err err;

    fnet_record_deserializer_feed(d, fnet_span_of(ptr, len));
    while ((err = fnet_record_deserializer_next(d, records, max, &count)) == FNET_OK) {
        CHECK(count > 0 && count <= max);
        CHECK(fnet_records_are_adjacent(records, count));
        for (size_t i = 0; i < count; i++)
            sink_add(sink, records[i]);
    }
    return err;
}

/* Records of sizes FIRST, FIRST + STEP ... behind their lengths. */
static size_t make_stream(uint8_t *out, size_t n, size_t first, size_t step)
{
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        size_t size = first + i * step;
        fnet_store_be32(out + len, (uint32_t)size);
        for (size_t k = 0; k < size; k++)
            out[len + 4 + k] = (uint8_t)(i + 7 * k);
        len += 4 + size;
    }
    return len;
}

static void test_cuts(void)
{
    uint8_t stream[256];
    size_t len = make_stream(stream, 6, 0, 7);

    CASE("split at every pair of bytes the records equal those of one piece");
    for (size_t max = 1; max <= 64; max += 63)
        for (size_t a = 0; a <= len; a++)
            for (size_t b = a; b <= len; b++) {
                struct fnet_record_deserializer d;
                struct sink sink = {.len = 0};
                fnet_record_deserializer_init(&d, NULL);
                CHECK_INT(feed(&d, stream, a, max, &sink), FNET_AGAIN);
                CHECK_INT(feed(&d, stream + a, b - a, max, &sink), FNET_AGAIN);
                CHECK_INT(feed(&d, stream + b, len - b, max, &sink), FNET_AGAIN);
                CHECK_INT(sink.count, 6);
                CHECK_INT(sink.len, len);
                CHECK_MEM(sink.bytes, stream, len);
                CHECK(!fnet_record_deserializer_is_mid_record(&d));
                fnet_record_deserializer_clear(&d);
                free(sink.bytes);
            }

    CASE("a stream may end only at a record's end");
    for (size_t cut = 0; cut <= len; cut++) {
        struct fnet_record_deserializer d;
        struct sink sink = {.len = 0};
        fnet_record_deserializer_init(&d, NULL);
        CHECK_INT(feed(&d, stream, cut, 64, &sink), FNET_AGAIN);
        CHECK_INT(fnet_record_deserializer_is_mid_record(&d), sink.len != cut);
        fnet_record_deserializer_clear(&d);
        free(sink.bytes);
    }
}

static void test_sizes(void)
{
    enum { N = 301, BYTES = N * N / 2 + 8 * N };
    struct guarded g = guarded_new(BYTES);
    uint8_t *stream = malloc(BYTES);
    size_t len = make_stream(stream, N, 0, 1);

    CASE("records of every size come out of buffers of every size, whatever lies behind them");
    for (size_t size = 1; size < 700; size += size < 20 ? 1 : 37) {
        struct fnet_record_deserializer d;
        struct sink sink = {.len = 0};
        fnet_record_deserializer_init(&d, NULL);
        for (size_t at = 0; at < len; at += size) {
            size_t piece = len - at < size ? len - at : size;
            memcpy(g.end - piece, stream + at, piece);
            CHECK_INT(feed(&d, g.end - piece, piece, 64, &sink), FNET_AGAIN);
        }
        CHECK_INT(sink.count, N);
        CHECK_INT(sink.len, len);
        CHECK_MEM(sink.bytes, stream, len);
        fnet_record_deserializer_clear(&d);
        free(sink.bytes);
    }
    free(stream);
    guarded_free(&g);
}

static void test_borrowing(void)
{
    static const uint8_t stream[] = {0, 0, 0, 2, 'a', 'b', 0, 0, 0, 3, 'c', 'd', 'e'};
    struct fnet_record_deserializer d;
    struct fnet_span record;
    size_t count;

    CASE("a record inside a buffer is not copied, even if its length was cut");
    fnet_record_deserializer_init(&d, NULL);
    fnet_record_deserializer_feed(&d, fnet_span_of(stream, 8));
    CHECK_INT(fnet_record_deserializer_next(&d, &record, 1, &count), FNET_OK);
    CHECK(record.ptr == stream + 4 && record.len == 2);
    CHECK(fnet_record_deserializer_is_mid_record(&d));
    CHECK_INT(fnet_record_deserializer_next(&d, &record, 1, &count), FNET_AGAIN);
    CHECK(record.ptr == stream + 4);
    fnet_record_deserializer_feed(&d, fnet_span_of(stream + 8, 5));
    CHECK_INT(fnet_record_deserializer_next(&d, &record, 1, &count), FNET_OK);
    CHECK(record.ptr == stream + 10 && record.len == 3);
    CHECK(!fnet_record_deserializer_is_mid_record(&d));
    CHECK_INT(fnet_record_deserializer_next(&d, &record, 1, &count), FNET_AGAIN);
    fnet_record_deserializer_clear(&d);
}

static void test_huge(void)
{
    enum { LEN = 3 * FNET_SPILL_THRESHOLD_BYTES + 1, BUFFER = 32 << 10 };
    uint8_t *stream = malloc(4 + LEN + 6);
    size_t len = 4 + LEN + 6;
    struct fnet_record_deserializer d;
    struct sink sink = {.len = 0};

    CASE("a record larger than the threshold is assembled in a file, and the next one follows");
    fnet_store_be32(stream, LEN);
    for (size_t i = 0; i < LEN; i++)
        stream[4 + i] = (uint8_t)(i >> 10);
    memcpy(stream + 4 + LEN, "\0\0\0\2ok", 6);
    fnet_record_deserializer_init(&d, NULL);
    bool was_spilled = false;
    for (size_t at = 0; at < len; at += BUFFER) {
        size_t piece = len - at < BUFFER ? len - at : BUFFER;
        CHECK_INT(feed(&d, stream + at, piece, 64, &sink), FNET_AGAIN);
        was_spilled |= d.record.is_spilled;
    }
    CHECK(was_spilled);
    CHECK(!d.record.is_spilled);
    CHECK_INT(sink.len, len);
    CHECK_MEM(sink.bytes, stream, len);
    fnet_record_deserializer_clear(&d);
    free(sink.bytes);
    free(stream);
}

static void test_bad_lengths(void)
{
    static const uint8_t bad[][4] = {
        {0xff, 0xff, 0xff, 0xff}, {0x80, 0, 0, 0}, {0x7f, 0xff, 0xff, 0xf8}};

    CASE("a negative or too large length is found, also when it is cut, after what came before");
    for (size_t i = 0; i < 3; i++)
        for (size_t cut = 0; cut <= 9; cut++) {
            struct fnet_record_deserializer d;
            struct sink sink = {.len = 0};
            uint8_t stream[9] = {0, 0, 0, 1, 'x'};
            memcpy(stream + 5, bad[i], 4);
            fnet_record_deserializer_init(&d, NULL);
            enum fnet_err err = feed(&d, stream, cut, 64, &sink);
            CHECK_INT(err, cut == 9 ? FNET_BAD_LENGTH : FNET_AGAIN);
            if (err == FNET_AGAIN)
                CHECK_INT(feed(&d, stream + cut, 9 - cut, 64, &sink), FNET_BAD_LENGTH);
            CHECK_INT(sink.count, 1);
            fnet_record_deserializer_clear(&d);
            free(sink.bytes);
        }

    CASE("the longest length is legal, and reserves nothing before its bytes are there");
    struct fnet_record_deserializer d;
    struct sink sink = {.len = 0};
    fnet_record_deserializer_init(&d, NULL);
    CHECK_INT(feed(&d, (const uint8_t *)"\x7f\xff\xff\xf7x", 5, 64, &sink), FNET_AGAIN);
    CHECK(fnet_record_deserializer_is_mid_record(&d));
    CHECK(d.record.capacity <= 4096);
    fnet_record_deserializer_clear(&d);
}

static void test_bad_length_in_a_large_buffer(void)
{
    const size_t len = FNET_RECORD_HEADER_BYTES + (size_t)FNET_RECORD_MAX_BYTES + 1;
    struct fnet_record_deserializer d;
    struct sink sink = {.len = 0};
    /* Nothing behind the length is looked at. */
    uint8_t *map = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    CASE("a length that is too large is refused though the buffer is as large");
    if (!CHECK(map != MAP_FAILED))
        return;
    CHECK_INT(mprotect(map, FNET_RECORD_HEADER_BYTES, PROT_READ | PROT_WRITE), 0);
    fnet_store_be32(map, (uint32_t)FNET_RECORD_MAX_BYTES + 1);
    fnet_record_deserializer_init(&d, NULL);
    CHECK_INT(feed(&d, map, len, 64, &sink), FNET_BAD_LENGTH);
    CHECK_INT(sink.count, 0);
    fnet_record_deserializer_clear(&d);
    munmap(map, len);
}

static void test_failures(void)
{
    uint8_t stream[2000];
    size_t len = make_stream(stream, 1, 1900, 0);

    CASE("an allocation that fails is FNET_NOMEM and leaks nothing");
    unsigned n = 0;
    do {
        struct fnet_record_deserializer d;
        struct sink sink = {.len = 0};
        fnet_record_deserializer_init(&d, NULL);
        failmalloc_arm(++n);
        enum fnet_err err = feed(&d, stream, 100, 64, &sink);
        bool did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_AGAIN);
        if (!did_fail)
            CHECK_INT(feed(&d, stream + 100, len - 100, 64, &sink), FNET_AGAIN);
        CHECK_INT(sink.count, did_fail ? 0 : 1);
        fnet_record_deserializer_clear(&d);
        free(sink.bytes);
        if (!did_fail)
            break;
    } while (n < 10);

    CASE("a directory that is not there is FNET_SYSTEM once a record needs it");
    static uint8_t zeros[FNET_SPILL_THRESHOLD_BYTES + 1];
    struct fnet_record_deserializer d;
    struct sink sink = {.len = 0};
    fnet_record_deserializer_init(&d, "/nonexistent/directory");
    CHECK_INT(feed(&d, (const uint8_t *)"\1\0\0\0", 4, 64, &sink), FNET_AGAIN);
    CHECK_INT(feed(&d, zeros, sizeof zeros, 64, &sink), FNET_SYSTEM);
    CHECK_INT(d.record.saved_errno, ENOENT);
    CHECK_INT(sink.count, 0);
    fnet_record_deserializer_clear(&d);
}

/* ---- in one pass to the output ------------------------------------------------------------- */

static const struct fnet_delimiter_config formats[] = {
    {.format = FNET_FORMAT_LINES, .delimiter = ';'},
    {.format = FNET_FORMAT_NUL},
    {.format = FNET_FORMAT_U32},
    {.format = FNET_FORMAT_BYTES},
    {.format = FNET_FORMAT_FIXED, .record_bytes = 9}};
#define FORMATS (sizeof formats / sizeof formats[0])

/* Feed one buffer; what can be framed at once goes to W, the rest one by one. Returns how many
   records went at once. */
static size_t frame(struct fnet_record_deserializer *d, const struct fnet_delimiter_config *config,
                    struct fnet_span buffer, struct fnet_writer *w)
{
    struct fnet_span record;
    size_t at_once = 0;
    size_t count = 1;

    fnet_record_deserializer_feed(d, buffer);
    while (count > 0) {
        count = fnet_record_deserializer_frame(d, config, 2, w);
        CHECK(count <= 2);
        at_once += count;
        if (count == 0 && fnet_record_deserializer_next(d, &record, 1, &count) == FNET_OK)
            CHECK_INT(fnet_delimiter_frame(config, &record, 1, w), FNET_OK);
    }
    return at_once;
}

static void test_frame(void)
{
    enum { N = 12 };
    uint8_t stream[N * 70];
    uint8_t expected[sizeof stream + N];
    struct guarded g = guarded_new(sizeof expected);

    CASE("records framed at once equal those framed one by one, in every format, cut anywhere");
    for (size_t f = 0; f < FORMATS; f++)
        for (size_t step = 0; step < 6; step += 5) {
            const bool is_fixed = formats[f].format == FNET_FORMAT_FIXED;
            size_t len = make_stream(stream, N, is_fixed ? 9 : 3, is_fixed ? 0 : step);
            struct fnet_writer whole = fnet_writer_of(expected, sizeof expected);
            struct fnet_span records[N];
            size_t count = 0;
            struct fnet_record_deserializer d;
            fnet_record_deserializer_init(&d, NULL);
            fnet_record_deserializer_feed(&d, fnet_span_of(stream, len));
            CHECK_INT(fnet_record_deserializer_next(&d, records, N, &count), FNET_OK);
            CHECK_INT(count, N);
            CHECK_INT(fnet_delimiter_frame(&formats[f], records, N, &whole), FNET_OK);
            const size_t framed = (size_t)(whole.pos - expected);
            for (size_t cut = 0; cut <= len; cut++) {
                uint8_t *out = g.end - framed; /* not a byte of room too many */
                struct fnet_writer w = fnet_writer_of(out, framed);
                size_t at_once = frame(&d, &formats[f], fnet_span_of(stream, cut), &w) +
                                 frame(&d, &formats[f], fnet_span_of(stream + cut, len - cut), &w);
                CHECK(w.pos == g.end && at_once >= N - 1);
                CHECK_MEM(out, expected, framed);
            }
            fnet_record_deserializer_clear(&d);
        }
    guarded_free(&g);
}

static size_t frame_of(const uint8_t *stream, size_t len,
                       const struct fnet_delimiter_config *config, size_t room)
{
    static uint8_t out[2 * FNET_LONG_RECORD_BYTES];
    struct fnet_writer w = fnet_writer_of(out, room);
    struct fnet_record_deserializer d;

    fnet_record_deserializer_init(&d, NULL);
    fnet_record_deserializer_feed(&d, fnet_span_of(stream, len));
    size_t n = fnet_record_deserializer_frame(&d, config, SIZE_MAX, &w);
    fnet_record_deserializer_clear(&d);
    return n;
}

static void test_frame_stops(void)
{
    static uint8_t stream[3 * FNET_LONG_RECORD_BYTES];
    static const uint8_t bad[] = {0, 0, 0, 1, 'a', 0xff, 0xff, 0xff, 0xff, 'b'};
    const struct fnet_delimiter_config fixed = {.format = FNET_FORMAT_FIXED, .record_bytes = 5};

    CASE("it stops where there is no room for the next record");
    size_t len = make_stream(stream, 4, 5, 0);
    for (size_t room = 0; room < 30; room++)
        CHECK_INT(frame_of(stream, len, &formats[0], room), room < 24 ? room / 6 : 4);

    CASE("... at one of another length than is fixed");
    CHECK_INT(frame_of(stream, len, &fixed, 100), 4);
    stream[9 + 3] = 6;
    CHECK_INT(frame_of(stream, len, &fixed, 100), 1);

    CASE("... at a long one, which need not be copied");
    len = make_stream(stream, 2, FNET_LONG_RECORD_BYTES - 1, 1);
    CHECK_INT(frame_of(stream, len, &formats[0], 2 * FNET_LONG_RECORD_BYTES), 1);

    CASE("... and at a length that is none");
    CHECK_INT(frame_of(bad, sizeof bad, &formats[0], 100), 1);
}

int main(void)
{
    test_cuts();
    test_sizes();
    test_borrowing();
    test_huge();
    test_bad_lengths();
    test_bad_length_in_a_large_buffer();
    test_failures();
    test_frame();
    test_frame_stops();
    return tap_done();
}
