/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over an object stream finds its end, tells what it passes, and gives up where it must
 * without harm.
 */
#include "java_stream.h"

#include "../golden.h"
#include "../tap.h"

#define GOLDEN "tests/golden/wire/throwables.txt"

/* What the walk says about S without anybody listening. */
static enum fnet_err walk(const struct stream *s)
{
    size_t bytes = 12345;
    enum fnet_err err = fnet__wire_object_walk(span_of(s), NULL, &bytes);

    CHECK(!s->w.failed);
    CHECK_INT(bytes, err == FNET_OK ? bytes_of(s) : 12345);
    return err;
}

static void test_ends(void)
{
    struct golden g = golden_open(GOLDEN);

    while (golden_next(&g)) {
        const bool is_followed = strcmp(g.name, "deep-chain") != 0;
        size_t bytes = 0;
        CASE(g.name);
        CHECK_INT(fnet__wire_object_walk(golden_span(&g), NULL, &bytes),
                  is_followed ? FNET_OK : FNET_BAD_VALUE);
        CHECK_INT(bytes, is_followed ? g.len : 0);
        if (!is_followed)
            continue;
        /* Whatever follows the object does not matter, and less is always too short. */
        uint8_t *longer = malloc(g.len + 17);
        memcpy(longer, g.bytes, g.len);
        memset(longer + g.len, 0x78, 17);
        CHECK_INT(fnet__wire_object_walk(fnet_span_of(longer, g.len + 17), NULL, &bytes), FNET_OK);
        CHECK_INT(bytes, g.len);
        free(longer);
        for (size_t len = 0; len < g.len; len++)
            CHECK_INT(fnet__wire_object_walk(fnet_span_of(g.bytes, len), NULL, &bytes),
                      FNET_TRUNCATED);
        CHECK_INT(bytes, g.len);
    }
}

static void test_class(void)
{
    static struct stream s;
    struct fnet_span name = {.len = 0};

    CASE("the class of the object, as soon as its name is there");
    begin(&s);
    put_class(&s, "Named", 2, NULL);
    for (size_t len = 0; len <= bytes_of(&s); len++)
        CHECK_INT(fnet__wire_object_class(fnet_span_of(s.bytes, len), &name),
                  len < 4 + 1 + 1 + 2 + 5 ? FNET_TRUNCATED : FNET_OK);
    CHECK_INT(name.len, 5);
    CHECK_MEM(name.ptr, "Named", 5);

    CASE("no object, or one without a name, is refused");
    static const struct {
        const char *bytes;
        size_t len;
    } bad[] = {
        {"\xac\xed\0\5t\0\1x", 8}, {"\xac\xed\0\6sr\0\1x", 9}, {"garbage", 7},
        {"\xac\xed\0\5sr\0\0", 8}, {"\xac\xed\0\5sp", 6},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_INT(fnet__wire_object_class(fnet_span_of(bad[i].bytes, bad[i].len), &name),
                  FNET_BAD_VALUE);
        CHECK_INT(name.len, 5);
    }
}

/* What was told, in words. */
struct told {
    char text[1024];
    size_t len;
};

static uint8_t tell(void *arg, const struct fnet__wire_part *part)
{
    struct told *told = arg;
    const bool is_named = part->tag >= FNET__JAVA_OBJECT && part->tag <= FNET__JAVA_ARRAY;

    told->len += (size_t)snprintf(told->text + told->len, sizeof told->text - told->len,
                                  "%02x %.*s%s%.*s depth %u role %u", part->tag,
                                  (int)part->class_name.len, (const char *)part->class_name.ptr,
                                  part->field.len > 0 ? "." : "", (int)part->field.len,
                                  (const char *)part->field.ptr, part->depth, part->role);
    if (part->handle)
        told->len += (size_t)snprintf(told->text + told->len, sizeof told->text - told->len, " #%u",
                                      part->handle - 0x7E0000);
    told->len += (size_t)snprintf(told->text + told->len, sizeof told->text - told->len,
                                  is_named ? " '%.*s'\n" : "\n", (int)part->bytes.len,
                                  (const char *)part->bytes.ptr);
    return (uint8_t)(part->depth + 1);
}

