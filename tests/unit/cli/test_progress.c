/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/progress: what the line says, by a clock of the test's, and how it behaves on terminals.
 */
#include "cli/progress.h"

#include <signal.h>
#include <sys/wait.h>

#include "overhear.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define START (5 * S)
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct report talkative = {.program = "prog", .most = REPORT_NOTE};
static const struct report quiet = {.program = "prog", .most = REPORT_ERROR};

static struct progress begin(enum telemetry_progress when, const struct report *report)
{
    struct progress p;

    progress_init(&p, when, report, START);
    return p;
}

/* Show RECORDS and nothing else, AFTER_NS the start. */
static void show(struct progress *p, uint64_t records, uint64_t after_ns)
{
    progress_show(p, &(struct telemetry_totals){.records = records}, START + after_ns);
}

static void summarize(struct progress *p, uint64_t records, uint64_t after_ns)
{
    progress_summarize(p, &(struct telemetry_totals){.records = records}, START + after_ns);
}

/* ---- in a file ----------------------------------------------------------------------------- */

static void test_plain(void)
{
    static const struct telemetry_totals first = {.records = 1500, .bytes = 3 << 20, .credit = 4};
    static const struct telemetry_totals second = {
        .records = 1510, .bytes = 4 << 20, .pool_used = 3, .pool_size = 16, .credit = 2};

    CASE("always, in a file: a line a second with the rates of that second, then the mean");
    FILE *file = listen_to_stderr();
    struct progress p = begin(TELEMETRY_PROGRESS_ALWAYS, &quiet);
    CHECK_INT(p.per_second, 1);
    progress_show(&p, &first, START + 1 * S);
    progress_clear(&p);
    progress_show(&p, &second, START + 2 * S);
    progress_clear(&p);
    progress_summarize(&p, &second, START + 4 * S);
    CHECK_STR(stop_listening(file),
              "prog: 1.5k records, 3.0 MiB, 1.5k/s, 3.0 MiB/s, credit 4\n"
              "prog: 1.5k records, 4.0 MiB, 10/s, 1.0 MiB/s, pool 3/16, "
              "credit 2\n"
              "prog: 1510 records, 4.0 MiB in 4.0 s, 377/s, 1.0 MiB/s mean\n");
}

static void test_expected(void)
{
    static const struct {
        uint64_t bytes;
        uint64_t expected_bytes;
        const char *line;
    } seconds[] = {
        {100, 1000, "prog: 1 records, 100 B, 1/s, 100 B/s, 10%, 0:09 left, credit 0\n"},
        {100, 1000, "prog: 1 records, 100 B, 0/s, 0 B/s, 10%, credit 0\n"},
        {200, 1000000, "prog: 1 records, 200 B, 0/s, 100 B/s, 0%, 2:46:38 left, credit 0\n"},
        {999999, 1000000, "prog: 1 records, 976 KiB, 0/s, 976 KiB/s, 99%, 0:00 left, credit 0\n"},
        {3000000, 1000000, "prog: 1 records, 2.8 MiB, 0/s, 1.9 MiB/s, 100%, 0:00 left, credit 0\n"},
        {3000001, UINT64_MAX,
         "prog: 1 records, 2.8 MiB, 0/s, 1 B/s, 0%, 5124095576029597:40:14 left, credit 0\n"},
    };

    CASE("where the end is known, so is how far it is; standing still, only how far it came");
    struct progress p = begin(TELEMETRY_PROGRESS_ALWAYS, &talkative);
    for (unsigned i = 0; i < COUNT(seconds); i++) {
        const struct telemetry_totals totals = {
            .records = 1, .bytes = seconds[i].bytes, .expected_bytes = seconds[i].expected_bytes};
        FILE *file = listen_to_stderr();
        progress_show(&p, &totals, START + (i + 1) * S);
        CHECK_STR(stop_listening(file), seconds[i].line);
    }
}

