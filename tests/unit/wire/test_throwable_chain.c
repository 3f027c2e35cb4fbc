/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Throwables with causes and stack lines, as Java wrote them and as nobody would: what is kept,
 * what is counted, and that nothing in a stream does harm.
 */
#include "fnet/throwable.h"

#include "../golden.h"
#include "../tap.h"
#include "java_stream.h"

#define GOLDEN "tests/golden/wire/"
#define THROWABLE "java.lang.Throwable"

static struct fnet_throwable_chain chain;

/* Text of throwable I. */
static const struct fnet_throwable *get(size_t i)
{
    static struct fnet_throwable thrown;

    fnet_throwable_chain_get(&chain, i, &thrown);
    return &thrown;
}

static void decode(struct fnet_span stream, enum fnet_err end, size_t count)
{
    CHECK_INT(fnet_throwable_chain_decode(stream, &chain), FNET_OK);
    CHECK_INT(chain.end, end);
    CHECK_INT(chain.count, count);
}

/* ---- what Java wrote ----------------------------------------------------------------------- */

/* The throwable in STREAM, named NAME, the way Stacks.java says it. */
static void say(const char *name, struct fnet_span stream, FILE *out)
{
    CHECK_INT(fnet_throwable_chain_decode(stream, &chain), FNET_OK);
    CHECK_INT(chain.end, FNET_OK);
    CHECK_INT(chain.left_out, 0);
    fprintf(out, "%s\n", name);
    for (size_t i = 0; i < chain.count; i++) {
        const struct fnet_chained_throwable *t = &chain.throwables[i];
        fprintf(out, " %s: %s\n", get(i)->class_name, get(i)->message);
        for (size_t n = 0; n < t->line_count; n++) {
            char line[FNET_THROWABLE_TEXT_BYTES];
            fnet_throwable_chain_line(&chain, i, n, line);
            fprintf(out, "  %s\n", line);
        }
        if (t->lines_more > 0)
            fprintf(out, "  %u more\n", t->lines_more);
    }
}

static void test_said_by_java(void)
{
    static char expected[1 << 16];
    char *said;
    size_t len;
    FILE *file = fopen(GOLDEN "stacks-said.txt", "r");
    FILE *out = open_memstream(&said, &len);
    struct golden g = golden_open(GOLDEN "stacks.txt");

    CASE("Java says the same about every shape of stack");
    while (golden_next(&g))
        say(g.name, golden_span(&g), out);
    fclose(out);
    CHECK(file && fread(expected, 1, sizeof expected - 1, file) > 1000);
    CHECK_STR(said, expected);
    fclose(file);
    free(said);
}

static const struct {
    const char *name;
    enum fnet_err end;
    size_t count;
    size_t left_out;
    const char *cause; /* message of the second */
    const char *root;  /* and of the last */
} of_java[] = {
    {"plain", FNET_OK, 1, 0, NULL, "plain words"},
    {"suppressed", FNET_OK, 2, 0, "cause", "cause"},
    {"chain", FNET_OK, 8, 5, "level 10", "innermost"},
    /* Deeper than the walk goes, and messages stand behind the causes. */
    {"deep-chain", FNET_BAD_VALUE, 8, 121, "", ""},
    {"around-loaded", FNET_OK, 2, 0, "inner", "inner"},
    {"shared-message", FNET_OK, 2, 0, "shared words", "shared words"},
};

static void test_causes(void)
{
    for (size_t i = 0; i < sizeof of_java / sizeof *of_java; i++) {
        struct fnet_span stream = golden_load(GOLDEN "throwables.txt", of_java[i].name);
        CASE(of_java[i].name);
        decode(stream, of_java[i].end, of_java[i].count);
        CHECK_INT(chain.left_out, of_java[i].left_out);
        if (of_java[i].cause)
            CHECK_STR(get(1)->message, of_java[i].cause);
        CHECK_STR(get(chain.count - 1)->message, of_java[i].root);
        free((void *)(uintptr_t)stream.ptr);
    }

    CASE("what Flink's SerializedThrowable stands for");
    struct fnet_span stream = golden_load(GOLDEN "throwables.txt", "producer-failed");
    decode(stream, FNET_OK, 2);
    CHECK_STR(get(0)->original_class, "");
    CHECK_STR(get(1)->class_name, "org.apache.flink.util.SerializedThrowable");
    CHECK_STR(get(1)->original_class, "org.apache.flink.runtime.execution.CancelTaskException");
    free((void *)(uintptr_t)stream.ptr);
}

