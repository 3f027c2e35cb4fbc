/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over an object stream finds its end, and gives up where it must without harm.
 */
#include "../../../lib/wire/object_stream.h"

#include "../golden.h"
#include "../tap.h"

#define GOLDEN "tests/golden/wire/throwables.txt"

/* A stream under construction. */
struct stream {
    uint8_t bytes[1 << 16];
    struct fnet_writer w;
};

static void begin(struct stream *s)
{
    s->w = fnet_writer_of(s->bytes, sizeof s->bytes);
    fnet_put_u16(&s->w, FNET__JAVA_MAGIC);
    fnet_put_u16(&s->w, FNET__JAVA_VERSION);
    fnet_put_u8(&s->w, FNET__JAVA_OBJECT);
}

static void put_text(struct stream *s, const char *text)
{
    fnet_put_u16(&s->w, (uint16_t)strlen(text));
    fnet_put_bytes(&s->w, text, strlen(text));
}

/* A class with one object field, or none when FIELD is NULL; the superclass follows. */
static void put_class(struct stream *s, const char *name, uint8_t flags, const char *field)
{
    fnet_put_u8(&s->w, FNET__JAVA_CLASS_DESC);
    put_text(s, name);
    fnet_put_u64(&s->w, 1);
    fnet_put_u8(&s->w, flags);
    fnet_put_u16(&s->w, field ? 1 : 0);
    if (field) {
        fnet_put_u8(&s->w, 'L');
        put_text(s, field);
        fnet_put_u8(&s->w, FNET__JAVA_STRING);
        put_text(s, "Ljava/lang/Object;");
    }
    fnet_put_u8(&s->w, FNET__JAVA_END_BLOCK_DATA);
}

static void put_reference(struct stream *s, uint32_t number)
{
    fnet_put_u8(&s->w, FNET__JAVA_REFERENCE);
    fnet_put_u32(&s->w, 0x7E0000 + number);
}

static size_t bytes_of(const struct stream *s)
{
    return (size_t)(s->w.pos - s->bytes);
}

static struct fnet__wire_object read_object(const struct stream *s)
{
    struct fnet__wire_object o = {.bytes = 12345};

    CHECK(!s->w.failed);
    CHECK_INT(fnet__wire_object_read(fnet_span_of(s->bytes, bytes_of(s)), &o), FNET_OK);
    return o;
}

static void test_ends(void)
{
    struct golden g = golden_open(GOLDEN);

    while (golden_next(&g)) {
        struct fnet__wire_object o;
        CASE(g.name);
        size_t expected = strcmp(g.name, "deep-chain") == 0 ? 0 : g.len;
        CHECK_INT(fnet__wire_object_read(golden_span(&g), &o), FNET_OK);
        CHECK_INT(o.bytes, expected);
        /* Whatever follows the object does not matter, and one byte less is noticed. */
        uint8_t *longer = malloc(g.len + 17);
        memcpy(longer, g.bytes, g.len);
        memset(longer + g.len, 0x78, 17);
        CHECK_INT(fnet__wire_object_read(fnet_span_of(longer, g.len + 17), &o), FNET_OK);
        CHECK_INT(o.bytes, expected);
        free(longer);
        CHECK_INT(fnet__wire_object_read(fnet_span_of(g.bytes, g.len - 1), &o), FNET_OK);
        CHECK_INT(o.bytes, 0);
    }
}

static void test_message_by_reference(void)
{
    static struct stream s;

    CASE("a message that is a reference to an earlier string of the stream");
    begin(&s);
    put_class(&s, "Outer", 2, "first");                       /* handles 0, 1 */
    put_class(&s, "java.lang.Throwable", 2, "detailMessage"); /* 2, 3 */
    fnet_put_u8(&s.w, FNET__JAVA_NULL);
    size_t message_at = bytes_of(&s);
    put_reference(&s, 1); /* the type of a field: a string too, but not one of the contents */
    fnet_put_u8(&s.w, FNET__JAVA_NULL);
    CHECK_INT(read_object(&s).message.len, 0);
    CHECK_INT(read_object(&s).bytes, bytes_of(&s));

    CASE("a reference to what is no string, or to nothing, is no message");
    fnet_store_be32(s.bytes + message_at + 1, 0x7E0000 + 2);
    CHECK_INT(read_object(&s).message.len, 0);
    fnet_store_be32(s.bytes + message_at + 1, 0);
    CHECK_INT(read_object(&s).message.len, 0);

    CASE("a field of that name in another class is no message");
    begin(&s);
    put_class(&s, "Outer", 2, "detailMessage");
    fnet_put_u8(&s.w, FNET__JAVA_NULL);
    fnet_put_u8(&s.w, FNET__JAVA_STRING);
    put_text(&s, "other words");
    CHECK_INT(read_object(&s).message.len, 0);
    CHECK_INT(read_object(&s).bytes, bytes_of(&s));

    CASE("a string of more than 64 KiB has a longer length");
    begin(&s);
    put_class(&s, "java.lang.Throwable", 2, "detailMessage");
    fnet_put_u8(&s.w, FNET__JAVA_NULL);
    fnet_put_u8(&s.w, FNET__JAVA_LONG_STRING);
    fnet_put_u64(&s.w, 3);
    fnet_put_bytes(&s.w, "abc", 3);
    CHECK_INT(read_object(&s).message.len, 3);
    fnet_store_be64(s.w.pos - 11, UINT64_MAX);
    CHECK_INT(read_object(&s).message.len, 0);
    CHECK_INT(read_object(&s).bytes, 0);
}

