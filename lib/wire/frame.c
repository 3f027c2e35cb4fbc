/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame header, and what is known of every message from its type alone: name and length.
 *
 * Source: Flink NettyMessage (1.5 to 2.3).
 */
#include "frame.h"

#define AT_LENGTH 0
#define AT_MAGIC 4
#define AT_TYPE 8

#define FRAME(body) (FNET_FRAME_HEADER_BYTES + (body))
#define DESCRIPTION_BYTES FRAME(FNET_ID_BYTES + 4 + FNET_PARTITION_ID_BYTES + 9)

/* Indexed by type; an entry without name is no message. The extension frames lie far behind. */
static const char *const names[] = {
    [FNET_BUFFER_RESPONSE] = "BufferResponse",
    [FNET_ERROR_RESPONSE] = "ErrorResponse",
    [FNET_PARTITION_REQUEST] = "PartitionRequest",
    [FNET_TASK_EVENT_REQUEST] = "TaskEventRequest",
    [FNET_CANCEL_PARTITION_REQUEST] = "CancelPartitionRequest",
    [FNET_CLOSE_REQUEST] = "CloseRequest",
    [FNET_ADD_CREDIT] = "AddCredit",
    [FNET_RESUME_CONSUMPTION] = "ResumeConsumption",
    [FNET_ACK_ALL_USER_RECORDS_PROCESSED] = "AckAllUserRecordsProcessed",
    [FNET_BACKLOG_ANNOUNCEMENT] = "BacklogAnnouncement",
    [FNET_NEW_BUFFER_SIZE] = "NewBufferSize",
    [FNET_SEGMENT_ID] = "SegmentId",
    [FNET_DESCRIPTION_REQUEST] = "DescriptionRequest",
    [FNET_DESCRIPTION_RESPONSE] = "DescriptionResponse",
};

const char *fnet_message_type_name(unsigned type)
{
    if (type == FNET_DIALECT_PROBE)
        return "DialectProbe";
    return type < sizeof names / sizeof *names ? names[type] : NULL;
}

size_t fnet__wire_frame_min_bytes(const struct fnet_dialect *dialect, enum fnet_message_type type)
{
    const size_t ids = (size_t)dialect->partition_bytes + dialect->attempt_bytes;

    switch (type) {
    case FNET_BUFFER_RESPONSE: return dialect->buffer.head;
    case FNET_ERROR_RESPONSE: return FRAME(1);
    case FNET_PARTITION_REQUEST: return dialect->partition_request_bytes;
    case FNET_TASK_EVENT_REQUEST: return FRAME(4 + ids + FNET_ID_BYTES);
    case FNET_CLOSE_REQUEST: return FRAME(0);
    case FNET_ADD_CREDIT:
        return FRAME((dialect->credit_names_partition ? ids : 0) + 4 + FNET_ID_BYTES);
    case FNET_CANCEL_PARTITION_REQUEST:
    case FNET_RESUME_CONSUMPTION:
    case FNET_ACK_ALL_USER_RECORDS_PROCESSED: return FRAME(FNET_ID_BYTES);
    case FNET_BACKLOG_ANNOUNCEMENT:
    case FNET_NEW_BUFFER_SIZE: return FRAME(4 + FNET_ID_BYTES);
    case FNET_SEGMENT_ID:
        return FRAME((dialect->segment_names_subpartition ? 8 : 4) + FNET_ID_BYTES);
    case FNET_DESCRIPTION_REQUEST: return FRAME(FNET_ID_BYTES + 1 + FNET_PARTITION_ID_BYTES);
    case FNET_DESCRIPTION_RESPONSE: return DESCRIPTION_BYTES;
    case FNET_DIALECT_PROBE: return FNET_DIALECT_PROBE_BYTES;
    }
    return 0;
}

/* Longest frame of a TYPE whose shortest has MIN bytes. */
static size_t max_bytes(enum fnet_message_type type, size_t min)
{
    if (type == FNET_BUFFER_RESPONSE)
        return min + FNET_PARTIALS_MAX * 4 + FNET_PAYLOAD_MAX_BYTES;
    if (type == FNET_ERROR_RESPONSE || type == FNET_TASK_EVENT_REQUEST)
        return FNET_MESSAGE_MAX_BYTES;
    return type == FNET_DESCRIPTION_RESPONSE ? min + FNET_NAME_MAX_BYTES : min;
}

enum fnet_err fnet__wire_frame_peek(struct fnet_span bytes, uint8_t *type, uint32_t *length)
{
    if (bytes.len < FNET_FRAME_HEADER_BYTES)
        return FNET_AGAIN;
    if (fnet_load_be32(bytes.ptr + AT_MAGIC) != FNET_MAGIC)
        return FNET_BAD_MAGIC;
    *type = bytes.ptr[AT_TYPE];
    *length = fnet_load_be32(bytes.ptr + AT_LENGTH);
    return FNET_OK;
}

enum fnet_err fnet__wire_frame_get(const struct fnet_dialect *dialect, struct fnet_span bytes,
                                   struct fnet__wire_frame *out)
{
    uint8_t byte;
    uint32_t length;
    enum fnet_err err = fnet__wire_frame_peek(bytes, &byte, &length);

    if (err != FNET_OK)
        return err;
    if (!fnet_message_type_name(byte) || !fnet_dialect_has_message(dialect, byte))
        return FNET_BAD_KIND;

    const enum fnet_message_type type = (enum fnet_message_type)byte;
    const size_t min = fnet__wire_frame_min_bytes(dialect, type);
    if (length < min || length > max_bytes(type, min))
        return FNET_BAD_LENGTH;
    *out = (struct fnet__wire_frame){.length = length, .type = type};
    return FNET_OK;
}

void fnet__wire_frame_put(uint8_t *at, uint32_t length, enum fnet_message_type type)
{
    fnet_store_be32(at + AT_LENGTH, length);
    fnet_store_be32(at + AT_MAGIC, FNET_MAGIC);
    at[AT_TYPE] = (uint8_t)type;
}
