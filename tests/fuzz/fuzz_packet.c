/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a packet that a snap length cut is either too short or says the same as the whole
 * one, and how much of it is missing. Input: link type as 2 bytes, a byte that says where to cut, a
 * byte of length that was never captured, then the packet.
 */
#include <stdlib.h>

#include "fnet/capture.h"

#define UNTOUCHED 12345 /* a time that no packet here has */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Decode the first LEN bytes of the captured packet, on the heap by themselves. */
static enum fnet_err decode(const struct fnet_captured *captured, size_t len,
                            struct fnet_packet *out, bool *is_untouched)
{
    struct fnet_captured c = *captured;
    uint8_t *copy = malloc(len ? len : 1);

    require(copy != NULL);
    memcpy(copy, captured->bytes.ptr, len);
    c.bytes = fnet_span_of(copy, len);
    *out = (struct fnet_packet){.time_ns = UNTOUCHED};
    enum fnet_err err = fnet_packet_decode(&c, out);
    *is_untouched = out->time_ns == UNTOUCHED;
    if (err == FNET_OK && (out->kind == FNET_PACKET_TCP || out->kind == FNET_PACKET_STRETCH)) {
        require(out->payload.ptr >= copy && out->payload.ptr + out->payload.len <= copy + len);
        require(out->payload.len + out->missing <= c.original_len);
    }
    free(copy);
    return err;
}

static bool is_same(const struct fnet_packet *a, const struct fnet_packet *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind != FNET_PACKET_TCP && a->kind != FNET_PACKET_STRETCH)
        return true;
    return memcmp(&a->src, &b->src, sizeof a->src) == 0 &&
           memcmp(&a->dst, &b->dst, sizeof a->dst) == 0 && a->sequence == b->sequence &&
           a->is_syn == b->is_syn && a->is_fin == b->is_fin && a->is_rst == b->is_rst &&
           a->payload.len + a->missing == b->payload.len + b->missing;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    struct fnet_packet whole, cut;
    bool is_untouched;
    struct fnet_captured captured = {
        .link_type = fnet_load_be16(data),
        .original_len = (uint32_t)(size - 4 + data[3]),
        .bytes = fnet_span_of(data + 4, size - 4),
    };

    enum fnet_err err = decode(&captured, captured.bytes.len, &whole, &is_untouched);
    require(is_untouched == (err != FNET_OK));
    enum fnet_err err_cut =
        decode(&captured, captured.bytes.len * data[2] / 256, &cut, &is_untouched);
    require(is_untouched == (err_cut != FNET_OK));
    require(err_cut == err || err_cut == FNET_TRUNCATED);
    if (err == FNET_OK && err_cut == FNET_OK)
        require(is_same(&whole, &cut));
    return 0;
}
