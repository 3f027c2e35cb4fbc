/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: compressed buffers into what they were. No frame says what compressed it; where nobody
 * does either, the block itself tells.
 */
#ifndef INSPECT_BLOCK_READER_H
#define INSPECT_BLOCK_READER_H

#include "fnet/compress.h"

struct block_reader {
    enum fnet_codec given;                                       /**< NONE: the block tells */
    struct fnet_decompressor *decompressors[FNET_CODEC_LZO + 1]; /**< owned; made when needed */
    uint8_t *original;                                           /**< owned: of the last block */
    size_t capacity; /**< of it, <= FNET_BLOCK_MAX_BYTES */
};

/** GIVEN compressed every block; NONE: each tells. */
void block_reader_init(struct block_reader *r, enum fnet_codec given);
void block_reader_clear(struct block_reader *r);

/**
 * Decompress BLOCK.
 *
 * @param codec     what compressed it; set with an error, too: what it looks like.
 * @param original  borrowed until the next call.
 *
 * Errors: FNET_UNSUPPORTED  fnet was built without CODEC.
 *         FNET_NOMEM, and the peer errors of fnet_decompressor_decompress().
 */
FNET_CHECKED enum fnet_err block_reader_read(struct block_reader *r, struct fnet_span block,
                                             enum fnet_codec *codec, struct fnet_span *original);

#endif