static void test_largest(void)
{
    static const struct telemetry_totals totals = {UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                                   UINT32_MAX, UINT32_MAX, UINT64_MAX};

    CASE("the largest numbers have room");
    FILE *file = listen_to_stderr();
    struct progress p = begin(TELEMETRY_PROGRESS_ALWAYS, &talkative);
    progress_show(&p, &totals, START + 1);
    progress_summarize(&p, &totals, UINT64_MAX);
    CHECK_STR(stop_listening(file),
              "prog: 18446P records, 16383 PiB, 18446P/s, 16383 PiB/s, 100%, 0:00 left, "
              "pool 4294967295/4294967295, credit 18446744073709551615\n"
              "prog: 18446744073709551615 records, 16383 PiB in 18446744068.7 s, 1.0G/s, "
              "953 MiB/s mean\n");
}

static void test_times(void)
{
    CASE("the mean is of the time since the first record, not of the wait for it");
    FILE *file = listen_to_stderr();
    struct progress p = begin(TELEMETRY_PROGRESS_ALWAYS, &talkative);
    show(&p, 0, 59 * S);
    show(&p, 0, 60 * S);
    show(&p, 10, 61 * S);
    summarize(&p, 30, 61500 * MS);
    const char *text = stop_listening(file);
    const char *end = strstr(text, "prog: 10 ");
    CHECK_STR(end ? end : text, "prog: 10 records, 0 B, 10/s, 0 B/s, credit 0\n"
                                "prog: 30 records, 0 B in 1.5 s, 20/s, 0 B/s mean\n");

    CASE("no time at all is no reason to divide by it");
    file = listen_to_stderr();
    p = begin(TELEMETRY_PROGRESS_ALWAYS, &talkative);
    summarize(&p, 30, 0);
    CHECK_STR(stop_listening(file), "prog: 30 records, 0 B in 0.0 s, 0/s, 0 B/s mean\n");
}

/* ---- on a terminal ------------------------------------------------------------------------- */

static void test_silence(void)
{
    static const struct {
        enum telemetry_progress when;
        const struct report *report;
        bool is_terminal;
    } silent[] = {
        {TELEMETRY_PROGRESS_AUTO, &talkative, false},
        {TELEMETRY_PROGRESS_AUTO, &quiet, true},
        {TELEMETRY_PROGRESS_NEVER, &talkative, true},
    };

    CASE("a file, -q, or never: nothing to show, and not a byte");
    for (size_t i = 0; i < COUNT(silent); i++) {
        struct terminal terminal = open_terminal(80);
        FILE *file = tmpfile();

        redirect_stderr(silent[i].is_terminal ? terminal.slave : fileno(file));
        struct progress p = begin(silent[i].when, silent[i].report);
        progress_clear(&p);
        summarize(&p, 1, 1 * S);
        restore_stderr();
        CHECK_INT(p.per_second, 0);
        write_mark(terminal.slave);
        CHECK_STR(read_terminal(&terminal), "");
        CHECK(fseek(file, 0, SEEK_END) == 0 && ftell(file) == 0);
        fclose(file);
        close_terminal(&terminal);
    }
}

static void test_live(void)
{
    struct terminal terminal = open_terminal(0);

    CASE("on a terminal the line is rewritten, by sight of the last second");
    redirect_stderr(terminal.slave);
    struct progress p = begin(TELEMETRY_PROGRESS_AUTO, &talkative);
    for (unsigned i = 1; i <= 6; i++)
        show(&p, i <= 5 ? i * 10 : 50, i * 250 * MS);
    progress_clear(&p);
    progress_clear(&p);
    summarize(&p, 50, 1500 * MS);
    write_mark(terminal.slave);
    restore_stderr();
    CHECK_INT(p.per_second, 4);
    CHECK_STR(read_terminal(&terminal), "\r10 records, 0 B, 40/s, 0 B/s, credit 0\033[K"
                                        "\r20 records, 0 B, 40/s, 0 B/s, credit 0\033[K"
                                        "\r30 records, 0 B, 40/s, 0 B/s, credit 0\033[K"
                                        "\r40 records, 0 B, 40/s, 0 B/s, credit 0\033[K"
                                        "\r50 records, 0 B, 40/s, 0 B/s, credit 0\033[K"
                                        "\r50 records, 0 B, 30/s, 0 B/s, credit 0\033[K"
                                        "\r\033[K"
                                        "prog: 50 records, 0 B in 1.5 s, 33/s, 0 B/s mean\n");
    close_terminal(&terminal);
}

