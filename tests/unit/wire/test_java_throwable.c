/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Class and message of Java's throwables, out of streams and into them.
 */
#include "fnet/wire.h"

#include "../golden.h"
#include "../tap.h"

#define GOLDEN "tests/golden/wire/"
#define IO_EXCEPTION "java.io.IOException"
#define RUNTIME_EXCEPTION "java.lang.RuntimeException"

static const struct {
    const char *name;
    const char *class_name;
    const char *message;
} written_by_java[] = {
    {"plain", IO_EXCEPTION, "plain words"},
    {"null-message", RUNTIME_EXCEPTION, ""},
    {"shared-message", RUNTIME_EXCEPTION, "shared words"},
    {"suppressed", IO_EXCEPTION, "outer"},
    {"chain", RUNTIME_EXCEPTION, "level 11"},
    /* Deeper than the walk goes, and the message stands behind the causes. */
    {"deep-chain", RUNTIME_EXCEPTION, ""},
    {"unicode", IO_EXCEPTION,
     "nul\xef\xbf\xbd \xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80 \xef\xbf\xbd."},
    {"loaded", "Throwables$Loaded", "loaded words"},
    {"around-loaded", RUNTIME_EXCEPTION, "around"},
    {"producer-failed", "org.apache.flink.runtime.io.network.partition.ProducerFailedException",
     "org.apache.flink.runtime.execution.CancelTaskException: "
     "org.apache.flink.runtime.execution.CancelTaskException: cancelled"},
    {"remote-transport",
     "org.apache.flink.runtime.io.network.netty.exception.RemoteTransportException", "lost"},
};

static void test_written_by_java(void)
{
    for (size_t i = 0; i < sizeof written_by_java / sizeof *written_by_java; i++) {
        struct fnet_span stream = golden_load(GOLDEN "throwables.txt", written_by_java[i].name);
        struct fnet_throwable t;
        CASE(written_by_java[i].name);
        CHECK_INT(fnet_throwable_decode(stream, &t), FNET_OK);
        CHECK_STR(t.class_name, written_by_java[i].class_name);
        CHECK_STR(t.message, written_by_java[i].message);
        free((void *)(uintptr_t)stream.ptr);
    }
}

static void test_vectors(void)
{
    struct fnet_span fatal = golden_load(GOLDEN "flink-2.3.txt", "ErrorFatal");
    struct fnet_span not_found = golden_load(GOLDEN "flink-2.3.txt", "ErrorPNF");
    struct fnet_message m;
    struct fnet_throwable t;
    size_t used;

    CASE("the throwables of the vectors");
    CHECK_INT(fnet_message_decode(fnet_dialect_newest(), fatal, &used, &m), FNET_OK);
    CHECK_INT(fnet_throwable_decode(m.error.throwable, &t), FNET_OK);
    CHECK_STR(t.class_name, "java.lang.IllegalStateException");
    CHECK_STR(t.message, "x");
    CHECK_INT(fnet_message_decode(fnet_dialect_newest(), not_found, &used, &m), FNET_OK);
    CHECK_INT(fnet_throwable_decode(m.error.throwable, &t), FNET_OK);
    CHECK_STR(t.class_name, FNET_PARTITION_NOT_FOUND_CLASS);
    CHECK_STR(t.message, "Partition a0a1a2a3a4a5a6a7a8a9aaabacadaeaf#3@"
                         "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf_c0c1c2c3c4c5c6c7c8c9cacbcccdcecf_3_1"
                         " not found.");
    free((void *)(uintptr_t)fatal.ptr);
    free((void *)(uintptr_t)not_found.ptr);
}

/* What comes back of MESSAGE. */
static struct fnet_throwable pass(bool not_found, const char *message)
{
    uint8_t stream[FNET_THROWABLE_ENCODED_MAX_BYTES];
    struct fnet_writer w = fnet_writer_of(stream, sizeof stream);
    struct fnet_throwable t = {.class_name = ""};

