/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: the progress line on standard error, its text and its place. Of telemetry.c; time comes in
 * as an argument.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/telemetry.h"

#define PROGRESS_LIVE_PER_SECOND 4  /**< a terminal's line: readable, and seems to move */
#define PROGRESS_PLAIN_PER_SECOND 1 /**< lines that pile up */

struct progress_sample {
    uint64_t at_ns;
    uint64_t records;
    uint64_t bytes;
};

/** All zero: there is nothing to show. */
struct progress {
    const char *program;
    unsigned per_second; /**< lines; 0: nothing to show */
    bool is_live;        /**< one line, rewritten in place */
    bool is_shy;         /**< silent while in the background of the terminal */
    bool is_dumb;        /**< the terminal has no sequence that erases */
    size_t shown;        /**< columns of the line that stands on the terminal now */
    uint64_t begin_ns;   /**< of the data: waiting for the first record spoils no mean */
    struct progress_sample last_second[PROGRESS_LIVE_PER_SECOND]; /**< PER_SECOND of them in use */
    unsigned oldest;                                              /**< of these */
};

/** Look at standard error, and begin at NOW_NS. */
void progress_init(struct progress *p, enum telemetry_progress when, const struct report *report,
                   uint64_t now_ns);
/** Show the line, PER_SECOND times a second. */
void progress_show(struct progress *p, const struct telemetry_totals *totals, uint64_t now_ns);
/** Clear what stands on the terminal. */
void progress_clear(struct progress *p);
/** Show the last line, with the mean rates, in place of the others; begin with a clear line. */
void progress_summarize(struct progress *p, const struct telemetry_totals *totals, uint64_t now_ns);

#endif
