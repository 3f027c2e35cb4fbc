/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file, pipe, terminal or socket that is written without blocking the loop.
 *
 * Source: write(2), send(2), pipe(7).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "descriptor.h"

struct fnet_output {
    struct fnet__descriptor descriptor;
    struct fnet_watch watch;
    struct fnet_task *ready; /* borrowed */
    bool is_told;            /* READY was posted since the last FNET_AGAIN */
    bool is_broken;
};

static void on_event(void *arg, unsigned happened)
{
    struct fnet_output *output = arg;
    bool is_news = (happened & FNET_HUNG_UP) && !output->is_broken;

    if (happened & FNET_HUNG_UP)
        output->is_broken = true;
    if (happened & FNET_WANT_WRITE) {
        /* Interest is dropped only when the loop asks twice: a writer that keeps up costs no
         * epoll_ctl. */
        if (output->is_told)
            fnet_watch_want(&output->watch, FNET_WANT_NOTHING);
        is_news = is_news || !output->is_told;
        output->is_told = true;
    }
    if (is_news)
        fnet_loop_post(output->watch.loop, output->ready);
}

enum fnet_err fnet_output_open(struct fnet_loop *loop, int fd, struct fnet_task *ready,
                               struct fnet_output **out)
{
    struct fnet_output *output = malloc(sizeof *output);

    if (!output)
        return FNET_NOMEM;
    *output = (struct fnet_output){.ready = ready};
    enum fnet_err err = fnet__descriptor_open(&output->descriptor, fd, O_WRONLY);
    if (err != FNET_OK)
        goto no_descriptor;
    err = fnet_watch_open(&output->watch, loop, output->descriptor.fd, on_event, output);
    if (err != FNET_OK)
        goto no_watch;
    if (output->watch.is_unpollable)
        output->descriptor.way = FNET__DESCRIPTOR_PLAIN;
    *out = output;
    return FNET_OK;

no_watch:
    fnet__descriptor_close(&output->descriptor);
no_descriptor:
    free(output);
    return err;
}

void fnet_output_close(struct fnet_output *output)
{
    if (!output)
        return;
    fnet_watch_close(&output->watch);
    fnet__descriptor_close(&output->descriptor);
    free(output);
}

static enum fnet_err wait_for_event(struct fnet_output *output)
{
    output->is_told = false;
    fnet_watch_want(&output->watch, FNET_WANT_WRITE);
    return FNET_AGAIN;
}

static ssize_t write_spans(const struct fnet__descriptor *to, const struct iovec *spans, int count)
{
    if (to->way != FNET__DESCRIPTOR_SOCKET)
        return writev(to->fd, spans, count);
    /* sendmsg(2) does not write to what msg_iov points at. */
    const struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)spans,
                                   .msg_iovlen = (size_t)count};
    return sendmsg(to->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

enum fnet_err fnet_output_write(struct fnet_output *output, const struct iovec *spans, int count,
                                size_t *n)
{
    const struct fnet__descriptor *to = &output->descriptor;
    struct iovec first;
    ssize_t done;

    if (!fnet__descriptor_may_try(to, POLLOUT))
        return wait_for_event(output);
    if (to->way == FNET__DESCRIPTOR_ASK) { /* no more than poll promised */
        first = spans[0];
        if (first.iov_len > to->at_once)
            first.iov_len = to->at_once;
        spans = &first;
        count = 1;
    }
    do
        done = write_spans(to, spans, count);
    while (done < 0 && errno == EINTR);
    if (done > 0) {
        *n = (size_t)done;
        return FNET_OK;
    }
    if (done == 0 || errno == EAGAIN || errno == EWOULDBLOCK)
        return wait_for_event(output);
    if (errno == EPIPE || errno == ECONNRESET)
        output->is_broken = true;
    return FNET_SYSTEM;
}

bool fnet_output_is_broken(const struct fnet_output *output)
{
    return output->is_broken;
}
