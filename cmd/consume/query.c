/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking a producer what it serves, patiently.
 */
#include "consume/query.h"

static void on_again(void *arg)
{
    struct query *q = arg;

    if (peer_session(q->peer) && query_ask(q) != FNET_OK)
        fnet_consumer_session_close(peer_session(q->peer));
}

enum fnet_err query_ask(struct query *q)
{
    fnet_id_random(&q->id);
    q->again = (struct fnet_timer){.run = on_again, .arg = q};
    return fnet_consumer_session_describe(peer_session(q->peer), &q->id,
                                          q->is_for_all ? NULL : &q->operand->id);
}

enum fnet_err query_ask_again(struct query *q)
{
    uint64_t wait_ns;

    if (!backoff_next(&q->backoff, &wait_ns))
        return FNET_NO_PARTITION;
    return fnet_timer_set(q->loop, &q->again, fnet_loop_now_ns(q->loop) + wait_ns);
}

void query_cancel(struct query *q)
{
    fnet_timer_cancel(q->loop, &q->again);
}
