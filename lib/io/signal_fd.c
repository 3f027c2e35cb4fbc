/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals as a readable descriptor, by signalfd.
 *
 * Source: signalfd(2).
 */
#include <sys/signalfd.h>
#include <unistd.h>

#include "loop.h"

static enum fnet_err open_signals(struct fnet__signals *signals)
{
    signals->fd = signalfd(-1, &signals->set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signals->fd < 0)
        return FNET_SYSTEM;
    sigprocmask(SIG_BLOCK, &signals->set, &signals->old_mask);
    return FNET_OK;
}

static int next_signal(struct fnet__signals *signals)
{
    struct signalfd_siginfo info;

    return read(signals->fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

static void close_signals(struct fnet__signals *signals)
{
    sigprocmask(SIG_SETMASK, &signals->old_mask, NULL);
    close(signals->fd);
    signals->fd = -1;
}

const struct fnet__signal_source fnet__signal_fd = {
    .open = open_signals, .next = next_signal, .close = close_signals};
