/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect/conversation: credit, backlog, sequence numbers and records of a channel.
 */
#include "inspect/conversation.h"

#include <stdlib.h>

#include "../failmalloc.h"
#include "../tap.h"

/* One connection and the last message that was taken. */
struct talk {
    struct conversation conversation;
    struct connection *connection;
    struct frame_item item;
    struct inspected m;
    char records[256]; /* of the last message, a blank behind each */
};

static void begin(struct talk *t)
{
    memset(t, 0, sizeof *t);
    conversation_init(&t->conversation, NULL, FNET_CODEC_NONE);
    CHECK_INT(conversation_connect(&t->conversation, NULL, 0, REQUEST, NULL, &t->connection),
              FNET_OK);
}

static void end(struct talk *t)
{
    conversation_clear(&t->conversation);
}

static void take_records(struct talk *t)
{
    struct fnet_span records[2];
    uint64_t number;
    size_t n;

    *t->records = '\0';
    while (conversation_next_records(&t->m, records, 2, &n, &number) == FNET_OK)
        for (size_t i = 0; i < n; i++) {
            strncat(t->records, (const char *)records[i].ptr, records[i].len);
            strcat(t->records, " ");
        }
}

/* Take M with PAYLOAD, of which MISSING bytes are missing, and its records; returns findings. */
static unsigned take(struct talk *t, const struct fnet_message *m, struct fnet_span payload,
                     size_t missing)
{
    t->item = (struct frame_item){.kind = FRAME_MESSAGE,
                                  .dialect = fnet_dialect_newest(),
                                  .message = *m,
                                  .length = 100,
                                  .payload = payload,
                                  .missing = missing};
    CHECK_INT(conversation_take(&t->conversation, t->connection, &t->item, &t->m), FNET_OK);
    take_records(t);
    return t->m.findings;
}

static unsigned request(struct talk *t, int32_t credit)
{
    const struct fnet_message m = {.type = FNET_PARTITION_REQUEST, .request = {.credit = credit}};

    return take(t, &m, fnet_span_of("", 0), 0);
}

static unsigned simple(struct talk *t, enum fnet_message_type type, int32_t number)
{
    const struct fnet_message m = {.type = type, .credit = number};

    return take(t, &m, fnet_span_of("", 0), 0);
}

static unsigned buffer(struct talk *t, int32_t sequence, uint8_t data_type, const char *payload,
                       size_t len)
{
    const struct fnet_message m = {
        .type = FNET_BUFFER_RESPONSE,
        .buffer = {.sequence = sequence, .data_type = data_type, .size = (uint32_t)len},
    };

    return take(t, &m, fnet_span_of(payload, len), 0);
}

#define DATA(t, sequence, literal)                                                                 \
    buffer(t, sequence, FNET_DATA_BUFFER, literal, sizeof(literal) - 1)
#define EVENT(t, sequence, data_type) buffer(t, sequence, data_type, "\0\0\0\0", 4)

static void test_credit(void)
{
    struct talk t;

    CASE("credit goes up by announcements and down by data buffers, not by events");
    begin(&t);
    request(&t, 2);
    const struct channel *c = t.m.channel;
    CHECK_INT(DATA(&t, 0, ""), 0);
    CHECK_INT(EVENT(&t, 1, FNET_EVENT_BUFFER), 0);
    simple(&t, FNET_ADD_CREDIT, 5);
    CHECK_INT(c->credit, 6);
    CHECK_INT(c->credits.min, 1);
    CHECK_INT(c->credits.max, 6);

    CASE("a data buffer without credit is found");
    for (int i = 2; i < 8; i++)
        CHECK_INT(DATA(&t, i, ""), 0);
    CHECK_INT(DATA(&t, 8, ""), FOUND_NO_CREDIT);

    CASE("after a gap credit is not known until the next request");
    conversation_miss(t.connection);
    CHECK_INT(DATA(&t, 9, ""), 0);
    request(&t, 1);
    CHECK_INT(DATA(&t, 0, ""), 0);
    CHECK_INT(DATA(&t, 1, ""), FOUND_NO_CREDIT);
    end(&t);

    CASE("a channel without exclusive buffers loses its credit when it is resumed");
    begin(&t);
    request(&t, 0);
    simple(&t, FNET_ADD_CREDIT, 3);
    simple(&t, FNET_RESUME_CONSUMPTION, 0);
    CHECK_INT(t.m.channel->credit, 0);
    end(&t);

    CASE("without a request credit is not known");
    begin(&t);
    CHECK_INT(DATA(&t, 0, ""), 0);
    CHECK(!t.m.channel->credits.is_known);
    end(&t);
}

