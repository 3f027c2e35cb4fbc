/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of one frame, one by one.
 *
 * Source: Flink FullyFilledBuffer, NettyMessage.BufferResponse (2.0 and later: what shares a type
 * shares a frame), CreditBasedPartitionRequestClientHandler.decodeBufferOrEvent.
 */
#include "merged_events.h"

#include <inttypes.h>

#include "translation.h"

enum fnet_err fnet__merged_events_check(struct fnet_session *session,
                                        const struct fnet_buffer_response *response)
{
    const uint8_t type = response->data_type;
    const uint32_t n = response->partials;

    for (size_t at = 0; at < response->partial_sizes.len; at += 4)
        if (fnet_load_be32(response->partial_sizes.ptr + at) == 0)
            return fnet__session_fail(session, FNET_BAD_VALUE,
                                      "an event of 0 bytes among %" PRIu32 " in one frame", n);
    if (type == FNET_END_OF_DATA || type == FNET_END_OF_PARTITION)
        return fnet__session_fail(session, FNET_BAD_VALUE,
                                  "%" PRIu32 " %s events in one frame for one subpartition", n,
                                  fnet_data_type_name(type));
    if (fnet_data_type_blocks_upstream(type))
        return fnet__session_fail(session, FNET_BAD_VALUE,
                                  "%" PRIu32
                                  " %s events in one frame, though each stops its sender",
                                  n, fnet_data_type_name(type));
    return FNET_OK;
}

static enum fnet_err receive(struct fnet_session *session, struct fnet_channel *channel,
                             int32_t sequence, struct fnet_span bytes, uint32_t backlog)
{
    const struct fnet_dialect *newest = fnet_dialect_newest();
    const enum fnet_channel_state state = fnet_channel_state(channel);
    struct fnet_buffer event;

    /* By its bytes, if not by its type, one before was the end. */
    if (state == FNET_CHANNEL_ENDED)
        return FNET_BAD_SEQUENCE;
    if (state != FNET_CHANNEL_OPEN)
        return FNET_OK;
    enum fnet_err err = fnet_channel_begin(channel, sequence, session->payload.data_type,
                                           (uint32_t)bytes.len, &event);
    if (err != FNET_OK)
        return err;
    memcpy(event.segment->bytes, bytes.ptr, bytes.len);
    if (session->dialect != newest)
        err = fnet__session_translate(session->dialect, newest, &event);
    if (err == FNET_OK)
        err = fnet_channel_receive(channel, &event, backlog);
    fnet_buffer_clear(&event);
    return err;
}

static enum fnet_err refuse(struct fnet_session *session, int32_t sequence, enum fnet_err err)
{
    if (err == FNET_NO_CREDIT)
        return fnet__session_fail(session, err, "too many events that nobody reads");
    return fnet__session_fail(session, err, "%s (event %" PRId32 ")", fnet_strerror(err), sequence);
}

enum fnet_err fnet__merged_events_receive(struct fnet_session *session,
                                          struct fnet_channel *channel,
                                          const struct fnet__merged_events *events)
{
    struct fnet_span rest = fnet_buffer_span(&session->payload);
    enum fnet_err err = FNET_OK;

    for (uint32_t i = 0; i < events->count && err == FNET_OK; i++) {
        /* In unsigned numbers: the one behind the greatest is the least. */
        const int32_t sequence = (int32_t)((uint32_t)events->sequence + i);
        const uint32_t size = events->sizes[i];
        err = receive(session, channel, sequence, fnet_span_of(rest.ptr, size), events->backlog);
        if (err != FNET_OK && err != FNET_NOMEM)
            err = refuse(session, sequence, err);
        rest = fnet_span_of(rest.ptr + size, rest.len - size);
    }
    fnet_buffer_clear(&session->payload);
    return err;
}
