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

enum fnet_err fnet_record_writer_emit(struct fnet_record_writer *writer,
                                      const struct fnet_span *records, const uint32_t *targets,
                                      size_t n, size_t *done)
{
    enum fnet_err err = FNET_OK;
    size_t i = 0;
    /* Then short records can be copied in whole blocks. */
    const bool are_adjacent = fnet_records_are_adjacent(records, n);

    if (n > 0 && !fnet_record_serializer_is_done(&writer->serializer)) {
        err = drain(writer, targets);
        if (err == FNET_OK)
            i = 1;
    }
    for (; err == FNET_OK && i < n; i++) {
        const uint32_t *target = targets ? &targets[i] : NULL;
        struct fnet_builder *builder;

        err = open_builder(writer->partition, target, &builder);
        if (err != FNET_OK)
            break;
        struct fnet_writer w =
            fnet_writer_of(fnet_builder_pos(builder), fnet_builder_room(builder));
        if (fnet_record_put(&w, records[i],
                            are_adjacent ? end_of(&records[n - 1]) : end_of(&records[i]))) {
            commit(writer, target, builder, FNET_RECORD_HEADER_BYTES + records[i].len);
            continue;
        }
        fnet_record_serializer_begin(&writer->serializer, records[i]);
        err = drain(writer, target);
        if (err != FNET_OK)
            break;
    }
    fnet_partition_mark_written(writer->partition);
    *done = i;
    return err;
}
