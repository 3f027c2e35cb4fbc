/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The growable buffer on the heap, in its file, and when there is no room for either.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fnet/record.h"

#include "../failmalloc.h"
#include "../tap.h"

/* Append LEN bytes that are a function of their offset. */
static enum fnet_err append(struct fnet_spill_buffer *b, size_t len)
{
    enum fnet_err err = fnet_spill_buffer_reserve(b, len);
    if (err != FNET_OK)
        return err;
    for (size_t i = 0; i < len; i++)
        b->ptr[b->len + i] = (uint8_t)((b->len + i) * 31 >> 3);
    b->len += len;
    return FNET_OK;
}

static bool holds_pattern(const struct fnet_spill_buffer *b)
{
    for (size_t i = 0; i < b->len; i++)
        if (b->ptr[i] != (uint8_t)(i * 31 >> 3))
            return false;
    return true;
}

static unsigned entries_of(const char *dir)
{
    unsigned n = 0;
    DIR *d = opendir(dir);

    while (d && readdir(d))
        n++;
    closedir(d);
    return n;
}

static void test_growth(const char *dir)
{
    struct fnet_spill_buffer b = {.dir = dir};

    CASE("an empty buffer reserves nothing for nothing");
    CHECK_INT(fnet_spill_buffer_reserve(&b, 0), FNET_OK);
    CHECK(b.ptr == NULL);

    CASE("contents survive every move, on the heap, to the file, in the file");
    unsigned moves = 0;
    for (size_t capacity = 0; b.len < 4 * (size_t)FNET_SPILL_THRESHOLD_BYTES;) {
        CHECK_INT(append(&b, 10007), FNET_OK);
        CHECK_INT(b.is_spilled, b.len > FNET_SPILL_THRESHOLD_BYTES);
        moves += b.capacity != capacity;
        capacity = b.capacity;
    }
    CHECK(holds_pattern(&b));

    CASE("growth is geometric: twenty megabytes take a few moves");
    CHECK(moves < 20);

    CASE("the file has no name and its space is reserved");
    struct stat st;
    CHECK_INT(fstat(b.fd, &st), 0);
    CHECK_INT(st.st_nlink, 0);
    CHECK(st.st_blocks * 512 >= (blkcnt_t)b.len);
    CHECK_INT(entries_of(dir), 2);

    CASE("reset gives the file back");
    int fd = b.fd;
    fnet_spill_buffer_reset(&b);
    CHECK_INT(b.len, 0);
    CHECK(!b.is_spilled);
    CHECK_INT(fcntl(fd, F_GETFD), -1);

    CASE("reset keeps a very small heap block and frees any other: thousands of channels have one");
    CHECK_INT(append(&b, 10), FNET_OK);
    const uint8_t *small = b.ptr;
    fnet_spill_buffer_reset(&b);
    CHECK(b.ptr == small && b.len == 0);
    CHECK_INT(append(&b, 1000), FNET_OK);
    fnet_spill_buffer_reset(&b);
    CHECK(b.ptr == NULL);
    CHECK_INT(append(&b, 1 << 20), FNET_OK);
    CHECK(holds_pattern(&b));
    fnet_spill_buffer_reset(&b);
    CHECK(b.ptr == NULL);

    CASE("clear keeps nothing but the directory");
    CHECK_INT(append(&b, FNET_SPILL_THRESHOLD_BYTES + 1), FNET_OK);
    fnet_spill_buffer_clear(&b);
    CHECK(b.ptr == NULL && b.capacity == 0 && !b.is_spilled && b.dir == dir);
}

static void test_threshold(void)
{
    struct fnet_spill_buffer b = {.dir = NULL};

    CASE("a buffer of exactly the threshold stays on the heap, one byte more is a file in /tmp");
    CHECK_INT(append(&b, FNET_SPILL_THRESHOLD_BYTES), FNET_OK);
    CHECK(!b.is_spilled);
    CHECK_INT(append(&b, 1), FNET_OK);
    CHECK(b.is_spilled);
    CHECK(holds_pattern(&b));
    fnet_spill_buffer_clear(&b);

    CASE("a size that no memory has is out of memory");
    CHECK_INT(append(&b, 1), FNET_OK);
    CHECK_INT(fnet_spill_buffer_reserve(&b, SIZE_MAX - 1), FNET_NOMEM);
    CHECK_INT(b.len, 1);
    fnet_spill_buffer_clear(&b);
}

static void test_bad_directories(void)
{
    struct fnet_spill_buffer b = {.dir = "/nonexistent/directory"};

    CASE("a directory that is not there is a system error and the contents stay");
    CHECK_INT(append(&b, 100), FNET_OK);
    CHECK_INT(fnet_spill_buffer_reserve(&b, FNET_SPILL_THRESHOLD_BYTES), FNET_SYSTEM);
    CHECK_INT(b.saved_errno, ENOENT);
    CHECK_INT(b.len, 100);
    CHECK(holds_pattern(&b));
    fnet_spill_buffer_clear(&b);

    CASE("a path that is too long is a system error");
    char path[8192];
    memset(path, '/', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    b.dir = path;
    CHECK_INT(fnet_spill_buffer_reserve(&b, FNET_SPILL_THRESHOLD_BYTES + 1), FNET_SYSTEM);
    CHECK_INT(b.saved_errno, ENAMETOOLONG);
}

/* RLIMIT_FSIZE stands for a full disk: both are found by posix_fallocate. */
static void test_full_disk(const char *dir)
{
    struct fnet_spill_buffer b = {.dir = dir};
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    rlim_t before = limit.rlim_cur;

    CASE("no room for the first bytes of the file: an error, the heap keeps the contents");
    CHECK_INT(append(&b, 1000), FNET_OK);
    limit.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_INT(fnet_spill_buffer_reserve(&b, FNET_SPILL_THRESHOLD_BYTES), FNET_SYSTEM);
    CHECK_INT(b.saved_errno, EFBIG);
    CHECK(!b.is_spilled && b.len == 1000);
    CHECK(holds_pattern(&b));

    CASE("no room for a larger file: an error, the file keeps the contents");
    limit.rlim_cur = 8 << 20;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_INT(append(&b, FNET_SPILL_THRESHOLD_BYTES), FNET_OK);
    CHECK(b.is_spilled);
    size_t len = b.len;
    CHECK_INT(fnet_spill_buffer_reserve(&b, 8 << 20), FNET_SYSTEM);
    CHECK_INT(b.saved_errno, EFBIG);
    CHECK_INT(b.len, len);
    CHECK(holds_pattern(&b));

    CASE("nothing is left behind");
    CHECK_INT(entries_of(dir), 2);
    fnet_spill_buffer_clear(&b);
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void test_no_memory(void)
{
    CASE("an allocation that fails leaves the contents");
    unsigned n = 0;
    do {
        struct fnet_spill_buffer b = {.dir = NULL};
        failmalloc_arm(++n);
        size_t len = 0;
        while (len < 100000 && append(&b, 10000) == FNET_OK)
            len += 10000;
        if (len < 100000)
            CHECK_INT(fnet_spill_buffer_reserve(&b, 0), FNET_OK);
        CHECK_INT(b.len, len);
        CHECK(holds_pattern(&b));
        fnet_spill_buffer_clear(&b);
    } while (failmalloc_disarm());
}

int main(void)
{
    char dir[] = "/tmp/test-spill-XXXXXX";

    if (!mkdtemp(dir))
        return 1;
    test_growth(dir);
    test_threshold();
    test_bad_directories();
    test_full_disk(dir);
    test_no_memory();
    CHECK_INT(rmdir(dir), 0);
    return tap_done();
}
