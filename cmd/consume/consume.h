/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consume: the whole of a running fnet-consume, and how its parts come to know of each other.
 */
#ifndef CONSUME_CONSUME_H
#define CONSUME_CONSUME_H

#include "cli/process.h"
#include "consume/consume_config.h"
#include "consume/intake.h"
#include "consume/listing.h"
#include "consume/peer.h"
#include "consume/query.h"
#include "consume/reading.h"
#include "consume/sink.h"

/** Most characters that are kept of why a connection was lost, NUL included. */
#define CONSUME_REASON_BYTES 512

struct consume {
    struct consume_config config;
    struct process process;
    struct peers *peers;
    struct fnet_network_pool *pool;
    struct query *queries; /* owned: one per operand that has to be asked about */
    size_t query_count;
    size_t unanswered;
    struct listing *listing;
    int *outputs;            /* owned: a descriptor per gate, opened before all else */
    struct sink **sinks;     /* owned array, one per gate; gates with one output share theirs */
    struct intake **intakes; /* owned array, one per gate */
    size_t intakes_ended;
    struct reading *readings; /* owned: all channels of all gates */
    size_t reading_count;
    struct fnet_task begin; /* once all questions are answered */
    struct fnet_timer leave;
    /** The first connection that was lost, until what was received over it is written out. */
    struct {
        struct peer *peer; /**< NULL: none was */
        enum fnet_err err;
        char reason[CONSUME_REASON_BYTES];
    } loss;
    struct fnet_task conclude; /**< the loss, once there is nothing to be written any more ... */
    struct fnet_timer late;    /**< ... or the output takes too long */
    bool is_leaving;
    int status;
};

static inline size_t consume_gates(const struct consume *c)
{
    return c->config.group_count;
}

/* ---- outcome.c: how it ends ---------------------------------------------------------------- */

/** All that was asked for is done: take leave of the producers, wait for them LONGEST_NS. */
void consume_leave(struct consume *c, uint64_t longest_ns);
/** It cannot be completed: STATUS. What was to be said has been said; the first failure counts. */
void consume_fail(struct consume *c, int status);
/** CHANNEL or question NAME of PEER was answered with ERR and TEXT: say so, and fail. */
void consume_refused(struct consume *c, const struct peer *peer, const char *name,
                     enum fnet_err err, const char *text);

/* Callbacks; ARG is the struct consume. */
void consume_on_leave_over(void *arg);
void consume_on_signal(void *arg, int signo);
void consume_on_drained(void *arg);
void consume_on_intake_ended(void *arg, struct intake *intake, enum fnet_err err);
void consume_on_unreachable(void *arg, struct peer *peer, const char *reason);
void consume_on_lost(void *arg, struct peer *peer, enum fnet_err err, const char *reason);
void consume_on_conclude(void *arg);
void consume_on_emptied(void *arg);
void consume_on_channel_error(void *arg, struct fnet_channel *channel, enum fnet_err err,
                              const char *text);

/* ---- discovery.c: what the producers have --------------------------------------------------- */

/** Ask about every operand that does not say it itself; C->begin runs once all is answered. */
FNET_CHECKED enum fnet_err consume_ask(struct consume *c);
/** Subpartitions of OPERAND: as given, or as answered. */
size_t consume_count_channels(const struct consume *c, const struct consume_operand *operand);
/** With what OPERAND's producer said it compresses; NONE: it does not, or was not asked. */
enum fnet_codec consume_codec(const struct consume *c, const struct consume_operand *operand);

void consume_on_description(void *arg, const struct fnet_id *request,
                            const struct fnet_description_response *description);
void consume_on_description_error(void *arg, const struct fnet_id *request, enum fnet_err err,
                                  const char *text);

/* ---- gates.c: the input gates --------------------------------------------------------------- */

/** Build the gates and request all their subpartitions. */
FNET_CHECKED enum fnet_err consume_build_gates(struct consume *c);
/** For messages and timers that hold for all channels of all gates alike. */
struct backoff consume_backoff(const struct consume *c);

/* ---- input_account.c: what is told on the way
 * ------------------------------------------------------ */

void consume_on_totals(void *arg, struct telemetry_totals *out);
void consume_on_stats(void *arg, FILE *out);
void consume_print_digests(const struct consume *c);

#endif
