/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that carry: whole partitions over every kind of socket, peers that are slow, silent
 * or do not read, and a loop that rests meanwhile. How they end is in test_connection_end.
 */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>

#include "../failmalloc.h"
#include "ends.h"
#include "frames.h"

#define TOTAL (200u << 10)

/* ---- a whole partition ------------------------------------------------------------------- */

static void check_all_arrived(struct world *w, struct end *producer, struct end *consumer)
{
    check_end(producer, FNET_OK, 0);
    check_end(consumer, FNET_OK, 0);
    CHECK_STR(producer->text, "");
    CHECK_STR(consumer->text, "");
    for (int s = 0; s < SUBPARTITIONS; s++)
        CHECK_INT(w->got[s], w->total);
    CHECK_INT(w->ended, SUBPARTITIONS);
    CHECK_INT(fnet_partition_count(w->partition, FNET_SUBPARTITION_DONE), SUBPARTITIONS);
    CHECK(consumer->counts.bytes_in >= w->total * SUBPARTITIONS);
}

static void carry(enum fnet_loop_backend backend, int family, int buffer_bytes, size_t total)
{
    struct end producer, consumer;
    struct world w;
    int fds[2];

    if (!connect_pair(family, buffer_bytes, fds))
        return;
    make_world(&w, backend, total);
    open_producer(&w, &producer, fds[0], NULL);
    open_consumer(&w, &consumer, fds[1], NULL);
    check_all_arrived(&w, &producer, &consumer);
    CHECK_INT(producer.counts.bytes_out, consumer.counts.bytes_in);
    free_world(&w);
}

static void sockets(enum fnet_loop_backend backend)
{
    static const int families[] = {AF_UNIX, AF_INET, AF_INET6};

    for (int i = 0; i < 3; i++) {
        CASE("two sessions carry a whole partition over a pair of sockets");
        carry(backend, families[i], 0, TOTAL);
        CASE("an empty one too");
        carry(backend, families[i], 0, 0);
    }
    CASE("a socket that takes and gives little at a time");
    carry(backend, AF_UNIX, 1, TOTAL);
    carry(backend, AF_INET, 16 << 10, TOTAL);
}

/* ---- through a listener and a connector --------------------------------------------------- */

struct meeting {
    struct world world;
    struct end producer, consumer;
};

static void on_accepted(void *arg, int fd)
{
    struct meeting *m = arg;

    open_producer(&m->world, &m->producer, fd, NULL);
}

static void on_connected(void *arg, int fd)
{
    struct meeting *m = arg;

    open_consumer(&m->world, &m->consumer, fd, NULL);
}

static void on_refused(void *arg, int saved_errno)
{
    (void)arg;
    CHECK_INT(saved_errno, 0);
}

static void on_failed(void *arg, const char *reason)
{
    (void)arg;
    CHECK_STR(reason, "");
}

static void meet(enum fnet_loop_backend backend, const char *address_text)
{
    struct meeting m = {.producer = {.closed = 0}};
    struct fnet_endpoint endpoint;
    struct fnet_address *addresses;
    struct fnet_listener *listener;
    struct fnet_connector *connector;
    const char *why;
    size_t count;

    make_world(&m.world, backend, TOTAL);
    m.producer.loop = m.consumer.loop = m.world.loop;
    CHECK_INT(fnet_endpoint_parse(address_text, &endpoint, &why), FNET_OK);
    CHECK_INT(fnet_endpoint_resolve(&endpoint, true, &addresses, &count, &why), FNET_OK);
    CHECK_INT(fnet_listener_open(&(struct fnet_listener_config){.loop = m.world.loop,
                                                                .accepted = on_accepted,
                                                                .refused = on_refused,
                                                                .arg = &m},
                                 addresses, &listener),
              FNET_OK);
    free(addresses);
    if (!endpoint.is_unix)
        endpoint.port = ntohs(fnet_listener_address(listener)->in.sin_port);
    CHECK_INT(fnet_connector_new(&(struct fnet_connector_config){.loop = m.world.loop,
                                                                 .endpoint = endpoint,
                                                                 .timeout_ns = 1000 * (uint64_t)MS,
                                                                 .connected = on_connected,
                                                                 .failed = on_failed,
                                                                 .arg = &m},
                                 &connector),
              FNET_OK);
    await_end(&m.consumer);
    check_all_arrived(&m.world, &m.producer, &m.consumer);
    fnet_connector_free(connector);
    fnet_listener_close(listener);
    free_world(&m.world);
}