static void test_truncated(void)
{
    struct fnet_span stream = golden_load(GOLDEN "stacks.txt", "cycle");
    size_t known = 0;

    CASE("a stream cut anywhere is that; what was known before stays known");
    for (size_t len = 0; len < stream.len; len++) {
        /* Exactly as long, so that a sanitizer sees a byte too far. */
        uint8_t *bytes = malloc(len ? len : 1);
        memcpy(bytes, stream.ptr, len);
        chain.count = 77;
        enum fnet_err err = fnet_throwable_chain_decode(fnet_span_of(bytes, len), &chain);
        if (err != FNET_OK) {
            CHECK_INT(err, FNET_TRUNCATED);
            CHECK_INT(chain.count, 77);
            CHECK_INT(known, 0);
        } else {
            size_t now = chain.count;
            CHECK_INT(chain.end, FNET_TRUNCATED);
            CHECK_STR(get(0)->class_name, "java.lang.RuntimeException");
            for (size_t i = 0; i < chain.count; i++)
                now += strlen(get(i)->message) + chain.throwables[i].line_count;
            CHECK(now >= known);
            known = now;
        }
        free(bytes);
    }
    CHECK_INT(known, 2 + strlen("inner") + strlen("outer") + 4);
    free((void *)(uintptr_t)stream.ptr);
}

/* ---- what nobody wrote --------------------------------------------------------------------- */

/*
 * The class of a throwable: handle 0, its strings have 1 to 3. The object, number 4, begins with
 * its cause.
 */
static void begin_throwable(struct stream *s)
{
    begin(s);
    open_class(s, THROWABLE, FNET__JAVA_SERIALIZABLE, 3);
    put_field(s, 'L', "cause");
    put_field(s, 'L', "detailMessage");
    put_field(s, '[', "stackTrace");
    close_class(s);
    put_null(s);
}

static void put_array(struct stream *s, const char *class, uint32_t elements)
{
    fnet_put_u8(&s->w, FNET__JAVA_ARRAY);
    put_class(s, class, FNET__JAVA_SERIALIZABLE, NULL);
    put_null(s);
    fnet_put_u32(&s->w, elements);
}

static void put_object(struct stream *s, uint32_t class)
{
    fnet_put_u8(&s->w, FNET__JAVA_OBJECT);
    put_reference(s, class);
}

static void test_cycles(void)
{
    static struct stream s;

    CASE("a cause that leads back, forward or nowhere is none");
    for (uint32_t number = 0; number < 10; number++) {
        begin_throwable(&s);
        put_reference(&s, number);
        put_string(&s, "words");
        put_null(&s);
        decode(span_of(&s), FNET_OK, 1);
        CHECK_STR(get(0)->message, "words");
    }

    CASE("so is one of a cause");
    for (uint32_t number = 4; number < 7; number++) {
        begin_throwable(&s);
        put_object(&s, 0); /* 5 */
        put_reference(&s, number);
        put_string(&s, "inner");
        put_null(&s);
        put_string(&s, "outer");
        put_null(&s);
        decode(span_of(&s), FNET_OK, 2);
        CHECK_STR(get(0)->message, "outer");
        CHECK_STR(get(1)->message, "inner");
    }

    CASE("a second cause of the same throwable does not count, nor does a string");
    begin(&s);
    open_class(&s, THROWABLE, FNET__JAVA_SERIALIZABLE, 3);
    for (unsigned i = 0; i < 3; i++)
        put_field(&s, 'L', "cause");
    close_class(&s);
    put_null(&s);
    put_string(&s, "words");
    for (unsigned i = 0; i < 2; i++) {
        put_object(&s, 0);
        for (unsigned k = 0; k < 3; k++)
            put_null(&s);
    }
    decode(span_of(&s), FNET_OK, 2);
}

static void test_texts(void)
{
    static struct stream s;

    CASE("a message that is a reference to an earlier string of the stream");
    begin_throwable(&s);
    put_object(&s, 0); /* 5 */
    put_null(&s);
    put_string(&s, "shared"); /* 6 */
    put_null(&s);
    const size_t at = bytes_of(&s);
    put_reference(&s, 6);
    put_null(&s);
    decode(span_of(&s), FNET_OK, 2);
    CHECK_STR(get(0)->message, "shared");

    CASE("a reference to what is no string, to none of the contents, or nothing, is no message");
    static const uint32_t handles[] = {0, 1, 0x7E0000, 0x7E0001, 0x7E0005, 0x7E0007, UINT32_MAX};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
        fnet_store_be32(s.bytes + at + 1, handles[i]);
        decode(span_of(&s), FNET_OK, 2);
        CHECK_STR(get(0)->message, "");
        CHECK_STR(get(1)->message, "shared");
    }

    CASE("a field of that name in another class is no message");
    begin(&s);
    put_class(&s, "Other", FNET__JAVA_SERIALIZABLE, "detailMessage");
    put_null(&s);
    put_string(&s, "other words");
    decode(span_of(&s), FNET_OK, 1);
    CHECK_STR(get(0)->message, "");

    CASE("what is refused leaves everything as it was");
    chain.count = 77;
    CHECK_INT(fnet_throwable_chain_decode(fnet_span_of("garbage", 7), &chain), FNET_BAD_VALUE);
    CHECK_INT(chain.count, 77);
}

/* A throwable whose stack has ELEMENTS, which follow. The array is number 6. */
static void begin_stack(struct stream *s, uint32_t elements)
{
    begin_throwable(s);
    put_null(s);
    put_null(s);
    put_array(s, "[Ljava.lang.StackTraceElement;", elements);
}

