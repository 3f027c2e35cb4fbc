/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records into the byte stream of a channel: length, body, cut wherever the room ends.
 *
 * Source: Flink RecordWriter.serializeRecord, BufferWritingResultPartition.emitRecord.
 */
#include "fnet/record.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t fnet_record_serializer_write(struct fnet_record_serializer *s, uint8_t *ptr, size_t room)
{
    size_t header = smaller(s->header_left, room);
    memcpy(ptr, s->header + FNET_RECORD_HEADER_BYTES - s->header_left, header);
    s->header_left -= header;

    size_t body = smaller(s->body.len, room - header);
    if (body) {
        memcpy(ptr + header, s->body.ptr, body);
        s->body.ptr += body;
        s->body.len -= body;
    }
    return header + body;
}

size_t fnet_records_put(const struct fnet_span *records, size_t n, struct fnet_writer *w)
{
    const bool are_adjacent = fnet_records_are_adjacent(records, n);
    struct fnet_writer local = *w; /* not in memory that the copied bytes could overlap */
    size_t i;

    for (i = 0; i < n; i++) {
        const struct fnet_span last = records[are_adjacent ? n - 1 : i];
        if (!fnet_record_put(&local, records[i], last.ptr + last.len))
            break;
    }
    *w = local;
    return i;
}
