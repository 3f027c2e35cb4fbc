/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/telemetry: options, when progress and statistics are written, statistics, digests.
 */
#include "cli/telemetry.h"

#include <errno.h>

#include "../failmalloc.h"
#include "overhear.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)

static struct telemetry_totals numbers;
static unsigned totals_given;
static unsigned stats_given;

static void give_totals(void *arg, struct telemetry_totals *out)
{
    totals_given++;
    *out = *(struct telemetry_totals *)arg;
}

static void give_stats(void *arg, FILE *out)
{
    struct telemetry_totals *totals = arg;

    stats_given++;
    fprintf(out, "\"numRecords\":%llu", (unsigned long long)totals->records);
}

static const struct telemetry_source source = {give_totals, give_stats, &numbers};
static const struct report talkative = {.program = "prog", .most = REPORT_NOTE};

static char stats_path[] = "/tmp/test_telemetry.XXXXXX";

static struct telemetry *begin(struct fnet_loop *loop, enum telemetry_progress progress,
                               const char *stats_file, uint64_t interval_ns)
{
    struct telemetry_config config = {progress, stats_file, interval_ns};
    struct telemetry *t = NULL;

    numbers = (struct telemetry_totals){.records = 7};
    CHECK_INT(telemetry_new(&config, &talkative, loop, &source, &t), FNET_OK);
    return t;
}

static struct fnet_loop *new_loop(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = NULL;

    CHECK_INT(fnet_loop_new(backend, &loop), FNET_OK);
    return loop;
}

static void quit(void *arg)
{
    fnet_loop_quit(arg);
}

static void run_for(struct fnet_loop *loop, uint64_t ns)
{
    struct fnet_timer timer = {.run = quit, .arg = loop};

    CHECK_INT(fnet_timer_set(loop, &timer, fnet_loop_now_ns(loop) + ns), FNET_OK);
    CHECK_INT(fnet_loop_run(loop), FNET_OK);
    fnet_timer_cancel(loop, &timer);
}

/* Run LOOP until GIVEN has grown by N; gives up at some time, for checks to find out. */
static void run_until(struct fnet_loop *loop, const unsigned *given, unsigned n)
{
    unsigned goal = *given + n;

    for (unsigned patience = 500; *given < goal && patience > 0; patience--)
        run_for(loop, 10 * MS);
}

static const char *read_stats(void)
{
    FILE *file = fopen(stats_path, "r");

    CHECK(file != NULL);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    return said;
}

/* Check that TEXT begins with a line of statistics of RECORDS; returns what is behind it. */
static const char *check_stats(const char *text, unsigned records)
{
    static const char form[] =
        "{\"time\":%*[0-9].%*1[0-9]%*1[0-9]%*1[0-9],\"uptime\":%*[0-9].%*1[0-9]%*1[0-9]%*1[0-9]%n";
    char expected[64];
    int len = 0;

    CHECK(sscanf(text, form, &len) == 0 && len > 0);
    snprintf(expected, sizeof expected, ",\"numRecords\":%u}\n", records);
    if (!CHECK(strncmp(text + len, expected, strlen(expected)) == 0))
        return text + strlen(text);
    return text + len + strlen(expected);
}

/* ---- options ------------------------------------------------------------------------------- */

static void test_options(void)
{
    struct telemetry_config config = {.progress = TELEMETRY_PROGRESS_NEVER, .interval_ns = 7};
    const char *why = NULL;

    CASE("--progress takes three words, and none is always");
    CHECK_INT(telemetry_set_progress(&config, NULL, &why), FNET_OK);
    CHECK_INT(config.progress, TELEMETRY_PROGRESS_ALWAYS);
    CHECK_INT(telemetry_set_progress(&config, "auto", &why), FNET_OK);
    CHECK_INT(config.progress, TELEMETRY_PROGRESS_AUTO);
    CHECK_INT(telemetry_set_progress(&config, "always", &why), FNET_OK);
    CHECK_INT(config.progress, TELEMETRY_PROGRESS_ALWAYS);
    CHECK_INT(telemetry_set_progress(&config, "never", &why), FNET_OK);
    CHECK_INT(telemetry_set_progress(&config, "", &why), FNET_INVALID);
    CHECK_INT(telemetry_set_progress(&config, "Always", &why), FNET_INVALID);
    CHECK_STR(why, "not auto, always or never");
    CHECK_INT(config.progress, TELEMETRY_PROGRESS_NEVER);
}

