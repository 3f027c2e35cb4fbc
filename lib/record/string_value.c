/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings: UTF-8 into variable-length UTF-16 units and back. Text that is all ASCII, where both are
 * the same bytes, is copied.
 *
 * Source: Flink StringValue.writeString, readString.
 */
#include "string_value.h"

#include "fnet/utf8.h"

#define HIGH_BIT 0x80u
#define NOT_ASCII UINT64_C(0x8080808080808080)

size_t fnet__string_count_high(struct fnet_span bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < bytes.len; i++)
        n += bytes.ptr[i] >> 7;
    return n;
}

static bool is_ascii(struct fnet_span bytes)
{
    uint64_t seen = 0;
    size_t i = 0;

    for (; i + sizeof seen <= bytes.len; i += sizeof seen) {
        uint64_t eight;
        memcpy(&eight, bytes.ptr + i, sizeof eight);
        seen |= eight;
    }
    for (; i < bytes.len; i++)
        seen |= bytes.ptr[i];
    return !(seen & NOT_ASCII);
}

/* ---- UTF-8 to units ---------------------------------------------------------------------- */

static size_t count_units(struct fnet_span text)
{
    const uint8_t *end = text.ptr + text.len;
    size_t units = 0;
    uint32_t code;

    for (const uint8_t *pos = text.ptr; pos<end; units += code> 0xffff ? 2 : 1)
        pos += fnet_utf8_next(pos, end, &code);
    return units;
}

static uint8_t *put_number(uint8_t *to, uint32_t number)
{
    for (; number >= HIGH_BIT; number >>= 7)
        *to++ = (uint8_t)(number | HIGH_BIT);
    *to++ = (uint8_t)number;
    return to;
}

static uint8_t *put_units(uint8_t *to, struct fnet_span text)
{
    const uint8_t *end = text.ptr + text.len;
    uint32_t code;

    for (const uint8_t *pos = text.ptr; pos < end;) {
        pos += fnet_utf8_next(pos, end, &code);
        if (code > 0xffff) {
            to = put_number(to, 0xd800 + ((code - 0x10000) >> 10));
            code = 0xdc00 + (code & 0x3ff);
        }
        to = put_number(to, code);
    }
    return to;
}

void fnet__string_put(struct fnet_span text, struct fnet_writer *w)
{
    if (is_ascii(text)) {
        w->pos = put_number(w->pos, (uint32_t)text.len + 1);
        fnet_put_bytes(w, text.ptr, text.len);
        return;
    }
    w->pos = put_number(w->pos, (uint32_t)count_units(text) + 1);
    w->pos = put_units(w->pos, text);
}

/* ---- units to UTF-8 ---------------------------------------------------------------------- */

/* A variable-length number of at most BYTES bytes, not above MOST. */
static enum fnet_err get_number(struct fnet_reader *r, unsigned bytes, uint64_t most,
                                uint64_t *number)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++) {
        if (r->pos == r->end)
            return FNET_TRUNCATED;
        const uint8_t byte = *r->pos++;
        value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < HIGH_BIT) {
            *number = value;
            return value <= most ? FNET_OK : FNET_BAD_VALUE;
        }
    }
    return FNET_BAD_VALUE;
}

static enum fnet_err get_units(struct fnet_reader *r, size_t units)
{
    for (size_t i = 0; i < units; i++) {
        uint64_t unit;
        enum fnet_err err = get_number(r, 3, 0xffff, &unit);
        if (err != FNET_OK)
            return err;
    }
    return FNET_OK;
}

enum fnet_err fnet__string_get(struct fnet_reader *r, struct fnet_value *value)
{
    const uint8_t *begin = r->pos;
    uint64_t length;
    enum fnet_err err = get_number(r, 5, INT32_MAX, &length);

    if (err != FNET_OK)
        return err;
    *value = (struct fnet_value){.type = FNET_VALUE_STRING, .is_null = length == 0};
    if (length == 0) /* in more than one byte Flink does not take it for null */
        return r->pos - begin == 1 ? FNET_OK : FNET_BAD_VALUE;
    value->units = (size_t)length - 1;
    if (value->units > fnet_reader_left(r))
        return FNET_TRUNCATED;

    begin = r->pos;
    if (is_ascii(fnet_span_of(begin, value->units)))
        r->pos += value->units;
    else
        err = get_units(r, value->units);
    value->bytes = fnet_span_of(begin, (size_t)(r->pos - begin));
    return err;
}

/* The unit at *POS, which was looked at before. */
static uint32_t take_unit(const uint8_t **pos)
{
    uint32_t unit = 0;
    unsigned shift = 0;

    for (; **pos >= HIGH_BIT; shift += 7)
        unit |= (*(*pos)++ & 0x7fu) << shift;
    const uint8_t last = *(*pos)++;
    return unit | (uint32_t)last << shift;
}

/* The character at *POS; a pair of surrogates is one, a half of it is U+FFFD. */
static uint32_t join_units(const uint8_t **pos, const uint8_t *end)
{
    const uint32_t unit = take_unit(pos);

    if (unit < 0xd800 || unit > 0xdfff)
        return unit;
    const uint8_t *next = *pos;
    const uint32_t low = unit < 0xdc00 && next < end ? take_unit(&next) : 0;
    if (low < 0xdc00 || low > 0xdfff)
        return FNET_UTF8_REPLACEMENT;
    *pos = next;
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

static uint8_t *put_character(uint8_t *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (uint8_t)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (uint8_t)(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *to++ = (uint8_t)(0xe0 | code >> 12);
        } else {
            *to++ = (uint8_t)(0xf0 | code >> 18);
            *to++ = (uint8_t)(0x80 | (code >> 12 & 0x3f));
        }
        *to++ = (uint8_t)(0x80 | (code >> 6 & 0x3f));
    }
    *to++ = (uint8_t)(0x80 | (code & 0x3f));
    return to;
}

void fnet__string_put_text(const struct fnet_value *value, struct fnet_writer *w)
{
    const uint8_t *pos = value->bytes.ptr;
    const uint8_t *end = pos + value->bytes.len;

    if (value->bytes.len == value->units) {
        fnet_put_bytes(w, pos, value->bytes.len);
        return;
    }
    while (pos < end)
        w->pos = put_character(w->pos, join_units(&pos, end));
}