static void meetings(enum fnet_loop_backend backend)
{
    char path[] = "/tmp/fnet-test-XXXXXX", text[64];

    CASE("from the address to the last record, over TCP");
    meet(backend, "127.0.0.1:0");

    CASE("and over a unix socket");
    CHECK(mkdtemp(path) != NULL);
    snprintf(text, sizeof text, "unix:%s/socket", path);
    meet(backend, text);
    CHECK_INT(rmdir(path), 0);
}

/* ---- peers that do not do their part ------------------------------------------------------ */

/* Requests that are refused, as many as FD takes: each has an answer, longer than the request. */
static bool ask_for_nothing(int fd, uint64_t *sent)
{
    const struct fnet_id receiver = {{1}};
    struct frames frames = {.len = 0};
    ssize_t n = 0;
    const uint64_t before = *sent;

    for (int i = 0; i < 100; i++)
        add_request(&frames, &receiver, "nothing", 0);
    while (n >= 0) {
        const size_t skip = (size_t)(*sent % frames.len);
        n = send(fd, frames.bytes + skip, frames.len - skip, MSG_DONTWAIT | MSG_NOSIGNAL);
        *sent += n > 0 ? (uint64_t)n : 0;
    }
    return *sent > before;
}

static void ask_until_full(struct world *w, int fd, uint64_t *sent)
{
    int rounds = 0;

    while (ask_for_nothing(fd, sent) && ++rounds < 1000)
        turn(w->loop, 2);
    CHECK(rounds < 1000);
}

static void greedy(enum fnet_loop_backend backend)
{
    struct end producer;
    struct world w;
    struct frames heard;
    uint64_t sent = 0;
    int fds[2];

    CASE("a peer that asks and does not read the answers is not read any further");
    connect_pair(AF_UNIX, 8 << 10, fds);
    make_world(&w, backend, 0);
    open_producer(&w, &producer, fds[0], NULL);
    ask_until_full(&w, fds[1], &sent);
    const struct fnet_session_counts full = fnet_session_counts(producer.session);
    CHECK(full.frames_in - full.frames_out < 300);
    check_it_rests(w.loop);

    CASE("until it does");
    for (int i = 0; i < 1000 && fnet_session_counts(producer.session).bytes_in < sent; i++) {
        heard.len = 0;
        hear(fds[1], &heard);
        turn(w.loop, 1);
    }
    CHECK_INT(fnet_session_counts(producer.session).bytes_in, sent);
    CHECK_INT(producer.closed, 0);

    CASE("when it dies instead that is noticed, whatever is piled up");
    ask_until_full(&w, fds[1], &sent);
    CHECK(!fnet_session_wants_read(producer.session));
    close(fds[1]);
    await_end(&producer);
    free_world(&w);
}

static void slow_reader(enum fnet_loop_backend backend)
{
    struct end producer, consumer;
    struct world w;
    int fds[2];

    CASE("a gate that is not polled: all comes to rest, and goes on afterwards");
    connect_pair(AF_INET, 0, fds);
    make_world(&w, backend, TOTAL);
    open_producer(&w, &producer, fds[0], NULL);
    open_consumer(&w, &consumer, fds[1], NULL);
    w.read.run = quit;
    w.read.arg = w.loop;
    for (int i = 0; i < 20; i++)
        turn(w.loop, 1);
    check_it_rests(w.loop);
    CHECK(fnet_session_counts(consumer.session).bytes_in < TOTAL);
    fnet_task_cancel(&w.read);
    fnet_task_init(&w.read, read_world, &w);
    post_read(&w);
    check_all_arrived(&w, &producer, &consumer);
    free_world(&w);
}

