/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consume: one gate on its way into one sink.
 */
#ifndef CONSUME_INTAKE_H
#define CONSUME_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "consume/sink.h"
#include "fnet/digest.h"
#include "fnet/stream.h"
#include "fnet/value.h"

struct intake;

struct intake_config {
    struct fnet_loop *loop;
    struct fnet_network_pool *network; /**< borrowed: channels * exclusive + floating segments */
    struct sink *sink;                 /**< borrowed */
    struct fnet_delimiter_config format;
    const struct fnet_dialect *dialect;
    enum fnet_codec codec;
    struct fnet_serde serde; /**< of what comes out of the gate */
    bool has_tag;
    bool wants_digest;
    uint64_t limit; /**< UINT64_MAX: none */
    uint32_t buffers_per_channel;
    uint32_t floating_buffers;
    size_t channels;
    const char *spill_dir;
    /** Nothing more will come, all of it is written out; or ERR: of the records, or the sink's. */
    void (*ended)(void *arg, struct intake *intake, enum fnet_err err);
    void *arg;
};

/** Errors: FNET_NOMEM. OUT is owned by caller; its channels are there. */
FNET_CHECKED enum fnet_err intake_new(const struct intake_config *config, struct intake **out);
void intake_free(struct intake *intake);

/** With has_tag, put TAG, which is copied, in front of channel I's records. Errors: FNET_NOMEM. */
FNET_CHECKED enum fnet_err intake_tag(struct intake *intake, size_t i, const char *tag);
struct fnet_channel *intake_channel(const struct intake *intake, size_t i);
/** Records of channel I that were appended to the output. */
uint64_t intake_channel_records(const struct intake *intake, size_t i);
/** Of those records; where wants_digest. */
const struct fnet_digest *intake_channel_digest(const struct intake *intake, size_t i);

/** Begin, once every channel has its tag, if it shall have one. Errors: FNET_NOMEM. */
FNET_CHECKED enum fnet_err intake_start(struct intake *intake);
/** Work is possible again (the sink was drained). */
void intake_post(struct intake *intake);
/** Work now, until nothing is left or the output is full. */
void intake_drain(struct intake *intake);
/** Cancel all channels. */
void intake_cancel(struct intake *intake);

/** The channel that the error was about; NULL for none. Its errno for FNET_SYSTEM. */
const struct fnet_channel *intake_culprit(const struct intake *intake, int *saved_errno);
/** Was the error about an element behind the first *AFTER records of that channel? */
bool intake_is_element_bad(const struct intake *intake, uint64_t *after);

uint64_t intake_records(const struct intake *intake);
/** Elements that were no records. */
uint64_t intake_skipped(const struct intake *intake);
struct fnet_channel_counts intake_counts(const struct intake *intake);

#endif
