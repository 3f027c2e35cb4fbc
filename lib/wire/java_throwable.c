/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Java throwables in an ErrorResponse: their words out of a stream, and a stream out of words.
 *
 * Source: java.lang.Throwable and java.io.DataInput (modified UTF-8); Flink
 * PartitionNotFoundException, PartitionException (2.0 to 2.3).
 */
#include "fnet/wire.h"

#include "object_stream.h"

#define REPLACEMENT 0xFFFDu
#define TEXT_MAX (FNET_THROWABLE_TEXT_BYTES - 1)

/* ---- out of a stream --------------------------------------------------------------------- */

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The UTF-16 unit at the front of TEXT and its bytes; what is none counts as one wrong byte. */
static uint32_t unit_at(struct fnet_span text, size_t *bytes)
{
    const uint8_t *p = text.ptr;

    *bytes = 1;
    if (p[0] < 0x80)
        return p[0] ? p[0] : REPLACEMENT;
    if ((p[0] & 0xE0) == 0xC0 && text.len >= 2 && is_continuation(p[1])) {
        *bytes = 2;
        return (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
    }
    if ((p[0] & 0xF0) == 0xE0 && text.len >= 3 && is_continuation(p[1]) && is_continuation(p[2])) {
        *bytes = 3;
        return (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    }
    return REPLACEMENT;
}

/* The character at the front of TEXT: one unit or a surrogate pair; no NUL, no lone surrogate. */
static uint32_t character_at(struct fnet_span text, size_t *bytes)
{
    uint32_t high = unit_at(text, bytes);

    if (high == 0 || (high >= 0xDC00 && high <= 0xDFFF))
        return REPLACEMENT;
    if (high < 0xD800 || high > 0xDBFF)
        return high;
    if (text.len == *bytes)
        return REPLACEMENT;

    size_t low_bytes;
    uint32_t low = unit_at(fnet_span_of(text.ptr + *bytes, text.len - *bytes), &low_bytes);
    if (low < 0xDC00 || low > 0xDFFF)
        return REPLACEMENT;
    *bytes += low_bytes;
    return 0x10000 + ((high - 0xD800) << 10 | (low - 0xDC00));
}

static void put_utf8(struct fnet_writer *w, uint32_t c)
{
    uint8_t bytes[4];
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};

    for (size_t i = len; i-- > 1; c >>= 6)
        bytes[i] = (uint8_t)(0x80 | (c & 0x3F));
    bytes[0] = (uint8_t)(lead[len] | c);
    fnet_put_bytes(w, bytes, len);
}

/* Modified UTF-8 to UTF-8, cut where it does not fit. */
static void copy_text(char out[static FNET_THROWABLE_TEXT_BYTES], struct fnet_span text)
{
    struct fnet_writer w = fnet_writer_of(out, TEXT_MAX);
    size_t bytes;

    for (size_t at = 0; at < text.len && !w.failed; at += bytes)
        put_utf8(&w, character_at(fnet_span_of(text.ptr + at, text.len - at), &bytes));
    *w.pos = '\0';
}

enum fnet_err fnet_throwable_decode(struct fnet_span stream, struct fnet_throwable *out)
{
    struct fnet__wire_object object;
    enum fnet_err err = fnet__wire_object_read(stream, &object);

    if (err != FNET_OK)
        return err;
    copy_text(out->class_name, object.class_name);
    copy_text(out->message, object.message);
    return FNET_OK;
}

/* ---- into a stream ----------------------------------------------------------------------- */

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
        if (!is_continuation(p[i])) /* the NUL at the end is none */
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
            put_utf8(w, 0xD800 + ((c - 0x10000) >> 10));
            put_utf8(w, 0xDC00 + ((c - 0x10000) & 0x3FF));
        } else {
            put_utf8(w, c);
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
