/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input gates, their channels, and the requests for them.
 *
 * Source: Flink SingleInputGateFactory, SingleInputGate.requestPartitions.
 */
#include "consume/consume.h"

#include <stdlib.h>

struct backoff consume_backoff(const struct consume *c)
{
    return (struct backoff){.min_ns = c->config.backoff_min_ns, .max_ns = c->config.backoff_max_ns};
}

static size_t count_gate_channels(const struct consume *c, size_t g)
{
    const struct consume_group *group = &c->config.groups[g];
    size_t n = 0;

    for (size_t i = 0; i < group->operand_count; i++)
        n += consume_count_channels(c, &group->operands[i]);
    return n;
}

/* Channel I of an operand of gate G. */
static enum fnet_err add_reading(struct consume *c, size_t g, const struct consume_operand *operand,
                                 size_t i, size_t index)
{
    const struct peer_place place = {.endpoint = operand->endpoint,
                                     .name = operand->server,
                                     .index = (uint32_t)i % c->config.max_connections,
                                     .dialect = c->config.groups[g].dialect};
    const enum fnet_codec codec = consume_codec(c, operand);
    struct reading *r = &c->readings[c->reading_count];
    char name[READING_NAME_BYTES];

    *r = (struct reading){
        .operand = operand,
        .intake = c->intakes[g],
        .index = (uint32_t)index,
        .subpartition = operand->subpartitions ? operand->subpartitions[i] : (uint32_t)i,
    };
    reading_name(r, name);
    enum fnet_err err = intake_tag(r->intake, index, name);
    if (err == FNET_OK && codec != FNET_CODEC_NONE)
        err = fnet_channel_set_codec(reading_channel(r), codec);
    if (err == FNET_OK)
        err = peers_get(c->peers, &place, &r->peer);
    if (err == FNET_OK)
        c->reading_count++;
    return err;
}

static enum fnet_err build_gate(struct consume *c, size_t g)
{
    const struct consume_group *group = &c->config.groups[g];
    const struct intake_config config = {
        .loop = c->process.loop,
        .network = c->pool,
        .sink = c->sinks[g],
        .format = group->format,
        .serde = group->serde,
        .dialect = group->dialect,
        .codec = group->codec,
        .has_tag = group->has_tag,
        .wants_digest = c->config.process.wants_digest,
        .limit = group->limit,
        .buffers_per_channel = group->buffers_per_channel,
        .floating_buffers = group->floating_buffers,
        .channels = count_gate_channels(c, g),
        .spill_dir = getenv("TMPDIR"),
        .ended = consume_on_intake_ended,
        .arg = c,
    };
    enum fnet_err err = intake_new(&config, &c->intakes[g]);
    size_t index = 0;

    for (size_t o = 0; o < group->operand_count; o++) {
        size_t n = consume_count_channels(c, &group->operands[o]);
        for (size_t i = 0; err == FNET_OK && i < n; i++)
            err = add_reading(c, g, &group->operands[o], i, index++);
    }
    return err;
}

enum fnet_err consume_build_gates(struct consume *c)
{
    uint64_t segments = 0;
    size_t channels = 0;

    for (size_t g = 0; g < consume_gates(c); g++) {
        const struct consume_group *group = &c->config.groups[g];
        size_t n = count_gate_channels(c, g);
        segments += (uint64_t)n * group->buffers_per_channel + group->floating_buffers;
        channels += n;
    }
    if (segments > UINT32_MAX)
        return FNET_NOMEM;
    c->readings = calloc(channels + 1, sizeof *c->readings);
    if (!c->readings)
        return FNET_NOMEM;

    enum fnet_err err =
        fnet_network_pool_new(c->config.segment_bytes, (uint32_t)segments, &c->pool);
    for (size_t g = 0; err == FNET_OK && g < consume_gates(c); g++)
        err = build_gate(c, g);
    for (size_t i = 0; err == FNET_OK && i < c->reading_count; i++)
        err = reading_request(&c->readings[i]);
    for (size_t g = 0; err == FNET_OK && g < consume_gates(c); g++)
        err = intake_start(c->intakes[g]);
    return err;
}
