/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A socket and a session, joined: what the kernel has is received, what the session has is sent.
 *
 * Source: the sockets API; RFC 9293 3.6 for the half-close.
 */
#include "fnet/connection.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace.h"

/* One turn of one connection, so that others have theirs. */
#define READS_PER_TURN 16
#define WRITES_PER_TURN 8
#define SPANS_PER_WRITE 64

struct fnet_connection {
    struct fnet_connection_config config;
    struct fnet_session *session; /* owned */
    int fd;                       /* owned */
    struct fnet_watch watch;
    struct fnet_task pump;
    struct fnet_timer linger;
    struct fnet_timer idle;
    bool is_readable; /* the kernel has, or may have, something for us */
    bool is_writable;
    bool cannot_send;   /* the peer does not read any more; it may have said why */
    bool has_peer_shut; /* nothing more will come */
    bool is_shut;       /* our half is closed: only the peer's end is awaited */
    bool is_closed;     /* closed() was called */
    enum fnet_err err;  /* why it ends */
    int saved_errno;    /* what the system said, for FNET_LOST */
    struct fnet__trace_flow flow;
    char peer[FNET_ADDRESS_TEXT_BYTES];
};

static void post(void *arg)
{
    struct fnet_connection *c = arg;

    if (!c->is_closed)
        fnet_loop_queue(c->config.loop, &c->pump);
}

static void on_ready(void *arg, unsigned happened)
{
    struct fnet_connection *c = arg;

    if (happened & (FNET_WANT_READ | FNET_HUNG_UP))
        c->is_readable = true;
    if (happened & (FNET_WANT_WRITE | FNET_HUNG_UP))
        c->is_writable = true;
    post(c);
}

/* ---- the end ----------------------------------------------------------------------------- */

/* The owner frees C: whoever calls this touches it no more. */
static void end(struct fnet_connection *c)
{
    c->is_closed = true;
    fnet_task_cancel(&c->pump);
    fnet_timer_cancel(c->config.loop, &c->linger);
    fnet_timer_cancel(c->config.loop, &c->idle);
    fnet_watch_close(&c->watch);
    bool is_cut = c->err == FNET_LOST || c->err == FNET_TRUNCATED;
    c->config.closed(c->config.arg, c, c->err, is_cut ? c->saved_errno : 0);
}

static void end_because(struct fnet_connection *c, enum fnet_err err, int saved_errno)
{
    if (c->err == FNET_OK) {
        c->err = err;
        c->saved_errno = saved_errno;
    }
    end(c);
}

static void on_linger(void *arg)
{
    end(arg);
}

/* All is said: close our half, so that the peer reads to our end. */
static void shut(struct fnet_connection *c)
{
    c->is_shut = true;
    shutdown(c->fd, SHUT_WR);
}

/*
 * Part, in bounded time: send what is left to say, MORE of it, and wait for the peer's end. Returns
 * false when there is nothing to wait for.
 */
static bool take_leave(struct fnet_connection *c, bool more)
{
    if (!more && c->has_peer_shut)
        return false;
    if (!c->config.is_producer && c->err != FNET_OK) /* no frame says why a consumer gives up */
        return false;
    if (!more && !c->is_shut)
        shut(c);
    return fnet_timer_is_set(&c->linger) ||
           fnet_timer_set(c->config.loop, &c->linger,
                          fnet_loop_now_ns(c->config.loop) + FNET_LINGER_NS) == FNET_OK;
}

/*
 * Nothing more will come, with SAVED_ERRNO not even if we have something to say. Returns false when
 * that is the end of C: else it is said first, to a peer that closed only its own half.
 */
static bool on_stream_end(struct fnet_connection *c, int saved_errno)
{
    bool is_expected = c->is_shut || c->err != FNET_OK;

    c->has_peer_shut = true;
    c->is_readable = false;
    if (c->saved_errno == 0) /* else sending has failed, which came first */
        c->saved_errno = saved_errno;
    if (!is_expected)
        c->err = fnet_session_end_of_stream(c->session);
    return saved_errno == 0 && (is_expected || c->err == FNET_OK);
}

/* ---- a peer that is gone without a word ---------------------------------------------------- */

/*
 * The peer's kernel answers for it, however long its reader stalls: data, keep-alive probes and
 * probes of a closed window are all acknowledged by a living host. But it may be silent because it
 * was not asked: a closed window is probed ever more rarely, in the end every two minutes.
 */
static bool is_unreachable(const struct tcp_info *info)
{
    return info->tcpi_retransmits > 0 || info->tcpi_probes > 1; /* one may be under way */
}

