/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One original in, one block out.
 *
 * Source: Flink BufferCompressor, Lz4BlockCompressor, AirBlockCompressor.
 */
#include <stdlib.h>

#include "codec_backend.h"
#include "fnet/compress.h"

struct fnet_compressor {
    const struct fnet__compress_backend *backend;
    void *state;
    size_t max_bytes;
    size_t room; /* behind the header in BLOCK: the bound of max_bytes */
    uint8_t block[];
};

enum fnet_err fnet_compressor_new(enum fnet_codec codec, size_t max_bytes,
                                  struct fnet_compressor **compressor)
{
    const struct fnet__compress_backend *backend;
    enum fnet_err err = fnet__compress_find(codec, &backend);

    if (err != FNET_OK)
        return err;
    if (max_bytes == 0 || max_bytes > FNET_BLOCK_MAX_BYTES)
        return FNET_RANGE;

    const size_t room = backend->bound(max_bytes);
    struct fnet_compressor *c = malloc(sizeof *c + FNET_BLOCK_HEADER_BYTES + room);
    if (!c)
        return FNET_NOMEM;
    *c = (struct fnet_compressor){.backend = backend, .max_bytes = max_bytes, .room = room};
    err = backend->compress_new(&c->state);
    if (err != FNET_OK) {
        free(c);
        return err;
    }
    *compressor = c;
    return FNET_OK;
}

void fnet_compressor_free(struct fnet_compressor *c)
{
    if (!c)
        return;
    c->backend->compress_free(c->state);
    free(c);
}

enum fnet_err fnet_compressor_compress(struct fnet_compressor *c, struct fnet_span original,
                                       struct fnet_span *block)
{
    if (original.len == 0 || original.len > c->max_bytes)
        return FNET_RANGE;

    size_t len =
        c->backend->compress(c->state, original, c->block + FNET_BLOCK_HEADER_BYTES, c->room);
    if (len == 0)
        return FNET_NOMEM;
    if (FNET_BLOCK_HEADER_BYTES + len >= original.len)
        return FNET_INCOMPRESSIBLE;

    fnet__compress_store_le32(c->block, (uint32_t)len);
    fnet__compress_store_le32(c->block + 4, (uint32_t)original.len);
    *block = fnet_span_of(c->block, FNET_BLOCK_HEADER_BYTES + len);
    return FNET_OK;
}
