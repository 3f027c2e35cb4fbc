/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs of every kind, with either backend.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../failmalloc.h"
#include "loops.h"

struct reader {
    struct fnet_loop *loop;
    struct fnet_task task;
    struct fnet_input *input;
    int posts;
    bool is_waiting; /* a post ends the run */
    char bytes[64];
    size_t n;
};

static void on_ready(void *arg)
{
    struct reader *reader = arg;

    reader->posts++;
    if (reader->is_waiting)
        fnet_loop_quit(reader->loop);
}

static void open_reader(struct reader *reader, enum fnet_loop_backend backend, int fd)
{
    *reader = (struct reader){.loop = new_loop(backend)};
    fnet_task_init(&reader->task, on_ready, reader);
    CHECK_INT(fnet_input_open(reader->loop, fd, &reader->task, &reader->input), FNET_OK);
}

static void close_reader(struct reader *reader)
{
    fnet_input_close(reader->input);
    fnet_task_cancel(&reader->task);
    fnet_loop_free(reader->loop);
}

static enum fnet_err read_some(struct reader *reader)
{
    return fnet_input_read(reader->input, reader->bytes, sizeof reader->bytes, &reader->n);
}

static void check_read(struct reader *reader, const char *expected)
{
    if (CHECK_INT(read_some(reader), FNET_OK) && CHECK_INT(reader->n, strlen(expected)))
        CHECK_MEM(reader->bytes, expected, reader->n);
}

/* A stream that holds nothing yet: ENDS[1] is written, ENDS[0] read and closed. */
static void check_stream(enum fnet_loop_backend backend, const int ends[2])
{
    struct reader reader;
    int flags = fcntl(ends[0], F_GETFL);

    open_reader(&reader, backend, ends[0]);
    CHECK_INT(read_some(&reader), FNET_AGAIN);
    CHECK_INT(reader.n, 0);
    turn(reader.loop, 2);
    CHECK_INT(reader.posts, 0);

    CHECK_INT(write(ends[1], "hello\n", 6), 6);
    turn(reader.loop, 1);
    CHECK_INT(reader.posts, 1);
    check_read(&reader, "hello\n");
    CHECK_INT(read_some(&reader), FNET_AGAIN);
    turn(reader.loop, 2);
    CHECK_INT(reader.posts, 1);

    /* Its reader is busy elsewhere: the loop does not spin. */
    CHECK_INT(write(ends[1], "more\n", 5), 5);
    run_for(reader.loop, 2 * MS);
    CHECK_INT(reader.posts, 2);
    check_read(&reader, "more\n");

    CHECK_INT(read_some(&reader), FNET_AGAIN);
    CHECK_INT(write(ends[1], "last\n", 5), 5);
    CHECK_INT(fcntl(ends[0], F_GETFL), flags);
    close(ends[1]);
    reader.posts = 0;
    turn(reader.loop, 1);
    CHECK_INT(reader.posts, 1);
    check_read(&reader, "last\n");
    close_reader(&reader);
    close(ends[0]);
}

static void check_end(enum fnet_loop_backend backend, int fd)
{
    struct reader reader;

    open_reader(&reader, backend, fd);
    CHECK_INT(read_some(&reader), FNET_EOF);
    reader.posts = 0;
    run_for(reader.loop, MS);
    CHECK_INT(reader.posts, 0);
    CHECK_INT(read_some(&reader), FNET_EOF);
    close_reader(&reader);
    close(fd);
}

