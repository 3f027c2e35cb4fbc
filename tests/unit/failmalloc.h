/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: let the n-th allocation of a piece of code fail. Linked into every unit test program.
 *
 *     unsigned n = 0;
 *     do {
 *             failmalloc_arm(++n);
 *             ... allocate, check that an error leaves nothing behind, free ...
 *     } while (failmalloc_disarm());
 */
#ifndef TESTS_FAILMALLOC_H
#define TESTS_FAILMALLOC_H

#include <stdbool.h>

/** From now on the N-th call (from 1) of malloc, calloc, realloc, mmap or similar returns NULL. */
void failmalloc_arm(unsigned n);
/** Stop failing; returns whether an allocation did fail since arm. */
bool failmalloc_disarm(void);

#endif
