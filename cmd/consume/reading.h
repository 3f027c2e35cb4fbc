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

/** Room for the name of any reading, "NAME:SUBPARTITION", and a NUL. */
#define READING_NAME_BYTES (FNET_NAME_MAX_BYTES + sizeof ":4294967295")

struct retry;

/** Lives in an array of its owner, who zeroes it first. There are thousands. */
struct reading {
    struct peer *peer;                     /**< borrowed */
    const struct consume_operand *operand; /**< borrowed */
    struct intake *intake;                 /**< borrowed */
    struct retry *retry;                   /**< owned; NULL: never had to ask again */
    uint32_t index;                        /**< of the channel in the intake */
    uint32_t subpartition;
};

struct fnet_channel *reading_channel(const struct reading *r);
void reading_name(const struct reading *r, char name[static READING_NAME_BYTES]);

/** Join the peer's session and ask for the subpartition. Errors: FNET_NOMEM, FNET_STATE. */
FNET_CHECKED enum fnet_err reading_request(struct reading *r);
/**
 * As query_ask_again().
 *
 * @param backoff  of the first time; from then on it is the reading's own.
 */
FNET_CHECKED enum fnet_err reading_request_again(struct reading *r, struct fnet_loop *loop,
                                                 struct backoff backoff);
/** Ask no more. */
void reading_cancel(struct reading *r);

#endif
