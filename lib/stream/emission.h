/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream, private: a batch on its way into a partition, and the way of nearly all its records:
 * whole, into buffers that are open and stay so.
 */
#ifndef FNET_STREAM_EMISSION_H
#define FNET_STREAM_EMISSION_H

#include "fnet/stream.h"

struct fnet__emission {
    struct fnet_builder_slots slots;
    struct fnet_records rest; /**< what is not written yet */
    struct fnet_targets targets;
    size_t longest; /**< bytes of the longest record; of batches that may go in lanes */
    size_t singly;  /**< records that go one by one before lanes are tried again */
};

/** All is borrowed until the emission is over. */
struct fnet__emission fnet__emission_of(struct fnet_partition *partition,
                                        const struct fnet_records *records,
                                        const struct fnet_targets *targets);

/**
 * Write records up to one that has no open buffer, or would fill it; returns how many, which may be
 * fewer than could go. They are skipped.
 */
size_t fnet__emission_put(struct fnet__emission *e);

/** The first N records of the rest are written. */
void fnet__emission_skip(struct fnet__emission *e, size_t n);

#endif
