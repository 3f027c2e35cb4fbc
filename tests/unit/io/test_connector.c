/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connectors: every address in turn, rounds with pauses, and giving up. The addresses come from
 * the test, which stands in front of the resolver.
 */
#include <errno.h>
#include <stdlib.h>

#include "../failmalloc.h"
#include "sockets.h"

#include "fnet/connection.h"

#define S (1000 * (uint64_t)MS)
#define ADDRESSES_MAX 4

/** A connector and what it told. */
struct caller {
    struct fnet_loop *loop;
    struct fnet_connector *connector; /* NULL: freed */
    int connected, failed, retrying;
    int fd;
    char reason[256];
    uint64_t retrying_ns; /* when that was said last */
    bool frees;           /* the connector, in every callback */
};

/* What the resolver says. */
static struct fnet_address resolved[ADDRESSES_MAX];
static size_t resolved_count; /* 0: it fails */
static int lookups;
static uint64_t lookup_ns; /* how long one takes */

/* In front of the library's. */
enum fnet_err fnet_endpoint_resolve(const struct fnet_endpoint *endpoint, bool for_listening,
                                    struct fnet_address **out, size_t *count, const char **why)
{
    (void)endpoint;
    CHECK(!for_listening);
    lookups++;
    skipped_ns += lookup_ns;
    *why = "no such name";
    if (resolved_count == 0)
        return FNET_AGAIN;
    *out = calloc(resolved_count, sizeof **out);
    if (!*out)
        return FNET_NOMEM;
    memcpy(*out, resolved, resolved_count * sizeof **out);
    *count = resolved_count;
    return FNET_OK;
}

static int opened;            /* sockets */
static in_port_t source_port; /* of the sockets opened next, if not 0 */

/* In front of the C library's. */
int socket(int family, int type, int protocol)
{
    int fd = (int)syscall(SYS_socket, family, type, protocol);

    opened++;
    if (fd >= 0 && source_port != 0) {
        struct fnet_address address = loopback_of(family);
        address.in.sin_port = source_port;
        CHECK_INT(bind(fd, &address.any, address.len), 0);
    }
    return fd;
}

static void free_connector(struct caller *caller)
{
    fnet_connector_free(caller->connector);
    caller->connector = NULL;
}

static void on_connected(void *arg, int fd)
{
    struct caller *caller = arg;

    caller->connected++;
    caller->fd = fd;
    if (caller->frees)
        free_connector(caller);
    fnet_loop_quit(caller->loop);
}

static void on_failed(void *arg, const char *reason)
{
    struct caller *caller = arg;

    caller->failed++;
    snprintf(caller->reason, sizeof caller->reason, "%s", reason);
    if (caller->frees)
        free_connector(caller);
    fnet_loop_quit(caller->loop);
}

static void on_retrying(void *arg, const char *reason)
{
    struct caller *caller = arg;

    caller->retrying++;
    caller->retrying_ns = fnet_loop_now_ns(caller->loop);
    snprintf(caller->reason, sizeof caller->reason, "%s", reason);
    if (caller->frees)
        free_connector(caller);
    fnet_loop_quit(caller->loop);
}

static enum fnet_err call(struct caller *caller, struct fnet_loop *loop, uint32_t retries,
                          uint64_t timeout_ns)
{
    *caller = (struct caller){.loop = loop, .fd = -1};
    return fnet_connector_new(&(struct fnet_connector_config){.loop = loop,
                                                              .timeout_ns = timeout_ns,
                                                              .retries = retries,
                                                              .is_loopback_only = true,
                                                              .connected = on_connected,
                                                              .failed = on_failed,
                                                              .retrying = on_retrying,
                                                              .arg = caller},
                              &caller->connector);
}

static void hang_up(struct caller *caller)
{
    free_connector(caller);
    if (caller->fd >= 0)
        close(caller->fd);
}

static void check_counts(const struct caller *caller, int connected, int failed, int retrying)
{
    CHECK_INT(caller->connected, connected);
    CHECK_INT(caller->failed, failed);
    CHECK_INT(caller->retrying, retrying);
}

static void resolve_to(const struct fnet_address *addresses, size_t count)
{
    memcpy(resolved, addresses, count * sizeof *addresses);
    resolved_count = count;
    lookups = 0;
    opened = 0;
}

