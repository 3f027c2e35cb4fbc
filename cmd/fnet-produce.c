/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fnet-produce: records in, subpartitions served.
 *
 * Source: Flink Task with a ResultPartition, its end by AckAllUserRecordsProcessed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/descriptors.h"
#include "cli/identity.h"
#include "fnet/connection.h"
#include "produce/announce.h"
#include "produce/produce.h"
#include "produce/produce_plan.h"

/* Before signals are caught: the opening of a FIFO may wait, and can be interrupted. */
static int open_inputs(struct produce *p)
{
    p->inputs = calloc(produce_partitions(p), sizeof *p->inputs);
    if (!p->inputs)
        return EXIT_LOCAL;
    for (size_t i = 0; i < produce_partitions(p); i++) {
        const char *file = p->config.operands[i].file;
        p->inputs[i] = strcmp(file, "-") == 0 ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
        if (p->inputs[i] < 0) {
            report_error(&p->config.process.report, file, "cannot open", FNET_SYSTEM, errno);
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
        .codec = p->config.codec,
        .progress = {.ring = produce_on_progress, .arg = p},
    };
    err = fnet_partition_new(&config, &p->partitions[i]);
    return err == FNET_OK ? fnet_registry_add(&p->registry, p->partitions[i]) : err;
}

static enum fnet_err build_partitions(struct produce *p)
{
    const size_t n = produce_partitions(p);
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

static int build_sources(struct produce *p)
{
    for (size_t i = 0; i < produce_partitions(p); i++) {
        const struct source_config config = {
            .loop = p->process.loop,
            .pool = p->pools[i],
            .partition = p->partitions[i],
            .fd = p->inputs[i],
            .spill_dir = getenv("TMPDIR"),
            .format = p->config.format,
            .serde = p->config.serde,
            .selector = p->config.selector,
            .timeout_ns = p->config.timeout_ns,
            .wants_digest = p->config.process.wants_digest,
            .ended = produce_on_source_ended,
            .arg = p,
        };
        enum fnet_err err = source_new(&config, &p->sources[i]);
        if (err != FNET_OK) {
            report_error(&p->config.process.report, p->config.operands[i].name,
                         "cannot read the input", err, errno);
            return EXIT_LOCAL;
        }
    }
    return EXIT_DONE;
}

static enum fnet_err build(struct produce *p)
{
    fnet_task_init(&p->check, produce_check, p);
    p->wait = (struct fnet_timer){.run = produce_on_wait_over, .arg = p};
    p->leave = (struct fnet_timer){.run = produce_on_leave_over, .arg = p};
    enum fnet_err err = build_partitions(p);
    return err == FNET_OK ? process_handle_signals(&p->process, produce_on_signal, p) : err;
}

static enum fnet_err build_server(struct produce *p)
{
    const struct server_config config = {
        .loop = p->process.loop,
        .report = &p->config.process.report,
        .registry = &p->registry,
        .trace = p->process.trace,
        .idle_timeout_ns = p->config.idle_timeout_ns,
        .lost = produce_on_lost,
        .emptied = produce_on_emptied,
        .arg = p,
    };
    return server_new(&config, &p->server);
}

/* Everything that can be refused is refused before a byte is read. */
static int listen_on(struct produce *p, const struct produce_listen *listen)
{
    struct fnet_address *addresses;
    size_t count;
    const char *why;
    char text[FNET_ADDRESS_TEXT_BYTES];
    int status = EXIT_DONE;

    if (fnet_endpoint_resolve(&listen->endpoint, true, &addresses, &count, &why) != FNET_OK) {
        report_say(&p->config.process.report, REPORT_ERROR, listen->endpoint.host,
                   "cannot listen: %s", why);
        return EXIT_UNREACHABLE;
    }
    for (size_t i = 0; status == EXIT_DONE && i < count; i++) {
        fnet_address_format(&addresses[i], text);
        if (!p->config.process.is_plaintext && !fnet_address_is_loopback(&addresses[i])) {
            options_mistake(&produce_options,
                            "--listen: %s is reachable from other hosts, who could read "
                            "everything: --plaintext allows it",
                            text);
            status = EXIT_USAGE;
        } else if (server_listen(p->server, &addresses[i], listen->assumed) != FNET_OK) {
            report_error(&p->config.process.report, text, "cannot listen", FNET_SYSTEM, errno);
            status = EXIT_UNREACHABLE;
        }
    }
    free(addresses);
    return status;
}

/* Files that are written would empty or overwrite an input that they are. */
static bool are_distinct(const struct produce *p)
{
    const char *const others[] = {p->config.process.trace_file,
                                  p->config.process.telemetry.stats_file, p->config.port_file};

    for (size_t i = 0; i < produce_partitions(p); i++) {
        const struct identity input = identity_of_fd(p->inputs[i]);
        for (size_t o = 0; o < sizeof others / sizeof *others; o++) {
            const struct identity other = identity_of_path(others[o]);
            if (!identity_is_same(&input, &other))
                continue;
            options_mistake(&produce_options, "%s: it is read as the input of %s", others[o],
                            p->config.operands[i].name);
            return false;
        }
    }
    return true;
}

static int start(struct produce *p)
{
    for (size_t i = 0; i < p->config.listen_count; i++) {
        int status = listen_on(p, &p->config.listens[i]);
        if (status != EXIT_DONE)
            return status;
    }

    int status = build_sources(p);
    return status == EXIT_DONE
               ? announce_addresses(&p->config.process.report, p->server, p->config.port_file,
                                    p->port_fd, p->config.ready_fd)
               : status;
}

static int run(struct produce *p)
{
    const struct telemetry_source source = {
        .totals = produce_on_totals, .stats = produce_on_stats, .arg = p};
    int status = open_inputs(p);

    if (status == EXIT_DONE && !are_distinct(p))
        status = EXIT_USAGE;
    if (status == EXIT_DONE)
        status = process_open(&p->process, &p->config.process, &produce_options, &source);
    if (status == EXIT_DONE)
        status = announce_open(&p->config.process.report, p->config.port_file, &p->port_fd);
    if (status != EXIT_DONE)
        return status;

    enum fnet_err err = build(p);
    if (err == FNET_OK)
        err = build_server(p);
    if (err == FNET_OK) {
        status = start(p);
        if (status != EXIT_DONE)
            return status;
        err = fnet_loop_run(p->process.loop);
    }
    if (err != FNET_OK) {
        report_error(&p->config.process.report, NULL, "cannot go on", err, errno);
        return EXIT_LOCAL;
    }
    return p->status;
}

static void clear(struct produce *p)
{
    server_free(p->server);
    for (size_t i = 0; p->sources && i < produce_partitions(p); i++)
        source_free(p->sources[i]);
    for (size_t i = 0; p->partitions && i < produce_partitions(p); i++) {
        fnet_partition_free(p->partitions[i]);
        fnet_local_pool_free(p->pools[i]);
    }
    fnet_registry_clear(&p->registry);
    fnet_network_pool_free(p->pool);
    fnet_loop_free(p->process.loop);
    free(p->pools);
    free(p->partitions);
    free(p->sources);
    free(p->inputs);
    produce_config_clear(&p->config);
}

int main(int argc, char *argv[])
{
    descriptors_guard();

    struct produce p = {.port_fd = -1, .status = EXIT_DONE};
    int used;

    produce_config_init(&p.config);
    enum options_result result = options_parse(&produce_options, &p.config, argc, argv, &used);
    if (result != OPTIONS_RUN) {
        produce_config_clear(&p.config);
        return options_exit(&produce_options, result);
    }
    int status = EXIT_USAGE;
    if (produce_config_complete(&p.config))
        status = p.config.process.is_dry_run ? plan_print(&p.config) : run(&p);
    if (status == EXIT_DONE && !p.config.process.is_dry_run)
        produce_print_digests(&p);
    status = process_close(&p.process, status);
    clear(&p);
    return status;
}
