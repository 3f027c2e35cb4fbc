/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records in every format, found however the input grows, and framed again.
 */
#include <stdlib.h>

#include "fnet/record.h"

#include "../tap.h"
#include "guarded.h"

static struct fnet_delimiter delimiter_of(enum fnet_record_format format, size_t record_bytes)
{
    struct fnet_delimiter d;

    fnet_delimiter_init(&d, &(struct fnet_delimiter_config){
                                .format = format, .delimiter = '\n', .record_bytes = record_bytes});
    return d;
}

static void test_every_size_and_alignment(void)
{
    enum { ROOM = 2048 };
    struct guarded g = guarded_new(ROOM);
    /* Bytes that a sloppy comparison takes for a newline. */
    static const uint8_t near[] = {'\n' - 1, '\n' + 1, '\n' | 0x80, 0, 0xff};

    CASE("records of every size at every alignment, up to the last byte that may be read");
    for (size_t size = 0; size <= 300; size++)
        for (size_t tail = 0; tail < 64; tail++) {
            struct fnet_delimiter d = delimiter_of(FNET_FORMAT_LINES, 0);
            struct fnet_span r[4];
            size_t count = 0;
            size_t used = 0;
            uint8_t *input = g.end - tail - 1 - size;
            memset(input, near[size % sizeof near], size);
            input[size] = '\n';
            memset(input + size + 1, near[tail % sizeof near], tail);
            struct fnet_span span = fnet_span_of(input, size + 1 + tail);
            CHECK_INT(fnet_delimiter_find(&d, span, false, r, 4, &count, &used), FNET_OK);
            CHECK(count == 1 && used == size + 1 && r[0].ptr == input && r[0].len == size);
            CHECK_INT(d.searched, tail);

            d = delimiter_of(FNET_FORMAT_LINES, 0);
            CHECK_INT(fnet_delimiter_find(&d, span, true, r, 4, &count, &used), FNET_OK);
            CHECK_INT(count, tail ? 2 : 1);
            CHECK_INT(used, span.len);
            if (tail)
                CHECK(r[1].ptr == input + size + 1 && r[1].len == tail);
        }
    guarded_free(&g);
}

/* What find must yield, byte by byte; returns the number of records. */
static size_t model(const uint8_t *in, size_t len, uint8_t delimiter, struct fnet_span *records)
{
    size_t n = 0;
    size_t start = 0;

    for (size_t i = 0; i < len; i++)
        if (in[i] == delimiter) {
            records[n++] = fnet_span_of(in + start, i - start);
            start = i + 1;
        }
    if (start < len)
        records[n++] = fnet_span_of(in + start, len - start);
    return n;
}

/* Find all records of IN while it grows by random pieces, MAX at a time. */
static size_t find_growing(struct fnet_delimiter *d, const uint8_t *in, size_t len, size_t max,
                           uint64_t *random, struct fnet_span *records)
{
    size_t n = 0;
    size_t pos = 0;
    size_t known = 0;

    for (;;) {
        size_t count = 0;
        size_t used = 0;
        struct fnet_span span = fnet_span_of(in + pos, known - pos);
        bool is_end = known == len;
        enum fnet_err err = fnet_delimiter_find(d, span, is_end, records + n, max, &count, &used);
        if (err == FNET_OK) {
            CHECK(count > 0 && count <= max && used <= span.len);
            n += count;
            pos += used;
        } else if (err == FNET_AGAIN && !is_end) {
            known += 1 + next_random(random) % 100;
            known = known < len ? known : len;
        } else {
            CHECK_INT(err, FNET_EOF);
            CHECK_INT(pos, len);
            return n;
        }
    }
}

static void test_random_input(void)
{
    enum { LEN = 4000 };
    static uint8_t in[LEN];
    static struct fnet_span expected[LEN + 1];
    static struct fnet_span found[LEN + 64];
    uint64_t random = 88172645463325252u;

    CASE(
        "the records are those of a plain loop, however the input grows and however few are asked");
    for (int round = 0; round < 400; round++) {
        size_t len = next_random(&random) % LEN;
        uint64_t sparse = 1 + next_random(&random) % 200;
        bool is_nul = round % 2;
        uint8_t delimiter = is_nul ? 0 : '\n';
        for (size_t i = 0; i < len; i++)
            in[i] =
                next_random(&random) % sparse ? (uint8_t)(next_random(&random) % 16) : delimiter;
        struct fnet_delimiter d = delimiter_of(is_nul ? FNET_FORMAT_NUL : FNET_FORMAT_LINES, 0);
        size_t max = 1 + next_random(&random) % 64;
        size_t n = find_growing(&d, in, len, max, &random, found);
        CHECK_INT(n, model(in, len, delimiter, expected));
        for (size_t i = 0; i < n; i++)
            CHECK(found[i].ptr == expected[i].ptr && found[i].len == expected[i].len);
    }
}

