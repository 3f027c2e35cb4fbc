/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages for people, exit statuses for scripts.
 */
#include "cli/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/escape.h"

#define LINE_MAX_BYTES 4096

void report_say(const struct report *r, enum report_level level, const char *where,
                const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list args;

    if (level > r->most)
        return;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0)
        return;

    if (r->before_line)
        r->before_line(r->arg);
    /* One lock around the pieces: they come out as one line. */
    flockfile(stderr);
    fprintf(stderr, "%s: ", r->program);
    if (where) {
        escape_print(stderr, fnet_span_of(where, strlen(where)));
        fputs(": ", stderr);
    }
    escape_print(stderr, fnet_span_of(line, strlen(line)));
    putc('\n', stderr);
    funlockfile(stderr);
}

void report_error(const struct report *r, const char *where, const char *what, enum fnet_err err,
                  int saved_errno)
{
    report_say(r, REPORT_ERROR, where, "%s: %s", what,
               err == FNET_SYSTEM ? strerror(saved_errno) : fnet_strerror(err));
}

void report_spill_file(char what[static REPORT_PLACE_BYTES], const char *spill_dir)
{
    snprintf(what, REPORT_PLACE_BYTES, "the temporary file of a long record in %s",
             spill_dir ? spill_dir : "/tmp");
}

int report_exit_code(enum fnet_err err)
{
    switch (err) {
    case FNET_OK:
    case FNET_EOF: return EXIT_DONE;

    case FNET_REMOTE:
    case FNET_LOST: return EXIT_INCOMPLETE;

    case FNET_INVALID:
    case FNET_STATE:
    case FNET_RANGE:
    case FNET_UNSUPPORTED: return EXIT_USAGE;

    case FNET_NO_PARTITION: return EXIT_UNREACHABLE;

    case FNET_TRUNCATED:
    case FNET_BAD_MAGIC:
    case FNET_BAD_LENGTH:
    case FNET_BAD_KIND:
    case FNET_BAD_SEQUENCE:
    case FNET_BAD_VALUE:
    case FNET_NO_CREDIT:
    case FNET_UNKNOWN_RECEIVER: return EXIT_MALFORMED;

    case FNET_AGAIN:
    case FNET_INCOMPRESSIBLE:
    case FNET_NOMEM:
    case FNET_SYSTEM: return EXIT_LOCAL;
    }
    return EXIT_LOCAL;
}
