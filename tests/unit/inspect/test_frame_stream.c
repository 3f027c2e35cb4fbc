/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect/frame_stream: frames are found again behind whatever is no frame.
 */
#include "inspect/frame_stream.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "../failmalloc.h"
#include "../tap.h"

#define CREDIT_BYTES 29

/* A stream being written by a test. */
struct bytes {
    uint8_t at[2048];
    size_t len;
};

static void put_raw(struct bytes *b, const char *text, size_t len)
{
    memcpy(b->at + b->len, text, len);
    b->len += len;
}

static void put_credit(struct bytes *b, int32_t credit)
{
    const struct fnet_message m = {.type = FNET_ADD_CREDIT, .credit = credit};
    struct fnet_writer w = fnet_writer_of(b->at + b->len, sizeof b->at - b->len);

    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &m, &w), FNET_OK);
    b->len += CREDIT_BYTES;
}

static void put_buffer(struct bytes *b, int32_t sequence, uint32_t size)
{
    const struct fnet_message m = {
        .type = FNET_BUFFER_RESPONSE,
        .buffer = {.sequence = sequence, .data_type = FNET_DATA_BUFFER, .size = size},
    };
    struct fnet_writer w = fnet_writer_of(b->at + b->len, sizeof b->at - b->len);

    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &m, &w), FNET_OK);
    b->len += FNET_BUFFER_RESPONSE_HEAD_BYTES;
    memset(b->at + b->len, 'p', size);
    b->len += size;
}

/* What came out, one word an item. */
static char came[4096];

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    size_t used = strlen(came);
    va_list args;

    va_start(args, format);
    vsnprintf(came + used, sizeof came - used, format, args);
    va_end(args);
}

static void say_skip(const struct frame_item *item)
{
    const struct frame_skip *s = &item->skip;

    say(" skip@%" PRIu64 "(", item->offset);
    if (s->is_mid_stream)
        say("mid ");
    if (s->is_cut)
        say("cut:%u/%" PRIu32 " ", s->type, s->length);
    if (s->err != FNET_OK)
        say("err:%d ", s->err);
    say("lost:%" PRIu64 " skipped:%" PRIu64 "%s)", s->lost, s->skipped, s->is_at_end ? " end" : "");
}

static void drain(struct frame_stream *s)
{
    struct frame_item item;

    while (frame_stream_next(s, &item) == FNET_OK) {
        switch (item.kind) {
        case FRAME_NOTHING: CHECK(false); break;
        case FRAME_MESSAGE:
            if (item.message.type == FNET_ADD_CREDIT)
                say(" credit@%" PRIu64 "(%" PRId32 ")", item.offset, item.message.credit);
            else
                say(" buffer@%" PRIu64 "(%" PRId32 " %zu-%zu)", item.offset,
                    item.message.buffer.sequence, item.payload.len + item.missing, item.missing);
            for (size_t i = 0; i < item.payload.len; i++)
                CHECK_INT(item.payload.ptr[i], 'p');
            break;
        case FRAME_SKIPPED: say_skip(&item); break;
        case FRAME_FOREIGN:
            say(" foreign(%s %" PRIu64 ")", item.name ? item.name : "?", item.bytes);
            break;
        }
    }
}

static void feed(struct frame_stream *s, const void *bytes, size_t len)
{
    /* A copy that is gone before the next: nothing may borrow it. */
    uint8_t *copy = malloc(len ? len : 1);

    memcpy(copy, bytes, len);
    CHECK_INT(frame_stream_feed(s, fnet_span_of(copy, len), false, 0), FNET_OK);
    memset(copy, '!', len);
    free(copy);
    drain(s);
}

static struct dialect_guess guess;

static void begin(struct frame_stream *s)
{
    *came = '\0';
    dialect_guess_init(&guess, NULL);
    frame_stream_init(s, NULL, &guess);
}

static void gap(struct frame_stream *s, uint64_t lost)
{
    frame_stream_decide(s);
    drain(s);
    frame_stream_gap(s, lost);
    drain(s);
}

static void end(struct frame_stream *s, const char *expected)
{
    frame_stream_finish(s);
    drain(s);
    CHECK_STR(came, expected);
    frame_stream_clear(s);
}

