/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading captures by the event loop.
 */
#include "inspect/capture_input.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/backend.h"

static void on_signal(void *arg, int signo)
{
    struct capture_input *in = arg;

    in->signal = signo;
    fnet_loop_quit(in->loop);
}

static void on_output(void *arg, unsigned happened)
{
    struct capture_input *in = arg;

    if (happened & FNET_HUNG_UP) {
        in->is_output_gone = true;
        fnet_loop_quit(in->loop);
    }
}

/* A block, and then whoever else has something to do. */
static void on_readable(void *arg)
{
    struct capture_input *in = arg;
    uint8_t *ptr;
    size_t len, n;

    in->err = in->sink->space(in->sink->arg, &ptr, &len);
    if (in->err == FNET_OK)
        in->err = fnet_input_read(in->file, ptr, len, &n);
    if (in->err == FNET_AGAIN) {
        fflush(stdout);
        return;
    }
    if (in->err == FNET_OK)
        in->err = in->sink->commit(in->sink->arg, n);
    if (in->err == FNET_OK)
        fnet_loop_post(in->loop, &in->task);
    else
        fnet_loop_quit(in->loop);
}

enum fnet_err capture_input_open(struct capture_input *in)
{
    sigset_t signals;

    backend_signals(&signals);
    sigdelset(&signals, SIGUSR2); /* there are no statistics to be asked for */
    enum fnet_err err = backend_loop_new(&in->loop);
    if (err == FNET_OK)
        err = fnet_loop_handle_signals(in->loop, &signals, on_signal, in);
    if (err != FNET_OK)
        return err;
    fnet_task_init(&in->task, on_readable, in);
    /* Without the watch a broken pipe is noticed all the same, if later: when it is written to. */
    if (fnet_watch_open(&in->output, in->loop, STDOUT_FILENO, on_output, in) != FNET_OK)
        in->output = (struct fnet_watch){.loop = NULL};
    return FNET_OK;
}

void capture_input_close(struct capture_input *in)
{
    if (!in->loop)
        return;
    fnet_watch_close(&in->output);
    fnet_loop_free(in->loop);
    in->loop = NULL;
}

enum fnet_err capture_input_drain(struct capture_input *in, int fd, const struct capture_sink *sink)
{
    enum fnet_err err = fnet_input_open(in->loop, fd, &in->task, &in->file);

    if (err != FNET_OK)
        return err;
    in->sink = sink;
    in->err = FNET_OK;
    fnet_loop_post(in->loop, &in->task);
    err = fnet_loop_run(in->loop);
    if (err == FNET_OK && fnet_err_class(in->err) != FNET_CLASS_FLOW)
        err = in->err;
    const int saved_errno = errno;
    fnet_task_cancel(&in->task);
    fnet_input_close(in->file);
    in->file = NULL;
    errno = saved_errno;
    return err;
}
