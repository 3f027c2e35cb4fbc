/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session, private: the subpartitions that are read over one connection. Those that may send take
 * turns, one buffer each.
 *
 * Source: Flink PartitionRequestQueue (the reader queue), CreditBasedSequenceNumberingViewReader.
 */
#ifndef FNET_SESSION_READINGS_H
#define FNET_SESSION_READINGS_H

#include "credited_view.h"
#include "session_private.h"

/** They point back here: it must not move while one is open. */
struct fnet__readings {
    struct fnet_session *session;   /**< borrowed: the producer's */
    struct fnet_id_map by_receiver; /**< of struct fnet__reading, owned */
    struct fnet_list ready;         /**< those that may have something to send */
    struct fnet_list all;
};

struct fnet__reading {
    struct fnet__readings *readings;
    struct fnet__credited_view view;
    struct fnet_link ready;
    struct fnet_link all;
};

void fnet__readings_init(struct fnet__readings *readings, struct fnet_session *session);
/** Drop all as lost, and free. */
void fnet__readings_clear(struct fnet__readings *readings);

static inline bool fnet__readings_are_none(const struct fnet__readings *readings)
{
    return fnet_list_is_empty(&readings->all);
}

/** NULL: no reading has RECEIVER. */
struct fnet__reading *fnet__readings_find(const struct fnet__readings *readings,
                                          const struct fnet_id *receiver);

/**
 * Begin to read what MESSAGE, a PartitionRequest of one subpartition, asks of PARTITION.
 *
 * Errors: FNET_RANGE, FNET_STATE  as fnet_view_open().
 *         FNET_BAD_VALUE          a reading has that receiver; the session has a text.
 *         FNET_NOMEM
 */
FNET_CHECKED enum fnet_err fnet__readings_open(struct fnet__readings *readings,
                                               const struct fnet_message *message,
                                               struct fnet_partition *partition);
/** End a reading: lost, if it is not at its end, or cancelled by its consumer. */
void fnet__reading_drop(struct fnet__reading *reading, bool is_lost);
void fnet__readings_drop(struct fnet__readings *readings, bool are_lost);

/** There may be something to send, for there is credit. */
void fnet__reading_make_ready(struct fnet__reading *reading);

/** From now on all is sent in the session's dialect. */
void fnet__readings_speak(struct fnet__readings *readings);

/** Fill the outbox as far as one write goes. Errors: FNET_NOMEM. */
FNET_CHECKED enum fnet_err fnet__readings_refill(struct fnet__readings *readings);

/** The credit of all of them together. */
uint64_t fnet__readings_credit(const struct fnet__readings *readings);
/** As fnet_producer_session_unfinished(). */
size_t fnet__readings_unfinished(const struct fnet__readings *readings, char *text, size_t size);

#endif
