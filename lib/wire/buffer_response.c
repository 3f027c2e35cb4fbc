/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Head of a BufferResponse: fixed offsets behind one length check, no cursor, no allocation.
 *
 * Source: Flink NettyMessage.BufferResponse, BufferResponseDecoder (1.5 to 2.3).
 */
#include "buffer_response.h"

#include "frame.h"

/* In every dialect; where the other fields stand its layout says. */
#define AT_RECEIVER 9

static bool is_sum_right(const struct fnet_buffer_response *b)
{
    uint64_t sum = 0;

    for (size_t at = 0; at < b->partial_sizes.len; at += 4)
        sum += fnet_load_be32(b->partial_sizes.ptr + at);
    return sum == b->size;
}

static bool is_sayable(const struct fnet_dialect *dialect, const struct fnet_buffer_response *b)
{
    return fnet_dialect_put_data_type(dialect, b->data_type) != FNET_NO_DATA_TYPE &&
           (b->partials == 0 || dialect->buffer.partials) &&
           (!b->is_compressed || dialect->buffer.is_compressed);
}

bool fnet__wire_buffer_response_is_valid(const struct fnet_dialect *dialect,
                                         const struct fnet_buffer_response *b)
{
    if (b->subpartition < -1 || b->backlog < 0)
        return false;
    if (!is_sayable(dialect, b) || b->size > FNET_PAYLOAD_MAX_BYTES)
        return false;
    /* Empty data gives a credit back; an empty event would have no type. */
    if (b->size == 0 && !fnet_data_type_is_buffer(b->data_type))
        return false;
    if (b->partials > FNET_PARTIALS_MAX || b->partial_sizes.len != 4 * (size_t)b->partials)
        return false;
    return b->partials == 0 || is_sum_right(b);
}

void fnet__wire_buffer_response_put(const struct fnet_dialect *dialect, uint8_t *at,
                                    const struct fnet_message *message)
{
    const struct fnet_buffer_response_layout *layout = &dialect->buffer;
    const struct fnet_buffer_response *b = &message->buffer;
    const size_t head = layout->head + b->partial_sizes.len;

    fnet__wire_frame_put(at, (uint32_t)head + b->size, FNET_BUFFER_RESPONSE);
    memcpy(at + AT_RECEIVER, message->receiver.bytes, FNET_ID_BYTES);
    if (layout->subpartition)
        fnet_store_be32(at + layout->subpartition, (uint32_t)b->subpartition);
    if (layout->partials)
        fnet_store_be32(at + layout->partials, b->partials);
    fnet_store_be32(at + layout->sequence, (uint32_t)b->sequence);
    fnet_store_be32(at + layout->backlog, (uint32_t)b->backlog);
    at[layout->data_type] = fnet_dialect_put_data_type(dialect, b->data_type);
    if (layout->is_compressed)
        at[layout->is_compressed] = b->is_compressed;
    fnet_store_be32(at + layout->size, b->size);
    if (b->partials)
        memcpy(at + layout->head, b->partial_sizes.ptr, b->partial_sizes.len);
}

/* A field at offset AT of FRAME, ABSENT where the dialect has none. */
static uint32_t field(const uint8_t *frame, uint8_t at, uint32_t absent)
{
    return at ? fnet_load_be32(frame + at) : absent;
}

enum fnet_err fnet__wire_buffer_response_get(const struct fnet_dialect *dialect,
                                             struct fnet_span bytes, uint32_t length, size_t *used,
                                             struct fnet_message *out)
{
    const struct fnet_buffer_response_layout *layout = &dialect->buffer;

    if (bytes.len < layout->head) {
        *used = layout->head;
        return FNET_AGAIN;
    }

    const uint8_t *at = bytes.ptr;
    const uint32_t partials = field(at, layout->partials, 0);
    const uint32_t size = fnet_load_be32(at + layout->size);
    if (partials > FNET_PARTIALS_MAX || size > FNET_PAYLOAD_MAX_BYTES)
        return FNET_BAD_LENGTH;

    const size_t head = layout->head + 4 * (size_t)partials;
    if (length != head + size)
        return FNET_BAD_LENGTH;
    if (bytes.len < head) {
        *used = head;
        return FNET_AGAIN;
    }

    const uint8_t is_compressed = layout->is_compressed ? at[layout->is_compressed] : 0;
    const struct fnet_buffer_response b = {
        .subpartition = (int32_t)field(at, layout->subpartition, UINT32_MAX),
        .sequence = (int32_t)fnet_load_be32(at + layout->sequence),
        .backlog = (int32_t)fnet_load_be32(at + layout->backlog),
        .data_type = fnet_dialect_get_data_type(dialect, at[layout->data_type]),
        .is_compressed = is_compressed != 0,
        .size = size,
        .partials = partials,
        .partial_sizes = fnet_span_of(at + layout->head, 4 * (size_t)partials),
    };
    if (is_compressed > 1 || !fnet__wire_buffer_response_is_valid(dialect, &b))
        return FNET_BAD_VALUE;
    *used = head;
    out->type = FNET_BUFFER_RESPONSE;
    memcpy(out->receiver.bytes, at + AT_RECEIVER, FNET_ID_BYTES);
    out->buffer = b;
    return FNET_OK;
}
