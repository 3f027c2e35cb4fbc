/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fnet-produce: records in, subpartitions served.
 *
 * Source: Flink Task with a ResultPartition, its end by AckAllUserRecordsProcessed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/backend.h"
#include "cli/telemetry.h"
#include "fnet/connection.h"
#include "produce/announce.h"
#include "produce/produce_config.h"
#include "produce/produce_plan.h"
#include "produce/server.h"
#include "produce/source.h"

/* How long consumers get to hear why it is over. */
#define ABORT_NS UINT64_C(1000000000)
/* What is listed of the subpartitions that were not delivered. */
#define NAMES_BYTES 512

struct produce {
    struct produce_config config;
    struct fnet_loop *loop;
    struct fnet_network_pool *pool;
    struct fnet_registry registry;
    struct fnet_local_pool **pools;     /* owned array; each is a partition's */
    struct fnet_partition **partitions; /* owned array */
    struct source **sources;            /* owned array */
    int *inputs;                        /* owned array of descriptors, opened before all else */
    struct server *server;
    struct fnet_trace *trace;
    struct telemetry *telemetry;
    struct fnet_task check;  /* has everything been delivered? */
    struct fnet_timer wait;  /* for consumers that do not come */
    struct fnet_timer leave; /* the longest that consumers get to take leave */
    size_t sources_ended;
    bool is_leaving;
    int status;
};

static size_t partition_count(const struct produce *p)
{
    return p->config.operand_count;
}

/* ---- the end ----------------------------------------------------------------------------- */

static void on_leave_over(void *arg)
{
    struct produce *p = arg;

    fnet_loop_quit(p->loop);
}

static void leave(struct produce *p, uint64_t longest_ns)
{
    p->is_leaving = true;
    server_stop_listening(p->server);
    if (server_is_empty(p->server) ||
        fnet_timer_set(p->loop, &p->leave, fnet_loop_now_ns(p->loop) + longest_ns) != FNET_OK)
        fnet_loop_quit(p->loop);
}

/* It cannot be completed: STATUS, and WHY for the consumers. The first reason is the one. */
static void fail(struct produce *p, int status, const char *why)
{
    if (p->is_leaving)
        return;
    p->status = status;
    for (size_t i = 0; i < partition_count(p); i++)
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
    for (size_t i = 0; i < partition_count(p); i++) {
        const struct fnet_partition *partition = p->partitions[i];
        for (uint32_t s = 0; s < fnet_partition_subpartitions(partition); s++) {
            if (fnet_partition_state(partition, s) != state)
                continue;
            if (len < size)
                len += (size_t)snprintf(text + len, size - len, "%s%s:%" PRIu32, n > 0 ? ", " : "",
                                        fnet_partition_name(partition), s);
            n++;
        }
    }
    return n;
}

static uint32_t count_in_state(const struct produce *p, enum fnet_subpartition_state state)
{
    uint32_t n = 0;

    for (size_t i = 0; i < partition_count(p); i++)
        n += fnet_partition_count(p->partitions[i], state);
    return n;
}

static void check(void *arg)
{
    struct produce *p = arg;
    const uint32_t all = p->config.subpartitions * (uint32_t)partition_count(p);
    char names[NAMES_BYTES];

    /* A consumer that has acknowledged everything may take its time to leave: we need not wait. */
    if (p->is_leaving || count_in_state(p, FNET_SUBPARTITION_ACKNOWLEDGED) +
                                 count_in_state(p, FNET_SUBPARTITION_DONE) +
                                 count_in_state(p, FNET_SUBPARTITION_LOST) +
                                 count_in_state(p, FNET_SUBPARTITION_CANCELLED) <
                             all)
        return;
    if (names_in_state(p, FNET_SUBPARTITION_CANCELLED, names, sizeof names) > 0) {
        p->status = EXIT_INCOMPLETE;
        report_say(&p->config.report, REPORT_ERROR, names,
                   "not delivered in full: cancelled by the consumer");
    }
    server_close(p->server);
    leave(p, FNET_LINGER_NS);
}

static void on_progress(void *arg)
{
    struct produce *p = arg;

    fnet_loop_post(p->loop, &p->check);
}

static void on_wait_over(void *arg)
{
    struct produce *p = arg;
    char names[NAMES_BYTES];

    if (p->is_leaving || names_in_state(p, FNET_SUBPARTITION_WAITING, names, sizeof names) == 0)
        return;
    report_say(&p->config.report, REPORT_ERROR, names,
               "not delivered: no consumer came in the time allowed by --wait");
    fail(p, EXIT_INCOMPLETE, "the producer stopped waiting for consumers of other subpartitions");
}

