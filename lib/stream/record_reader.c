/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records out of the buffers of a gate.
 *
 * Source: Flink AbstractStreamTaskNetworkInput.emitNext.
 */
#include <stdlib.h>

#include "fnet/event.h"
#include "fnet/stream.h"

struct fnet_record_reader {
    struct fnet_gate *gate;
    struct fnet_record_deserializer *deserializers; /* owned, one per channel */
    size_t channels;
    struct fnet_gate_item current; /* the buffer being read, if it has a segment */
    struct fnet_channel *where;
    int saved_errno;
    struct fnet_span records[FNET_RECORD_BATCH_MAX];
};

enum fnet_err fnet_record_reader_new(struct fnet_gate *gate, const char *spill_dir,
                                     struct fnet_record_reader **out)
{
    struct fnet_record_reader *reader = calloc(1, sizeof *reader);

    if (!reader)
        return FNET_NOMEM;
    reader->gate = gate;
    reader->channels = fnet_gate_channels(gate);
    if (reader->channels > 0) {
        reader->deserializers = calloc(reader->channels, sizeof *reader->deserializers);
        if (!reader->deserializers) {
            free(reader);
            return FNET_NOMEM;
        }
    }
    for (size_t i = 0; i < reader->channels; i++)
        fnet_record_deserializer_init(&reader->deserializers[i], spill_dir);
    *out = reader;
    return FNET_OK;
}

void fnet_record_reader_free(struct fnet_record_reader *reader)
{
    if (!reader)
        return;
    if (reader->current.buffer.segment)
        fnet_gate_recycle(reader->gate, &reader->current);
    for (size_t i = 0; i < reader->channels; i++)
        fnet_record_deserializer_clear(&reader->deserializers[i]);
    free(reader->deserializers);
    free(reader);
}

struct fnet_channel *fnet_record_reader_where(const struct fnet_record_reader *reader,
                                              int *saved_errno)
{
    *saved_errno = reader->saved_errno;
    return reader->where;
}

static struct fnet_record_deserializer *deserializer_of(const struct fnet_record_reader *reader,
                                                        const struct fnet_channel *channel)
{
    return &reader->deserializers[fnet_channel_index(channel)];
}

/* The data type decides what happens; the bytes have to say the same, or an end might be none. */
static enum fnet_err check_event(const struct fnet_buffer *buffer)
{
    struct fnet_event event;
    enum fnet_err err = fnet_event_decode(fnet_dialect_newest(), fnet_buffer_span(buffer), &event);

    if (err != FNET_OK)
        return err;
    if ((event.type == FNET_EVENT_END_OF_PARTITION) !=
            (buffer->data_type == FNET_END_OF_PARTITION) ||
        (event.type == FNET_EVENT_END_OF_DATA) != (buffer->data_type == FNET_END_OF_DATA))
        return FNET_BAD_KIND;
    return FNET_OK;
}

/* An event stands at a record boundary unless it overtook (priority) what is before it. */
static enum fnet_err take_event(struct fnet_record_reader *reader, struct fnet_record_batch *out)
{
    struct fnet_channel *channel = reader->current.channel;
    uint8_t type = reader->current.buffer.data_type;
    enum fnet_err err = check_event(&reader->current.buffer);

    fnet_gate_recycle(reader->gate, &reader->current);
    if (err == FNET_OK && (type == FNET_END_OF_DATA || type == FNET_END_OF_PARTITION) &&
        fnet_record_deserializer_is_mid_record(deserializer_of(reader, channel)))
        err = FNET_TRUNCATED;
    if (err != FNET_OK) {
        reader->where = channel;
        return err;
    }
    if (fnet_data_type_blocks_upstream(type))
        fnet_channel_resume(channel);
    *out = (struct fnet_record_batch){.channel = channel, .event = type};
    return FNET_OK;
}

/* Where whole records go at once; NULL: nowhere, all are yielded. */
struct shortcut {
    const struct fnet_delimiter_config *format;
    size_t max;
    struct fnet_writer *w;
};

static enum fnet_err take_records(struct fnet_record_reader *reader,
                                  const struct shortcut *shortcut, struct fnet_record_batch *out)
{
    struct fnet_record_deserializer *d = deserializer_of(reader, reader->current.channel);
    size_t count = 0;

    if (shortcut)
        count = fnet_record_deserializer_frame(d, shortcut->format, shortcut->max, shortcut->w);
    if (count > 0) {
        *out = (struct fnet_record_batch){.channel = reader->current.channel, .count = count};
        return FNET_OK;
    }
    enum fnet_err err =
        fnet_record_deserializer_next(d, reader->records, FNET_RECORD_BATCH_MAX, &count);

    if (err == FNET_OK) {
        *out = (struct fnet_record_batch){
            .channel = reader->current.channel, .records = reader->records, .count = count};
        return FNET_OK;
    }
    if (err != FNET_AGAIN) {
        reader->where = reader->current.channel;
        reader->saved_errno = d->record.saved_errno;
    }
    fnet_gate_recycle(reader->gate, &reader->current);
    return err;
}

static enum fnet_err next(struct fnet_record_reader *reader, const struct shortcut *shortcut,
                          struct fnet_record_batch *out)
{
    for (;;) {
        if (reader->current.buffer.segment) {
            enum fnet_err err = take_records(reader, shortcut, out);
            if (err != FNET_AGAIN)
                return err;
        }

        enum fnet_err err = fnet_gate_poll(reader->gate, &reader->current);
        if (err != FNET_OK && err != FNET_AGAIN && err != FNET_EOF)
            reader->where = fnet_gate_culprit(reader->gate);
        if (err != FNET_OK)
            return err;
        if (!fnet_data_type_is_buffer(reader->current.buffer.data_type))
            return take_event(reader, out);
        fnet_record_deserializer_feed(deserializer_of(reader, reader->current.channel),
                                      fnet_buffer_span(&reader->current.buffer));
    }
}

enum fnet_err fnet_record_reader_next(struct fnet_record_reader *reader,
                                      struct fnet_record_batch *out)
{
    return next(reader, NULL, out);
}

enum fnet_err fnet_record_reader_frame(struct fnet_record_reader *reader,
                                       const struct fnet_delimiter_config *format, size_t max,
                                       struct fnet_writer *w, struct fnet_record_batch *out)
{
    const struct shortcut shortcut = {.format = format, .max = max, .w = w};

    return next(reader, &shortcut, out);
}
