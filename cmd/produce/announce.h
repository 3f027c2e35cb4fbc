/* SPDX-License-Identifier: Apache-2.0 */
/*
 * produce: tell whoever waits for it that we listen, and where.
 */
#ifndef PRODUCE_ANNOUNCE_H
#define PRODUCE_ANNOUNCE_H

#include "cli/report.h"
#include "produce/server.h"

/**
 * Open PORT_FILE if it is a FIFO or a device, which keeps its place; a FIFO waits for its reader.
 * Otherwise, or without one, *PORT_FD is -1. Returns an exit status; a failure is reported.
 */
int announce_open(const struct report *report, const char *port_file, int *port_fd);

/**
 * Write the bound addresses, one a line, to PORT_FILE, which appears whole, and to READY_FD, which
 * is closed unless it is one of the three standard ones. NULL and -1: not. PORT_FD, from
 * announce_open(), is closed. Returns an exit status; a failure is reported.
 */
int announce_addresses(const struct report *report, const struct server *server,
                       const char *port_file, int port_fd, int ready_fd);

#endif