static void test_gives_up(void)
{
    static struct stream s;

    CASE("no object, or one without a name, is refused");
    struct fnet__wire_object o = {.bytes = 12345};
    CHECK_INT(fnet__wire_object_read(fnet_span_of("\xac\xed\0\5t\0\1x", 8), &o), FNET_BAD_VALUE);
    CHECK_INT(fnet__wire_object_read(fnet_span_of("\xac\xed\0\6sr\0\1x", 9), &o), FNET_BAD_VALUE);
    CHECK_INT(fnet__wire_object_read(fnet_span_of("\xac\xed\0\5sr\0\0", 8), &o), FNET_BAD_VALUE);
    CHECK_INT(fnet__wire_object_read(fnet_span_of("\xac\xed\0\5sp", 6), &o), FNET_BAD_VALUE);
    CHECK_INT(o.bytes, 12345);

    CASE("a class cannot be its own superclass");
    begin(&s);
    put_class(&s, "Snake", 2, NULL);
    put_reference(&s, 0);
    CHECK_INT(read_object(&s).bytes, 0);

    CASE("more superclasses, more classes and more levels than the limits");
    begin(&s);
    for (unsigned i = 0; i < 40; i++)
        put_class(&s, "Deep", 2, NULL);
    fnet_put_u8(&s.w, FNET__JAVA_NULL);
    CHECK_INT(read_object(&s).bytes, 0);
    begin(&s);
    for (unsigned i = 0; i < 300; i++)
        put_class(&s, "Many", 2, NULL);
    CHECK_INT(read_object(&s).bytes, 0);
    begin(&s);
    put_class(&s, "Nested", 2, "inner");
    fnet_put_u8(&s.w, FNET__JAVA_NULL);
    for (unsigned i = 0; i < 300; i++) {
        fnet_put_u8(&s.w, FNET__JAVA_OBJECT);
        put_reference(&s, 0);
    }
    fnet_put_u8(&s.w, FNET__JAVA_NULL);
    CHECK_INT(read_object(&s).bytes, 0);

    CASE("an externalizable class of the old protocol says nothing about its length");
    begin(&s);
    put_class(&s, "External", FNET__JAVA_EXTERNALIZABLE, NULL);
    fnet_put_u8(&s.w, FNET__JAVA_NULL);
    fnet_put_u8(&s.w, FNET__JAVA_END_BLOCK_DATA);
    CHECK_INT(read_object(&s).bytes, 0);
    s.bytes[bytes_of(&s) - 6] = FNET__JAVA_EXTERNALIZABLE | FNET__JAVA_BLOCK_DATA_MODE;
    CHECK_INT(read_object(&s).bytes, bytes_of(&s));
}

static void test_arrays(void)
{
    static struct stream s;

    CASE("arrays that promise more than there is");
    for (unsigned i = 0; i < 4; i++) {
        static const char *const types[] = {"[B", "[J", "[[I", "[Q"};
        begin(&s);
        put_class(&s, "Holder", 2, "array");
        fnet_put_u8(&s.w, FNET__JAVA_NULL);
        fnet_put_u8(&s.w, FNET__JAVA_ARRAY);
        put_class(&s, types[i], 2, NULL);
        fnet_put_u8(&s.w, FNET__JAVA_NULL);
        fnet_put_u32(&s.w, UINT32_MAX);
        CHECK_INT(read_object(&s).bytes, 0);
        fnet_store_be32(s.w.pos - 4, 0);
        CHECK_INT(read_object(&s).bytes, i < 3 ? bytes_of(&s) : 0);
    }
}

int main(void)
{
    test_ends();
    test_message_by_reference();
    test_gives_up();
    test_arrays();
    return tap_done();
}
