/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is told on the way: totals, statistics, digests.
 */
#include "consume/consume.h"

#include <inttypes.h>

void consume_on_totals(void *arg, struct telemetry_totals *out)
{
    const struct consume *c = arg;

    *out = (struct telemetry_totals){.records = 0};
    if (c->pool) {
        out->pool_used = fnet_network_pool_used(c->pool);
        out->pool_size = fnet_network_pool_segments(c->pool);
    }
    for (size_t g = 0; g < consume_gates(c); g++) {
        if (!c->intakes[g])
            continue;
        const struct fnet_channel_counts counts = intake_counts(c->intakes[g]);
        out->records += intake_records(c->intakes[g]);
        out->bytes += counts.bytes;
        out->credit += counts.credit;
    }
}

/* Flink's metric names, of the task's input. */
void consume_on_stats(void *arg, FILE *out)
{
    const struct consume *c = arg;
    struct telemetry_totals totals;
    uint64_t buffers = 0;
    uint64_t skipped = 0;
    uint32_t queued = 0;

    consume_on_totals(arg, &totals);
    for (size_t g = 0; g < consume_gates(c); g++) {
        if (!c->intakes[g])
            continue;
        const struct fnet_channel_counts counts = intake_counts(c->intakes[g]);
        buffers += counts.buffers;
        queued += counts.queued;
        skipped += intake_skipped(c->intakes[g]);
    }
    fprintf(out,
            "\"numRecordsIn\":%" PRIu64 ",\"numSkippedElementsIn\":%" PRIu64
            ",\"numBytesIn\":%" PRIu64 ",\"numBuffersInRemote\":%" PRIu64
            ",\"inputQueueLength\":%" PRIu32 ",\"credit\":%" PRIu64
            ",\"UsedMemorySegments\":%" PRIu32 ",\"TotalMemorySegments\":%" PRIu32
            ",\"PeakMemorySegments\":%" PRIu32,
            totals.records, skipped, totals.bytes, buffers, queued, totals.credit, totals.pool_used,
            totals.pool_size, c->pool ? fnet_network_pool_peak(c->pool) : 0);
}

void consume_print_digests(const struct consume *c)
{
    for (size_t i = 0; c->config.process.wants_digest && i < c->reading_count; i++) {
        const struct reading *r = &c->readings[i];
        telemetry_print_digest(r->operand->name, r->subpartition,
                               intake_channel_digest(r->intake, r->index));
    }
}
