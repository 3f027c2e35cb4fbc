/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: Java object streams made by hand, such as no Java would write.
 */
#ifndef TESTS_WIRE_JAVA_STREAM_H
#define TESTS_WIRE_JAVA_STREAM_H

#include "../../../lib/wire/object_stream.h"

#include <string.h>

/* A stream under construction; handles count from 0 here. */
struct stream {
    uint8_t bytes[1 << 18];
    struct fnet_writer w;
};

__attribute__((unused)) static void begin(struct stream *s)
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

__attribute__((unused)) static void put_null(struct stream *s)
{
    fnet_put_u8(&s->w, FNET__JAVA_NULL);
}

/* Takes a handle. */
__attribute__((unused)) static void put_string(struct stream *s, const char *text)
{
    fnet_put_u8(&s->w, FNET__JAVA_STRING);
    put_text(s, text);
}

__attribute__((unused)) static void put_reference(struct stream *s, uint32_t number)
{
    fnet_put_u8(&s->w, FNET__JAVA_REFERENCE);
    fnet_put_u32(&s->w, 0x7E0000 + number);
}

/* The beginning of a class with COUNT fields, a handle; its fields, an end and the superclass
 * follow. */
static void open_class(struct stream *s, const char *name, uint8_t flags, uint16_t count)
{
    fnet_put_u8(&s->w, FNET__JAVA_CLASS_DESC);
    put_text(s, name);
    fnet_put_u64(&s->w, 1);
    fnet_put_u8(&s->w, flags);
    fnet_put_u16(&s->w, count);
}

/* A field of a number, or of an object, which takes a handle. */
static void put_field(struct stream *s, char type, const char *name)
{
    fnet_put_u8(&s->w, (uint8_t)type);
    put_text(s, name);
    if (type == 'L' || type == '[') {
        fnet_put_u8(&s->w, FNET__JAVA_STRING);
        put_text(s, "Ljava/lang/Object;");
    }
}

static void close_class(struct stream *s)
{
    fnet_put_u8(&s->w, FNET__JAVA_END_BLOCK_DATA);
}

/* A class with one object field, or none when FIELD is NULL; the superclass follows. */
__attribute__((unused)) static void put_class(struct stream *s, const char *name, uint8_t flags,
                                              const char *field)
{
    open_class(s, name, flags, field ? 1 : 0);
    if (field)
        put_field(s, 'L', field);
    close_class(s);
}

static size_t bytes_of(const struct stream *s)
{
    return (size_t)(s->w.pos - s->bytes);
}

__attribute__((unused)) static struct fnet_span span_of(const struct stream *s)
{
    return fnet_span_of(s->bytes, bytes_of(s));
}

#endif
