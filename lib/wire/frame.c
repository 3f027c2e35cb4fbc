/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame header, and what is known of every message from its type alone: name and length.
 *
 * Source: Flink NettyMessage (2.0 to 2.3).
 */
#include "frame.h"

#define AT_LENGTH 0
#define AT_MAGIC 4
#define AT_TYPE 8

#define FRAME(body) (FNET_FRAME_HEADER_BYTES + (body))
#define FIXED(body) FRAME(body), FRAME(body)
#define PAYLOADS_MAX (FNET_PARTIALS_MAX * 4 + FNET_PAYLOAD_MAX_BYTES)

/* Indexed by type; an entry without name is no message. The extension frames lie far behind. */
static const struct {
    const char *name;
    uint32_t min; /* frame lengths, inclusive */
    uint32_t max;
} kinds[] = {
    [FNET_BUFFER_RESPONSE] = {"BufferResponse", FNET_BUFFER_RESPONSE_HEAD_BYTES,
                              FNET_BUFFER_RESPONSE_HEAD_BYTES + PAYLOADS_MAX},
    [FNET_ERROR_RESPONSE] = {"ErrorResponse", FRAME(1), FNET_MESSAGE_MAX_BYTES},
    [FNET_PARTITION_REQUEST] = {"PartitionRequest",
                                FIXED(FNET_PARTITION_ID_BYTES + 8 + FNET_ID_BYTES + 4)},
    [FNET_TASK_EVENT_REQUEST] = {"TaskEventRequest",
                                 FRAME(4 + FNET_PARTITION_ID_BYTES + FNET_ID_BYTES),
                                 FNET_MESSAGE_MAX_BYTES},
    [FNET_CANCEL_PARTITION_REQUEST] = {"CancelPartitionRequest", FIXED(FNET_ID_BYTES)},
    [FNET_CLOSE_REQUEST] = {"CloseRequest", FIXED(0)},
    [FNET_ADD_CREDIT] = {"AddCredit", FIXED(4 + FNET_ID_BYTES)},
    [FNET_RESUME_CONSUMPTION] = {"ResumeConsumption", FIXED(FNET_ID_BYTES)},
    [FNET_ACK_ALL_USER_RECORDS_PROCESSED] = {"AckAllUserRecordsProcessed", FIXED(FNET_ID_BYTES)},
    [FNET_BACKLOG_ANNOUNCEMENT] = {"BacklogAnnouncement", FIXED(4 + FNET_ID_BYTES)},
    [FNET_NEW_BUFFER_SIZE] = {"NewBufferSize", FIXED(4 + FNET_ID_BYTES)},
    [FNET_SEGMENT_ID] = {"SegmentId", FIXED(8 + FNET_ID_BYTES)},
    [FNET_DESCRIPTION_REQUEST] = {"DescriptionRequest",
                                  FIXED(FNET_ID_BYTES + 1 + FNET_PARTITION_ID_BYTES)},
    [FNET_DESCRIPTION_RESPONSE] = {"DescriptionResponse",
                                   FRAME(FNET_ID_BYTES + 4 + FNET_PARTITION_ID_BYTES + 8),
                                   FRAME(FNET_ID_BYTES + 4 + FNET_PARTITION_ID_BYTES + 8 +
                                         FNET_NAME_MAX_BYTES)},
};

#define KINDS (sizeof kinds / sizeof *kinds)

const char *fnet_message_type_name(uint8_t type)
{
    return type < KINDS ? kinds[type].name : NULL;
}

size_t fnet__wire_frame_min_bytes(enum fnet_message_type type)
{
    return (size_t)type < KINDS ? kinds[type].min : 0;
}

enum fnet_err fnet__wire_frame_get(struct fnet_span bytes, struct fnet__wire_frame *out)
{
    if (bytes.len < FNET_FRAME_HEADER_BYTES)
        return FNET_AGAIN;

    uint32_t length = fnet_load_be32(bytes.ptr + AT_LENGTH);
    uint8_t type = bytes.ptr[AT_TYPE];

    if (fnet_load_be32(bytes.ptr + AT_MAGIC) != FNET_MAGIC)
        return FNET_BAD_MAGIC;
    if (!fnet_message_type_name(type))
        return FNET_BAD_KIND;
    if (length < kinds[type].min || length > kinds[type].max)
        return FNET_BAD_LENGTH;
    *out = (struct fnet__wire_frame){.length = length, .type = (enum fnet_message_type)type};
    return FNET_OK;
}

void fnet__wire_frame_put(uint8_t *at, uint32_t length, enum fnet_message_type type)
{
    fnet_store_be32(at + AT_LENGTH, length);
    fnet_store_be32(at + AT_MAGIC, FNET_MAGIC);
    at[AT_TYPE] = (uint8_t)type;
}
