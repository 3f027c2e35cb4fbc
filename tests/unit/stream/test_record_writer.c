/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record writer: records behind their lengths, cut over buffers, to one subpartition or to
 * all, and what happens when buffers run out in the middle.
 */
#include <stdlib.h>

#include "fnet/stream.h"

#include "../failmalloc.h"
#include "../partition/made_partition.h"

#define SEGMENT ((size_t)MADE_SEGMENT_BYTES)
#define STREAM_BYTES (64 * SEGMENT)

/* A stream of bytes: what should be in a subpartition, or what was. */
struct stream {
    uint8_t bytes[STREAM_BYTES];
    size_t len;
};

static void append(struct stream *s, const void *bytes, size_t len)
{
    if (CHECK(s->len + len <= sizeof s->bytes) && len > 0)
        memcpy(s->bytes + s->len, bytes, len);
    s->len += len;
}

static void append_record(struct stream *s, struct fnet_span record)
{
    uint8_t header[FNET_RECORD_HEADER_BYTES];

    fnet_store_be32(header, (uint32_t)record.len);
    append(s, header, sizeof header);
    append(s, record.ptr, record.len);
}

/* Take what VIEW has, for any credit; events end it. */
static void take_all(struct fnet_view *view, struct stream *s)
{
    struct fnet_view_item item;

    while (fnet_view_next(view, &item) == FNET_OK) {
        struct fnet_span span = fnet_buffer_span(&item.buffer);
        append(s, span.ptr, span.len);
        fnet_buffer_clear(&item.buffer);
    }
}

static void check_same(const struct stream *actual, const struct stream *expected)
{
    if (CHECK_INT(actual->len, expected->len))
        CHECK_MEM(actual->bytes, expected->bytes, expected->len);
}

/* Bytes to take records from: no two places are alike. */
static const uint8_t *body(void)
{
    static uint8_t bytes[40 * MADE_SEGMENT_BYTES];

    if (bytes[1] == 0)
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(i * 7 + i / 256);
    return bytes;
}

static struct fnet_span record_of(size_t len)
{
    return fnet_span_of(body(), len);
}

/* A target for each record; NULL: all go to all. */
static struct fnet_targets targets_of(const uint32_t *each)
{
    return (struct fnet_targets){.kind = each ? FNET_TARGETS_EACH : FNET_TARGETS_ALL, .each = each};
}

static void emit_to(struct fnet_record_writer *writer, struct fnet_records records,
                    struct fnet_targets targets)
{
    size_t done = SIZE_MAX;

    CHECK_INT(fnet_record_writer_emit(writer, &records, &targets, &done), FNET_OK);
    CHECK_INT(done, records.count);
}

static void emit(struct fnet_record_writer *writer, const struct fnet_span *records,
                 const uint32_t *each, size_t n)
{
    emit_to(writer, (struct fnet_records){.spans = records, .count = n}, targets_of(each));
}

/* A record of LEN bytes behind one that ends at START of a segment. */
static void check_cut(size_t start, size_t len)
{
    struct made_partition m;
    static struct stream expected, actual;
    const uint32_t targets[2] = {0, 0};
    const struct fnet_span records[2] = {record_of(start - FNET_RECORD_HEADER_BYTES),
                                         fnet_span_of(body() + 1000, len)};

    make_partition(&m, "main", 1, 16, 16);
    struct fnet_record_writer writer = {.partition = m.partition};
    emit(&writer, records, targets, 2);
    fnet_partition_flush(m.partition);
    expected.len = actual.len = 0;
    append_record(&expected, records[0]);
    append_record(&expected, records[1]);
    take_all(open_view(m.partition, 0), &actual);
    check_same(&actual, &expected);
    unmake_partition(&m);
}

static void test_sizes(void)
{
    CASE("records of every awkward size are whole, wherever in a segment they begin");
    for (size_t start = FNET_RECORD_HEADER_BYTES; start <= SEGMENT && tap_failures == 0; start++) {
        check_cut(start, 0);
        check_cut(start, 1);
        for (size_t len = SEGMENT - 5; len <= SEGMENT + 5; len++)
            check_cut(start, len);
        check_cut(start, 3 * SEGMENT + 1);
    }
}

