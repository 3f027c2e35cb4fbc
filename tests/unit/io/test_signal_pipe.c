/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals by a self-pipe: what happens to actions and mask, and that one loop has it.
 */
#include <errno.h>

#include "loops.h"

static int heard;

static void on_signal(void *arg, int signo)
{
    heard = signo;
    fnet_loop_quit(arg);
}

static void old_action(int signo)
{
    (void)signo;
}

static void (*action_of(int signo))(int)
{
    struct sigaction action;

    sigaction(signo, NULL, &action);
    return action.sa_handler;
}

int main(void)
{
    struct fnet_loop *loop = new_loop(FNET_LOOP_POLL), *other = new_loop(FNET_LOOP_POLL);
    sigset_t set, mask;

    signal(SIGUSR1, old_action);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);

    CASE("a signal that the process had blocked is heard");
    CHECK_INT(fnet_loop_handle_signals(loop, &set, on_signal, loop), FNET_OK);
    CHECK(action_of(SIGUSR1) != old_action);
    errno = 0;
    CHECK_INT(raise(SIGUSR1), 0);
    CHECK_INT(errno, 0);
    CHECK_INT(fnet_loop_run(loop), FNET_OK);
    CHECK_INT(heard, SIGUSR1);

    CASE("one loop of a process hears signals");
    CHECK_INT(fnet_loop_handle_signals(other, &set, on_signal, other), FNET_STATE);
    fnet_loop_free(other);

    CASE("more signals than the pipe holds do not block the process");
    for (int i = 0; i < 70000; i++)
        raise(SIGUSR1);
    heard = 0;
    CHECK_INT(fnet_loop_run(loop), FNET_OK);
    CHECK_INT(heard, SIGUSR1);

    CASE("actions and mask are restored when the loop is freed");
    fnet_loop_free(loop);
    CHECK(action_of(SIGUSR1) == old_action);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    CHECK_INT(sigismember(&mask, SIGUSR1), 1);
    return tap_done();
}