static void test_narrow(void)
{
    static const struct {
        unsigned short columns;
        const char *expected;
    } widths[] = {
        {1, "\r\033[K"},
        {2, "\r1\033[K\r\033[K"},
        {11, "\r1 records,\033[K\r\033[K"},
        {36, "\r1 records, 0 B, 4/s, 0 B/s, credit \033[K\r\033[K"},
        {37, "\r1 records, 0 B, 4/s, 0 B/s, credit 0\033[K\r\033[K"},
        {38, "\r1 records, 0 B, 4/s, 0 B/s, credit 0\033[K\r\033[K"},
    };

    CASE("the line never reaches the end of the terminal's, where it would begin another");
    for (size_t i = 0; i < COUNT(widths); i++) {
        struct terminal terminal = open_terminal(widths[i].columns);

        redirect_stderr(terminal.slave);
        struct progress p = begin(TELEMETRY_PROGRESS_ALWAYS, &quiet);
        show(&p, 1, 250 * MS);
        progress_clear(&p);
        write_mark(terminal.slave);
        restore_stderr();
        CHECK_STR(read_terminal(&terminal), widths[i].expected);
        close_terminal(&terminal);
    }
}

static void test_dumb(void)
{
    struct terminal terminal = open_terminal(80);

    CASE("a dumb terminal gets blanks and no escape sequence");
    setenv("TERM", "dumb", 1);
    redirect_stderr(terminal.slave);
    struct progress p = begin(TELEMETRY_PROGRESS_AUTO, &talkative);
    show(&p, 100, 250 * MS);
    show(&p, 101, 1250 * MS);
    show(&p, 101, 5000 * MS);
    progress_clear(&p);
    summarize(&p, 101, 5000 * MS);
    write_mark(terminal.slave);
    restore_stderr();
    setenv("TERM", "xterm", 1);
    CHECK_STR(read_terminal(&terminal), "\r100 records, 0 B, 400/s, 0 B/s, credit 0"
                                        "\r101 records, 0 B, 80/s, 0 B/s, credit 0 "
                                        "\r101 records, 0 B, 20/s, 0 B/s, credit 0"
                                        "\r                                       \r"
                                        "prog: 101 records, 0 B in 5.0 s, 20/s, 0 B/s mean\n");
    close_terminal(&terminal);
}

/* Lead a session on TERMINAL with one process in it that shows progress; the MARK ends it. */
static void lead_session(const struct terminal *terminal, enum telemetry_progress when,
                         bool in_background)
{
    setsid();
    ioctl(terminal->slave, TIOCSCTTY, 0);
    pid_t child = fork();
    if (child == 0) {
        if (in_background)
            setpgid(0, 0);
        dup2(terminal->slave, STDERR_FILENO);
        struct progress p = begin(when, &talkative);
        show(&p, 1, 250 * MS);
        progress_clear(&p);
        summarize(&p, 1, 250 * MS);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    write_mark(terminal->slave);
    /* Its end would take away the terminal that is still being read. */
    for (;;)
        pause();
}

static void test_background(void)
{
    static const char shown[] = "\r1 records, 0 B, 4/s, 0 B/s, credit 0\033[K\r\033[K"
                                "prog: 1 records, 0 B in 0.2 s, 4/s, 0 B/s mean\n";
    static const struct {
        enum telemetry_progress when;
        bool in_background;
        const char *expected;
    } runs[] = {
        {TELEMETRY_PROGRESS_AUTO, false, shown},
        {TELEMETRY_PROGRESS_AUTO, true, ""},
        {TELEMETRY_PROGRESS_ALWAYS, true, shown},
    };

    CASE("in the background of its terminal a process keeps silent unless told to speak");
    for (size_t i = 0; i < COUNT(runs); i++) {
        struct terminal terminal = open_terminal(80);
        pid_t leader = fork();

        if (leader == 0)
            lead_session(&terminal, runs[i].when, runs[i].in_background);
        CHECK_STR(read_terminal(&terminal), runs[i].expected);
        kill(leader, SIGKILL);
        waitpid(leader, NULL, 0);
        close_terminal(&terminal);
    }
}

int main(void)
{
    alarm(20); /* for a terminal that never shows the MARK */
    setenv("TERM", "xterm", 1);
    test_plain();
    test_expected();
    test_largest();
    test_times();
    test_silence();
    test_live();
    test_narrow();
    test_dumb();
    test_background();
    return tap_done();
}