static void test_delimited(void)
{
    struct fnet_span r[8];
    size_t count = 77;
    size_t used = 77;
    struct fnet_delimiter d = delimiter_of(FNET_FORMAT_LINES, 0);

    CASE("nothing yet is FNET_AGAIN, nothing ever is FNET_EOF, and outputs stay");
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("", 0), false, r, 8, &count, &used), FNET_AGAIN);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("", 0), true, r, 8, &count, &used), FNET_EOF);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("ab", 2), false, r, 8, &count, &used),
              FNET_AGAIN);
    CHECK(count == 77 && used == 77);
    CHECK_INT(d.searched, 2);

    CASE("empty records count, NUL bytes are ordinary, the unterminated last record is one");
    d = delimiter_of(FNET_FORMAT_LINES, 0);
    CHECK_INT(
        fnet_delimiter_find(&d, fnet_span_of("\n\na\0b\nlast", 10), true, r, 8, &count, &used),
        FNET_OK);
    CHECK_INT(count, 4);
    CHECK_INT(used, 10);
    CHECK(r[0].len == 0 && r[1].len == 0 && r[2].len == 3 && r[3].len == 4);
    CHECK_MEM(r[2].ptr, "a\0b", 3);
    CHECK_MEM(r[3].ptr, "last", 4);

    CASE("a carriage return is a delimiter like any other, and part of the record otherwise");
    d = delimiter_of(FNET_FORMAT_LINES, 0);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("a\r\nb\r", 5), true, r, 8, &count, &used),
              FNET_OK);
    CHECK(count == 2 && r[0].len == 2 && r[1].len == 2);
    d.config.delimiter = '\r';
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("a\r\nb\r", 5), true, r, 8, &count, &used),
              FNET_OK);
    CHECK(count == 2 && r[0].len == 1 && r[1].len == 2);

    CASE("the last record waits when there is no place for it");
    d = delimiter_of(FNET_FORMAT_LINES, 0);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("a\nb", 3), true, r, 1, &count, &used), FNET_OK);
    CHECK(count == 1 && used == 2);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("b", 1), true, r, 1, &count, &used), FNET_OK);
    CHECK(count == 1 && used == 1 && r[0].len == 1);
}

/* What was searched lies where nothing may be read, so that reading it again ends the program. */
static void test_long_records(void)
{
    const size_t most = FNET_RECORD_MAX_BYTES;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t map_len = (most / page + 3) * page;
    uint8_t *map =
        mmap(NULL, map_len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct fnet_span r[2];
    size_t count;
    size_t used;

    if (!CHECK(map != MAP_FAILED))
        return;
    uint8_t *fresh = map + map_len - 2 * page;
    CHECK_INT(mprotect(fresh, 2 * page, PROT_READ | PROT_WRITE), 0);
    memset(fresh, 'x', 2 * page);

    CASE("bytes that were searched are not read again while a record grows");
    struct fnet_delimiter d = delimiter_of(FNET_FORMAT_LINES, 0);
    uint8_t *input = fresh - 100 * page;
    d.searched = 100 * page;
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of(input, 101 * page), false, r, 2, &count, &used),
              FNET_AGAIN);
    CHECK_INT(d.searched, 101 * page);
    CHECK_INT(mprotect(fresh, page, PROT_NONE), 0);
    fresh[page + 70] = '\n';
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of(input, 102 * page), false, r, 2, &count, &used),
              FNET_OK);
    CHECK(count == 1 && r[0].len == 101 * page + 70 && used == r[0].len + 1);
    CHECK_INT(d.searched, page - 71);

    CASE("the longest record is found, with and without its delimiter");
    input = fresh + page + 70 - most;
    d = delimiter_of(FNET_FORMAT_LINES, 0);
    d.searched = most - 70;
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of(input, most + 1), false, r, 2, &count, &used),
              FNET_OK);
    CHECK(count == 1 && r[0].len == most);
    d = delimiter_of(FNET_FORMAT_LINES, 0);
    d.searched = most - 70;
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of(input, most), false, r, 2, &count, &used),
              FNET_AGAIN);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of(input, most), true, r, 2, &count, &used),
              FNET_OK);
    CHECK(count == 1 && r[0].len == most);

    CASE("one byte more is too long, terminated or not");
    input = fresh + page + 70 - most - 1;
    for (size_t len = most + 1; len <= most + 2; len++) {
        d = delimiter_of(FNET_FORMAT_LINES, 0);
        d.searched = most - 69;
        CHECK_INT(fnet_delimiter_find(&d, fnet_span_of(input, len), false, r, 2, &count, &used),
                  FNET_BAD_LENGTH);
        CHECK_INT(fnet_delimiter_find(&d, fnet_span_of(input, len), true, r, 2, &count, &used),
                  FNET_BAD_LENGTH);
    }
    munmap(map, map_len);
}

