/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a block from anyone gives bytes of exactly the length it says or none, the same
 * every time; and any bytes come back from their own block, which is shorter. Input: one byte that
 * chooses the codec, then a block, which is an original too.
 */
#include <stdlib.h>

#include "fnet/compress.h"

#define ROOM 65536u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One of each codec for all inputs, so that what one leaves behind would show in another. */
static struct fnet_compressor *compressors[FNET_CODEC_LZO + 1];
static struct fnet_decompressor *decompressors[FNET_CODEC_LZO + 1];

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void open_codec(enum fnet_codec codec)
{
    if (compressors[codec])
        return;
    require(fnet_compressor_new(codec, ROOM, &compressors[codec]) == FNET_OK);
    require(fnet_decompressor_new(codec, &decompressors[codec]) == FNET_OK);
}

/* The original of BLOCK, owned by caller, in ROOM bytes on the heap; NULL if it is refused. */
static uint8_t *read_block(enum fnet_codec codec, struct fnet_span block, size_t room, size_t *len)
{
    uint8_t *out = malloc(room ? room : 1);
    require(out != NULL);
    struct fnet_writer w = fnet_writer_of(out, room);
    enum fnet_err err = fnet_decompressor_decompress(decompressors[codec], block, &w);

    *len = (size_t)(w.pos - out);
    if (err == FNET_OK) {
        require(*len > 0 && *len <= room);
        return out;
    }
    require(fnet_err_class(err) == FNET_CLASS_PEER && *len == 0);
    free(out);
    return NULL;
}

/* ORIGINAL through a block of our own. */
static void pass(enum fnet_codec codec, struct fnet_span original)
{
    struct fnet_span block;
    size_t len;
    enum fnet_err err = fnet_compressor_compress(compressors[codec], original, &block);

    if (err == FNET_INCOMPRESSIBLE)
        return;
    require(err == FNET_OK && block.len < original.len);
    uint8_t *again = read_block(codec, block, original.len, &len);
    require(again && len == original.len && memcmp(again, original.ptr, len) == 0);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const enum fnet_codec codec = size > 0 ? data[0] % (FNET_CODEC_LZO + 1) : FNET_CODEC_NONE;
    struct fnet_span input = fnet_span_of(data + 1, size ? size - 1 : 0);
    size_t len, again_len;

    if (codec == FNET_CODEC_NONE || !fnet_codec_is_available(codec))
        return 0;
    open_codec(codec);

    uint8_t *original = read_block(codec, input, ROOM, &len);
    if (original) {
        uint8_t *again = read_block(codec, input, len, &again_len);
        require(again && again_len == len && memcmp(again, original, len) == 0);
        free(again);
        require(!read_block(codec, input, len - 1, &again_len));
        pass(codec, fnet_span_of(original, len));
        free(original);
    }
    if (input.len > 0 && input.len <= ROOM)
        pass(codec, input);
    return 0;
}
