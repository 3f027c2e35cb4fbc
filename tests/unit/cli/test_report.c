/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/report: one line a message, and one status an error.
 */
#include "cli/report.h"

#include <errno.h>
#include <unistd.h>

#include "../tap.h"

static char said[8192];
static int saved_stderr;

static FILE *listen_to_stderr(void)
{
    FILE *file = tmpfile();

    fflush(stderr);
    saved_stderr = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    return file;
}

static const char *stop_listening(FILE *file)
{
    fflush(stderr);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    return said;
}

static void test_lines(void)
{
    struct report r = {.program = "prog", .most = REPORT_NOTE};

    CASE("a message names program, place, what and why");
    FILE *f = listen_to_stderr();
    report_say(&r, REPORT_NOTE, "10.0.0.1:5", "%d bytes", 3);
    report_say(&r, REPORT_ERROR, NULL, "no place");
    report_error(&r, "a/b", "open", FNET_SYSTEM, ENOENT);
    report_error(&r, "peer", "frame", FNET_BAD_LENGTH, 0);
    CHECK_STR(stop_listening(f), "prog: 10.0.0.1:5: 3 bytes\n"
                                 "prog: no place\n"
                                 "prog: a/b: open: No such file or directory\n"
                                 "prog: peer: frame: impossible length\n");

    CASE("a message stays on its line, whatever a peer wrote into it");
    f = listen_to_stderr();
    report_say(&r, REPORT_ERROR, "x\ny", "\033[2Jboo\n");
    CHECK_STR(stop_listening(f), "prog: x\\ny: \\x1b[2Jboo\\n\n");
}

static void test_levels(void)
{
    struct report r = {.program = "prog", .most = REPORT_NOTE};

    CASE("-q leaves errors, -v adds details");
    FILE *f = listen_to_stderr();
    report_say(&r, REPORT_DETAIL, NULL, "unheard");
    report_louder(&r);
    report_say(&r, REPORT_DETAIL, NULL, "detail");
    report_quieter(&r);
    report_say(&r, REPORT_NOTE, NULL, "unheard");
    report_say(&r, REPORT_ERROR, NULL, "error");
    CHECK_STR(stop_listening(f), "prog: detail\nprog: error\n");
}

static void test_exit_codes(void)
{
    CASE("errors fall into the statuses of the man pages");
    CHECK_INT(report_exit_code(FNET_OK), EXIT_DONE);
    CHECK_INT(report_exit_code(FNET_LOST), EXIT_INCOMPLETE);
    CHECK_INT(report_exit_code(FNET_REMOTE), EXIT_INCOMPLETE);
    CHECK_INT(report_exit_code(FNET_INVALID), EXIT_USAGE);
    CHECK_INT(report_exit_code(FNET_NO_PARTITION), EXIT_UNREACHABLE);
    CHECK_INT(report_exit_code(FNET_BAD_MAGIC), EXIT_MALFORMED);
    CHECK_INT(report_exit_code(FNET_BAD_SEQUENCE), EXIT_MALFORMED);
    CHECK_INT(report_exit_code(FNET_NOMEM), EXIT_LOCAL);
    CHECK_INT(report_exit_code(FNET_SYSTEM), EXIT_LOCAL);
}

int main(void)
{
    test_lines();
    test_levels();
    test_exit_codes();
    return tap_done();
}
