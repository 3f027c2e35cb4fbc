/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop that the environment asks for, and the signals it hears.
 */
#include "cli/backend.h"

#include <stdlib.h>
#include <string.h>

enum fnet_err backend_loop_new(struct fnet_loop **out)
{
    const char *name = getenv("FNET_LOOP");

    if (name && strcmp(name, "poll") == 0)
        return fnet_loop_new(FNET_LOOP_POLL, out);
    if (name && strcmp(name, "epoll") == 0)
        return fnet_loop_new(FNET_LOOP_EPOLL, out);
    if (name && *name != '\0')
        return FNET_INVALID;
    enum fnet_err err = fnet_loop_new(FNET_LOOP_EPOLL, out);
    return err == FNET_SYSTEM ? fnet_loop_new(FNET_LOOP_POLL, out) : err;
}

void backend_signals(sigset_t *out)
{
    static const int all[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR2};
    struct sigaction inherited;

    sigemptyset(out);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (sigaction(all[i], NULL, &inherited) == 0 && inherited.sa_handler != SIG_IGN)
            sigaddset(out, all[i]);
}
