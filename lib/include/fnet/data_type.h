/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base: what a buffer holds, as the ordinal that stands in a BufferResponse.
 *
 * Source: Flink Buffer.DataType, 2.0 and later.
 */
#ifndef FNET_DATA_TYPE_H
#define FNET_DATA_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "fnet/err.h"

enum fnet_data_type {
    FNET_DATA_BUFFER = 1,
    FNET_EVENT_BUFFER = 2,
    FNET_PRIORITIZED_EVENT_BUFFER = 3,
    FNET_ALIGNED_CHECKPOINT_BARRIER = 4,
    FNET_TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER = 5,
    FNET_RECOVERY_COMPLETION = 6,
    FNET_END_OF_SEGMENT = 7,
    FNET_DATA_BUFFER_WITH_CLEAR_END = 8,
    FNET_END_OF_DATA = 9,
    FNET_END_OF_PARTITION = 10,
    FNET_RECOVERY_METADATA = 11,
    FNET_ALIGNED_WATERMARK_EVENT = 12,
    FNET_UNALIGNED_WATERMARK_EVENT = 13,
};

/** Is TYPE (any byte) a data buffer, one that costs a credit? */
static inline bool fnet_data_type_is_buffer(uint8_t type)
{
    return type == FNET_DATA_BUFFER || type == FNET_DATA_BUFFER_WITH_CLEAR_END;
}

/** Is TYPE (any byte) one of enum fnet_data_type? */
static inline bool fnet_data_type_is_known(uint8_t type)
{
    return type >= FNET_DATA_BUFFER && type <= FNET_UNALIGNED_WATERMARK_EVENT;
}

/** Does TYPE stop its subpartition until the consumer resumes it? */
static inline bool fnet_data_type_blocks_upstream(uint8_t type)
{
    return type == FNET_ALIGNED_CHECKPOINT_BARRIER ||
           type == FNET_TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER ||
           type == FNET_RECOVERY_COMPLETION || type == FNET_ALIGNED_WATERMARK_EVENT;
}

/** Flink's name of TYPE ("DATA_BUFFER"), static; NULL for an unknown one. */
FNET_API const char *fnet_data_type_name(uint8_t type);

#endif
