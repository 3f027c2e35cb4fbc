/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record reader: records out of the buffers of several channels, events between them, and
 * streams that end or go wrong in the middle.
 */
#include <errno.h>

#include "fnet/event.h"
#include "fnet/stream.h"

#include "../failmalloc.h"
#define MADE_SEGMENT_BYTES 8192
#include "../gate/made_gate.h"

static struct fnet_record_reader *new_reader(struct made_gate *m)
{
    struct fnet_record_reader *reader = NULL;

    CHECK_INT(fnet_record_reader_new(m->gate, NULL, &reader), FNET_OK);
    return reader;
}

/* EVENT arrives in CHANNEL as its SEQUENCE-th buffer, under DATA_TYPE. */
static void arrive_event_as(struct fnet_channel *channel, int32_t sequence, uint8_t data_type,
                            const struct fnet_event *event)
{
    uint8_t bytes[256];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
    struct fnet_buffer buffer = {.segment = NULL};

    CHECK_INT(fnet_event_encode(fnet_dialect_newest(), event, &w), FNET_OK);
    const uint32_t len = (uint32_t)(w.pos - bytes);
    if (!CHECK_INT(fnet_channel_begin(channel, sequence, data_type, len, &buffer), FNET_OK))
        return;
    memcpy(buffer.segment->bytes, bytes, len);
    CHECK_INT(fnet_channel_receive(channel, &buffer, 0), FNET_OK);
}

/* An event that travels under DATA_TYPE arrives. */
static void arrive_event(struct fnet_channel *channel, int32_t sequence, uint8_t data_type)
{
    struct fnet_event event = {.type = FNET_EVENT_CHECKPOINT_BARRIER};

    if (data_type == FNET_END_OF_PARTITION)
        event.type = FNET_EVENT_END_OF_PARTITION;
    else if (data_type == FNET_END_OF_DATA)
        event.type = FNET_EVENT_END_OF_DATA;
    else if (data_type == FNET_EVENT_BUFFER)
        event.type = FNET_EVENT_CANCEL_CHECKPOINT;
    arrive_event_as(channel, sequence, data_type, &event);
}

/* BYTES arrive in CHANNEL as its SEQUENCE-th buffer. */
static void arrive_bytes(struct fnet_channel *channel, int32_t sequence, const void *bytes,
                         size_t len)
{
    struct fnet_buffer buffer = {.segment = NULL};

    if (!CHECK_INT(fnet_channel_begin(channel, sequence, FNET_DATA_BUFFER, (uint32_t)len, &buffer),
                   FNET_OK))
        return;
    if (len > 0)
        memcpy(buffer.segment->bytes, bytes, len);
    CHECK_INT(fnet_channel_receive(channel, &buffer, 0), FNET_OK);
}

/* The next batch must be one record of CHANNEL. */
static void check_record(struct fnet_record_reader *reader, const struct fnet_channel *channel,
                         const char *text, size_t len)
{
    struct fnet_record_batch batch;

    if (!CHECK_INT(fnet_record_reader_next(reader, &batch), FNET_OK))
        return;
    CHECK(batch.channel == channel);
    if (CHECK_INT(batch.count, 1) && CHECK_INT(batch.records[0].len, len))
        CHECK_MEM(batch.records[0].ptr, text, len);
}

static void check_event(struct fnet_record_reader *reader, const struct fnet_channel *channel,
                        uint8_t type)
{
    struct fnet_record_batch batch;

    if (!CHECK_INT(fnet_record_reader_next(reader, &batch), FNET_OK))
        return;
    CHECK(batch.channel == channel);
    CHECK_INT(batch.count, 0);
    CHECK_INT(batch.event, type);
}

static enum fnet_err next(struct fnet_record_reader *reader)
{
    struct fnet_record_batch batch;

    return fnet_record_reader_next(reader, &batch);
}

