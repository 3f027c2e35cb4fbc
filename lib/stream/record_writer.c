/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records into the buffers of a partition.
 *
 * Source: Flink RecordWriter.emit, BufferWritingResultPartition.emitRecord, broadcastRecord.
 */
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

static const uint8_t *end_of(const struct fnet_span *record)
{
    return record->ptr + record->len;
}

/*
 * The way of nearly all records: each goes whole into the open builder of its target, up to the
 * first for which there is none, or whose buffer would then be full. Returns how many went.
 */
static size_t put_whole(struct fnet_builder_slots slots, const struct fnet_span *records,
                        const uint32_t *targets, size_t n, bool are_adjacent)
{
    size_t i = 0;

    for (; i < n; i++) {
        struct fnet_builder *builder = fnet_builder_slot(slots, targets[i]);
        const size_t need = FNET_RECORD_HEADER_BYTES + records[i].len;
        if (!fnet_builder_is_open(builder) || fnet_builder_room(builder) <= need)
            break;
        struct fnet_writer w =
            fnet_writer_of(fnet_builder_pos(builder), fnet_builder_room(builder));
        if (!fnet_record_put(&w, records[i], end_of(&records[are_adjacent ? n - 1 : i])))
            break;
        fnet_builder_commit(builder, need);
    }
    return i;
}

/* One record, whole or in pieces, through new buffers where need be. */
static enum fnet_err put_one(struct fnet_record_writer *writer, struct fnet_span record,
                             const uint32_t *target)
{
    struct fnet_builder *builder;
    enum fnet_err err = open_builder(writer->partition, target, &builder);

    if (err != FNET_OK)
        return err;
    struct fnet_writer w = fnet_writer_of(fnet_builder_pos(builder), fnet_builder_room(builder));
    if (fnet_record_put(&w, record, end_of(&record))) {
        commit(writer, target, builder, FNET_RECORD_HEADER_BYTES + record.len);
        return FNET_OK;
    }
    fnet_record_serializer_begin(&writer->serializer, record);
    return drain(writer, target);
}

enum fnet_err fnet_record_writer_emit(struct fnet_record_writer *writer,
                                      const struct fnet_span *records, const uint32_t *targets,
                                      size_t n, size_t *done)
{
    const struct fnet_builder_slots slots = fnet_partition_builder_slots(writer->partition);
    /* Then short records can be copied in whole blocks. */
    const bool are_adjacent = fnet_records_are_adjacent(records, n);
    enum fnet_err err = FNET_OK;
    size_t i = 0;

    if (n > 0 && !fnet_record_serializer_is_done(&writer->serializer)) {
        err = drain(writer, targets);
        if (err == FNET_OK)
            i = 1;
    }
    while (err == FNET_OK && i < n) {
        if (targets)
            i += put_whole(slots, records + i, targets + i, n - i, are_adjacent);
        if (i == n)
            break;
        err = put_one(writer, records[i], targets ? &targets[i] : NULL);
        if (err == FNET_OK)
            i++;
    }
    fnet_partition_mark_written(writer->partition);
    *done = i;
    return err;
}
