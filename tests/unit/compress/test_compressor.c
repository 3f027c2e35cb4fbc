/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress/compressor: its bounds, and when there is no block.
 */
#include "blocks.h"
#include "fnet/buffer.h"

#include "../failmalloc.h"

static void test_bounds(enum fnet_codec codec)
{
    struct fnet_compressor *c = NULL;
    struct fnet_span block = {.ptr = NULL};
    uint8_t original[101] = {0};

    CASE("the longest original is named at first");
    CHECK_INT(fnet_compressor_new(codec, 0, &c), FNET_RANGE);
    CHECK_INT(fnet_compressor_new(codec, (size_t)FNET_BLOCK_MAX_BYTES + 1, &c), FNET_RANGE);
    CHECK_INT(fnet_compressor_new(codec, SIZE_MAX, &c), FNET_RANGE);
    CHECK(!c);
    CHECK_INT(fnet_compressor_new(codec, FNET_BLOCK_MAX_BYTES, &c), FNET_OK);
    fnet_compressor_free(c);
    CHECK_INT(fnet_compressor_new(codec, 100, &c), FNET_OK);

    CASE("no longer one is taken, nor an empty one");
    CHECK_INT(fnet_compressor_compress(c, fnet_span_of(original, 101), &block), FNET_RANGE);
    CHECK_INT(fnet_compressor_compress(c, fnet_span_of(original, 0), &block), FNET_RANGE);
    CHECK(!block.ptr);
    CHECK_INT(fnet_compressor_compress(c, fnet_span_of(original, 100), &block), FNET_OK);

    CASE("the header has both lengths, little-endian");
    const uint8_t lengths[] = {
        (uint8_t)(block.len - FNET_BLOCK_HEADER_BYTES), 0, 0, 0, 100, 0, 0, 0};
    CHECK_MEM(block.ptr, lengths, sizeof lengths);
    fnet_compressor_free(c);
}

/* The least that blocks of random bytes with a run behind them save, over many of both. */
static void test_incompressible(enum fnet_codec codec)
{
    struct fnet_compressor *c;
    struct fnet_span block;
    uint8_t original[200];
    size_t least = sizeof original, none = 0;

    CASE("a block is given if it is a little shorter, and not if it is as long");
    CHECK_INT(fnet_compressor_new(codec, sizeof original, &c), FNET_OK);
    for (size_t random = 0; random < 100; random++)
        for (size_t run = 1; run < 100; run++) {
            const size_t len = random + run;
            blocks_fill_random(original, random);
            memset(original + random, 'x', run);
            block = fnet_span_of(NULL, 0);
            enum fnet_err err = fnet_compressor_compress(c, fnet_span_of(original, len), &block);
            CHECK(err == FNET_OK ? block.len < len : err == FNET_INCOMPRESSIBLE && !block.ptr);
            if (err == FNET_OK && len - block.len < least)
                least = len - block.len;
            none += err == FNET_INCOMPRESSIBLE;
        }
    CHECK(least <= 2); /* zstd itself sees to 2 */
    CHECK(none > 0);
    fnet_compressor_free(c);
    fnet_compressor_free(NULL);
}

static void test_out_of_memory(enum fnet_codec codec)
{
    uint8_t original[1000] = {0};
    unsigned n = 0;

    CASE("without memory there is no compressor, or it says so");
    do {
        struct fnet_compressor *c = NULL;
        struct fnet_span block = {.ptr = NULL};
        failmalloc_arm(++n);
        enum fnet_err err = fnet_compressor_new(codec, sizeof original, &c);
        if (err == FNET_OK)
            err = fnet_compressor_compress(c, fnet_span_of(original, sizeof original), &block);
        else
            CHECK(!c);
        CHECK(err == FNET_OK ? block.ptr != NULL : err == FNET_NOMEM && !block.ptr);
        fnet_compressor_free(c);
    } while (failmalloc_disarm());

    CASE("the second block of a length is made without any");
    struct fnet_compressor *c;
    struct fnet_span block;
    CHECK_INT(fnet_compressor_new(codec, sizeof original, &c), FNET_OK);
    CHECK_INT(fnet_compressor_compress(c, fnet_span_of(original, sizeof original), &block),
              FNET_OK);
    failmalloc_arm(1);
    CHECK_INT(fnet_compressor_compress(c, fnet_span_of(original, sizeof original), &block),
              FNET_OK);
    CHECK(!failmalloc_disarm());
    fnet_compressor_free(c);
}

int main(void)
{
    CASE("any segment's bytes may be an original");
    CHECK_INT(FNET_BLOCK_MAX_BYTES, FNET_SEGMENT_MAX_BYTES);

    for (enum fnet_codec codec = FNET_CODEC_LZ4; fnet_codec_name(codec); codec++)
        if (fnet_codec_is_available(codec)) {
            test_bounds(codec);
            test_incompressible(codec);
            test_out_of_memory(codec);
        }
    return tap_done();
}
