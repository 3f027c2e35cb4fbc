/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8 as Java reads it.
 *
 * Source: how new String(bytes, UTF_8) of JDK 17 replaces what is malformed; RFC 3629.
 */
#include "fnet/utf8.h"

#include <stdbool.h>

/* How many bytes follow the first byte of a character. */
static unsigned followers_of(uint8_t lead)
{
    if (lead >= 0xc2 && lead <= 0xdf)
        return 1;
    if (lead >= 0xe0 && lead <= 0xef)
        return 2;
    return lead >= 0xf0 && lead <= 0xf4 ? 3 : 0;
}

/* May BYTE be the second of a character: no overlong form, nothing above U+10FFFF? Surrogates
   pass here; the JDK replaces them as one part. */
static bool is_second(uint8_t lead, uint8_t byte)
{
    const uint8_t lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const uint8_t highest = lead == 0xf4 ? 0x8f : 0xbf;

    return byte >= lowest && byte <= highest;
}

size_t fnet_utf8_next(const uint8_t *pos, const uint8_t *end, uint32_t *code)
{
    const uint8_t lead = pos[0];
    const unsigned followers = followers_of(lead);
    uint32_t value = lead & (0x3fu >> followers);
    unsigned n = 1;

    *code = lead;
    if (lead < 0x80)
        return 1;
    for (; n <= followers && pos + n < end; n++) {
        if (n == 1 ? !is_second(lead, pos[1]) : (pos[n] & 0xc0) != 0x80)
            break;
        value = value << 6 | (pos[n] & 0x3fu);
    }
    if (followers == 0 || n <= followers || (value >= 0xd800 && value <= 0xdfff))
        value = FNET_UTF8_REPLACEMENT;
    *code = value;
    return n;
}
