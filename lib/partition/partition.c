/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A result partition: its subpartitions, the buffers they are written through, and its end.
 *
 * Source: Flink ResultPartition, BufferWritingResultPartition, NettyShuffleUtils.
 */
#include "subpartition.h"

#include <stdlib.h>
#include <string.h>

#include "fnet/event.h"

/* Subpartitions from which on, and how many kinds of them, their first buffers differ in length. */
#define STAGGERED_SUBPARTITIONS 64
#define STAGGERED_PARTS 16

void fnet_partition_buffers(enum fnet_partition_type type, uint32_t subpartitions,
                            uint32_t buffers_per_channel, uint32_t floating_buffers,
                            uint32_t *required, uint32_t *max)
{
    uint64_t least = (uint64_t)subpartitions + 1;
    uint64_t most = (uint64_t)subpartitions * buffers_per_channel + floating_buffers;

    if (type == FNET_PIPELINED)
        most = UINT32_MAX;
    if (most < least)
        most = least;
    *required = (uint32_t)least;
    *max = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
}

static enum fnet_err make_compressor(struct fnet_partition *p)
{
    if (p->config.codec == FNET_CODEC_NONE)
        return FNET_OK;
    p->copies.max = fnet_local_pool_max(p->config.pool);
    return fnet_compressor_new(p->config.codec, fnet_local_pool_segment_bytes(p->config.pool),
                               &p->compressor);
}

enum fnet_err fnet_partition_new(const struct fnet_partition_config *config,
                                 struct fnet_partition **out)
{
    if (strlen(config->name) > FNET_NAME_MAX_BYTES || config->max_buffers_per_channel == 0)
        return FNET_INVALID;
    if (config->subpartitions == 0 || config->subpartitions > FNET_SUBPARTITIONS_MAX)
        return FNET_RANGE;

    struct fnet_partition *p =
        calloc(1, sizeof *p + config->subpartitions * sizeof p->subpartitions[0]);
    if (!p)
        return FNET_NOMEM;
    p->config = *config;
    memcpy(p->name, config->name, strlen(config->name) + 1);
    p->config.name = p->name;
    p->counts[FNET_SUBPARTITION_WAITING] = config->subpartitions;
    for (uint32_t i = 0; i < config->subpartitions; i++) {
        p->subpartitions[i].partition = p;
        fnet__pipelined_init(&p->subpartitions[i].queue, config->max_buffers_per_channel);
    }
    enum fnet_err err = make_compressor(p);
    if (err != FNET_OK) {
        free(p);
        return err;
    }
    *out = p;
    return FNET_OK;
}

void fnet_partition_free(struct fnet_partition *p)
{
    if (!p)
        return;
    if (fnet_builder_is_open(&p->shared))
        fnet_builder_seal(&p->shared);
    for (uint32_t i = 0; i < p->config.subpartitions; i++)
        fnet__pipelined_clear(&p->subpartitions[i].queue);
    fnet_compressor_free(p->compressor);
    free(p);
}

const struct fnet_partition_id *fnet_partition_id(const struct fnet_partition *p)
{
    return &p->config.id;
}

const char *fnet_partition_name(const struct fnet_partition *p)
{
    return p->name;
}

uint32_t fnet_partition_subpartitions(const struct fnet_partition *p)
{
    return p->config.subpartitions;
}

enum fnet_partition_type fnet_partition_type(const struct fnet_partition *p)
{
    return p->config.type;
}

uint8_t fnet_partition_format(const struct fnet_partition *p)
{
    return p->config.format;
}

enum fnet_codec fnet_partition_codec(const struct fnet_partition *p)
{
    return p->config.codec;
}

bool fnet_partition_is_finished(const struct fnet_partition *p)
{
    return p->is_finished;
}

enum fnet_subpartition_state fnet_partition_state(const struct fnet_partition *p,
                                                  uint32_t subpartition)
{
    return p->subpartitions[subpartition].queue.state;
}

uint32_t fnet_partition_count(const struct fnet_partition *p, enum fnet_subpartition_state state)
{
    return p->counts[state];
}

uint32_t fnet_partition_queued(const struct fnet_partition *p)
{
    uint32_t queued = 0;

    for (uint32_t i = 0; i < p->config.subpartitions; i++)
        queued += p->subpartitions[i].queue.backlog;
    return queued;
}

void fnet__partition_set_state(struct fnet_view *view, enum fnet_subpartition_state state)
{
    struct fnet_partition *p = view->partition;

    p->counts[view->queue.state]--;
    p->counts[state]++;
    view->queue.state = state;
    fnet_bell_ring(&p->config.progress);
}

/* The unfinished buffer gets its end; only this makes a place in the queue final. */
static void seal_one(struct fnet__pipelined *s)
{
    if (!fnet_builder_is_open(&s->builder))
        return;
    fnet_builder_seal(&s->builder);
    fnet__pipelined_notice_sealed(s);
}

static void seal_shared(struct fnet_partition *p)
{
    if (!fnet_builder_is_open(&p->shared))
        return;
    fnet_builder_seal(&p->shared);
    for (uint32_t i = 0; i < p->config.subpartitions; i++)
        fnet__pipelined_notice_sealed(&p->subpartitions[i].queue);
}

