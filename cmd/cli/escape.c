/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes for terminals and JSON.
 *
 * Source: RFC 3629 (UTF-8), section 4; RFC 8259 (JSON), section 7.
 */
#include "cli/escape.h"

/* The first continuation byte is narrower after some heads: no overlong forms, no surrogates,
 * nothing above U+10FFFF. */
static bool is_second_byte(uint8_t head, uint8_t c)
{
    uint8_t min = head == 0xe0 ? 0xa0 : head == 0xf0 ? 0x90 : 0x80;
    uint8_t max = head == 0xed ? 0x9f : head == 0xf4 ? 0x8f : 0xbf;

    return c >= min && c <= max;
}

size_t escape_utf8_len(struct fnet_span bytes)
{
    const uint8_t head = bytes.ptr[0];
    size_t len;

    if (head < 0x80)
        return 1;
    if (head < 0xc2 || head > 0xf4)
        return 0;
    len = head < 0xe0 ? 2 : head < 0xf0 ? 3 : 4;
    if (bytes.len < len || !is_second_byte(head, bytes.ptr[1]))
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((bytes.ptr[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

bool escape_is_utf8(struct fnet_span bytes)
{
    while (bytes.len > 0) {
        size_t len = escape_utf8_len(bytes);
        if (len == 0)
            return false;
        bytes = fnet_span_of(bytes.ptr + len, bytes.len - len);
    }
    return true;
}

/* Control characters of ASCII, and the C1 ones, U+0080 to U+009F, that terminals obey as well. */
static bool is_control(const uint8_t *at, size_t len)
{
    return (len == 1 && (at[0] < 0x20 || at[0] == 0x7f)) ||
           (len == 2 && at[0] == 0xc2 && at[1] < 0xa0);
}

static const char *short_escape(uint8_t c)
{
    switch (c) {
    case '\\': return "\\\\";
    case '\t': return "\\t";
    case '\n': return "\\n";
    case '\r': return "\\r";
    default: return NULL;
    }
}

/* How many bytes at the head of BYTES are printable ASCII other than a backslash and QUOTE. */
static size_t plain_len(struct fnet_span bytes, uint8_t quote)
{
    size_t n = 0;

    while (n < bytes.len && bytes.ptr[n] >= ' ' && bytes.ptr[n] <= '~' && bytes.ptr[n] != '\\' &&
           bytes.ptr[n] != quote)
        n++;
    return n;
}

/* Print the character at the head of BYTES; returns how many bytes it has. */
static size_t print_character(FILE *out, struct fnet_span bytes)
{
    const char *name = short_escape(*bytes.ptr);
    size_t len = escape_utf8_len(bytes);

    if (name) {
        fputs(name, out);
        return 1;
    }
    if (len > 0 && !is_control(bytes.ptr, len)) {
        fwrite(bytes.ptr, 1, len, out);
        return len;
    }
    fprintf(out, "\\x%02x", *bytes.ptr);
    return 1;
}

void escape_print(FILE *out, struct fnet_span bytes)
{
    while (bytes.len > 0) {
        size_t len = plain_len(bytes, '\\');
        if (len > 0)
            fwrite(bytes.ptr, 1, len, out);
        else
            len = print_character(out, bytes);
        bytes = fnet_span_of(bytes.ptr + len, bytes.len - len);
    }
}

void escape_print_json(FILE *out, struct fnet_span bytes)
{
    putc('"', out);
    for (size_t i = 0; i < bytes.len;) {
        const uint8_t *at = bytes.ptr + i;
        size_t len = plain_len(fnet_span_of(at, bytes.len - i), '"');
        const char *name = short_escape(*at);
        if (len > 0)
            fwrite(at, 1, len, out);
        else if (name)
            fputs(name, out);
        else if (*at == '"')
            fputs("\\\"", out);
        else if (*at < ' ' || *at == 0x7f)
            fprintf(out, "\\u%04x", *at);
        else
            putc(*at, out);
        i += len > 0 ? len : 1;
    }
    putc('"', out);
}

void escape_print_hex(FILE *out, struct fnet_span bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        fprintf(out, "%02x", bytes.ptr[i]);
}