static void test_batches(void)
{
    struct made_gate m;
    struct fnet_record_batch batch;

    CASE("the records of a buffer come as one batch, empty ones too");
    make_gate(&m, 1, 2, 0);
    struct fnet_record_reader *reader = new_reader(&m);
    CHECK_INT(next(reader), FNET_AGAIN);
    arrive_bytes(m.channels[0], 0, "\0\0\0\1a\0\0\0\0\0\0\0\3bcd", 16);
    CHECK_INT(fnet_record_reader_next(reader, &batch), FNET_OK);
    CHECK(batch.channel == m.channels[0]);
    if (CHECK_INT(batch.count, 3)) {
        CHECK_INT(batch.records[0].len, 1);
        CHECK_INT(batch.records[1].len, 0);
        CHECK_INT(batch.records[2].len, 3);
        CHECK_MEM(batch.records[2].ptr, "bcd", 3);
    }

    CASE("the buffer is held until the next call, then its credit goes back");
    check_words(m.channels[0], 0, 0);
    CHECK_INT(fnet_local_pool_used(m.pool), 1);
    CHECK_INT(next(reader), FNET_AGAIN);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);
    check_words(m.channels[0], FNET_SAY_CREDIT, 1);

    CASE("an empty buffer holds no record and gives its credit back");
    arrive_bytes(m.channels[0], 1, "", 0);
    CHECK_INT(next(reader), FNET_AGAIN);
    check_words(m.channels[0], FNET_SAY_CREDIT, 1);

    CASE("a batch has an end, however many records a buffer holds");
    static const uint8_t zeros[MADE_SEGMENT_BYTES];
    arrive_bytes(m.channels[0], 2, zeros, sizeof zeros);
    CHECK_INT(fnet_record_reader_next(reader, &batch), FNET_OK);
    CHECK_INT(batch.count, FNET_RECORD_BATCH_MAX);
    CHECK_INT(fnet_record_reader_next(reader, &batch), FNET_OK);
    CHECK_INT(batch.count, sizeof zeros / FNET_RECORD_HEADER_BYTES - FNET_RECORD_BATCH_MAX);
    CHECK_INT(next(reader), FNET_AGAIN);
    fnet_record_reader_free(reader);
    unmake_gate(&m);
}

static void test_framed(void)
{
    const struct fnet_delimiter_config lines = FNET_DELIMITER_CONFIG_INIT;
    struct made_gate m;
    struct fnet_record_batch batch;
    uint8_t out[64];
    struct fnet_writer w = fnet_writer_of(out, sizeof out);

    CASE("whole records become output at once, no more than are wanted");
    make_gate(&m, 1, 4, 0);
    struct fnet_record_reader *reader = new_reader(&m);
    CHECK_INT(fnet_record_reader_frame(reader, &lines, 9, &w, &batch), FNET_AGAIN);
    arrive_bytes(m.channels[0], 0, "\0\0\0\1a\0\0\0\0\0\0\0\3bcd\0\0\0\4ef", 22);
    CHECK_INT(fnet_record_reader_frame(reader, &lines, 2, &w, &batch), FNET_OK);
    CHECK(batch.channel == m.channels[0] && !batch.records);
    CHECK_INT(batch.count, 2);
    CHECK_INT(fnet_record_reader_frame(reader, &lines, 9, &w, &batch), FNET_OK);
    CHECK(!batch.records);
    CHECK_INT(batch.count, 1);
    CHECK_INT(w.pos - out, 7);
    CHECK_MEM(out, "a\n\nbcd\n", 7);

    CASE("one that lies across buffers is yielded, and so are events");
    CHECK_INT(fnet_record_reader_frame(reader, &lines, 9, &w, &batch), FNET_AGAIN);
    arrive_bytes(m.channels[0], 1, "gh\0\0\0\1i", 7);
    arrive_event(m.channels[0], 2, FNET_END_OF_DATA);
    CHECK_INT(fnet_record_reader_frame(reader, &lines, 9, &w, &batch), FNET_OK);
    CHECK_INT(batch.count, 1);
    if (CHECK(batch.records != NULL))
        CHECK_MEM(batch.records[0].ptr, "efgh", 4);
    CHECK_INT(fnet_record_reader_frame(reader, &lines, 9, &w, &batch), FNET_OK);
    CHECK(!batch.records && batch.count == 1);
    CHECK_INT(fnet_record_reader_frame(reader, &lines, 9, &w, &batch), FNET_OK);
    CHECK_INT(batch.count, 0);
    CHECK_INT(batch.event, FNET_END_OF_DATA);
    CHECK_INT(w.pos - out, 9);
    CHECK_MEM(out + 7, "i\n", 2);
    fnet_record_reader_free(reader);
    unmake_gate(&m);
}

