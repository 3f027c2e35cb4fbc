/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which way a descriptor is read or written, and that the one inherited stays as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../lib/io/descriptor.h"
#include "loops.h"

/* FD, which is closed, is used in the way WAY. */
static void check_way(int fd, int access, enum fnet__descriptor_way way)
{
    struct fnet__descriptor descriptor = {.fd = -1};
    int flags = fcntl(fd, F_GETFL);

    CHECK_INT(fnet__descriptor_open(&descriptor, fd, access), FNET_OK);
    CHECK_INT(descriptor.way, way);
    CHECK(descriptor.fd >= 0 && descriptor.fd != fd);
    CHECK_INT(fcntl(fd, F_GETFL), flags);
    CHECK_INT(fcntl(descriptor.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    if (way == FNET__DESCRIPTOR_OWN)
        CHECK(fcntl(descriptor.fd, F_GETFL) & O_NONBLOCK);
    fnet__descriptor_close(&descriptor);
    CHECK_INT(fcntl(fd, F_GETFL), flags);
    close(fd);
}

static void test_files_and_sockets(void)
{
    int ends[2];
    FILE *file = tmpfile();

    CASE("a regular file is read and written as it is");
    check_way(dup(fileno(file)), O_RDONLY, FNET__DESCRIPTOR_PLAIN);
    check_way(dup(fileno(file)), O_WRONLY, FNET__DESCRIPTOR_PLAIN);
    fclose(file);

    CASE("a socket is told with each call not to wait");
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    check_way(ends[0], O_RDONLY, FNET__DESCRIPTOR_SOCKET);
    check_way(ends[1], O_WRONLY, FNET__DESCRIPTOR_SOCKET);

    CASE("of any other descriptor poll is asked");
    check_way(eventfd(1, 0), O_RDONLY, FNET__DESCRIPTOR_ASK);
    check_way(open("/dev/null", O_WRONLY), O_WRONLY, FNET__DESCRIPTOR_ASK);
}

static void test_pipes(void)
{
    char path[] = "/tmp/fnet-descriptor-XXXXXX";
    char name[sizeof path + 5];
    int ends[2];

    CASE("both ends of a pipe are opened anew");
    CHECK_INT(pipe(ends), 0);
    check_way(ends[0], O_RDONLY, FNET__DESCRIPTOR_OWN);
    check_way(ends[1], O_WRONLY, FNET__DESCRIPTOR_OWN); /* its reader is gone by now */

    CASE("a pipe does not shrink, whatever it may grow to");
    struct fnet__descriptor descriptor;
    CHECK_INT(pipe(ends), 0);
    int size = fcntl(ends[0], F_GETPIPE_SZ);
    CHECK_INT(fnet__descriptor_open(&descriptor, ends[0], O_RDONLY), FNET_OK);
    CHECK(fcntl(ends[0], F_GETPIPE_SZ) >= size);
    fnet__descriptor_close(&descriptor);
    close(ends[0]);
    close(ends[1]);

    CASE("a named pipe without a reader cannot be opened anew: poll is asked");
    CHECK(mkdtemp(path) != NULL);
    snprintf(name, sizeof name, "%s/fifo", path);
    CHECK_INT(mkfifo(name, 0600), 0);
    int reader = open(name, O_RDONLY | O_NONBLOCK);
    int writer = open(name, O_WRONLY);
    check_way(dup(writer), O_WRONLY, FNET__DESCRIPTOR_OWN);
    close(reader);
    check_way(writer, O_WRONLY, FNET__DESCRIPTOR_ASK);
    unlink(name);
    rmdir(path);
}

static void test_terminals(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);

    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        return; /* this host has no pseudo-terminals */
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);

    CASE("a terminal is opened anew");
    check_way(dup(slave), O_RDONLY, FNET__DESCRIPTOR_OWN);
    check_way(slave, O_WRONLY, FNET__DESCRIPTOR_OWN);

    CASE("the master of a pseudo-terminal is not: that would make another terminal");
    check_way(dup(master), O_RDONLY, FNET__DESCRIPTOR_ASK);
    check_way(master, O_WRONLY, FNET__DESCRIPTOR_ASK);
}

static void test_errors(void)
{
    struct fnet__descriptor descriptor = {.fd = 77};
    int ends[2];

    CASE("a descriptor that is not open for the purpose is refused");
    CHECK_INT(pipe(ends), 0);
    CHECK_INT(fnet__descriptor_open(&descriptor, ends[0], O_WRONLY), FNET_SYSTEM);
    CHECK_INT(errno, EBADF);
    CHECK_INT(fnet__descriptor_open(&descriptor, ends[1], O_RDONLY), FNET_SYSTEM);
    CHECK_INT(errno, EBADF);
    close(ends[0]);
    close(ends[1]);

    CASE("so is one that is not open at all");
    CHECK_INT(fnet__descriptor_open(&descriptor, ends[0], O_RDONLY), FNET_SYSTEM);
    CHECK_INT(errno, EBADF);
    CHECK_INT(descriptor.fd, 77);
}

static void test_asking(void)
{
    struct fnet__descriptor descriptor;
    int event = eventfd(0, 0);
    uint64_t one = 1;

    CASE("poll is asked where that is the way, and decides");
    CHECK_INT(fnet__descriptor_open(&descriptor, event, O_RDONLY), FNET_OK);
    CHECK(!fnet__descriptor_may_try(&descriptor, POLLIN));
    CHECK_INT(write(event, &one, sizeof one), sizeof one);
    CHECK(fnet__descriptor_may_try(&descriptor, POLLIN));
    fnet__descriptor_close(&descriptor);
    close(event);
}

int main(void)
{
    test_files_and_sockets();
    test_pipes();
    test_terminals();
    test_errors();
    test_asking();
    return tap_done();
}