static void test_targets(void)
{
    struct made_partition m;
    static struct stream expected[3], actual;
    struct fnet_span records[200];
    uint32_t targets[200];

    CASE("each record goes into its subpartition, in order");
    make_partition(&m, "main", 3, 64, 64);
    struct fnet_record_writer writer = {.partition = m.partition};
    for (uint32_t i = 0; i < 200; i++) {
        records[i] = fnet_span_of(body() + i, i % 97);
        targets[i] = i * i % 3;
        append_record(&expected[targets[i]], records[i]);
    }
    emit(&writer, records, targets, 200);
    fnet_partition_flush(m.partition);
    for (uint32_t i = 0; i < 3; i++) {
        actual.len = 0;
        take_all(open_view(m.partition, i), &actual);
        check_same(&actual, &expected[i]);
    }
    unmake_partition(&m);
}

static void test_broadcast(void)
{
    struct made_partition m;
    static struct stream expected, actual;
    const struct fnet_span records[] = {record_of(10), record_of(0), record_of(3 * SEGMENT),
                                        record_of(100)};
    const size_t n = sizeof records / sizeof *records;

    CASE("without targets every record is in every subpartition, and in memory once");
    make_partition(&m, "main", 4, 5, 1);
    struct fnet_record_writer writer = {.partition = m.partition};
    emit(&writer, records, NULL, n);
    CHECK_INT(fnet_local_pool_used(m.pool), 4);
    fnet_partition_flush(m.partition);
    for (size_t i = 0; i < n; i++)
        append_record(&expected, records[i]);
    for (uint32_t i = 0; i < 4; i++) {
        actual.len = 0;
        take_all(open_view(m.partition, i), &actual);
        check_same(&actual, &expected);
    }
    CHECK_INT(fnet_local_pool_used(m.pool), 1);
    unmake_partition(&m);
}

static void test_availability(void)
{
    struct made_partition m;
    const uint32_t target = 0;
    const struct fnet_span exact = record_of(SEGMENT - FNET_RECORD_HEADER_BYTES);
    const struct fnet_span shorter = record_of(SEGMENT - FNET_RECORD_HEADER_BYTES - 1);

    CASE("a record that fills its buffer to the last byte can be read at once");
    make_partition(&m, "main", 2, 6, 6);
    struct fnet_record_writer writer = {.partition = m.partition};
    struct fnet_view *view = open_view(m.partition, 0);
    emit(&writer, &exact, &target, 1);
    CHECK(fnet_view_is_available(view, 1));
    struct fnet_view_item item;
    CHECK_INT(fnet_view_next(view, &item), FNET_OK);
    fnet_buffer_clear(&item.buffer);
    emit(&writer, &exact, NULL, 1);
    CHECK_INT(fnet_view_next(view, &item), FNET_OK);
    fnet_buffer_clear(&item.buffer);

    CASE("one byte less, and it waits for a flush, which is wanted");
    emit(&writer, &shorter, &target, 1);
    check_nothing(view);
    CHECK(fnet_partition_wants_flush(m.partition));
    fnet_partition_flush(m.partition);
    CHECK(fnet_view_is_available(view, 1));
    unmake_partition(&m);
}

static void test_nothing(void)
{
    struct made_partition m;

    CASE("no records are no bytes");
    make_partition(&m, "main", 1, 2, 2);
    struct fnet_record_writer writer = {.partition = m.partition};
    emit(&writer, NULL, NULL, 0);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);
    unmake_partition(&m);
}

/* Emit N records with SEGMENTS in all; the reader takes what is there whenever there is no more. */
static void check_resumed(const struct fnet_span *records, const uint32_t *targets, size_t n,
                          uint32_t segments)
{
    struct made_partition m;
    static struct stream expected, actual;
    size_t at = 0;
    unsigned waits = 0;

    make_partition(&m, "main", 1, segments, segments);
    struct fnet_record_writer writer = {.partition = m.partition};
    struct fnet_view *view = open_view(m.partition, 0);
    expected.len = actual.len = 0;
    while (at < n && waits < 1000) {
        size_t done = SIZE_MAX;
        const struct fnet_records rest = {.spans = records + at, .count = n - at};
        const struct fnet_targets rest_targets = targets_of(targets ? targets + at : NULL);
        enum fnet_err err = fnet_record_writer_emit(&writer, &rest, &rest_targets, &done);
        if (!CHECK(done <= n - at))
            break;
        CHECK_INT(err, done < n - at ? FNET_AGAIN : FNET_OK);
        at += done;
        waits++;
        take_all(view, &actual);
    }
    CHECK(waits > 1);
    fnet_partition_flush(m.partition);
    take_all(view, &actual);
    for (size_t i = 0; i < n; i++)
        append_record(&expected, records[i]);
    check_same(&actual, &expected);
    CHECK(m.pool_rings > 0);
    unmake_partition(&m);
}

