/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/units: what is a number, a size, a duration, a character, and what is not.
 */
#include "cli/units.h"

#include <stddef.h>

#include "../tap.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void test_numbers(void)
{
    static const char *const wrong[] = {"",   "x",  "1x",  "-1",   "+1",
                                        " 1", "1 ", "1.0", "0x10", "1e3"};
    const char *why = NULL;
    uint64_t out = 77;

    CASE("a number is decimal digits and nothing else");
    CHECK_INT(units_parse_number("0", 0, 9, &out, &why), FNET_OK);
    CHECK_INT(out, 0);
    CHECK_INT(units_parse_number("18446744073709551615", 0, UINT64_MAX, &out, &why), FNET_OK);
    CHECK(out == UINT64_MAX);
    out = 77;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        CHECK_INT(units_parse_number(wrong[i], 0, UINT64_MAX, &out, &why), FNET_INVALID);
        CHECK_STR(why, "not a number");
    }
    CASE("a number outside its range is told apart, also beyond 64 bits");
    CHECK_INT(units_parse_number("99999", 0, 65535, &out, &why), FNET_RANGE);
    CHECK_STR(why, "out of range");
    CHECK_INT(units_parse_number("0", 1, 9, &out, &why), FNET_RANGE);
    CHECK_INT(units_parse_number("18446744073709551616", 0, UINT64_MAX - 1, &out, &why),
              FNET_RANGE);
    CHECK_INT(out, 77);
}

static void test_sizes(void)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } right[] = {
        {"0", 0}, {"17", 17}, {"32k", 32768}, {"32K", 32768}, {"3M", 3u << 20}, {"2G", 2ull << 30},
    };
    static const char *const wrong[] = {"", "k", "1.5M", "1kB", "1 k", "-1k", "1T", "1m"};
    const char *why = NULL;
    uint64_t out = 77;

    CASE("a size is a number and k, M or G of 1024");
    for (size_t i = 0; i < COUNT(right); i++) {
        CHECK_INT(units_parse_size(right[i].text, 0, UINT64_MAX, &out, &why), FNET_OK);
        CHECK_INT(out, right[i].bytes);
    }
    out = 77;
    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK_INT(units_parse_size(wrong[i], 0, UINT64_MAX, &out, &why), FNET_INVALID);
    CASE("the range of a size counts bytes and does not overflow");
    CHECK_INT(units_parse_size("1k", 0, 1023, &out, &why), FNET_RANGE);
    CHECK_INT(units_parse_size("1k", 1025, 4096, &out, &why), FNET_RANGE);
    CHECK_INT(units_parse_size("17179869184G", 0, UINT64_MAX, &out, &why), FNET_RANGE);
    CHECK_INT(units_parse_size("99999999999999999999", 0, UINT64_MAX - 1, &out, &why), FNET_RANGE);
    CHECK_INT(out, 77);
}

static void test_durations(void)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } right[] = {
        {"0", 0},
        {"0s", 0},
        {"100ms", 100000000},
        {"10s", 10000000000},
        {"2m", 120000000000},
        {"1h", 3600000000000},
    };
    static const char *const wrong[] = {"", "ms", "100", "1.5s", "1d", "1us", "-1s", "1 s", "1S"};
    const char *why = NULL;
    uint64_t out = 77;

    CASE("a duration has a unit, only 0 may go without");
    for (size_t i = 0; i < COUNT(right); i++) {
        CHECK_INT(units_parse_duration(right[i].text, &out, &why), FNET_OK);
        CHECK_INT(out, right[i].ns);
    }
    out = 77;
    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK_INT(units_parse_duration(wrong[i], &out, &why), FNET_INVALID);
    CHECK_INT(units_parse_duration("100", &out, &why), FNET_INVALID);
    CHECK_STR(why, "a duration needs a unit (ms, s, m or h)");
    CHECK_INT(out, 77);
}

static void test_longest_duration(void)
{
    static const char *const longest[] = {"3153600000000ms", "3153600000s", "52560000m", "876000h"};
    static const char *const longer[] = {
        "3153600000001ms",
        "3153600001s",
        "52560001m",
        "876001h",
        "18446744073709551615h",
        "18446744073709551616ms",
        /* These would be short again after multiplying in 64 bits. */
        "18446744073710ms",
        "5124096h",
    };
    const char *why = NULL;
    uint64_t out;

    CASE("a duration is 100 years at most, in every unit: now and it do not overflow together");
    for (size_t i = 0; i < COUNT(longest); i++) {
        out = 77;
        CHECK_INT(units_parse_duration(longest[i], &out, &why), FNET_OK);
        CHECK(out == UNITS_DURATION_MAX_NS);
    }
    CHECK(UNITS_DURATION_MAX_NS < UINT64_MAX / 4);
    out = 77;
    for (size_t i = 0; i < COUNT(longer); i++) {
        why = "";
        CHECK_INT(units_parse_duration(longer[i], &out, &why), FNET_RANGE);
        CHECK_STR(why, "longer than 100 years (876000h)");
    }
    CHECK_INT(out, 77);
}

static void test_characters(void)
{
    static const struct {
        const char *text;
        uint8_t byte;
    } right[] = {
        {",", ','},     {"\\", '\\'}, {"\t", '\t'},    {"\\t", '\t'},   {"\\n", '\n'},  {"\\0", 0},
        {"\\\\", '\\'}, {"\\x00", 0}, {"\\x7C", 0x7c}, {"\\xff", 0xff}, {"\xe9", 0xe9},
    };
    static const char *const wrong[] = {"",      "ab",      "\\a",  "\\x",  "\\x7",
                                        "\\x7g", "\\x7c7c", "\\tt", "\\00", "\xc3\xa9"};
    const char *why = NULL;
    uint8_t out = 77;

    CASE("a character is one byte or an escape of one");
    for (size_t i = 0; i < COUNT(right); i++) {
        CHECK_INT(units_parse_char(right[i].text, &out, &why), FNET_OK);
        CHECK_INT(out, right[i].byte);
    }
    out = 77;
    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK_INT(units_parse_char(wrong[i], &out, &why), FNET_INVALID);
    CHECK_INT(out, 77);
}

static void test_formats(void)
{
    static const struct {
        uint64_t value;
        const char *size;
        const char *count;
    } cases[] = {
        {0, "0 B", "0"},
        {999, "999 B", "999"},
        {1000, "1000 B", "1.0k"},
        {1024, "1.0 KiB", "1.0k"},
        {1536, "1.5 KiB", "1.5k"},
        {12400000, "11.8 MiB", "12.4M"},
        {123456789012, "114 GiB", "123G"},
        {UINT64_MAX, "16383 PiB", "18446P"},
    };
    char text[UNITS_TEXT_BYTES];

    CASE("sizes and counts have a unit and at most three digits");
    for (size_t i = 0; i < COUNT(cases); i++) {
        units_format_size(cases[i].value, text);
        CHECK_STR(text, cases[i].size);
        units_format_count(cases[i].value, text);
        CHECK_STR(text, cases[i].count);
    }
    CASE("a rate is per second, and nothing when no time has passed");
    CHECK_INT(units_per_second(10, 2000000000), 5);
    CHECK_INT(units_per_second(10, 1), 10000000000);
    CHECK_INT(units_per_second(10, 0), 0);
    CHECK_INT(units_per_second(40ull << 30, 2000000000), 20ull << 30);
}

int main(void)
{
    test_numbers();
    test_sizes();
    test_durations();
    test_longest_duration();
    test_characters();
    test_formats();
    return tap_done();
}
