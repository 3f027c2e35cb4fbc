/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the data types.
 *
 * Source: Flink Buffer.DataType, 2.0 and later.
 */
#include "fnet/data_type.h"

const char *fnet_data_type_name(uint8_t type)
{
    static const char *const names[] = {
        [FNET_DATA_BUFFER] = "DATA_BUFFER",
        [FNET_EVENT_BUFFER] = "EVENT_BUFFER",
        [FNET_PRIORITIZED_EVENT_BUFFER] = "PRIORITIZED_EVENT_BUFFER",
        [FNET_ALIGNED_CHECKPOINT_BARRIER] = "ALIGNED_CHECKPOINT_BARRIER",
        [FNET_TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER] = "TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER",
        [FNET_RECOVERY_COMPLETION] = "RECOVERY_COMPLETION",
        [FNET_END_OF_SEGMENT] = "END_OF_SEGMENT",
        [FNET_DATA_BUFFER_WITH_CLEAR_END] = "DATA_BUFFER_WITH_CLEAR_END",
        [FNET_END_OF_DATA] = "END_OF_DATA",
        [FNET_END_OF_PARTITION] = "END_OF_PARTITION",
        [FNET_RECOVERY_METADATA] = "RECOVERY_METADATA",
        [FNET_ALIGNED_WATERMARK_EVENT] = "ALIGNED_WATERMARK_EVENT",
        [FNET_UNALIGNED_WATERMARK_EVENT] = "UNALIGNED_WATERMARK_EVENT",
    };
    return fnet_data_type_is_known(type) ? names[type] : 0;
}
