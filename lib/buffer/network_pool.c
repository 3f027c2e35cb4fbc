/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of all segments of the process: one mapping and one array of headers.
 *
 * Source: Flink NetworkBufferPool.
 */
#include <stdlib.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "pool.h"

/* Memory of a pool is never freed, so the address sanitizer is told which of it is in use. */
static void mark_unused(void *memory, size_t len)
{
#ifdef __SANITIZE_ADDRESS__
    ASAN_POISON_MEMORY_REGION(memory, len);
#else
    (void)memory;
    (void)len;
#endif
}

static void mark_used(void *memory, size_t len)
{
#ifdef __SANITIZE_ADDRESS__
    ASAN_UNPOISON_MEMORY_REGION(memory, len);
#else
    (void)memory;
    (void)len;
#endif
}

enum fnet_err fnet_network_pool_new(uint32_t segment_bytes, uint32_t segments,
                                    struct fnet_network_pool **out)
{
    if (segment_bytes < FNET_SEGMENT_MIN_BYTES || segment_bytes > FNET_SEGMENT_MAX_BYTES)
        return FNET_RANGE;
    if (segments == 0 || segments > SIZE_MAX / segment_bytes)
        return FNET_RANGE;

    struct fnet_network_pool *pool = malloc(sizeof *pool);
    if (!pool)
        return FNET_NOMEM;
    *pool = (struct fnet_network_pool){.memory_bytes = (size_t)segment_bytes * segments,
                                       .segment_bytes = segment_bytes,
                                       .total = segments,
                                       .unreserved = segments};
    pool->memory = mmap(NULL, pool->memory_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool->memory == MAP_FAILED)
        goto no_memory;
    /* Thousands of segments are written in turn: with small pages each would miss the TLB. Where
       that cannot be had nothing is lost but time. */
    (void)madvise(pool->memory, pool->memory_bytes, MADV_HUGEPAGE);
    pool->headers = calloc(segments, sizeof *pool->headers);
    if (!pool->headers)
        goto no_headers;
    fnet_list_init(&pool->starved);
    mark_unused(pool->memory, pool->memory_bytes);
    *out = pool;
    return FNET_OK;

no_headers:
    munmap(pool->memory, pool->memory_bytes);
no_memory:
    free(pool);
    return FNET_NOMEM;
}

void fnet_network_pool_free(struct fnet_network_pool *pool)
{
    if (!pool)
        return;
    assert(pool->unreserved == pool->total);
    mark_used(pool->memory, pool->memory_bytes);
    munmap(pool->memory, pool->memory_bytes);
    free(pool->headers);
    free(pool);
}

struct fnet_segment *fnet__buffer_pop(struct fnet_network_pool *pool)
{
    struct fnet_segment *segment = pool->returned;

    assert(pool->used < pool->total);
    if (segment) {
        pool->returned = segment->next;
    } else {
        segment = &pool->headers[pool->fresh];
        segment->bytes = pool->memory + (size_t)pool->fresh * pool->segment_bytes;
        pool->fresh++;
    }
    if (++pool->used > pool->peak)
        pool->peak = pool->used;
    segment->capacity = pool->segment_bytes;
    segment->written = 0;
    segment->refs = 1;
    segment->is_sealed = false;
    mark_used(segment->bytes, segment->capacity);
    return segment;
}

void fnet__buffer_push(struct fnet_network_pool *pool, struct fnet_segment *segment)
{
    mark_unused(segment->bytes, pool->segment_bytes);
    segment->next = pool->returned;
    pool->returned = segment;
    pool->used--;
}

uint32_t fnet_network_pool_segment_bytes(const struct fnet_network_pool *pool)
{
    return pool->segment_bytes;
}

uint32_t fnet_network_pool_segments(const struct fnet_network_pool *pool)
{
    return pool->total;
}

uint32_t fnet_network_pool_unreserved(const struct fnet_network_pool *pool)
{
    return pool->unreserved;
}

uint32_t fnet_network_pool_used(const struct fnet_network_pool *pool)
{
    return pool->used;
}

uint32_t fnet_network_pool_peak(const struct fnet_network_pool *pool)
{
    return pool->peak;
}
