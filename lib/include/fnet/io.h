/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io: the event loop, timers, the clock, addresses and file descriptors. The only room that makes
 * system calls on sockets, pipes and clocks. Not thread safe.
 *
 * Shape of the loop: whoever has work puts a task on the ready list; one turn runs the tasks that
 * were ready when it began, then asks the kernel for events (without waiting while tasks are
 * ready), then runs due timers. A task does a bounded piece of work and posts itself again when
 * more is left, so nobody starves.
 */
#ifndef FNET_IO_H
#define FNET_IO_H

#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "fnet/bytes.h"
#include "fnet/err.h"
#include "fnet/list.h"

/* ---- loop -------------------------------------------------------------------------------- */

struct fnet_loop;

enum fnet_loop_backend {
    FNET_LOOP_EPOLL, /**< epoll and signalfd, Linux */
    FNET_LOOP_POLL,  /**< poll and a self-pipe, anywhere */
};

/** A piece of work; stands in the ready list at most once. Init with fnet_task_init(). */
struct fnet_task {
    struct fnet_link link;
    void (*run)(void *arg);
    void *arg;
};

static inline void fnet_task_init(struct fnet_task *task, void (*run)(void *arg), void *arg)
{
    *task = (struct fnet_task){.run = run, .arg = arg};
}

/** Errors: FNET_NOMEM, FNET_SYSTEM (errno is the loop-less caller's). OUT is owned by caller. */
FNET_CHECKED enum fnet_err fnet_loop_new(enum fnet_loop_backend backend, struct fnet_loop **out);
/**
 * Free LOOP; all watches must be closed, timers and tasks are forgotten. Restores what
 * fnet_loop_handle_signals() changed. Safe on NULL.
 */
void fnet_loop_free(struct fnet_loop *loop);

/** Run until fnet_loop_quit(). Errors: FNET_SYSTEM (errno is set). */
FNET_CHECKED enum fnet_err fnet_loop_run(struct fnet_loop *loop);
/** Let the current turn end and run() return; before run(): it returns at once. */
void fnet_loop_quit(struct fnet_loop *loop);

/** Put TASK on the ready list unless it stands there. O(1). */
void fnet_loop_post(struct fnet_loop *loop, struct fnet_task *task);
/**
 * The same, but at the end of a line of which each turn runs only the first, behind what is ready:
 * for work that is the cheaper the more of it has gathered.
 */
void fnet_loop_queue(struct fnet_loop *loop, struct fnet_task *task);
/** Take TASK off the list it stands in; always before its memory goes. */
void fnet_task_cancel(struct fnet_task *task);

/** CLOCK_MONOTONIC in ns, as read at the last wake-up: no system call. */
uint64_t fnet_loop_now_ns(const struct fnet_loop *loop);

/**
 * Call HANDLER from the loop with each of SIGNALS that arrives, until the loop is freed. They are
 * blocked in the process (epoll), or caught (poll, where one loop of a process can do this).
 *
 * Errors: FNET_STATE   this loop, or with poll another one, handles signals already.
 *         FNET_SYSTEM  errno is set.
 *         FNET_NOMEM
 */
FNET_CHECKED enum fnet_err fnet_loop_handle_signals(struct fnet_loop *loop, const sigset_t *signals,
                                                    void (*handler)(void *arg, int signo),
                                                    void *arg);

/* ---- watches ----------------------------------------------------------------------------- */

/** What a watch wants to know, and what happened. */
enum fnet_interest {
    FNET_WANT_NOTHING = 0,
    FNET_WANT_READ = 1,
    FNET_WANT_WRITE = 2,
    FNET_HUNG_UP = 4, /**< only reported, and always: error or hang-up on the descriptor */
};

/**
 * Level-triggered interest in one descriptor. A descriptor that the kernel cannot watch (regular
 * files, /dev/null) is always ready: its callback runs once a turn while anything is wanted.
 * Interest may be changed at any time, also in callbacks; the kernel is told once, before it is
 * next asked. A callback may close any watch.
 *
 * With FNET_HUNG_UP whatever is wanted is reported as well: it will answer at once, with the bytes
 * that are left and then the end, or with the error. A hang-up that finds nothing wanted is
 * reported once, and not again until something is wanted.
 */
struct fnet_watch {
    struct fnet_loop *loop;
    int fd;              /**< borrowed */
    unsigned wanted;     /**< enum fnet_interest, or-ed; 0: not even hang-ups, one was reported */
    unsigned registered; /**< what the kernel knows; of the loop */
    bool is_unpollable;
    void (*ready)(void *arg, unsigned happened);
    void *arg;
    struct fnet_link changed; /**< in the loop's list of watches to tell the kernel about */
    struct fnet_link member;  /**< in the loop's list of all watches */
};

/** Begin to watch FD for errors and hang-ups, and WANTED later. Errors: FNET_SYSTEM, FNET_NOMEM. */
FNET_CHECKED enum fnet_err fnet_watch_open(struct fnet_watch *watch, struct fnet_loop *loop, int fd,
                                           void (*ready)(void *arg, unsigned happened), void *arg);
/** Change what is wanted to READ, WRITE, both or nothing. O(1), no system call. */
void fnet_watch_want(struct fnet_watch *watch, unsigned wanted);
/** Stop watching, before FD is closed. No callback runs afterwards. Safe on a zeroed watch. */
void fnet_watch_close(struct fnet_watch *watch);

/* ---- timers ------------------------------------------------------------------------------ */