static void test_cut(void)
{
    static const char stream[] = "\0\0\0\13hello world";
    const size_t len = sizeof stream - 1;
    struct made_gate m;
    int32_t sequence = 0;

    make_gate(&m, 1, 20, 0);
    struct fnet_channel *c = m.channels[0];
    struct fnet_record_reader *reader = new_reader(&m);

    CASE("a record cut at any byte is the same record");
    for (size_t cut = 0; cut <= len; cut++) {
        arrive_bytes(c, sequence++, stream, cut);
        arrive_bytes(c, sequence++, stream + cut, len - cut);
        check_record(reader, c, "hello world", 11);
        CHECK_INT(next(reader), FNET_AGAIN);
        uint32_t credit;
        CHECK_INT(fnet_channel_take_words(c, &credit), FNET_SAY_CREDIT);
    }

    CASE("... also when every byte is a buffer of its own");
    for (size_t i = 0; i < len; i++)
        arrive_bytes(c, sequence++, stream + i, 1);
    check_record(reader, c, "hello world", 11);
    CHECK_INT(next(reader), FNET_AGAIN);
    fnet_record_reader_free(reader);
    unmake_gate(&m);
}

static void test_long(void)
{
    static uint8_t stream[FNET_RECORD_HEADER_BYTES + 3 * MADE_SEGMENT_BYTES + 5];
    const size_t len = sizeof stream - FNET_RECORD_HEADER_BYTES;
    struct made_gate m;
    int32_t sequence = 0;

    CASE("a record lies across more than three buffers");
    fnet_store_be32(stream, (uint32_t)len);
    for (size_t i = 0; i < len; i++)
        stream[FNET_RECORD_HEADER_BYTES + i] = (uint8_t)(i * 31 / 7);
    make_gate(&m, 1, 5, 0);
    struct fnet_record_reader *reader = new_reader(&m);
    for (size_t at = 0; at < sizeof stream; at += MADE_SEGMENT_BYTES) {
        size_t left = sizeof stream - at;
        arrive_bytes(m.channels[0], sequence++, stream + at,
                     left < MADE_SEGMENT_BYTES ? left : MADE_SEGMENT_BYTES);
    }
    CHECK_INT(sequence, 4);
    check_record(reader, m.channels[0], (const char *)stream + FNET_RECORD_HEADER_BYTES, len);
    CHECK_INT(next(reader), FNET_AGAIN);
    fnet_record_reader_free(reader);
    unmake_gate(&m);
}

static void test_channels(void)
{
    struct made_gate m;

    CASE("channels are put together each for itself");
    make_gate(&m, 2, 4, 0);
    struct fnet_channel *a = m.channels[0], *b = m.channels[1];
    struct fnet_record_reader *reader = new_reader(&m);
    arrive_bytes(a, 0, "\0\0\0\4ab", 6);
    arrive_bytes(b, 0, "\0\0\0\3x", 5);
    CHECK_INT(next(reader), FNET_AGAIN);
    arrive_bytes(b, 1, "yz", 2);
    check_record(reader, b, "xyz", 3);
    arrive_bytes(a, 1, "cd", 2);
    check_record(reader, a, "abcd", 4);
    CHECK_INT(next(reader), FNET_AGAIN);

    CASE("one that was cancelled in the middle of a record does not disturb the other");
    arrive_bytes(a, 2, "\0\0\0\4ab", 6);
    CHECK_INT(next(reader), FNET_AGAIN);
    fnet_channel_cancel(a);
    arrive_bytes(b, 2, "\0\0\0\1z", 5);
    check_record(reader, b, "z", 1);
    arrive_event(b, 3, FNET_END_OF_PARTITION);
    check_event(reader, b, FNET_END_OF_PARTITION);
    CHECK_INT(next(reader), FNET_EOF);
    fnet_record_reader_free(reader);
    unmake_gate(&m);
}