/* The whole of B gives EXPECTED, in one piece and in pieces of every length. */
static void check_bytes(const struct bytes *b, const char *expected)
{
    for (size_t piece = 1; piece <= b->len; piece += piece < 70 ? 1 : 37) {
        struct frame_stream s;
        begin(&s);
        for (size_t at = 0; at < b->len; at += piece)
            feed(&s, b->at + at, b->len - at < piece ? b->len - at : piece);
        end(&s, expected);
    }
}

static void test_frames(void)
{
    struct bytes b = {.len = 0};
    struct frame_stream s;

    CASE("frames come out as they went in, however they are cut");
    put_credit(&b, 1);
    put_buffer(&b, 7, 100);
    put_buffer(&b, 8, 0);
    put_credit(&b, 2);
    check_bytes(&b, " credit@0(1) buffer@29(7 100-0) buffer@176(8 0-0) credit@223(2)");

    CASE("nothing at all is nothing");
    begin(&s);
    end(&s, "");
}

static void test_garbage(void)
{
    struct bytes b = {.len = 0};

    CASE("what is between frames is skipped and counted");
    put_credit(&b, 1);
    put_raw(&b, "nonsense!", 9);
    put_credit(&b, 2);
    check_bytes(&b, " credit@0(1) skip@29(err:-31 lost:0 skipped:9) credit@38(2)");

    CASE("a magic number alone makes no frame");
    b.len = 0;
    put_credit(&b, 1);
    put_raw(&b, "\xba\xdc\x0f\xfe\xba\xdc\x0f\xfe\xba\xdc\x0f\xfe", 12);
    put_credit(&b, 2);
    check_bytes(&b, " credit@0(1) skip@29(err:-33 lost:0 skipped:12) credit@41(2)");

    CASE("a frame that does not decode is skipped up to the next");
    b.len = 0;
    put_credit(&b, 1);
    b.at[12] = 0; /* a credit of 0 */
    put_credit(&b, 2);
    check_bytes(&b, " skip@0(err:-35 lost:0 skipped:29) credit@29(2)");

    CASE("a frame of 2 GB is not waited for");
    b.len = 0;
    put_credit(&b, 1);
    put_raw(&b, "\x7f\xff\xff\xff\xba\xdc\x0f\xfe\x01", 9);
    put_credit(&b, 2);
    check_bytes(&b, " credit@0(1) skip@29(err:-32 lost:0 skipped:9) credit@38(2)");

    CASE("nonsense at the end is counted, too");
    b.len = 0;
    put_credit(&b, 1);
    put_raw(&b, "....trailing", 12);
    check_bytes(&b, " credit@0(1) skip@29(err:-31 lost:0 skipped:12 end)");
}

static void test_cut(void)
{
    struct bytes b = {.len = 0};

    CASE("a frame cut by the end is said, with its type and length");
    put_credit(&b, 1);
    put_credit(&b, 2);
    b.len -= 5;
    check_bytes(&b, " credit@0(1) skip@29(cut:6/29 lost:0 skipped:24 end)");
    b.len = CREDIT_BYTES + 5;
    check_bytes(&b, " credit@0(1) skip@29(cut:0/0 lost:0 skipped:5 end)");

    CASE("a buffer whose payload is cut by the end is still a message");
    b.len = 0;
    put_buffer(&b, 3, 50);
    b.len -= 20;
    check_bytes(&b, " buffer@0(3 50-20)");
}

