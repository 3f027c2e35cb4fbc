/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals as a readable descriptor, by a pipe that the signal handler writes to.
 *
 * Source: D. J. Bernstein's self-pipe trick; signal-safety(7).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop.h"

/*
 * The writing end; -1: no loop hears signals. A signal handler is given nothing but the number of
 * the signal, so this is the one variable of the library that outlives a call. It changes only
 * while no handler of ours is installed.
 */
static volatile sig_atomic_t write_end = -1;

static void on_signal(int signo)
{
    int saved = errno;
    unsigned char byte = (unsigned char)signo;

    /* A full pipe holds thousands of signals that nobody has looked at yet; one more is no news. */
    ssize_t n = write((int)write_end, &byte, 1);
    (void)n;
    errno = saved;
}

static void restore_actions(const struct fnet__signals *signals)
{
    for (int signo = 1; signo < NSIG; signo++)
        if (sigismember(&signals->set, signo) == 1)
            sigaction(signo, &signals->old_actions[signo], NULL);
}

/* Sets the new actions and remembers the old ones; the mask, lest a blocked signal stay unheard. */
static void install(struct fnet__signals *signals)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    sigfillset(&action.sa_mask);
    for (int signo = 1; signo < NSIG; signo++)
        if (sigismember(&signals->set, signo) == 1)
            sigaction(signo, &action, &signals->old_actions[signo]);
    sigprocmask(SIG_UNBLOCK, &signals->set, &signals->old_mask);
}

static enum fnet_err open_signals(struct fnet__signals *signals)
{
    int ends[2];

    if (write_end >= 0)
        return FNET_STATE;
    signals->old_actions = calloc(NSIG, sizeof *signals->old_actions);
    if (!signals->old_actions)
        return FNET_NOMEM;
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) < 0) {
        free(signals->old_actions);
        return FNET_SYSTEM;
    }
    signals->fd = ends[0];
    write_end = ends[1];
    install(signals);
    return FNET_OK;
}

static int next_signal(struct fnet__signals *signals)
{
    unsigned char byte;

    return read(signals->fd, &byte, 1) == 1 ? byte : 0;
}

static void close_signals(struct fnet__signals *signals)
{
    restore_actions(signals);
    sigprocmask(SIG_SETMASK, &signals->old_mask, NULL);
    free(signals->old_actions);
    close((int)write_end);
    write_end = -1;
    close(signals->fd);
    signals->fd = -1;
}

const struct fnet__signal_source fnet__signal_pipe = {
    .open = open_signals, .next = next_signal, .close = close_signals};
