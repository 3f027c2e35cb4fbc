/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole records into buffers that are open.
 *
 * Source: Flink RecordWriter.emit, BufferWritingResultPartition.emitRecord, for what is written.
 */
#include "emission.h"

#include <assert.h>

/* Records that one channel gets of a batch at least, for its builder to be worth setting up. */
#define LANE_RECORDS 2

static size_t longest_of(const struct fnet_records *records)
{
    size_t longest = 0;

    for (size_t i = 0; i < records->count; i++)
        longest = records->spans[i].len > longest ? records->spans[i].len : longest;
    return longest;
}

struct fnet__emission fnet__emission_of(struct fnet_partition *partition,
                                        const struct fnet_records *records,
                                        const struct fnet_targets *targets)
{
    struct fnet__emission e = {.slots = fnet_partition_builder_slots(partition),
                               .rest = *records,
                               .targets = *targets,
                               .singly = SIZE_MAX};

    if (targets->kind == FNET_TARGETS_IN_TURN && records->within.len > 0 &&
        records->count >= (size_t)targets->channels * LANE_RECORDS) {
        e.longest = longest_of(records);
        e.singly = 0;
    }
    return e;
}

void fnet__emission_skip(struct fnet__emission *e, size_t n)
{
    e->rest.spans += n;
    e->rest.count -= n;
    e->targets = fnet_targets_behind(&e->targets, n);
    if (e->singly != SIZE_MAX)
        e->singly -= n < e->singly ? n : e->singly;
}

/* How far memory can be read behind record I, so that a short one is copied in whole blocks. */
static const uint8_t *readable_end(const struct fnet_records *records, size_t i)
{
    const struct fnet_span span = records->within.len > 0 ? records->within : records->spans[i];

    return span.ptr + span.len;
}

/* ---- one by one ---------------------------------------------------------------------------- */

/* Put RECORD into BUILDER, unless that is closed or would then be full. */
static inline bool put_whole(struct fnet_builder *builder, struct fnet_span record,
                             const uint8_t *readable)
{
    const size_t need = FNET_RECORD_HEADER_BYTES + record.len;

    if (!fnet_builder_is_open(builder) || fnet_builder_room(builder) <= need)
        return false;
    struct fnet_writer w = fnet_writer_of(fnet_builder_pos(builder), fnet_builder_room(builder));
    if (!fnet_record_put(&w, record, readable))
        return false;
    fnet_builder_commit(builder, need);
    return true;
}

static size_t put_each(const struct fnet__emission *e)
{
    const struct fnet_records *records = &e->rest;
    size_t i = 0;

    while (i < records->count && put_whole(fnet_builder_slot(e->slots, e->targets.each[i]),
                                           records->spans[i], readable_end(records, i)))
        i++;
    return i;
}

static size_t put_in_turn(const struct fnet__emission *e)
{
    const struct fnet_records *records = &e->rest;
    const size_t most = e->singly < records->count ? e->singly : records->count;
    uint32_t target = e->targets.next;
    size_t i = 0;

    while (i < most && put_whole(fnet_builder_slot(e->slots, target), records->spans[i],
                                 readable_end(records, i))) {
        i++;
        if (++target == e->targets.channels)
            target = 0;
    }
    return i;
}

/* ---- in lanes: one channel after the other, where it writes stays in registers --------------- */

/* The room of the fullest buffer; 0 if that is none for a record as long as the longest. */
static size_t least_room(const struct fnet__emission *e)
{
    size_t least = SIZE_MAX;

    for (uint32_t i = 0; i < e->targets.channels; i++) {
        const struct fnet_builder *builder = fnet_builder_slot(e->slots, i);
        size_t room = fnet_builder_is_open(builder) ? fnet_builder_room(builder) : 0;
        if (room <= e->longest)
            return 0;
        least = room < least ? room : least;
    }
    return least;
}

/* How many records can be put without looking at room again, if each were the longest; a buffer
   that becomes full is sealed elsewhere. None if they are too few. */
static size_t count_for_lanes(const struct fnet__emission *e)
{
    const size_t channels = e->targets.channels;
    const size_t rounds = (e->rest.count + channels - 1) / channels;
    const size_t room = rounds < LANE_RECORDS ? 0 : least_room(e);

    if (room == 0)
        return 0;
    const size_t each = (room - 1) / (FNET_RECORD_HEADER_BYTES + e->longest);
    if (each < LANE_RECORDS)
        return 0;
    return each < rounds ? each * channels : e->rest.count;
}

/* Every STRIDE-th of N records, which fit. */
static void put_lane(struct fnet_builder *builder, const struct fnet_span *records, size_t n,
                     size_t stride, const uint8_t *readable)
{
    struct fnet_writer w = fnet_writer_of(fnet_builder_pos(builder), fnet_builder_room(builder));
    const uint8_t *begin = w.pos;
    bool fits = true;

    for (size_t i = 0; i < n; i += stride)
        fits &= fnet_record_put(&w, records[i], readable);
    assert(fits);
    (void)fits;
    fnet_builder_commit(builder, (size_t)(w.pos - begin));
}

static size_t put_lanes(const struct fnet__emission *e)
{
    const uint32_t channels = e->targets.channels;
    const size_t n = count_for_lanes(e);
    uint32_t target = e->targets.next;

    for (size_t i = 0; i < channels && i < n; i++) {
        put_lane(fnet_builder_slot(e->slots, target), e->rest.spans + i, n - i, channels,
                 readable_end(&e->rest, n - 1));
        if (++target == channels)
            target = 0;
    }
    return n;
}

size_t fnet__emission_put(struct fnet__emission *e)
{
    size_t n = 0;

    switch (e->targets.kind) {
    case FNET_TARGETS_EACH: n = put_each(e); break;
    case FNET_TARGETS_IN_TURN:
        if (e->singly == 0) {
            n = put_lanes(e);
            /* To look at all rooms for every record would cost more than lanes save. */
            e->singly = n > 0 ? 0 : e->targets.channels;
        }
        if (n == 0)
            n = put_in_turn(e);
        break;
    case FNET_TARGETS_ALL: break;
    }
    fnet__emission_skip(e, n);
    return n;
}