/* A port nobody listens at, for as long as the socket that holds it stays open. */
static int reserve(struct fnet_address *address)
{
    int fd = (int)syscall(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *address = loopback_of(AF_INET);
    CHECK_INT(bind(fd, &address->any, address->len), 0);
    CHECK_INT(getsockname(fd, &address->any, &address->len), 0);
    return fd;
}

/* ---- addresses ----------------------------------------------------------------------------- */

static void answers(struct fnet_loop *loop)
{
    struct fnet_address addresses[2];
    struct caller caller;
    int silent = reserve(&addresses[0]);
    int listener = listen_on_loopback(AF_INET, 5, &addresses[1]);

    CASE("the first address refuses, the second answers: nothing is said of the first");
    resolve_to(addresses, 2);
    CHECK_INT(call(&caller, loop, 0, S), FNET_OK);
    run_until_quit(loop);
    check_counts(&caller, 1, 0, 0);
    CHECK_INT(opened, 2);
    struct fnet_address peer = {.len = sizeof peer.un};
    CHECK_INT(getpeername(caller.fd, &peer.any, &peer.len), 0);
    CHECK_INT(peer.in.sin_port, addresses[1].in.sin_port);

    CASE("once connected it does nothing more");
    skip(loop, 10 * S);
    check_it_rests(loop);
    check_counts(&caller, 1, 0, 0);
    CHECK_INT(opened, 2);
    hang_up(&caller);

    CASE("the first answers: the second is left alone");
    const struct fnet_address swapped[2] = {addresses[1], addresses[0]};
    resolve_to(swapped, 2);
    CHECK_INT(call(&caller, loop, 0, S), FNET_OK);
    run_until_quit(loop);
    check_counts(&caller, 1, 0, 0);
    CHECK_INT(opened, 1);
    hang_up(&caller);

    CASE("IPv6");
    int six = listen_on_loopback(AF_INET6, 1, &addresses[1]);
    if (six >= 0) {
        resolve_to(&addresses[1], 1);
        CHECK_INT(call(&caller, loop, 0, S), FNET_OK);
        run_until_quit(loop);
        check_counts(&caller, 1, 0, 0);
        hang_up(&caller);
        close(six);
    }
    close(silent);
    close(listener);
}

static void nobody(struct fnet_loop *loop)
{
    struct fnet_address addresses[2];
    struct caller caller;
    int silent[2] = {reserve(&addresses[0]), reserve(&addresses[1])};

    CASE("all refuse: one round without retries, and the reason");
    resolve_to(addresses, 2);
    CHECK_INT(call(&caller, loop, 0, S), FNET_OK);
    check_counts(&caller, 0, 0, 0);
    run_until_quit(loop);
    check_counts(&caller, 0, 1, 0);
    CHECK_STR(caller.reason, "Connection refused");
    CHECK_INT(opened, 2);
    CHECK_INT(lookups, 1);
    hang_up(&caller);

    CASE("a host of the network, where only this one is allowed: no socket is opened");
    struct fnet_address far = loopback_of(AF_INET);
    far.in.sin_addr.s_addr = htonl(0xc0000201); /* 192.0.2.1, which RFC 5737 keeps free */
    resolve_to(&far, 1);
    CHECK_INT(call(&caller, loop, 0, S), FNET_OK);
    run_until_quit(loop);
    check_counts(&caller, 0, 1, 0);
    CHECK_STR(caller.reason, strerror(EPERM));
    CHECK_INT(opened, 0);
    hang_up(&caller);

    CASE("a name that is not found");
    resolve_to(&far, 0);
    CHECK_INT(call(&caller, loop, 0, S), FNET_OK);
    run_until_quit(loop);
    check_counts(&caller, 0, 1, 0);
    CHECK_STR(caller.reason, "no such name");
    hang_up(&caller);

    CASE("a port connected to itself is nobody's");
    resolve_to(addresses, 1);
    source_port = addresses[0].in.sin_port;
    close(silent[0]);
    CHECK_INT(call(&caller, loop, 0, S), FNET_OK);
    run_until_quit(loop);
    source_port = 0;
    check_counts(&caller, 0, 1, 0);
    CHECK_STR(caller.reason, "Connection refused");
    hang_up(&caller);
    close(silent[1]);
}

/* ---- rounds -------------------------------------------------------------------------------- */

/* Let time pass until round number ROUND begins: how long after the last one, at most? */
static uint64_t pause_before_round(struct caller *caller, int round)
{
    for (int i = 0; i < 200 && lookups < round; i++)
        skip(caller->loop, 10 * (uint64_t)MS);
    return fnet_loop_now_ns(caller->loop) - caller->retrying_ns;
}

static void rounds(struct fnet_loop *loop)
{
    static const uint64_t pauses_ms[] = {100, 200, 400, 800, 1000, 1000};
    struct fnet_address address;
    struct caller caller;
    int silent = reserve(&address);

    CASE("rounds follow each other at growing distances, as many as allowed");
    resolve_to(&address, 1);
    CHECK_INT(call(&caller, loop, 6, S), FNET_OK);
    for (int i = 0; i < 6; i++) {
        run_until_quit(loop);
        check_counts(&caller, 0, 0, i + 1);
        CHECK_STR(caller.reason, "Connection refused");
        check_it_rests(loop);
        CHECK(pause_before_round(&caller, i + 2) >= pauses_ms[i] * MS);
        CHECK_INT(lookups, i + 2);
    }
    if (!caller.failed)
        run_until_quit(loop);
    check_counts(&caller, 0, 1, 6);
    CHECK_INT(opened, 7);
    hang_up(&caller);

    CASE("who comes late is found");
    resolve_to(&address, 0);
    CHECK_INT(call(&caller, loop, FNET_RETRY_FOREVER, S), FNET_OK);
    run_until_quit(loop);
    check_counts(&caller, 0, 0, 1);
    resolve_to(&address, 1);
    CHECK_INT(listen(silent, 1), 0);
    pause_before_round(&caller, 1);
    if (!caller.connected)
        run_until_quit(loop);
    check_counts(&caller, 1, 0, 1);
    hang_up(&caller);
    close(silent);
}

/* ---- time ---------------------------------------------------------------------------------- */

/* A listener with so many waiting that it does not answer any more. */
static int listen_and_sleep(const struct fnet_address *address, int waiting[2])
{
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct fnet_address bound = *address;

    CHECK_INT(bind(fd, &address->any, address->len), 0);
    CHECK_INT(listen(fd, 0), 0);
    CHECK_INT(getsockname(fd, &bound.any, &bound.len), 0);
    for (int i = 0; i < 2; i++) {
        waiting[i] = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)!connect(waiting[i], &bound.any, bound.len);
    }
    resolve_to(&bound, 1);
    return fd;
}

