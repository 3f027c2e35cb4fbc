/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/format: what -f and -d take, and that the description says what was taken.
 */
#include "cli/format.h"

#include "../tap.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void check_text(const struct fnet_delimiter_config *config, const char *expected)
{
    char text[FORMAT_TEXT_BYTES];

    format_describe(config, text);
    CHECK_STR(text, expected);
}

static void test_formats(void)
{
    static const struct {
        const char *text;
        enum fnet_record_format format;
        size_t record_bytes;
        const char *described;
    } right[] = {
        {"lines", FNET_FORMAT_LINES, 0, "lines, delimiter \\n"},
        {"nul", FNET_FORMAT_NUL, 0, "nul, delimiter \\0"},
        {"u32", FNET_FORMAT_U32, 0, "u32, big-endian lengths"},
        {"bytes", FNET_FORMAT_BYTES, FORMAT_CHUNK_BYTES, "bytes, chunks of 32768 at most"},
        {"fixed:1", FNET_FORMAT_FIXED, 1, "fixed, 1 bytes"},
        {"fixed:4k", FNET_FORMAT_FIXED, 4096, "fixed, 4096 bytes"},
        {"fixed:2147483639", FNET_FORMAT_FIXED, FNET_RECORD_MAX_BYTES, "fixed, 2147483639 bytes"},
    };

    CASE("each format is taken and described");
    for (size_t i = 0; i < COUNT(right); i++) {
        struct fnet_delimiter_config config = FNET_DELIMITER_CONFIG_INIT;
        const char *why = NULL;

        CHECK_INT(format_parse(right[i].text, &config, &why), FNET_OK);
        CHECK_INT(config.format, right[i].format);
        CHECK_INT(config.record_bytes, right[i].record_bytes);
        CHECK(why == NULL);
        check_text(&config, right[i].described);
    }
}

static void test_mistakes(void)
{
    static const struct {
        const char *text;
        enum fnet_err err;
    } wrong[] = {
        {"", FNET_INVALID},        {"Lines", FNET_INVALID},
        {"line", FNET_INVALID},    {"lines ", FNET_INVALID},
        {"fixed", FNET_INVALID},   {"fixed:", FNET_INVALID},
        {"fixed:x", FNET_INVALID}, {"fixed:-1", FNET_INVALID},
        {"fixed:0", FNET_RANGE},   {"fixed:2147483640", FNET_RANGE},
        {"fixed:99G", FNET_RANGE}, {"fixed:8G8", FNET_INVALID},
        {"u32:4", FNET_INVALID},   {"elements", FNET_INVALID},
    };

    CASE("anything else is refused with a reason, and changes nothing");
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct fnet_delimiter_config config = {FNET_FORMAT_U32, 'x', 77};
        const char *why = NULL;

        CHECK_INT(format_parse(wrong[i].text, &config, &why), wrong[i].err);
        CHECK(why != NULL);
        CHECK_INT(config.format, FNET_FORMAT_U32);
        CHECK_INT(config.delimiter, 'x');
        CHECK_INT(config.record_bytes, 77);
    }
}

static void test_delimiters(void)
{
    struct fnet_delimiter_config config = {FNET_FORMAT_NUL, '\n', 0};
    const char *why = NULL;

    CASE("a delimiter makes the format lines");
    CHECK_INT(format_parse_delimiter("\\t", &config, &why), FNET_OK);
    CHECK_INT(config.format, FNET_FORMAT_LINES);
    check_text(&config, "lines, delimiter \\t");

    CASE("it stays when the format is named afterwards");
    CHECK_INT(format_parse("lines", &config, &why), FNET_OK);
    CHECK_INT(config.delimiter, '\t');

    CASE("what is not one byte is refused and changes nothing");
    config.format = FNET_FORMAT_U32;
    CHECK_INT(format_parse_delimiter("", &config, &why), FNET_INVALID);
    CHECK_INT(format_parse_delimiter("ab", &config, &why), FNET_INVALID);
    CHECK(why != NULL);
    CHECK_INT(config.format, FNET_FORMAT_U32);
    CHECK_INT(config.delimiter, '\t');
}

static void test_descriptions(void)
{
    static const char prefix[] = "lines, delimiter ";

    CASE("every delimiter is described in print, as -d takes it");
    for (unsigned byte = 0; byte < 256; byte++) {
        struct fnet_delimiter_config config = {FNET_FORMAT_LINES, (uint8_t)byte, 0};
        struct fnet_delimiter_config back = {FNET_FORMAT_NUL, (uint8_t)~byte, 0};
        char text[FORMAT_TEXT_BYTES];
        const char *why = NULL;

        format_describe(&config, text);
        CHECK_MEM(text, prefix, sizeof prefix - 1);
        for (const char *c = text + sizeof prefix - 1; *c; c++)
            CHECK(*c > ' ' && *c <= '~');
        CHECK_INT(format_parse_delimiter(text + sizeof prefix - 1, &back, &why), FNET_OK);
        CHECK_INT(back.delimiter, byte);
    }
}

int main(void)
{
    test_formats();
    test_mistakes();
    test_delimiters();
    test_descriptions();
    return tap_done();
}
