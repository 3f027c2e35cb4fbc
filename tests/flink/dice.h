/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flink: numbers, ids, bytes and texts by chance, the same for the same seed; and the memory they
 * lie in.
 */
#ifndef FLINK_DICE_H
#define FLINK_DICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/id.h"

void roll_seed(uint64_t seed);
/** 0 to N - 1. */
uint32_t roll_below(uint32_t n);
bool roll_flag(void);
/** One time in four an end, 0, 1 or -1, else of any magnitude, counted from either end. */
int64_t roll_between(int64_t least, int64_t most);
/** Any int32, and one from LEAST on. */
int32_t roll_int(void);
int32_t roll_int_from(int32_t least);
struct fnet_id roll_id(void);
struct fnet_partition_id roll_partition(void);

/* Borrowed until scratch_reset(). */
struct fnet_span roll_bytes(size_t n);
/** N bytes that a codec makes shorter. */
struct fnet_span roll_words(size_t n);
/** N characters in UTF-8, of every width; no lone surrogates, which UTF-8 does not have. */
struct fnet_span roll_text(size_t n);
/** N UTF-16 units of any kind in modified UTF-8, as Java's writeUTF() has them. */
struct fnet_span roll_units(size_t n);

/** N bytes, until scratch_reset(). The program ends when there is no room. */
uint8_t *scratch(size_t n);
void scratch_reset(void);

/** Append CODE to W in UTF-8; a UTF-16 unit but 0, surrogates too, is so in modified UTF-8. */
void put_utf8(struct fnet_writer *w, uint32_t code);

#endif
