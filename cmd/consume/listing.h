/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consume: --list, what the producers serve.
 */
#ifndef CONSUME_LISTING_H
#define CONSUME_LISTING_H

#include "cli/report.h"
#include "fnet/wire.h"

struct listing;

FNET_CHECKED enum fnet_err listing_new(struct listing **out);
void listing_free(struct listing *listing);
/** Add a partition of SERVER. A failure to do so shows in listing_print(). */
void listing_add(struct listing *listing, const char *server,
                 const struct fnet_description_response *description);
/**
 * Print a line for each: endpoint, subpartitions, type, format, state, codec, divided by tabs.
 * Returns an exit status; a failure is reported.
 */
int listing_print(struct listing *listing, const struct report *report);

#endif