static void test_backlog(void)
{
    struct fnet_message m = {.type = FNET_BUFFER_RESPONSE,
                             .buffer = {.data_type = FNET_DATA_BUFFER, .backlog = 7}};
    struct talk t;

    CASE("backlog extremes come from buffers and announcements");
    begin(&t);
    take(&t, &m, fnet_span_of("", 0), 0);
    m.buffer.backlog = 3;
    m.buffer.sequence = 1;
    take(&t, &m, fnet_span_of("", 0), 0);
    simple(&t, FNET_BACKLOG_ANNOUNCEMENT, 9);
    CHECK_INT(t.m.channel->backlogs.min, 3);
    CHECK_INT(t.m.channel->backlogs.max, 9);
    end(&t);
}

static void test_sequence(void)
{
    static const uint8_t sizes[8];
    struct fnet_message partial = {
        .type = FNET_BUFFER_RESPONSE,
        .buffer = {.sequence = 9,
                   .data_type = FNET_DATA_BUFFER,
                   .partials = 2,
                   .partial_sizes = fnet_span_of(sizes, sizeof sizes)},
    };
    struct talk t;

    CASE("sequence numbers count data and events alike, and gaps are found");
    begin(&t);
    request(&t, 100);
    CHECK_INT(DATA(&t, 0, ""), 0);
    CHECK_INT(EVENT(&t, 1, FNET_EVENT_BUFFER), 0);
    CHECK_INT(EVENT(&t, 4, FNET_EVENT_BUFFER), FOUND_BAD_SEQUENCE | FOUND_RECORDS_LOST);
    CHECK_INT(t.m.expected, 2);
    CHECK_INT(EVENT(&t, 4, FNET_EVENT_BUFFER), FOUND_BAD_SEQUENCE | FOUND_RECORDS_LOST);
    CHECK_INT(t.m.channel->sequence_gaps, 2);

    CASE("partial buffers have a number each");
    partial.buffer.sequence = 5;
    CHECK_INT(take(&t, &partial, fnet_span_of("", 0), 0), 0);
    CHECK_INT(DATA(&t, 7, ""), 0);

    CASE("a new request begins at 0 again");
    CHECK_INT(request(&t, 100), 0);
    CHECK_INT(DATA(&t, 0, ""), 0);
    end(&t);

    CASE("a capture that begins late accepts any first number");
    begin(&t);
    CHECK_INT(DATA(&t, 77, ""), 0);
    CHECK_INT(DATA(&t, 78, ""), 0);
    end(&t);
}

