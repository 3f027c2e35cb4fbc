/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: conversation, private: the records of a channel, and whether they are known.
 */
#ifndef INSPECT_CHANNEL_RECORDS_H
#define INSPECT_CHANNEL_RECORDS_H

#include "inspect/conversation.h"

/** The next data byte is the first of a record. */
void channel_records_know(struct channel *channel);
/** Data is missing: records are not known until it is said that they are. */
void channel_records_lose(struct inspected *m);
/** Does something of a record still have to come, as far as records are known? */
bool channel_records_is_mid_record(const struct channel *channel);

/**
 * M is a data buffer: has it records that are known, and where? What is compressed is decompressed,
 * of several buffers the first, if records are known, else all, to see that they are sound.
 *
 * Errors: FNET_NOMEM
 */
FNET_CHECKED enum fnet_err channel_records_begin(struct inspected *m);

#endif
