/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listeners: ports and files that are taken, left over or somebody else's, and running out of
 * descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../failmalloc.h"
#include "sockets.h"

#include "fnet/connection.h"

#define CLIENTS 100

/** A listener and what came of it. */
struct server {
    struct fnet_loop *loop;
    struct fnet_listener *listener; /* NULL: closed */
    int accepted;
    int refused;
    int refused_errno;
    bool closes_at_first; /* accepted, or refused */
};

static int accept_errno; /* what accepting fails with; 0: it does not */

/* In front of the C library's. */
int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
    if (accept_errno != 0) {
        errno = accept_errno;
        return -1;
    }
    return (int)syscall(SYS_accept4, fd, address, len, flags);
}

static void close_server(struct server *server)
{
    fnet_listener_close(server->listener);
    server->listener = NULL;
}

static void on_accepted(void *arg, int fd)
{
    struct server *server = arg;

    server->accepted++;
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    if (server->closes_at_first)
        close_server(server);
}

static void on_refused(void *arg, int saved_errno)
{
    struct server *server = arg;

    server->refused++;
    server->refused_errno = saved_errno;
    if (server->closes_at_first)
        close_server(server);
}

static enum fnet_err serve(struct server *server, struct fnet_loop *loop,
                           const struct fnet_address *address)
{
    *server = (struct server){.loop = loop};
    return fnet_listener_open(
        &(struct fnet_listener_config){
            .loop = loop, .accepted = on_accepted, .refused = on_refused, .arg = server},
        address, &server->listener);
}

static struct fnet_address unix_address(const char *folder, const char *name)
{
    struct fnet_address address = {.un = {.sun_family = AF_UNIX}, .len = sizeof address.un};

    snprintf(address.un.sun_path, sizeof address.un.sun_path, "%s/%s", folder, name);
    return address;
}

static int connect_to(const struct fnet_address *address)
{
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK_INT(connect(fd, &address->any, address->len), 0);
    return fd;
}

/* ---- TCP ---------------------------------------------------------------------------------- */

static void ports(struct fnet_loop *loop)
{
    const struct fnet_address any = loopback_of(AF_INET);
    struct server server, second;
    int clients[CLIENTS];

    CASE("port 0 picks one, and says which");
    CHECK_INT(serve(&server, loop, &any), FNET_OK);
    const struct fnet_address *bound = fnet_listener_address(server.listener);
    CHECK(bound->in.sin_port != 0);
    CHECK_INT(bound->in.sin_addr.s_addr, htonl(INADDR_LOOPBACK));

    CASE("nothing to accept: it rests");
    check_it_rests(loop);

    CASE("many that come at once are accepted, each once");
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = connect_to(bound);
    turn(loop, 3);
    CHECK_INT(server.accepted, CLIENTS);
    CHECK_INT(server.refused, 0);
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
    turn(loop, 1);
    check_it_rests(loop);

    CASE("a port in use is refused");
    CHECK_INT(serve(&second, loop, bound), FNET_SYSTEM);
    CHECK_INT(errno, EADDRINUSE);

    CASE("a port that was in use just now is not");
    const struct fnet_address again = *bound;
    close_server(&server);
    CHECK_INT(serve(&server, loop, &again), FNET_OK);
    close_server(&server);
}

/* Does an IPv4 listener fit beside the IPv6 one at ANY? Somebody else may have its port. */
static enum fnet_err listen_beside(struct fnet_loop *loop, const struct fnet_address *any)
{
    struct fnet_address beside = {.in = {.sin_family = AF_INET}, .len = sizeof beside.in};
    struct server six, four;

    CHECK_INT(serve(&six, loop, any), FNET_OK);
    beside.in.sin_port = fnet_listener_address(six.listener)->in6.sin6_port;
    enum fnet_err err = serve(&four, loop, &beside);
    if (err == FNET_OK)
        close_server(&four);
    close_server(&six);
    return err;
}

static void both_families(struct fnet_loop *loop)
{
    struct fnet_address any = {.in6 = {.sin6_family = AF_INET6}, .len = sizeof any.in6};
    enum fnet_err err = FNET_SYSTEM;
    int fd = socket(AF_INET6, SOCK_STREAM, 0);

    CASE("[::] does not take 0.0.0.0");
    if (fd < 0)
        return; /* a system without IPv6 */
    close(fd);
    for (int i = 0; i < 10 && err != FNET_OK; i++)
        err = listen_beside(loop, &any);
    CHECK_INT(err, FNET_OK);
}

/* ---- unix sockets -------------------------------------------------------------------------- */

static bool is_there(const struct fnet_address *address)
{
    struct stat st;

    return lstat(address->un.sun_path, &st) == 0;
}

