/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire, private: the one message that comes per buffer, so it has its own fast way.
 */
#ifndef FNET_WIRE_BUFFER_RESPONSE_H
#define FNET_WIRE_BUFFER_RESPONSE_H

#include "fnet/wire.h"

/** Is every field what struct fnet_buffer_response says, and can DIALECT say it? */
bool fnet__wire_buffer_response_is_valid(const struct fnet_dialect *dialect,
                                         const struct fnet_buffer_response *buffer);

/** Write head and partial sizes of MESSAGE, a valid one, to AT; there is room. */
void fnet__wire_buffer_response_put(const struct fnet_dialect *dialect, uint8_t *at,
                                    const struct fnet_message *message);

/** As fnet_message_decode() once the header says LENGTH bytes of BufferResponse. */
FNET_CHECKED enum fnet_err fnet__wire_buffer_response_get(const struct fnet_dialect *dialect,
                                                          struct fnet_span bytes, uint32_t length,
                                                          size_t *used, struct fnet_message *out);

#endif
