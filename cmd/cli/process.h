/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: what every process that moves records has: a loop, signals, a trace, telemetry, and the
 * options that are about them.
 */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include <stdbool.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/telemetry.h"
#include "fnet/connection.h"

/** What the options of process_options say. All zero but REPORT is the default. */
struct process_config {
    struct report report;
    struct telemetry_config telemetry;
    const char *trace_file;
    bool is_plaintext; /**< addresses of other hosts are allowed */
    bool wants_digest;
    bool is_dry_run;
};

/** For an options table: its SHARED entries, which go into a struct process_config. */
#define PROCESS_OPTIONS 9
extern const struct options_entry process_options[PROCESS_OPTIONS];

struct process {
    struct process_config *config; /**< borrowed */
    struct fnet_loop *loop;        /**< owned */
    struct fnet_trace *trace;      /**< owned; NULL: none */
    struct telemetry *telemetry;   /**< owned */
};

/**
 * Make the loop that FNET_LOOP names and open the files that CONFIG names, while signals still
 * have their way: a FIFO waits for its reader. From now on messages make way for the progress line.
 *
 * @param table   for a mistake in FNET_LOOP.
 * @param source  of the telemetry.
 *
 * Returns an exit status; a failure is reported. process_close() afterwards, whatever it was.
 */
int process_open(struct process *process, struct process_config *config,
                 const struct options_table *table, const struct telemetry_source *source);

/**
 * From now on HANDLER hears of HUP, INT and TERM, unless who started us wants them ignored, and
 * of USR2. Errors: as fnet_loop_handle_signals().
 */
FNET_CHECKED enum fnet_err process_handle_signals(struct process *process,
                                                  void (*handler)(void *arg, int signo), void *arg);

/**
 * Close the files; the loop stays, for what is still to be torn down: fnet_loop_free().
 *
 * Returns STATUS, or another if that was EXIT_DONE and a file could not be written to its end.
 */
int process_close(struct process *process, int status);

#endif