static void late_words(enum fnet_loop_backend backend)
{
    struct end consumer;
    struct world w;
    struct frames heard = {.len = 0};
    int fds[2];

    CASE("words that come up after the consumer has closed are not sent, and nothing spins");
    connect_pair(AF_UNIX, 0, fds);
    make_world(&w, backend, 0);
    open_consumer(&w, &consumer, fds[1], NULL);
    turn(w.loop, 3);
    fnet_consumer_session_close(consumer.session);
    turn(w.loop, 3);
    fnet_channel_acknowledge(fnet_gate_channel(w.gate, 0));
    check_it_rests(w.loop);
    hear(fds[0], &heard);
    CHECK(heard.has_end);

    CASE("what we closed ourselves ends well");
    close(fds[0]);
    check_end(&consumer, FNET_OK, 0);
    free_world(&w);
}

/* ---- silence ------------------------------------------------------------------------------ */

static void silence(enum fnet_loop_backend backend)
{
    const struct fnet_id receiver = {{1}};
    struct frames frames = {.len = 0};
    struct end producer;
    struct world w;
    int fds[2];

    CASE("a peer that was not asked for a sign of life is not lost");
    connect_pair(AF_INET, 4096, fds);
    make_world(&w, backend, TOTAL);
    open_end(w.loop, &producer, new_producer(&w), fds[0], true, 60 * (uint64_t)MS, NULL);
    run_for(w.loop, 130 * (uint64_t)MS);
    CHECK_INT(producer.closed, 0);

    CASE("nor is one whose reader stalls: the probes of its window become rare");
    add_request(&frames, &receiver, NAME, 0);
    add_frame(&frames, &(struct fnet_message){
                           .type = FNET_ADD_CREDIT, .receiver = receiver, .credit = 1000});
    say(fds[1], &frames);
    turn(w.loop, 20);
    run_for(w.loop, 130 * (uint64_t)MS);
    CHECK(fnet_session_counts(producer.session).bytes_out > 0);
    CHECK(fnet_session_counts(producer.session).bytes_out < 10 * SEGMENT_BYTES);
    CHECK_INT(producer.closed, 0);

    close(fds[1]);
    await_end(&producer);
    free_world(&w);
}

/* What the kernel is to say of every connection, if not NULL. */
static const struct tcp_info *pretended;

/* In front of the C library's. */
int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    if (pretended && level == IPPROTO_TCP && name == TCP_INFO) {
        memcpy(value, pretended, *len < sizeof *pretended ? *len : sizeof *pretended);
        return 0;
    }
    return (int)syscall(SYS_getsockopt, fd, level, name, value, len);
}

/* Is a peer of which the kernel says INFO lost after TIMEOUT? */
static bool is_lost_after(enum fnet_loop_backend backend, uint64_t timeout_ns,
                          const struct tcp_info *info)
{
    struct end producer;
    struct world w;
    int fds[2];

    connect_pair(AF_INET, 0, fds);
    make_world(&w, backend, 0);
    open_end(w.loop, &producer, new_producer(&w), fds[0], true, timeout_ns, NULL);
    pretended = info;
    skip(w.loop, timeout_ns - 1000 * (uint64_t)MS);
    CHECK_INT(producer.closed, 0);
    skip(w.loop, 1000 * (uint64_t)MS);
    pretended = NULL;
    close(fds[1]);
    bool is_lost = producer.closed;
    await_end(&producer);
    if (is_lost)
        check_end(&producer, FNET_LOST, ETIMEDOUT);
    free_world(&w);
    return is_lost;
}

static void lost(enum fnet_loop_backend backend)
{
    const uint64_t timeout_ns = 5000 * (uint64_t)MS;

    CASE("who is silent for so long and does not answer is lost");
    CHECK(is_lost_after(backend, timeout_ns,
                        &(struct tcp_info){.tcpi_last_ack_recv = 5000,
                                           .tcpi_last_data_recv = 6000,
                                           .tcpi_probes = 2}));
    CHECK(is_lost_after(backend, timeout_ns,
                        &(struct tcp_info){.tcpi_last_ack_recv = 6000,
                                           .tcpi_last_data_recv = 5000,
                                           .tcpi_retransmits = 1}));
    CASE("who was asked just now has time to answer");
    CHECK(!is_lost_after(backend, timeout_ns,
                         &(struct tcp_info){.tcpi_last_ack_recv = 5000,
                                            .tcpi_last_data_recv = 5000,
                                            .tcpi_unacked = 1,
                                            .tcpi_probes = 1}));
    CASE("who sends, or acknowledges, is there");
    CHECK(!is_lost_after(backend, timeout_ns,
                         &(struct tcp_info){.tcpi_last_ack_recv = 5000,
                                            .tcpi_last_data_recv = 4999,
                                            .tcpi_retransmits = 1}));
    CHECK(!is_lost_after(backend, timeout_ns,
                         &(struct tcp_info){.tcpi_last_ack_recv = 4999,
                                            .tcpi_last_data_recv = 5000,
                                            .tcpi_retransmits = 1}));
}

