/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consume: asking a producer what it serves, patiently.
 */
#ifndef CONSUME_QUERY_H
#define CONSUME_QUERY_H

#include "consume/backoff.h"
#include "consume/consume_config.h"
#include "consume/peer.h"

/** One question to one producer. Lives in an array of its owner, who zeroes it first. */
struct query {
    struct fnet_loop *loop;
    struct peer *peer;                     /**< borrowed */
    const struct consume_operand *operand; /**< borrowed */
    bool is_for_all;                       /**< every partition, not the operand's */
    struct fnet_id id;                     /**< of the request that is under way */
    struct backoff backoff;
    struct fnet_timer again;
    uint32_t answers;  /**< that came, of ... */
    uint32_t expected; /**< ... so many, as the first said */
    bool is_answered;
    uint32_t subpartitions; /**< of the operand's partition, once answered */
    enum fnet_codec codec;  /**< ... of its compressed buffers */
};

/** Ask. Errors: FNET_NOMEM. */
FNET_CHECKED enum fnet_err query_ask(struct query *q);
/**
 * The partition is not there: ask again after a while, or never.
 *
 * Errors: FNET_NO_PARTITION  the time allowed is over.
 *         FNET_NOMEM
 */
FNET_CHECKED enum fnet_err query_ask_again(struct query *q);
void query_cancel(struct query *q);

#endif
