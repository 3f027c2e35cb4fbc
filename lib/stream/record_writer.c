/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records into the buffers of a partition.
 *
 * Source: Flink RecordWriter.emit, BufferWritingResultPartition.emitRecord, broadcastRecord.
 */
#include "emission.h"

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

/* One record, whole or in pieces, through new buffers where need be. */
static enum fnet_err put_one(struct fnet_record_writer *writer, struct fnet_span record,
                             const uint32_t *target)
{
    struct fnet_builder *builder;
    enum fnet_err err = open_builder(writer->partition, target, &builder);

    if (err != FNET_OK)
        return err;
    struct fnet_writer w = fnet_writer_of(fnet_builder_pos(builder), fnet_builder_room(builder));
    if (fnet_record_put(&w, record, record.ptr + record.len)) {
        commit(writer, target, builder, FNET_RECORD_HEADER_BYTES + record.len);
        return FNET_OK;
    }
    fnet_record_serializer_begin(&writer->serializer, record);
    return drain(writer, target);
}

/* The first record that is left, or what is left of it. */
static enum fnet_err put_first(struct fnet_record_writer *writer, const struct fnet__emission *e)
{
    const bool is_for_all = e->targets.kind == FNET_TARGETS_ALL;
    const uint32_t first = is_for_all ? 0 : fnet_targets_at(&e->targets, 0);
    const uint32_t *target = is_for_all ? NULL : &first;

    return fnet_record_serializer_is_done(&writer->serializer)
               ? put_one(writer, e->rest.spans[0], target)
               : drain(writer, target);
}

enum fnet_err fnet_record_writer_emit(struct fnet_record_writer *writer,
                                      const struct fnet_records *records,
                                      const struct fnet_targets *targets, size_t *done)
{
    struct fnet__emission e = fnet__emission_of(writer->partition, records, targets);
    enum fnet_err err = FNET_OK;

    while (e.rest.count > 0) {
        if (fnet_record_serializer_is_done(&writer->serializer) && fnet__emission_put(&e) > 0)
            continue;
        err = put_first(writer, &e);
        if (err != FNET_OK)
            break;
        fnet__emission_skip(&e, 1);
    }
    fnet_partition_mark_written(writer->partition);
    *done = records->count - e.rest.count;
    return err;
}
