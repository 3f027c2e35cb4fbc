/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io, private: what the loop, its two backends, its signal sources and its timers know of each
 * other.
 */
#ifndef FNET_IO_LOOP_H
#define FNET_IO_LOOP_H

#include "fnet/io.h"

/** Deadlines as a binary heap, the earliest in at[1]; at[0] is not used. */
struct fnet__timer_heap {
    struct fnet_timer **at; /* owned; the timers are borrowed */
    size_t count;
    size_t capacity; /* places beside at[0] */
};

/** The signals a loop hears, as a descriptor that becomes readable. */
struct fnet__signals {
    int fd; /* owned; -1: none */
    sigset_t set;
    sigset_t old_mask;             /* signalfd: the mask to restore */
    struct sigaction *old_actions; /* self-pipe: owned, by signal number */
    struct fnet_watch watch;
    void (*handler)(void *arg, int signo);
    void *arg;
};

/** How signals become readable. */
struct fnet__signal_source {
    /** Fill in fd and what close needs; set is filled in already. */
    enum fnet_err (*open)(struct fnet__signals *signals);
    /** The next signal that has arrived, 0 when there is none. */
    int (*next)(struct fnet__signals *signals);
    /** Undo open. */
    void (*close)(struct fnet__signals *signals);
};

/**
 * How the kernel is asked for events. add, tell, wait and open set errno with FNET_SYSTEM.
 *
 * Invariant: between wait and the end of report, remove() drops what was found out about a watch.
 */
struct fnet__loop_backend {
    enum fnet_err (*open)(struct fnet_loop *loop);
    void (*close)(struct fnet_loop *loop);
    /** Begin to watch FD for hang-ups, or find that the kernel cannot. */
    enum fnet_err (*add)(struct fnet_loop *loop, struct fnet_watch *watch, int fd,
                         bool *is_unpollable);
    void (*remove)(struct fnet_loop *loop, struct fnet_watch *watch);
    /** wanted is no longer what is registered. */
    enum fnet_err (*tell)(struct fnet_loop *loop, struct fnet_watch *watch);
    /** Wait for events, at most TIMEOUT_MS; -1: as long as it takes. */
    enum fnet_err (*wait)(struct fnet_loop *loop, int timeout_ms);
    /** Hand each event of the last wait to fnet__watch_report(). */
    void (*report)(struct fnet_loop *loop);
    const struct fnet__signal_source *signals;
};

extern const struct fnet__loop_backend fnet__loop_epoll;
extern const struct fnet__loop_backend fnet__loop_poll;
extern const struct fnet__signal_source fnet__signal_fd;
extern const struct fnet__signal_source fnet__signal_pipe;

struct fnet_loop {
    const struct fnet__loop_backend *backend;
    void *kernel; /* owned by the backend */
    uint64_t now_ns;
    bool is_quitting;
    struct fnet_list tasks;      /* ready, by link */
    struct fnet_list line;       /* ready, one each turn, by link */
    struct fnet_list watches;    /* those the kernel watches, by member */
    struct fnet_list unpollable; /* those it cannot watch, by member */
    struct fnet_list changed;    /* watches with wanted != registered, and perhaps more */
    struct fnet__timer_heap timers;
    struct fnet__signals signals;
};

/** Move all members of FROM to TO, which need not be initialised. */
static inline void fnet__list_move(struct fnet_list *from, struct fnet_list *to)
{
    struct fnet_link *link;

    fnet_list_init(to);
    if (fnet_list_is_empty(from))
        return;
    link = from->head.next;
    to->head.next = link;
    link->prev = &to->head;
    to->head.prev = from->head.prev;
    to->head.prev->next = &to->head;
    fnet_list_init(from);
}

/** Call back for what HAPPENED, as far as it is wanted. WATCH may be gone afterwards. */
void fnet__watch_report(struct fnet_watch *watch, unsigned happened);
/** Tell the kernel about the watches whose interest changed. */
FNET_CHECKED enum fnet_err fnet__watch_tell_changes(struct fnet_loop *loop);
/** Does a watch that is always ready want anything? */
bool fnet__watch_is_any_ready(const struct fnet_loop *loop);
/** Call back each watch that is always ready. */
void fnet__watch_report_unpollable(struct fnet_loop *loop);

/** The earliest deadline, UINT64_MAX when there is none. */
uint64_t fnet__timer_next_ns(const struct fnet_loop *loop);
/** Run the timers that are due; callbacks may set and cancel any. */
void fnet__timer_run_due(struct fnet_loop *loop);

#endif