static void test_records(void)
{
    struct talk t;

    CASE("records lie across buffers, and events between them do not disturb");
    begin(&t);
    request(&t, 100);
    CHECK_INT(DATA(&t, 0, "\0\0\0\3one\0\0"), 0);
    CHECK_STR(t.records, "one ");
    CHECK_INT(EVENT(&t, 1, FNET_PRIORITIZED_EVENT_BUFFER), 0);
    CHECK_INT(DATA(&t, 2, "\0\3two\0\0\0\5th"), 0);
    CHECK_STR(t.records, "two ");
    CHECK_INT(DATA(&t, 3, "ree"), 0);
    CHECK_STR(t.records, "three ");
    CHECK_INT(t.m.channel->records, 3);

    CASE("behind a gap records are not known until an event that is a boundary");
    CHECK_INT(DATA(&t, 5, "\0\0\0\4four"), FOUND_BAD_SEQUENCE | FOUND_RECORDS_LOST);
    CHECK(!t.m.has_records);
    CHECK_INT(EVENT(&t, 6, FNET_PRIORITIZED_EVENT_BUFFER), 0);
    CHECK_INT(DATA(&t, 7, "\0\0\0\4four"), 0);
    CHECK(!t.m.has_records);
    CHECK_INT(EVENT(&t, 8, FNET_EVENT_BUFFER), 0);
    CHECK_INT(DATA(&t, 9, "\0\0\0\4five"), 0);
    CHECK_STR(t.records, "five ");
    CHECK(t.m.channel->is_record_missed);

    CASE("a buffer with a clear end is a boundary, too");
    CHECK_INT(DATA(&t, 11, "?"), FOUND_BAD_SEQUENCE | FOUND_RECORDS_LOST);
    CHECK_INT(buffer(&t, 12, FNET_DATA_BUFFER_WITH_CLEAR_END, "??", 2), 0);
    CHECK_INT(DATA(&t, 13, "\0\0\0\3six"), 0);
    CHECK_STR(t.records, "six ");

    CASE("an impossible length loses the records");
    CHECK_INT(DATA(&t, 14, "\xff\xff\xff\xff"), FOUND_BAD_RECORD);
    CHECK_INT(DATA(&t, 15, "\0\0\0\3six"), 0);
    CHECK(!t.m.has_records);

    CASE("a partition that ends inside a record is found");
    CHECK_INT(EVENT(&t, 16, FNET_EVENT_BUFFER), 0);
    CHECK_INT(DATA(&t, 17, "\0\0\0\7hal"), 0);
    CHECK_INT(EVENT(&t, 18, FNET_END_OF_PARTITION), FOUND_CUT_RECORD);
    CHECK(t.m.channel->is_ended);
    end(&t);
}

/* Take a data buffer of which the bytes of HEAD were fed and those of TAIL went past, MISSING more
 * were not captured; count its records. */
static unsigned pass(struct talk *t, int32_t sequence, struct fnet_span head, struct fnet_span tail,
                     size_t missing)
{
    const struct fnet_message m = {
        .type = FNET_BUFFER_RESPONSE,
        .buffer = {.sequence = sequence,
                   .data_type = FNET_DATA_BUFFER,
                   .size = (uint32_t)(head.len + tail.len + missing)},
    };
    struct record_count count = record_count_from(conversation_place(t->connection, &m));

    record_count_add(&count, head);
    record_count_add(&count, tail);
    t->item = (struct frame_item){
        .kind = FRAME_MESSAGE,
        .dialect = fnet_dialect_newest(),
        .message = m,
        .length = 100,
        .payload = head,
        .missing = missing,
    };
    CHECK_INT(conversation_take(&t->conversation, t->connection, &t->item, &t->m), FNET_OK);
    CHECK_INT(conversation_count_records(&t->m, &count), FNET_OK);
    return t->m.findings;
}

#define PASS(t, sequence, head, tail)                                                              \
    pass(t, sequence, fnet_span_of(head, sizeof(head) - 1), fnet_span_of(tail, sizeof(tail) - 1), 0)

