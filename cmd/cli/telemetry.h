/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: what a running command tells about itself: the progress line, statistics, digests.
 *
 * All of it goes to standard error or to the statistics file, nothing ever to standard output.
 */
#ifndef CLI_TELEMETRY_H
#define CLI_TELEMETRY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/report.h"
#include "fnet/digest.h"
#include "fnet/io.h"

enum telemetry_progress {
    /**
     * If standard error is a terminal, this process is not in its background, and -q was not
     * given. A command that writes its data to a terminal makes it TELEMETRY_PROGRESS_NEVER.
     */
    TELEMETRY_PROGRESS_AUTO,
    TELEMETRY_PROGRESS_ALWAYS, /**< not a terminal: a plain line a second */
    TELEMETRY_PROGRESS_NEVER,
};

/** What the options say; all zero is the default. */
struct telemetry_config {
    enum telemetry_progress progress;
    const char *stats_file; /**< "-": standard error; NULL: none */
    uint64_t interval_ns;   /**< between statistics; 0: only on USR2 and at the end */
};

/* A setter for the options tables, in the manner of struct options_entry. */

/** auto, always, never; NULL is always. Errors: FNET_INVALID. */
FNET_CHECKED enum fnet_err telemetry_set_progress(struct telemetry_config *config, const char *text,
                                                  const char **why);

/** Totals since the start, for the progress line; RECORDS and BYTES never decrease. */
struct telemetry_totals {
    uint64_t records;
    uint64_t bytes;
    uint64_t expected_bytes; /**< what BYTES will be at the end; 0: not known */
    uint32_t pool_used;      /**< network buffers in use */
    uint32_t pool_size;      /**< 0: there is no pool, nothing is said of it */
    uint64_t credit;         /**< what senders may send now */
};

struct telemetry;

/** Where the numbers come from; called only by the loop's timers and the functions below. */
struct telemetry_source {
    /** Fill in the totals; OUT is all zero. */
    void (*totals)(void *arg, struct telemetry_totals *out);
    /** Write at least one member of a JSON object (no braces, no comma before the first). */
    void (*stats)(void *arg, FILE *out);
    void *arg;
};

/**
 * Begin: make the statistics file or empty it, start the timers that are needed. Does not call
 * SOURCE yet.
 *
 * @param report  borrowed until finish: the program's name, and how talkative it is.
 * @param loop    borrowed until finish.
 * @param source  copied.
 * @param out     owned by caller: end it with telemetry_finish().
 *
 * Errors: FNET_SYSTEM (errno is set: the file), FNET_NOMEM.
 */
FNET_CHECKED enum fnet_err telemetry_new(const struct telemetry_config *config,
                                         const struct report *report, struct fnet_loop *loop,
                                         const struct telemetry_source *source,
                                         struct telemetry **out);

/** Write one line of statistics now (USR2), if there is a file for them. */
void telemetry_write_stats(struct telemetry *t);

/**
 * Clear the progress line, so that a message may be printed; it comes back by itself. Safe on
 * NULL.
 */
void telemetry_clear_line(struct telemetry *t);

/**
 * The end: the last statistics, a summary in place of the progress line, then free. Calls the
 * source once more. Safe on NULL.
 *
 * Errors: FNET_SYSTEM  statistics could not be written, now or earlier; errno is set. After the
 *                      first failure no more are written: a line would follow half a line.
 */
FNET_CHECKED enum fnet_err telemetry_finish(struct telemetry *t);

/** Print a digest to standard error, alike at both ends: "main:0 records 17 bytes 170 hash ...". */
void telemetry_print_digest(const char *name, uint32_t subpartition,
                            const struct fnet_digest *digest);

#endif
