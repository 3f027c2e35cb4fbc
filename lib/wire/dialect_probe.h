/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire, private: the frame that finds out what a consumer speaks.
 */
#ifndef FNET_WIRE_DIALECT_PROBE_H
#define FNET_WIRE_DIALECT_PROBE_H

#include "frame.h"

/** Append the probe. Errors: FNET_RANGE. */
FNET_CHECKED enum fnet_err fnet__wire_dialect_probe_put(struct fnet_writer *w);

/** Is what begins BYTES, whose header is FRAME, a probe? False before its receiver is there. */
bool fnet__wire_dialect_probe_is(const struct fnet_dialect *dialect, struct fnet_span bytes,
                                 const struct fnet__wire_frame *frame);

/**
 * The probe that begins BYTES.
 *
 * Errors: FNET_AGAIN (USED is set), FNET_BAD_VALUE (it is not byte for byte what is sent).
 */
FNET_CHECKED enum fnet_err fnet__wire_dialect_probe_get(struct fnet_span bytes, size_t *used,
                                                        struct fnet_message *out);

#endif
