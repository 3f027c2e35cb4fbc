/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An input gate: its channels, and which of them has something to say.
 *
 * Source: Flink SingleInputGate.
 */
#include <stdlib.h>

#include "channel.h"

enum fnet_err fnet__gate_add_codec(struct fnet_gate *gate, enum fnet_codec codec)
{
    if (codec == FNET_CODEC_NONE || !fnet_codec_is_available(codec) || gate->decompressors[codec])
        return FNET_OK;
    return fnet_decompressor_new(codec, &gate->decompressors[codec]);
}

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
    enum fnet_err err = fnet__gate_add_codec(gate, config->codec);
    if (err != FNET_OK) {
        free(channels);
        free(gate);
        return err;
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
    for (size_t i = 0; i < FNET__GATE_CODECS; i++)
        fnet_decompressor_free(gate->decompressors[i]);
    free(gate->channels);
    free(gate);
}

struct fnet_channel *fnet_gate_culprit(const struct fnet_gate *gate)
{
    return gate->culprit;
}

size_t fnet_gate_channels(const struct fnet_gate *gate)
{
    return gate->config.channels;
}

struct fnet_channel *fnet_gate_channel(const struct fnet_gate *gate, size_t index)
{
    return &gate->channels[index];
}

/* What ITEM's block is to be decompressed with. Who was told LZ4, or nothing, may meet zstd, which
   says itself what it is. */
static enum fnet_err find_decompressor(struct fnet_gate *gate, const struct fnet_gate_item *item,
                                       struct fnet_decompressor **out)
{
    enum fnet_codec codec = (enum fnet_codec)item->channel->codec;
    enum fnet_err err = FNET_OK;

    if (codec == FNET_CODEC_LZ4 && fnet_codec_is_available(FNET_CODEC_ZSTD) &&
        fnet_block_is_zstd(fnet_buffer_span(&item->buffer))) {
        codec = FNET_CODEC_ZSTD;
        err = fnet__gate_add_codec(gate, codec);
    }
    *out = gate->decompressors[codec];
    return err;
}

/* Put the original in the place of ITEM's compressed buffer, whose memory goes back at once; its
   credit goes back with the original. */
static enum fnet_err decompress(struct fnet_gate *gate, struct fnet_gate_item *item)
{
    const uint32_t room = fnet_local_pool_segment_bytes(gate->config.pool);
    struct fnet_decompressor *decompressor;
    struct fnet_buffer original;
    enum fnet_err err = find_decompressor(gate, item, &decompressor);

    if (err == FNET_OK)
        err = fnet_buffer_new_heap_room(room, item->buffer.data_type, &original);
    if (err != FNET_OK)
        return err;
    struct fnet_writer w = fnet_writer_of(original.segment->bytes, room);
    err = fnet_decompressor_decompress(decompressor, fnet_buffer_span(&item->buffer), &w);
    if (err != FNET_OK) {
        fnet_buffer_clear(&original);
        return err;
    }
    original.len = (uint32_t)(w.pos - original.segment->bytes);
    fnet_buffer_clear(&item->buffer);
    item->buffer = original;
    return FNET_OK;
}

enum fnet_err fnet_gate_poll(struct fnet_gate *gate, struct fnet_gate_item *out)
{
    struct fnet_link *link = fnet_list_pop(&gate->ready);

    if (!link)
        return gate->open == 0 ? FNET_EOF : FNET_AGAIN;

    struct fnet_channel *channel = fnet_entry(link, struct fnet_channel, ready);
    struct fnet_gate_item first = fnet__channel_pop(channel);
    if (channel->count > 0)
        fnet_list_push(&gate->ready, &channel->ready);
    enum fnet_err err = first.buffer.is_compressed ? decompress(gate, &first) : FNET_OK;
    if (err != FNET_OK) {
        gate->culprit = channel;
        fnet_gate_recycle(gate, &first);
        return err;
    }
    *out = first;
    return FNET_OK;
}

void fnet_gate_recycle(struct fnet_gate *gate, struct fnet_gate_item *item)
{
    (void)gate;
    fnet_buffer_clear(&item->buffer);
    if (item->returns_credit)
        fnet__credit_return(&item->channel->credit, item->is_floating);
}
