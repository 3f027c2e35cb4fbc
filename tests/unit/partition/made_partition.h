/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: a partition with its pools, writing into it, and the check that all memory came back.
 */
#ifndef TESTS_PARTITION_MADE_PARTITION_H
#define TESTS_PARTITION_MADE_PARTITION_H

#include "fnet/partition.h"

#include "../tap.h"

/** A program may define it before it includes this. */
#ifndef MADE_SEGMENT_BYTES
#define MADE_SEGMENT_BYTES FNET_SEGMENT_MIN_BYTES
#endif

#ifndef MADE_CODEC
#define MADE_CODEC FNET_CODEC_NONE
#endif

struct made_partition {
    struct fnet_network_pool *network;
    struct fnet_local_pool *pool;
    struct fnet_partition *partition;
    int pool_rings;     /**< of the local pool's bell */
    int progress_rings; /**< of the partition's */
};

__attribute__((unused)) static void count_ring(void *arg)
{
    ++*(int *)arg;
}

__attribute__((unused)) static struct fnet_bell counting_bell(int *rings)
{
    return (struct fnet_bell){.ring = count_ring, .arg = rings};
}

/**
 * A partition called NAME of SUBPARTITIONS, with SEGMENTS in all and at most MAX of them for each
 * subpartition.
 */
__attribute__((unused)) static void make_partition(struct made_partition *m, const char *name,
                                                   uint32_t subpartitions, uint32_t segments,
                                                   uint32_t max)
{
    *m = (struct made_partition){.network = NULL};
    CHECK_INT(fnet_network_pool_new(MADE_SEGMENT_BYTES, segments, &m->network), FNET_OK);
    CHECK_INT(fnet_local_pool_new(m->network, segments, segments, &m->pool), FNET_OK);
    fnet_local_pool_set_bell(m->pool, counting_bell(&m->pool_rings));

    struct fnet_partition_config config = FNET_PARTITION_CONFIG_INIT;
    config.name = name;
    config.subpartitions = subpartitions;
    config.pool = m->pool;
    config.max_buffers_per_channel = max;
    config.codec = MADE_CODEC;
    config.progress = counting_bell(&m->progress_rings);
    CHECK_INT(fnet_partition_id_from_name(name, &config.id), FNET_OK);
    CHECK_INT(fnet_partition_new(&config, &m->partition), FNET_OK);
}

/** Free all; every segment must be back once the partition is gone. */
__attribute__((unused)) static void unmake_partition(struct made_partition *m)
{
    fnet_partition_free(m->partition);
    CHECK_INT(fnet_local_pool_used(m->pool), 0);
    fnet_local_pool_free(m->pool);
    CHECK_INT(fnet_network_pool_unreserved(m->network), fnet_network_pool_segments(m->network));
    fnet_network_pool_free(m->network);
}

/** Write LEN bytes, each of value BYTE, into SUBPARTITION (all of them when NULL). */
__attribute__((unused)) static enum fnet_err put_bytes(struct fnet_partition *partition,
                                                       const uint32_t *subpartition, uint8_t byte,
                                                       size_t len)
{
    while (len > 0) {
        struct fnet_builder *builder;
        enum fnet_err err = subpartition
                                ? fnet_partition_builder(partition, *subpartition, &builder)
                                : fnet_partition_shared_builder(partition, &builder);
        if (err != FNET_OK)
            return err;
        size_t n = fnet_builder_room(builder) < len ? fnet_builder_room(builder) : len;
        memset(fnet_builder_pos(builder), byte, n);
        fnet_builder_commit(builder, n);
        len -= n;
    }
    return FNET_OK;
}

__attribute__((unused)) static enum fnet_err put_into(struct fnet_partition *partition,
                                                      uint32_t subpartition, uint8_t byte,
                                                      size_t len)
{
    return put_bytes(partition, &subpartition, byte, len);
}

/** An event of TYPE, owned by caller. */
__attribute__((unused)) static struct fnet_buffer made_event(uint8_t type)
{
    struct fnet_buffer event = {.segment = NULL};
    const uint8_t bytes[] = {0, 0, 0, type};

    CHECK_INT(fnet_buffer_new_heap(fnet_span_of(bytes, sizeof bytes), type, &event), FNET_OK);
    return event;
}

/** Open a view that nobody hears and that must be there. */
__attribute__((unused)) static struct fnet_view *open_view(struct fnet_partition *partition,
                                                           uint32_t subpartition)
{
    const struct fnet_bell nobody = {.ring = NULL};
    struct fnet_view *view = NULL;

    CHECK_INT(fnet_view_open(partition, subpartition, nobody, false, &view), FNET_OK);
    return view;
}

/** Take the next item of VIEW: LEN bytes, all of value BYTE, with BACKLOG behind it. */
__attribute__((unused)) static void check_data(struct fnet_view *view, uint8_t byte, uint32_t len,
                                               uint32_t backlog)
{
    struct fnet_view_item item;

    if (!CHECK_INT(fnet_view_next(view, &item), FNET_OK))
        return;
    CHECK_INT(item.buffer.data_type, FNET_DATA_BUFFER);
    CHECK_INT(item.buffer.len, len);
    CHECK_INT(item.backlog, backlog);
    struct fnet_span span = fnet_buffer_span(&item.buffer);
    for (size_t i = 0; i < span.len; i++)
        if (!CHECK_INT(span.ptr[i], byte))
            break;
    fnet_buffer_clear(&item.buffer);
}

/** Take the next item of VIEW: an event of TYPE, with BACKLOG behind it. */
__attribute__((unused)) static void check_event(struct fnet_view *view, uint8_t type,
                                                uint32_t backlog)
{
    struct fnet_view_item item;

    if (!CHECK_INT(fnet_view_next(view, &item), FNET_OK))
        return;
    CHECK_INT(item.buffer.data_type, type);
    CHECK_INT(item.backlog, backlog);
    fnet_buffer_clear(&item.buffer);
}

/** VIEW has nothing to give, not even for credit. */
__attribute__((unused)) static void check_nothing(struct fnet_view *view)
{
    struct fnet_view_item item;

    CHECK(!fnet_view_is_available(view, 100));
    CHECK_INT(fnet_view_next(view, &item), FNET_AGAIN);
}

#endif
