/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: numbers, sizes, durations and characters on the command line, and numbers for people.
 *
 * Nothing here looks at the locale. Parsers take the whole text or nothing: no blanks, no signs,
 * no fractions. On failure *WHY is a static text that says what is wrong and *OUT is untouched.
 */
#ifndef CLI_UNITS_H
#define CLI_UNITS_H

#include <stdint.h>

#include "fnet/err.h"

#define UNITS_TEXT_BYTES 16 /**< longest formatted number, NUL included */

/** The longest duration, 876000h or 100 years: now and it together fit 64 bits. */
#define UNITS_DURATION_MAX_NS (UINT64_C(876000) * 3600 * 1000000000)

/**
 * Decimal digits, MIN <= value <= MAX.
 *
 * Errors: FNET_INVALID  not a number.
 *         FNET_RANGE    outside MIN to MAX.
 */
FNET_CHECKED enum fnet_err units_parse_number(const char *text, uint64_t min, uint64_t max,
                                              uint64_t *out, const char **why);

/** Bytes: a number, and k (or K), M or G for the powers of 1024. Errors: as a number's. */
FNET_CHECKED enum fnet_err units_parse_size(const char *text, uint64_t min, uint64_t max,
                                            uint64_t *out, const char **why);

/**
 * A number and ms, s, m or h, in nanoseconds; only 0 may stand without a unit.
 *
 * Errors: FNET_INVALID  no duration.
 *         FNET_RANGE    longer than UNITS_DURATION_MAX_NS.
 */
FNET_CHECKED enum fnet_err units_parse_duration(const char *text, uint64_t *out_ns,
                                                const char **why);

/** One byte as it is, or \\t, \\n, \\0, \\\\ or \\xNN. Errors: FNET_INVALID. */
FNET_CHECKED enum fnet_err units_parse_char(const char *text, uint8_t *out, const char **why);

/** "17 B", "1.5 KiB", "12.3 MiB", "123 GiB": powers of 1024, rounded down. */
void units_format_size(uint64_t bytes, char text[static UNITS_TEXT_BYTES]);

/** "17", "1.5k", "12.3M", "123G": powers of 1000, rounded down. */
void units_format_count(uint64_t count, char text[static UNITS_TEXT_BYTES]);

/** COUNT in NS nanoseconds as so many a second; 0 when no time has passed. */
uint64_t units_per_second(uint64_t count, uint64_t ns);

#endif
