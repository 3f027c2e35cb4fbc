/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every process that moves records has.
 */
#include "cli/process.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "cli/backend.h"

#define AT(member) offsetof(struct process_config, member)

static enum fnet_err set_progress(void *arg, const char *text, const char **why)
{
    struct process_config *config = arg;

    return telemetry_set_progress(&config->telemetry, text, why);
}

const struct options_entry process_options[PROCESS_OPTIONS] = {
    {.name = "plaintext",
     .help = "allow addresses beyond this host, unencrypted",
     .value = OPTIONS_FLAG,
     .offset = AT(is_plaintext)},
    {.name = "trace",
     .argument = "FILE",
     .help = "write every frame to FILE, for fnet-inspect",
     .value = OPTIONS_TEXT,
     .offset = AT(trace_file)},
    {.name = "progress",
     .argument = "WHEN",
     .is_argument_optional = true,
     .help = "show progress: auto (default), always, never",
     .set = set_progress},
    {.name = "stats",
     .argument = "FILE",
     .help = "write statistics to FILE, JSON lines",
     .value = OPTIONS_TEXT,
     .offset = AT(telemetry.stats_file)},
    {.name = "stats-interval",
     .argument = "D",
     .help = "how often (only on USR2 and at the end)",
     .value = OPTIONS_DURATION,
     .offset = AT(telemetry.interval_ns)},
    {.name = "digest",
     .help = "print count and hash of each subpartition's records",
     .value = OPTIONS_FLAG,
     .offset = AT(wants_digest)},
    {.name = "dry-run",
     .help = "print what would be done, and stop",
     .value = OPTIONS_FLAG,
     .offset = AT(is_dry_run)},
    {.name = "quiet",
     .letter = 'q',
     .help = "say errors only",
     .value = OPTIONS_CONSTANT,
     .offset = AT(report.most),
     .min = REPORT_ERROR},
    {.name = "verbose",
     .letter = 'v',
     .help = "say more",
     .value = OPTIONS_CONSTANT,
     .offset = AT(report.most),
     .min = REPORT_DETAIL},
};

static void clear_progress_line(void *arg)
{
    struct process *process = arg;

    telemetry_clear_line(process->telemetry);
}

static int open_loop(struct process *process, const struct options_table *table)
{
    enum fnet_err err = backend_loop_new(&process->loop);

    if (err == FNET_INVALID) {
        options_mistake(table, "FNET_LOOP: neither epoll nor poll");
        return EXIT_USAGE;
    }
    if (err != FNET_OK)
        report_error(&process->config->report, NULL, "event loop", err, errno);
    return err == FNET_OK ? EXIT_DONE : EXIT_LOCAL;
}

static int open_files(struct process *process, const struct telemetry_source *source)
{
    const struct process_config *config = process->config;
    const char *file = config->trace_file;
    enum fnet_err err = FNET_OK;

    if (file)
        err = fnet_trace_open(process->loop, file, &process->trace);
    if (err == FNET_OK) {
        file = config->telemetry.stats_file;
        err = telemetry_new(&config->telemetry, &config->report, process->loop, source,
                            &process->telemetry);
    }
    if (err != FNET_OK)
        report_error(&config->report, file, "cannot open", err, errno);
    return err == FNET_OK ? EXIT_DONE : EXIT_LOCAL;
}

int process_open(struct process *process, struct process_config *config,
                 const struct options_table *table, const struct telemetry_source *source)
{
    *process = (struct process){.config = config};
    config->report.before_line = clear_progress_line;
    config->report.arg = process;

    /* What a write comes to is told by its errno: EPIPE, EFBIG. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int status = open_loop(process, table);
    return status == EXIT_DONE ? open_files(process, source) : status;
}

enum fnet_err process_handle_signals(struct process *process, void (*handler)(void *arg, int signo),
                                     void *arg)
{
    sigset_t signals;

    backend_signals(&signals);
    return fnet_loop_handle_signals(process->loop, &signals, handler, arg);
}

int process_close(struct process *process, int status)
{
    struct telemetry *telemetry = process->telemetry;
    bool failed = false;

    process->telemetry = NULL; /* there is no line to clear any more */
    if (telemetry_finish(telemetry) != FNET_OK) {
        report_error(&process->config->report, process->config->telemetry.stats_file,
                     "cannot write", FNET_SYSTEM, errno);
        failed = true;
    }
    if (fnet_trace_close(process->trace) != FNET_OK) {
        report_error(&process->config->report, process->config->trace_file, "cannot write",
                     FNET_SYSTEM, errno);
        failed = true;
    }
    process->trace = NULL;
    return failed && status == EXIT_DONE ? EXIT_LOCAL : status;
}
