/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: connected sockets of every kind, descriptors counted, and a clock that can be put forward.
 */
#ifndef TESTS_IO_SOCKETS_H
#define TESTS_IO_SOCKETS_H

#include <dirent.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "loops.h"

/** By how much the loops' clock is ahead of the system's. */
static uint64_t skipped_ns;

/* In front of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    long rc = syscall(SYS_clock_gettime, clock, now);

    if (rc == 0 && clock == CLOCK_MONOTONIC) {
        uint64_t ns = (uint64_t)now->tv_nsec + skipped_ns;
        now->tv_sec += (time_t)(ns / 1000000000);
        now->tv_nsec = (long)(ns % 1000000000);
    }
    return (int)rc;
}

/** How often the poll backend has waited. Not static: the C library may declare poll() inline. */
int poll_waits;

/* In front of the C library's. */
int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    struct timespec timeout = {.tv_sec = timeout_ms / 1000,
                               .tv_nsec = (long)(timeout_ms % 1000) * 1000000};

    poll_waits++;
    return ppoll(fds, count, timeout_ms < 0 ? NULL : &timeout, NULL);
}

/** Let NS pass at once, and run what is then due. */
static inline void skip(struct fnet_loop *loop, uint64_t ns)
{
    skipped_ns += ns;
    turn(loop, 1);
}

/** Run LOOP until somebody quits it, but not for longer than a few seconds. */
static inline void run_until_quit(struct fnet_loop *loop)
{
    struct fnet_timer watchdog = {.run = quit, .arg = loop};

    CHECK_INT(fnet_timer_set(loop, &watchdog, fnet_loop_now_ns(loop) + 4000 * (uint64_t)MS),
              FNET_OK);
    CHECK_INT(fnet_loop_run(loop), FNET_OK);
    fnet_timer_cancel(loop, &watchdog);
}

/** Run LOOP for some ms, in which it has to sleep nearly always. */
static inline void check_it_rests(struct fnet_loop *loop)
{
    poll_waits = 0;
    run_for(loop, 20 * (uint64_t)MS);
    CHECK(poll_waits < 10);
}

/** Descriptors of this process. */
static inline int count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = -1; /* DIR's own */

    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        if (entry->d_name[0] != '.')
            count++;
    closedir(dir);
    return count;
}

static inline struct fnet_address loopback_of(int family)
{
    struct fnet_address address = {.any = {.sa_family = (sa_family_t)family}};

    if (family == AF_INET) {
        address.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.len = sizeof address.in;
    } else {
        address.in6.sin6_addr = in6addr_loopback;
        address.len = sizeof address.in6;
    }
    return address;
}

/** A socket that listens at a free port of the loopback address of FAMILY; -1: there is none. */
static inline int listen_on_loopback(int family, int backlog, struct fnet_address *bound)
{
    struct fnet_address address = loopback_of(family);
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, &address.any, address.len) != 0) {
        close(fd);
        return -1;
    }
    CHECK_INT(listen(fd, backlog), 0);
    CHECK_INT(getsockname(fd, &address.any, &address.len), 0);
    *bound = address;
    return fd;
}

/** Connect FDS to each other. BUFFER_BYTES: of each of the four socket buffers; 0: as usual. */
static inline bool connect_pair(int family, int buffer_bytes, int fds[2])
{
    struct fnet_address address;
    int listener = -1;

    if (family == AF_UNIX) {
        CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    } else {
        listener = listen_on_loopback(family, 1, &address);
        if (listener < 0)
            return false; /* a system without IPv6 */
        fds[0] = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    }
    for (int i = 0; buffer_bytes > 0 && i < 2; i++) {
        int fd = family != AF_UNIX && i == 1 ? listener : fds[i]; /* inherited by the accepted */
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
    }
    if (family != AF_UNIX) {
        CHECK_INT(connect(fds[0], &address.any, address.len), 0);
        fds[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        CHECK(fds[1] >= 0);
        close(listener);
    }
    return true;
}

/** Close FD so that the peer is reset. */
static inline void reset(int fd)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
}

#endif
