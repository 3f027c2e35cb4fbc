/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fnet-consume: subpartitions in, records out.
 *
 * Source: Flink Task with a SingleInputGate.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/descriptors.h"
#include "cli/identity.h"
#include "consume/consume.h"
#include "consume/consume_plan.h"
#include "fnet/connection.h"

static void begin(void *arg)
{
    struct consume *c = arg;

    if (c->is_leaving)
        return;
    if (c->config.wants_list) {
        c->status = listing_print(c->listing, &c->config.process.report);
        consume_leave(c, FNET_LINGER_NS);
        return;
    }
    enum fnet_err err = consume_build_gates(c);
    if (err != FNET_OK) {
        report_error(&c->config.process.report, NULL, "cannot build the input gates", err, errno);
        consume_fail(c, EXIT_LOCAL);
    }
}

static bool is_stdout(const char *output)
{
    return !output || strcmp(output, "-") == 0;
}

/* Before signals are caught: the opening of a FIFO may wait, and can be interrupted. */
static int open_outputs(struct consume *c)
{
    c->outputs = calloc(consume_gates(c), sizeof *c->outputs);
    if (!c->outputs)
        return EXIT_LOCAL;
    for (size_t g = 0; g < consume_gates(c); g++) {
        const char *output = c->config.groups[g].output;
        c->outputs[g] = c->config.wants_list || is_stdout(output)
                            ? STDOUT_FILENO
                            : open(output, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (c->outputs[g] < 0) {
            report_error(&c->config.process.report, output, "cannot open", FNET_SYSTEM, errno);
            return EXIT_LOCAL;
        }
    }
    return EXIT_DONE;
}

static const char *output_name(const struct consume *c, size_t g)
{
    const char *output = c->config.groups[g].output;

    return is_stdout(output) ? "standard output" : output;
}

/* Two ways into one file would write over each other. */
static bool are_distinct(const struct consume *c)
{
    const char *const others[] = {c->config.process.trace_file,
                                  c->config.process.telemetry.stats_file};
    const struct identity traced = identity_of_path(others[0]);
    const struct identity counted = identity_of_path(others[1]);

    for (size_t g = 0; g < consume_gates(c); g++) {
        const struct identity output = identity_of_fd(c->outputs[g]);
        bool is_shared = identity_is_same(&output, &traced) || identity_is_same(&output, &counted);
        for (size_t other = 0; other < g; other++) {
            const struct identity earlier = identity_of_fd(c->outputs[other]);
            is_shared |= c->outputs[other] != c->outputs[g] && identity_is_same(&output, &earlier);
        }
        if (!is_shared)
            continue;
        options_mistake(&consume_options, "%s: the same file is written in another place too",
                        output_name(c, g));
        return false;
    }
    return true;
}

/* Only now that nothing was refused is an output emptied; standard output is left as it is. */
static int empty_outputs(struct consume *c)
{
    for (size_t g = 0; g < consume_gates(c); g++) {
        const struct identity output = identity_of_fd(c->outputs[g]);
        if (c->outputs[g] == STDOUT_FILENO || !output.is_regular ||
            ftruncate(c->outputs[g], 0) == 0)
            continue;
        report_error(&c->config.process.report, output_name(c, g), "cannot empty", FNET_SYSTEM,
                     errno);
        return EXIT_LOCAL;
    }
    return EXIT_DONE;
}

/* The first gate with the output of G: they share one sink, so that records stay whole. */
static size_t first_with_output_of(const struct consume *c, size_t g)
{
    size_t first = 0;

    while (c->outputs[first] != c->outputs[g])
        first++;
    return first;
}

static int build_sinks(struct consume *c)
{
    c->sinks = calloc(consume_gates(c), sizeof(struct sink *));
    c->intakes = calloc(consume_gates(c), sizeof(struct intake *));
    if (!c->sinks || !c->intakes) {
        report_error(&c->config.process.report, NULL, "cannot start", FNET_NOMEM, 0);
        return EXIT_LOCAL;
    }
    for (size_t g = 0; g < consume_gates(c); g++) {
        size_t first = first_with_output_of(c, g);
        if (first < g) {
            c->sinks[g] = c->sinks[first];
            continue;
        }
        const struct sink_config config = {
            .loop = c->process.loop, .fd = c->outputs[g], .drained = consume_on_drained, .arg = c};
        enum fnet_err err = sink_new(&config, &c->sinks[g]);
        if (err != FNET_OK) {
            report_error(&c->config.process.report, output_name(c, g), "cannot write", err, errno);
            return EXIT_LOCAL;
        }
    }
    return EXIT_DONE;
}

static enum fnet_err build_peers(struct consume *c)
{
    const struct peers_config config = {
        .loop = c->process.loop,
        .report = &c->config.process.report,
        .trace = c->process.trace,
        .connect_timeout_ns = c->config.connect_timeout_ns,
        .retries = c->config.retries,
        .idle_timeout_ns = c->config.idle_timeout_ns,
        .is_plaintext = c->config.process.is_plaintext,
        .listener = {.channel_error = consume_on_channel_error,
                     .description = consume_on_description,
                     .description_error = consume_on_description_error,
                     .arg = c},
        .unreachable = consume_on_unreachable,
        .lost = consume_on_lost,
        .emptied = consume_on_emptied,
        .arg = c,
    };
    return peers_new(&config, &c->peers);
}

static enum fnet_err build(struct consume *c)
{
    fnet_task_init(&c->begin, begin, c);
    fnet_task_init(&c->conclude, consume_on_conclude, c);
    c->leave = (struct fnet_timer){.run = consume_on_leave_over, .arg = c};
    c->late = (struct fnet_timer){.run = consume_on_conclude, .arg = c};
    enum fnet_err err = process_handle_signals(&c->process, consume_on_signal, c);
    if (err == FNET_OK && c->config.wants_list)
        err = listing_new(&c->listing);
    return err;
}

/* Records on the terminal and a progress line on it would tread on each other. */
static void arrange_progress(struct consume *c)
{
    for (size_t g = 0; g < consume_gates(c); g++)
        if (c->outputs[g] == STDOUT_FILENO && isatty(STDOUT_FILENO) &&
            c->config.process.telemetry.progress == TELEMETRY_PROGRESS_AUTO)
            c->config.process.telemetry.progress = TELEMETRY_PROGRESS_NEVER;
}

static int run(struct consume *c)
{
    const struct telemetry_source source = {
        .totals = consume_on_totals, .stats = consume_on_stats, .arg = c};
    int status = plan_check_addresses(&c->config);

    if (status == EXIT_DONE)
        status = open_outputs(c);
    if (status == EXIT_DONE && !are_distinct(c))
        status = EXIT_USAGE;
    if (status == EXIT_DONE)
        status = empty_outputs(c);
    if (status != EXIT_DONE)
        return status;

    arrange_progress(c);
    status = process_open(&c->process, &c->config.process, &consume_options, &source);
    if (status == EXIT_DONE)
        status = build_sinks(c);
    if (status != EXIT_DONE)
        return status;
    enum fnet_err err = build(c);
    if (err == FNET_OK)
        err = build_peers(c);
    if (err == FNET_OK)
        err = consume_ask(c);
    if (err == FNET_OK)
        err = fnet_loop_run(c->process.loop);
    if (err != FNET_OK) {
        report_error(&c->config.process.report, NULL, "cannot start", err, errno);
        return EXIT_LOCAL;
    }
    return c->status;
}

static int close_sinks(struct consume *c, int status)
{
    bool failed = false;

    for (size_t g = 0; c->sinks && g < consume_gates(c); g++) {
        if (first_with_output_of(c, g) != g || sink_close(c->sinks[g]) == FNET_OK)
            continue;
        report_error(&c->config.process.report, output_name(c, g), "cannot write", FNET_SYSTEM,
                     errno);
        failed = true;
    }
    return failed && status == EXIT_DONE ? EXIT_LOCAL : status;
}

static void clear(struct consume *c)
{
    for (size_t i = 0; i < c->query_count; i++)
        query_cancel(&c->queries[i]);
    for (size_t i = 0; i < c->reading_count; i++)
        reading_cancel(&c->readings[i]);
    peers_free(c->peers);
    for (size_t g = 0; c->intakes && g < consume_gates(c); g++)
        intake_free(c->intakes[g]);
    listing_free(c->listing);
    fnet_network_pool_free(c->pool);
    fnet_loop_free(c->process.loop);
    free(c->queries);
    free(c->readings);
    free(c->intakes);
    free(c->sinks);
    free(c->outputs);
    consume_config_clear(&c->config);
}

int main(int argc, char *argv[])
{
    descriptors_guard();

    struct consume c = {.status = EXIT_DONE};
    enum options_result result = consume_config_parse(&c.config, argc, argv);

    if (result != OPTIONS_RUN) {
        consume_config_clear(&c.config);
        return options_exit(&consume_options, result);
    }
    int status = c.config.process.is_dry_run ? plan_print(&c.config) : run(&c);
    if (status == EXIT_DONE)
        consume_print_digests(&c);
    status = process_close(&c.process, close_sinks(&c, status));
    clear(&c);
    return status;
}