static void test_counted_records(void)
{
    struct talk t;

    CASE("records of payloads that go past are counted across buffers");
    begin(&t);
    CHECK_INT(PASS(&t, 0, "\0\0\0\3one\0\0", "\0\3t"), 0);
    const struct channel *c = t.m.channel;
    CHECK_INT(c->records, 1);
    CHECK_INT(PASS(&t, 1, "", "wo\0\0\0\5th"), 0);
    CHECK_INT(c->records, 2);

    CASE("and of those that do not, in the same count");
    t.item = (struct frame_item){
        .kind = FRAME_MESSAGE,
        .message = {.type = FNET_BUFFER_RESPONSE,
                    .buffer = {.sequence = 2, .data_type = FNET_DATA_BUFFER, .size = 3}},
        .payload = fnet_span_of("ree", 3),
    };
    CHECK_INT(conversation_take(&t.conversation, t.connection, &t.item, &t.m), FNET_OK);
    CHECK(t.m.has_records);
    CHECK_INT(conversation_count_records(&t.m, NULL), FNET_OK);
    CHECK_INT(c->records, 3);
    CHECK(!t.m.has_records);

    CASE("missing bytes take the count of their buffer back");
    CHECK_INT(pass(&t, 3, fnet_span_of("\0\0\0\1a", 5), fnet_span_of("\0\0\0\1b", 5), 7),
              FOUND_RECORDS_LOST);
    CHECK_INT(c->records, 3);
    CHECK_INT(EVENT(&t, 4, FNET_EVENT_BUFFER), 0);
    CHECK_INT(PASS(&t, 5, "", "\0\0\0\1c"), 0);
    CHECK_INT(c->records, 4);

    CASE("an impossible length loses the records, those before it are counted");
    CHECK_INT(PASS(&t, 6, "\0\0\0\0", "\0\0\0\1d\xff\xff\xff\xff"), FOUND_BAD_RECORD);
    CHECK_INT(c->records, 6);
    CHECK(!c->are_records_known);

    CASE("a partition that ends inside a record is found");
    CHECK_INT(EVENT(&t, 7, FNET_EVENT_BUFFER), 0);
    CHECK_INT(PASS(&t, 8, "\0\0\0\7", "hal"), 0);
    CHECK_INT(EVENT(&t, 9, FNET_END_OF_PARTITION), FOUND_CUT_RECORD);
    end(&t);

    CASE("a channel that begins anew while a payload goes past loses that one's records");
    begin(&t);
    request(&t, 9);
    CHECK_INT(PASS(&t, 0, "", "\0\0\0\7half"), 0);
    const struct record_count count =
        record_count_from(conversation_place(t.connection, &t.item.message));
    request(&t, 9);
    t.item.message = (struct fnet_message){.type = FNET_BUFFER_RESPONSE,
                                           .buffer = {.data_type = FNET_DATA_BUFFER}};
    CHECK_INT(conversation_take(&t.conversation, t.connection, &t.item, &t.m), FNET_OK);
    CHECK_INT(conversation_count_records(&t.m, &count), FNET_OK);
    CHECK_INT(t.m.findings, FOUND_RECORDS_LOST);
    end(&t);
}

static void test_missing(void)
{
    struct fnet_message m = {
        .type = FNET_BUFFER_RESPONSE,
        .buffer = {.data_type = FNET_DATA_BUFFER, .size = 7},
    };
    struct talk t;

    CASE("missing payload bytes lose the records and the credit");
    begin(&t);
    request(&t, 1);
    CHECK_INT(take(&t, &m, fnet_span_of("\0\0\0", 3), 4), FOUND_RECORDS_LOST);
    CHECK(!t.m.has_records);
    CHECK(!t.m.channel->is_credit_known);

    CASE("an event of which bytes are missing is not decoded");
    m.buffer.data_type = FNET_EVENT_BUFFER;
    m.buffer.sequence = 1;
    CHECK_INT(take(&t, &m, fnet_span_of("\0\0\0", 3), 4), 0);
    CHECK(!t.m.has_event);

    CASE("an event that does not decode is found");
    CHECK_INT(buffer(&t, 2, FNET_EVENT_BUFFER, "\0\0\0\x63", 4), FOUND_BAD_EVENT);

    CASE("a compressed buffer of which bytes are missing is not decompressed");
    request(&t, 1);
    m.buffer = (struct fnet_buffer_response){
        .data_type = FNET_DATA_BUFFER, .size = 7, .is_compressed = true};
    CHECK_INT(take(&t, &m, fnet_span_of("abc", 3), 4), FOUND_RECORDS_LOST);
    CHECK_INT(t.m.channel->compressed, 1);
    CHECK_INT(t.m.channel->undecoded, 1);
    end(&t);
}

/* A frame of the N parts of SIZES; all that is taken or counted of it. */
static unsigned parts(struct talk *t, struct fnet_buffer_response buffer, const uint32_t *sizes,
                      uint32_t n, const char *payload, size_t missing)
{
    static uint8_t bytes[16 * 4]; /* what was taken borrows it */
    struct fnet_message m = {.type = FNET_BUFFER_RESPONSE, .buffer = buffer};

    for (uint32_t i = 0; i < n; i++) {
        fnet_store_be32(bytes + 4 * (size_t)i, sizes[i]);
        m.buffer.size += sizes[i];
    }
    m.buffer.partials = n;
    m.buffer.partial_sizes = fnet_span_of(bytes, 4 * (size_t)n);
    return take(t, &m, fnet_span_of(payload, m.buffer.size - missing), missing);
}

