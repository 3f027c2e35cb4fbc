/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress, private: what a compression library offers to compressor and decompressor. A codec's
 * own file is empty unless HAVE_LZ4, HAVE_ZSTD or HAVE_LZO says that its library is there; besides
 * these files only codec.c knows.
 */
#ifndef COMPRESS_CODEC_BACKEND_H
#define COMPRESS_CODEC_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/compress.h"
#include "fnet/err.h"

/** No header here: that is the same for all. States may be NULL. */
struct fnet__compress_backend {
    /** The longest block that LEN bytes, at most FNET_BLOCK_MAX_BYTES, can become. */
    size_t (*bound)(size_t len);

    /** Errors: FNET_NOMEM; FNET_UNSUPPORTED: the library is not the one its header describes. */
    enum fnet_err (*compress_new)(void **state);
    void (*compress_free)(void *state);
    /** ROOM is at least the bound. Returns the length of the block; 0: out of memory. */
    size_t (*compress)(void *state, struct fnet_span original, uint8_t *block, size_t room);

    /** Errors: as compress_new. */
    enum fnet_err (*decompress_new)(void **state);
    void (*decompress_free)(void *state);
    /** Is BLOCK, 1 to FNET_BLOCK_MAX_BYTES from anyone, LEN bytes (the same), now in OUT? */
    bool (*decompress)(void *state, struct fnet_span block, uint8_t *out, size_t len);
};

extern const struct fnet__compress_backend fnet__compress_lz4;
extern const struct fnet__compress_backend fnet__compress_zstd;
extern const struct fnet__compress_backend fnet__compress_lzo;

/** Errors: FNET_INVALID: NONE, or not a codec; FNET_UNSUPPORTED: not built with it. */
FNET_CHECKED enum fnet_err fnet__compress_find(enum fnet_codec codec,
                                               const struct fnet__compress_backend **backend);

/* The two lengths in front of a block are the only little-endian numbers of the protocol. */

static inline uint32_t fnet__compress_load_le32(const void *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return le32toh(v);
}

static inline void fnet__compress_store_le32(void *at, uint32_t v)
{
    v = htole32(v);
    memcpy(at, &v, sizeof v);
}

#endif
