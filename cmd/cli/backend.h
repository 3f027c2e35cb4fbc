/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: the event loop that the environment asks for, and the signals it hears.
 */
#ifndef CLI_BACKEND_H
#define CLI_BACKEND_H

#include <signal.h>

#include "fnet/io.h"

/**
 * Make the loop that FNET_LOOP names, "epoll" or "poll"; without it epoll, and poll where there is
 * none.
 *
 * Errors: FNET_INVALID  FNET_LOOP is something else.
 *         FNET_SYSTEM (errno is set), FNET_NOMEM.
 */
FNET_CHECKED enum fnet_err backend_loop_new(struct fnet_loop **out);

/**
 * What a command hears: HUP, INT and TERM, which end it, but not one that whoever started it wants
 * ignored (nohup, a script's background job); and USR2.
 */
void backend_signals(sigset_t *out);

#endif