static void wake_up(int listener, const int waiting[2])
{
    close(listener);
    close(waiting[0]);
    close(waiting[1]);
}

static void sleepers(struct fnet_loop *loop, const char *folder)
{
    struct fnet_address addresses[2] = {
        loopback_of(AF_INET), {.un = {.sun_family = AF_UNIX}, .len = sizeof addresses->un}};
    struct caller caller;
    int waiting[2];

    snprintf(addresses[1].un.sun_path, sizeof addresses[1].un.sun_path, "%s/socket", folder);
    for (int i = 0; i < 2; i++) {
        CASE("who does not answer is waited for as long as allowed");
        int listener = listen_and_sleep(&addresses[i], waiting);
        CHECK_INT(call(&caller, loop, 0, 5 * S), FNET_OK);
        turn(loop, 3);
        check_it_rests(loop);
        skip(loop, 4 * S);
        check_counts(&caller, 0, 0, 0);
        skip(loop, S);
        turn(loop, 2);
        check_counts(&caller, 0, 1, 0);
        CHECK_STR(caller.reason, strerror(ETIMEDOUT));
        CHECK_INT(opened, 1);
        hang_up(&caller);

        CASE("the time that a name server takes is not his");
        lookup_ns = 6 * S;
        CHECK_INT(call(&caller, loop, 0, 5 * S), FNET_OK);
        turn(loop, 4);
        check_counts(&caller, 0, 0, 0);
        hang_up(&caller);
        lookup_ns = 0;

        CASE("a connector may be freed while it waits");
        CHECK_INT(call(&caller, loop, 0, S), FNET_OK);
        turn(loop, 2);
        hang_up(&caller);
        skip(loop, 2 * S);
        check_counts(&caller, 0, 0, 0);
        wake_up(listener, waiting);
    }

    CASE("a unix socket that has room again in time");
    CHECK_INT(unlink(addresses[1].un.sun_path), 0);
    int listener = listen_and_sleep(&addresses[1], waiting);
    CHECK_INT(call(&caller, loop, 0, 5 * S), FNET_OK);
    turn(loop, 2);
    check_counts(&caller, 0, 0, 0);
    close(accept(listener, NULL, NULL));
    skip(loop, S);
    check_counts(&caller, 1, 0, 0);
    hang_up(&caller);
    wake_up(listener, waiting);

    CASE("one that nobody holds any more refuses at once");
    CHECK_INT(call(&caller, loop, 0, 5 * S), FNET_OK);
    run_until_quit(loop);
    check_counts(&caller, 0, 1, 0);
    CHECK_STR(caller.reason, "Connection refused");
    hang_up(&caller);
    CHECK_INT(unlink(addresses[1].un.sun_path), 0);
}

