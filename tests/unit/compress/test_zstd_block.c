/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress/zstd_block: Flink's ZSTD blocks, both ways.
 */
#include "blocks.h"

int main(void)
{
    return blocks_test(FNET_CODEC_ZSTD, "tests/golden/compress/bad-zstd.txt");
}
