/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Head of a BufferResponse: fixed offsets behind one length check, no cursor, no allocation.
 *
 * Source: Flink NettyMessage.BufferResponse, BufferResponseDecoder (2.0 to 2.3).
 */
#include "buffer_response.h"

#include "frame.h"

/* Offsets in the frame; the partial sizes follow, then the payload. */
#define AT_RECEIVER 9
#define AT_SUBPARTITION 25
#define AT_PARTIALS 29
#define AT_SEQUENCE 33
#define AT_BACKLOG 37
#define AT_DATA_TYPE 41
#define AT_IS_COMPRESSED 42
#define AT_SIZE 43

_Static_assert(AT_SIZE + 4 == FNET_BUFFER_RESPONSE_HEAD_BYTES, "the size ends the head");

static bool is_sum_right(const struct fnet_buffer_response *b)
{
    uint64_t sum = 0;

    for (size_t at = 0; at < b->partial_sizes.len; at += 4)
        sum += fnet_load_be32(b->partial_sizes.ptr + at);
    return sum == b->size;
}

bool fnet__wire_buffer_response_is_valid(const struct fnet_buffer_response *b)
{
    if (b->subpartition < -1 || b->backlog < 0)
        return false;
    if (!fnet_data_type_is_known(b->data_type) || b->size > FNET_PAYLOAD_MAX_BYTES)
        return false;
    /* Empty data gives a credit back; an empty event would have no type. */
    if (b->size == 0 && !fnet_data_type_is_buffer(b->data_type))
        return false;
    if (b->partials > FNET_PARTIALS_MAX || b->partial_sizes.len != 4 * (size_t)b->partials)
        return false;
    return b->partials == 0 || is_sum_right(b);
}

void fnet__wire_buffer_response_put(uint8_t *at, const struct fnet_message *message)
{
    const struct fnet_buffer_response *b = &message->buffer;
    const size_t head = FNET_BUFFER_RESPONSE_HEAD_BYTES + b->partial_sizes.len;

    fnet__wire_frame_put(at, (uint32_t)head + b->size, FNET_BUFFER_RESPONSE);
    memcpy(at + AT_RECEIVER, message->receiver.bytes, FNET_ID_BYTES);
    fnet_store_be32(at + AT_SUBPARTITION, (uint32_t)b->subpartition);
    fnet_store_be32(at + AT_PARTIALS, b->partials);
    fnet_store_be32(at + AT_SEQUENCE, (uint32_t)b->sequence);
    fnet_store_be32(at + AT_BACKLOG, (uint32_t)b->backlog);
    at[AT_DATA_TYPE] = b->data_type;
    at[AT_IS_COMPRESSED] = b->is_compressed;
    fnet_store_be32(at + AT_SIZE, b->size);
    if (b->partials)
        memcpy(at + FNET_BUFFER_RESPONSE_HEAD_BYTES, b->partial_sizes.ptr, b->partial_sizes.len);
}

enum fnet_err fnet__wire_buffer_response_get(struct fnet_span bytes, uint32_t length, size_t *used,
                                             struct fnet_message *out)
{
    if (bytes.len < FNET_BUFFER_RESPONSE_HEAD_BYTES) {
        *used = FNET_BUFFER_RESPONSE_HEAD_BYTES;
        return FNET_AGAIN;
    }

    const uint8_t *at = bytes.ptr;
    const uint32_t partials = fnet_load_be32(at + AT_PARTIALS);
    const uint32_t size = fnet_load_be32(at + AT_SIZE);
    if (partials > FNET_PARTIALS_MAX || size > FNET_PAYLOAD_MAX_BYTES)
        return FNET_BAD_LENGTH;

    const size_t head = FNET_BUFFER_RESPONSE_HEAD_BYTES + 4 * (size_t)partials;
    if (length != head + size)
        return FNET_BAD_LENGTH;
    if (bytes.len < head) {
        *used = head;
        return FNET_AGAIN;
    }

    const struct fnet_buffer_response b = {
        .subpartition = (int32_t)fnet_load_be32(at + AT_SUBPARTITION),
        .sequence = (int32_t)fnet_load_be32(at + AT_SEQUENCE),
        .backlog = (int32_t)fnet_load_be32(at + AT_BACKLOG),
        .data_type = at[AT_DATA_TYPE],
        .is_compressed = at[AT_IS_COMPRESSED] != 0,
        .size = size,
        .partials = partials,
        .partial_sizes = fnet_span_of(at + FNET_BUFFER_RESPONSE_HEAD_BYTES, 4 * (size_t)partials),
    };
    if (at[AT_IS_COMPRESSED] > 1 || !fnet__wire_buffer_response_is_valid(&b))
        return FNET_BAD_VALUE;
    *used = head;
    out->type = FNET_BUFFER_RESPONSE;
    memcpy(out->receiver.bytes, at + AT_RECEIVER, FNET_ID_BYTES);
    out->buffer = b;
    return FNET_OK;
}
