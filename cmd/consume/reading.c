/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One channel and where it is read from.
 *
 * Source: Flink SingleInputGate.retriggerPartitionRequest.
 */
#include "consume/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What is kept of a reading whose partition was not there. */
struct retry {
    struct fnet_loop *loop;
    struct backoff backoff;
    struct fnet_timer timer;
};

struct fnet_channel *reading_channel(const struct reading *r)
{
    return intake_channel(r->intake, r->index);
}

void reading_name(const struct reading *r, char name[static READING_NAME_BYTES])
{
    snprintf(name, READING_NAME_BYTES, "%s:%" PRIu32, r->operand->name, r->subpartition);
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

    return err == FNET_OK ? request(r) : err;
}

enum fnet_err reading_request_again(struct reading *r, struct fnet_loop *loop,
                                    struct backoff backoff)
{
    uint64_t wait_ns;

    if (!r->retry) {
        r->retry = malloc(sizeof *r->retry);
        if (!r->retry)
            return FNET_NOMEM;
        *r->retry =
            (struct retry){.loop = loop, .backoff = backoff, .timer = {.run = on_again, .arg = r}};
    }
    if (!backoff_next(&r->retry->backoff, &wait_ns))
        return FNET_NO_PARTITION;
    return fnet_timer_set(loop, &r->retry->timer, fnet_loop_now_ns(loop) + wait_ns);
}

void reading_cancel(struct reading *r)
{
    if (!r->retry)
        return;
    fnet_timer_cancel(r->retry->loop, &r->retry->timer);
    free(r->retry);
    r->retry = NULL;
}