/* ---- when ---------------------------------------------------------------------------------- */

static void test_progress(void)
{
    static const char first[] = "\r7 records, ";
    struct fnet_loop *loop = new_loop(FNET_LOOP_EPOLL);
    struct terminal terminal = open_terminal(80);

    CASE("the line comes by itself and again, goes for a message, and a summary is the end");
    redirect_stderr(terminal.slave);
    struct telemetry *t = begin(loop, TELEMETRY_PROGRESS_AUTO, NULL, 0);
    run_until(loop, &totals_given, 2);
    telemetry_clear_line(t);
    CHECK_INT(telemetry_finish(t), FNET_OK);
    write_mark(terminal.slave);
    restore_stderr();
    const char *text = read_terminal(&terminal);
    CHECK_MEM(text, first, sizeof first - 1);
    text = strstr(text + 1, first);
    CHECK(text != NULL);
    text = text ? strstr(text, "\033[K\r\033[Kprog: 7 records, 0 B in ") : NULL;
    CHECK(text && strstr(text, " mean\n"));
    close_terminal(&terminal);
    fnet_loop_free(loop);
}

static void test_intervals(void)
{
    struct fnet_loop *loop = new_loop(FNET_LOOP_POLL);

    CASE("an old file is emptied at once, and then holds a line for every interval");
    FILE *file = fopen(stats_path, "w");
    CHECK(file && fputs("old\n", file) >= 0 && fclose(file) == 0);
    struct telemetry *t = begin(loop, TELEMETRY_PROGRESS_NEVER, stats_path, 5 * MS);
    CHECK_STR(read_stats(), "");
    run_until(loop, &stats_given, 2);
    const char *rest = check_stats(read_stats(), 7);
    check_stats(rest, 7);
    CHECK_INT(telemetry_finish(t), FNET_OK);

    CASE("without an interval lines come when asked for, and there at once, and at the end");
    t = begin(loop, TELEMETRY_PROGRESS_NEVER, stats_path, 0);
    run_for(loop, 5 * MS);
    CHECK_STR(read_stats(), "");
    telemetry_write_stats(t);
    CHECK_STR(check_stats(read_stats(), 7), "");
    numbers.records = 8;
    CHECK_INT(telemetry_finish(t), FNET_OK);
    CHECK_STR(check_stats(check_stats(read_stats(), 7), 8), "");

    CASE("an interval of centuries does not wrap around to now");
    t = begin(loop, TELEMETRY_PROGRESS_NEVER, stats_path, UINT64_MAX - 1);
    run_for(loop, 5 * MS);
    CHECK_STR(read_stats(), "");
    CHECK_INT(telemetry_finish(t), FNET_OK);

    CASE("nothing runs when all is over, or nothing was wanted");
    t = begin(loop, TELEMETRY_PROGRESS_NEVER, NULL, 5 * MS);
    telemetry_write_stats(t);
    run_for(loop, 20 * MS);
    CHECK_INT(telemetry_finish(t), FNET_OK);
    CHECK_STR(check_stats(read_stats(), 7), "");
    fnet_loop_free(loop);
}

static void test_stats_on_terminal(void)
{
    struct fnet_loop *loop = new_loop(FNET_LOOP_EPOLL);
    struct terminal terminal = open_terminal(80);

    CASE("statistics on the terminal take the place of the progress line");
    redirect_stderr(terminal.slave);
    struct telemetry *t = begin(loop, TELEMETRY_PROGRESS_ALWAYS, "-", 0);
    run_until(loop, &totals_given, 1);
    CHECK_INT(telemetry_finish(t), FNET_OK);
    CHECK(fcntl(STDERR_FILENO, F_GETFD) >= 0);
    write_mark(terminal.slave);
    restore_stderr();
    const char *text = strstr(read_terminal(&terminal), "\r\033[K{");
    CHECK(text != NULL);
    text = check_stats(text ? text + strlen("\r\033[K") : "", 7);
    CHECK(strncmp(text, "prog: 7 records, ", 17) == 0);
    close_terminal(&terminal);
    fnet_loop_free(loop);
}

