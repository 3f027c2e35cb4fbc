/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire, private: the nine bytes in front of every message.
 */
#ifndef FNET_WIRE_FRAME_H
#define FNET_WIRE_FRAME_H

#include "fnet/wire.h"

struct fnet__wire_frame {
    uint32_t length; /**< of the whole frame, within the limits of TYPE */
    enum fnet_message_type type;
};

/**
 * Read the header that begins BYTES.
 *
 * Errors: FNET_AGAIN      fewer than FNET_FRAME_HEADER_BYTES.
 *         FNET_BAD_MAGIC, FNET_BAD_KIND, FNET_BAD_LENGTH (no message of that type is that long)
 */
FNET_CHECKED enum fnet_err fnet__wire_frame_get(const struct fnet_dialect *dialect,
                                                struct fnet_span bytes,
                                                struct fnet__wire_frame *out);

/**
 * Type and length as the header that begins BYTES has them.
 *
 * Errors: FNET_AGAIN, FNET_BAD_MAGIC
 */
FNET_CHECKED enum fnet_err fnet__wire_frame_peek(struct fnet_span bytes, uint8_t *type,
                                                 uint32_t *length);

/** Write the header to the FNET_FRAME_HEADER_BYTES at AT. */
void fnet__wire_frame_put(uint8_t *at, uint32_t length, enum fnet_message_type type);

/** Shortest frame of TYPE: all its parts of variable length empty. 0 when TYPE is unknown. */
size_t fnet__wire_frame_min_bytes(const struct fnet_dialect *dialect, enum fnet_message_type type);

#endif
