/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: what is malformed, cut or missing, on standard error: a line each, up to a bound.
 */
#ifndef INSPECT_PROBLEMS_H
#define INSPECT_PROBLEMS_H

#include "cli/report.h"
#include "inspect/conversation.h"

/** Lines of problems, and of notes, that are said; -v says all. */
#define PROBLEMS_SAID_MAX 20

/** Problems met, lines said; all zero but REPORT at first. */
struct problems {
    const struct report *report;
    uint64_t count; /**< of what was malformed, cut or missing */
    uint64_t problems_said;
    uint64_t notes_said;
    uint64_t unsaid;
};

/** Where something is: a file, and in it what the end SIDE of FLOW sent; FLOW may be NULL. */
struct place {
    const char *file;
    const struct fnet_flow *flow;
    unsigned side;
};

/** Count and say a problem. */
__attribute__((format(printf, 3, 4))) void problem_say(struct problems *p, const struct place *at,
                                                       const char *format, ...);

/** Say what is worth knowing but no problem: other traffic. */
__attribute__((format(printf, 3, 4))) void problem_note(struct problems *p, const struct place *at,
                                                        const char *format, ...);

/** Say what a FRAME_SKIPPED tells. */
void problem_say_skip(struct problems *p, const struct place *at, const struct frame_item *item);

/** Say what was found about M, once its records were taken. */
void problem_say_findings(struct problems *p, const struct place *at, const struct inspected *m);

/** Say how many lines were kept back. */
void problems_finish(struct problems *p);

#endif
