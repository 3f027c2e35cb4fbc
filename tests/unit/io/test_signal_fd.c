/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals by signalfd: what happens to the mask.
 */
#include "loops.h"

static void ignore(void *arg, int signo)
{
    (void)arg;
    (void)signo;
}

static int is_blocked(int signo)
{
    sigset_t mask;

    sigprocmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, signo);
}

int main(void)
{
    struct fnet_loop *loop = new_loop(FNET_LOOP_EPOLL);
    sigset_t set;

    CASE("signals are blocked while the loop hears them, others are not");
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK_INT(fnet_loop_handle_signals(loop, &set, ignore, NULL), FNET_OK);
    CHECK_INT(is_blocked(SIGUSR1), 1);
    CHECK_INT(is_blocked(SIGUSR2), 0);

    CASE("the mask is restored when the loop is freed");
    fnet_loop_free(loop);
    CHECK_INT(is_blocked(SIGUSR1), 0);

    CASE("a signal that was blocked before stays blocked afterwards");
    sigprocmask(SIG_BLOCK, &set, NULL);
    loop = new_loop(FNET_LOOP_EPOLL);
    CHECK_INT(fnet_loop_handle_signals(loop, &set, ignore, NULL), FNET_OK);
    fnet_loop_free(loop);
    CHECK_INT(is_blocked(SIGUSR1), 1);
    return tap_done();
}
