/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One block in, its original out.
 *
 * Source: Flink BufferDecompressor, Lz4BlockDecompressor, AirBlockDecompressor.
 */
#include <stdlib.h>

#include "codec_backend.h"
#include "fnet/compress.h"

struct fnet_decompressor {
    const struct fnet__compress_backend *backend;
    void *state;
};

enum fnet_err fnet_decompressor_new(enum fnet_codec codec, struct fnet_decompressor **decompressor)
{
    const struct fnet__compress_backend *backend;
    enum fnet_err err = fnet__compress_find(codec, &backend);

    if (err != FNET_OK)
        return err;

    struct fnet_decompressor *d = malloc(sizeof *d);
    if (!d)
        return FNET_NOMEM;
    *d = (struct fnet_decompressor){.backend = backend};
    err = backend->decompress_new(&d->state);
    if (err != FNET_OK) {
        free(d);
        return err;
    }
    *decompressor = d;
    return FNET_OK;
}

void fnet_decompressor_free(struct fnet_decompressor *d)
{
    if (!d)
        return;
    d->backend->decompress_free(d->state);
    free(d);
}

enum fnet_err fnet_decompressor_decompress(struct fnet_decompressor *d, struct fnet_span block,
                                           struct fnet_writer *out)
{
    if (block.len < FNET_BLOCK_HEADER_BYTES)
        return FNET_TRUNCATED;

    /* A negative length is a large one here. */
    const size_t compressed = fnet__compress_load_le32(block.ptr);
    const size_t original = fnet__compress_load_le32(block.ptr + 4);
    if (compressed == 0 || compressed != block.len - FNET_BLOCK_HEADER_BYTES ||
        compressed > FNET_BLOCK_MAX_BYTES)
        return FNET_BAD_LENGTH;
    if (original == 0 || original > FNET_BLOCK_MAX_BYTES || original > fnet_writer_left(out))
        return FNET_BAD_LENGTH;

    struct fnet_span coded = {.ptr = block.ptr + FNET_BLOCK_HEADER_BYTES, .len = compressed};
    if (!d->backend->decompress(d->state, coded, out->pos, original))
        return FNET_BAD_VALUE;
    out->pos += original;
    return FNET_OK;
}