static void test_fixed(void)
{
    struct fnet_span r[8];
    size_t count;
    size_t used;
    struct fnet_delimiter d = delimiter_of(FNET_FORMAT_FIXED, 3);

    CASE("records of fixed length: whole ones only, a rest at the end is FNET_TRUNCATED");
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("ab", 2), false, r, 8, &count, &used),
              FNET_AGAIN);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("abcd\nfg", 7), true, r, 8, &count, &used),
              FNET_OK);
    CHECK(count == 2 && used == 6 && r[1].len == 3);
    CHECK_MEM(r[1].ptr, "d\nf", 3);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("g", 1), true, r, 8, &count, &used),
              FNET_TRUNCATED);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("", 0), true, r, 8, &count, &used), FNET_EOF);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("abcdef", 6), true, r, 1, &count, &used),
              FNET_OK);
    CHECK(count == 1 && used == 3);

    CASE("a fixed length that no record can have is FNET_BAD_LENGTH");
    d = delimiter_of(FNET_FORMAT_FIXED, (size_t)FNET_RECORD_MAX_BYTES + 1);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("abc", 3), false, r, 8, &count, &used),
              FNET_BAD_LENGTH);
}

static void test_u32(void)
{
    static const uint8_t in[] = {0, 0, 0, 2, 'a', 'b', 0, 0, 0, 0, 0, 0, 0, 1, '\n'};
    struct fnet_span r[8];
    size_t count = 0;
    size_t used = 0;

    CASE("length-prefixed records, cut at every byte: whole ones, then wait or FNET_TRUNCATED");
    for (size_t len = 1; len <= sizeof in; len++)
        for (int is_end = 0; is_end < 2; is_end++) {
            static const size_t ends[] = {6, 10, 15};
            struct fnet_delimiter d = delimiter_of(FNET_FORMAT_U32, 0);
            size_t whole = 0;
            while (whole < 3 && ends[whole] <= len)
                whole++;
            enum fnet_err err =
                fnet_delimiter_find(&d, fnet_span_of(in, len), is_end, r, 8, &count, &used);
            if (whole > 0) {
                CHECK_INT(err, FNET_OK);
                CHECK(count == whole && used == ends[whole - 1]);
            } else {
                CHECK_INT(err, is_end ? FNET_TRUNCATED : FNET_AGAIN);
            }
        }
    CHECK(r[0].ptr == in + 4 && r[0].len == 2 && r[1].len == 0 && r[2].len == 1);

    CASE("a length above the limit is FNET_BAD_LENGTH, after the records before it");
    static const uint8_t bad[] = {0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xf8};
    struct fnet_delimiter d = delimiter_of(FNET_FORMAT_U32, 0);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of(bad, 8), false, r, 8, &count, &used), FNET_OK);
    CHECK(count == 1 && used == 4);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of(bad + 4, 4), false, r, 8, &count, &used),
              FNET_BAD_LENGTH);
}

