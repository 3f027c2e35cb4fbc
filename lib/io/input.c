/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file, pipe, terminal or socket that is read without blocking the loop.
 *
 * Source: read(2), recv(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "descriptor.h"

struct fnet_input {
    struct fnet__descriptor descriptor;
    struct fnet_watch watch;
    struct fnet_task *ready; /* borrowed */
    bool is_told;            /* READY was posted since the last FNET_AGAIN */
};

/* Interest is dropped only when the loop asks twice: a reader that keeps up costs no epoll_ctl. */
static void on_event(void *arg, unsigned happened)
{
    struct fnet_input *input = arg;

    if (!(happened & FNET_WANT_READ))
        return;
    if (input->is_told) {
        fnet_watch_want(&input->watch, FNET_WANT_NOTHING);
        return;
    }
    input->is_told = true;
    fnet_loop_post(input->watch.loop, input->ready);
}

enum fnet_err fnet_input_open(struct fnet_loop *loop, int fd, struct fnet_task *ready,
                              struct fnet_input **out)
{
    struct fnet_input *input = malloc(sizeof *input);

    if (!input)
        return FNET_NOMEM;
    *input = (struct fnet_input){.ready = ready};
    enum fnet_err err = fnet__descriptor_open(&input->descriptor, fd, O_RDONLY);
    if (err != FNET_OK)
        goto no_descriptor;
    err = fnet_watch_open(&input->watch, loop, input->descriptor.fd, on_event, input);
    if (err != FNET_OK)
        goto no_watch;
    if (input->watch.is_unpollable)
        input->descriptor.way = FNET__DESCRIPTOR_PLAIN;
    *out = input;
    return FNET_OK;

no_watch:
    fnet__descriptor_close(&input->descriptor);
no_descriptor:
    free(input);
    return err;
}

void fnet_input_close(struct fnet_input *input)
{
    if (!input)
        return;
    fnet_watch_close(&input->watch);
    fnet__descriptor_close(&input->descriptor);
    free(input);
}

static enum fnet_err wait_for_event(struct fnet_input *input)
{
    input->is_told = false;
    fnet_watch_want(&input->watch, FNET_WANT_READ);
    return FNET_AGAIN;
}

enum fnet_err fnet_input_read(struct fnet_input *input, void *ptr, size_t len, size_t *n)
{
    const struct fnet__descriptor *from = &input->descriptor;
    ssize_t got;

    if (!fnet__descriptor_may_try(from, POLLIN))
        return wait_for_event(input);
    do {
        got = from->way == FNET__DESCRIPTOR_SOCKET ? recv(from->fd, ptr, len, MSG_DONTWAIT)
                                                   : read(from->fd, ptr, len);
    } while (got < 0 && errno == EINTR);
    if (got > 0) {
        *n = (size_t)got;
        return FNET_OK;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return wait_for_event(input);
    fnet_watch_want(&input->watch, FNET_WANT_NOTHING);
    return got == 0 ? FNET_EOF : FNET_SYSTEM;
}
