/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An input gate: its channels, and which of them has something to say.
 *
 * Source: Flink SingleInputGate.
 */
#include <stdlib.h>

#include "channel.h"

enum fnet_err fnet_gate_new(const struct fnet_gate_config *config, struct fnet_gate **out)
{
    if (config->buffers_per_channel == 0 && config->floating_buffers == 0)
        return FNET_INVALID;

    struct fnet_gate *gate = calloc(1, sizeof *gate);
    struct fnet_channel *channels = calloc(config->channels, sizeof *channels);
    if (!gate || (!channels && config->channels > 0)) {
        free(channels);
        free(gate);
        return FNET_NOMEM;
    }
    gate->config = *config;
    gate->channels = channels;
    gate->open = config->channels;
    fnet__floating_init(&gate->floating, config->floating_buffers, fnet__channel_has_credit);
    fnet_list_init(&gate->ready);
    for (size_t i = 0; i < config->channels; i++)
        fnet__channel_init(&channels[i], gate);
    *out = gate;
    return FNET_OK;
}

void fnet_gate_free(struct fnet_gate *gate)
{
    if (!gate)
        return;
    for (size_t i = 0; i < gate->config.channels; i++)
        fnet__channel_clear(&gate->channels[i]);
    free(gate->channels);
    free(gate);
}

size_t fnet_gate_channels(const struct fnet_gate *gate)
{
    return gate->config.channels;
}

struct fnet_channel *fnet_gate_channel(const struct fnet_gate *gate, size_t index)
{
    return &gate->channels[index];
}

enum fnet_err fnet_gate_poll(struct fnet_gate *gate, struct fnet_gate_item *out)
{
    struct fnet_link *link = fnet_list_pop(&gate->ready);

    if (!link)
        return gate->open == 0 ? FNET_EOF : FNET_AGAIN;

    struct fnet_channel *channel = fnet_entry(link, struct fnet_channel, ready);
    *out = fnet__channel_pop(channel);
    if (channel->count > 0)
        fnet_list_push(&gate->ready, &channel->ready);
    return FNET_OK;
}

void fnet_gate_recycle(struct fnet_gate *gate, struct fnet_gate_item *item)
{
    (void)gate;
    fnet_buffer_clear(&item->buffer);
    if (item->returns_credit)
        fnet__credit_return(&item->channel->credit, item->is_floating);
}
