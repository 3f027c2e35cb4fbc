/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: -f, -z and -d, the format of records in files and pipes.
 */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include <stddef.h>

#include "fnet/record.h"

/** Longest text of a format, NUL included. */
#define FORMAT_TEXT_BYTES 64

/** Largest chunk of the format bytes, unless a command knows a better one. */
#define FORMAT_CHUNK_BYTES (32u << 10)

/**
 * lines, nul, fixed:N, u32 or bytes, into CONFIG; a delimiter that -d chose before is kept.
 *
 * Errors: FNET_INVALID  no such format, or a length that is no size.
 *         FNET_RANGE    a length of 0 or above FNET_RECORD_MAX_BYTES.
 *         *WHY is set to a static text then, and CONFIG untouched.
 */
FNET_CHECKED enum fnet_err format_parse(const char *text, struct fnet_delimiter_config *config,
                                        const char **why);

/** One character or escape: the format becomes lines with that delimiter. Errors: FNET_INVALID. */
FNET_CHECKED enum fnet_err format_parse_delimiter(const char *text,
                                                  struct fnet_delimiter_config *config,
                                                  const char **why);

/**
 * The format as understood, for --dry-run: "lines, delimiter \n", "fixed, 100 bytes". A delimiter
 * stands there as -d would take it.
 */
void format_describe(const struct fnet_delimiter_config *config,
                     char text[static FORMAT_TEXT_BYTES]);

#endif
