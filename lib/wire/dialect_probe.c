/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dialect probe: frames nested so that two versions of Flink find different ones.
 *
 * Source: Flink CreditBasedPartitionRequestClientHandler, BufferResponseDecoder (1.19 to 2.3).
 */
#include "dialect_probe.h"

#include "buffer_response.h"

#define REQUEST_BYTES 97 /* of the versions that it tells apart */
#define AT_RECEIVER FNET_FRAME_HEADER_BYTES

/* Where the heads are. What is the backlog to 2.0 holds data type, compression and the upper half
   of the size to 1.19, and the rest of the size is 2.0's data type and compression: 1, 0. */
#define AT_B (43 + 256)
#define AT_C (AT_B + 43)
#define A_BACKLOG (1 << 24)
#define A_BYTES (AT_C - 47)
#define B_BYTES (FNET_DIALECT_PROBE_BYTES - AT_C)
#define C_BYTES (B_BYTES - 47)

static const struct fnet_id receiver_a = {"fnet dialect: A"};
static const struct fnet_id receiver_b = {"fnet dialect: B"};
static const struct fnet_id receiver_c = {"fnet dialect: C"};

static const struct fnet_dialect *dialect_of(const char *version)
{
    const struct fnet_dialect *dialect = NULL;
    enum fnet_err err = fnet_dialect_parse(version, &dialect);

    (void)err; /* it is known */
    return dialect;
}

static void put_head(uint8_t *at, const char *version, const struct fnet_id *receiver,
                     int32_t backlog, uint32_t size)
{
    const struct fnet_message message = {
        .type = FNET_BUFFER_RESPONSE,
        .receiver = *receiver,
        .buffer = {.backlog = backlog, .data_type = FNET_DATA_BUFFER, .size = size},
    };

    fnet__wire_buffer_response_put(dialect_of(version), at, &message);
}

static void put_probe(uint8_t bytes[static FNET_DIALECT_PROBE_BYTES])
{
    memset(bytes, 0, FNET_DIALECT_PROBE_BYTES);
    put_head(bytes, "2.0", &receiver_a, A_BACKLOG, A_BYTES);
    put_head(bytes + AT_B, "1.19", &receiver_b, 0, B_BYTES);
    put_head(bytes + AT_C, "2.0", &receiver_c, 0, C_BYTES);
    /* Flink does not look at the length of a BufferResponse; others shall go past all of it. */
    fnet__wire_frame_put(bytes, FNET_DIALECT_PROBE_BYTES, FNET_BUFFER_RESPONSE);
}

bool fnet_dialect_probe_exists(const struct fnet_dialect *dialect)
{
    return dialect->partition_request_bytes == REQUEST_BYTES;
}

enum fnet_err fnet__wire_dialect_probe_put(struct fnet_writer *w)
{
    uint8_t *at = fnet_put_room(w, FNET_DIALECT_PROBE_BYTES);

    if (!at)
        return FNET_RANGE;
    put_probe(at);
    return FNET_OK;
}

bool fnet__wire_dialect_probe_is(const struct fnet_dialect *dialect, struct fnet_span bytes,
                                 const struct fnet__wire_frame *frame)
{
    return frame->length == FNET_DIALECT_PROBE_BYTES && frame->type == FNET_BUFFER_RESPONSE &&
           fnet_dialect_probe_exists(dialect) && bytes.len >= AT_RECEIVER + FNET_ID_BYTES &&
           memcmp(bytes.ptr + AT_RECEIVER, receiver_a.bytes, FNET_ID_BYTES) == 0;
}

enum fnet_err fnet__wire_dialect_probe_get(struct fnet_span bytes, size_t *used,
                                           struct fnet_message *out)
{
    uint8_t expected[FNET_DIALECT_PROBE_BYTES];

    *used = FNET_DIALECT_PROBE_BYTES;
    if (bytes.len < FNET_DIALECT_PROBE_BYTES)
        return FNET_AGAIN;
    put_probe(expected);
    if (memcmp(bytes.ptr, expected, sizeof expected) != 0)
        return FNET_BAD_VALUE;
    *out = (struct fnet_message){.type = FNET_DIALECT_PROBE, .receiver = receiver_a};
    return FNET_OK;
}

bool fnet_dialect_probe_answer(const struct fnet_id *receiver, const struct fnet_dialect **dialect)
{
    const bool is_b = fnet_id_is_equal(receiver, &receiver_b);
    const bool is_c = fnet_id_is_equal(receiver, &receiver_c);

    if (!is_b && !is_c && !fnet_id_is_equal(receiver, &receiver_a))
        return false;
    *dialect = is_b ? dialect_of("1.19") : is_c ? dialect_of("2.0") : NULL;
    return true;
}