static void resting(enum fnet_loop_backend backend)
{
    struct end producer;
    struct world w;
    int fds[2];

    CASE("a connection without traffic costs nothing");
    connect_pair(AF_INET, 0, fds);
    make_world(&w, backend, 0);
    open_producer(&w, &producer, fds[0], NULL);
    turn(w.loop, 5);
    check_it_rests(w.loop);
    CHECK_INT(producer.closed, 0);

    CASE("it is a connection to this address");
    char text[FNET_ADDRESS_TEXT_BYTES];
    struct fnet_address address = {.len = sizeof address.un};
    CHECK_INT(getsockname(fds[1], &address.any, &address.len), 0);
    fnet_address_format(&address, text);
    CHECK_STR(fnet_connection_peer(producer.connection), text);
    CHECK(fnet_connection_session(producer.connection) == producer.session);
    close(fds[1]);
    check_end(&producer, FNET_OK, 0);
    free_world(&w);
}

/* ---- life --------------------------------------------------------------------------------- */

static void early_end(enum fnet_loop_backend backend)
{
    struct end producer;
    struct world w;
    int fds[2];
    int before = count_descriptors();

    for (int turns = -1; turns < 3; turns++) {
        CASE("freed by its owner, at any time: closed() does not come, the peer sees the end");
        struct frames heard = {.len = 0};
        connect_pair(AF_INET, 0, fds);
        make_world(&w, backend, 0);
        open_end(w.loop, &producer, new_producer(&w), fds[0], true, 1, NULL);
        if (turns > 0)
            fnet_producer_session_abort(producer.session, "over");
        if (turns >= 0)
            turn(w.loop, turns);
        fnet_connection_free(producer.connection);
        skip(w.loop, FNET_LINGER_NS);
        CHECK_INT(producer.closed, 0);
        hear(fds[1], &heard);
        CHECK(heard.has_end);
        close(fds[1]);
        free_world(&w);
    }
    CHECK_INT(count_descriptors(), before);
    fnet_connection_free(NULL);
}

static void failures(enum fnet_loop_backend backend)
{
    struct fnet_connection_config config = {.closed = on_closed};
    struct fnet_connection *connection = NULL;
    struct world w;
    int fds[2];
    unsigned n = 0;

    CASE("without memory the session and the descriptor stay with the caller");
    connect_pair(AF_INET, 0, fds);
    make_world(&w, backend, 0);
    turn(w.loop, 1);
    config.loop = w.loop;
    config.idle_timeout_ns = 1000 * (uint64_t)MS;
    struct fnet_session *session = new_producer(&w);
    do {
        fnet_connection_free(connection);
        connection = NULL;
        if (n > 0 && fcntl(fds[0], F_GETFD) < 0) {
            connect_pair(AF_INET, 0, fds);
            session = new_producer(&w);
        }
        failmalloc_arm(++n);
        enum fnet_err err = fnet_connection_new(&config, session, fds[0], &connection);
        CHECK(err == FNET_OK || (err == FNET_NOMEM && !connection));
    } while (failmalloc_disarm());
    CHECK(connection != NULL);
    fnet_connection_free(connection);
    close(fds[1]);

    CASE("a descriptor that is none is refused");
    session = new_producer(&w);
    CHECK_INT(fnet_connection_new(&config, session, fds[0], &connection), FNET_SYSTEM);
    CHECK_INT(errno, EBADF);
    fnet_session_free(session);
    free_world(&w);
}

static void cases(enum fnet_loop_backend backend)
{
    sockets(backend);
    meetings(backend);
    greedy(backend);
    slow_reader(backend);
    late_words(backend);
    silence(backend);
    lost(backend);
    resting(backend);
    early_end(backend);
    failures(backend);
}

int main(void)
{
    WITH_BACKENDS(cases);
    return tap_done();
}