static void seal_all(struct fnet_partition *p)
{
    seal_shared(p);
    for (uint32_t i = 0; i < p->config.subpartitions; i++)
        seal_one(&p->subpartitions[i].queue);
}

void fnet_partition_seal(struct fnet_partition *p, const uint32_t *subpartition)
{
    if (subpartition)
        seal_one(&p->subpartitions[*subpartition].queue);
    else
        seal_shared(p);
}

struct fnet_builder_slots fnet_partition_builder_slots(struct fnet_partition *p)
{
    return (struct fnet_builder_slots){.first = (char *)&p->subpartitions[0].queue.builder,
                                       .stride = sizeof p->subpartitions[0]};
}

/*
 * Written in turn, the buffers of many subpartitions would all become full at the same time: the
 * consumer would wait, then have to take them all, and nothing of them would be left in any cache.
 * So the first buffers of subpartitions differ in length.
 */
static void stagger(const struct fnet_partition *p, uint32_t subpartition,
                    struct fnet_builder *builder)
{
    const size_t part = fnet_builder_room(builder) / STAGGERED_PARTS;

    if (p->config.subpartitions >= STAGGERED_SUBPARTITIONS)
        fnet_builder_limit(builder, part * (1 + subpartition % STAGGERED_PARTS));
}

enum fnet_err fnet_partition_builder(struct fnet_partition *p, uint32_t subpartition,
                                     struct fnet_builder **out)
{
    struct fnet__pipelined *s = &p->subpartitions[subpartition].queue;

    p->wants_flush = true;
    if (fnet_builder_is_open(&s->builder) && fnet_builder_room(&s->builder) > 0) {
        *out = &s->builder;
        return FNET_OK;
    }
    seal_shared(p); /* only the last place in a queue is unfinished */
    seal_one(s);

    enum fnet_err err = fnet_local_pool_take(p->config.pool, &s->quota, &s->builder);
    if (err != FNET_OK)
        return err;
    if (!fnet__pipelined_is_begun(s))
        stagger(p, subpartition, &s->builder);
    err = fnet__pipelined_add(s, &s->builder);
    if (err != FNET_OK) {
        fnet_builder_seal(&s->builder);
        return err;
    }
    *out = &s->builder;
    return FNET_OK;
}

enum fnet_err fnet_partition_shared_builder(struct fnet_partition *p, struct fnet_builder **out)
{
    p->wants_flush = true;
    if (fnet_builder_is_open(&p->shared) && fnet_builder_room(&p->shared) > 0) {
        *out = &p->shared;
        return FNET_OK;
    }
    seal_all(p);

    enum fnet_err err = fnet_local_pool_take(p->config.pool, NULL, &p->shared);
    if (err != FNET_OK)
        return err;
    for (uint32_t i = 0; i < p->config.subpartitions; i++) {
        err = fnet__pipelined_add(&p->subpartitions[i].queue, &p->shared);
        if (err != FNET_OK) {
            seal_all(p); /* those that have it drop it: it is empty */
            return err;
        }
    }
    *out = &p->shared;
    return FNET_OK;
}

void fnet_partition_mark_written(struct fnet_partition *p)
{
    p->wants_flush = true;
}

bool fnet_partition_wants_flush(const struct fnet_partition *p)
{
    return p->wants_flush;
}

void fnet_partition_flush(struct fnet_partition *p)
{
    if (!p->wants_flush)
        return;
    p->wants_flush = false;
    for (uint32_t i = 0; i < p->config.subpartitions; i++)
        fnet__pipelined_flush(&p->subpartitions[i].queue);
}

enum fnet_err fnet_partition_broadcast_event(struct fnet_partition *p, struct fnet_buffer *event)
{
    seal_all(p);
    for (uint32_t i = 0; i < p->config.subpartitions; i++) {
        enum fnet_err err = fnet__pipelined_add_event(&p->subpartitions[i].queue, event);
        if (err != FNET_OK)
            return err;
    }
    fnet_buffer_clear(event);
    return FNET_OK;
}

enum fnet_err fnet__partition_new_event(enum fnet_event_type type, struct fnet_buffer *out)
{
    const struct fnet_event event = {.type = type};
    uint8_t bytes[16];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
    enum fnet_err err = fnet_event_encode(fnet_dialect_newest(), &event, &w);

    if (err != FNET_OK)
        return err;
    return fnet_buffer_new_heap(fnet_span_of(bytes, (size_t)(w.pos - bytes)),
                                (uint8_t)fnet_event_data_type(&event), out);
}

enum fnet_err fnet_partition_finish(struct fnet_partition *p)
{
    struct fnet_buffer end_of_data;
    enum fnet_err err = fnet__partition_new_event(FNET_EVENT_END_OF_DATA, &end_of_data);

    if (err != FNET_OK)
        return err;
    p->is_finished = true;
    err = fnet_partition_broadcast_event(p, &end_of_data);
    if (err != FNET_OK)
        fnet_buffer_clear(&end_of_data);
    return err;
}
