/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches: interest in descriptors, collected until the kernel is asked next, and what becomes of
 * the kernel's answers.
 */
#include <assert.h>

#include "loop.h"

enum fnet_err fnet_watch_open(struct fnet_watch *watch, struct fnet_loop *loop, int fd,
                              void (*ready)(void *arg, unsigned happened), void *arg)
{
    bool is_unpollable = false;
    enum fnet_err err = loop->backend->add(loop, watch, fd, &is_unpollable);

    if (err != FNET_OK)
        return err;
    *watch = (struct fnet_watch){.loop = loop,
                                 .fd = fd,
                                 .wanted = FNET_HUNG_UP,
                                 .registered = is_unpollable ? 0 : FNET_HUNG_UP,
                                 .is_unpollable = is_unpollable,
                                 .ready = ready,
                                 .arg = arg};
    fnet_list_push(is_unpollable ? &loop->unpollable : &loop->watches, &watch->member);
    return FNET_OK;
}

void fnet_watch_want(struct fnet_watch *watch, unsigned wanted)
{
    assert((wanted & ~(unsigned)(FNET_WANT_READ | FNET_WANT_WRITE)) == 0);

    /* After a hang-up was reported that nobody wanted to know more of, it would be again and
     * again: the watch stays out of the kernel's sight until something is wanted. */
    if (!wanted && !watch->wanted)
        return;
    watch->wanted = wanted | FNET_HUNG_UP;
    if (watch->wanted != watch->registered && !watch->is_unpollable)
        fnet_list_push(&watch->loop->changed, &watch->changed);
}

void fnet_watch_close(struct fnet_watch *watch)
{
    if (!watch->loop)
        return;
    fnet_link_unlink(&watch->changed);
    fnet_link_unlink(&watch->member);
    if (!watch->is_unpollable)
        watch->loop->backend->remove(watch->loop, watch);
    *watch = (struct fnet_watch){.loop = NULL};
}

enum fnet_err fnet__watch_tell_changes(struct fnet_loop *loop)
{
    struct fnet_link *link;

    while ((link = fnet_list_pop(&loop->changed))) {
        struct fnet_watch *watch = fnet_entry(link, struct fnet_watch, changed);
        if (watch->wanted == watch->registered)
            continue;
        enum fnet_err err = loop->backend->tell(loop, watch);
        if (err != FNET_OK)
            return err;
        watch->registered = watch->wanted;
    }
    return FNET_OK;
}

void fnet__watch_report(struct fnet_watch *watch, unsigned happened)
{
    /* After an error or a hang-up whatever is tried answers at once: with what is left to read,
     * then the end; or with the error. */
    if (happened & FNET_HUNG_UP)
        happened |= watch->wanted;
    happened &= watch->wanted;
    if (!happened)
        return;
    if (watch->wanted == FNET_HUNG_UP) {
        watch->wanted = 0;
        fnet_list_push(&watch->loop->changed, &watch->changed);
    }
    watch->ready(watch->arg, happened);
}

static unsigned always_ready(const struct fnet_watch *watch)
{
    return watch->wanted & (FNET_WANT_READ | FNET_WANT_WRITE);
}

bool fnet__watch_is_any_ready(const struct fnet_loop *loop)
{
    const struct fnet_link *link = loop->unpollable.head.next;

    while (link != &loop->unpollable.head) {
        if (always_ready(fnet_entry(link, struct fnet_watch, member)))
            return true;
        link = link->next;
    }
    return false;
}

void fnet__watch_report_unpollable(struct fnet_loop *loop)
{
    struct fnet_list
        batch; /* callbacks may close any of them: each is popped when its turn comes */
    struct fnet_link *link;

    fnet__list_move(&loop->unpollable, &batch);
    while ((link = fnet_list_pop(&batch))) {
        struct fnet_watch *watch = fnet_entry(link, struct fnet_watch, member);
        fnet_list_push(&loop->unpollable, link);
        if (always_ready(watch))
            watch->ready(watch->arg, always_ready(watch));
    }
}
