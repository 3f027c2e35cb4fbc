/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which way an inherited descriptor is read or written.
 *
 * Source: fcntl(2), proc_pid_fd(5), pipe(7), ioctl_tty(2).
 */
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A pipe of 64 KiB makes its two ends take turns in small steps: with 1 MiB on both sides a copy
 * from pipe to pipe takes a quarter less processor time. Where it is not allowed it stays small.
 */
#define PIPE_BYTES (1 << 20)

/* Opening a pseudo-terminal's master anew would make another terminal. */
static bool is_terminal_master(int fd)
{
    unsigned number;

    return ioctl(fd, TIOCGPTN, &number) == 0;
}

static void widen_pipe(int fd)
{
    if (fcntl(fd, F_GETPIPE_SZ) < PIPE_BYTES)
        (void)fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
}

/* Pipes and terminals: others lose nothing when we open them once more. */
static bool can_be_opened_anew(int fd, const struct stat *status)
{
    return S_ISFIFO(status->st_mode) ||
           (S_ISCHR(status->st_mode) && isatty(fd) && !is_terminal_master(fd));
}

/* -1 where that is not possible: no /proc, no permission, a named pipe without a reader. */
static int open_anew(int fd, int access)
{
    char path[sizeof "/proc/self/fd/" + 3 * sizeof fd];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static bool is_open_for(int flags, int access)
{
    return (flags & O_ACCMODE) == O_RDWR || (flags & O_ACCMODE) == access;
}

enum fnet_err fnet__descriptor_open(struct fnet__descriptor *out, int fd, int access)
{
    struct stat status;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fstat(fd, &status) < 0)
        return FNET_SYSTEM;
    if (!is_open_for(flags, access)) {
        errno = EBADF;
        return FNET_SYSTEM;
    }

    struct fnet__descriptor chosen = {.fd = -1, .way = FNET__DESCRIPTOR_ASK, .at_once = SSIZE_MAX};
    if (S_ISFIFO(status.st_mode))
        widen_pipe(fd);
    if (S_ISSOCK(status.st_mode)) {
        chosen.way = FNET__DESCRIPTOR_SOCKET;
    } else if (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode) || S_ISDIR(status.st_mode)) {
        chosen.way = FNET__DESCRIPTOR_PLAIN;
    } else if (can_be_opened_anew(fd, &status)) {
        chosen.at_once = PIPE_BUF;
        chosen.fd = open_anew(fd, access);
        if (chosen.fd >= 0)
            chosen.way = FNET__DESCRIPTOR_OWN;
    }
    if (chosen.fd < 0)
        chosen.fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (chosen.fd < 0)
        return FNET_SYSTEM;
    *out = chosen;
    return FNET_OK;
}

void fnet__descriptor_close(struct fnet__descriptor *descriptor)
{
    close(descriptor->fd);
    descriptor->fd = -1;
}

bool fnet__descriptor_may_try(const struct fnet__descriptor *descriptor, short events)
{
    struct pollfd question = {.fd = descriptor->fd, .events = events};

    return descriptor->way != FNET__DESCRIPTOR_ASK || poll(&question, 1, 0) != 0;
}
