/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outputs of every kind, with either backend.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../failmalloc.h"
#include "loops.h"

struct printer {
    struct fnet_loop *loop;
    struct fnet_task task;
    struct fnet_output *output;
    int posts;
};

static void on_ready(void *arg)
{
    struct printer *printer = arg;

    printer->posts++;
}

static void open_printer(struct printer *printer, enum fnet_loop_backend backend, int fd)
{
    *printer = (struct printer){.loop = new_loop(backend)};
    fnet_task_init(&printer->task, on_ready, printer);
    CHECK_INT(fnet_output_open(printer->loop, fd, &printer->task, &printer->output), FNET_OK);
}

static void close_printer(struct printer *printer)
{
    fnet_output_close(printer->output);
    fnet_task_cancel(&printer->task);
    fnet_loop_free(printer->loop);
}

static char block[65536];

static enum fnet_err write_one(struct fnet_output *output, const void *ptr, size_t len, size_t *n)
{
    const struct iovec span = {.iov_base = (void *)(uintptr_t)ptr, .iov_len = len};

    return fnet_output_write(output, &span, 1, n);
}

/* Write until nothing more goes; how much went. */
static size_t fill(struct printer *printer)
{
    size_t sum = 0, n = 0;
    enum fnet_err err;

    while ((err = write_one(printer->output, block, sizeof block, &n)) == FNET_OK) {
        CHECK(n > 0 && n <= sizeof block);
        sum += n;
    }
    CHECK_INT(err, FNET_AGAIN);
    return sum;
}

static void drain(int fd, size_t len)
{
    ssize_t n;

    while (len > 0 && (n = read(fd, block, len < sizeof block ? len : sizeof block)) > 0)
        len -= (size_t)n;
    CHECK_INT(len, 0);
}

/* What is written to ENDS[1] comes out of ENDS[0]; both are closed. */
static void check_stream(enum fnet_loop_backend backend, const int ends[2])
{
    struct printer printer;
    int flags = fcntl(ends[1], F_GETFL);

    open_printer(&printer, backend, ends[1]);
    size_t sum = fill(&printer);
    CHECK(sum > 0);
    turn(printer.loop, 2);
    CHECK_INT(printer.posts, 0);

    drain(ends[0], sum);
    turn(printer.loop, 1);
    CHECK_INT(printer.posts, 1);

    /* With room and nothing to write the loop does not spin. */
    printer.posts = 0;
    run_for(printer.loop, 2 * MS);
    CHECK_INT(printer.posts, 0);
    CHECK(fill(&printer) > 0);
    CHECK_INT(fcntl(ends[1], F_GETFL), flags);
    CHECK(!fnet_output_is_broken(printer.output));

    /* The reader leaves while there is something to write. */
    close(ends[0]);
    printer.posts = 0;
    run_for(printer.loop, 2 * MS);
    CHECK_INT(printer.posts, 1);
    CHECK(fnet_output_is_broken(printer.output));
    size_t n = 77;
    CHECK_INT(write_one(printer.output, "x", 1, &n), FNET_SYSTEM);
    CHECK_INT(errno, EPIPE);
    CHECK_INT(n, 77);
    close_printer(&printer);
    close(ends[1]);
}

/* The reading end leaves while nothing is written. */
static void check_broken_idle(enum fnet_loop_backend backend, const int ends[2])
{
    struct printer printer;
    size_t n = 0;

    open_printer(&printer, backend, ends[1]);
    CHECK_INT(write_one(printer.output, "x", 1, &n), FNET_OK);
    run_for(printer.loop, MS);
    CHECK_INT(printer.posts, 0);
    close(ends[0]);
    run_for(printer.loop, 2 * MS);
    CHECK_INT(printer.posts, 1);
    CHECK(fnet_output_is_broken(printer.output));
    close_printer(&printer);
    close(ends[1]);
}

static void test_streams(enum fnet_loop_backend backend)
{
    int ends[2];

    CASE("a pipe is written without waiting, and its end of the description stays blocking");
    CHECK_INT(pipe(ends), 0);
    check_stream(backend, ends);

    CASE("a pipe's reader that leaves is noticed while nothing is written");
    CHECK_INT(pipe(ends), 0);
    check_broken_idle(backend, ends);

    CASE("a socket is written without waiting, and without a signal when the peer has left");
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    signal(SIGPIPE, SIG_DFL);
    check_stream(backend, ends);
    signal(SIGPIPE, SIG_IGN);

    CASE("a socket's peer that leaves is noticed while nothing is written");
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    check_broken_idle(backend, ends);
}

