/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said of a producer's error: enough, and nothing twice.
 */
#include "../../../lib/session/thrown.h"

#include "../flink_golden.h"
#include "../golden.h"
#include "../tap.h"
#include "../wire/java_stream.h"

#define MOST (FNET__SESSION_TEXT_BYTES - 1)

static struct fnet__session_thrown thrown;

/* A throwable of class number 0, or of another one if ORIGINAL is given, up to its cause. */
static void open_throwable(struct stream *s, bool is_first, const char *original)
{
    if (!is_first && !original) {
        fnet_put_u8(&s->w, FNET__JAVA_OBJECT);
        put_reference(s, 0);
        return;
    }
    if (!is_first)
        fnet_put_u8(&s->w, FNET__JAVA_OBJECT);
    if (original) {
        open_class(s, "org.apache.flink.util.SerializedThrowable", FNET__JAVA_SERIALIZABLE, 1);
        put_field(s, 'L', "originalErrorClassName");
        close_class(s);
        put_reference(s, 0);
        return;
    }
    open_class(s, "java.lang.Throwable", FNET__JAVA_SERIALIZABLE, 2);
    put_field(s, 'L', "cause");
    put_field(s, 'L', "detailMessage");
    close_class(s);
    put_null(s);
}

static void put_message(struct stream *s, const char *message)
{
    if (message)
        put_string(s, message);
    else
        put_null(s);
}

/* What is said of a Throwable of MESSAGE around one of CAUSE that stands for an ORIGINAL class. */
static const char *wrapped(const char *message, const char *original, const char *cause)
{
    static struct stream s;

    begin(&s);
    open_throwable(&s, true, NULL);
    open_throwable(&s, false, original);
    put_null(&s);
    put_message(&s, cause);
    if (original)
        put_string(&s, original);
    put_message(&s, message);
    CHECK(!s.w.failed);
    CHECK_INT(fnet__session_thrown_read(span_of(&s), &thrown), FNET_OK);
    CHECK(!thrown.is_not_found);
    return thrown.text;
}

static void test_causes(void)
{
    static const struct {
        const char *message;
        const char *original;
        const char *cause;
        const char *said;
    } cases[] = {
        {"outer", NULL, "inner", "outer, caused by java.lang.Throwable: inner"},
        {"outer", NULL, NULL, "outer, caused by java.lang.Throwable"},
        {NULL, NULL, "inner", "java.lang.Throwable, caused by java.lang.Throwable: inner"},
        {NULL, NULL, NULL, "java.lang.Throwable"},
        {"java.lang.Throwable: inner", NULL, "inner", "java.lang.Throwable: inner"},
        {"java.lang.Throwable", NULL, NULL, "java.lang.Throwable"},
        {"cannot read: inner", NULL, "inner", "cannot read: inner"},
        {"inner failed", NULL, "inner", "inner failed, caused by java.lang.Throwable: inner"},
        {"a.B: broken", "a.B", "broken", "a.B: broken"},
        {"a.B: a.B: broken", "a.B", "a.B: broken", "a.B: broken"},
        {"a.B: a.B", "a.B", "a.B", "a.B"},
        {"a.B: a.B: a.B: a.B: broken", NULL, NULL, "a.B: broken, caused by java.lang.Throwable"},
        {"outer", "a.B", "a.B: broken", "outer, caused by a.B: broken"},
        {"outer", "a.B", "a.Bee", "outer, caused by a.B: a.Bee"},
        {"outer", "a.B", NULL, "outer, caused by a.B"},
        {"a: ab", NULL, "ab", "a: ab"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CASE(cases[i].said);
        CHECK_STR(wrapped(cases[i].message, cases[i].original, cases[i].cause), cases[i].said);
    }
}

static void test_long(void)
{
    static char outer[900];
    static char inner[900];

    CASE("of two long texts the beginnings are said");
    memset(outer, 'o', sizeof outer - 1);
    memset(inner, 'i', sizeof inner - 1);
    CHECK_INT(strlen(wrapped(outer, NULL, inner)), MOST);
    CHECK(strstr(thrown.text, "o..., caused by java.lang.Throwable: iii") != NULL);
    CHECK_STR(thrown.text + MOST - 4, "i...");
    CHECK(strspn(thrown.text, "o") > 200 && strspn(thrown.text, "o") < 300);

    CASE("a short one leaves its room to the other");
    CHECK_INT(strlen(wrapped("outer", NULL, inner)), MOST);
    CHECK_STR(thrown.text + MOST - 4, "i...");
    CHECK_INT(strlen(wrapped(outer, NULL, "inner")), MOST);
    CHECK(strstr(thrown.text, "oo..., caused by java.lang.Throwable: inner") != NULL);
    CHECK_INT(strlen(wrapped(outer, NULL, NULL)), MOST);

    CASE("characters stay whole");
    for (size_t shift = 0; shift < 3; shift++) {
        memset(outer, 'o', sizeof outer - 1);
        for (size_t i = shift; i + 3 < sizeof outer; i += 3)
            memcpy(outer + i, "\xe2\x82\xac", 3);
        wrapped(outer, NULL, "inner");
        CHECK_INT((strcspn(thrown.text, ".") - shift) % 3, 0);
    }
}

/* What every version of Flink sends when a producer fails, and when it has no such partition. */
static void check_line(const struct flink_line *line)
{
    const struct fnet_message *m = &(struct fnet_message){.type = FNET_CLOSE_REQUEST};
    struct fnet_message decoded;
    size_t used;

    if (strncmp(line->name, "error-", 6) != 0)
        return;
    if (CHECK_INT(fnet_message_decode(line->dialect, line->bytes, &used, &decoded), FNET_OK))
        m = &decoded;
    CHECK_INT(fnet__session_thrown_read(m->error.throwable, &thrown), FNET_OK);
    CHECK_INT(thrown.is_not_found, strcmp(line->name, "error-not-found") == 0);
    if (strcmp(line->name, "error-producer") == 0)
        CHECK_STR(thrown.text, "java.lang.RuntimeException: task failed, caused by "
                               "java.io.IOException: disk \xc3\xa9 full");
    if (strcmp(line->name, "error-cause") == 0)
        CHECK_STR(thrown.text, "cannot read, caused by java.io.IOException: disk \xc3\xa9 full");
    if (strcmp(line->name, "error-fatal-cause") == 0)
        CHECK_STR(thrown.text, "java.io.IOException: disk \xc3\xa9 full");
    if (strcmp(line->name, "error-no-message") == 0)
        CHECK_STR(thrown.text, "java.io.IOException");
}

static void test_flink(void)
{
    CHECK(flink_visit("messages", check_line) >= 20);

    CASE("an error that was cancelled");
    struct fnet_span stream = golden_load("tests/golden/wire/throwables.txt", "producer-failed");
    CHECK_INT(fnet__session_thrown_read(stream, &thrown), FNET_OK);
    CHECK_STR(thrown.text, "org.apache.flink.runtime.execution.CancelTaskException: cancelled");
    free((void *)(uintptr_t)stream.ptr);

    CASE("what cannot be read says nothing");
    snprintf(thrown.text, sizeof thrown.text, "unchanged");
    CHECK_INT(fnet__session_thrown_read(fnet_span_of("garbage", 7), &thrown), FNET_BAD_VALUE);
    CHECK_STR(thrown.text, "unchanged");
}

int main(void)
{
    test_causes();
    test_long();
    test_flink();
    return tap_done();
}
