/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: --codec and --compress, what compressed buffers are compressed with.
 */
#ifndef CLI_COMPRESSION_H
#define CLI_COMPRESSION_H

#include "fnet/compress.h"

/** A codec that fnet was built with, in the manner of an option's setter. */
FNET_CHECKED enum fnet_err compression_parse(const char *text, enum fnet_codec *codec,
                                             const char **why);

#endif