static void test_streams(enum fnet_loop_backend backend)
{
    int ends[2];

    CASE("a pipe is read without waiting, and its end of the description stays blocking");
    CHECK_INT(pipe(ends), 0);
    check_stream(backend, ends);

    CASE("so is a socket");
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    check_stream(backend, ends);

    CASE("so is a terminal");
    ends[1] = posix_openpt(O_RDWR | O_NOCTTY);
    if (ends[1] >= 0 && grantpt(ends[1]) == 0 && unlockpt(ends[1]) == 0) {
        struct reader reader;
        ends[0] = open(ptsname(ends[1]), O_RDWR | O_NOCTTY);
        open_reader(&reader, backend, ends[0]);
        CHECK_INT(read_some(&reader), FNET_AGAIN);
        CHECK_INT(write(ends[1], "line\n", 5), 5);
        reader.is_waiting = true; /* the line takes its time through the kernel */
        run_for(reader.loop, (uint64_t)1000 * MS);
        CHECK_INT(reader.posts, 1);
        check_read(&reader, "line\n");
        CHECK_INT(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
        close_reader(&reader);
        close(ends[0]);
    }
    close(ends[1]);
}

static void test_ends(enum fnet_loop_backend backend)
{
    int ends[2];

    CASE("a pipe whose writer left is at its end, quietly");
    CHECK_INT(pipe(ends), 0);
    close(ends[1]);
    check_end(backend, ends[0]);

    CASE("so is a socket");
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    close(ends[1]);
    check_end(backend, ends[0]);

    CASE("so is /dev/null");
    check_end(backend, open("/dev/null", O_RDONLY));

    CASE("the end of a pipe that is waited for is told");
    struct reader reader;
    CHECK_INT(pipe(ends), 0);
    open_reader(&reader, backend, ends[0]);
    CHECK_INT(read_some(&reader), FNET_AGAIN);
    close(ends[1]);
    turn(reader.loop, 1);
    CHECK_INT(reader.posts, 1);
    CHECK_INT(read_some(&reader), FNET_EOF);
    close_reader(&reader);
    close(ends[0]);
}

static void test_files(enum fnet_loop_backend backend)
{
    struct reader reader;
    FILE *file = tmpfile();
    int fd = fileno(file);

    CASE("a regular file is read from where its description stands, which moves along");
    CHECK_INT(write(fd, "0123456789", 10), 10);
    CHECK_INT(lseek(fd, 3, SEEK_SET), 3);
    open_reader(&reader, backend, fd);
    CHECK_INT(fnet_input_read(reader.input, reader.bytes, 4, &reader.n), FNET_OK);
    CHECK_MEM(reader.bytes, "3456", 4);
    CHECK_INT(lseek(fd, 0, SEEK_CUR), 7);
    check_read(&reader, "789");
    CHECK_INT(read_some(&reader), FNET_EOF);

    CASE("a file that grew can be read on after its end");
    CHECK_INT(pwrite(fd, "x", 1, 10), 1);
    check_read(&reader, "x");
    close_reader(&reader);
    fclose(file);

    CASE("a descriptor of another kind is read when poll says so");
    int event = eventfd(0, 0);
    uint64_t one = 1;
    open_reader(&reader, backend, event);
    CHECK_INT(read_some(&reader), FNET_AGAIN);
    turn(reader.loop, 1);
    CHECK_INT(reader.posts, 0);
    CHECK_INT(write(event, &one, sizeof one), sizeof one);
    turn(reader.loop, 1);
    CHECK_INT(reader.posts, 1);
    CHECK_INT(read_some(&reader), FNET_OK);
    CHECK_INT(reader.n, sizeof one);
    CHECK_INT(read_some(&reader), FNET_AGAIN);
    close_reader(&reader);
    close(event);
}

static void test_errors(enum fnet_loop_backend backend)
{
    struct fnet_loop *loop = new_loop(backend);
    struct fnet_task task;
    struct fnet_input *input = NULL;
    int ends[2];

    fnet_task_init(&task, on_ready, NULL);
    CASE("a descriptor open for writing only is refused");
    CHECK_INT(pipe(ends), 0);
    CHECK_INT(fnet_input_open(loop, ends[1], &task, &input), FNET_SYSTEM);
    CHECK_INT(errno, EBADF);
    CHECK(input == NULL);

    CASE("without memory there is no input");
    bool did_fail;
    unsigned n = 0;
    do {
        failmalloc_arm(++n);
        enum fnet_err err = fnet_input_open(loop, ends[0], &task, &input);
        did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        CHECK_INT(input == NULL, did_fail);
    } while (did_fail);
    fnet_input_close(input);
    close(ends[0]);
    close(ends[1]);

    CASE("a read that fails says why");
    struct reader reader;
    int directory = open("/", O_RDONLY | O_DIRECTORY);
    open_reader(&reader, backend, directory);
    CHECK_INT(read_some(&reader), FNET_SYSTEM);
    CHECK_INT(errno, EISDIR);
    close_reader(&reader);
    close(directory);

    CASE("closing no input does nothing");
    fnet_input_close(NULL);
    fnet_loop_free(loop);
}

int main(void)
{
    WITH_BACKENDS(test_streams);
    WITH_BACKENDS(test_ends);
    WITH_BACKENDS(test_files);
    WITH_BACKENDS(test_errors);
    return tap_done();
}
