/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: what a program says on standard error, overheard in a file or on a terminal.
 */
#ifndef TESTS_CLI_OVERHEAR_H
#define TESTS_CLI_OVERHEAR_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "../tap.h"

#define SAID_BYTES 8192
#define MARK '~' /* ends what is read from a terminal */

static char said[SAID_BYTES];
static int saved_stderr;

static inline void redirect_stderr(int fd)
{
    fflush(stderr);
    saved_stderr = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
}

static inline void restore_stderr(void)
{
    fflush(stderr);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
}

static inline FILE *listen_to_stderr(void)
{
    FILE *file = tmpfile();

    redirect_stderr(fileno(file));
    return file;
}

static inline const char *stop_listening(FILE *file)
{
    restore_stderr();
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    return said;
}

struct terminal {
    int master;
    int slave;
};

static inline struct terminal open_terminal(unsigned short columns)
{
    struct terminal terminal = {.master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    struct termios raw;

    CHECK(terminal.master >= 0 && grantpt(terminal.master) == 0 && unlockpt(terminal.master) == 0);
    terminal.slave = open(ptsname(terminal.master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(ioctl(terminal.slave, TIOCSWINSZ, &size) == 0);
    CHECK(tcgetattr(terminal.slave, &raw) == 0);
    cfmakeraw(&raw);
    CHECK(tcsetattr(terminal.slave, TCSANOW, &raw) == 0);
    return terminal;
}

/* What was written before the MARK that somebody wrote. */
static inline const char *read_terminal(const struct terminal *terminal)
{
    size_t len = 0;
    char byte;

    while (len + 1 < sizeof said && read(terminal->master, &byte, 1) == 1 && byte != MARK)
        said[len++] = byte;
    said[len] = '\0';
    return said;
}

static inline void close_terminal(struct terminal *terminal)
{
    close(terminal->slave);
    close(terminal->master);
}

static inline void write_mark(int fd)
{
    static const char mark = MARK;

    CHECK(write(fd, &mark, 1) == 1);
}

#endif
