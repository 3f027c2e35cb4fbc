/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has everything been delivered, or can it not be? What is said of it, and the exit status.
 *
 * Source: Flink ResultPartition.onSubpartitionAllDataProcessed: a task ends once all is
 * acknowledged.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fnet/connection.h"
#include "produce/produce.h"

/* How long consumers get to hear why it is over. */
#define ABORT_NS UINT64_C(1000000000)
/* So many of the subpartitions that were not delivered are listed, the others counted. */
#define LISTED FNET_UNFINISHED_LISTED
#define NAMES_BYTES (LISTED * (FNET_NAME_MAX_BYTES + 13) + 32)

void produce_on_leave_over(void *arg)
{
    struct produce *p = arg;

    fnet_loop_quit(p->process.loop);
}

static void leave(struct produce *p, uint64_t longest_ns)
{
    p->is_leaving = true;
    server_stop_listening(p->server);
    if (server_is_empty(p->server) ||
        fnet_timer_set(p->process.loop, &p->leave,
                       fnet_loop_now_ns(p->process.loop) + longest_ns) != FNET_OK)
        fnet_loop_quit(p->process.loop);
}

/* It cannot be completed: STATUS, and WHY for the consumers. The first reason is the one. */
static void fail(struct produce *p, int status, const char *why)
{
    if (p->is_leaving)
        return;
    p->status = status;
    for (size_t i = 0; i < produce_partitions(p); i++)
        source_stop(p->sources[i]);
    server_abort(p->server, why);
    leave(p, ABORT_NS);
}

static size_t names_in_state(const struct produce *p, enum fnet_subpartition_state state,
                             char *text, size_t size)
{
    size_t n = 0;
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < produce_partitions(p); i++) {
        const struct fnet_partition *partition = p->partitions[i];
        for (uint32_t s = 0; s < fnet_partition_subpartitions(partition); s++) {
            if (fnet_partition_state(partition, s) != state)
                continue;
            if (n++ < LISTED)
                len += (size_t)snprintf(text + len, size - len, "%s%s:%" PRIu32, n > 1 ? ", " : "",
                                        fnet_partition_name(partition), s);
        }
    }
    if (n > LISTED)
        snprintf(text + len, size - len, ", and %zu more", n - LISTED);
    return n;
}

static uint32_t count_in_state(const struct produce *p, enum fnet_subpartition_state state)
{
    uint32_t n = 0;

    for (size_t i = 0; i < produce_partitions(p); i++)
        n += fnet_partition_count(p->partitions[i], state);
    return n;
}

void produce_check(void *arg)
{
    struct produce *p = arg;
    const uint32_t all = p->config.subpartitions * (uint32_t)produce_partitions(p);
    char names[NAMES_BYTES];

    /* A consumer that has acknowledged everything gets some time to leave, but need not. */
    if (p->is_leaving || count_in_state(p, FNET_SUBPARTITION_ACKNOWLEDGED) +
                                 count_in_state(p, FNET_SUBPARTITION_DONE) +
                                 count_in_state(p, FNET_SUBPARTITION_LOST) +
                                 count_in_state(p, FNET_SUBPARTITION_CANCELLED) <
                             all)
        return;
    if (names_in_state(p, FNET_SUBPARTITION_CANCELLED, names, sizeof names) > 0) {
        p->status = EXIT_INCOMPLETE;
        report_say(&p->config.process.report, REPORT_ERROR, names,
                   "not delivered in full: cancelled by the consumer");
    }
    server_close(p->server);
    leave(p, FNET_LINGER_NS);
}

void produce_on_progress(void *arg)
{
    struct produce *p = arg;

    fnet_loop_post(p->process.loop, &p->check);
}

void produce_on_wait_over(void *arg)
{
    struct produce *p = arg;
    char names[NAMES_BYTES];

    if (p->is_leaving || names_in_state(p, FNET_SUBPARTITION_WAITING, names, sizeof names) == 0)
        return;
    report_say(&p->config.process.report, REPORT_ERROR, names,
               "not delivered: no consumer came in the time allowed by --wait");
    fail(p, EXIT_INCOMPLETE, "the producer stopped waiting for consumers of other subpartitions");
}

void produce_on_lost(void *arg, enum fnet_err err)
{
    fail(arg, report_exit_code(err), "another consumer of the same producer was lost");
}

void produce_on_emptied(void *arg)
{
    struct produce *p = arg;

    if (p->is_leaving)
        fnet_loop_quit(p->process.loop);
}

void produce_on_source_ended(void *arg, struct source *source, enum fnet_err err, const char *what,
                             int saved_errno)
{
    struct produce *p = arg;

    if (err != FNET_OK) {
        const char *name = fnet_partition_name(source_partition(source));
        report_error(&p->config.process.report, name, what, err, saved_errno);
        fail(p, report_exit_code(err), "the producer's input failed");
        return;
    }
    if (++p->sources_ended < produce_partitions(p) || p->config.wait_ns == UINT64_MAX)
        return;
    if (fnet_timer_set(p->process.loop, &p->wait,
                       fnet_loop_now_ns(p->process.loop) + p->config.wait_ns) != FNET_OK)
        produce_on_wait_over(p);
}

void produce_on_signal(void *arg, int signo)
{
    struct produce *p = arg;
    char why[64];

    if (signo == SIGUSR2) {
        telemetry_write_stats(p->process.telemetry);
        return;
    }
    if (p->is_leaving) { /* a second one does not wait */
        fnet_loop_quit(p->process.loop);
        return;
    }
    snprintf(why, sizeof why, "the producer was ended by signal %d (%s)", signo, strsignal(signo));
    fail(p, EXIT_SIGNAL + signo, why);
}
