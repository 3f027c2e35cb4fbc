/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events from one dialect to another.
 *
 * Source: Flink EventSerializer (1.5 to 2.3), what it writes for the same event.
 */
#include "translation.h"

#include "fnet/event.h"

static uint8_t data_type_of(const struct fnet_event *event, uint8_t said)
{
    const uint8_t type = (uint8_t)fnet_event_data_type(event);

    return said == FNET_EVENT_BUFFER && !fnet_data_type_blocks_upstream(type) ? type : said;
}

enum fnet_err fnet__session_translate(const struct fnet_dialect *from,
                                      const struct fnet_dialect *to, struct fnet_buffer *event)
{
    struct fnet_event decoded;
    struct fnet_buffer buffer;
    enum fnet_err err = fnet_event_decode(from, fnet_buffer_span(event), &decoded);

    if (err != FNET_OK)
        return err;
    if (!fnet_dialect_has_event(to, decoded.type))
        return FNET_INVALID;

    const size_t len = fnet_event_encoded_bytes(to, &decoded);
    err =
        fnet_buffer_new_heap_room((uint32_t)len, data_type_of(&decoded, event->data_type), &buffer);
    if (err != FNET_OK)
        return err;
    struct fnet_writer w = fnet_writer_of(buffer.segment->bytes, len);
    err = fnet_event_encode(to, &decoded, &w);
    if (err != FNET_OK) {
        fnet_buffer_clear(&buffer);
        return err;
    }
    fnet_buffer_clear(event);
    *event = buffer;
    return FNET_OK;
}