/* The class of stack lines, number 7, with strings 8 and 9; the line is number 10. */
static void put_first_line(struct stream *s, const char *class, const char *method)
{
    fnet_put_u8(&s->w, FNET__JAVA_OBJECT);
    open_class(s, "java.lang.StackTraceElement", FNET__JAVA_SERIALIZABLE, 3);
    put_field(s, 'I', "lineNumber");
    put_field(s, 'L', "declaringClass");
    put_field(s, 'L', "methodName");
    close_class(s);
    put_null(s);
    fnet_put_u32(&s->w, 1);
    put_string(s, class);  /* 11 */
    put_string(s, method); /* 12 */
}

static void check_line(size_t n, const char *expected)
{
    char line[FNET_THROWABLE_TEXT_BYTES];

    if (!CHECK(n < chain.throwables[0].line_count))
        return;
    fnet_throwable_chain_line(&chain, 0, n, line);
    CHECK_STR(line, expected);
}

static void test_lines(void)
{
    static struct stream s;

    CASE("elements that are null, no lines, known lines, unknown ones");
    begin_stack(&s, 6);
    put_first_line(&s, "a.B", "run");
    put_null(&s);
    put_string(&s, "no line");
    put_reference(&s, 10);
    put_reference(&s, 100);
    put_object(&s, 0); /* a throwable, which is no cause */
    put_null(&s);
    put_string(&s, "no message");
    put_null(&s);
    decode(span_of(&s), FNET_OK, 1);
    CHECK_INT(chain.throwables[0].line_count, 4);
    check_line(0, "a.B.run(Unknown Source)");
    check_line(1, "a.B.run(Unknown Source)");
    check_line(2, "?.?(Unknown Source)");
    check_line(3, "?.?(Unknown Source)");
    CHECK_STR(get(0)->message, "");

    CASE("strings of a line: references to known ones, and to what is none or nothing");
    static const uint32_t numbers[] = {12, 10, 0, 13, 1000, 0xFF000000u};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        begin_stack(&s, 2);
        put_first_line(&s, "a.B", "run");
        put_object(&s, 7);
        fnet_put_u32(&s.w, 2);
        put_reference(&s, 11);
        put_reference(&s, numbers[i]);
        decode(span_of(&s), FNET_OK, 1);
        CHECK_INT(chain.throwables[0].line_count, 2);
        check_line(1, i == 0 ? "a.B.run(Unknown Source)" : "a.B.?(Unknown Source)");
    }

    CASE("a stack that promises more than there is");
    begin_stack(&s, UINT32_MAX);
    put_first_line(&s, "a.B", "run");
    decode(span_of(&s), FNET_TRUNCATED, 1);
    CHECK_INT(chain.throwables[0].line_count, 1);
    CHECK_INT(chain.throwables[0].lines_more, 0);

    CASE("many lines are counted");
    begin_stack(&s, 30000);
    put_first_line(&s, "a.B", "run");
    for (unsigned i = 1; i < 30000; i++)
        put_reference(&s, 10);
    decode(span_of(&s), FNET_OK, 1);
    CHECK_INT(chain.throwables[0].line_count, FNET_THROWABLE_STACK_MAX);
    CHECK_INT(chain.throwables[0].lines_more, 30000 - FNET_THROWABLE_STACK_MAX);
    check_line(FNET_THROWABLE_STACK_MAX - 1, "a.B.run(Unknown Source)");

    CASE("strings beyond the first 1024 are not remembered, those of the line itself are known");
    begin_stack(&s, 1102);
    put_first_line(&s, "a.B", "run");
    for (unsigned i = 0; i < 1100; i++)
        put_string(&s, "no line");
    put_object(&s, 7); /* 1113 */
    fnet_put_u32(&s.w, 2);
    put_string(&s, "c.D"); /* 1114 */
    put_reference(&s, 1114);
    decode(span_of(&s), FNET_OK, 1);
    check_line(1, "c.D.?(Unknown Source)");
}

static void test_many(void)
{
    static struct stream s;

    CASE("of a long chain the first seven and the root cause are kept, with all that is theirs");
    for (size_t n = 7; n < 100; n += 23) {
        char words[32];
        begin_throwable(&s);
        for (size_t i = 1; i < n; i++)
            put_object(&s, 0);
        put_null(&s);
        for (size_t i = n; i-- > 0;) {
            snprintf(words, sizeof words, "number %zu", i);
            put_string(&s, words);
            put_null(&s);
        }
        size_t kept = n < FNET_THROWABLE_CHAIN_MAX ? n : FNET_THROWABLE_CHAIN_MAX;
        decode(span_of(&s), FNET_OK, kept);
        CHECK_INT(chain.left_out, n - kept);
        for (size_t i = 0; i < kept; i++) {
            snprintf(words, sizeof words, "number %zu", i < kept - 1 ? i : n - 1);
            CHECK_STR(get(i)->message, words);
        }
    }
}

int main(void)
{
    test_said_by_java();
    test_causes();
    test_truncated();
    test_cycles();
    test_texts();
    test_lines();
    test_many();
    return tap_done();
}
