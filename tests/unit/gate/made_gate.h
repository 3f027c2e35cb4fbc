/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: a gate with its pools and channels, buffers that arrive in it, and the check that all
 * memory came back.
 */
#ifndef TESTS_GATE_MADE_GATE_H
#define TESTS_GATE_MADE_GATE_H

#include "fnet/gate.h"

#include "../tap.h"

/** A program may define it before it includes this. */
#ifndef MADE_SEGMENT_BYTES
#define MADE_SEGMENT_BYTES FNET_SEGMENT_MIN_BYTES
#endif
#define MADE_CHANNELS_MAX 64
/** A program may define it before it includes this. */
#ifndef MADE_CODEC
#define MADE_CODEC FNET_CODEC_NONE
#endif

struct made_gate {
    struct fnet_network_pool *network;
    struct fnet_local_pool *pool;
    struct fnet_gate *gate;
    struct fnet_channel *channels[MADE_CHANNELS_MAX];
    size_t count;
    int rings; /**< of the gate's bell */
};

__attribute__((unused)) static void count_gate_ring(void *arg)
{
    ++*(int *)arg;
}

/** A gate of CHANNELS, with exactly the segments that it may promise. */
__attribute__((unused)) static void make_gate(struct made_gate *m, size_t channels,
                                              uint32_t exclusive, uint32_t floating)
{
    uint32_t segments = (uint32_t)channels * exclusive + floating;

    *m = (struct made_gate){.count = channels};
    CHECK_INT(fnet_network_pool_new(MADE_SEGMENT_BYTES, segments, &m->network), FNET_OK);
    CHECK_INT(fnet_local_pool_new(m->network, segments, segments, &m->pool), FNET_OK);

    const struct fnet_gate_config config = {
        .channels = channels,
        .buffers_per_channel = exclusive,
        .floating_buffers = floating,
        .pool = m->pool,
        .codec = MADE_CODEC,
        .ready = {.ring = count_gate_ring, .arg = &m->rings},
    };
    CHECK_INT(fnet_gate_new(&config, &m->gate), FNET_OK);
    for (size_t i = 0; i < channels; i++)
        m->channels[i] = fnet_gate_channel(m->gate, i);
}

/** Free all; every segment must be back once the gate is gone. */
__attribute__((unused)) static void unmake_gate(struct made_gate *m)
{
    fnet_gate_free(m->gate);
    CHECK_INT(fnet_local_pool_used(m->pool), 0);
    fnet_local_pool_free(m->pool);
    CHECK_INT(fnet_network_pool_unreserved(m->network), fnet_network_pool_segments(m->network));
    fnet_network_pool_free(m->network);
}

/** A buffer or event of LEN bytes of value BYTE arrives in CHANNEL. */
__attribute__((unused)) static enum fnet_err arrive(struct fnet_channel *channel, int32_t sequence,
                                                    uint8_t type, uint8_t byte, uint32_t len,
                                                    uint32_t backlog)
{
    struct fnet_buffer buffer = {.segment = NULL};
    enum fnet_err err = fnet_channel_begin(channel, sequence, type, len, &buffer);

    if (err != FNET_OK) {
        CHECK(buffer.segment == NULL);
        return err;
    }
    memset(buffer.segment->bytes, byte, len);
    err = fnet_channel_receive(channel, &buffer, backlog);
    if (err != FNET_OK)
        fnet_channel_abandon(channel, &buffer);
    CHECK(buffer.segment == NULL);
    return err;
}

__attribute__((unused)) static enum fnet_err arrive_data(struct fnet_channel *channel,
                                                         int32_t sequence, uint8_t byte)
{
    return arrive(channel, sequence, FNET_DATA_BUFFER, byte, 10, 0);
}

/** Poll an item of CHANNEL, all of whose bytes are BYTE, and recycle it. */
__attribute__((unused)) static void check_polled(struct made_gate *m,
                                                 const struct fnet_channel *channel, uint8_t byte)
{
    struct fnet_gate_item item;

    if (!CHECK_INT(fnet_gate_poll(m->gate, &item), FNET_OK))
        return;
    CHECK(item.channel == channel);
    if (item.buffer.len > 0)
        CHECK_INT(fnet_buffer_span(&item.buffer).ptr[item.buffer.len - 1], byte);
    fnet_gate_recycle(m->gate, &item);
    CHECK(item.buffer.segment == NULL);
}

__attribute__((unused)) static enum fnet_err poll_nothing(struct made_gate *m)
{
    struct fnet_gate_item item = {.channel = NULL};
    enum fnet_err err = fnet_gate_poll(m->gate, &item);

    CHECK(item.channel == NULL);
    return err;
}

/** The words that CHANNEL has to say now; credit only where FNET_SAY_CREDIT is among them. */
__attribute__((unused)) static void check_words(struct fnet_channel *channel, unsigned words,
                                                uint32_t credit)
{
    uint32_t given = 0;

    CHECK_INT(fnet_channel_take_words(channel, &given), words);
    CHECK_INT(given, credit);
}

#endif
