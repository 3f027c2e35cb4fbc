/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records into the buffers of a partition.
 *
 * Source: Flink RecordWriter.emit, BufferWritingResultPartition.emitRecord, broadcastRecord.
 */
#include <assert.h>

#include "fnet/stream.h"

static enum fnet_err open_builder(struct fnet_partition *partition, const uint32_t *target,
                                  struct fnet_builder **out)
{
    return target ? fnet_partition_builder(partition, *target, out)
                  : fnet_partition_shared_builder(partition, out);
}

/* A full buffer is there for its readers at once, not only when the next record comes. */
static void commit(struct fnet_record_writer *writer, const uint32_t *target,
                   struct fnet_builder *builder, size_t n)
{
    fnet_builder_commit(builder, n);
    if (fnet_builder_room(builder) == 0)
        fnet_partition_seal(writer->partition, target);
}

/* Write what the serializer holds, through as many buffers as it takes. */
static enum fnet_err drain(struct fnet_record_writer *writer, const uint32_t *target)
{
    while (!fnet_record_serializer_is_done(&writer->serializer)) {
        struct fnet_builder *builder;
        enum fnet_err err = open_builder(writer->partition, target, &builder);
        if (err != FNET_OK)
            return err;
        size_t n = fnet_record_serializer_write(&writer->serializer, fnet_builder_pos(builder),
                                                fnet_builder_room(builder));
        commit(writer, target, builder, n);
    }
    return FNET_OK;
}

static const uint8_t *end_of(struct fnet_span span)
{
    return span.ptr + span.len;
}

/* How far memory can be read behind record I, so that a short one is copied in whole blocks. */
static const uint8_t *readable_end(const struct fnet_records *records, size_t i)
{
    return end_of(records->within.len > 0 ? records->within : records->spans[i]);
}

/* ---- the way of nearly all records: whole, into buffers that are open and stay so ------------ */

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

static size_t put_each(struct fnet_builder_slots slots, const struct fnet_records *records,
                       const uint32_t *each)
{
    size_t i = 0;

    while (i < records->count && put_whole(fnet_builder_slot(slots, each[i]), records->spans[i],
                                           readable_end(records, i)))
        i++;
    return i;
}

static size_t put_in_turn(struct fnet_builder_slots slots, const struct fnet_records *records,
                          const struct fnet_targets *targets)
{
    uint32_t target = targets->next;
    size_t i = 0;

    while (i < records->count && put_whole(fnet_builder_slot(slots, target), records->spans[i],
                                           readable_end(records, i))) {
        i++;
        if (++target == targets->channels)
            target = 0;
    }
    return i;
}

/* Records that one channel gets of a batch at least, for its builder to be worth setting up. */
#define LANE_RECORDS 2

/*
 * How many records can be put without looking at room again: so many that even all of them would
 * fit into the buffer of each target. None if they are too few for lanes.
 */
static size_t count_for_lanes(struct fnet_builder_slots slots, const struct fnet_records *records,
                              uint32_t channels)
{
    const struct fnet_span *spans = records->spans;
    const size_t least = (size_t)channels * LANE_RECORDS;
    size_t room = SIZE_MAX;
    size_t n = records->count;

    if (n < least || records->within.len == 0)
        return 0;
    for (uint32_t i = 0; i < channels && room > 0; i++) {
        const struct fnet_builder *builder = fnet_builder_slot(slots, i);
        size_t its = fnet_builder_is_open(builder) ? fnet_builder_room(builder) : 0;
        room = its < room ? its : room;
    }
    while (n >= least &&
           (size_t)(end_of(spans[n - 1]) - spans[0].ptr) + n * FNET_RECORD_HEADER_BYTES >= room)
        n /= 2;
    return n >= least ? n : 0;
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
    fnet_builder_commit(builder, (size_t)(w.pos - begin));
}

/* One target after the other: where each writes stays in registers. */
static size_t put_lanes(struct fnet_builder_slots slots, const struct fnet_records *records,
                        const struct fnet_targets *targets)
{
    const uint32_t channels = targets->channels;
    const size_t n = count_for_lanes(slots, records, channels);

    for (uint32_t i = 0; i < channels && i < n; i++)
        put_lane(fnet_builder_slot(slots, fnet_targets_at(targets, i)), records->spans + i, n - i,
                 channels, readable_end(records, n - 1));
    return n;
}

/* Returns how many records went, up to the first that needs a new buffer. */
static size_t put_some(struct fnet_builder_slots slots, const struct fnet_records *records,
                       const struct fnet_targets *targets)
{
    size_t n = 0;

    switch (targets->kind) {
    case FNET_TARGETS_EACH: return put_each(slots, records, targets->each);
    case FNET_TARGETS_IN_TURN:
        n = put_lanes(slots, records, targets);
        return n > 0 ? n : put_in_turn(slots, records, targets);
    case FNET_TARGETS_ALL: return 0;
    }
    return 0;
}

/* ---- the others ------------------------------------------------------------------------------ */

/* One record, whole or in pieces, through new buffers where need be. */
static enum fnet_err put_one(struct fnet_record_writer *writer, struct fnet_span record,
                             const uint32_t *target)
{
    struct fnet_builder *builder;
    enum fnet_err err = open_builder(writer->partition, target, &builder);

    if (err != FNET_OK)
        return err;
    struct fnet_writer w = fnet_writer_of(fnet_builder_pos(builder), fnet_builder_room(builder));
    if (fnet_record_put(&w, record, end_of(record))) {
        commit(writer, target, builder, FNET_RECORD_HEADER_BYTES + record.len);
        return FNET_OK;
    }
    fnet_record_serializer_begin(&writer->serializer, record);
    return drain(writer, target);
}

/* The first of RECORDS, or what is left of it. */
static enum fnet_err put_first(struct fnet_record_writer *writer,
                               const struct fnet_records *records,
                               const struct fnet_targets *targets)
{
    const bool is_for_all = targets->kind == FNET_TARGETS_ALL;
    const uint32_t first = is_for_all ? 0 : fnet_targets_at(targets, 0);
    const uint32_t *target = is_for_all ? NULL : &first;

    return fnet_record_serializer_is_done(&writer->serializer)
               ? put_one(writer, records->spans[0], target)
               : drain(writer, target);
}

static void skip(struct fnet_records *records, struct fnet_targets *targets, size_t n)
{
    records->spans += n;
    records->count -= n;
    *targets = fnet_targets_behind(targets, n);
}

enum fnet_err fnet_record_writer_emit(struct fnet_record_writer *writer,
                                      const struct fnet_records *records,
                                      const struct fnet_targets *targets, size_t *done)
{
    const struct fnet_builder_slots slots = fnet_partition_builder_slots(writer->partition);
    struct fnet_records rest = *records;
    struct fnet_targets rest_targets = *targets;
    enum fnet_err err = FNET_OK;

    while (rest.count > 0) {
        size_t n = 0;
        if (fnet_record_serializer_is_done(&writer->serializer))
            n = put_some(slots, &rest, &rest_targets);
        if (n == 0) {
            err = put_first(writer, &rest, &rest_targets);
            if (err != FNET_OK)
                break;
            n = 1;
        }
        skip(&rest, &rest_targets, n);
    }
    fnet_partition_mark_written(writer->partition);
    *done = records->count - rest.count;
    return err;
}