/* As a process leaves its socket behind that is killed. */
static void leave_behind(const struct fnet_address *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    CHECK_INT(bind(fd, &address->any, address->len), 0);
    CHECK_INT(listen(fd, 1), 0);
    close(fd);
}

static void files(struct fnet_loop *loop, const char *folder)
{
    const struct fnet_address address = unix_address(folder, "socket");
    struct server server, second;

    CASE("the file of a unix socket comes and goes with the listener");
    CHECK_INT(serve(&server, loop, &address), FNET_OK);
    CHECK_STR(fnet_listener_address(server.listener)->un.sun_path, address.un.sun_path);
    int client = connect_to(&address);
    turn(loop, 2);
    CHECK_INT(server.accepted, 1);
    close(client);

    CASE("a live one is not replaced, nor hurt");
    CHECK_INT(serve(&second, loop, &address), FNET_SYSTEM);
    CHECK_INT(errno, EADDRINUSE);
    client = connect_to(&address);
    turn(loop, 2);
    CHECK(server.accepted >= 2);
    close(client);
    close_server(&server);
    CHECK(!is_there(&address));

    CASE("one that a dead process left behind is replaced");
    leave_behind(&address);
    CHECK_INT(serve(&server, loop, &address), FNET_OK);
    close(connect_to(&address));
    turn(loop, 2);
    CHECK_INT(server.accepted, 1);

    CASE("a file that took its place meanwhile stays where it is");
    CHECK_INT(unlink(address.un.sun_path), 0);
    CHECK_INT(serve(&second, loop, &address), FNET_OK);
    close_server(&server);
    CHECK(is_there(&address));
    close_server(&second);
    CHECK(!is_there(&address));

    CASE("no folder, no socket");
    const struct fnet_address nowhere = unix_address(folder, "no/socket");
    CHECK_INT(serve(&server, loop, &nowhere), FNET_SYSTEM);
    CHECK_INT(errno, ENOENT);
}

static void other_files(struct fnet_loop *loop, const char *folder)
{
    const struct fnet_address address = unix_address(folder, "file");
    const struct fnet_address elsewhere = unix_address(folder, "elsewhere");
    struct server server;
    int fd = open(address.un.sun_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    CASE("a regular file is never replaced");
    close(fd);
    CHECK_INT(serve(&server, loop, &address), FNET_SYSTEM);
    CHECK_INT(errno, EADDRINUSE);
    CHECK(is_there(&address));
    CHECK_INT(unlink(address.un.sun_path), 0);

    CASE("nor is a symbolic link, even to a socket that was left behind");
    leave_behind(&elsewhere);
    CHECK_INT(symlink(elsewhere.un.sun_path, address.un.sun_path), 0);
    CHECK_INT(serve(&server, loop, &address), FNET_SYSTEM);
    CHECK(is_there(&address) && is_there(&elsewhere));
    CHECK_INT(unlink(address.un.sun_path), 0);
    CHECK_INT(unlink(elsewhere.un.sun_path), 0);
}

static void busy_socket(struct fnet_loop *loop, const char *folder)
{
    const struct fnet_address address = unix_address(folder, "busy");
    struct server server;
    int busy = socket(AF_UNIX, SOCK_STREAM, 0), waiting[2];

    CASE("a live one where so many wait that nobody gets through is not replaced, nor waited for");
    CHECK_INT(bind(busy, &address.any, address.len), 0);
    CHECK_INT(listen(busy, 0), 0);
    for (int i = 0; i < 2; i++) {
        waiting[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(waiting[i], &address.any, address.len);
    }
    CHECK_INT(errno, EAGAIN);
    CHECK_INT(serve(&server, loop, &address), FNET_SYSTEM);
    CHECK_INT(errno, EADDRINUSE);
    CHECK(is_there(&address));
    close(waiting[0]);
    close(waiting[1]);
    close(busy);
    CHECK_INT(unlink(address.un.sun_path), 0);
}

/* ---- out of descriptors -------------------------------------------------------------------- */

static void limited(struct fnet_loop *loop)
{
    const struct fnet_address any = loopback_of(AF_INET);
    struct rlimit usual, low;
    struct server server;
    int clients[3];

    CASE("without descriptors it is said once, and the loop rests");
    CHECK_INT(serve(&server, loop, &any), FNET_OK);
    clients[0] = connect_to(fnet_listener_address(server.listener));
    clients[1] = connect_to(fnet_listener_address(server.listener));
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &usual), 0);
    low = usual;
    low.rlim_cur = (rlim_t)clients[1] + 1;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &low), 0);
    turn(loop, 2);
    CHECK_INT(server.accepted, 0);
    CHECK_INT(server.refused, 1);
    CHECK_INT(server.refused_errno, EMFILE);
    check_it_rests(loop);
    skip(loop, 100 * (uint64_t)MS);
    turn(loop, 1);
    CHECK_INT(server.refused, 1);
    check_it_rests(loop);

    CASE("it is tried again when there are some");
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &usual), 0);
    clients[2] = connect_to(fnet_listener_address(server.listener));
    turn(loop, 2);
    CHECK_INT(server.accepted, 0);
    skip(loop, 100 * (uint64_t)MS);
    turn(loop, 1);
    CHECK(server.accepted > 0); /* 3, but valgrind's own limit drops those it has refused */
    for (int i = 0; i < 3; i++)
        close(clients[i]);
    close_server(&server);
}