static struct fnet_buffer_response of_type(int32_t sequence, uint8_t data_type)
{
    return (struct fnet_buffer_response){.sequence = sequence, .data_type = data_type};
}

static void request_range(struct talk *t, int32_t first, int32_t last)
{
    const struct fnet_message m = {.type = FNET_PARTITION_REQUEST,
                                   .request = {.first = first, .last = last, .credit = 9}};

    take(t, &m, fnet_span_of("", 0), 0);
}

static void test_events(void)
{
    static const uint32_t ends[] = {4, 4, 4}, mixed[] = {12, 4, 4}, empty[] = {4, 0};
    static const char bytes[] = "\0\0\0\4\0\0\0\0\0\0\0\7\0\0\0\x63\0\0\0\0";
    struct fnet_event event;
    bool is_decoded;
    struct talk t;

    CASE("events that share a frame have a number each, and each counts");
    begin(&t);
    request_range(&t, 4, 7);
    const struct channel *c = t.m.channel;
    CHECK_INT(parts(&t, of_type(0, FNET_END_OF_PARTITION), ends, 3, bytes + 4, 0), FOUND_BAD_EVENT);
    CHECK_INT(c->events, 3);
    CHECK_INT(c->ends, 3);
    CHECK_INT(t.m.events, 3);
    CHECK(!t.m.has_event);

    CASE("a range is at its end when all its subpartitions are");
    CHECK(!c->is_ended);
    CHECK_INT(EVENT(&t, 3, FNET_END_OF_PARTITION), 0);
    CHECK(c->is_ended);
    CHECK(t.m.has_event);

    CASE("a new request begins anew");
    request_range(&t, 4, 7);
    CHECK(!c->is_ended);
    CHECK_INT(c->ends, 0);
    request_range(&t, 0, INT32_MAX);
    CHECK_INT(EVENT(&t, 0, FNET_END_OF_PARTITION), 0);
    CHECK(!c->is_ended);

    CASE("each is decoded by itself, one that cannot be does not hide the others");
    CHECK_INT(parts(&t, of_type(1, FNET_EVENT_BUFFER), mixed, 3, bytes, 0), FOUND_BAD_EVENT);
    struct payload_parts left = conversation_events(&t.m);
    CHECK(conversation_next_event(&t.m, &left, &event, &is_decoded) && is_decoded);
    CHECK_INT(event.type, FNET_EVENT_CANCEL_CHECKPOINT);
    CHECK_INT(event.checkpoint_id, 7);
    CHECK(conversation_next_event(&t.m, &left, &event, &is_decoded) && !is_decoded);
    CHECK(conversation_next_event(&t.m, &left, &event, &is_decoded) && is_decoded);
    CHECK_INT(event.type, FNET_EVENT_END_OF_PARTITION);
    CHECK(!conversation_next_event(&t.m, &left, &event, &is_decoded));
    CHECK_INT(parts(&t, of_type(4, FNET_EVENT_BUFFER), empty, 2, bytes + 16, 0), FOUND_BAD_EVENT);

    CASE("by its bytes, if its type does not tell, an event may be an end");
    CHECK_INT(c->ends, 3);

    CASE("if bytes are missing they are as many");
    CHECK_INT(parts(&t, of_type(6, FNET_END_OF_DATA), ends, 3, bytes, 2), 0);
    CHECK_INT(c->events, 3 + 1 + 1 + 3 + 2 + 3);
    CHECK_INT(t.m.events, 0);
    CHECK_INT(EVENT(&t, 9, FNET_EVENT_BUFFER), 0);
    end(&t);

    CASE("a subpartition that ends inside a record is found, the next begins with one");
    begin(&t);
    request_range(&t, 0, 1);
    CHECK_INT(DATA(&t, 0, "\0\0\0\7hal"), 0);
    CHECK_INT(EVENT(&t, 1, FNET_END_OF_PARTITION), FOUND_CUT_RECORD);
    CHECK_INT(DATA(&t, 2, "\0\0\0\3new"), 0);
    CHECK_STR(t.records, "new ");
    CHECK_INT(EVENT(&t, 3, FNET_END_OF_PARTITION), 0);
    CHECK(t.m.channel->is_ended);
    end(&t);
}

