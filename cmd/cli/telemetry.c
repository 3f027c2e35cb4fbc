/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a running command tells about itself: when, and where to; statistics and digests.
 */
#include "cli/telemetry.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/escape.h"
#include "cli/progress.h"
#include "cli/units.h"

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

struct stats {
    FILE *file;       /* NULL: none */
    bool is_terminal; /* where the progress line may stand as well */
    uint64_t begin_ns;
    uint64_t interval_ns; /* 0: none but those asked for */
    int saved_errno;      /* of the first failure; not 0: nothing more is written */
};

struct telemetry {
    struct fnet_loop *loop;
    struct telemetry_source source;
    struct progress progress;
    struct fnet_timer progress_timer;
    struct stats stats;
    struct fnet_timer stats_timer;
};

/* ---- options ----------------------------------------------------------------------------- */

enum fnet_err telemetry_set_progress(struct telemetry_config *config, const char *text,
                                     const char **why)
{
    if (!text || strcmp(text, "always") == 0)
        config->progress = TELEMETRY_PROGRESS_ALWAYS;
    else if (strcmp(text, "auto") == 0)
        config->progress = TELEMETRY_PROGRESS_AUTO;
    else if (strcmp(text, "never") == 0)
        config->progress = TELEMETRY_PROGRESS_NEVER;
    else {
        *why = "not auto, always or never";
        return FNET_INVALID;
    }
    return FNET_OK;
}

/* ---- statistics -------------------------------------------------------------------------- */

/* A descriptor of their own, so that standard error is written by the line as well. */
static enum fnet_err stats_open(struct stats *s, const char *path)
{
    if (strcmp(path, "-") != 0) {
        s->file = fopen(path, "we");
    } else {
        int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        s->file = fd < 0 ? NULL : fdopen(fd, "w");
        if (fd >= 0 && !s->file)
            close(fd);
    }
    if (!s->file)
        return FNET_SYSTEM;
    s->is_terminal = isatty(fileno(s->file)) == 1;
    return FNET_OK;
}

/* Remember ERRNO unless something failed earlier. */
static void stats_fail(struct stats *s)
{
    if (s->saved_errno == 0)
        s->saved_errno = errno ? errno : EIO;
}

/* Numbers are whole, so that no locale changes their point. */
static void print_stats(const struct telemetry *t, FILE *out)
{
    uint64_t uptime_ms = (fnet_loop_now_ns(t->loop) - t->stats.begin_ns) / NS_PER_MS;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    fprintf(out, "{\"time\":%lld.%03u,\"uptime\":%" PRIu64 ".%03u,", (long long)now.tv_sec,
            (unsigned)((uint64_t)now.tv_nsec / NS_PER_MS), uptime_ms / 1000,
            (unsigned)(uptime_ms % 1000));
    t->source.stats(t->source.arg, out);
    fputs("}\n", out);
}

void telemetry_write_stats(struct telemetry *t)
{
    struct stats *s = &t->stats;

    if (!s->file || s->saved_errno)
        return;
    if (s->is_terminal)
        telemetry_clear_line(t);
    errno = 0;
    print_stats(t, s->file);
    if (fflush(s->file) != 0 || ferror(s->file))
        stats_fail(s);
}

static void stats_close(struct stats *s)
{
    errno = 0;
    if (s->file && fclose(s->file) != 0)
        stats_fail(s);
    s->file = NULL;
}

/* ---- the whole --------------------------------------------------------------------------- */

static struct telemetry_totals ask_totals(const struct telemetry *t)
{
    struct telemetry_totals totals = {0};

    t->source.totals(t->source.arg, &totals);
    return totals;
}

static enum fnet_err set_timer(struct telemetry *t, struct fnet_timer *timer, uint64_t in_ns)
{
    uint64_t now = fnet_loop_now_ns(t->loop);