/** A deadline in the loop's heap. All zero but RUN and ARG is an idle one. */
struct fnet_timer {
    uint64_t deadline_ns;
    size_t index; /**< place in the heap, from 1; 0: idle */
    void (*run)(void *arg);
    void *arg;
};

/**
 * Run TIMER's function once at DEADLINE (fnet_loop_now_ns() scale) or as soon after as the loop
 * can, within some ms; a timer that is set already is moved. UINT64_MAX is never.
 *
 * Errors: FNET_NOMEM
 * Cost:   O(log timers).
 */
FNET_CHECKED enum fnet_err fnet_timer_set(struct fnet_loop *loop, struct fnet_timer *timer,
                                          uint64_t deadline_ns);
/** Make TIMER idle. O(log timers), safe on an idle timer. */
void fnet_timer_cancel(struct fnet_loop *loop, struct fnet_timer *timer);
static inline bool fnet_timer_is_set(const struct fnet_timer *timer)
{
    return timer->index != 0;
}

/* ---- addresses --------------------------------------------------------------------------- */

#define FNET_DEFAULT_PORT 6121
#define FNET_DEFAULT_HOST "127.0.0.1"
#define FNET_ADDRESS_TEXT_BYTES 128 /**< longest text of an address, NUL included */

/** Where to listen or connect, as text that was parsed but not resolved. */
struct fnet_endpoint {
    bool is_unix;
    char host[256]; /**< name, IPv4 or IPv6 text; empty: the default */
    uint16_t port;  /**< 0 allowed only for listening */
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /**< of a unix socket */
};

/** One address that can be bound or connected to. */
struct fnet_address {
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    };
    socklen_t len;
};

/**
 * Parse PORT, HOST, HOST:PORT, [V6], [V6]:PORT or unix:PATH. Digits alone are a port. An IPv6
 * address with a port needs brackets; without them an all-colon text is an IPv6 address.
 *
 * @param why  on FNET_INVALID set to a static text that says what is wrong ("port out of range").
 */
FNET_CHECKED enum fnet_err fnet_endpoint_parse(const char *text, struct fnet_endpoint *out,
                                               const char **why);

/**
 * All addresses of ENDPOINT, in the resolver's order. Blocks for a host name.
 *
 * @param out    owned by caller, free(); @param count  at least 1.
 * @param why    on failure a text, static or of gai_strerror().
 *
 * Errors: FNET_AGAIN (a temporary failure of name resolution), FNET_INVALID (no such host),
 *         FNET_NOMEM, FNET_SYSTEM.
 */
FNET_CHECKED enum fnet_err fnet_endpoint_resolve(const struct fnet_endpoint *endpoint,
                                                 bool for_listening, struct fnet_address **out,
                                                 size_t *count, const char **why);

/** Write "127.0.0.1:6121", "[::1]:6121" or "unix:/path" and a NUL. Never resolves names. */
void fnet_address_format(const struct fnet_address *address,
                         char text[static FNET_ADDRESS_TEXT_BYTES]);
/** 127.0.0.0/8, ::1, IPv4-mapped loopback, or a unix socket. */
bool fnet_address_is_loopback(const struct fnet_address *address);

/* ---- files, pipes, terminals, sockets as input and output --------------------------------- */

/**
 * A descriptor read without ever blocking the loop. The file description that others share is left
 * as it is: a pipe or terminal is opened anew through /proc/self/fd where possible, a socket is
 * read with MSG_DONTWAIT, anything else only after the kernel said that it is ready.
 */
struct fnet_input;

/**
 * @param fd     borrowed until close.
 * @param ready  borrowed: posted when a read that gave FNET_AGAIN can be tried again.
 *
 * Errors: FNET_NOMEM, FNET_SYSTEM (errno is set).
 */
FNET_CHECKED enum fnet_err fnet_input_open(struct fnet_loop *loop, int fd, struct fnet_task *ready,
                                           struct fnet_input **out);
void fnet_input_close(struct fnet_input *input); /**< does not close FD; safe on NULL */

/**
 * Read at most LEN > 0 bytes.
 *
 * @param n  bytes read, > 0.
 *
 * Errors: FNET_AGAIN, FNET_EOF, FNET_SYSTEM (errno is set).
 */
FNET_CHECKED enum fnet_err fnet_input_read(struct fnet_input *input, void *ptr, size_t len,
                                           size_t *n);

/** A descriptor written in the same manner. */
struct fnet_output;

/**
 * @param ready  borrowed: posted when a write that gave FNET_AGAIN can be tried again, and when
 *               the reading end has gone away, even if nothing is being written.
 */
FNET_CHECKED enum fnet_err fnet_output_open(struct fnet_loop *loop, int fd, struct fnet_task *ready,
                                            struct fnet_output **out);
void fnet_output_close(struct fnet_output *output);

/**
 * Write some of the bytes of COUNT spans, one after the other; none is empty.
 *
 * @param n  bytes written, > 0.
 *
 * Errors: FNET_AGAIN, FNET_SYSTEM (errno is set; EPIPE when the reader is gone. A socket raises no
 *         SIGPIPE, a pipe does: the command ignores it).
 */
FNET_CHECKED enum fnet_err fnet_output_write(struct fnet_output *output, const struct iovec *spans,
                                             int count, size_t *n);

/** Has the reading end of a pipe or socket gone away? */
bool fnet_output_is_broken(const struct fnet_output *output);

#endif
