/* SPDX-License-Identifier: Apache-2.0 */
/*
 * produce: what would be done, in words.
 */
#ifndef PRODUCE_PRODUCE_PLAN_H
#define PRODUCE_PRODUCE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "produce/produce_config.h"

/** --dry-run: print addresses, partitions, routing. Returns an exit status. */
int plan_print(const struct produce_config *config);

/** Bytes in N inputs, where all are regular files; otherwise 0. */
uint64_t plan_expected_bytes(const int *inputs, size_t n);

#endif
