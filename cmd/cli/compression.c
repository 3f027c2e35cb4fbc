/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codecs from the command line.
 */
#include "cli/compression.h"

enum fnet_err compression_parse(const char *text, enum fnet_codec *codec, const char **why)
{
    enum fnet_codec parsed;

    if (fnet_codec_parse(text, &parsed) != FNET_OK || parsed == FNET_CODEC_NONE) {
        *why = "not lz4, zstd or lzo";
        return FNET_INVALID;
    }
    if (!fnet_codec_is_available(parsed)) {
        *why = "fnet was built without it";
        return FNET_UNSUPPORTED;
    }
    *codec = parsed;
    return FNET_OK;
}