/* Data count beside acknowledgements: what acknowledges nothing new is not one to the kernel. */
static uint64_t silence_ns(const struct tcp_info *info)
{
    uint32_t ms = info->tcpi_last_ack_recv;

    if (info->tcpi_last_data_recv < ms)
        ms = info->tcpi_last_data_recv;
    return (uint64_t)ms * 1000000;
}

static void on_idle(void *arg)
{
    struct fnet_connection *c = arg;
    const uint64_t timeout_ns = c->config.idle_timeout_ns;
    struct tcp_info info = {.tcpi_state = 0};
    socklen_t len = sizeof info;

    getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &len);
    uint64_t silent_ns = silence_ns(&info);
    if (silent_ns >= timeout_ns && is_unreachable(&info)) {
        end_because(c, FNET_LOST, ETIMEDOUT);
        return;
    }
    uint64_t wait_ns = silent_ns < timeout_ns ? timeout_ns - silent_ns : timeout_ns / 2;
    if (fnet_timer_set(c->config.loop, &c->idle, fnet_loop_now_ns(c->config.loop) + wait_ns) !=
        FNET_OK)
        end_because(c, FNET_NOMEM, 0);
}

static enum fnet_err guard_against_silence(struct fnet_connection *c)
{
    const int on = 1;
    const uint64_t timeout_s = c->config.idle_timeout_ns / UINT64_C(1000000000);
    /* Three probes fit into the time allowed. */
    const int interval_s = timeout_s < 4 ? 1 : timeout_s > 3600 ? 1200 : (int)timeout_s / 3;

    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(c->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (c->config.idle_timeout_ns == 0)
        return FNET_OK;
    setsockopt(c->fd, IPPROTO_TCP, TCP_KEEPIDLE, &interval_s, sizeof interval_s);
    setsockopt(c->fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    return fnet_timer_set(c->config.loop, &c->idle,
                          fnet_loop_now_ns(c->config.loop) + c->config.idle_timeout_ns);
}

/* ---- in ---------------------------------------------------------------------------------- */

/* What comes when nothing is expected any more is read and dropped: an unread byte would make
   the kernel reset the connection and take back what we sent last. */
static ssize_t read_to_nowhere(struct fnet_connection *c)
{
    uint8_t scrap[4096];
    ssize_t n = recv(c->fd, scrap, sizeof scrap, MSG_DONTWAIT);

    if (n > 0 && c->config.trace)
        fnet__trace_write(c->config.trace, &c->flow, !c->config.is_producer,
                          &(struct iovec){.iov_base = scrap, .iov_len = sizeof scrap}, (size_t)n);
    return n;
}

static size_t room_in(const struct iovec *spaces, size_t count)
{
    size_t room = 0;

    for (size_t i = 0; i < count; i++)
        room += spaces[i].iov_len;
    return room;
}

static ssize_t read_into_session(struct fnet_connection *c)
{
    struct iovec spaces[FNET_SESSION_RECV_SPACES];
    struct msghdr message = {.msg_iov = spaces,
                             .msg_iovlen = fnet_session_recv_spaces(c->session, spaces)};
    ssize_t n = recvmsg(c->fd, &message, MSG_DONTWAIT);

    if (n <= 0)
        return n;
    /* That was all there is; to ask again would cost as much as to be told of more. */
    if ((size_t)n < room_in(spaces, message.msg_iovlen))
        c->is_readable = false;
    if (c->config.trace)
        fnet__trace_write(c->config.trace, &c->flow, !c->config.is_producer, spaces, (size_t)n);
    c->err = fnet_session_received(c->session, (size_t)n);
    return n;
}

static bool is_over(const struct fnet_connection *c)
{
    return c->is_shut || c->err != FNET_OK;
}

/* Answers may pile up while a peer that reads no more is heard to its end, which is near. */
static bool wants_read(const struct fnet_connection *c)
{
    return is_over(c) || c->cannot_send || fnet_session_wants_read(c->session);
}

/* Returns false when C is at its end. */
static bool receive(struct fnet_connection *c)
{
    for (int i = 0; i < READS_PER_TURN && c->is_readable && wants_read(c); i++) {
        ssize_t n = is_over(c) ? read_to_nowhere(c) : read_into_session(c);
        if (n > 0 || (n < 0 && errno == EINTR))
            continue;
        if (n == 0 || errno != EAGAIN)
            return on_stream_end(c, n < 0 ? errno : 0);
        c->is_readable = false;
    }
    return true;
}

/* ---- out --------------------------------------------------------------------------------- */

/* What the peer said before it went may say why: it is read, and then there is an end. */
static void give_up_sending(struct fnet_connection *c, int saved_errno)
{
    c->cannot_send = true;
    c->saved_errno = saved_errno == EPIPE ? 0 : saved_errno; /* the peer has closed */
    c->is_readable = !c->has_peer_shut;
    shutdown(c->fd, SHUT_RD);
}

static void send_some(struct fnet_connection *c)
{
    for (int i = 0; i < WRITES_PER_TURN && c->is_writable; i++) {
        struct iovec spans[SPANS_PER_WRITE];
        struct msghdr message = {.msg_iov = spans,
                                 .msg_iovlen =
                                     fnet_session_send_spans(c->session, spans, SPANS_PER_WRITE)};
        if (message.msg_iovlen == 0)
            return;
        ssize_t n = sendmsg(c->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0) {
            if (c->config.trace)
                fnet__trace_write(c->config.trace, &c->flow, c->config.is_producer, spans,
                                  (size_t)n);
            fnet_session_sent(c->session, (size_t)n);
        } else if (n < 0 && errno == EAGAIN) {
            c->is_writable = false;
        } else if (n < 0 && errno != EINTR) {
            give_up_sending(c, errno);
            return;
        }
    }
}

static bool has_more_to_send(struct fnet_connection *c)
{
    struct iovec span[2];

    return !c->cannot_send && !c->is_shut && fnet_session_send_spans(c->session, span, 2) > 0;
}

static void pump(void *arg)
{
    struct fnet_connection *c = arg;

    if (!receive(c)) {
        end(c);
        return;
    }
    if (!c->cannot_send && !c->is_shut)
        send_some(c);
    if (c->err == FNET_OK)
        c->err = fnet_session_error(c->session);

    bool more = has_more_to_send(c);
    bool is_leaving = is_over(c) || c->has_peer_shut || fnet_session_is_closing(c->session);
    if (is_leaving && !take_leave(c, more)) {
        end(c);
        return;
    }
    if ((more && c->is_writable) || (c->is_readable && wants_read(c)))
        fnet_loop_queue(c->config.loop, &c->pump);
    fnet_watch_want(&c->watch, (c->is_readable || c->has_peer_shut ? 0u : FNET_WANT_READ) |
                                   (more && !c->is_writable ? (unsigned)FNET_WANT_WRITE : 0u));
}

/* ---- life -------------------------------------------------------------------------------- */

static void name_ends(struct fnet_connection *c)
{
    struct fnet_address ours = {.len = sizeof ours - sizeof ours.len};
    struct fnet_address theirs = ours;

    if (getsockname(c->fd, &ours.any, &ours.len) != 0)
        ours.any.sa_family = AF_UNSPEC;
    if (getpeername(c->fd, &theirs.any, &theirs.len) != 0)
        theirs.any.sa_family = AF_UNSPEC;
    c->flow.producer = c->config.is_producer ? ours : theirs;
    c->flow.consumer = c->config.is_producer ? theirs : ours;
    /* Who connects over a unix socket has no name: the socket's has to do. */
    fnet_address_format(theirs.any.sa_family == AF_UNIX ? &c->flow.producer : &theirs, c->peer);
}

enum fnet_err fnet_connection_new(const struct fnet_connection_config *config,
                                  struct fnet_session *session, int fd,
                                  struct fnet_connection **out)
{
    struct fnet_connection *c = calloc(1, sizeof *c);
    if (!c)
        return FNET_NOMEM;

    c->config = *config;
    c->fd = fd;
    c->is_readable = true;
    c->is_writable = true;
    fnet_task_init(&c->pump, pump, c);
    c->linger = (struct fnet_timer){.run = on_linger, .arg = c};
    c->idle = (struct fnet_timer){.run = on_idle, .arg = c};
    name_ends(c);

    enum fnet_err err = fnet_watch_open(&c->watch, config->loop, fd, on_ready, c);
    if (err == FNET_OK && c->flow.producer.any.sa_family != AF_UNIX) {
        err = guard_against_silence(c);
        if (err != FNET_OK)
            fnet_watch_close(&c->watch);
    }
    if (err != FNET_OK) {
        free(c);
        return err;
    }
    if (config->trace)
        fnet__trace_begin(config->trace, &c->flow);
    c->session = session;
    fnet_session_set_bell(session, (struct fnet_bell){.ring = post, .arg = c});
    post(c);
    *out = c;
    return FNET_OK;
}

void fnet_connection_free(struct fnet_connection *c)
{
    if (!c)
        return;
    c->is_closed = true; /* the session's last words ring a bell nobody hears */
    fnet_task_cancel(&c->pump);
    fnet_timer_cancel(c->config.loop, &c->linger);
    fnet_timer_cancel(c->config.loop, &c->idle);
    fnet_watch_close(&c->watch);
    fnet_session_free(c->session);
    close(c->fd);
    free(c);
}

struct fnet_session *fnet_connection_session(const struct fnet_connection *c)
{
    return c->session;
}

const char *fnet_connection_peer(const struct fnet_connection *c)
{
    return c->peer;
}
