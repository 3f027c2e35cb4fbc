/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: a record that is an element of a stream, in words and in JSON.
 */
#ifndef INSPECT_PRINT_ELEMENT_H
#define INSPECT_PRINT_ELEMENT_H

#include "inspect/printers.h"

/** Prints the records of one message as elements. */
struct element_printer {
    FILE *out;
    const struct print_options *options;
    struct inspected *message;     /**< what is no element is added to its findings */
    struct fnet_spill_buffer text; /**< of a String */
};

/** Begin the elements of M; element_printer_clear() afterwards. All is borrowed. */
struct element_printer element_printer_of(FILE *out, const struct print_options *options,
                                          struct inspected *m);
void element_printer_clear(struct element_printer *p);

/**
 * Print RECORD, in words or as a JSON object: type, fields and value, or why it is no element of
 * the serde, and its bytes.
 *
 * Errors: FNET_NOMEM, FNET_SYSTEM (errno where the message's records have theirs).
 */
FNET_CHECKED enum fnet_err print_element(struct element_printer *p, struct fnet_span record);

#endif
