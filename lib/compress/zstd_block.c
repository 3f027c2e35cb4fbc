/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ZSTD: one standard frame, by libzstd.
 *
 * Source: Flink AirCompressorFactory with aircompressor's ZstdCompressor; RFC 8878; zstd.h.
 */
#ifdef HAVE_ZSTD

#include <zstd.h>

#include "codec_backend.h"

/* aircompressor's, and zstd's default. */
#define LEVEL 3

static enum fnet_err zstd_compress_new(void **state)
{
    *state = ZSTD_createCCtx();
    return *state ? FNET_OK : FNET_NOMEM;
}

static void zstd_compress_free(void *state)
{
    ZSTD_freeCCtx(state);
}

/* There is room for any frame: only memory can be missing. */
static size_t zstd_compress(void *state, struct fnet_span original, uint8_t *block, size_t room)
{
    size_t len = ZSTD_compressCCtx(state, block, room, original.ptr, original.len, LEVEL);

    return ZSTD_isError(len) ? 0 : len;
}

static enum fnet_err zstd_decompress_new(void **state)
{
    *state = ZSTD_createDCtx();
    return *state ? FNET_OK : FNET_NOMEM;
}

static void zstd_decompress_free(void *state)
{
    ZSTD_freeDCtx(state);
}

/*
 * libzstd by itself would go on to further frames, pass over skippable ones and, as many builds of
 * it, allocate for those of formats older than the standard. Flink writes none of these.
 */
static bool is_one_frame(struct fnet_span block)
{
    return block.len >= 4 && fnet__compress_load_le32(block.ptr) == ZSTD_MAGICNUMBER &&
           ZSTD_findFrameCompressedSize(block.ptr, block.len) == block.len;
}

static bool zstd_decompress(void *state, struct fnet_span block, uint8_t *out, size_t len)
{
    return is_one_frame(block) && ZSTD_decompressDCtx(state, out, len, block.ptr, block.len) == len;
}

const struct fnet__compress_backend fnet__compress_zstd = {
    .bound = ZSTD_compressBound,
    .compress_new = zstd_compress_new,
    .compress_free = zstd_compress_free,
    .compress = zstd_compress,
    .decompress_new = zstd_decompress_new,
    .decompress_free = zstd_decompress_free,
    .decompress = zstd_decompress,
};

#endif
