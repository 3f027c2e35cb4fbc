/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format of records, from the command line and back into words.
 */
#include "cli/format.h"

#include <stdio.h>
#include <string.h>

#include "cli/units.h"

#define FIXED_PREFIX "fixed:"
#define DELIMITER_TEXT_BYTES 5 /**< "\xNN" and a NUL */

static const struct {
    const char *name;
    enum fnet_record_format format;
} plain_formats[] = {
    {"lines", FNET_FORMAT_LINES},
    {"nul", FNET_FORMAT_NUL},
    {"u32", FNET_FORMAT_U32},
    {"bytes", FNET_FORMAT_BYTES},
};

static enum fnet_err parse_fixed(const char *length, struct fnet_delimiter_config *config,
                                 const char **why)
{
    uint64_t bytes;
    enum fnet_err err = units_parse_size(length, 1, FNET_RECORD_MAX_BYTES, &bytes, why);

    if (err != FNET_OK)
        return err;
    config->format = FNET_FORMAT_FIXED;
    config->record_bytes = (size_t)bytes;
    return FNET_OK;
}

enum fnet_err format_parse(const char *text, struct fnet_delimiter_config *config, const char **why)
{
    if (strncmp(text, FIXED_PREFIX, strlen(FIXED_PREFIX)) == 0)
        return parse_fixed(text + strlen(FIXED_PREFIX), config, why);

    for (size_t i = 0; i < sizeof plain_formats / sizeof *plain_formats; i++) {
        if (strcmp(text, plain_formats[i].name) != 0)
            continue;
        config->format = plain_formats[i].format;
        if (config->format == FNET_FORMAT_BYTES)
            config->record_bytes = FORMAT_CHUNK_BYTES;
        return FNET_OK;
    }
    *why = "not a format (lines, nul, fixed:N, u32 or bytes)";
    return FNET_INVALID;
}

enum fnet_err format_parse_delimiter(const char *text, struct fnet_delimiter_config *config,
                                     const char **why)
{
    enum fnet_err err = units_parse_char(text, &config->delimiter, why);

    if (err == FNET_OK)
        config->format = FNET_FORMAT_LINES;
    return err;
}

static void describe_delimiter(uint8_t byte, char text[static DELIMITER_TEXT_BYTES])
{
    static const char named[] = "\t\n\0\\";
    static const char names[] = "tn0\\";
    const char *found = memchr(named, byte, sizeof named - 1);

    if (found)
        snprintf(text, DELIMITER_TEXT_BYTES, "\\%c", names[found - named]);
    else if (byte > ' ' && byte <= '~')
        snprintf(text, DELIMITER_TEXT_BYTES, "%c", byte);
    else
        snprintf(text, DELIMITER_TEXT_BYTES, "\\x%02x", byte);
}

void format_describe(const struct fnet_delimiter_config *config,
                     char text[static FORMAT_TEXT_BYTES])
{
    char delimiter[DELIMITER_TEXT_BYTES];

    switch (config->format) {
    case FNET_FORMAT_LINES:
        describe_delimiter(config->delimiter, delimiter);
        snprintf(text, FORMAT_TEXT_BYTES, "lines, delimiter %s", delimiter);
        break;
    case FNET_FORMAT_NUL: snprintf(text, FORMAT_TEXT_BYTES, "nul, delimiter \\0"); break;
    case FNET_FORMAT_FIXED:
        snprintf(text, FORMAT_TEXT_BYTES, "fixed, %zu bytes", config->record_bytes);
        break;
    case FNET_FORMAT_U32: snprintf(text, FORMAT_TEXT_BYTES, "u32, big-endian lengths"); break;
    case FNET_FORMAT_BYTES:
        snprintf(text, FORMAT_TEXT_BYTES, "bytes, chunks of %zu at most", config->record_bytes);
        break;
    }
}
