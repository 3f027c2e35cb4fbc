/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words into the object stream of a Java throwable.
 *
 * Source: java.lang.Throwable and java.io.DataInput (modified UTF-8); Flink
 * PartitionNotFoundException, PartitionException (2.0 to 2.3).
 */
#include "fnet/throwable.h"

#include "java_text.h"
#include "object_stream.h"

#define TEXT_MAX (FNET_THROWABLE_TEXT_BYTES - 1)

static void put_ascii(struct fnet_writer *w, const char *text)
{
    size_t len = strlen(text);

    fnet_put_u16(w, (uint16_t)len);
    fnet_put_bytes(w, text, len);
}

static void put_class(struct fnet_writer *w, const char *name, uint64_t version, uint8_t flags,
                      uint16_t fields)
{
    fnet_put_u8(w, FNET__JAVA_CLASS_DESC);
    put_ascii(w, name);
    fnet_put_u64(w, version);
    fnet_put_u8(w, FNET__JAVA_SERIALIZABLE | flags);
    fnet_put_u16(w, fields);
}

static void put_field(struct fnet_writer *w, char type, const char *name, const char *class)
{
    fnet_put_u8(w, (uint8_t)type);
    put_ascii(w, name);
    fnet_put_u8(w, FNET__JAVA_STRING);
    put_ascii(w, class);
}

static void put_end(struct fnet_writer *w)
{
    fnet_put_u8(w, FNET__JAVA_END_BLOCK_DATA);
}

static void put_null(struct fnet_writer *w)
{
    fnet_put_u8(w, FNET__JAVA_NULL);
}

/* From the object's own class up to Throwable; versions are the classes' serialVersionUIDs. */
static void put_classes(struct fnet_writer *w, bool not_found)
{
    if (not_found) {
        put_class(w, FNET_PARTITION_NOT_FOUND_CLASS, 0, 0, 0);
        put_end(w);
        put_class(w, "org.apache.flink.runtime.io.network.partition.PartitionException", 0, 0, 1);
        put_field(w, 'L', "partitionId",
                  "Lorg/apache/flink/runtime/io/network/partition/ResultPartitionID;");
        put_end(w);
    }
    put_class(w, "java.io.IOException", 0x6C8073646525F0AB, 0, 0);
    put_end(w);
    put_class(w, "java.lang.Exception", 0xD0FD1F3E1A3B1CC4, 0, 0);
    put_end(w);
    put_class(w, "java.lang.Throwable", 0xD5C635273977B8CB, FNET__JAVA_WRITE_METHOD, 4);
    put_field(w, 'L', "cause", "Ljava/lang/Throwable;");
    put_field(w, 'L', "detailMessage", "Ljava/lang/String;");
    put_field(w, '[', "stackTrace", "[Ljava/lang/StackTraceElement;");
    put_field(w, 'L', "suppressedExceptions", "Ljava/util/List;");
    put_end(w);
    put_null(w); /* no superclass that is serializable */
}

/* The UTF-8 character at TEXT and its bytes; '?' and 1 when it is none. */
static uint32_t utf8_at(const char *text, size_t *bytes)
{
    const uint8_t *p = (const uint8_t *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = p[0] < 0x80 ? 1 : p[0] < 0xC0 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    uint32_t c = len == 1 ? p[0] : p[0] & (0x7Fu >> len);

    *bytes = 1;
    if (len == 0 || p[0] >= 0xF8)
        return '?';
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xC0) != 0x80) /* the NUL at the end is none */
            return '?';
        c = c << 6 | (p[i] & 0x3Fu);
    }
    if (c < least[len] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return '?';
    *bytes = len;
    return c;
}

/* TEXT, cut at TEXT_MAX bytes, as a string: modified UTF-8 has 3 bytes for each surrogate. */
static void put_string(struct fnet_writer *w, const char *text)
{
    fnet_put_u8(w, FNET__JAVA_STRING);

    uint8_t *length = fnet_put_room(w, 2);
    const uint8_t *from = w->pos;
    size_t bytes;
    for (size_t at = 0; text[at] && !w->failed; at += bytes) {
        uint32_t c = utf8_at(text + at, &bytes);
        if (at + bytes > TEXT_MAX)
            break;
        if (c >= 0x10000) {
            fnet__wire_put_utf8(w, 0xD800 + ((c - 0x10000) >> 10));
            fnet__wire_put_utf8(w, 0xDC00 + ((c - 0x10000) & 0x3FF));
        } else {
            fnet__wire_put_utf8(w, c);
        }
    }
    if (length)
        fnet_store_be16(length, (uint16_t)(w->pos - from));
}

enum fnet_err fnet_throwable_encode(bool not_found, const char *message, struct fnet_writer *w)
{
    struct fnet_writer to = *w;

    fnet_put_u16(&to, FNET__JAVA_MAGIC);
    fnet_put_u16(&to, FNET__JAVA_VERSION);
    fnet_put_u8(&to, FNET__JAVA_OBJECT);
    put_classes(&to, not_found);
    put_null(&to); /* cause */
    put_string(&to, message);
    put_null(&to); /* stackTrace: readers take it for an empty one */
    put_null(&to); /* suppressedExceptions: none, nor can any be added */
    put_end(&to);
    if (not_found)
        put_null(&to); /* partitionId: the reader's channel knows what it asked for */
    if (to.failed)
        return FNET_RANGE;
    *w = to;
    return FNET_OK;
}