/* ---- life ---------------------------------------------------------------------------------- */

static void freed_within(struct fnet_loop *loop)
{
    struct fnet_address addresses[2];
    struct caller caller;
    int silent = reserve(&addresses[0]);
    int listener = listen_on_loopback(AF_INET, 5, &addresses[1]);

    CASE("every callback may free the connector");
    for (int i = 0; i < 3; i++) {
        resolve_to(&addresses[i == 2 ? 1 : 0], 1);
        CHECK_INT(call(&caller, loop, i == 1 ? 1 : 0, S), FNET_OK);
        caller.frees = true;
        run_until_quit(loop);
        check_counts(&caller, i == 2, i == 0, i == 1);
        skip(loop, S);
        check_counts(&caller, i == 2, i == 0, i == 1);
        CHECK(!caller.connector);
        hang_up(&caller);
    }

    CASE("or its owner, before it began and while it pauses");
    CHECK_INT(call(&caller, loop, 1, S), FNET_OK);
    hang_up(&caller);
    turn(loop, 2);
    check_counts(&caller, 0, 0, 0);
    resolve_to(addresses, 1);
    CHECK_INT(call(&caller, loop, 1, S), FNET_OK);
    run_until_quit(loop);
    check_counts(&caller, 0, 0, 1);
    hang_up(&caller);
    skip(loop, S);
    check_counts(&caller, 0, 0, 1);
    fnet_connector_free(NULL);
    close(silent);
    close(listener);
}

static void without_memory(enum fnet_loop_backend backend)
{
    struct fnet_address address;
    int listener = listen_on_loopback(AF_INET, 100, &address);
    int before = count_descriptors();
    unsigned n = 0;
    bool has_failed = true;

    CASE("without memory it is connected or not, once; no descriptor is lost");
    resolve_to(&address, 1);
    while (has_failed) {
        struct fnet_loop *loop = new_loop(backend);
        struct caller caller;
        failmalloc_arm(++n);
        enum fnet_err err = call(&caller, loop, 0, S);
        for (int i = 0; err == FNET_OK && i < 100 && caller.connected + caller.failed == 0; i++)
            turn(loop, 1);
        has_failed = failmalloc_disarm();
        CHECK(err == FNET_OK || (err == FNET_NOMEM && !caller.connector));
        if (err == FNET_OK) {
            turn(loop, 3);
            CHECK_INT(caller.connected + caller.failed, 1);
            hang_up(&caller);
        }
        fnet_loop_free(loop);
        CHECK_INT(count_descriptors(), before);
    }
    close(listener);
}

static void cases(enum fnet_loop_backend backend)
{
    char folder[] = "/tmp/fnet-test-XXXXXX";
    struct fnet_loop *loop = new_loop(backend);
    int before = count_descriptors();

    CHECK(mkdtemp(folder) != NULL);
    answers(loop);
    nobody(loop);
    rounds(loop);
    sleepers(loop, folder);
    freed_within(loop);
    without_memory(backend);
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
