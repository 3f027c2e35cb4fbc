/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress: one buffer into one block of Flink's, and back. A block says neither which codec wrote
 * it nor where it ends: both sides are told the one, the buffer around it says the other.
 *
 *     offset  bytes  name               meaning
 *          0      4  compressed length  c, little-endian; 8 + c is the length of the buffer
 *          4      4  original length    o, little-endian; at most the segment size
 *          8      c  block              LZ4: a raw LZ4 block; ZSTD: one zstd frame; LZO: raw LZO1X
 *
 * A codec is there if its library was found when fnet was built.
 *
 * Source: Flink BufferCompressor, BufferDecompressor; runtime/io/compression/: CompressorUtils,
 * Lz4BlockCompressor, Lz4BlockDecompressor, AirBlockCompressor, AirBlockDecompressor.
 */
#ifndef FNET_COMPRESS_H
#define FNET_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/err.h"

#define FNET_BLOCK_HEADER_BYTES 8
/** Longest original and longest block: both lie in segments, and none is larger. */
#define FNET_BLOCK_MAX_BYTES (64u << 20)

/* ---- codecs ------------------------------------------------------------------------------ */

enum fnet_codec {
    FNET_CODEC_NONE,
    FNET_CODEC_LZ4,  /**< Flink 1.10+ */
    FNET_CODEC_ZSTD, /**< Flink 1.16+ */
    FNET_CODEC_LZO,  /**< Flink 1.16+ */
};

/** The name of CODEC, static, as the command line spells it; NULL for other numbers. */
const char *fnet_codec_name(enum fnet_codec codec);

/**
 * Read a name.
 *
 * Errors: FNET_INVALID  no codec has it. One that is not available has its name all the same.
 */
FNET_CHECKED enum fnet_err fnet_codec_parse(const char *name, enum fnet_codec *codec);

/** Was fnet built with CODEC? NONE always is there. */
bool fnet_codec_is_available(enum fnet_codec codec);

/**
 * Does BLOCK, its header included, hold a zstd frame? It tells zstd and LZ4 apart for certain: an
 * LZ4 block that begins like one would copy from before its own beginning.
 *
 * Source: RFC 8878, 3.1.1: the magic number.
 */
bool fnet_block_is_zstd(struct fnet_span block);

/* ---- compressing ------------------------------------------------------------------------- */

/** The tables of a codec and room for one block, used again for each. */
struct fnet_compressor;

/**
 * @param max_bytes   longest original that will come: the segment size.
 * @param compressor  owned by caller: fnet_compressor_free().
 *
 * Errors: FNET_INVALID      CODEC is NONE or not a codec.
 *         FNET_UNSUPPORTED  fnet was built without CODEC.
 *         FNET_RANGE        MAX_BYTES is 0 or more than FNET_BLOCK_MAX_BYTES.
 *         FNET_NOMEM
 */
FNET_CHECKED enum fnet_err fnet_compressor_new(enum fnet_codec codec, size_t max_bytes,
                                               struct fnet_compressor **compressor);

/** Nothing happens with NULL. */
void fnet_compressor_free(struct fnet_compressor *compressor);

/**
 * Write ORIGINAL as a block.
 *
 * @param block  borrowed from COMPRESSOR until its next call: header and all, shorter than
 * ORIGINAL.
 *
 * Errors: FNET_INCOMPRESSIBLE  the block would not be shorter than ORIGINAL, which is then to be
 *                              sent as it is.
 *         FNET_RANGE           ORIGINAL is empty or longer than max_bytes.
 *         FNET_NOMEM           zstd's tables grow with the originals, up to max_bytes.
 * Cost:   no allocation, except for zstd's first blocks. Kept small and fast, as Flink does it:
 *         LZ4 and LZO at their fastest, zstd at level 3.
 * Source: Flink BufferCompressor.compress.
 */
FNET_CHECKED enum fnet_err fnet_compressor_compress(struct fnet_compressor *compressor,
                                                    struct fnet_span original,
                                                    struct fnet_span *block);

/* ---- decompressing ----------------------------------------------------------------------- */

/** The tables of a codec, used again for each block. */
struct fnet_decompressor;

/**
 * @param decompressor  owned by caller: fnet_decompressor_free().
 *
 * Errors: FNET_INVALID      CODEC is NONE or not a codec.
 *         FNET_UNSUPPORTED  fnet was built without CODEC.
 *         FNET_NOMEM
 */
FNET_CHECKED enum fnet_err fnet_decompressor_new(enum fnet_codec codec,
                                                 struct fnet_decompressor **decompressor);

/** Nothing happens with NULL. */
void fnet_decompressor_free(struct fnet_decompressor *decompressor);

/**
 * Append the original of BLOCK to OUT.
 *
 * @param block  from anyone; the whole buffer as it came. Does not overlap OUT.
 * @param out    moves by the original length, at least 1, with FNET_OK only; what lies behind its
 *               position may have changed with an error too, never anything behind its end.
 *
 * Errors: FNET_TRUNCATED   BLOCK is shorter than its header.
 *         FNET_BAD_LENGTH  the compressed length is not that of BLOCK or above
 *                          FNET_BLOCK_MAX_BYTES, or a length is 0, or the original does not fit
 *                          into OUT.
 *         FNET_BAD_VALUE   the codec cannot read it, or it is of another length than it says.
 *         DECOMPRESSOR is fit for the next block after each of them.
 * Cost:   no allocation; reads each byte once.
 * Source: Flink BufferDecompressor.decompress, which also lets bytes follow a block.
 */
FNET_CHECKED enum fnet_err fnet_decompressor_decompress(struct fnet_decompressor *decompressor,
                                                        struct fnet_span block,
                                                        struct fnet_writer *out);

#endif
