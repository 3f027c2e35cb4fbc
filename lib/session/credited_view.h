/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session, private: a view, the credit its consumer gave, and the number of its next buffer.
 *
 * Source: Flink CreditBasedSequenceNumberingViewReader.
 */
#ifndef FNET_SESSION_CREDITED_VIEW_H
#define FNET_SESSION_CREDITED_VIEW_H

#include "fnet/partition.h"
#include "fnet/wire.h"

struct fnet__credited_view {
    struct fnet_view *view; /**< borrowed from its partition */
    const struct fnet_dialect *dialect;
    struct fnet_id receiver;
    int32_t initial_credit;
    uint32_t credits;
    int32_t sequence;      /**< of the next item */
    bool is_backlog_known; /**< the consumer was told that buffers wait for credit */
};

/** May the next item be sent? */
static inline bool fnet__credited_view_is_ready(const struct fnet__credited_view *v)
{
    return fnet_view_is_available(v->view, v->credits);
}

/** Errors: FNET_RANGE  n < 1, or more credit than fits. */
FNET_CHECKED enum fnet_err fnet__credited_view_add_credit(struct fnet__credited_view *v, int32_t n);

/**
 * Take the next item: its BufferResponse and its payload, in the view's dialect. An event which
 * that does not have is passed over; where it is EndOfData, EndOfPartition follows at once. Data is
 * compressed if the partition has a codec and consumers of that dialect know it.
 *
 * @param payload  owned by caller.
 * @param bytes    of the payload before it was compressed.
 *
 * Errors: FNET_AGAIN, FNET_NOMEM
 */
FNET_CHECKED enum fnet_err fnet__credited_view_next(struct fnet__credited_view *v,
                                                    struct fnet_message *message,
                                                    struct fnet_buffer *payload, uint32_t *bytes);

/**
 * A consumer without exclusive buffers gives credit only for backlog that it knows of: what to
 * announce now, 0 for nothing. Once for each time the credit ran out; never in a dialect without
 * announcements.
 */
uint32_t fnet__credited_view_announce(struct fnet__credited_view *v);

#endif
