/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: malloc and friends in front of the C library's, failing once on demand. A sanitizer
 * brings its own allocator: there nothing fails, and the loops around it run once.
 */
#include "failmalloc.h"

#if defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_OTHER_ALLOCATOR
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* gcc */
#define HAS_OTHER_ALLOCATOR
#endif

#ifdef HAS_OTHER_ALLOCATOR

void failmalloc_arm(unsigned n)
{
    (void)n;
}

bool failmalloc_disarm(void)
{
    return false;
}

#else

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