static void test_events(void)
{
    struct made_gate m;

    CASE("events come between the records where they stood");
    make_gate(&m, 1, 4, 0);
    struct fnet_channel *c = m.channels[0];
    struct fnet_record_reader *reader = new_reader(&m);
    arrive_bytes(c, 0, "\0\0\0\1a", 5);
    arrive_event(c, 1, FNET_EVENT_BUFFER);
    arrive_bytes(c, 2, "\0\0\0\1b", 5);
    check_record(reader, c, "a", 1);
    check_event(reader, c, FNET_EVENT_BUFFER);
    check_record(reader, c, "b", 1);
    CHECK_INT(next(reader), FNET_AGAIN);
    check_words(c, FNET_SAY_CREDIT, 2);

    CASE("an event that overtook a record stands in the middle of it");
    arrive_bytes(c, 3, "\0\0\0\2a", 5);
    arrive_event(c, 4, FNET_PRIORITIZED_EVENT_BUFFER);
    arrive_bytes(c, 5, "b", 1);
    check_event(reader, c, FNET_PRIORITIZED_EVENT_BUFFER);
    check_record(reader, c, "ab", 2);
    CHECK_INT(next(reader), FNET_AGAIN);
    check_words(c, FNET_SAY_CREDIT, 2);

    CASE("one that blocks its sender is resumed when it is passed on");
    arrive_event(c, 6, FNET_ALIGNED_CHECKPOINT_BARRIER);
    check_words(c, 0, 0);
    check_event(reader, c, FNET_ALIGNED_CHECKPOINT_BARRIER);
    check_words(c, FNET_SAY_RESUME, 0);

    CASE("EndOfData is for the owner to acknowledge");
    arrive_event(c, 7, FNET_END_OF_DATA);
    check_event(reader, c, FNET_END_OF_DATA);
    check_words(c, 0, 0);
    fnet_record_reader_free(reader);
    unmake_gate(&m);
}

/* A stream of two channels, the second of which goes wrong with ERR; it must be blamed. */
static void check_wrong(const void *bytes, size_t len, uint8_t event, enum fnet_err err)
{
    struct made_gate m;
    int saved_errno = -1;

    make_gate(&m, 2, 4, 0);
    struct fnet_record_reader *reader = new_reader(&m);
    arrive_bytes(m.channels[0], 0, "\0\0\0\2a", 5);
    CHECK_INT(next(reader), FNET_AGAIN);
    arrive_bytes(m.channels[1], 0, bytes, len);
    if (event)
        arrive_event(m.channels[1], 1, event);
    CHECK_INT(next(reader), err);
    CHECK(fnet_record_reader_where(reader, &saved_errno) == m.channels[1]);
    CHECK_INT(saved_errno, 0);
    fnet_record_reader_free(reader);
    unmake_gate(&m);
}

static void test_wrong(void)
{
    CASE("data that ends in the middle of a record is truncated");
    check_wrong("\0\0\0\2a", 5, FNET_END_OF_DATA, FNET_TRUNCATED);
    CASE("... or in the middle of a length");
    check_wrong("\0\0", 2, FNET_END_OF_DATA, FNET_TRUNCATED);
    CASE("... also when only the partition's end says so");
    check_wrong("\0\0\0\2a", 5, FNET_END_OF_PARTITION, FNET_TRUNCATED);
    CASE("a length that no record has is refused");
    check_wrong("\xff\xff\xff\xff", 4, 0, FNET_BAD_LENGTH);
    check_wrong("\x7f\xff\xff\xf8", 4, 0, FNET_BAD_LENGTH);
}

/* An event of TYPE under DATA_TYPE, between whole records. */
static void check_wrong_event(enum fnet_event_type type, uint8_t data_type, enum fnet_err err)
{
    const struct fnet_event event = {.type = type};
    struct made_gate m;
    int saved_errno;

    make_gate(&m, 1, 4, 0);
    struct fnet_record_reader *reader = new_reader(&m);
    arrive_event_as(m.channels[0], 0, data_type, &event);
    CHECK_INT(next(reader), err);
    CHECK(fnet_record_reader_where(reader, &saved_errno) == m.channels[0]);
    fnet_record_reader_free(reader);
    unmake_gate(&m);
}