    return fnet_timer_set(t->loop, timer, in_ns < UINT64_MAX - now ? now + in_ns : UINT64_MAX);
}

/* From TIMER's own function, which cannot fail: the place that it left in the heap is free. */
static void set_again(struct telemetry *t, struct fnet_timer *timer, uint64_t in_ns)
{
    enum fnet_err err = set_timer(t, timer, in_ns);

    assert(err == FNET_OK);
    (void)err;
}

static uint64_t progress_period_ns(const struct telemetry *t)
{
    return NS_PER_S / t->progress.per_second;
}

static void on_progress_timer(void *arg)
{
    struct telemetry *t = arg;
    struct telemetry_totals totals = ask_totals(t);

    progress_show(&t->progress, &totals, fnet_loop_now_ns(t->loop));
    set_again(t, &t->progress_timer, progress_period_ns(t));
}

static void on_stats_timer(void *arg)
{
    struct telemetry *t = arg;

    telemetry_write_stats(t);
    set_again(t, &t->stats_timer, t->stats.interval_ns);
}

/* Stop the timers, close and free; returns the error number of statistics, 0 if all went well. */
static int dispose(struct telemetry *t)
{
    fnet_timer_cancel(t->loop, &t->progress_timer);
    fnet_timer_cancel(t->loop, &t->stats_timer);
    stats_close(&t->stats);
    int saved_errno = t->stats.saved_errno;
    free(t);
    return saved_errno;
}

enum fnet_err telemetry_new(const struct telemetry_config *config, const struct report *report,
                            struct fnet_loop *loop, const struct telemetry_source *source,
                            struct telemetry **out)
{
    struct telemetry *t = calloc(1, sizeof *t);

    if (!t)
        return FNET_NOMEM;
    t->loop = loop;
    t->source = *source;
    t->progress_timer = (struct fnet_timer){.run = on_progress_timer, .arg = t};
    t->stats_timer = (struct fnet_timer){.run = on_stats_timer, .arg = t};
    progress_init(&t->progress, config->progress, report, fnet_loop_now_ns(loop));
    t->stats.begin_ns = fnet_loop_now_ns(loop);
    t->stats.interval_ns = config->interval_ns;

    enum fnet_err err = FNET_OK;
    if (config->stats_file)
        err = stats_open(&t->stats, config->stats_file);
    if (err == FNET_OK && t->stats.file && t->stats.interval_ns)
        err = set_timer(t, &t->stats_timer, t->stats.interval_ns);
    if (err == FNET_OK && t->progress.per_second)
        err = set_timer(t, &t->progress_timer, progress_period_ns(t));
    if (err != FNET_OK) {
        int saved_errno = errno;
        dispose(t);
        errno = saved_errno;
        return err;
    }
    *out = t;
    return FNET_OK;
}

void telemetry_clear_line(struct telemetry *t)
{
    if (t)
        progress_clear(&t->progress);
}

enum fnet_err telemetry_finish(struct telemetry *t)
{
    if (!t)
        return FNET_OK;
    telemetry_write_stats(t);
    progress_clear(&t->progress);
    if (t->progress.per_second) {
        struct telemetry_totals totals = ask_totals(t);
        progress_summarize(&t->progress, &totals, fnet_loop_now_ns(t->loop));
    }
    int saved_errno = dispose(t);
    if (saved_errno == 0)
        return FNET_OK;
    errno = saved_errno;
    return FNET_SYSTEM;
}

void telemetry_print_digest(const char *name, uint32_t subpartition,
                            const struct fnet_digest *digest)
{
    /* One lock around the pieces: they come out as one line. */
    flockfile(stderr);
    escape_print(stderr, fnet_span_of(name, strlen(name)));
    fprintf(stderr, ":%" PRIu32 " records %" PRIu64 " bytes %" PRIu64 " hash %016" PRIx64 "\n",
            subpartition, digest->records, digest->bytes, digest->hash);
    funlockfile(stderr);
}
