/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress/lz4_block: Flink's LZ4 blocks, both ways.
 */
#include "blocks.h"

int main(void)
{
    return blocks_test(FNET_CODEC_LZ4, "tests/golden/compress/bad-lz4.txt");
}
