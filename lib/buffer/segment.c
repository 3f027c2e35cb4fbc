/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a segment, and segments on the heap for what takes no pool memory.
 *
 * Source: Flink MemorySegmentFactory.allocateUnpooledSegment, EventSerializer.toBuffer.
 */
#include <stdlib.h>

#include "pool.h"

void fnet__segment_free(struct fnet_segment *segment)
{
    if (segment->pool) {
        fnet__buffer_give(segment);
        return;
    }
    if (segment->quota)
        segment->quota->used--;
    free(segment);
}

enum fnet_err fnet_buffer_new_heap_room(uint32_t len, uint8_t data_type, struct fnet_buffer *out)
{
    if (len > FNET_SEGMENT_MAX_BYTES)
        return FNET_RANGE;

    /* The bytes follow the header: one allocation. */
    struct fnet_segment *segment = malloc(sizeof *segment + len);
    if (!segment)
        return FNET_NOMEM;
    *segment = (struct fnet_segment){.bytes = (uint8_t *)(segment + 1),
                                     .capacity = len,
                                     .written = len,
                                     .refs = 1,
                                     .is_sealed = true};
    *out = (struct fnet_buffer){.segment = segment, .len = len, .data_type = data_type};
    return FNET_OK;
}

enum fnet_err fnet_buffer_new_heap(struct fnet_span bytes, uint8_t data_type,
                                   struct fnet_buffer *out)
{
    if (bytes.len > FNET_SEGMENT_MAX_BYTES)
        return FNET_RANGE;

    enum fnet_err err = fnet_buffer_new_heap_room((uint32_t)bytes.len, data_type, out);
    if (err == FNET_OK && bytes.len)
        memcpy(out->segment->bytes, bytes.ptr, bytes.len);
    return err;
}