static void refusals(struct fnet_loop *loop)
{
    const struct fnet_address any = loopback_of(AF_INET);
    struct server server;

    CASE("who waits meanwhile is accepted then; a second time it is said again");
    CHECK_INT(serve(&server, loop, &any), FNET_OK);
    for (int i = 1; i <= 2; i++) {
        int client = connect_to(fnet_listener_address(server.listener));
        accept_errno = ENFILE;
        turn(loop, 2);
        CHECK_INT(server.refused, i);
        CHECK_INT(server.refused_errno, ENFILE);
        accept_errno = 0;
        skip(loop, 100 * (uint64_t)MS);
        turn(loop, 1);
        CHECK_INT(server.accepted, i);
        close(client);
    }

    CASE("a connection that went away before it was accepted is nobody's affair");
    int client = connect_to(fnet_listener_address(server.listener));
    accept_errno = ECONNABORTED;
    turn(loop, 2);
    CHECK_INT(server.refused, 2);
    accept_errno = 0;
    turn(loop, 2);
    CHECK_INT(server.accepted, 3);
    close(client);

    CASE("it may be closed while it pauses");
    client = connect_to(fnet_listener_address(server.listener));
    accept_errno = EMFILE;
    turn(loop, 2);
    CHECK_INT(server.refused, 3);
    accept_errno = 0;
    close_server(&server);
    skip(loop, 100 * (uint64_t)MS);
    CHECK_INT(server.accepted, 3);
    close(client);
}

/* ---- life ---------------------------------------------------------------------------------- */

static void closed_within(struct fnet_loop *loop)
{
    const struct fnet_address any = loopback_of(AF_INET);
    struct server server;

    CASE("callbacks may close the listener: no other follows");
    for (int i = 0; i < 2; i++) {
        int clients[2];
        CHECK_INT(serve(&server, loop, &any), FNET_OK);
        server.closes_at_first = true;
        clients[0] = connect_to(fnet_listener_address(server.listener));
        clients[1] = connect_to(fnet_listener_address(server.listener));
        accept_errno = i == 0 ? 0 : EMFILE;
        turn(loop, 2);
        skip(loop, 100 * (uint64_t)MS);
        CHECK_INT(server.accepted + server.refused, 1);
        CHECK(!server.listener);
        accept_errno = 0;
        close(clients[0]);
        close(clients[1]);
    }
}

static void without_memory(struct fnet_loop *loop, const char *folder)
{
    const struct fnet_address address = unix_address(folder, "socket");
    struct server server;
    unsigned n = 0;
    int before = count_descriptors();

    CASE("without memory there is no listener, no descriptor and no file");
    do {
        failmalloc_arm(++n);
        enum fnet_err err = serve(&server, loop, &address);
        if (failmalloc_disarm()) {
            CHECK_INT(err, FNET_NOMEM);
            CHECK(!is_there(&address));
            CHECK_INT(count_descriptors(), before);
        } else {
            CHECK_INT(err, FNET_OK);
            close_server(&server);
            n = 0;
        }
    } while (n > 0);
    CHECK_INT(count_descriptors(), before);
    fnet_listener_close(NULL);
}

static void cases(enum fnet_loop_backend backend)
{
    char folder[] = "/tmp/fnet-test-XXXXXX";
    struct fnet_loop *loop = new_loop(backend);
    int before = count_descriptors();

    CHECK(mkdtemp(folder) != NULL);
    without_memory(loop, folder);
    ports(loop);
    both_families(loop);
    files(loop, folder);
    other_files(loop, folder);
    busy_socket(loop, folder);
    limited(loop);
    refusals(loop);
    closed_within(loop);
    CASE("nothing is left behind");
    CHECK_INT(count_descriptors(), before);
    CHECK_INT(rmdir(folder), 0);
    fnet_loop_free(loop);
}

int main(void)
{
    WITH_BACKENDS(cases);
    return tap_done();
}
