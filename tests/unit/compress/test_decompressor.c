/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress/decompressor: what the header may say.
 */
#include "blocks.h"

#include "../failmalloc.h"

static struct blocks b;

/* Set the little-endian number at AT. */
static void put_le32(uint8_t *at, uint32_t v)
{
    for (int i = 0; i < 4; i++, v >>= 8)
        at[i] = (uint8_t)v;
}

static enum fnet_err read_with(const uint8_t *coded, size_t len, uint32_t compressed,
                               uint32_t original, size_t room)
{
    uint8_t block[1000];
    struct fnet_span out;

    memcpy(block, coded, len);
    put_le32(block, compressed);
    put_le32(block + 4, original);
    return blocks_read(&b, fnet_span_of(block, len), room, &out);
}

static void test_lengths(void)
{
    static const uint32_t negative[] = {0x80000000u, 0x80000001u, 0xFFFFFFF8u, 0xFFFFFFFFu};
    uint8_t block[1000];
    const size_t len = blocks_of_text(&b, 500, block).len;
    const uint32_t compressed = (uint32_t)(len - FNET_BLOCK_HEADER_BYTES);

    CASE("the compressed length is that of the buffer");
    CHECK_INT(read_with(block, len, compressed, 500, 500), FNET_OK);
    CHECK_INT(read_with(block, len, compressed - 1, 500, 500), FNET_BAD_LENGTH);
    CHECK_INT(read_with(block, len, compressed + 1, 500, 500), FNET_BAD_LENGTH);
    CHECK_INT(read_with(block, len, (uint32_t)len, 500, 500), FNET_BAD_LENGTH);
    CHECK_INT(read_with(block, len, 0, 500, 500), FNET_BAD_LENGTH);

    CASE("the original fits");
    CHECK_INT(read_with(block, len, compressed, 500, 499), FNET_BAD_LENGTH);
    CHECK_INT(read_with(block, len, compressed, 500, 0), FNET_BAD_LENGTH);
    CHECK_INT(read_with(block, len, compressed, 500, BLOCKS_ROOM), FNET_OK);
    CHECK_INT(read_with(block, len, compressed, BLOCKS_ROOM + 1, BLOCKS_ROOM), FNET_BAD_LENGTH);

    CASE("the original is as long as its header says");
    CHECK_INT(read_with(block, len, compressed, 499, 1000), FNET_BAD_VALUE);
    CHECK_INT(read_with(block, len, compressed, 501, 1000), FNET_BAD_VALUE);
    CHECK_INT(read_with(block, len, compressed, 1, 1000), FNET_BAD_VALUE);

    CASE("nothing is no original, and no block");
    CHECK_INT(read_with(block, len, compressed, 0, 1000), FNET_BAD_LENGTH);
    CHECK_INT(read_with(block, FNET_BLOCK_HEADER_BYTES, 0, 500, 1000), FNET_BAD_LENGTH);
    CHECK_INT(read_with(block, FNET_BLOCK_HEADER_BYTES, 0, 0, 1000), FNET_BAD_LENGTH);

    CASE("a negative length is none");
    for (size_t i = 0; i < sizeof negative / sizeof *negative; i++) {
        CHECK_INT(read_with(block, len, negative[i], 500, 1000), FNET_BAD_LENGTH);
        CHECK_INT(read_with(block, len, compressed, negative[i], 1000), FNET_BAD_LENGTH);
        CHECK_INT(read_with(block, FNET_BLOCK_HEADER_BYTES, negative[i], 500, 1000),
                  FNET_BAD_LENGTH);
    }
}

static void test_appending(void)
{
    uint8_t block[1000], out[1000];
    struct fnet_span span = blocks_of_text(&b, 400, block);
    struct fnet_writer w = fnet_writer_of(out, sizeof out);

    CASE("originals stand one behind the other, as long as there is room");
    CHECK_INT(fnet_decompressor_decompress(b.decompressor, span, &w), FNET_OK);
    CHECK_INT(w.pos - out, 400);
    CHECK_INT(fnet_decompressor_decompress(b.decompressor, span, &w), FNET_OK);
    CHECK_INT(w.pos - out, 800);
    CHECK_MEM(out, out + 400, 400);
    CHECK_INT(fnet_decompressor_decompress(b.decompressor, span, &w), FNET_BAD_LENGTH);
    CHECK_INT(w.pos - out, 800);
}

/* All of a sparse mapping that nothing but its first page is read of. */
static void test_too_long(void)
{
    const size_t len = FNET_BLOCK_HEADER_BYTES + (size_t)FNET_BLOCK_MAX_BYTES + 1;
    uint8_t *block = calloc(1, len);
    struct fnet_writer w = fnet_writer_of(b.out, 1000);

    CASE("a block that is longer than any segment is refused");
    if (!block)
        abort();
    put_le32(block, FNET_BLOCK_MAX_BYTES + 1);
    put_le32(block + 4, 500);
    CHECK_INT(fnet_decompressor_decompress(b.decompressor, fnet_span_of(block, len), &w),
              FNET_BAD_LENGTH);
    free(block);
}

static void test_out_of_memory(enum fnet_codec codec)
{
    unsigned n = 0;
    enum fnet_err err;

    CASE("without memory there is no decompressor");
    do {
        struct fnet_decompressor *d = NULL;
        failmalloc_arm(++n);
        err = fnet_decompressor_new(codec, &d);
        CHECK(err == FNET_OK ? d != NULL : err == FNET_NOMEM && !d);
        fnet_decompressor_free(d);
    } while (failmalloc_disarm());
    CHECK_INT(err, FNET_OK);
    fnet_decompressor_free(NULL);

    CASE("no block takes any");
    uint8_t block[1000];
    struct fnet_span span = blocks_of_text(&b, 500, block);
    struct fnet_writer w = fnet_writer_of(b.out, 500);
    failmalloc_arm(1);
    CHECK_INT(fnet_decompressor_decompress(b.decompressor, span, &w), FNET_OK);
    CHECK(!failmalloc_disarm());
}

int main(void)
{
    for (enum fnet_codec codec = FNET_CODEC_LZ4; fnet_codec_name(codec); codec++)
        if (fnet_codec_is_available(codec)) {
            blocks_open(&b, codec);
            test_lengths();
            test_appending();
            test_too_long();
            test_out_of_memory(codec);
            blocks_close(&b);
        }
    return tap_done();
}
