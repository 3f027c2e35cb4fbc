/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench: how long is a record under way? One end writes lines that hold the time, at a steady rate;
 * the other reads them as they come. Between them goes what is measured, or the bare relay below:
 * pipe, TCP, pipe, and nothing else.
 *
 *     pinger send RATE COUNT         COUNT lines of 100 bytes, RATE a second, to standard output
 *     pinger receive SKIP            from standard input; the first SKIP lines do not count
 *     pinger serve PORT-FILE         standard input to whoever connects; the port goes to PORT-FILE
 *     pinger fetch PORT              what that serves, to standard output
 *
 * receive prints `p50 p99 p99.9 max` in microseconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_BYTES = 100, /* with the line end */
    RELAY_BYTES = 64 << 10,
    MOST_LINES = 10000000,
    MOST_PER_SECOND = 1000000,
};

static const int64_t second = 1000000000;

static _Noreturn void die(const char *what)
{
    perror(what);
    exit(6);
}

static _Noreturn void usage(void)
{
    fputs("usage: pinger send RATE COUNT | receive SKIP | serve PORT-FILE | fetch PORT\n", stderr);
    exit(2);
}

static int64_t number(const char *text, int64_t least, int64_t most)
{
    char *end;
    errno = 0;
    int64_t value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most)
        usage();
    return value;
}

static void write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0)
            die("write");
        bytes += n;
        len -= (size_t)n;
    }
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * second + t.tv_nsec;
}

static void sleep_until(int64_t when)
{
    struct timespec t = {.tv_sec = when / second, .tv_nsec = when % second};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        continue;
}

/* ---- the two ends ---- */

/* A line that is late because an earlier one had to wait holds the time at which it was due. */
static void send_lines(int64_t rate, int64_t count)
{
    char line[LINE_BYTES + 1];
    prctl(PR_SET_TIMERSLACK, 1);
    int64_t start = now();
    for (int64_t i = 0; i < count; i++) {
        int64_t due = start + i * second / rate;
        int64_t stamp = due;
        if (now() < due) {
            sleep_until(due);
            stamp = now();
        }
        snprintf(line, sizeof line, "%020" PRId64 " %078d\n", stamp, 0);
        write_all(STDOUT_FILENO, line, LINE_BYTES);
    }
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct delays {
    int64_t *of;
    size_t count;
    size_t room;
    size_t skip;
};

static void delays_add(struct delays *d, int64_t delay)
{
    if (d->skip) {
        d->skip--;
        return;
    }
    if (d->count == d->room) {
        d->room = d->room ? 2 * d->room : 4096;
        d->of = d->room > MOST_LINES ? NULL : realloc(d->of, d->room * sizeof *d->of);
        if (!d->of)
            die("delays");
    }
    d->of[d->count++] = delay;
}

static double microseconds(const struct delays *d, double share)
{
    return (double)d->of[(size_t)(share * (double)(d->count - 1) + 0.5)] / 1e3;
}

static void receive_lines(size_t skip)
{
    static char input[RELAY_BYTES];
    struct delays d = {.skip = skip};
    size_t have = 0;
    for (;;) {
        ssize_t n = read(STDIN_FILENO, input + have, sizeof input - have);
        if (n < 0)
            die("read");
        if (n == 0)
            break;
        int64_t arrived = now();
        have += (size_t)n;
        size_t at = 0;
        for (; have - at >= LINE_BYTES; at += LINE_BYTES)
            delays_add(&d, arrived - strtoll(input + at, NULL, 10));
        have -= at;
        memmove(input, input + at, have);
    }
    if (!d.count || have) {
        fputs("pinger: no lines, or half a line\n", stderr);
        exit(1);
    }
    qsort(d.of, d.count, sizeof *d.of, compare);
    printf("%.1f %.1f %.1f %.1f\n", microseconds(&d, .5), microseconds(&d, .99),
           microseconds(&d, .999), microseconds(&d, 1));
    free(d.of);
}

/* ---- the bare relay ---- */

static int listen_once(const char *port_file)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, len) != 0 ||
        listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr *)&address, &len) != 0)
        die("listen");
    FILE *file = fopen(port_file, "w");
    if (!file || fprintf(file, "%d\n", ntohs(address.sin_port)) < 0 || fclose(file) != 0)
        die(port_file);
    int fd = accept(listener, NULL, NULL);
    if (fd < 0)
        die("accept");
    return fd;
}

static int connect_once(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("connect");
    return fd;
}

static void relay(int from, int to)
{
    static char bytes[RELAY_BYTES];
    ssize_t n;
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        write_all(to, bytes, (size_t)n);
    if (n < 0)
        die("read");
}

static void serve(const char *port_file)
{
    int fd = listen_once(port_file);
    int on = 1;
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        die("TCP_NODELAY");
    relay(STDIN_FILENO, fd);
}

int main(int argc, char *argv[])
{
    const char *what = argc > 2 ? argv[1] : "";
    if (argc == 4 && strcmp(what, "send") == 0)
        send_lines(number(argv[2], 1, MOST_PER_SECOND), number(argv[3], 1, MOST_LINES));
    else if (argc == 3 && strcmp(what, "receive") == 0)
        receive_lines((size_t)number(argv[2], 0, MOST_LINES));
    else if (argc == 3 && strcmp(what, "serve") == 0)
        serve(argv[2]);
    else if (argc == 3 && strcmp(what, "fetch") == 0)
        relay(connect_once((uint16_t)number(argv[2], 1, UINT16_MAX)), STDOUT_FILENO);
    else
        usage();
    return 0;
}
