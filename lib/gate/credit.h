/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate, private: the arithmetic of credit. Counts only; which segment is which does not matter,
 * since all of a gate's come from one pool that holds exactly as many as may be promised.
 *
 * Source: Flink BufferManager, RemoteInputChannel (1.14 and later).
 */
#ifndef FNET_GATE_CREDIT_H
#define FNET_GATE_CREDIT_H

#include "fnet/err.h"
#include "fnet/list.h"

#include <stdbool.h>
#include <stdint.h>

struct fnet__credit;

/** The floating buffers of a gate, and the channels that wait for one. */
struct fnet__floating {
    uint32_t free;
    struct fnet_list waiting; /**< of struct fnet__credit by their link, first come first served */
    void (*has_credit)(struct fnet__credit *credit); /**< its unannounced rose from 0 */
};

/**
 * Of one channel. Invariants: available = exclusive_free + floating_free;
 * granted + unannounced <= available; exclusive_free <= exclusive.
 */
struct fnet__credit {
    uint32_t exclusive;              /**< buffers that are this channel's alone */
    uint32_t exclusive_free;         /**< ... those not holding data */
    uint32_t floating_free;          /**< floating buffers held and not holding data */
    uint32_t floating_used;          /**< floating buffers holding data */
    uint32_t required;               /**< what it wants to have available: backlog + exclusive */
    uint32_t granted;                /**< what the sender knows of and has not used */
    uint32_t unannounced;            /**< what the sender does not know of yet */
    struct fnet__floating *floating; /**< borrowed */
    struct fnet_link waiting;
};

void fnet__floating_init(struct fnet__floating *floating, uint32_t buffers,
                         void (*has_credit)(struct fnet__credit *credit));

/** Begin with the exclusive buffers, which the request announces: granted at once. */
void fnet__credit_init(struct fnet__credit *credit, uint32_t exclusive,
                       struct fnet__floating *floating);

static inline uint32_t fnet__credit_available(const struct fnet__credit *credit)
{
    return credit->exclusive_free + credit->floating_free;
}

/**
 * A data buffer arrives: it goes into a floating buffer where there is one.
 *
 * @param is_floating  to be handed to fnet__credit_return() with the buffer.
 *
 * Errors: FNET_NO_CREDIT  the sender had none left.
 */
FNET_CHECKED enum fnet_err fnet__credit_use(struct fnet__credit *credit, bool *is_floating);
/** A buffer was consumed: an exclusive one is the channel's again, a floating one the gate's. */
void fnet__credit_return(struct fnet__credit *credit, bool is_floating);
/** The sender has BACKLOG data buffers waiting: ask for floating buffers as needed. */
void fnet__credit_set_backlog(struct fnet__credit *credit, uint32_t backlog);
/** The sum not yet announced, which now is. */
uint32_t fnet__credit_announce(struct fnet__credit *credit);
/**
 * Nothing more will arrive: give free floating buffers back, ask for none. So it is also, without
 * exclusive buffers, until a blocked sender is resumed: it then forgets what credit it had.
 */
void fnet__credit_close(struct fnet__credit *credit);

#endif
