/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream: records into a partition, and records out of a gate, a batch at a time.
 *
 * Source: Flink RecordWriter, ChannelSelectorRecordWriter, BroadcastRecordWriter,
 * AbstractStreamTaskNetworkInput.
 */
#ifndef FNET_STREAM_H
#define FNET_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/err.h"
#include "fnet/gate.h"
#include "fnet/partition.h"
#include "fnet/record.h"
#include "fnet/selector.h"

/* ---- writer ------------------------------------------------------------------------------ */

/** Appends records to a partition. All zero but PARTITION is a writer at a record boundary. */
struct fnet_record_writer {
    struct fnet_partition *partition;         /**< borrowed */
    struct fnet_record_serializer serializer; /**< of a record that did not fit yet */
};

/**
 * Append records, each behind its length, cut over buffers as they fill.
 *
 * @param records  at most FNET_RECORD_MAX_BYTES each.
 * @param targets  the subpartitions they go to.
 * @param done     how many are written in full; set also with FNET_AGAIN.
 *
 * After FNET_AGAIN call again with the records from *done on, the first of them unchanged: part
 * of it is written.
 *
 * Errors: FNET_AGAIN  no segment; the local pool's bell rings.
 *         FNET_NOMEM
 * Cost:   a copy, and a few instructions per record; least for targets in turn of records that lie
 *         within one piece of memory.
 */
FNET_CHECKED enum fnet_err fnet_record_writer_emit(struct fnet_record_writer *writer,
                                                   const struct fnet_records *records,
                                                   const struct fnet_targets *targets,
                                                   size_t *done);

/* ---- reader ------------------------------------------------------------------------------ */

struct fnet_record_reader;

/** Most records of one batch. */
#define FNET_RECORD_BATCH_MAX 1024

/** What the reader yields. */
struct fnet_record_batch {
    struct fnet_channel *channel;
    const struct fnet_span *records; /**< borrowed until the next call; NULL: they were framed */
    size_t count;                    /**< 0: an event */
    uint8_t event;                   /**< enum fnet_data_type of the event */
};

/**
 * Read the records of GATE, which must have its channels.
 *
 * @param gate       borrowed.
 * @param spill_dir  borrowed: where long records go that lie across buffers; NULL: /tmp.
 * @param out        owned by caller.
 *
 * Errors: FNET_NOMEM
 */
FNET_CHECKED enum fnet_err fnet_record_reader_new(struct fnet_gate *gate, const char *spill_dir,
                                                  struct fnet_record_reader **out);
void fnet_record_reader_free(struct fnet_record_reader *reader);

/**
 * The next records of one channel, or an event of it. An event that blocks its sender is resumed
 * at once: barriers are passed by.
 *
 * Errors: FNET_AGAIN  nothing is there; the gate's bell rings.
 *         FNET_EOF    no channel will give anything more; some may have failed.
 *         FNET_BAD_LENGTH (a record's length), FNET_TRUNCATED (EndOfData in the middle of a
 *         record, or an event that is cut), FNET_BAD_KIND (an event that is none, or another than
 *         its data type says), FNET_BAD_VALUE, FNET_NOMEM, FNET_SYSTEM, and those of
 *         fnet_gate_poll() for compressed buffers: dead;
 *         fnet_record_reader_where() tells the channel.
 * Cost:   a few instructions per record, a copy only of records that lie across buffers.
 */
FNET_CHECKED enum fnet_err fnet_record_reader_next(struct fnet_record_reader *reader,
                                                   struct fnet_record_batch *out);

/**
 * As fnet_record_reader_next(), but records that fnet_record_deserializer_frame() can put into
 * output at once go to W.
 *
 * @param format  how they are framed.
 * @param max     > 0; at most so many are framed.
 * @param out     with records NULL, what was appended to W; else as next() has it, W is untouched.
 */
FNET_CHECKED enum fnet_err fnet_record_reader_frame(struct fnet_record_reader *reader,
                                                    const struct fnet_delimiter_config *format,
                                                    size_t max, struct fnet_writer *w,
                                                    struct fnet_record_batch *out);

/** The channel of the last error, and its errno for FNET_SYSTEM. */
struct fnet_channel *fnet_record_reader_where(const struct fnet_record_reader *reader,
                                              int *saved_errno);

#endif