static void on_lost(void *arg, enum fnet_err err)
{
    fail(arg, report_exit_code(err), "another consumer of the same producer was lost");
}

static void on_emptied(void *arg)
{
    struct produce *p = arg;

    if (p->is_leaving)
        fnet_loop_quit(p->loop);
}

static void on_source_ended(void *arg, struct source *source, enum fnet_err err, const char *what,
                            int saved_errno)
{
    struct produce *p = arg;

    if (err != FNET_OK) {
        const char *name = fnet_partition_name(source_partition(source));
        report_error(&p->config.report, name, what, err, saved_errno);
        fail(p, report_exit_code(err), "the producer's input failed");
        return;
    }
    if (++p->sources_ended < partition_count(p) || p->config.wait_ns == UINT64_MAX)
        return;
    if (fnet_timer_set(p->loop, &p->wait, fnet_loop_now_ns(p->loop) + p->config.wait_ns) != FNET_OK)
        on_wait_over(p);
}

static void on_signal(void *arg, int signo)
{
    struct produce *p = arg;
    char why[64];

    if (signo == SIGUSR2) {
        telemetry_write_stats(p->telemetry);
        return;
    }
    if (p->is_leaving) { /* a second one does not wait */
        fnet_loop_quit(p->loop);
        return;
    }
    snprintf(why, sizeof why, "the producer was ended by signal %d (%s)", signo, strsignal(signo));
    fail(p, EXIT_SIGNAL + signo, why);
}

/* ---- what is told ------------------------------------------------------------------------ */

static void on_totals(void *arg, struct telemetry_totals *out)
{
    const struct produce *p = arg;

    *out = (struct telemetry_totals){.pool_used = fnet_network_pool_used(p->pool),
                                     .pool_size = fnet_network_pool_segments(p->pool)};
    for (size_t i = 0; i < partition_count(p); i++) {
        out->records += source_records(p->sources[i]);
        out->bytes += source_bytes(p->sources[i]);
    }
    out->credit = server_credit(p->server);
    out->expected_bytes = plan_expected_bytes(p->inputs, partition_count(p));
}

/* Flink's metric names, of the task's output. */
static void on_stats(void *arg, FILE *out)
{
    const struct produce *p = arg;
    const struct fnet_session_counts sent = server_counts(p->server);
    struct telemetry_totals totals;
    uint32_t queued = 0;

    on_totals(arg, &totals);
    for (size_t i = 0; i < partition_count(p); i++)
        queued += fnet_partition_queued(p->partitions[i]);
    fprintf(out,
            "\"numRecordsOut\":%" PRIu64 ",\"numBytesOut\":%" PRIu64 ",\"numBuffersOut\":%" PRIu64
            ",\"outputQueueLength\":%" PRIu32 ",\"UsedMemorySegments\":%" PRIu32
            ",\"TotalMemorySegments\":%" PRIu32 ",\"PeakMemorySegments\":%" PRIu32,
            totals.records, sent.payload_out, sent.buffers_out, queued, totals.pool_used,
            totals.pool_size, fnet_network_pool_peak(p->pool));
}

static void print_digests(const struct produce *p)
{
    for (size_t i = 0; p->config.wants_digest && i < partition_count(p); i++)
        for (uint32_t s = 0; s < p->config.subpartitions; s++)
            telemetry_print_digest(p->config.operands[i].name, s,
                                   &source_digests(p->sources[i])[s]);
}

/* ---- building ---------------------------------------------------------------------------- */

/* Before signals are caught: the opening of a FIFO may wait, and can be interrupted. */
static int open_inputs(struct produce *p)
{
    p->inputs = calloc(partition_count(p), sizeof *p->inputs);
    if (!p->inputs)
        return EXIT_LOCAL;
    for (size_t i = 0; i < partition_count(p); i++) {
        const char *file = p->config.operands[i].file;
        p->inputs[i] = strcmp(file, "-") == 0 ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
        if (p->inputs[i] < 0) {
            report_error(&p->config.report, file, "cannot open", FNET_SYSTEM, errno);
            return EXIT_LOCAL;
        }
    }
    return EXIT_DONE;
}

