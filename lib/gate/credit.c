/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of credit: exclusive and floating buffers, announced and unannounced.
 *
 * Source: Flink BufferManager, RemoteInputChannel (1.14 and later).
 */
#include "credit.h"

#include <assert.h>

void fnet__floating_init(struct fnet__floating *floating, uint32_t buffers,
                         void (*has_credit)(struct fnet__credit *credit))
{
    floating->free = buffers;
    floating->has_credit = has_credit;
    fnet_list_init(&floating->waiting);
}

void fnet__credit_init(struct fnet__credit *credit, uint32_t exclusive,
                       struct fnet__floating *floating)
{
    *credit = (struct fnet__credit){.exclusive = exclusive,
                                    .exclusive_free = exclusive,
                                    .granted = exclusive,
                                    .floating = floating};
}

static void add_unannounced(struct fnet__credit *credit)
{
    if (credit->unannounced++ == 0)
        credit->floating->has_credit(credit);
}

static void take_floating(struct fnet__credit *credit)
{
    credit->floating->free--;
    credit->floating_free++;
    add_unannounced(credit);
}

/* Floating buffers go to whoever has waited longest, while he still needs one. */
static void give_floating(struct fnet__floating *floating, uint32_t n)
{
    floating->free += n;
    while (floating->free > 0) {
        struct fnet_link *link = fnet_list_pop(&floating->waiting);
        if (!link)
            return;
        struct fnet__credit *next = fnet_entry(link, struct fnet__credit, waiting);
        if (fnet__credit_available(next) >= next->required)
            continue;
        take_floating(next);
        if (fnet__credit_available(next) < next->required)
            fnet_list_push(&floating->waiting, &next->waiting);
    }
}

enum fnet_err fnet__credit_use(struct fnet__credit *credit, bool *is_floating)
{
    if (credit->granted == 0)
        return FNET_NO_CREDIT;
    assert(fnet__credit_available(credit) > 0);
    credit->granted--;
    if (credit->required > 0)
        credit->required--;
    *is_floating = credit->floating_free > 0;
    if (*is_floating) {
        credit->floating_free--;
        credit->floating_used++;
    } else {
        credit->exclusive_free--;
    }
    return FNET_OK;
}

void fnet__credit_return(struct fnet__credit *credit, bool is_floating)
{
    if (is_floating) {
        assert(credit->floating_used > 0);
        credit->floating_used--;
        give_floating(credit->floating, 1);
        return;
    }
    assert(credit->exclusive_free < credit->exclusive);
    credit->exclusive_free++;
    if (credit->floating_free > 0 && fnet__credit_available(credit) > credit->required) {
        credit->floating_free--;
        give_floating(credit->floating, 1);
        return;
    }
    add_unannounced(credit);
}

void fnet__credit_set_backlog(struct fnet__credit *credit, uint32_t backlog)
{
    credit->required =
        backlog > UINT32_MAX - credit->exclusive ? UINT32_MAX : backlog + credit->exclusive;
    while (fnet__credit_available(credit) < credit->required) {
        if (credit->floating->free == 0) {
            fnet_list_push(&credit->floating->waiting, &credit->waiting);
            return;
        }
        take_floating(credit);
    }
}

uint32_t fnet__credit_announce(struct fnet__credit *credit)
{
    uint32_t sum = credit->unannounced;

    credit->granted += sum;
    credit->unannounced = 0;
    return sum;
}

void fnet__credit_close(struct fnet__credit *credit)
{
    uint32_t held = credit->floating_free;

    fnet_link_unlink(&credit->waiting);
    credit->required = 0;
    credit->floating_free = 0;
    credit->granted = 0;
    credit->unannounced = 0;
    give_floating(credit->floating, held);
}
