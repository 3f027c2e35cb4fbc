/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: memory whose last byte is followed by a page that may not be touched, so that one byte
 * too many, read or written, ends the program; and a small repeatable random number generator.
 */
#ifndef TESTS_GUARDED_H
#define TESTS_GUARDED_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct guarded {
    uint8_t *map;
    size_t map_len;
    uint8_t *end; /**< the first byte that may not be touched */
};

/** At least LEN bytes below guarded.end; guarded_free() gives them back. */
__attribute__((unused)) static struct guarded guarded_new(size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t usable = (len + page - 1) / page * page;
    uint8_t *map =
        mmap(NULL, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED || mprotect(map + usable, page, PROT_NONE) != 0)
        abort();
    return (struct guarded){.map = map, .map_len = usable + page, .end = map + usable};
}

__attribute__((unused)) static void guarded_free(struct guarded *g)
{
    munmap(g->map, g->map_len);
}

/** xorshift64: the next number after *STATE, which is never 0. */
__attribute__((unused)) static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
