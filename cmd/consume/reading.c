/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One channel and where it is read from.
 *
 * Source: Flink SingleInputGate.retriggerPartitionRequest.
 */
#include "consume/reading.h"

struct fnet_channel *reading_channel(const struct reading *r)
{
    return intake_channel(r->intake, r->index);
}

static enum fnet_err request(struct reading *r)
{
    return fnet_consumer_session_request(peer_session(r->peer), reading_channel(r), &r->operand->id,
                                         r->subpartition);
}

static void on_again(void *arg)
{
    struct reading *r = arg;

    if (peer_session(r->peer) && request(r) != FNET_OK)
        fnet_consumer_session_close(peer_session(r->peer));
}

enum fnet_err reading_request(struct reading *r)
{
    enum fnet_err err = fnet_consumer_session_add(peer_session(r->peer), reading_channel(r));

    r->again = (struct fnet_timer){.run = on_again, .arg = r};
    return err == FNET_OK ? request(r) : err;
}

enum fnet_err reading_request_again(struct reading *r)
{
    uint64_t wait_ns;

    if (!backoff_next(&r->backoff, &wait_ns))
        return FNET_NO_PARTITION;
    return fnet_timer_set(r->loop, &r->again, fnet_loop_now_ns(r->loop) + wait_ns);
}

void reading_cancel(struct reading *r)
{
    fnet_timer_cancel(r->loop, &r->again);
}