static void test_resumed(void)
{
    struct fnet_span records[24];
    uint32_t targets[24] = {0};
    const size_t n = sizeof records / sizeof *records;

    for (size_t i = 0; i < n; i++)
        records[i] = fnet_span_of(body() + i, i % 5 == 4 ? 5 * SEGMENT - i : 60 + i);
    for (uint32_t segments = 1; segments < 7; segments++) {
        CASE("no segment in the middle of a record: it goes on there when there is one again");
        check_resumed(records, targets, n, segments);
        CASE("... also when it is broadcast");
        check_resumed(records, NULL, n, segments);
    }

    CASE("... also in the middle of a length");
    for (size_t len = SEGMENT - 8; len < SEGMENT; len++) {
        records[0] = record_of(len);
        records[1] = record_of(10);
        check_resumed(records, targets, 2, 1);
    }
}

static void test_cancelled(void)
{
    struct made_partition m;
    const struct fnet_span records[] = {record_of(8 * SEGMENT), record_of(10)};
    const uint32_t targets[] = {0, 1};

    CASE("a subpartition that nobody reads does not stop the others");
    make_partition(&m, "main", 2, 3, 1);
    struct fnet_record_writer writer = {.partition = m.partition};
    fnet_view_release(open_view(m.partition, 0), false);
    emit(&writer, records, targets, 2);
    fnet_partition_flush(m.partition);
    CHECK_INT(fnet_view_backlog(open_view(m.partition, 1)), 1);
    unmake_partition(&m);
}

/*
 * N records of FIRST, FIRST + STEP ... bytes with a byte between them, as a delimiter finds them,
 * in memory that ends with the last, so that a sanitizer sees a read behind it. Freed by the
 * caller.
 */
static uint8_t *lay_out(struct fnet_span *records, size_t n, size_t first, size_t step,
                        struct fnet_records *out)
{
    const size_t total = n * first + step * n * (n - 1) / 2 + n - 1;
    uint8_t *input = malloc(total);
    size_t at = 0;

    if (!input)
        abort();
    memcpy(input, body(), total);
    for (size_t i = 0; i < n; i++) {
        records[i] = fnet_span_of(input + at, first + i * step);
        at += records[i].len + 1;
    }
    *out =
        (struct fnet_records){.spans = records, .count = n, .within = fnet_span_of(input, total)};
    return input;
}

static void test_adjacent(void)
{
    struct made_partition m;
    static struct stream expected, actual;
    struct fnet_span spans[60];
    const uint32_t each[60] = {0};
    struct fnet_records records;

    CASE("short records side by side are copied by blocks, up to the very end of both memories");
    uint8_t *input = lay_out(spans, 60, 5, 1, &records);
    make_partition(&m, "main", 1, 32, 32);
    struct fnet_record_writer writer = {.partition = m.partition};
    emit_to(&writer, records, targets_of(each));
    fnet_partition_flush(m.partition);
    for (size_t i = 0; i < 60; i++)
        append_record(&expected, spans[i]);
    take_all(open_view(m.partition, 0), &actual);
    check_same(&actual, &expected);
    unmake_partition(&m);
    free(input);
}

