/* SPDX-License-Identifier: Apache-2.0 */
/*
 * produce: the whole of a running fnet-produce, and how its parts come to know of each other.
 */
#ifndef PRODUCE_PRODUCE_H
#define PRODUCE_PRODUCE_H

#include "cli/process.h"
#include "produce/produce_config.h"
#include "produce/server.h"
#include "produce/source.h"

struct produce {
    struct produce_config config;
    struct process process;
    struct fnet_network_pool *pool;
    struct fnet_registry registry;
    struct fnet_local_pool **pools;     /* owned array; each is a partition's */
    struct fnet_partition **partitions; /* owned array */
    struct source **sources;            /* owned array */
    int *inputs;                        /* owned array of descriptors, opened before all else */
    int port_fd; /* of a port file that is a FIFO or device, opened before all else; or -1 */
    struct server *server;
    struct fnet_task check;  /* has everything been delivered? */
    struct fnet_timer wait;  /* for consumers that do not come */
    struct fnet_timer leave; /* the longest that consumers get to take leave */
    size_t sources_ended;
    bool is_leaving;
    int status;
};

static inline size_t produce_partitions(const struct produce *p)
{
    return p->config.operand_count;
}

/* ---- delivery.c: has everything been delivered, or can it not be? ---------------------------- */

/* Callbacks; ARG is the struct produce. */
void produce_check(void *arg);
void produce_on_progress(void *arg);
void produce_on_wait_over(void *arg);
void produce_on_leave_over(void *arg);
void produce_on_lost(void *arg, enum fnet_err err);
void produce_on_emptied(void *arg);
void produce_on_source_ended(void *arg, struct source *source, enum fnet_err err, const char *what,
                             int saved_errno);
void produce_on_signal(void *arg, int signo);

/* ---- output_account.c: what is told on the way ---------------------------------------------- */

void produce_on_totals(void *arg, struct telemetry_totals *out);
void produce_on_stats(void *arg, FILE *out);
void produce_print_digests(const struct produce *p);

#endif
