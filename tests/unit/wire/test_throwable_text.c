/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stack lines in Java's form; test_throwable_chain compares many with what Java itself says.
 */
#include "fnet/throwable.h"

#include "../tap.h"

#define FLAG_BUILT_IN_LOADER 1
#define FLAG_JDK_MODULE 2

/* A stream of nothing but strings, and a throwable with one line of them. */
static struct {
    uint8_t bytes[8192];
    struct fnet_writer w;
    struct fnet_throwable_chain chain;
} made;

static void begin(uint8_t format, int32_t number)
{
    made.w = fnet_writer_of(made.bytes, sizeof made.bytes);
    fnet_put_u32(&made.w, 0xACED0005);
    made.chain.count = 1;
    made.chain.throwables[0].line_count = 1;
    made.chain.throwables[0].lines[0] =
        (struct fnet_stack_line){.number = number, .format = format};
}

static void put(enum fnet_stack_text which, const char *text)
{
    made.chain.throwables[0].lines[0].texts[which] = (uint32_t)(made.w.pos - made.bytes);
    fnet_put_u8(&made.w, 't');
    fnet_put_u16(&made.w, (uint16_t)strlen(text));
    fnet_put_bytes(&made.w, text, strlen(text));
}

static const char *line(void)
{
    static char out[FNET_THROWABLE_TEXT_BYTES];

    CHECK(!made.w.failed);
    made.chain.stream = fnet_span_of(made.bytes, (size_t)(made.w.pos - made.bytes));
    fnet_throwable_chain_line(&made.chain, 0, 0, out);
    return out;
}

static void put_all(void)
{
    put(FNET_STACK_LOADER, "app");
    put(FNET_STACK_MODULE, "java.base");
    put(FNET_STACK_MODULE_VERSION, "17");
    put(FNET_STACK_CLASS, "a.B");
    put(FNET_STACK_METHOD, "run");
    put(FNET_STACK_FILE, "B.java");
}

static void test_flags(void)
{
    CASE("flags say what is not shown");
    static const char *const expected[] = {
        "app/java.base@17/a.B.run(B.java:7)",
        "java.base@17/a.B.run(B.java:7)",
        "app/java.base/a.B.run(B.java:7)",
        "java.base/a.B.run(B.java:7)",
    };
    for (uint8_t format = 0; format < 4; format++) {
        begin(format, 7);
        put_all();
        CHECK_STR(line(), expected[format]);
    }
    begin(FLAG_BUILT_IN_LOADER | FLAG_JDK_MODULE, INT32_MAX);
    put(FNET_STACK_LOADER, "app");
    put(FNET_STACK_CLASS, "a.B");
    put(FNET_STACK_METHOD, "run");
    put(FNET_STACK_FILE, "B.java");
    CHECK_STR(line(), "a.B.run(B.java:2147483647)");
}

static void test_unknown(void)
{
    CASE("a line of which nothing is known, and native ones of unknown classes");
    begin(0, 1);
    CHECK_STR(line(), "?.?(Unknown Source)");
    begin(0, -2);
    CHECK_STR(line(), "?.?(Native Method)");
    begin(0, INT32_MIN);
    put(FNET_STACK_FILE, "B.java");
    CHECK_STR(line(), "?.?(B.java)");
}

static void test_long(void)
{
    static char name[3000];

    CASE("a long line is cut and says so");
    memset(name, 'x', sizeof name - 1);
    begin(0, 7);
    put(FNET_STACK_CLASS, name);
    put(FNET_STACK_METHOD, "run");
    CHECK_INT(strspn(line(), "x"), FNET_THROWABLE_TEXT_BYTES - 1 - 40);
    CHECK_STR(strchr(line(), '.'), "... (2036 more bytes)");
}

int main(void)
{
    test_flags();
    test_unknown();
    test_long();
    return tap_done();
}
