/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: the event loop that the environment asks for.
 */
#ifndef CLI_BACKEND_H
#define CLI_BACKEND_H

#include "fnet/io.h"

/**
 * Make the loop that FNET_LOOP names, "epoll" or "poll"; without it epoll, and poll where there is
 * none.
 *
 * Errors: FNET_INVALID  FNET_LOOP is something else.
 *         FNET_SYSTEM (errno is set), FNET_NOMEM.
 */
FNET_CHECKED enum fnet_err backend_loop_new(struct fnet_loop **out);

#endif
