/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire, private: the strings of Java's streams, modified UTF-8, into UTF-8 of bounded length.
 */
#ifndef FNET_WIRE_JAVA_TEXT_H
#define FNET_WIRE_JAVA_TEXT_H

#include "fnet/bytes.h"
#include "fnet/throwable.h"

/* A text that is put together piece by piece. Invariant: whole <= len <= total. */
struct fnet__wire_text {
    char *out;    /* FNET_THROWABLE_TEXT_BYTES */
    size_t len;   /* bytes written */
    size_t whole; /* of these may stay if the text turns out too long, a number of characters */
    size_t total; /* the same, and the bytes of what did not fit, most of them not looked at */
};

struct fnet__wire_text fnet__wire_text_of(char out[static FNET_THROWABLE_TEXT_BYTES]);

/* Add MODIFIED. What UTF-8 or a C string cannot hold becomes U+FFFD. */
void fnet__wire_text_add(struct fnet__wire_text *text, struct fnet_span modified);

/* Add ASCII. */
void fnet__wire_text_add_ascii(struct fnet__wire_text *text, const char *ascii);

/* Finish OUT: say what did not fit, and terminate it. */
void fnet__wire_text_end(struct fnet__wire_text *text);

/* Bytes of C in UTF-8; a surrogate has three. */
size_t fnet__wire_utf8_bytes(uint32_t c);

/* Append C in that form. */
void fnet__wire_put_utf8(struct fnet_writer *w, uint32_t c);

#endif