/* ---- what can go wrong --------------------------------------------------------------------- */

static void give_much(void *arg, FILE *out)
{
    (void)arg;
    fprintf(out, "\"much\":\"%*s\"", 100000, "");
}

static void test_failures(void)
{
    struct telemetry_source much = {give_totals, give_much, NULL};
    struct telemetry_config config = {TELEMETRY_PROGRESS_NEVER, "/nonexistent/stats", 0};
    struct fnet_loop *loop = new_loop(FNET_LOOP_EPOLL);
    struct telemetry *t = NULL;

    CASE("a file that cannot be made is an error before anything begins");
    errno = 0;
    CHECK_INT(telemetry_new(&config, &talkative, loop, &source, &t), FNET_SYSTEM);
    CHECK_INT(errno, ENOENT);
    CHECK(t == NULL);

    CASE("a full disk is reported at the end, however long the lines and however long ago");
    config.stats_file = "/dev/full";
    CHECK_INT(telemetry_new(&config, &talkative, loop, &source, &t), FNET_OK);
    telemetry_write_stats(t);
    telemetry_write_stats(t);
    errno = 0;
    CHECK_INT(telemetry_finish(t), FNET_SYSTEM);
    CHECK_INT(errno, ENOSPC);
    CHECK_INT(telemetry_new(&config, &talkative, loop, &much, &t), FNET_OK);
    errno = 0;
    CHECK_INT(telemetry_finish(t), FNET_SYSTEM);
    CHECK_INT(errno, ENOSPC);

    CASE("nothing to finish is fine");
    CHECK_INT(telemetry_finish(NULL), FNET_OK);
    telemetry_clear_line(NULL);
    fnet_loop_free(loop);
}

static void test_no_memory(void)
{
    struct telemetry_config config = {TELEMETRY_PROGRESS_ALWAYS, stats_path, 1 * S};
    unsigned n = 0;
    bool did_fail;

    CASE("whatever allocation fails, nothing is left behind");
    do {
        struct fnet_loop *loop = new_loop(FNET_LOOP_EPOLL);
        struct telemetry *t = NULL;

        failmalloc_arm(++n);
        enum fnet_err err = telemetry_new(&config, &talkative, loop, &source, &t);
        did_fail = failmalloc_disarm();
        if (err != FNET_OK) {
            CHECK(did_fail && t == NULL);
            CHECK(err == FNET_NOMEM || (err == FNET_SYSTEM && errno == ENOMEM));
        }
        FILE *file = listen_to_stderr();
        run_for(loop, 0);
        CHECK_INT(telemetry_finish(t), FNET_OK);
        stop_listening(file);
        fnet_loop_free(loop);
    } while (did_fail);
}

/* ---- digests ------------------------------------------------------------------------------- */

static void test_digest(void)
{
    struct fnet_digest digest = {.records = 17, .bytes = 170, .hash = 0xabc};

    CASE("a digest is one line of fixed form, whatever the name");
    FILE *file = listen_to_stderr();
    telemetry_print_digest("main", 0, &digest);
    digest = (struct fnet_digest){UINT64_MAX, UINT64_MAX, UINT64_MAX};
    telemetry_print_digest("a\nb", UINT32_MAX, &digest);
    CHECK_STR(stop_listening(file),
              "main:0 records 17 bytes 170 hash 0000000000000abc\n"
              "a\\nb:4294967295 records 18446744073709551615 bytes 18446744073709551615 "
              "hash ffffffffffffffff\n");
}

int main(void)
{
    alarm(20); /* for a terminal that never shows the MARK */
    setenv("TERM", "xterm", 1);
    int fd = mkstemp(stats_path);
    CHECK(fd >= 0 && close(fd) == 0);

    test_options();
    test_progress();
    test_intervals();
    test_stats_on_terminal();
    test_failures();
    test_no_memory();
    test_digest();
    unlink(stats_path);
    return tap_done();
}