static void test_gaps(void)
{
    struct bytes b = {.len = 0};
    struct frame_stream s;

    put_credit(&b, 1);
    put_buffer(&b, 7, 100);
    put_credit(&b, 2);
    put_credit(&b, 3);

    CASE("a gap inside a payload does not lose the frames behind it");
    begin(&s);
    feed(&s, b.at, 100);
    gap(&s, 10);
    feed(&s, b.at + 110, 10);
    gap(&s, 20);
    feed(&s, b.at + 140, b.len - 140);
    end(&s, " credit@0(1) buffer@29(7 100-30) credit@176(2) credit@205(3)");

    CASE("a gap up to the end of a payload, too");
    begin(&s);
    feed(&s, b.at, 100);
    gap(&s, 76);
    feed(&s, b.at + 176, b.len - 176);
    end(&s, " credit@0(1) buffer@29(7 100-76) credit@176(2) credit@205(3)");

    CASE("a gap beyond the payload leaves the message and hides what follows");
    begin(&s);
    feed(&s, b.at, 100);
    gap(&s, 80);
    feed(&s, b.at + 180, b.len - 180);
    end(&s, " credit@0(1) buffer@29(7 100-76) skip@176(lost:4 skipped:25) credit@205(3)");

    CASE("a gap between frames is said when the next frame is there");
    begin(&s);
    feed(&s, b.at, 29);
    gap(&s, 147);
    CHECK_STR(came, " credit@0(1)");
    feed(&s, b.at + 176, b.len - 176);
    end(&s, " credit@0(1) skip@29(lost:147 skipped:0) credit@176(2) credit@205(3)");

    CASE("a gap inside the head of a frame cuts it");
    begin(&s);
    feed(&s, b.at, 50);
    gap(&s, 10);
    feed(&s, b.at + 60, b.len - 60);
    end(&s, " credit@0(1) skip@29(cut:0/147 lost:10 skipped:137) credit@176(2) credit@205(3)");

    CASE("a gap of unknown length");
    begin(&s);
    feed(&s, b.at, 100);
    gap(&s, FNET_GAP_UNKNOWN);
    feed(&s, b.at + 180, b.len - 180);
    end(&s, " credit@0(1) buffer@29(7 100-76) skip@176(mid lost:0 skipped:25) credit@201(3)");
}

static void test_mid_stream(void)
{
    struct bytes b = {.len = 0};
    struct frame_stream s;

    put_buffer(&b, 7, 30);
    put_credit(&b, 2);

    CASE("a start in mid-stream finds the first frame");
    begin(&s);
    gap(&s, FNET_GAP_UNKNOWN);
    feed(&s, b.at + 10, b.len - 10);
    end(&s, " skip@0(mid lost:0 skipped:67) credit@67(2)");

    CASE("a start in mid-stream at a frame skips nothing, and is said");
    begin(&s);
    gap(&s, FNET_GAP_UNKNOWN);
    feed(&s, b.at, b.len);
    end(&s, " skip@0(mid lost:0 skipped:0) buffer@0(7 30-0) credit@77(2)");

    CASE("nothing but the middle of something is foreign");
    begin(&s);
    gap(&s, FNET_GAP_UNKNOWN);
    feed(&s, b.at + 10, 60);
    end(&s, " foreign(? 60)");
}

static void test_foreign(void)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *expected;
    } cases[] = {
        {"GET / HTTP/1.1\r\n", 16, " foreign(HTTP 16)"},
        {"HTTP/1.1 200 OK\r\n", 17, " foreign(HTTP 17)"},
        {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03", 10, " foreign(TLS 10)"},
        {"SSH-2.0-x\r\n", 11, " foreign(SSH 11)"},
        {"hello world\n", 12, " foreign(text 12)"},
        {"hi", 2, " foreign(text 2)"},
        {"\x1f\x8b\x08\0\0\0\0\0\0\0", 10, " foreign(gzip 10)"},
        {"\0\0\0\x09\xba\xdc\x0f\xff\x05", 9, " foreign(? 9)"},
    };

    CASE("other protocols are named by their first bytes, not guessed at");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct frame_stream s;
        begin(&s);
        feed(&s, cases[i].bytes, cases[i].len);
        end(&s, cases[i].expected);
    }

    CASE("what follows a foreign start is not looked at");
    struct frame_stream s;
    struct bytes b = {.len = 0};
    put_credit(&b, 1);
    begin(&s);
    feed(&s, "GET / HTTP/1.1\r\n\r\n", 18);
    feed(&s, b.at, b.len);
    gap(&s, 7);
    end(&s, " foreign(HTTP 18)");

    CASE("a magic number makes even text a stream");
    b.len = 0;
    put_raw(&b, "GET \xba\xdc\x0f\xfe", 8);
    put_credit(&b, 2);
    check_bytes(&b, " skip@0(lost:0 skipped:8) credit@8(2)");
}