static enum fnet_err build_partition(struct produce *p, size_t i, uint32_t required, uint32_t max)
{
    const struct produce_operand *operand = &p->config.operands[i];
    enum fnet_err err = fnet_local_pool_new(p->pool, required, max, &p->pools[i]);

    if (err != FNET_OK)
        return err;
    const struct fnet_partition_config config = {
        .id = operand->id,
        .name = operand->name,
        .type = p->config.type,
        .subpartitions = p->config.subpartitions,
        .format = (uint8_t)p->config.format.format,
        .pool = p->pools[i],
        .max_buffers_per_channel = p->config.max_buffers_per_channel,
        .progress = {.ring = on_progress, .arg = p},
    };
    err = fnet_partition_new(&config, &p->partitions[i]);
    return err == FNET_OK ? fnet_registry_add(&p->registry, p->partitions[i]) : err;
}

static enum fnet_err build_partitions(struct produce *p)
{
    const size_t n = partition_count(p);
    uint32_t required;
    uint32_t max;
    uint64_t total;

    produce_config_buffers(&p->config, &required, &max, &total);
    p->pools = calloc(n, sizeof(struct fnet_local_pool *));
    p->partitions = calloc(n, sizeof(struct fnet_partition *));
    p->sources = calloc(n, sizeof(struct source *));
    if (!p->pools || !p->partitions || !p->sources)
        return FNET_NOMEM;

    enum fnet_err err = fnet_network_pool_new(p->config.segment_bytes, (uint32_t)total, &p->pool);
    for (size_t i = 0; err == FNET_OK && i < n; i++)
        err = build_partition(p, i, required, max);
    return err;
}

static enum fnet_err build_sources(struct produce *p)
{
    enum fnet_err err = FNET_OK;

    for (size_t i = 0; err == FNET_OK && i < partition_count(p); i++) {
        const struct source_config config = {
            .loop = p->loop,
            .pool = p->pools[i],
            .partition = p->partitions[i],
            .fd = p->inputs[i],
            .spill_dir = getenv("TMPDIR"),
            .format = p->config.format,
            .selector = p->config.selector,
            .timeout_ns = p->config.timeout_ns,
            .wants_digest = p->config.wants_digest,
            .ended = on_source_ended,
            .arg = p,
        };
        err = source_new(&config, &p->sources[i]);
    }
    return err;
}

static enum fnet_err build(struct produce *p)
{
    sigset_t signals;
    enum fnet_err err = backend_loop_new(&p->loop);

    if (err != FNET_OK)
        return err;
    fnet_task_init(&p->check, check, p);
    p->wait = (struct fnet_timer){.run = on_wait_over, .arg = p};
    p->leave = (struct fnet_timer){.run = on_leave_over, .arg = p};
    err = build_partitions(p);
    if (err != FNET_OK)
        return err;

    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR2);
    err = fnet_loop_handle_signals(p->loop, &signals, on_signal, p);
    if (err != FNET_OK)
        return err;

    const struct server_config server = {
        .loop = p->loop,
        .report = &p->config.report,
        .registry = &p->registry,
        .trace = p->trace,
        .idle_timeout_ns = p->config.idle_timeout_ns,
        .lost = on_lost,
        .emptied = on_emptied,
        .arg = p,
    };
    return server_new(&server, &p->server);
}

/* Everything that can be refused is refused before a byte is read. */
static int listen_on(struct produce *p, const struct fnet_endpoint *endpoint)
{
    struct fnet_address *addresses;
    size_t count;
    const char *why;
    char text[FNET_ADDRESS_TEXT_BYTES];
    int status = EXIT_DONE;

    if (fnet_endpoint_resolve(endpoint, true, &addresses, &count, &why) != FNET_OK) {
        report_say(&p->config.report, REPORT_ERROR, endpoint->host, "cannot listen: %s", why);
        return EXIT_UNREACHABLE;
    }
    for (size_t i = 0; status == EXIT_DONE && i < count; i++) {
        fnet_address_format(&addresses[i], text);
        if (!p->config.is_plaintext && !fnet_address_is_loopback(&addresses[i])) {
            options_mistake(&produce_options,
                            "--listen: %s is reachable from other hosts, who could read "
                            "everything: --plaintext allows it",
                            text);
            status = EXIT_USAGE;
        } else if (server_listen(p->server, &addresses[i]) != FNET_OK) {
            report_error(&p->config.report, text, "cannot listen", FNET_SYSTEM, errno);
            status = EXIT_UNREACHABLE;
        }
    }
    free(addresses);
    return status;
}