static void test_bytes(void)
{
    struct fnet_span r[8];
    size_t count;
    size_t used;
    struct fnet_delimiter d = delimiter_of(FNET_FORMAT_BYTES, 4);

    CASE("bytes are cut into chunks of one length");
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("abcdefghi", 9), false, r, 8, &count, &used),
              FNET_OK);
    CHECK(count == 2 && used == 8 && r[0].len == 4 && r[1].len == 4);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("i", 1), false, r, 8, &count, &used),
              FNET_AGAIN);

    CASE("... but the last before an end, or a pause");
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("abcdefghi", 9), true, r, 8, &count, &used),
              FNET_OK);
    CHECK(count == 3 && used == 9 && r[2].len == 1);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("abcdefghi", 9), true, r, 2, &count, &used),
              FNET_OK);
    CHECK(count == 2 && used == 8);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("", 0), false, r, 8, &count, &used), FNET_AGAIN);
    CHECK_INT(fnet_delimiter_find(&d, fnet_span_of("", 0), true, r, 8, &count, &used), FNET_EOF);
}

static void test_frame(void)
{
    static const struct fnet_span two[] = {{.ptr = (const uint8_t *)"ab", .len = 2},
                                           {.ptr = (const uint8_t *)"cd", .len = 2}};
    static const struct {
        enum fnet_record_format format;
        const char *bytes;
        size_t len;
    } expected[] = {
        {FNET_FORMAT_LINES, "ab\ncd\n", 6}, {FNET_FORMAT_NUL, "ab\0cd\0", 6},
        {FNET_FORMAT_FIXED, "abcd", 4},     {FNET_FORMAT_U32, "\0\0\0\2ab\0\0\0\2cd", 12},
        {FNET_FORMAT_BYTES, "abcd", 4},
    };
    uint8_t out[64];

    CASE("each format frames as it is read, exactly into the bytes it announced");
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct fnet_delimiter_config config = delimiter_of(expected[i].format, 2).config;
        size_t len = expected[i].len;
        CHECK_INT(fnet_delimiter_framed_bytes(&config, two, 2), len);
        struct fnet_writer w = fnet_writer_of(out, len);
        CHECK_INT(fnet_delimiter_frame(&config, two, 2, &w), FNET_OK);
        CHECK(w.pos == out + len);
        CHECK_MEM(out, expected[i].bytes, len);

        out[0] = 'u';
        w = fnet_writer_of(out, len - 1);
        CHECK_INT(fnet_delimiter_frame(&config, two, 2, &w), FNET_RANGE);
        CHECK(w.pos == out && out[0] == 'u' && !w.failed);
        CHECK_INT(fnet_delimiter_frame(&config, NULL, 0, &w), FNET_OK);
        CHECK(w.pos == out);
    }

    CASE("a record of another length does not fit the fixed format");
    struct fnet_delimiter_config config = delimiter_of(FNET_FORMAT_FIXED, 3).config;
    struct fnet_writer w = fnet_writer_of(out, sizeof out);
    CHECK_INT(fnet_delimiter_frame(&config, two, 2, &w), FNET_RANGE);
    CHECK(w.pos == out);
}

static void test_frame_of_wire(void)
{
    enum { N = 301, BYTES = N * N / 2 + 8 * N };
    static struct fnet_span records[N];
    struct guarded in = guarded_new(BYTES);
    struct guarded out = guarded_new(BYTES);
    struct fnet_delimiter_config config = FNET_DELIMITER_CONFIG_INIT;

    CASE(
        "records of every size are framed out of a buffer, in order or not, with no byte of slack");
    for (size_t first = 0; first < N; first += 43)
        for (int is_reversed = 0; is_reversed < 2; is_reversed++) {
            uint8_t *at = in.end;
            size_t n = N - first;
            for (size_t i = n; i-- > 0; at -= 4) {
                size_t size = (i * 29 + first) % N;
                at -= size;
                memset(at, (int)('A' + i % 26), size);
                records[is_reversed ? n - 1 - i : i] = fnet_span_of(at, size);
            }
            size_t len = fnet_delimiter_framed_bytes(&config, records, n);
            struct fnet_writer w = fnet_writer_of(out.end - len, len);
            CHECK_INT(fnet_delimiter_frame(&config, records, n, &w), FNET_OK);
            CHECK(w.pos == out.end);
            at = out.end - len;
            for (size_t i = 0; i < n; at += records[i++].len + 1) {
                CHECK_MEM(at, records[i].ptr, records[i].len);
                CHECK_INT(at[records[i].len], '\n');
            }
        }
    guarded_free(&in);
    guarded_free(&out);
}

int main(void)
{
    test_every_size_and_alignment();
    test_random_input();
    test_delimited();
    test_long_records();
    test_fixed();
    test_u32();
    test_bytes();
    test_frame();
    test_frame_of_wire();
    return tap_done();
}
