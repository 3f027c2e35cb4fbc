/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is told on the way: totals, statistics, digests.
 */
#include <inttypes.h>

#include "produce/produce.h"
#include "produce/produce_plan.h"

void produce_on_totals(void *arg, struct telemetry_totals *out)
{
    const struct produce *p = arg;

    *out = (struct telemetry_totals){.pool_used = fnet_network_pool_used(p->pool),
                                     .pool_size = fnet_network_pool_segments(p->pool)};
    for (size_t i = 0; i < produce_partitions(p); i++) {
        out->records += source_records(p->sources[i]);
        out->bytes += source_bytes(p->sources[i]);
    }
    out->credit = server_credit(p->server);
    out->expected_bytes = plan_expected_bytes(p->inputs, produce_partitions(p));
}

/* Flink's metric names, of the task's output. */
void produce_on_stats(void *arg, FILE *out)
{
    const struct produce *p = arg;
    const struct fnet_session_counts sent = server_counts(p->server);
    struct telemetry_totals totals;
    uint32_t queued = 0;

    produce_on_totals(arg, &totals);
    for (size_t i = 0; i < produce_partitions(p); i++)
        queued += fnet_partition_queued(p->partitions[i]);
    fprintf(out,
            "\"numRecordsOut\":%" PRIu64 ",\"numBytesOut\":%" PRIu64 ",\"numBuffersOut\":%" PRIu64
            ",\"outputQueueLength\":%" PRIu32 ",\"UsedMemorySegments\":%" PRIu32
            ",\"TotalMemorySegments\":%" PRIu32 ",\"PeakMemorySegments\":%" PRIu32,
            totals.records, sent.payload_out, sent.buffers_out, queued, totals.pool_used,
            totals.pool_size, fnet_network_pool_peak(p->pool));
}

void produce_print_digests(const struct produce *p)
{
    for (size_t i = 0; p->config.process.wants_digest && i < produce_partitions(p); i++)
        for (uint32_t s = 0; s < p->config.subpartitions; s++)
            telemetry_print_digest(p->config.operands[i].name, s,
                                   &source_digests(p->sources[i])[s]);
}