    CHECK_INT(fnet_throwable_encode(not_found, message, &w), FNET_OK);
    CHECK_INT(fnet_throwable_decode(fnet_span_of(stream, (size_t)(w.pos - stream)), &t), FNET_OK);
    return t;
}

static void test_round_trip(void)
{
    /* Characters of one to four bytes, with what becomes six in Java. */
    static const char words[] =
        "disk \"full\" \xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf";
    struct fnet_throwable t;

    CASE("both classes, any text");
    t = pass(false, words);
    CHECK_STR(t.class_name, IO_EXCEPTION);
    CHECK_STR(t.message, words);
    t = pass(true, words);
    CHECK_STR(t.class_name, FNET_PARTITION_NOT_FOUND_CLASS);
    CHECK_STR(t.message, words);
    CHECK_STR(pass(false, "").message, "");

    CASE("bytes that are no UTF-8 become question marks");
    CHECK_STR(pass(false, "a\xff"
                          "b")
                  .message,
              "a?b");
    CHECK_STR(pass(false, "\xc0\x80 overlong").message, "?? overlong");
    CHECK_STR(pass(false, "\xed\xa0\x80 surrogate").message, "??? surrogate");
    CHECK_STR(pass(false, "\xf4\x90\x80\x80 too high").message, "???? too high");
    CHECK_STR(pass(false, "\xf8\x88\x80\x80\x80 five").message, "????? five");
    CHECK_STR(pass(false, "cut \xe2\x82").message, "cut ??");
}

static void test_long_text(void)
{
    static char text[4 * FNET_THROWABLE_TEXT_BYTES + 1];
    size_t most = FNET_THROWABLE_TEXT_BYTES - 1;

    CASE("long text is cut");
    memset(text, 'x', sizeof text - 1);
    CHECK_INT(strlen(pass(true, text).message), most);

    CASE("between characters");
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'x', shift);
        for (size_t i = 0; i + 4 < sizeof text - shift; i += 4)
            memcpy(text + shift + i, "\xf0\x9f\x98\x80", 4);
        struct fnet_throwable t = pass(true, text);
        CHECK_INT(strlen(t.message), (most - shift) / 4 * 4 + shift);
        CHECK_MEM(t.message, text, strlen(t.message));
    }
}

static void test_room(void)
{
    uint8_t stream[FNET_THROWABLE_ENCODED_MAX_BYTES];
    struct fnet_writer w = fnet_writer_of(stream, sizeof stream);
    struct fnet_throwable t;

    CHECK_INT(fnet_throwable_encode(true, "no such partition", &w), FNET_OK);
    size_t len = (size_t)(w.pos - stream);

    CASE("without room nothing is written");
    for (size_t room = 0; room < len; room++) {
        w = fnet_writer_of(stream, room);
        CHECK_INT(fnet_throwable_encode(true, "no such partition", &w), FNET_RANGE);
        CHECK(w.pos == stream && !w.failed);
    }

    CASE("a stream that was cut says its class once that is there, its message once that is");
    w = fnet_writer_of(stream, len);
    CHECK_INT(fnet_throwable_encode(true, "no such partition", &w), FNET_OK);
    size_t head = 4 + 1 + 1 + 2 + strlen(FNET_PARTITION_NOT_FOUND_CLASS);
    for (size_t cut = 0; cut < len; cut++) {
        memset(&t, 'u', sizeof t);
        enum fnet_err err = fnet_throwable_decode(fnet_span_of(stream, cut), &t);
        CHECK_INT(err, cut < head ? FNET_TRUNCATED : FNET_OK);
        if (err == FNET_OK)
            CHECK_STR(t.class_name, FNET_PARTITION_NOT_FOUND_CLASS);
        else
            CHECK(t.class_name[0] == 'u' && t.message[0] == 'u');
        if (err == FNET_OK)
            CHECK_STR(t.message, cut < len - 4 ? "" : "no such partition");
    }
}

int main(void)
{
    test_written_by_java();
    test_vectors();
    test_round_trip();
    test_long_text();
    test_room();
    return tap_done();
}
