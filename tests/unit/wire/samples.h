/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: what the golden frames mean. The ids are those of the vectors: each a run of 16 bytes.
 */
#ifndef TESTS_WIRE_SAMPLES_H
#define TESTS_WIRE_SAMPLES_H

#include "fnet/wire.h"

#define RUN(b)                                                                                     \
    {                                                                                              \
        {                                                                                          \
            (b), (b) + 1, (b) + 2, (b) + 3, (b) + 4, (b) + 5, (b) + 6, (b) + 7, (b) + 8, (b) + 9,  \
                (b) + 10, (b) + 11, (b) + 12, (b) + 13, (b) + 14, (b) + 15                         \
        }                                                                                          \
    }
#define CHANNEL RUN(0x10)
#define PARTITION                                                                                  \
    {                                                                                              \
        .data_set = RUN(0xa0), .number = 3, .graph = RUN(0xb0), .vertex = RUN(0xc0), .subtask = 3, \
        .attempt = 1                                                                               \
    }
#define BYTES(text)                                                                                \
    {                                                                                              \
        .ptr = (const uint8_t *)(text), .len = sizeof(text) - 1                                    \
    }
/* A BufferResponse of subpartition 5 without partial buffers. */
#define BUFFER(number, queued, kind, bytes)                                                        \
    {                                                                                              \
        .type = FNET_BUFFER_RESPONSE, .receiver = CHANNEL, .buffer = {                             \
            .subpartition = 5,                                                                     \
            .sequence = (number),                                                                  \
            .backlog = (queued),                                                                   \
            .data_type = (kind),                                                                   \
            .size = (bytes)                                                                        \
        }                                                                                          \
    }

static const struct sample {
    const char *name; /* without the "dump." of a dump */
    struct fnet_message message;
} samples[] = {
    {"PartitionRequest",
     {.type = FNET_PARTITION_REQUEST,
      .receiver = CHANNEL,
      .request = {.partition = PARTITION, .first = 5, .last = 5, .credit = 2}}},
    {"BufferResponse.hello", BUFFER(0, 1, FNET_DATA_BUFFER, 11)},
    {"BufferResponse.partial",
     {.type = FNET_BUFFER_RESPONSE,
      .receiver = CHANNEL,
      .buffer = {.subpartition = -1,
                 .sequence = 7,
                 .data_type = FNET_DATA_BUFFER,
                 .size = 22,
                 .partials = 2,
                 .partial_sizes = BYTES("\0\0\0\x0b\0\0\0\x0b")}}},
    {"BufferResponse.lz4",
     {.type = FNET_BUFFER_RESPONSE,
      .receiver = CHANNEL,
      .buffer = {.subpartition = 5,
                 .sequence = 8,
                 .data_type = FNET_DATA_BUFFER,
                 .is_compressed = true,
                 .size = 28}}},
    {"BufferResponse.credit-back", BUFFER(0, 0, FNET_DATA_BUFFER, 0)},
    {"Barrier.aligned", BUFFER(1, 0, FNET_ALIGNED_CHECKPOINT_BARRIER, 38)},
    {"Barrier.savepoint", BUFFER(2, 0, FNET_ALIGNED_CHECKPOINT_BARRIER, 44)},
    {"Barrier.unaligned", BUFFER(2, 0, FNET_PRIORITIZED_EVENT_BUFFER, 38)},
    {"EndOfData", BUFFER(3, 0, FNET_END_OF_DATA, 5)},
    {"EndOfPartition", BUFFER(4, 0, FNET_END_OF_PARTITION, 4)},
    {"CancelCheckpoint", BUFFER(5, 0, FNET_EVENT_BUFFER, 12)},
    {"SubtaskConn", BUFFER(5, 0, FNET_EVENT_BUFFER, 12)},
    {"Watermark", BUFFER(6, 0, FNET_UNALIGNED_WATERMARK_EVENT, 128)},
    {"EndOfOutputChannelState", BUFFER(7, 0, FNET_RECOVERY_COMPLETION, 4)},
    {"AddCredit", {.type = FNET_ADD_CREDIT, .receiver = CHANNEL, .credit = 3}},
    {"BacklogAnnouncement", {.type = FNET_BACKLOG_ANNOUNCEMENT, .receiver = CHANNEL, .backlog = 4}},
    {"ResumeConsumption", {.type = FNET_RESUME_CONSUMPTION, .receiver = CHANNEL}},
    {"CancelPartitionRequest", {.type = FNET_CANCEL_PARTITION_REQUEST, .receiver = CHANNEL}},
    {"CloseRequest", {.type = FNET_CLOSE_REQUEST}},
    {"AckAll", {.type = FNET_ACK_ALL_USER_RECORDS_PROCESSED, .receiver = CHANNEL}},
    {"NewBufferSize", {.type = FNET_NEW_BUFFER_SIZE, .receiver = CHANNEL, .buffer_size = 16384}},
    {"SegmentId",
     {.type = FNET_SEGMENT_ID, .receiver = CHANNEL, .segment = {.subpartition = 5, .segment = 9}}},
    {"TaskEventRequest",
     {.type = FNET_TASK_EVENT_REQUEST,
      .receiver = CHANNEL,
      .task_event = {.event = BYTES("\0\0\0\2"), .partition = PARTITION}}},
    {"DescriptionRequest.one",
     {.type = FNET_DESCRIPTION_REQUEST, .receiver = CHANNEL, .describe = {.partition = PARTITION}}},
    {"DescriptionRequest.all",
     {.type = FNET_DESCRIPTION_REQUEST, .receiver = CHANNEL, .describe = {.all = true}}},
    {"DescriptionResponse.main",
     {.type = FNET_DESCRIPTION_RESPONSE,
      .receiver = CHANNEL,
      .description = {.remaining = 2,
                      .partition = PARTITION,
                      .subpartitions = 4,
                      .partition_type = 1,
                      .format = 3,
                      .state = 1,
                      .codec = 2,
                      .name = BYTES("main")}}},
    {"DescriptionResponse.flink",
     {.type = FNET_DESCRIPTION_RESPONSE,
      .receiver = CHANNEL,
      .description = {.partition = PARTITION, .subpartitions = 1}}},
    {"DescriptionResponse.none",
     {.type = FNET_DESCRIPTION_RESPONSE, .receiver = CHANNEL, .description = {.remaining = 0}}},
};

#define SAMPLES (sizeof samples / sizeof *samples)

/** The sample of the golden entry NAME; NULL for an ErrorResponse, which is not written down. */
__attribute__((unused)) static const struct fnet_message *sample_find(const char *name)
{
    if (strncmp(name, "dump.", 5) == 0)
        name += 5;
    for (size_t i = 0; i < SAMPLES; i++)
        if (strcmp(samples[i].name, name) == 0)
            return &samples[i].message;
    return NULL;
}

#endif
