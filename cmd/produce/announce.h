/* SPDX-License-Identifier: Apache-2.0 */
/*
 * produce: tell whoever waits for it that we listen, and where.
 */
#ifndef PRODUCE_ANNOUNCE_H
#define PRODUCE_ANNOUNCE_H

#include "cli/report.h"
#include "produce/server.h"

/**
 * Write the bound addresses, one a line, to PORT_FILE, which appears whole, and to READY_FD, which
 * is closed. NULL and -1: not. Returns an exit status; a failure is reported.
 */
int announce_addresses(const struct report *report, const struct server *server,
                       const char *port_file, int ready_fd);

#endif
