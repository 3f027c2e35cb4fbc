/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codecs: their names, and which of them this build has.
 *
 * Source: Flink NettyShuffleEnvironmentOptions.CompressionCodec.
 */
#include "fnet/compress.h"

#include <string.h>

#include "codec_backend.h"

static const struct {
    const char *name;
    const struct fnet__compress_backend *backend; /* NULL: not built with it */
} codecs[] = {
    [FNET_CODEC_NONE] = {.name = "none"},
    [FNET_CODEC_LZ4] =
        {
            .name = "lz4",
#ifdef HAVE_LZ4
            .backend = &fnet__compress_lz4,
#endif
        },
    [FNET_CODEC_ZSTD] =
        {
            .name = "zstd",
#ifdef HAVE_ZSTD
            .backend = &fnet__compress_zstd,
#endif
        },
    [FNET_CODEC_LZO] =
        {
            .name = "lzo",
#ifdef HAVE_LZO
            .backend = &fnet__compress_lzo,
#endif
        },
};
#define CODECS (sizeof codecs / sizeof codecs[0])

const char *fnet_codec_name(enum fnet_codec codec)
{
    return (size_t)codec < CODECS ? codecs[codec].name : NULL;
}

enum fnet_err fnet_codec_parse(const char *name, enum fnet_codec *codec)
{
    for (size_t i = 0; i < CODECS; i++)
        if (strcmp(name, codecs[i].name) == 0) {
            *codec = (enum fnet_codec)i;
            return FNET_OK;
        }
    return FNET_INVALID;
}

bool fnet_codec_is_available(enum fnet_codec codec)
{
    return codec == FNET_CODEC_NONE || ((size_t)codec < CODECS && codecs[codec].backend);
}

enum fnet_err fnet__compress_find(enum fnet_codec codec,
                                  const struct fnet__compress_backend **backend)
{
    if (codec == FNET_CODEC_NONE || (size_t)codec >= CODECS)
        return FNET_INVALID;
    if (!codecs[codec].backend)
        return FNET_UNSUPPORTED;
    *backend = codecs[codec].backend;
    return FNET_OK;
}

bool fnet_block_is_zstd(struct fnet_span block)
{
    static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};

    return block.len >= FNET_BLOCK_HEADER_BYTES + sizeof magic &&
           memcmp(block.ptr + FNET_BLOCK_HEADER_BYTES, magic, sizeof magic) == 0;
}
