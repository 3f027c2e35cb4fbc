/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: bytes that came from elsewhere, made safe for a terminal and for JSON.
 */
#ifndef CLI_ESCAPE_H
#define CLI_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "fnet/bytes.h"

/** Bytes of the well-formed UTF-8 character at the head of BYTES (not empty), 0 if there is none.
 */
size_t escape_utf8_len(struct fnet_span bytes);

/** Is all of BYTES well-formed UTF-8? */
bool escape_is_utf8(struct fnet_span bytes);

/**
 * Print BYTES on one line: UTF-8 as it is, but a backslash as \\\\, a tab, newline and return as
 * \\t \\n \\r, and every other control character and every byte that is not UTF-8 as \\xNN. The
 * bytes can be told back from the text.
 */
void escape_print(FILE *out, struct fnet_span bytes);

/** Print BYTES, well-formed UTF-8, as a JSON string with its quotes. */
void escape_print_json(FILE *out, struct fnet_span bytes);

/** Print BYTES as hex digits. */
void escape_print_hex(FILE *out, struct fnet_span bytes);

#endif
