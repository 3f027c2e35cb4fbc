/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LZO: one raw LZO1X block with its end mark, by liblzo2.
 *
 * Source: Flink AirCompressorFactory with aircompressor's LzoCompressor; lzo1x.h, LZO.FAQ.
 */
#ifdef HAVE_LZO

#include <lzo/lzo1x.h>
#include <stdlib.h>

#include "codec_backend.h"

/* The compressor looks at no bound: by the FAQ this many bytes are always enough. */
static size_t lzo_bound(size_t len)
{
    return len + len / 16 + 64 + 3;
}

/* Asks whether library and header agree, which may be done any number of times; it keeps nothing.
 */
static bool is_usable(void)
{
    return lzo_init() == LZO_E_OK;
}

static enum fnet_err lzo_compress_new(void **state)
{
    if (!is_usable())
        return FNET_UNSUPPORTED;
    *state = malloc(LZO1X_1_MEM_COMPRESS);
    return *state ? FNET_OK : FNET_NOMEM;
}

/* Never fails. */
static size_t lzo_compress(void *state, struct fnet_span original, uint8_t *block, size_t room)
{
    lzo_uint len = room;

    lzo1x_1_compress(original.ptr, original.len, block, &len, state);
    return len;
}

static enum fnet_err lzo_decompress_new(void **state)
{
    *state = NULL;
    return is_usable() ? FNET_OK : FNET_UNSUPPORTED;
}

static bool lzo_decompress(void *state, struct fnet_span block, uint8_t *out, size_t len)
{
    lzo_uint got = len;

    return lzo1x_decompress_safe(block.ptr, block.len, out, &got, state) == LZO_E_OK && got == len;
}

const struct fnet__compress_backend fnet__compress_lzo = {
    .bound = lzo_bound,
    .compress_new = lzo_compress_new,
    .compress_free = free,
    .compress = lzo_compress,
    .decompress_new = lzo_decompress_new,
    .decompress_free = free,
    .decompress = lzo_decompress,
};

#endif
