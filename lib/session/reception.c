/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffer or event on its way from the stream into its channel.
 *
 * Source: Flink CreditBasedPartitionRequestClientHandler, BufferResponseDecoder.
 */
#include "reception.h"

#include <inttypes.h>
#include <stdlib.h>

#include "merged_events.h"
#include "silent_channel.h"
#include "translation.h"

/* The buffer that is being received breaks the protocol: say what is wrong with it. */
static enum fnet_err refuse_buffer(struct fnet__reception *r, struct fnet_channel *channel,
                                   const struct fnet_buffer_response *response, enum fnet_err err)
{
    const bool is_data = fnet_data_type_is_buffer(response->data_type);
    const char *type = fnet_data_type_name(response->data_type);
    const char *event = response->partials > 1 ? "a frame of events" : "an event";

    r->culprit = channel;
    if (err == FNET_BAD_LENGTH && is_data) /* the reader's to change */
        return fnet__session_fail(r->session, err,
                                  "a buffer of %" PRIu32 " bytes is larger than a segment",
                                  response->size);
    if (err == FNET_BAD_LENGTH)
        return fnet__session_fail(r->session, FNET_BAD_VALUE,
                                  "%s of %" PRIu32 " bytes is larger than allowed", event,
                                  response->size);
    if (err == FNET_NO_CREDIT && !is_data)
        return fnet__session_fail(r->session, err, "too many events that nobody reads");
    return fnet__session_fail(r->session, err, "%s (%s %" PRId32 ")", fnet_strerror(err), type,
                              response->sequence);
}

static enum fnet_err check_compression(struct fnet__reception *r, struct fnet_channel *channel,
                                       const struct fnet_buffer_response *response)
{
    if (!response->is_compressed)
        return FNET_OK;
    r->culprit = channel;
    if (!fnet_data_type_is_buffer(response->data_type))
        return fnet__session_fail(r->session, FNET_BAD_VALUE, "a compressed event");
    if (!fnet_channel_reads_compressed(channel))
        return fnet__session_fail(r->session, FNET_BAD_VALUE,
                                  "a buffer is compressed, and this is built without %s",
                                  fnet_channel_codec_name(channel));
    r->culprit = NULL;
    return FNET_OK;
}

/* Keep the sizes of the parts that the payload has: where they were decoded from is not. */
static enum fnet_err keep_parts(struct fnet__reception *r, struct fnet_channel *channel,
                                const struct fnet_buffer_response *response)
{
    r->parts = response->partials;
    if (r->parts <= 1) /* one part is the whole */
        return FNET_OK;
    if (!fnet_data_type_is_buffer(response->data_type)) {
        enum fnet_err err = fnet__merged_events_check(r->session, response);
        if (err != FNET_OK) {
            r->culprit = channel;
            return err;
        }
    }
    if (!r->part_sizes)
        r->part_sizes = malloc(FNET_PARTIALS_MAX * sizeof *r->part_sizes);
    if (!r->part_sizes)
        return FNET_NOMEM;
    for (uint32_t i = 0; i < r->parts; i++)
        r->part_sizes[i] = fnet_load_be32(response->partial_sizes.ptr + 4 * (size_t)i);
    return FNET_OK;
}

enum fnet_err fnet__reception_begin(struct fnet__reception *r, struct fnet_channel *channel,
                                    const struct fnet_buffer_response *response)
{
    struct fnet_buffer *payload = &r->session->payload;

    if (fnet_channel_state(channel) == FNET_CHANNEL_ENDED ||
        fnet__silent_channel_is_ending(r->silent, channel))
        return refuse_buffer(r, channel, response, FNET_BAD_SEQUENCE);
    if (fnet_channel_state(channel) != FNET_CHANNEL_OPEN)
        return FNET_OK;
    enum fnet_err err = check_compression(r, channel, response);
    if (err == FNET_OK)
        err = keep_parts(r, channel, response);
    if (err != FNET_OK)
        return err;
    err = fnet_channel_begin(channel, response->sequence, response->data_type, response->size,
                             payload);
    if (err != FNET_OK)
        return refuse_buffer(r, channel, response, err);
    payload->is_compressed = response->is_compressed;
    r->channel = channel;
    r->backlog = (uint32_t)response->backlog;
    r->sequence = response->sequence;
    return FNET_OK;
}

/* An event, as the gate and all behind it know it. */
static enum fnet_err translate(struct fnet__reception *r)
{
    struct fnet__silent_channel *silent = fnet__silent_channel_find(r->silent, r->channel);
    enum fnet_err err =
        fnet__session_translate(r->session->dialect, fnet_dialect_newest(), &r->session->payload);

    if (err == FNET_OK && silent && r->session->payload.data_type == FNET_END_OF_PARTITION)
        err = fnet__silent_channel_hold_end(silent, r->sequence, &r->session->payload);
    if (err != FNET_OK && err != FNET_NOMEM) {
        r->culprit = r->channel;
        err = fnet__session_fail(r->session, err, "%s (event %" PRId32 ")", fnet_strerror(err),
                                 r->sequence);
    }
    return err;
}

static enum fnet_err receive_events(struct fnet__reception *r)
{
    const struct fnet__merged_events events = {
        .sizes = r->part_sizes, .count = r->parts, .sequence = r->sequence, .backlog = r->backlog};
    enum fnet_err err = fnet__merged_events_receive(r->session, r->channel, &events);

    if (err != FNET_OK && err != FNET_NOMEM)
        r->culprit = r->channel;
    return err;
}

enum fnet_err fnet__reception_end(struct fnet__reception *r)
{
    const struct fnet_session *session = r->session;
    const bool is_data = fnet_data_type_is_buffer(session->payload.data_type);

    if (r->parts > 1 && !is_data)
        return receive_events(r);
    if (session->dialect != fnet_dialect_newest() && !is_data) {
        enum fnet_err err = translate(r);
        if (err != FNET_OK)
            return err;
    }
    if (r->parts > 1)
        return fnet_channel_receive_parts(r->channel, &r->session->payload, r->part_sizes, r->parts,
                                          r->backlog);
    return fnet_channel_receive(r->channel, &r->session->payload, r->backlog);
}

void fnet__reception_clear(struct fnet__reception *r)
{
    if (r->session->payload.segment)
        fnet_channel_abandon(r->channel, &r->session->payload);
    free(r->part_sizes);
}
