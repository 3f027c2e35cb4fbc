/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LZ4: one raw block, without magic or frame, by liblz4.
 *
 * Source: Flink Lz4BlockCompressor, which takes lz4-java's fastest compressor; lz4.h.
 */
#ifdef HAVE_LZ4

#include <assert.h>
#include <lz4.h>
#include <stdlib.h>

#include "codec_backend.h"

/* Its lengths are ints. */
static_assert(FNET_BLOCK_MAX_BYTES <= LZ4_MAX_INPUT_SIZE, "an original may be too long for LZ4");

static size_t lz4_bound(size_t len)
{
    return (size_t)LZ4_compressBound((int)len);
}

static enum fnet_err lz4_compress_new(void **state)
{
    *state = malloc((size_t)LZ4_sizeofState());
    return *state ? FNET_OK : FNET_NOMEM;
}

/* 1 is the acceleration of LZ4_compress_default, which has its state on the stack. */
static size_t lz4_compress(void *state, struct fnet_span original, uint8_t *block, size_t room)
{
    return (size_t)LZ4_compress_fast_extState(state, (const char *)original.ptr, (char *)block,
                                              (int)original.len, (int)room, 1);
}

static enum fnet_err lz4_decompress_new(void **state)
{
    *state = NULL;
    return FNET_OK;
}

static bool lz4_decompress(void *state, struct fnet_span block, uint8_t *out, size_t len)
{
    (void)state;
    return LZ4_decompress_safe((const char *)block.ptr, (char *)out, (int)block.len, (int)len) ==
           (int)len;
}

const struct fnet__compress_backend fnet__compress_lz4 = {
    .bound = lz4_bound,
    .compress_new = lz4_compress_new,
    .compress_free = free,
    .compress = lz4_compress,
    .decompress_new = lz4_decompress_new,
    .decompress_free = free,
    .decompress = lz4_decompress,
};

#endif
