/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io, private: how an inherited descriptor can be read or written without blocking the loop and
 * without a change that others who share its file description would feel.
 */
#ifndef FNET_IO_DESCRIPTOR_H
#define FNET_IO_DESCRIPTOR_H

#include "fnet/io.h"

enum fnet__descriptor_way {
    FNET__DESCRIPTOR_PLAIN,  /* a file: read and write wait for the disk at most */
    FNET__DESCRIPTOR_SOCKET, /* each call says MSG_DONTWAIT */
    FNET__DESCRIPTOR_OWN,    /* a file description of our own, non-blocking */
    FNET__DESCRIPTOR_ASK,    /* poll says before each call that it will not block */
};

struct fnet__descriptor {
    int fd; /* owned: a duplicate, or opened anew */
    enum fnet__descriptor_way way;
    size_t at_once; /* most bytes to be written after poll was asked */
};

/**
 * @param fd      borrowed during the call.
 * @param access  O_RDONLY or O_WRONLY: what it is to be used for.
 *
 * Errors: FNET_SYSTEM  errno is set; EBADF when FD is not open for ACCESS.
 */
FNET_CHECKED enum fnet_err fnet__descriptor_open(struct fnet__descriptor *out, int fd, int access);
void fnet__descriptor_close(struct fnet__descriptor *descriptor);

/** Where poll has to be asked: what it says about EVENTS; elsewhere true. */
bool fnet__descriptor_may_try(const struct fnet__descriptor *descriptor, short events);

#endif
