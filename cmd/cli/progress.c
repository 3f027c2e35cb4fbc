/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress line: what it says, and how it stays one line of a terminal.
 */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/units.h"

#define NS_PER_S UINT64_C(1000000000)
#define LINE_BYTES 256   /* more than the longest line has */
#define CLOCK_BYTES 32   /* more than the longest clock */
#define USUAL_COLUMNS 80 /* of a terminal that does not know its width */

struct line {
    char text[LINE_BYTES];
    size_t len;
};

/* ---- the text ---------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void append(struct line *line, const char *format, ...)
{
    size_t room = LINE_BYTES - line->len;
    va_list args;

    va_start(args, format);
    int n = vsnprintf(line->text + line->len, room, format, args);
    va_end(args);
    if (n > 0)
        line->len += (size_t)n < room ? (size_t)n : room - 1;
}

/* "0:07", "12:34", "1:00:00". */
static void format_clock(uint64_t seconds, char text[static CLOCK_BYTES])
{
    uint64_t hours = seconds / 3600;
    unsigned minutes = (unsigned)(seconds / 60 % 60);
    unsigned rest = (unsigned)(seconds % 60);

    if (hours)
        snprintf(text, CLOCK_BYTES, "%" PRIu64 ":%02u:%02u", hours, minutes, rest);
    else
        snprintf(text, CLOCK_BYTES, "%u:%02u", minutes, rest);
}

/* ", 250k/s, 12.3 MiB/s": what came in NS nanoseconds. */
static void append_rates(struct line *line, uint64_t records, uint64_t bytes, uint64_t ns)
{
    char count[UNITS_TEXT_BYTES];
    char size[UNITS_TEXT_BYTES];

    units_format_count(units_per_second(records, ns), count);
    units_format_size(units_per_second(bytes, ns), size);
    append(line, ", %s/s, %s/s", count, size);
}

/* ", 45%, 0:32 left": at BYTES_PER_SECOND; as long as nothing comes nobody knows how long. */
static void append_rest(struct line *line, const struct telemetry_totals *totals,
                        uint64_t bytes_per_second)
{
    uint64_t expected = totals->expected_bytes;
    uint64_t bytes = totals->bytes < expected ? totals->bytes : expected; /* a file may grow */
    char clock[CLOCK_BYTES];

    if (expected == 0)
        return;
    append(line, ", %u%%", (unsigned)((unsigned __int128)bytes * 100 / expected));
    if (bytes_per_second == 0)
        return;
    format_clock((expected - bytes) / bytes_per_second, clock);
    append(line, ", %s left", clock);
}

/* How things stand, and the rates of the last second. */
static void compose(struct progress *p, const struct telemetry_totals *totals, uint64_t now_ns,
                    struct line *line)
{
    struct progress_sample *then = &p->last_second[p->oldest];
    uint64_t records = totals->records - then->records;
    uint64_t bytes = totals->bytes - then->bytes;
    uint64_t ns = now_ns - then->at_ns;
    char count[UNITS_TEXT_BYTES];
    char size[UNITS_TEXT_BYTES];

    *then = (struct progress_sample){now_ns, totals->records, totals->bytes};
    p->oldest = (p->oldest + 1) % p->per_second;

    units_format_count(totals->records, count);
    units_format_size(totals->bytes, size);
    append(line, "%s records, %s", count, size);
    append_rates(line, records, bytes, ns);
    append_rest(line, totals, units_per_second(bytes, ns));
    if (totals->pool_size)
        append(line, ", pool %" PRIu32 "/%" PRIu32, totals->pool_used, totals->pool_size);
    append(line, ", credit %" PRIu64, totals->credit);
}

/* ---- its place --------------------------------------------------------------------------- */

/* Not where it would disturb whoever has the terminal now. */
static bool may_show(const struct progress *p)
{
    if (p->per_second == 0)
        return false;
    pid_t foreground = p->is_shy ? tcgetpgrp(STDERR_FILENO) : -1;
    return foreground <= 0 || foreground == getpgrp();
}

static size_t columns(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL_COLUMNS;
    return size.ws_col;
}

/* Replace what stands on the terminal's line by TEXT. */
static void rewrite(struct progress *p, const char *text, size_t len)
{
    /* The last column stays free: writing it makes some terminals go to the next line. */
    size_t room = columns() - 1;
    int shown = (int)(len < room ? len : room);
    int rest = p->is_dumb && p->shown > (size_t)shown ? (int)p->shown - shown : 0;

    if (p->is_dumb)
        fprintf(stderr, "\r%.*s%*s%s", shown, text, rest, "", shown ? "" : "\r");
    else
        fprintf(stderr, "\r%.*s\033[K", shown, text);
    p->shown = (size_t)shown;
}

/* ---- the whole --------------------------------------------------------------------------- */

void progress_init(struct progress *p, enum telemetry_progress when, const struct report *report,
                   uint64_t now_ns)
{
    bool is_terminal = isatty(STDERR_FILENO) == 1;
    bool is_shy = when == TELEMETRY_PROGRESS_AUTO;
    const char *term = getenv("TERM");

    *p = (struct progress){.program = report->program};
    if (when == TELEMETRY_PROGRESS_NEVER ||
        (is_shy && (!is_terminal || report->most < REPORT_NOTE)))
        return;
    p->per_second = is_terminal ? PROGRESS_LIVE_PER_SECOND : PROGRESS_PLAIN_PER_SECOND;
    p->is_live = is_terminal;
    p->is_shy = is_shy;
    /* Erasing is no colour: NO_COLOR changes nothing here. */
    p->is_dumb = !term || strcmp(term, "") == 0 || strcmp(term, "dumb") == 0;
    p->begin_ns = now_ns;
    for (unsigned i = 0; i < p->per_second; i++)
        p->last_second[i].at_ns = now_ns;
}

void progress_show(struct progress *p, const struct telemetry_totals *totals, uint64_t now_ns)
{
    struct line line = {.len = 0};

    if (totals->records == 0 && totals->bytes == 0)
        p->begin_ns = now_ns;
    compose(p, totals, now_ns, &line);
    if (!may_show(p))
        return;
    if (p->is_live)
        rewrite(p, line.text, line.len);
    else
        fprintf(stderr, "%s: %s\n", p->program, line.text);
}

void progress_clear(struct progress *p)
{
    if (p->shown && may_show(p))
        rewrite(p, "", 0);
}

void progress_summarize(struct progress *p, const struct telemetry_totals *totals, uint64_t now_ns)
{
    uint64_t ns = now_ns - p->begin_ns;
    struct line line = {.len = 0};
    char size[UNITS_TEXT_BYTES];

    if (!may_show(p))
        return;
    units_format_size(totals->bytes, size);
    append(&line, "%" PRIu64 " records, %s in %" PRIu64 ".%u s", totals->records, size,
           ns / NS_PER_S, (unsigned)(ns / (NS_PER_S / 10) % 10));
    append_rates(&line, totals->records, totals->bytes, ns);
    fprintf(stderr, "%s: %s mean\n", p->program, line.text);
}
