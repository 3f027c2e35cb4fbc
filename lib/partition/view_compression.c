/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffer on its way out becomes a compressed one, if that makes it smaller.
 *
 * Source: Flink BoundedBlockingSubpartition.writeAndCloseBufferConsumer,
 * ResultPartition.canBeCompressed, BufferCompressor, which also leaves a buffer as it is whatever
 * goes wrong.
 */
#include "subpartition.h"

void fnet_view_compress(const struct fnet_view *view, struct fnet_buffer *buffer)
{
    struct fnet_compressor *compressor = view->partition->compressor;
    struct fnet_span block;
    struct fnet_buffer compressed;

    if (!compressor || !fnet_data_type_is_buffer(buffer->data_type) || buffer->len == 0)
        return;
    if (fnet_compressor_compress(compressor, fnet_buffer_span(buffer), &block) != FNET_OK ||
        fnet_buffer_new_heap(block, buffer->data_type, &compressed) != FNET_OK)
        return;
    compressed.is_compressed = true;
    fnet_buffer_clear(buffer);
    *buffer = compressed;
}