static void test_tells(void)
{
    static struct stream s;
    struct told told = {.len = 0};
    const struct fnet__wire_listener listener = {.part = tell, .arg = &told};
    size_t bytes;

    CASE("every part is told, with what it is a part of");
    begin(&s);
    open_class(&s, "Holder", FNET__JAVA_SERIALIZABLE | FNET__JAVA_WRITE_METHOD, 4);
    put_field(&s, 'I', "number");
    put_field(&s, '[', "list");
    put_field(&s, 'L', "text");
    put_field(&s, 'L', "nothing");
    close_class(&s);
    put_null(&s);
    fnet_put_u32(&s.w, 7);
    fnet_put_u8(&s.w, FNET__JAVA_ARRAY);
    put_class(&s, "[Ljava/lang/Object;", FNET__JAVA_SERIALIZABLE, NULL);
    put_null(&s);
    fnet_put_u32(&s.w, 3);
    put_string(&s, "element");
    put_reference(&s, 4);
    put_null(&s);
    put_string(&s, "words");
    put_null(&s);
    put_string(&s, "annotation");
    fnet_put_u8(&s.w, FNET__JAVA_END_BLOCK_DATA);
    CHECK_INT(fnet__wire_object_walk(span_of(&s), &listener, &bytes), FNET_OK);
    CHECK_INT(bytes, bytes_of(&s));
    CHECK_STR(told.text, "73  depth 0 role 0 #4 'Holder'\n"
                         "49 Holder.number depth 1 role 1\n"
                         "75 Holder.list depth 1 role 1 #6 '[Ljava/lang/Object;'\n"
                         "74  depth 2 role 2 #7 'element'\n"
                         "71  depth 2 role 2 #4\n"
                         "74 Holder.text depth 1 role 1 #8 'words'\n"
                         "74  depth 1 role 1 #9 'annotation'\n");

    CASE("a string of more than 64 KiB has a longer length");
    begin(&s);
    put_class(&s, "Holder", 2, "text");
    put_null(&s);
    const size_t at = bytes_of(&s);
    fnet_put_u8(&s.w, FNET__JAVA_LONG_STRING);
    fnet_put_u64(&s.w, 3);
    fnet_put_bytes(&s.w, "abc", 3);
    told.len = 0;
    CHECK_INT(fnet__wire_object_walk(span_of(&s), &listener, &bytes), FNET_OK);
    CHECK_STR(told.text, "73  depth 0 role 0 #2 'Holder'\n"
                         "74 Holder.text depth 1 role 1 #3 'abc'\n");
    CHECK_INT(fnet__wire_string_at(s.bytes + at, s.w.pos).len, 3);
    CHECK_INT(fnet__wire_string_at(s.bytes + at, s.w.pos - 1).len, 0);
    CHECK_INT(fnet__wire_string_at(s.bytes, s.w.pos).len, 0);
    fnet_store_be64(s.w.pos - 11, UINT64_MAX);
    CHECK_INT(walk(&s), FNET_TRUNCATED);
}

