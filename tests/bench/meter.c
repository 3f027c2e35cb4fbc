/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench: runs one command and notes what it used, as GNU time does, but with microseconds, and
 * bounded: the command ends when its time is over, when this program does, or the caller.
 *
 *     meter SECONDS FILE ROLE COMMAND [ARGUMENT]...
 *
 * appends a line to FILE: ROLE, seconds of CPU (user and system), peak resident memory in KiB. The
 * status is the command's, 128+n if signal n ended it. Descriptors from 4 up are not passed on.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FIRST_PRIVATE_FD = 4,
    LAST_PRIVATE_FD = 255,
};

static pid_t child;
static volatile sig_atomic_t is_late;

static _Noreturn void die(const char *what)
{
    perror(what);
    exit(6);
}

static void pass_on(int signal)
{
    if (signal == SIGALRM)
        is_late = 1;
    kill(child, signal == SIGALRM ? SIGKILL : signal);
}

static void handle_signals(void)
{
    static const int signals[] = {SIGALRM, SIGHUP, SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = pass_on};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], &action, NULL) != 0)
            die("sigaction");
}

static _Noreturn void become(char *command[], pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(6); /* it died meanwhile */
    execvp(command[0], command);
    die(command[0]);
}

/* Wait for the child; what it used goes to USAGE, its status is returned. */
static int wait_for_child(struct rusage *usage)
{
    int status;
    while (wait4(child, &status, 0, usage) < 0)
        if (errno != EINTR)
            die("wait4");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* One write: lines of several programs do not mix. */
static void note(const char *file, const char *role, const struct rusage *usage)
{
    char line[128];
    int len = snprintf(line, sizeof line, "%.32s %.6f %ld\n", role,
                       seconds(usage->ru_utime) + seconds(usage->ru_stime), usage->ru_maxrss);
    int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, line, (size_t)len) != len)
        die(file);
    close(fd);
}

int main(int argc, char *argv[])
{
    if (argc < 5) {
        fputs("usage: meter SECONDS FILE ROLE COMMAND [ARGUMENT]...\n", stderr);
        return 2;
    }
    for (int fd = FIRST_PRIVATE_FD; fd <= LAST_PRIVATE_FD; fd++)
        close(fd);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    pid_t self = getpid();
    child = fork();
    if (child < 0)
        die("fork");
    if (child == 0)
        become(argv + 4, self);
    handle_signals();
    /* Whoever reads the command's output sees its end, and no later one. */
    for (int fd = 0; fd < FIRST_PRIVATE_FD; fd++)
        if (fd != STDERR_FILENO)
            close(fd);
    alarm((unsigned)strtoul(argv[1], NULL, 10));
    struct rusage usage;
    int status = wait_for_child(&usage);
    note(argv[2], argv[3], &usage);
    if (is_late)
        fprintf(stderr, "meter: %s did not end within %s seconds\n", argv[4], argv[1]);
    return status;
}
