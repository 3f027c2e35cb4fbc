/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffer on its way out becomes a compressed one, if that makes it smaller.
 *
 * Source: Flink BoundedBlockingSubpartition.writeAndCloseBufferConsumer,
 * ResultPartition.canBeCompressed, BufferCompressor, which also leaves a buffer as it is whatever
 * goes wrong.
 */
#include "subpartition.h"

/* A segment of one subpartition has a quota; one of all of them belongs to nobody. What was cut out
   of the first is this reader's alone, though more may be written behind it. */
static bool is_ours(const struct fnet_buffer *buffer)
{
    return buffer->segment->pool && buffer->segment->quota;
}

static bool replace(struct fnet_partition *partition, struct fnet_buffer *buffer,
                    struct fnet_span block)
{
    struct fnet_quota *copies = &partition->copies;
    struct fnet_buffer copy;

    if (is_ours(buffer)) {
        memcpy(buffer->segment->bytes + buffer->offset, block.ptr, block.len);
        buffer->len = (uint32_t)block.len;
        return true;
    }
    if (copies->used == copies->max ||
        fnet_buffer_new_heap(block, buffer->data_type, &copy) != FNET_OK)
        return false;
    copy.segment->quota = copies;
    copies->used++;
    fnet_buffer_clear(buffer);
    *buffer = copy;
    return true;
}

void fnet_view_compress(const struct fnet_view *view, struct fnet_buffer *buffer)
{
    struct fnet_compressor *compressor = view->partition->compressor;
    struct fnet_span block;

    if (!compressor || !fnet_data_type_is_buffer(buffer->data_type) || buffer->len == 0)
        return;
    if (fnet_compressor_compress(compressor, fnet_buffer_span(buffer), &block) == FNET_OK)
        buffer->is_compressed = replace(view->partition, buffer, block);
}
