/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: one-line messages on standard error, and the exit status an error stands for.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/exitcode.h"
#include "fnet/err.h"

enum report_level {
    REPORT_ERROR,  /**< always said */
    REPORT_NOTE,   /**< not with -q: warnings, summaries */
    REPORT_DETAIL, /**< only with -v */
};

/** Who speaks, and how much. */
struct report {
    const char *program;
    enum report_level most;         /**< the least important level that is said */
    void (*before_line)(void *arg); /**< makes way for a line (a progress line); NULL: nothing */
    void *arg;
};

/** -q: errors only. */
static inline void report_quieter(struct report *r)
{
    r->most = REPORT_ERROR;
}

/** -v: everything. */
static inline void report_louder(struct report *r)
{
    r->most = REPORT_DETAIL;
}

/**
 * Say one line, "program: WHERE: text"; WHERE may be NULL. What is not printable in it, as
 * messages of peers may hold, is escaped. A line longer than 4 KiB is cut.
 */
__attribute__((format(printf, 4, 5))) void report_say(const struct report *r,
                                                      enum report_level level, const char *where,
                                                      const char *format, ...);

/** Say "program: WHERE: WHAT: why" as an error; why is SAVED_ERRNO's text if ERR is FNET_SYSTEM. */
void report_error(const struct report *r, const char *where, const char *what, enum fnet_err err,
                  int saved_errno);

#define REPORT_PLACE_BYTES 128
/** What failed when a record was too long to be put together in memory, as WHAT for an error. */
void report_spill_file(char what[static REPORT_PLACE_BYTES], const char *spill_dir);

/**
 * The exit status of a command that ends with ERR: data that a peer left incomplete is 1, the
 * user's mistakes 2, a partition that is not there 3, a broken protocol 4, the own machine 6.
 */
int report_exit_code(enum fnet_err err);

#endif
