/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a channel that cannot acknowledge.
 *
 * Source: Flink SingleInputGate and RemoteInputChannel up to 1.13: a channel is released, and its
 * producer told, when the task takes EndOfPartition out of the gate.
 */
#include "silent_channel.h"

#include <stdlib.h>

#include "fnet/event.h"

struct fnet__silent_channel *fnet__silent_channel_find(const struct fnet_id_map *map,
                                                       const struct fnet_channel *channel)
{
    return fnet_id_map_get(map, fnet_channel_id(channel));
}

bool fnet__silent_channel_is_ending(const struct fnet_id_map *map,
                                    const struct fnet_channel *channel)
{
    const struct fnet__silent_channel *silent = fnet__silent_channel_find(map, channel);

    return silent && silent->is_ending;
}

enum fnet_err fnet__silent_channel_keep(struct fnet_id_map *map, const struct fnet_channel *channel,
                                        const struct fnet_partition_id *partition)
{
    struct fnet__silent_channel *silent = fnet__silent_channel_find(map, channel);

    if (!silent) {
        silent = calloc(1, sizeof *silent);
        if (!silent)
            return FNET_NOMEM;
        enum fnet_err err = fnet_id_map_put(map, fnet_channel_id(channel), silent);
        if (err != FNET_OK) {
            free(silent);
            return err;
        }
    }
    silent->partition = *partition;
    return FNET_OK;
}

enum fnet_err fnet__silent_channel_hold_end(struct fnet__silent_channel *silent, int32_t sequence,
                                            struct fnet_buffer *event)
{
    static const uint8_t end_of_data[] = {0, 0, 0, FNET_EVENT_END_OF_DATA, 0};
    struct fnet_buffer end;
    enum fnet_err err =
        fnet_buffer_new_heap(fnet_span_of(end_of_data, sizeof end_of_data), FNET_END_OF_DATA, &end);

    if (err != FNET_OK)
        return err;
    fnet_buffer_clear(event);
    *event = end;
    silent->is_ending = true;
    silent->sequence = sequence == INT32_MAX ? INT32_MIN : sequence + 1;
    return FNET_OK;
}

enum fnet_err fnet__silent_channel_end(const struct fnet__silent_channel *silent,
                                       struct fnet_channel *channel)
{
    static const uint8_t end_of_partition[4];
    struct fnet_buffer end;

    if (!silent || !silent->is_ending || fnet_channel_state(channel) != FNET_CHANNEL_OPEN)
        return FNET_OK;
    enum fnet_err err = fnet_channel_begin(channel, silent->sequence, FNET_END_OF_PARTITION,
                                           sizeof end_of_partition, &end);
    if (err != FNET_OK)
        return err;
    memcpy(end.segment->bytes, end_of_partition, sizeof end_of_partition);
    err = fnet_channel_receive(channel, &end, 0);
    fnet_buffer_clear(&end);
    return err;
}
