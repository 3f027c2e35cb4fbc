/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress/lzo_block: Flink's LZO blocks, both ways.
 */
#include "blocks.h"

int main(void)
{
    return blocks_test(FNET_CODEC_LZO, "tests/golden/compress/bad-lzo.txt");
}
