/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modified UTF-8 into UTF-8, of which the beginning is kept and the rest counted, as it stands: a
 * stack of many lines may name one long string again and again.
 *
 * Source: java.io.DataInput (modified UTF-8): a NUL has two bytes, a character above U+FFFF is two
 * surrogates of three bytes each.
 */
#include "java_text.h"

#include <stdio.h>

#define REPLACEMENT 0xFFFDu
#define TEXT_MAX (FNET_THROWABLE_TEXT_BYTES - 1)
/* Room for "... (18446744073709551615 more bytes)". */
#define MARK_BYTES 40

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

size_t fnet__wire_utf8_bytes(uint32_t c)
{
    return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

void fnet__wire_put_utf8(struct fnet_writer *w, uint32_t c)
{
    uint8_t bytes[4];
    size_t len = fnet__wire_utf8_bytes(c);
    static const uint8_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};

    for (size_t i = len; i-- > 1; c >>= 6)
        bytes[i] = (uint8_t)(0x80 | (c & 0x3F));
    bytes[0] = (uint8_t)(lead[len] | c);
    fnet_put_bytes(w, bytes, len);
}

struct fnet__wire_text fnet__wire_text_of(char out[static FNET_THROWABLE_TEXT_BYTES])
{
    return (struct fnet__wire_text){.out = out};
}

static void add_character(struct fnet__wire_text *text, uint32_t c)
{
    size_t bytes = fnet__wire_utf8_bytes(c);

    if (text->len + bytes <= TEXT_MAX) {
        struct fnet_writer w = fnet_writer_of(text->out + text->len, bytes);
        fnet__wire_put_utf8(&w, c);
        text->len += bytes;
        if (text->len <= TEXT_MAX - MARK_BYTES)
            text->whole = text->len;
    }
    text->total += bytes;
}

void fnet__wire_text_add(struct fnet__wire_text *text, struct fnet_span modified)
{
    size_t at = 0;
    size_t bytes;

    for (; at < modified.len && text->len == text->total; at += bytes)
        add_character(text,
                      character_at(fnet_span_of(modified.ptr + at, modified.len - at), &bytes));
    text->total += modified.len - at;
}

void fnet__wire_text_add_ascii(struct fnet__wire_text *text, const char *ascii)
{
    fnet__wire_text_add(text, fnet_span_of(ascii, strlen(ascii)));
}

void fnet__wire_text_end(struct fnet__wire_text *text)
{
    text->out[text->len] = '\0';
    if (text->len < text->total)
        snprintf(text->out + text->whole, MARK_BYTES, "... (%zu more bytes)",
                 text->total - text->whole);
}
