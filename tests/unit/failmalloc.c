/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: malloc and friends in front of the C library's, failing once on demand.
 */
#include "failmalloc.h"

#include <errno.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static unsigned countdown;
static bool did_fail;

static bool fails_now(void)
{
    if (countdown == 0 || --countdown != 0)
        return false;
    did_fail = true;
    errno = ENOMEM;
    return true;
}

void failmalloc_arm(unsigned n)
{
    countdown = n;
    did_fail = false;
}

bool failmalloc_disarm(void)
{
    countdown = 0;
    return did_fail;
}

/* A sanitizer or valgrind brings its own allocator: there nothing fails and the loops run once. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *malloc(size_t size)
{
    return fails_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails_now() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __libc_realloc(old, size);
}
#endif
