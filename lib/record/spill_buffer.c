/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contiguous bytes that grow at the end, on the heap or in an unlinked temporary file.
 *
 * Source: Flink SpanningWrapper (a spanning record above 5 MiB goes to a file);
 * posix_fallocate(3), mremap(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fnet/record.h"

/* Thousands of channels have one each: little to begin with, and little is kept by reset. A record
   that lies across buffers costs a malloc, one of several hundred. */
#define FIRST_CAPACITY 64u
#define KEPT_CAPACITY 64u
/* Nothing is near it; below it the sums here cannot overflow. */
#define MAX_CAPACITY (SIZE_MAX / 4)

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static enum fnet_err system_error(struct fnet_spill_buffer *b, int number)
{
    b->saved_errno = number;
    return FNET_SYSTEM;
}

static enum fnet_err grow_heap(struct fnet_spill_buffer *b, size_t needed)
{
    size_t capacity = larger(larger(needed, 2 * b->capacity), FIRST_CAPACITY);
    if (capacity > FNET_SPILL_THRESHOLD_BYTES)
        capacity = FNET_SPILL_THRESHOLD_BYTES;

    uint8_t *ptr = realloc(b->ptr, capacity);
    if (!ptr)
        return FNET_NOMEM;
    b->ptr = ptr;
    b->capacity = capacity;
    return FNET_OK;
}

/* Open a new file without a name; its space goes back when the descriptor is closed. */
static enum fnet_err open_unlinked(struct fnet_spill_buffer *b, int *fd)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/fnet-XXXXXX", b->dir ? b->dir : "/tmp");
    if (len < 0 || (size_t)len >= sizeof path)
        return system_error(b, ENAMETOOLONG);

    int opened = mkostemp(path, O_CLOEXEC);
    if (opened < 0)
        return system_error(b, errno);
    unlink(path);
    *fd = opened;
    return FNET_OK;
}

/* Reserve disk space up to CAPACITY: a write to a mapping cannot report a full disk. */
static int allocate(int fd, size_t from, size_t capacity)
{
    int number;

    do
        number = posix_fallocate(fd, (off_t)from, (off_t)(capacity - from));
    while (number == EINTR);
    return number;
}

static enum fnet_err move_to_file(struct fnet_spill_buffer *b, size_t capacity)
{
    int fd;
    enum fnet_err err = open_unlinked(b, &fd);
    if (err != FNET_OK)
        return err;

    int number = allocate(fd, 0, capacity);
    void *ptr = MAP_FAILED;
    if (number == 0) {
        ptr = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        number = errno;
    }
    if (ptr == MAP_FAILED) {
        close(fd);
        return system_error(b, number);
    }
    if (b->len)
        memcpy(ptr, b->ptr, b->len);
    free(b->ptr);
    b->ptr = ptr;
    b->capacity = capacity;
    b->fd = fd;
    b->is_spilled = true;
    return FNET_OK;
}

static enum fnet_err grow_file(struct fnet_spill_buffer *b, size_t capacity)
{
    int number = allocate(b->fd, b->capacity, capacity);
    if (number != 0)
        return system_error(b, number);

    void *ptr = mremap(b->ptr, b->capacity, capacity, MREMAP_MAYMOVE);
    if (ptr == MAP_FAILED)
        return system_error(b, errno);
    b->ptr = ptr;
    b->capacity = capacity;
    return FNET_OK;
}

enum fnet_err fnet_spill_buffer_reserve(struct fnet_spill_buffer *b, size_t more)
{
    if (more <= b->capacity - b->len)
        return FNET_OK;
    if (more > MAX_CAPACITY - b->len)
        return FNET_NOMEM;

    size_t needed = b->len + more;
    if (needed <= FNET_SPILL_THRESHOLD_BYTES)
        return grow_heap(b, needed);

    /* By a half, not by doubling: the disk is asked for all of it at once. */
    size_t capacity = larger(needed, b->capacity + b->capacity / 2);
    return b->is_spilled ? grow_file(b, capacity) : move_to_file(b, capacity);
}

void fnet_spill_buffer_reset(struct fnet_spill_buffer *b)
{
    b->len = 0;
    if (b->capacity > KEPT_CAPACITY)
        fnet_spill_buffer_clear(b);
}

void fnet_spill_buffer_clear(struct fnet_spill_buffer *b)
{
    if (b->is_spilled) {
        munmap(b->ptr, b->capacity);
        close(b->fd);
    } else {
        free(b->ptr);
    }
    *b = (struct fnet_spill_buffer){.dir = b->dir};
}
