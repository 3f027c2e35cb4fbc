/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base: UTF-8 as Java reads it.
 *
 * Source: how new String(bytes, UTF_8) of JDK 17 replaces what is malformed; RFC 3629.
 */
#ifndef FNET_UTF8_H
#define FNET_UTF8_H

#include <stddef.h>
#include <stdint.h>

/** What stands for something malformed. */
#define FNET_UTF8_REPLACEMENT 0xfffdu

/**
 * The character that begins the bytes from POS < END, or FNET_UTF8_REPLACEMENT for one malformed
 * part, as the JDK decides what a part is.
 *
 * Returns how many bytes it takes, 1 to 4.
 */
size_t fnet_utf8_next(const uint8_t *pos, const uint8_t *end, uint32_t *code);

#endif