/* RECORDS to CHANNELS in turn from NEXT, in pieces of PIECE; each has what is due to it. */
static void check_turns(const struct fnet_records *records, uint32_t channels, uint32_t next,
                        size_t piece)
{
    struct made_partition m;
    struct fnet_targets targets = {
        .kind = FNET_TARGETS_IN_TURN, .next = next, .channels = channels};

    make_partition(&m, "main", channels, 64, 64);
    struct fnet_record_writer writer = {.partition = m.partition};
    for (size_t at = 0; at < records->count; at += piece) {
        struct fnet_records some = *records;
        some.spans += at;
        some.count = records->count - at < piece ? records->count - at : piece;
        emit_to(&writer, some, targets);
        targets = fnet_targets_behind(&targets, some.count);
    }
    fnet_partition_flush(m.partition);
    for (uint32_t c = 0; c < channels; c++) {
        static struct stream expected, actual;
        expected.len = actual.len = 0;
        for (size_t i = (c + channels - next) % channels; i < records->count; i += channels)
            append_record(&expected, records->spans[i]);
        take_all(open_view(m.partition, c), &actual);
        check_same(&actual, &expected);
    }
    unmake_partition(&m);
}

static void test_in_turn(void)
{
    struct fnet_span spans[100];

    CASE("channels in turn have their records, however long, many and cut into batches they are");
    for (size_t first = 0; first < 40; first += 13)
        for (size_t step = 0; step < 2; step++) {
            struct fnet_records records;
            uint8_t *input = lay_out(spans, 100, first, step, &records);
            struct fnet_records anywhere = {.spans = spans, .count = 100};
            for (uint32_t channels = 1; channels <= 7; channels += 2)
                for (size_t piece = 1; piece <= 100; piece += 33) {
                    check_turns(&records, channels, (uint32_t)piece % channels, piece);
                    check_turns(&anywhere, channels, channels - 1, piece);
                }
            free(input);
        }
}

static void test_in_turn_resumed(void)
{
    struct made_partition m;
    struct fnet_span spans[100];
    static struct stream expected, actual[2];
    struct fnet_records rest;
    struct fnet_targets targets = {.kind = FNET_TARGETS_IN_TURN, .channels = 2};
    unsigned waits = 0;

    CASE("in turn without a segment: it goes on with the record that had none");
    uint8_t *input = lay_out(spans, 100, 40, 0, &rest);
    make_partition(&m, "main", 2, 3, 3);
    struct fnet_record_writer writer = {.partition = m.partition};
    struct fnet_view *views[2] = {open_view(m.partition, 0), open_view(m.partition, 1)};
    while (rest.count > 0 && waits++ < 1000) {
        size_t done = SIZE_MAX;
        enum fnet_err err = fnet_record_writer_emit(&writer, &rest, &targets, &done);
        if (!CHECK(done <= rest.count))
            break;
        CHECK_INT(err, done < rest.count ? FNET_AGAIN : FNET_OK);
        rest.spans += done;
        rest.count -= done;
        targets = fnet_targets_behind(&targets, done);
        take_all(views[0], &actual[0]);
        take_all(views[1], &actual[1]);
    }
    CHECK(waits > 1);
    fnet_partition_flush(m.partition);
    for (size_t c = 0; c < 2; c++) {
        expected.len = 0;
        for (size_t i = c; i < 100; i += 2)
            append_record(&expected, spans[i]);
        take_all(views[c], &actual[c]);
        check_same(&actual[c], &expected);
    }
    unmake_partition(&m);
    free(input);
}

static void test_no_memory(void)
{
    unsigned n = 0;

    CASE("without memory for the queue there is an error, and no leak");
    do {
        struct made_partition m;
        const struct fnet_span longest = record_of(7 * SEGMENT);
        const struct fnet_records records = {.spans = &longest, .count = 1};
        const struct fnet_targets all = targets_of(NULL);
        size_t done = 0;
        make_partition(&m, "main", 3, 30, 30);
        struct fnet_record_writer writer = {.partition = m.partition};
        failmalloc_arm(++n);
        enum fnet_err err = FNET_OK;
        for (int i = 0; err == FNET_OK && i < 4; i++)
            err = fnet_record_writer_emit(&writer, &records, &all, &done);
        bool did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        unmake_partition(&m);
        if (!did_fail)
            break;
    } while (n < 1000);
    CHECK(n < 1000);
}

int main(void)
{
    test_sizes();
    test_targets();
    test_broadcast();
    test_availability();
    test_nothing();
    test_resumed();
    test_cancelled();
    test_adjacent();
    test_in_turn();
    test_in_turn_resumed();
    test_no_memory();
    return tap_done();
}