static void test_wrong_events(void)
{
    struct made_gate m;
    int saved_errno;

    CASE("an end is one only when data type and bytes agree");
    check_wrong_event(FNET_EVENT_END_OF_PARTITION, FNET_END_OF_DATA, FNET_BAD_KIND);
    check_wrong_event(FNET_EVENT_END_OF_DATA, FNET_END_OF_PARTITION, FNET_BAD_KIND);
    check_wrong_event(FNET_EVENT_END_OF_SEGMENT, FNET_END_OF_PARTITION, FNET_BAD_KIND);
    check_wrong_event(FNET_EVENT_END_OF_PARTITION, FNET_EVENT_BUFFER, FNET_BAD_KIND);
    check_wrong_event(FNET_EVENT_END_OF_DATA, FNET_EVENT_BUFFER, FNET_BAD_KIND);

    CASE("bytes that are no event are refused");
    make_gate(&m, 1, 4, 0);
    struct fnet_record_reader *reader = new_reader(&m);
    CHECK_INT(arrive(m.channels[0], 0, FNET_END_OF_PARTITION, 'g', 8, 0), FNET_OK);
    CHECK_INT(next(reader), FNET_BAD_KIND);
    CHECK(fnet_record_reader_where(reader, &saved_errno) == m.channels[0]);
    fnet_record_reader_free(reader);
    unmake_gate(&m);
}

static void test_failed_channel(void)
{
    struct made_gate m;

    CASE("what a failed channel had received is read, then it is over");
    make_gate(&m, 1, 4, 0);
    struct fnet_record_reader *reader = new_reader(&m);
    arrive_bytes(m.channels[0], 0, "\0\0\0\1a", 5);
    arrive_bytes(m.channels[0], 1, "\0\0\0\2b", 5);
    fnet_channel_fail(m.channels[0], FNET_LOST);
    check_record(reader, m.channels[0], "a", 1);
    CHECK_INT(next(reader), FNET_EOF);
    CHECK_INT(fnet_channel_error(m.channels[0]), FNET_LOST);
    fnet_record_reader_free(reader);
    unmake_gate(&m);
}

static void test_no_disk(void)
{
    static const uint8_t part[MADE_SEGMENT_BYTES] = {0x10};
    struct made_gate m;
    struct fnet_record_reader *reader = NULL;
    int saved_errno = 0;
    enum fnet_err err = FNET_AGAIN;

    CASE("a record too long for memory, and no place for its file: the errno is kept");
    make_gate(&m, 1, 1, 0);
    CHECK_INT(fnet_record_reader_new(m.gate, "/nonexistent", &reader), FNET_OK);
    for (int32_t i = 0; err == FNET_AGAIN && i < 2000; i++) {
        arrive_bytes(m.channels[0], i, part, sizeof part);
        err = next(reader);
        uint32_t credit;
        CHECK_INT(fnet_channel_take_words(m.channels[0], &credit), FNET_SAY_CREDIT);
    }
    CHECK_INT(err, FNET_SYSTEM);
    CHECK(fnet_record_reader_where(reader, &saved_errno) == m.channels[0]);
    CHECK_INT(saved_errno, ENOENT);
    fnet_record_reader_free(reader);
    unmake_gate(&m);
}

static void test_free_while_reading(void)
{
    struct made_gate m;

    CASE("a reader may go with a buffer in its hands");
    make_gate(&m, 1, 2, 0);
    struct fnet_record_reader *reader = new_reader(&m);
    arrive_bytes(m.channels[0], 0, "\0\0\0\1a", 5);
    check_record(reader, m.channels[0], "a", 1);
    fnet_record_reader_free(reader);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);
    fnet_record_reader_free(NULL);
    unmake_gate(&m);
}

static void test_no_memory(void)
{
    unsigned n = 0;

    CASE("without memory there is no reader, or an error that names the channel");
    do {
        struct made_gate m;
        struct fnet_record_reader *reader = NULL;
        int saved_errno;
        make_gate(&m, 2, 4, 0);
        arrive_bytes(m.channels[1], 0, "\0\0\0\3a", 5);
        arrive_bytes(m.channels[1], 1, "b", 1);
        failmalloc_arm(++n);
        enum fnet_err err = fnet_record_reader_new(m.gate, NULL, &reader);
        if (err == FNET_OK)
            err = next(reader);
        bool did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_AGAIN);
        if (did_fail && reader)
            CHECK(fnet_record_reader_where(reader, &saved_errno) == m.channels[1]);
        fnet_record_reader_free(reader);
        unmake_gate(&m);
        if (!did_fail)
            break;
    } while (n < 1000);
    CHECK(n < 1000);
}

int main(void)
{
    test_batches();
    test_framed();
    test_cut();
    test_long();
    test_channels();
    test_events();
    test_wrong();
    test_wrong_events();
    test_failed_channel();
    test_no_disk();
    test_free_while_reading();
    test_no_memory();
    return tap_done();
}
