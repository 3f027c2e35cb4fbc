/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records into rooms of every size, and the fast copy of short records.
 */
#include <stdlib.h>

#include "fnet/record.h"

#include "../tap.h"
#include "guarded.h"

static const uint8_t golden[] = {0, 0, 0, 3, 'a', 'b', 'c', 0, 0, 0, 0, 0, 0, 0, 1, 0};

static const struct fnet_span golden_records[] = {
    {.ptr = (const uint8_t *)"abc", .len = 3},
    {.ptr = (const uint8_t *)"", .len = 0},
    {.ptr = (const uint8_t *)"\0", .len = 1},
};

static void test_rooms(void)
{
    CASE("the bytes are the same whatever the rooms are they are written to");
    for (size_t room = 1; room <= sizeof golden; room++) {
        uint8_t out[sizeof golden + 1] = {0};
        size_t len = 0;
        for (size_t i = 0; i < 3; i++) {
            struct fnet_record_serializer s = {.header_left = 0};
            CHECK(fnet_record_serializer_is_done(&s));
            fnet_record_serializer_begin(&s, golden_records[i]);
            while (!fnet_record_serializer_is_done(&s)) {
                size_t left = room - len % room;
                size_t written = fnet_record_serializer_write(&s, out + len, left);
                CHECK(written > 0 && written <= left);
                len += written;
            }
        }
        CHECK_INT(len, sizeof golden);
        CHECK_MEM(out, golden, sizeof golden);
        CHECK_INT(out[sizeof golden], 0);
    }

    CASE("no room and nothing to write both write nothing");
    struct fnet_record_serializer s = {.header_left = 0};
    uint8_t out[8];
    CHECK_INT(fnet_record_serializer_write(&s, out, sizeof out), 0);
    fnet_record_serializer_begin(&s, golden_records[0]);
    CHECK_INT(fnet_record_serializer_write(&s, out, 0), 0);
    CHECK(!fnet_record_serializer_is_done(&s));

    CASE("the longest record has the length Flink can read");
    fnet_record_serializer_begin(&s, fnet_span_of(out, FNET_RECORD_MAX_BYTES));
    CHECK_INT(fnet_record_serializer_write(&s, out, 4), 4);
    CHECK_MEM(out, "\x7f\xff\xff\xf7", 4);
}

static void test_put(void)
{
    CASE("whole records are put up to the first that does not fit, and nothing behind W's end");
    for (size_t room = 0; room <= sizeof golden; room++) {
        static const size_t ends[] = {7, 11, 16};
        struct guarded g = guarded_new(sizeof golden);
        struct fnet_writer w = fnet_writer_of(g.end - room, room);
        size_t fit = 0;
        while (fit < 3 && ends[fit] <= room)
            fit++;
        CHECK_INT(fnet_records_put(golden_records, 3, &w), fit);
        CHECK_INT(w.pos - (g.end - room), fit ? ends[fit - 1] : 0);
        CHECK_MEM(g.end - room, golden, fit ? ends[fit - 1] : 0);
        guarded_free(&g);
    }

    CASE("no records are put without looking at anything");
    struct fnet_writer w = {.pos = NULL};
    CHECK_INT(fnet_records_put(NULL, 0, &w), 0);
}

static void test_copy(void)
{
    enum { ROOM = 256, LONGEST = 2 * FNET_SHORT_RECORD_BYTES };
    struct guarded in = guarded_new(ROOM);
    struct guarded out = guarded_new(ROOM);

    CASE("a copy stays below both ends, whatever slack there is in front of them");
    for (size_t i = 1; i <= ROOM; i++)
        in.end[-(ptrdiff_t)i] = (uint8_t)(i * 7);
    for (size_t len = 0; len <= LONGEST; len++)
        for (size_t out_slack = 0; out_slack <= FNET_SHORT_RECORD_BYTES; out_slack++)
            for (size_t in_slack = 0; in_slack <= FNET_SHORT_RECORD_BYTES; in_slack++) {
                uint8_t *to = out.end - len - out_slack;
                const uint8_t *from = in.end - len - in_slack;
                to[-1] = 'u';
                fnet_record_copy(to, out.end, from, in.end, len);
                CHECK_MEM(to, from, len);
                CHECK_INT(to[-1], 'u');
            }

    CASE("ends that are not at the guard hold as well");
    memset(out.end - ROOM, 'u', ROOM);
    for (size_t len = 0; len <= FNET_SHORT_RECORD_BYTES; len++) {
        uint8_t *to = out.end - ROOM;
        fnet_record_copy(to, to + FNET_SHORT_RECORD_BYTES, in.end - ROOM, in.end, len);
        CHECK_MEM(to, in.end - ROOM, len);
        CHECK_INT(to[FNET_SHORT_RECORD_BYTES], 'u');
    }
    guarded_free(&in);
    guarded_free(&out);
}

/* N records of sizes 0, 1, 2 ... behind each other, GAP bytes between, ending at END. */
static void lay_out(struct fnet_span *records, size_t n, size_t gap, uint8_t *end)
{
    for (size_t i = n; i-- > 0; end -= gap) {
        end -= i;
        memset(end, (int)(i + 1), i);
        records[i] = fnet_span_of(end, i);
    }
}

static void test_adjacent(void)
{
    enum { N = 300, BYTES = N * N / 2 + 8 * N };
    static struct fnet_span records[N];
    struct guarded in = guarded_new(BYTES);
    struct guarded out = guarded_new(BYTES);

    CASE("records up to a header apart are adjacent, and no others");
    for (size_t gap = 0; gap < 8; gap++) {
        lay_out(records, N, gap, in.end);
        CHECK_INT(fnet_records_are_adjacent(records, N), gap <= FNET_RECORD_HEADER_BYTES);
    }
    CHECK(fnet_records_are_adjacent(records, 1));
    CHECK(fnet_records_are_adjacent(records, 0));
    lay_out(records, N, 1, in.end);
    struct fnet_span swapped[] = {records[8], records[7]};
    CHECK(!fnet_records_are_adjacent(swapped, 2));

    CASE("records of every size are put right, near or far apart, up to both guarded ends");
    for (size_t gap = 0; gap < 8; gap++) {
        lay_out(records, N, gap, in.end);
        size_t bytes = N * (N - 1) / 2 + 4 * N;
        struct fnet_writer w = fnet_writer_of(out.end - bytes, bytes);
        CHECK_INT(fnet_records_put(records, N, &w), N);
        CHECK(w.pos == out.end);
        const uint8_t *at = out.end - bytes;
        for (size_t i = 0; i < N; i++) {
            CHECK_INT(fnet_load_be32(at), i);
            CHECK_MEM(at + 4, records[i].ptr, i);
            at += 4 + i;
        }
    }
    guarded_free(&in);
    guarded_free(&out);
}

int main(void)
{
    test_rooms();
    test_put();
    test_copy();
    test_adjacent();
    return tap_done();
}
