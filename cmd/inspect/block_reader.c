/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which codec a block is of, and its original.
 *
 * A zstd frame begins with its magic number, which no LZ4 block can. A block of LZO ends in its end
 * mark, in which an LZ4 block may end by chance; but hardly ever can such a one be read as LZO to
 * exactly its end and to exactly its length.
 *
 * Source: RFC 8878; LZO.FAQ and lzo1x.h; the LZ4 block format, "end of block conditions".
 */
#include "inspect/block_reader.h"

#include <stdlib.h>

void block_reader_init(struct block_reader *r, enum fnet_codec given)
{
    *r = (struct block_reader){.given = given};
}

void block_reader_clear(struct block_reader *r)
{
    for (size_t i = 0; i < sizeof r->decompressors / sizeof *r->decompressors; i++)
        fnet_decompressor_free(r->decompressors[i]);
    free(r->original);
    block_reader_init(r, r->given);
}

static uint32_t load_le32(const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return le32toh(v);
}

/* Room for LEN bytes; what was there before is of no use any more. */
static enum fnet_err make_room(struct block_reader *r, size_t len)
{
    if (len <= r->capacity)
        return FNET_OK;
    free(r->original);
    r->original = malloc(len);
    r->capacity = r->original ? len : 0;
    return r->original ? FNET_OK : FNET_NOMEM;
}

static enum fnet_err read_as(struct block_reader *r, enum fnet_codec codec, struct fnet_span block,
                             struct fnet_span *original)
{
    struct fnet_decompressor **decompressor = &r->decompressors[codec];
    enum fnet_err err = FNET_OK;

    if (block.len < FNET_BLOCK_HEADER_BYTES)
        return FNET_TRUNCATED;
    const uint32_t len = load_le32(block.ptr + 4);
    if (len > FNET_BLOCK_MAX_BYTES)
        return FNET_BAD_LENGTH;
    if (!*decompressor)
        err = fnet_decompressor_new(codec, decompressor);
    if (err == FNET_OK)
        err = make_room(r, len);
    if (err != FNET_OK)
        return err;
    struct fnet_writer w = fnet_writer_of(r->original, len);
    err = fnet_decompressor_decompress(*decompressor, block, &w);
    if (err == FNET_OK)
        *original = fnet_span_of(r->original, len);
    return err;
}

static bool may_be(enum fnet_codec codec, struct fnet_span block)
{
    static const uint8_t lzo_end[] = {0x11, 0x00, 0x00};

    if (codec == FNET_CODEC_ZSTD)
        return fnet_block_is_zstd(block);
    if (codec == FNET_CODEC_LZO)
        return block.len >= FNET_BLOCK_HEADER_BYTES + sizeof lzo_end &&
               memcmp(block.ptr + block.len - sizeof lzo_end, lzo_end, sizeof lzo_end) == 0;
    return true;
}

enum fnet_err block_reader_read(struct block_reader *r, struct fnet_span block,
                                enum fnet_codec *codec, struct fnet_span *original)
{
    /* What has a mark first; LZ4 has none. */
    static const enum fnet_codec order[] = {FNET_CODEC_ZSTD, FNET_CODEC_LZO, FNET_CODEC_LZ4};
    enum fnet_err first = FNET_OK;

    *codec = r->given;
    if (r->given != FNET_CODEC_NONE)
        return read_as(r, r->given, block, original);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (!may_be(order[i], block))
            continue;
        enum fnet_err err = read_as(r, order[i], block, original);
        if (err == FNET_OK || first == FNET_OK)
            *codec = order[i];
        if (err == FNET_OK || err == FNET_NOMEM)
            return err;
        first = first == FNET_OK ? err : first;
    }
    return first;
}