static void test_gives_up(void)
{
    static struct stream s;

    CASE("a class cannot be its own superclass");
    begin(&s);
    put_class(&s, "Snake", 2, NULL);
    put_reference(&s, 0);
    CHECK_INT(walk(&s), FNET_BAD_VALUE);

    CASE("more superclasses, more classes and more levels than the limits");
    begin(&s);
    for (unsigned i = 0; i < 40; i++)
        put_class(&s, "Deep", 2, NULL);
    put_null(&s);
    CHECK_INT(walk(&s), FNET_BAD_VALUE);
    begin(&s);
    for (unsigned i = 0; i < 300; i++)
        put_class(&s, "Many", 2, NULL);
    CHECK_INT(walk(&s), FNET_BAD_VALUE);
    begin(&s);
    put_class(&s, "Nested", 2, "inner");
    put_null(&s);
    for (unsigned i = 0; i < 300; i++) {
        fnet_put_u8(&s.w, FNET__JAVA_OBJECT);
        put_reference(&s, 0);
    }
    put_null(&s);
    CHECK_INT(walk(&s), FNET_BAD_VALUE);

    CASE("an externalizable class of the old protocol says nothing about its length");
    begin(&s);
    put_class(&s, "External", FNET__JAVA_EXTERNALIZABLE, NULL);
    put_null(&s);
    fnet_put_u8(&s.w, FNET__JAVA_END_BLOCK_DATA);
    CHECK_INT(walk(&s), FNET_BAD_VALUE);
    s.bytes[bytes_of(&s) - 6] = FNET__JAVA_EXTERNALIZABLE | FNET__JAVA_BLOCK_DATA_MODE;
    CHECK_INT(walk(&s), FNET_OK);
}

static void test_malformed(void)
{
    static struct stream s;

    CASE("what the grammar has not, and what only its own classes can read");
    static const uint8_t tags[] = {0x00, 0x6f, 0x79, 0x7b, 0x7d, 0x7f, 0xff};
    for (size_t i = 0; i < sizeof tags; i++) {
        begin(&s);
        put_class(&s, "Holder", 2, "thing");
        put_null(&s);
        fnet_put_u8(&s.w, tags[i]);
        CHECK_INT(walk(&s), FNET_BAD_VALUE);
    }

    CASE("a field of no type, one whose type is no string, a class with an annotation");
    begin(&s);
    open_class(&s, "Holder", 2, 1);
    put_field(&s, 'Q', "thing");
    close_class(&s);
    CHECK_INT(walk(&s), FNET_BAD_VALUE);
    begin(&s);
    put_class(&s, "Holder", 2, "thing");
    s.bytes[bytes_of(&s) - 2 - 18 - 2] = FNET__JAVA_NULL;
    CHECK_INT(walk(&s), FNET_BAD_VALUE);
    begin(&s);
    open_class(&s, "Holder", 2, 0);
    put_string(&s, "annotation");
    CHECK_INT(walk(&s), FNET_BAD_VALUE);

    CASE("a class that is a forward reference, or one to what is no class");
    for (uint32_t number = 0; number < 4; number++) {
        begin(&s);
        put_class(&s, "Holder", 2, "thing"); /* handles 0, 1; the object has 2 */
        put_null(&s);
        fnet_put_u8(&s.w, FNET__JAVA_OBJECT);
        put_reference(&s, number);
        put_null(&s);
        CHECK_INT(walk(&s), number == 0 ? FNET_OK : FNET_BAD_VALUE);
    }
}

static void test_arrays(void)
{
    static struct stream s;

    CASE("arrays that promise more than there is");
    for (unsigned i = 0; i < 4; i++) {
        static const char *const types[] = {"[B", "[J", "[[I", "[Q"};
        begin(&s);
        put_class(&s, "Holder", 2, "array");
        put_null(&s);
        fnet_put_u8(&s.w, FNET__JAVA_ARRAY);
        put_class(&s, types[i], 2, NULL);
        put_null(&s);
        fnet_put_u32(&s.w, UINT32_MAX);
        CHECK_INT(walk(&s), i < 3 ? FNET_TRUNCATED : FNET_BAD_VALUE);
        fnet_store_be32(s.w.pos - 4, 0);
        CHECK_INT(walk(&s), i < 3 ? FNET_OK : FNET_BAD_VALUE);
    }
}

int main(void)
{
    test_ends();
    test_class();
    test_tells();
    test_gives_up();
    test_malformed();
    test_arrays();
    return tap_done();
}
