/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file a path or descriptor is, whatever it is called.
 */
#include "cli/identity.h"

#include <string.h>
#include <sys/stat.h>

static struct identity of_status(int rc, const struct stat *st)
{
    if (rc != 0 || S_ISCHR(st->st_mode))
        return (struct identity){.is_known = false};
    return (struct identity){.is_known = true,
                             .is_regular = S_ISREG(st->st_mode),
                             .device = st->st_dev,
                             .inode = st->st_ino};
}

struct identity identity_of_fd(int fd)
{
    struct stat st;

    return of_status(fstat(fd, &st), &st);
}

struct identity identity_of_path(const char *path)
{
    struct stat st;

    if (!path || strcmp(path, "-") == 0)
        return (struct identity){.is_known = false};
    return of_status(stat(path, &st), &st);
}

bool identity_is_same(const struct identity *a, const struct identity *b)
{
    return a->is_known && b->is_known && a->device == b->device && a->inode == b->inode;
}