/* Feed as those do who want no payloads. */
static void feed_past(struct frame_stream *s, const uint8_t *bytes, size_t len)
{
    while (len > 0) {
        size_t n = frame_stream_due(s);
        n = n < len ? n : len;
        if (n > 0) {
            frame_stream_skip_ahead(s, n, false, 0);
            drain(s);
        } else {
            n = frame_stream_bite(s, len);
            feed(s, bytes, n);
        }
        bytes += n;
        len -= n;
    }
}

static void test_passing(void)
{
    struct bytes b = {.len = 0};
    struct frame_stream s;

    put_credit(&b, 1);
    put_buffer(&b, 7, 1000);
    put_credit(&b, 2);
    put_buffer(&b, 8, 10);
    put_credit(&b, 3);

    CASE("payloads may go past, the messages are the same");
    for (size_t piece = 1; piece <= b.len; piece++) {
        begin(&s);
        for (size_t at = 0; at < b.len; at += piece)
            feed_past(&s, b.at + at, b.len - at < piece ? b.len - at : piece);
        CHECK(s.staged.capacity <= 4096);
        CHECK(strncmp(came, " credit@0(1) buffer@29(7 ", 25) == 0);
        CHECK(strstr(came, " credit@1076(2) buffer@1105(8 ") != NULL);
        CHECK(strstr(came, " credit@1162(3)") != NULL);
        CHECK_INT(s.seen, b.len);
        end(&s, came);
    }

    CASE("what was fed of a payload that goes past is there, and whose it is");
    struct fnet_message message;
    begin(&s);
    feed(&s, b.at, 100);
    CHECK_INT(frame_stream_due(&s), 976);
    CHECK_INT(frame_stream_peek(&s, &message).len, 24);
    CHECK_INT(message.buffer.sequence, 7);
    frame_stream_skip_ahead(&s, 970, false, 0);
    drain(&s);
    CHECK_INT(frame_stream_due(&s), 6);
    CHECK_STR(came, " credit@0(1)");

    CASE("a gap in a payload that goes past leaves the message");
    gap(&s, 6);
    CHECK_STR(came, " credit@0(1) buffer@29(7 30-6)");
    feed_past(&s, b.at + 1076, b.len - 1076);
    end(&s, " credit@0(1) buffer@29(7 30-6) credit@1076(2) buffer@1105(8 10-0) credit@1162(3)");

    CASE("so does a gap beyond it");
    begin(&s);
    feed_past(&s, b.at, 29);
    feed_past(&s, b.at + 29, 471);
    gap(&s, 600);
    feed_past(&s, b.at + 1100, b.len - 1100);
    end(&s, " credit@0(1) buffer@29(7 593-576) skip@1076(lost:24 skipped:5) buffer@1105(8 10-0)"
            " credit@1162(3)");

    CASE("and the end");
    begin(&s);
    feed_past(&s, b.at, 29);
    feed_past(&s, b.at + 29, 471);
    end(&s, " credit@0(1) buffer@29(7 593-576)");

    CASE("one that is fed after all is fed as one");
    begin(&s);
    feed(&s, b.at, 100);
    CHECK_INT(frame_stream_bite(&s, 5000), 976);
    CHECK_INT(frame_stream_bite(&s, 900), 900);
    feed(&s, b.at + 100, 900);
    CHECK_INT(frame_stream_bite(&s, 5000), 76);
    feed(&s, b.at + 1000, b.len - 1000);
    end(&s, " credit@0(1) buffer@29(7 1000-0) credit@1076(2) buffer@1105(8 10-0) credit@1162(3)");

    CASE("no event goes past");
    b.len = 0;
    put_buffer(&b, 7, 1000);
    b.at[41] = FNET_EVENT_BUFFER;
    begin(&s);
    feed(&s, b.at, 100);
    CHECK_INT(frame_stream_due(&s), 0);
    frame_stream_clear(&s);
}

