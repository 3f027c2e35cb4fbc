/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: what a message, or a whole conversation, looks like on standard output.
 */
#ifndef INSPECT_PRINTERS_H
#define INSPECT_PRINTERS_H

#include <stdio.h>

#include "fnet/value.h"
#include "inspect/conversation.h"

struct print_options {
    bool is_json;
    bool is_summary;
    bool has_records;        /**< the records of data buffers, too */
    struct fnet_serde serde; /**< what records are */
    bool has_payload;        /**< a hex dump, or in JSON hex digits, of the payload, too */
};

/**
 * Print M as a line of words, its records and dump in indented lines below. Takes M's records if
 * they are printed.
 *
 * Errors: as conversation_next_records(), but for FNET_AGAIN.
 */
FNET_CHECKED enum fnet_err print_text(FILE *out, const struct print_options *options,
                                      struct inspected *m);

/** Print M as a JSON object on one line. Takes M's records if they are printed. Errors: as
 * print_text(). */
FNET_CHECKED enum fnet_err print_json(FILE *out, const struct print_options *options,
                                      struct inspected *m);

/**
 * Print a line about the dialect of CONNECTION, as words: its versions, and how sure they are. It
 * stands at ITEM; NULL: at the end.
 */
void print_dialect(FILE *out, const struct connection *connection, const struct frame_item *item);

/** "dialect VERSIONS, HOW SURE", and the end of the line. */
void print_dialect_words(FILE *out, const struct dialect_guess *guess);

/** Print what each connection and channel amounted to. */
void print_summary(FILE *out, const struct conversation *c);

#endif