/* As Flink's LZ4 blocks, which only copy: "\0\0\0\3one\0\0" and "\0\3two". */
#define ONE "\x0a\0\0\0\x09\0\0\0\x90\0\0\0\3one\0\0"
#define TWO "\6\0\0\0\5\0\0\0\x50\0\3two"

static void test_compressed(void)
{
    static const uint32_t sizes[] = {sizeof ONE - 1, sizeof TWO - 1};
    static const char blocks[] = ONE TWO, bad[] = ONE "\6\0\0\0\5\0\0\0\x60\0\3two";
    struct fnet_buffer_response b = {.data_type = FNET_DATA_BUFFER, .is_compressed = true};
    struct talk t;

    if (!fnet_codec_is_available(FNET_CODEC_LZ4)) {
        CASE("a codec that is not built in is told once, its buffers are counted");
        begin(&t);
        request(&t, 9);
        CHECK_INT(parts(&t, b, sizes, 2, blocks, 0), FOUND_NO_CODEC);
        b.sequence = 2;
        CHECK_INT(parts(&t, b, sizes, 2, blocks, 0), 0);
        CHECK_INT(t.m.bad_codec, FNET_CODEC_LZ4);
        CHECK_INT(t.m.channel->undecoded, 4);
        end(&t);
        return;
    }

    CASE("records lie across compressed buffers, each of which is decompressed by itself");
    begin(&t);
    request(&t, 9);
    const struct channel *c = t.m.channel;
    CHECK_INT(parts(&t, b, sizes, 2, blocks, 0), 0);
    CHECK_STR(t.records, "one two ");
    CHECK_INT(t.m.codec, FNET_CODEC_LZ4);
    CHECK_INT(c->compressed, 2);
    CHECK_INT(c->undecoded, 0);
    CHECK_INT(c->credit, 8);

    CASE("one that does not decompress loses the records up to a boundary");
    b.sequence = 2;
    CHECK_INT(parts(&t, b, sizes, 2, bad, 0), 0 | FOUND_BAD_BLOCK);
    CHECK_STR(t.records, "one ");
    CHECK_INT(t.m.bad_block, 1);
    CHECK_INT(t.m.bad_codec, FNET_CODEC_LZ4);
    CHECK_INT(t.m.block_err, FNET_BAD_VALUE);
    CHECK_INT(c->undecoded, 1);
    CHECK(!c->are_records_known);
    CHECK_INT(DATA(&t, 4, "\0\0\0\0"), 0);

    CASE("also those whose records are not known are looked at");
    b.sequence = 5;
    CHECK_INT(parts(&t, b, sizes, 2, bad, 0), FOUND_BAD_BLOCK);
    CHECK_INT(c->compressed, 6);
    CHECK_INT(c->undecoded, 2);
    CHECK_INT(c->records, 3);
    end(&t);

    CASE("they are counted, too");
    const struct fnet_message m = {
        .type = FNET_BUFFER_RESPONSE,
        .buffer = {.data_type = FNET_DATA_BUFFER, .is_compressed = true, .size = sizeof ONE - 1}};
    begin(&t);
    request(&t, 9);
    t.item.message = m;
    t.item.payload = fnet_span_of(ONE, sizeof ONE - 1);
    CHECK_INT(conversation_take(&t.conversation, t.connection, &t.item, &t.m), FNET_OK);
    CHECK_INT(conversation_count_records(&t.m, NULL), FNET_OK);
    CHECK_INT(t.m.channel->records, 1);
    CHECK(record_place_is_mid_record(&t.m.channel->place));
    end(&t);
}

