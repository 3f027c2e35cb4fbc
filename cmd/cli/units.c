/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers with units, strictly read and shortly written.
 */
#include "cli/units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char not_a_number[] = "not a number";
static const char out_of_range[] = "out of range";

struct unit {
    const char *suffix;
    uint64_t factor;
};

/* Read the digits at *AT and move behind them. A number too large for 64 bits saturates. */
static bool read_digits(const char **at, uint64_t *out)
{
    const char *from = *at;
    uint64_t value = 0;

    for (; **at >= '0' && **at <= '9'; ++*at) {
        uint64_t digit = (uint64_t)(**at - '0');
        value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
    }
    *out = value;
    return *at != from;
}

static const struct unit *find_unit(const struct unit *units, const char *suffix)
{
    for (; units->suffix; units++)
        if (strcmp(units->suffix, suffix) == 0)
            return units;
    return NULL;
}

enum fnet_err units_parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *out,
                                 const char **why)
{
    uint64_t value;

    if (!read_digits(&text, &value) || *text != '\0') {
        *why = not_a_number;
        return FNET_INVALID;
    }
    if (value < min || value > max) {
        *why = out_of_range;
        return FNET_RANGE;
    }
    *out = value;
    return FNET_OK;
}

enum fnet_err units_parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *out,
                               const char **why)
{
    static const struct unit units[] = {
        {"", 1}, {"k", 1u << 10}, {"K", 1u << 10}, {"M", 1u << 20}, {"G", 1u << 30}, {NULL, 0},
    };
    uint64_t value;

    if (!read_digits(&text, &value)) {
        *why = not_a_number;
        return FNET_INVALID;
    }
    const struct unit *unit = find_unit(units, text);
    if (!unit) {
        *why = "not a size (a number, and k, M or G)";
        return FNET_INVALID;
    }
    if (value > UINT64_MAX / unit->factor || value * unit->factor < min ||
        value * unit->factor > max) {
        *why = out_of_range;
        return FNET_RANGE;
    }
    *out = value * unit->factor;
    return FNET_OK;
}

enum fnet_err units_parse_duration(const char *text, uint64_t *out_ns, const char **why)
{
    static const struct unit units[] = {
        {"ms", 1000000},
        {"s", 1000000000},
        {"m", UINT64_C(60000000000)},
        {"h", UINT64_C(3600000000000)},
        {NULL, 0},
    };
    uint64_t value;

    if (!read_digits(&text, &value)) {
        *why = not_a_number;
        return FNET_INVALID;
    }
    if (value == 0 && *text == '\0') {
        *out_ns = 0;
        return FNET_OK;
    }
    const struct unit *unit = find_unit(units, text);
    if (!unit) {
        *why = *text ? "not a duration (a number, and ms, s, m or h)"
                     : "a duration needs a unit (ms, s, m or h)";
        return FNET_INVALID;
    }
    if (value > UNITS_DURATION_MAX_NS / unit->factor) {
        *why = "longer than 100 years (876000h)";
        return FNET_RANGE;
    }
    *out_ns = value * unit->factor;
    return FNET_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The byte that the escape behind a backslash stands for, -1 if it is none. */
static int escaped_byte(const char *escape)
{
    static const char names[] = "tn0\\";
    static const char bytes[] = "\t\n\0\\";
    const char *name = *escape ? strchr(names, *escape) : NULL;

    if (name)
        return escape[1] == '\0' ? bytes[name - names] : -1;
    if (*escape != 'x')
        return -1;
    int high = hex_digit(escape[1]);
    int low = high < 0 ? -1 : hex_digit(escape[2]);
    return low < 0 || escape[3] != '\0' ? -1 : high << 4 | low;
}

enum fnet_err units_parse_char(const char *text, uint8_t *out, const char **why)
{
    if (text[0] != '\0' && text[1] == '\0') {
        *out = (uint8_t)text[0];
        return FNET_OK;
    }
    int byte = text[0] == '\\' ? escaped_byte(text + 1) : -1;
    if (byte < 0) {
        *why = "not one byte (or \\t, \\n, \\0, \\\\, \\xNN)";
        return FNET_INVALID;
    }
    *out = (uint8_t)byte;
    return FNET_OK;
}

/* VALUE in the largest unit that leaves at least 1 before the point, with three digits. */
static void format_scaled(uint64_t value, uint64_t base, const char *const suffixes[],
                          char text[static UNITS_TEXT_BYTES])
{
    uint64_t unit = 1;
    size_t step = 0;

    while (value / unit >= base && suffixes[step + 1]) {
        unit *= base;
        step++;
    }
    uint64_t whole = value / unit;
    if (step == 0 || whole >= 100)
        snprintf(text, UNITS_TEXT_BYTES, "%" PRIu64 "%s", whole, suffixes[step]);
    else
        snprintf(text, UNITS_TEXT_BYTES, "%" PRIu64 ".%u%s", whole,
                 (unsigned)(value % unit * 10 / unit), suffixes[step]);
}

void units_format_size(uint64_t bytes, char text[static UNITS_TEXT_BYTES])
{
    static const char *const suffixes[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", NULL};

    format_scaled(bytes, 1024, suffixes, text);
}

void units_format_count(uint64_t count, char text[static UNITS_TEXT_BYTES])
{
    static const char *const suffixes[] = {"", "k", "M", "G", "T", "P", NULL};

    format_scaled(count, 1000, suffixes, text);
}

uint64_t units_per_second(uint64_t count, uint64_t ns)
{
    if (ns == 0)
        return 0;
    /* 64 bits would overflow above 18 GB. */
    unsigned __int128 rate = (unsigned __int128)count * 1000000000 / ns;
    return rate > UINT64_MAX ? UINT64_MAX : (uint64_t)rate;
}
