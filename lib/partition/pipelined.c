/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One subpartition kept in memory: a queue of buffers that may still be written, and events.
 *
 * Source: Flink PipelinedSubpartition (1.14 and later: the rule of the backlog).
 */
#include "pipelined.h"

#include <stdlib.h>

#define FIRST_CAPACITY 2 /* there are thousands, and few hold more */

static struct fnet__queued *entry_at(const struct fnet__pipelined *s, uint32_t i)
{
    return &s->ring[(s->head + i) & (s->capacity - 1)];
}

static enum fnet_err grow(struct fnet__pipelined *s)
{
    uint32_t capacity = s->capacity ? s->capacity * 2 : FIRST_CAPACITY;
    struct fnet__queued *ring = malloc(capacity * sizeof *ring);

    if (!ring)
        return FNET_NOMEM;
    for (uint32_t i = 0; i < s->count; i++)
        ring[i] = *entry_at(s, i);
    free(s->ring);
    s->ring = ring;
    s->capacity = capacity;
    s->head = 0;
    return FNET_OK;
}

static enum fnet_err push(struct fnet__pipelined *s, struct fnet_segment *segment, uint32_t read,
                          uint8_t data_type)
{
    if (s->count == s->capacity) {
        enum fnet_err err = grow(s);
        if (err != FNET_OK)
            return err;
    }
    *entry_at(s, s->count) = (struct fnet__queued){
        .consumer = {.segment = fnet_segment_ref(segment), .read = read}, .data_type = data_type};
    s->count++;
    if (fnet_data_type_is_buffer(data_type))
        s->backlog++;
    return FNET_OK;
}

static void pop(struct fnet__pipelined *s)
{
    struct fnet__queued *first = entry_at(s, 0);

    if (fnet_data_type_is_buffer(first->data_type))
        s->backlog--;
    fnet_consumer_clear(&first->consumer);
    s->head = (s->head + 1) & (s->capacity - 1);
    s->count--;
}

static bool is_empty_for_good(const struct fnet__queued *entry)
{
    return fnet_data_type_is_buffer(entry->data_type) &&
           fnet_consumer_is_sealed(&entry->consumer) && !fnet_consumer_has_data(&entry->consumer);
}

/* A buffer that was read to its end before it was sealed has nothing more to say. */
static void drop_empty_head(struct fnet__pipelined *s)
{
    while (!s->yields_empty && s->count > 0 && is_empty_for_good(entry_at(s, 0)))
        pop(s);
}

void fnet__pipelined_init(struct fnet__pipelined *s, uint32_t max_buffers)
{
    *s = (struct fnet__pipelined){.quota = {.max = max_buffers}};
}

void fnet__pipelined_drop(struct fnet__pipelined *s)
{
    while (s->count > 0)
        pop(s);
}

void fnet__pipelined_clear(struct fnet__pipelined *s)
{
    fnet__pipelined_drop(s);
    if (fnet_builder_is_open(&s->builder))
        fnet_builder_seal(&s->builder);
    free(s->ring);
    s->ring = NULL;
    s->capacity = 0;
}

enum fnet_err fnet__pipelined_add(struct fnet__pipelined *s, const struct fnet_builder *builder)
{
    if (fnet__pipelined_is_dropping(s))
        return FNET_OK;
    return push(s, builder->segment, builder->segment->written, FNET_DATA_BUFFER);
}

enum fnet_err fnet__pipelined_add_event(struct fnet__pipelined *s, const struct fnet_buffer *event)
{
    if (fnet__pipelined_is_dropping(s))
        return FNET_OK;

    enum fnet_err err = push(s, event->segment, event->offset, event->data_type);
    if (err == FNET_OK)
        fnet_bell_ring(&s->bell);
    return err;
}

void fnet__pipelined_notice_sealed(struct fnet__pipelined *s)
{
    drop_empty_head(s);
    if (s->count > 0)
        fnet_bell_ring(&s->bell);
}

void fnet__pipelined_flush(struct fnet__pipelined *s)
{
    if (s->count == 0 || s->is_flush_requested)
        return;
    /* Buffers before the last are available anyway. */
    if (fnet_consumer_has_data(&entry_at(s, s->count - 1)->consumer)) {
        s->is_flush_requested = true;
        fnet_bell_ring(&s->bell);
    }
}

bool fnet__pipelined_is_available(const struct fnet__pipelined *s, uint32_t credits)
{
    if (s->count == 0)
        return false;

    const struct fnet__queued *first = entry_at(s, 0);
    if (!fnet_data_type_is_buffer(first->data_type))
        return true;
    return credits > 0 &&
           (s->count > 1 || s->is_flush_requested || fnet_consumer_is_sealed(&first->consumer));
}

uint32_t fnet__pipelined_backlog(const struct fnet__pipelined *s)
{
    if (s->count == 0)
        return 0;

    /* Events are sealed, and so is the last buffer of a writer that waits for a segment. */
    if (s->is_flush_requested || fnet_consumer_is_sealed(&entry_at(s, s->count - 1)->consumer))
        return s->backlog;
    return s->backlog - 1;
}

enum fnet_err fnet__pipelined_next(struct fnet__pipelined *s, struct fnet_view_item *out)
{
    if (!fnet__pipelined_is_available(s, 1))
        return FNET_AGAIN;

    struct fnet__queued *first = entry_at(s, 0);
    bool is_sealed = fnet_consumer_is_sealed(&first->consumer);
    if (!is_sealed && !fnet_consumer_has_data(&first->consumer)) {
        s->is_flush_requested = false;
        return FNET_AGAIN;
    }

    struct fnet_buffer buffer = fnet_consumer_build(&first->consumer);
    buffer.data_type = first->data_type;
    if (buffer.data_type == FNET_END_OF_DATA)
        s->end = FNET__END_OF_DATA_TAKEN;
    if (buffer.data_type == FNET_END_OF_PARTITION)
        s->end = FNET__END_OF_PARTITION_TAKEN;
    if (is_sealed)
        pop(s);
    else
        s->is_flush_requested = false; /* the unsealed one is the last: all is flushed */
    drop_empty_head(s);
    if (s->count == 0)
        s->is_flush_requested = false;
    out->buffer = buffer;
    out->backlog = fnet__pipelined_backlog(s);
    out->queued = s->backlog;
    return FNET_OK;
}
