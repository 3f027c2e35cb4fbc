/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consume: one channel and where it is read from.
 */
#ifndef CONSUME_READING_H
#define CONSUME_READING_H

#include "consume/backoff.h"
#include "consume/consume_config.h"
#include "consume/intake.h"
#include "consume/peer.h"

/** Lives in an array of its owner, who zeroes it first. */
struct reading {
    struct fnet_loop *loop;
    struct peer *peer;                     /**< borrowed */
    const struct consume_operand *operand; /**< borrowed */
    uint32_t subpartition;
    struct intake *intake; /**< borrowed */
    size_t index;          /**< of the channel in the intake */
    struct backoff backoff;
    struct fnet_timer again;
};

struct fnet_channel *reading_channel(const struct reading *r);

/** Join the peer's session and ask for the subpartition. Errors: FNET_NOMEM, FNET_STATE. */
FNET_CHECKED enum fnet_err reading_request(struct reading *r);
/** As query_ask_again(). */
FNET_CHECKED enum fnet_err reading_request_again(struct reading *r);
void reading_cancel(struct reading *r);

#endif