static void test_old_dialects(void)
{
    struct fnet_message m = {.type = FNET_BUFFER_RESPONSE,
                             .buffer = {.data_type = FNET_EVENT_BUFFER, .size = 30}};
    static const uint8_t barrier[30] = {[3] = 1, [24] = 0xff, 0xff, 0xff, 0xff, 2};
    struct talk t;

    CASE("where the end of a partition is but an event, it is still found");
    begin(&t);
    request(&t, 2);
    CHECK_INT(DATA(&t, 0, "\0\0\0\7hal"), 0);
    CHECK_INT(EVENT(&t, 1, FNET_EVENT_BUFFER), FOUND_CUT_RECORD);
    CHECK(t.m.channel->is_ended);
    end(&t);

    CASE("an unaligned barrier of 1.11 may stand inside a record");
    begin(&t);
    CHECK_INT(DATA(&t, 5, "?"), 0);
    m.buffer.sequence = 6;
    t.item = (struct frame_item){.dialect = fnet_dialect_at(4),
                                 .message = m,
                                 .payload = fnet_span_of(barrier, sizeof barrier)};
    CHECK_STR(t.item.dialect->name, "1.11.4");
    CHECK_INT(conversation_take(&t.conversation, t.connection, &t.item, &t.m), FNET_OK);
    CHECK(t.m.has_event);
    CHECK_INT(t.m.event.barrier.alignment_type, FNET_UNALIGNED);
    CHECK_INT(DATA(&t, 7, "\0\0\0\1?"), 0);
    CHECK(!t.m.has_records);
    end(&t);
}

static void test_counts(void)
{
    const struct fnet_message close = {.type = FNET_CLOSE_REQUEST};
    struct fnet_message error = {.type = FNET_ERROR_RESPONSE};
    struct talk t;

    CASE("messages are counted by direction, errors by what they concern");
    begin(&t);
    request(&t, 2);
    DATA(&t, 0, "\0\0\0\0");
    take(&t, &close, fnet_span_of("", 0), 0);
    CHECK(!t.m.channel);
    CHECK_INT(take(&t, &error, fnet_span_of("", 0), 0), FOUND_BAD_ERROR);
    error.error.has_receiver = true;
    take(&t, &error, fnet_span_of("", 0), 0);
    CHECK_INT(t.connection->messages[REQUEST], 2);
    CHECK_INT(t.connection->messages[RESPONSE], 3);
    CHECK_INT(t.connection->bytes[RESPONSE], 300);
    CHECK_INT(t.connection->errors, 1);
    CHECK_INT(t.m.channel->errors, 1);
    CHECK_INT(t.m.channel->messages, 3);
    CHECK_INT(t.m.channel->buffers, 1);
    CHECK_INT(t.m.channel->payload_bytes, 4);
    end(&t);
}

static void test_names(void)
{
    const struct fnet_flow flow = {
        .ends = {{.address = {10, 0, 0, 2}, .port = 6121, .ip_version = 4},
                 {.address = {10, 0, 0, 1}, .port = 40000, .ip_version = 4}},
        .reuse = 1,
    };
    char name[CONNECTION_NAME_BYTES];
    struct talk t;

    CASE("the consumer comes first in a connection's name, whoever spoke first");
    begin(&t);
    CHECK_INT(conversation_connect(&t.conversation, &flow, 0, RESPONSE, NULL, &t.connection),
              FNET_OK);
    conversation_name(t.connection, name);
    CHECK_STR(name, "10.0.0.1:40000-10.0.0.2:6121#2");
    CHECK_INT(conversation_connect(&t.conversation, &flow, 1, REQUEST, NULL, &t.connection),
              FNET_OK);
    conversation_name(t.connection, name);
    CHECK_STR(name, "10.0.0.1:40000-10.0.0.2:6121#2");
    end(&t);
}

static void test_no_memory(void)
{
    unsigned n = 0;
    bool failed;

    CASE("without memory a message is refused and nothing is left behind");
    do {
        struct conversation c;
        struct connection *connection;
        struct inspected m;
        const struct frame_item item = {.message = {.type = FNET_ADD_CREDIT, .credit = 1}};
        failmalloc_arm(++n);
        conversation_init(&c, NULL, FNET_CODEC_NONE);
        enum fnet_err err = conversation_connect(&c, NULL, 0, REQUEST, NULL, &connection);
        if (err == FNET_OK)
            err = conversation_take(&c, connection, &item, &m);
        failed = failmalloc_disarm();
        CHECK_INT(err, failed ? FNET_NOMEM : FNET_OK);
        conversation_clear(&c);
    } while (failed);
}

int main(void)
{
    test_credit();
    test_backlog();
    test_sequence();
    test_records();
    test_counted_records();
    test_missing();
    test_events();
    test_compressed();
    test_old_dialects();
    test_counts();
    test_names();
    test_no_memory();
    return tap_done();
}
