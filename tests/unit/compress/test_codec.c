/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress/codec: names of codecs, and what happens with those that fnet is built without.
 */
#include "fnet/compress.h"

#include "../tap.h"

static void test_names(void)
{
    static const char *const names[] = {"none", "lz4", "zstd", "lzo"};

    CASE("each codec has a name, which is read back");
    for (size_t i = 0; i < 4; i++) {
        enum fnet_codec codec = FNET_CODEC_NONE;
        CHECK_STR(fnet_codec_name((enum fnet_codec)i), names[i]);
        CHECK_INT(fnet_codec_parse(names[i], &codec), FNET_OK);
        CHECK_INT(codec, i);
    }

    CASE("others have none");
    enum fnet_codec codec = FNET_CODEC_LZO;
    CHECK(!fnet_codec_name((enum fnet_codec)4));
    CHECK_INT(fnet_codec_parse("", &codec), FNET_INVALID);
    CHECK_INT(fnet_codec_parse("lz", &codec), FNET_INVALID);
    CHECK_INT(fnet_codec_parse("lz4 ", &codec), FNET_INVALID);
    CHECK_INT(fnet_codec_parse("gzip", &codec), FNET_INVALID);
    CHECK_INT(codec, FNET_CODEC_LZO);
}

static void test_availability(void)
{
    struct fnet_compressor *c = NULL;
    struct fnet_decompressor *d = NULL;

    CASE("a codec that is not available cannot be had");
    for (enum fnet_codec codec = FNET_CODEC_LZ4; fnet_codec_name(codec); codec++) {
        enum fnet_err expected = fnet_codec_is_available(codec) ? FNET_OK : FNET_UNSUPPORTED;
        CHECK_INT(fnet_compressor_new(codec, 100, &c), expected);
        CHECK_INT(fnet_decompressor_new(codec, &d), expected);
        CHECK((c != NULL) == (expected == FNET_OK) && (d != NULL) == (expected == FNET_OK));
        fnet_compressor_free(c);
        fnet_decompressor_free(d);
        c = NULL;
        d = NULL;
    }

    CASE("no codec is always available, and there is nothing to make of it");
    CHECK(fnet_codec_is_available(FNET_CODEC_NONE));
    CHECK(!fnet_codec_is_available((enum fnet_codec)4));
    CHECK_INT(fnet_compressor_new(FNET_CODEC_NONE, 100, &c), FNET_INVALID);
    CHECK_INT(fnet_decompressor_new(FNET_CODEC_NONE, &d), FNET_INVALID);
    CHECK_INT(fnet_compressor_new((enum fnet_codec)4, 100, &c), FNET_INVALID);
    CHECK_INT(fnet_decompressor_new((enum fnet_codec)4, &d), FNET_INVALID);
    CHECK(!c && !d);
}

static void test_zstd_mark(void)
{
    static const uint8_t block[] = {5, 0, 0, 0, 9, 0, 0, 0, 0x28, 0xb5, 0x2f, 0xfd, 0};
    uint8_t other[sizeof block];

    CASE("a zstd frame is told by its magic number, which stands behind the header of the block");
    for (size_t len = 0; len <= sizeof block; len++)
        CHECK_INT(fnet_block_is_zstd(fnet_span_of(block, len)), len >= 12);
    for (size_t i = 8; i < 12; i++) {
        memcpy(other, block, sizeof block);
        other[i] ^= 1;
        CHECK(!fnet_block_is_zstd(fnet_span_of(other, sizeof other)));
    }
}

int main(void)
{
    test_names();
    test_availability();
    test_zstd_mark();
    return tap_done();
}
