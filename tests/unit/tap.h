/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: checks for the unit test programs. A program is silent and exits 0 when every check
 * holds; a failed check prints where and what, and the program goes on and exits 1.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdio.h>
#include <string.h>

static int tap_failures;

#define CHECK(condition) tap_check((condition), __FILE__, __LINE__, #condition)
#define CHECK_INT(actual, expected)                                                                \
    tap_check_int((long long)(actual), (long long)(expected), __FILE__, __LINE__, #actual)
#define CHECK_STR(actual, expected) tap_check_str((actual), (expected), __FILE__, __LINE__, #actual)
#define CHECK_MEM(actual, expected, len)                                                           \
    tap_check_mem((actual), (expected), (len), __FILE__, __LINE__, #actual)

/** One named case: the name is a sentence and shows up in what a failure prints. */
#define CASE(name) tap_case = (name)

static const char *tap_case = "";

__attribute__((unused)) static int tap_check(int holds, const char *file, int line,
                                             const char *text)
{
    if (!holds) {
        fprintf(stderr, "%s:%d: %s: failed: %s\n", file, line, tap_case, text);
        tap_failures++;
    }
    return holds;
}

__attribute__((unused)) static int tap_check_int(long long actual, long long expected,
                                                 const char *file, int line, const char *text)
{
    if (actual == expected)
        return 1;
    fprintf(stderr, "%s:%d: %s: %s is %lld, not %lld\n", file, line, tap_case, text, actual,
            expected);
    tap_failures++;
    return 0;
}

__attribute__((unused)) static int tap_check_str(const char *actual, const char *expected,
                                                 const char *file, int line, const char *text)
{
    if (actual && strcmp(actual, expected) == 0)
        return 1;
    fprintf(stderr, "%s:%d: %s: %s is '%s', not '%s'\n", file, line, tap_case, text,
            actual ? actual : "(null)", expected);
    tap_failures++;
    return 0;
}

__attribute__((unused)) static int tap_check_mem(const void *actual, const void *expected,
                                                 size_t len, const char *file, int line,
                                                 const char *text)
{
    if (len == 0 || memcmp(actual, expected, len) == 0)
        return 1;
    size_t at = 0;
    while (((const unsigned char *)actual)[at] == ((const unsigned char *)expected)[at])
        at++;
    fprintf(stderr, "%s:%d: %s: %s differs at byte %zu of %zu: %02x, not %02x\n", file, line,
            tap_case, text, at, len, ((const unsigned char *)actual)[at],
            ((const unsigned char *)expected)[at]);
    tap_failures++;
    return 0;
}

/** The exit status of main(). */
__attribute__((unused)) static int tap_done(void)
{
    return tap_failures ? 1 : 0;
}

#endif