static int start(struct produce *p)
{
    for (size_t i = 0; i < p->config.listen_count; i++) {
        int status = listen_on(p, &p->config.listens[i]);
        if (status != EXIT_DONE)
            return status;
    }

    const struct telemetry_source source = {.totals = on_totals, .stats = on_stats, .arg = p};
    enum fnet_err err =
        telemetry_new(&p->config.telemetry, &p->config.report, p->loop, &source, &p->telemetry);
    if (err != FNET_OK) {
        report_error(&p->config.report, p->config.telemetry.stats_file, "cannot open", err, errno);
        return EXIT_LOCAL;
    }
    err = build_sources(p);
    if (err != FNET_OK) {
        report_error(&p->config.report, NULL, "cannot read the input", err, errno);
        return EXIT_LOCAL;
    }
    return announce_addresses(&p->config.report, p->server, p->config.port_file,
                              p->config.ready_fd);
}

static int open_trace(struct produce *p)
{
    if (!p->config.trace_file)
        return EXIT_DONE;
    enum fnet_err err = fnet_trace_open(p->loop, p->config.trace_file, &p->trace);
    if (err != FNET_OK)
        report_error(&p->config.report, p->config.trace_file, "cannot open", err, errno);
    return err == FNET_OK ? EXIT_DONE : EXIT_LOCAL;
}

static void clear_progress_line(void *arg)
{
    struct produce *p = arg;

    telemetry_clear_line(p->telemetry);
}

static int run(struct produce *p)
{
    int status = open_inputs(p);
    if (status != EXIT_DONE)
        return status;

    enum fnet_err err = build(p);
    if (err != FNET_OK) {
        report_error(&p->config.report, NULL, "cannot start", err, errno);
        return EXIT_LOCAL;
    }
    p->config.report.before_line = clear_progress_line;
    p->config.report.arg = p;
    status = open_trace(p);
    if (status == EXIT_DONE)
        status = start(p);
    if (status != EXIT_DONE)
        return status;
    err = fnet_loop_run(p->loop);
    if (err != FNET_OK) {
        report_error(&p->config.report, NULL, "cannot wait for events", err, errno);
        return EXIT_LOCAL;
    }
    return p->status;
}

/* Files that could not be written to their end are an error, but not above an earlier one. */
static int close_outputs(struct produce *p, int status)
{
    struct telemetry *telemetry = p->telemetry;

    p->telemetry = NULL; /* there is no line to clear any more */
    if (telemetry_finish(telemetry) != FNET_OK) {
        report_error(&p->config.report, p->config.telemetry.stats_file, "cannot write", FNET_SYSTEM,
                     errno);
        status = status == EXIT_DONE ? EXIT_LOCAL : status;
    }
    if (fnet_trace_close(p->trace) != FNET_OK) {
        report_error(&p->config.report, p->config.trace_file, "cannot write", FNET_SYSTEM, errno);
        status = status == EXIT_DONE ? EXIT_LOCAL : status;
    }
    return status;
}

static void clear(struct produce *p)
{
    server_free(p->server);
    for (size_t i = 0; p->sources && i < partition_count(p); i++)
        source_free(p->sources[i]);
    for (size_t i = 0; p->partitions && i < partition_count(p); i++) {
        fnet_partition_free(p->partitions[i]);
        fnet_local_pool_free(p->pools[i]);
    }
    fnet_registry_clear(&p->registry);
    fnet_network_pool_free(p->pool);
    fnet_loop_free(p->loop);
    free(p->pools);
    free(p->partitions);
    free(p->sources);
    free(p->inputs);
    produce_config_clear(&p->config);
}

int main(int argc, char *argv[])
{
    struct produce p = {.status = EXIT_DONE};
    int used;

    produce_config_init(&p.config);
    enum options_result result = options_parse(&produce_options, &p.config, argc, argv, &used);
    if (result != OPTIONS_RUN) {
        produce_config_clear(&p.config);
        return options_exit(&produce_options, result);
    }
    int status = EXIT_USAGE;
    if (produce_config_complete(&p.config)) {
        /* What a write comes to is told by its errno: EPIPE, EFBIG. */
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN);
        status = p.config.is_dry_run ? plan_print(&p.config) : run(&p);
    }
    if (status == EXIT_DONE && !p.config.is_dry_run)
        print_digests(&p);
    status = close_outputs(&p, status);
    clear(&p);
    return status;
}
