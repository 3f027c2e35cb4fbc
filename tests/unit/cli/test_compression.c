/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/compression: --codec takes what is built in, and says why it does not take something else.
 */
#include "cli/compression.h"

#include "../tap.h"

static void check_name(const char *name, enum fnet_codec expected)
{
    enum fnet_codec codec = FNET_CODEC_NONE;
    const char *why = NULL;

    if (fnet_codec_is_available(expected)) {
        CHECK_INT(compression_parse(name, &codec, &why), FNET_OK);
        CHECK_INT(codec, expected);
        CHECK(why == NULL);
        return;
    }
    CHECK_INT(compression_parse(name, &codec, &why), FNET_UNSUPPORTED);
    CHECK_STR(why, "fnet was built without it");
    CHECK_INT(codec, FNET_CODEC_NONE);
}

int main(void)
{
    static const char *const wrong[] = {"none", "LZ4", "gzip", "lz4 ", ""};

    CASE("codecs have Flink's names");
    check_name("lz4", FNET_CODEC_LZ4);
    check_name("zstd", FNET_CODEC_ZSTD);
    check_name("lzo", FNET_CODEC_LZO);

    CASE("anything else is refused with a reason, and changes nothing");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        enum fnet_codec codec = FNET_CODEC_ZSTD;
        const char *why = NULL;
        CHECK_INT(compression_parse(wrong[i], &codec, &why), FNET_INVALID);
        CHECK_STR(why, "not lz4, zstd or lzo");
        CHECK_INT(codec, FNET_CODEC_ZSTD);
    }
    return tap_done();
}
