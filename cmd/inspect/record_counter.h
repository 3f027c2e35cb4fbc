/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: how many records end in the payload of a data buffer that comes in pieces and is not
 * kept. Nothing is copied or allocated: where a count has to be taken back, an earlier copy of it
 * is as good.
 */
#ifndef INSPECT_RECORD_COUNTER_H
#define INSPECT_RECORD_COUNTER_H

#include "fnet/record.h"

/** Where in its stream of records a channel is; all zero: at the beginning of one. */
struct record_place {
    uint32_t body_left;  /**< bytes of the current body still to come */
    uint32_t length;     /**< of the next record, as far as seen */
    uint8_t length_seen; /**< bytes of it, < FNET_RECORD_HEADER_BYTES */
};

/** Records counted from a place; begin with record_count_from(). */
struct record_count {
    struct record_place from;
    struct record_place to;
    uint64_t records; /**< that ended between them */
    bool is_bad;      /**< behind them came an impossible length; TO has no meaning */
};

static inline struct record_count record_count_from(struct record_place place)
{
    return (struct record_count){.from = place, .to = place};
}

/** Go on by BYTES. */
void record_count_add(struct record_count *c, struct fnet_span bytes);

bool record_place_is_mid_record(const struct record_place *p);
bool record_place_is_same(const struct record_place *a, const struct record_place *b);

#endif