static void test_fifo(enum fnet_loop_backend backend)
{
    char path[] = "/tmp/fnet-output-XXXXXX";
    char name[sizeof path + 5];
    struct printer printer;
    size_t n = 0;

    CASE("a named pipe that cannot be opened anew is written as poll says");
    CHECK(mkdtemp(path) != NULL);
    snprintf(name, sizeof name, "%s/fifo", path);
    CHECK_INT(mkfifo(name, 0600), 0);
    int reader = open(name, O_RDONLY | O_NONBLOCK);
    int writer = open(name, O_WRONLY);
    close(reader);
    open_printer(&printer, backend, writer);
    reader = open(name, O_RDONLY);
    CHECK_INT(write_one(printer.output, block, sizeof block, &n), FNET_OK);
    CHECK_INT(n, PIPE_BUF); /* the most that surely does not wait */
    size_t sum = n + fill(&printer);
    turn(printer.loop, 1);
    CHECK_INT(printer.posts, 0);
    drain(reader, sum);
    turn(printer.loop, 1);
    CHECK_INT(printer.posts, 1);

    CASE("its reader that leaves is noticed as well");
    close(reader);
    run_for(printer.loop, MS);
    CHECK(fnet_output_is_broken(printer.output));
    CHECK_INT(write_one(printer.output, "x", 1, &n), FNET_SYSTEM);
    CHECK_INT(errno, EPIPE);
    close_printer(&printer);
    close(writer);
    unlink(name);
    rmdir(path);
}

static void test_files(enum fnet_loop_backend backend)
{
    char path[] = "/tmp/fnet-output-XXXXXX";
    struct printer printer;
    size_t n = 0;

    CASE("a regular file is appended to when its description says so");
    int fd = mkstemp(path);
    CHECK_INT(write(fd, "first ", 6), 6);
    int appending = open(path, O_WRONLY | O_APPEND);
    open_printer(&printer, backend, appending);
    CHECK_INT(write_one(printer.output, "second", 6, &n), FNET_OK);
    CHECK_INT(n, 6);
    char text[13] = "";
    CHECK_INT(pread(fd, text, 12, 0), 12);
    CHECK_STR(text, "first second");
    CHECK_INT(lseek(appending, 0, SEEK_CUR), 12);
    run_for(printer.loop, MS);
    CHECK_INT(printer.posts, 0);
    close_printer(&printer);
    close(appending);
    close(fd);
    unlink(path);

    CASE("/dev/null takes everything");
    fd = open("/dev/null", O_WRONLY);
    open_printer(&printer, backend, fd);
    CHECK_INT(write_one(printer.output, block, sizeof block, &n), FNET_OK);
    CHECK_INT(n, sizeof block);
    close_printer(&printer);
    close(fd);

    CASE("a full disk is a system error, not a broken output");
    fd = open("/dev/full", O_WRONLY);
    open_printer(&printer, backend, fd);
    CHECK_INT(write_one(printer.output, "x", 1, &n), FNET_SYSTEM);
    CHECK_INT(errno, ENOSPC);
    CHECK(!fnet_output_is_broken(printer.output));
    close_printer(&printer);
    close(fd);
}

static void test_errors(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);
    struct fnet_task task;
    struct fnet_output *output = NULL;
    int ends[2];

    fnet_task_init(&task, on_ready, NULL);
    CASE("a descriptor open for reading only is refused");
    CHECK_INT(pipe(ends), 0);
    CHECK_INT(fnet_output_open(loop, ends[0], &task, &output), FNET_SYSTEM);
    CHECK_INT(errno, EBADF);
    CHECK(output == NULL);

    CASE("without memory there is no output");
    bool did_fail;
    unsigned n = 0;
    do {
        failmalloc_arm(++n);
        enum fnet_err err = fnet_output_open(loop, ends[1], &task, &output);
        did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        CHECK_INT(output == NULL, did_fail);
    } while (did_fail);
    fnet_output_close(output);
    fnet_output_close(NULL);
    close(ends[0]);
    close(ends[1]);
    fnet_loop_free(loop);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    WITH_BACKENDS(test_streams);
    WITH_BACKENDS(test_fifo);
    WITH_BACKENDS(test_files);
    WITH_BACKENDS(test_errors);
    return tap_done();
}
