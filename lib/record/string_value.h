/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record, private: Flink's Strings.
 */
#ifndef FNET_RECORD_STRING_VALUE_H
#define FNET_RECORD_STRING_VALUE_H

#include "fnet/value.h"

/** How many bytes of BYTES have the high bit set. */
size_t fnet__string_count_high(struct fnet_span bytes);

/** Append the String that TEXT is in UTF-8 to W, which has room for 5 + 3 * TEXT.len bytes. */
void fnet__string_put(struct fnet_span text, struct fnet_writer *w);

/** Take a String off R. Errors: FNET_TRUNCATED, FNET_BAD_VALUE. */
FNET_CHECKED enum fnet_err fnet__string_get(struct fnet_reader *r, struct fnet_value *value);

/** Append VALUE, not null, in UTF-8 to W, which has room for fnet_value_text_max(). */
void fnet__string_put_text(const struct fnet_value *value, struct fnet_writer *w);

#endif
