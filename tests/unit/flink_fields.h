/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: fields in the form of tests/flink/README, "key=value" with a semicolon between, to be
 * compared with what Flink says.
 */
#ifndef TESTS_FLINK_FIELDS_H
#define TESTS_FLINK_FIELDS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fnet/bytes.h"
#include "fnet/id.h"
#include "fnet/utf8.h"

/** All zero are no fields. Whoever takes them calls flink_fields_clear(). */
struct flink_fields {
    char *text; /* with a NUL behind it */
    size_t len;
    size_t room;
    char prefix[32]; /* in front of the keys that follow: "event." */
};

__attribute__((unused)) static void flink_fields_clear(struct flink_fields *f)
{
    free(f->text);
    *f = (struct flink_fields){.text = NULL};
}

static void flink_append(struct flink_fields *f, const char *bytes, size_t n)
{
    if (f->room - f->len <= n) {
        f->room = 2 * (f->len + n) + 512;
        f->text = realloc(f->text, f->room);
        if (!f->text)
            exit(1);
    }
    memcpy(f->text + f->len, bytes, n);
    f->len += n;
    f->text[f->len] = '\0';
}

static void flink_append_string(struct flink_fields *f, const char *text)
{
    flink_append(f, text, strlen(text));
}

__attribute__((format(printf, 2, 0))) static void flink_append_format(struct flink_fields *f,
                                                                      const char *format,
                                                                      va_list args)
{
    char *text;
    int n = vasprintf(&text, format, args);

    if (n < 0)
        exit(1);
    flink_append(f, text, (size_t)n);
    free(text);
}

/* ---- fields ------------------------------------------------------------------------------ */

static void flink_add_key(struct flink_fields *f, const char *key)
{
    flink_append_string(f, f->len > 0 ? ";" : "");
    flink_append_string(f, f->prefix);
    flink_append_string(f, key);
    flink_append_string(f, "=");
}

__attribute__((unused, format(printf, 3, 4))) static void flink_add(struct flink_fields *f,
                                                                    const char *key,
                                                                    const char *format, ...)
{
    va_list args;

    flink_add_key(f, key);
    va_start(args, format);
    flink_append_format(f, format, args);
    va_end(args);
}

/* More of the value of the last field. */
__attribute__((unused, format(printf, 2, 3))) static void flink_add_more(struct flink_fields *f,
                                                                         const char *format, ...)
{
    va_list args;

    va_start(args, format);
    flink_append_format(f, format, args);
    va_end(args);
}

__attribute__((unused)) static void flink_add_flag(struct flink_fields *f, const char *key,
                                                   bool value)
{
    flink_add_key(f, key);
    flink_append_string(f, value ? "true" : "false");
}

__attribute__((unused)) static void flink_add_hex(struct flink_fields *f, const char *key,
                                                  struct fnet_span bytes)
{
    static const char digits[] = "0123456789abcdef";

    flink_add_key(f, key);
    for (size_t i = 0; i < bytes.len; i++) {
        const char byte[] = {digits[bytes.ptr[i] >> 4], digits[bytes.ptr[i] & 15]};
        flink_append(f, byte, sizeof byte);
    }
}

__attribute__((unused)) static void flink_add_id(struct flink_fields *f, const char *key,
                                                 const struct fnet_id *id)
{
    char text[FNET_ID_TEXT_BYTES];

    fnet_id_format(id, text);
    flink_add(f, key, "%s", text);
}

/* ---- text -------------------------------------------------------------------------------- */

static void flink_append_unit(struct flink_fields *f, uint32_t unit)
{
    char text[8];

    if (unit < ' ' || unit > '~' || unit == ';' || unit == '\\')
        snprintf(text, sizeof text, "\\u%04x", unit & 0xffff);
    else
        snprintf(text, sizeof text, "%c", (int)unit);
    flink_append_string(f, text);
}

/* TEXT is UTF-8. */
__attribute__((unused)) static void flink_add_text(struct flink_fields *f, const char *key,
                                                   struct fnet_span text)
{
    const uint8_t *end = text.ptr + text.len;
    uint32_t code;

    flink_add_key(f, key);
    for (const uint8_t *pos = text.ptr; pos < end;) {
        pos += fnet_utf8_next(pos, end, &code);
        if (code > 0xffff) {
            flink_append_unit(f, 0xd800 + ((code - 0x10000) >> 10));
            code = 0xdc00 + (code & 0x3ff);
        }
        flink_append_unit(f, code);
    }
}

/* TEXT is well-formed modified UTF-8, of one to three bytes for each UTF-16 unit. */
__attribute__((unused)) static void flink_add_units(struct flink_fields *f, const char *key,
                                                    struct fnet_span text)
{
    struct fnet_reader r = fnet_reader_of(text);

    flink_add_key(f, key);
    while (fnet_reader_left(&r) > 0) {
        const uint8_t lead = fnet_get_u8(&r);
        uint32_t unit = lead < 0x80 ? lead : lead < 0xe0 ? lead & 0x1fu : lead & 0x0fu;
        for (unsigned more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : 2; more > 0; more--)
            unit = unit << 6 | (fnet_get_u8(&r) & 0x3fu);
        flink_append_unit(f, unit);
    }
}

#endif
