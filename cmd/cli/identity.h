/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: which file a path or descriptor is, whatever it is called.
 */
#ifndef CLI_IDENTITY_H
#define CLI_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

/** A file, or a pipe; terminals and /dev/null have no identity that matters here. */
struct identity {
    bool is_known;
    bool is_regular;
    dev_t device;
    ino_t inode;
};

struct identity identity_of_fd(int fd);
/** PATH may be NULL, "-" or missing: it is then not known. */
struct identity identity_of_path(const char *path);
/** Two ways to one file or pipe: who writes through both loses what he writes. */
bool identity_is_same(const struct identity *a, const struct identity *b);

#endif