/* A data buffer of VERSION, one record that fills it. */
static void put_record(struct bytes *b, const char *version, int32_t sequence, uint32_t size)
{
    const struct fnet_message m = {
        .type = FNET_BUFFER_RESPONSE,
        .buffer = {.sequence = sequence, .data_type = FNET_DATA_BUFFER, .size = size},
    };
    const struct fnet_dialect *dialect = fnet_dialect_newest();
    struct fnet_writer w = fnet_writer_of(b->at + b->len, sizeof b->at - b->len);

    CHECK_INT(fnet_dialect_parse(version, &dialect), FNET_OK);
    CHECK_INT(fnet_message_encode(dialect, &m, &w), FNET_OK);
    b->len += dialect->buffer.head;
    memset(b->at + b->len, 'p', size);
    b->len += size;
}

static void test_dialects(void)
{
    struct bytes b = {.len = 0};
    struct frame_stream s;

    CASE("frames of any dialect come out, however they are cut");
    put_record(&b, "1.8", 7, 10);
    put_record(&b, "1.8", 8, 300);
    check_bytes(&b, " buffer@0(7 10-0) buffer@48(8 300-0)");
    b.len = 0;
    put_record(&b, "1.17", 7, 10);
    put_record(&b, "1.17", 8, 0);
    check_bytes(&b, " buffer@0(7 10-0) buffer@49(8 0-0)");

    CASE("one that fits two dialects is kept back until another tells");
    b.len = 0;
    put_record(&b, "1.19", 7, 252);
    put_record(&b, "1.19", 8, 252);
    put_record(&b, "1.19", 9, 3);
    check_bytes(&b, " buffer@0(7 252-0) buffer@295(8 252-0) buffer@590(9 3-0)");

    CASE("but not behind a gap or the end; then it is read as the newest");
    begin(&s);
    feed(&s, b.at, 300);
    CHECK_STR(came, "");
    gap(&s, 290);
    CHECK_STR(came, " buffer@0(7 252-0)");
    feed(&s, b.at + 590, b.len - 590);
    end(&s, " buffer@0(7 252-0) skip@295(cut:0/0 lost:290 skipped:5) buffer@590(9 3-0)");
    begin(&s);
    feed(&s, b.at, 590);
    CHECK_STR(came, "");
    end(&s, " buffer@0(7 252-0) buffer@295(8 252-0)");

    CASE("its time is when it came, not when another told");
    struct frame_item item;
    begin(&s);
    CHECK_INT(frame_stream_feed(&s, fnet_span_of(b.at, 295), true, 5), FNET_OK);
    CHECK_INT(frame_stream_next(&s, &item), FNET_AGAIN);
    CHECK_INT(frame_stream_feed(&s, fnet_span_of(b.at + 295, 295), true, 6), FNET_OK);
    CHECK_INT(frame_stream_next(&s, &item), FNET_AGAIN);
    CHECK_INT(frame_stream_feed(&s, fnet_span_of(b.at + 590, b.len - 590), true, 7), FNET_OK);
    for (uint64_t time = 5; time <= 7; time++) {
        CHECK_INT(frame_stream_next(&s, &item), FNET_OK);
        CHECK_INT(item.time_ns, time);
        CHECK_STR(item.dialect->name, "1.19");
    }
    frame_stream_clear(&s);

    CASE("frames of another dialect are refused until they are the majority");
    b.len = 0;
    put_record(&b, "1.19", 7, 10);
    put_record(&b, "2.0", 8, 10);
    put_record(&b, "2.0", 9, 10);
    check_bytes(&b, " buffer@0(7 10-0) skip@53(err:-32 lost:0 skipped:57) buffer@110(9 10-0)");
}

static void test_no_memory(void)
{
    struct bytes b = {.len = 0};
    unsigned n = 0;
    bool failed;

    CASE("without memory the feed says so and leaves nothing behind");
    put_credit(&b, 1);
    do {
        struct frame_stream s;
        failmalloc_arm(++n);
        dialect_guess_init(&guess, NULL);
        frame_stream_init(&s, NULL, &guess);
        enum fnet_err err = frame_stream_feed(&s, fnet_span_of(b.at, b.len), false, 0);
        failed = failmalloc_disarm();
        CHECK_INT(err, failed ? FNET_NOMEM : FNET_OK);
        frame_stream_clear(&s);
    } while (failed);
}

int main(void)
{
    test_frames();
    test_garbage();
    test_cut();
    test_gaps();
    test_mid_stream();
    test_foreign();
    test_passing();
    test_dialects();
    test_no_memory();
    return tap_done();
}
