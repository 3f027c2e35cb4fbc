/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: whatever order segments come in, lost, repeated or overlapping, bytes come out at
 * their place in the stream, once, and the same if every segment is cut in two. Input: 4 bytes for
 * each segment: side and flags, length, and where it lies in the stream, as a signed 16-bit number.
 * A FIN carries nothing and stands where the stream ends.
 */
#include <stdlib.h>

#include "fnet/capture.h"

/* Cut in two they are still fewer than may wait for a missing one. */
#define SEGMENTS_MAX (FNET_REORDER_MAX_SEGMENTS / 2)
#define OP_BYTES 4
#define STREAM_BYTES (1u << 16)

enum op_flag { OP_SIDE = 1, OP_FIN = 2, OP_RST = 4, OP_SNAPPED = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* The stream numbers of both sides begin short of a wrap. */
static const uint32_t first_numbers[2] = {UINT32_MAX - 1000, UINT32_MAX - 5};

/* The byte at AT of either stream. */
static uint8_t stream_byte(uint32_t at)
{
    return (uint8_t)(at * 167 + (at >> 8) * 59);
}

/* What came out of one side: for each place of the stream whether it was a byte or missing. */
struct side_log {
    uint32_t pos;
    bool is_ended;
    uint8_t places[STREAM_BYTES]; /* 'b', 'g' */
};

struct outcome {
    struct side_log sides[2];
};

static void note(struct side_log *log, uint64_t n, uint8_t what)
{
    require(!log->is_ended && n <= STREAM_BYTES - log->pos);
    memset(log->places + log->pos, what, (size_t)n);
    log->pos += (uint32_t)n;
}

static void drain(struct fnet_reassembly *r, struct outcome *o)
{
    struct fnet_stretch s;

    while (fnet_reassembly_next(r, &s) == FNET_OK) {
        struct side_log *log = &o->sides[s.side];
        require(s.flow->number == 0);
        switch (s.kind) {
        case FNET_STRETCH_BYTES:
            require(s.bytes.len > 0);
            for (size_t i = 0; i < s.bytes.len; i++)
                require(s.bytes.ptr[i] == stream_byte(log->pos + (uint32_t)i));
            note(log, s.bytes.len, 'b');
            break;
        case FNET_STRETCH_GAP:
            require(s.lost > 0 && s.lost != FNET_GAP_UNKNOWN);
            note(log, s.lost, 'g');
            break;
        case FNET_STRETCH_END:
            require(!log->is_ended);
            log->is_ended = true;
            break;
        }
    }
}

/* Push LEN bytes at AT, on the heap by themselves; with OP_SNAPPED the last half is missing. */
static void push(struct fnet_reassembly *r, struct outcome *o, unsigned flags, int32_t at,
                 size_t len, bool is_syn)
{
    const unsigned side = flags & OP_SIDE ? 1 : 0;
    const struct fnet_flow_end ends[2] = {{.port = 1, .ip_version = 4},
                                          {.port = 2, .ip_version = 4}};
    const size_t missing = flags & OP_SNAPPED ? len / 2 : 0;
    uint8_t *payload = malloc(len ? len : 1);

    require(payload != NULL);
    for (size_t i = 0; i < len; i++)
        payload[i] = stream_byte((uint32_t)at + (uint32_t)i);
    const struct fnet_packet p = {
        .kind = FNET_PACKET_TCP,
        .src = ends[side],
        .dst = ends[!side],
        .sequence = first_numbers[side] + (uint32_t)at - is_syn,
        .is_syn = is_syn,
        .is_fin = flags & OP_FIN,
        .is_rst = flags & OP_RST,
        .payload = fnet_span_of(payload, len - missing),
        .missing = missing,
    };
    require(fnet_reassembly_push(r, &p) == FNET_OK);
    drain(r, o);
    free(payload);
}

static int32_t place_of(const uint8_t *op)
{
    return (int16_t)fnet_load_be16(op + 2);
}

/* Where a stream ends, and so its FIN stands. */
static int32_t end_of(const uint8_t *ops, size_t count, unsigned side)
{
    int32_t end = 0;

    for (; count > 0; count--, ops += OP_BYTES)
        if ((ops[0] & OP_SIDE) == side && place_of(ops) + ops[1] > end)
            end = place_of(ops) + ops[1];
    return end;
}

static void run(struct outcome *o, const uint8_t *ops, size_t count, bool is_cut)
{
    struct fnet_reassembly *r;

    memset(o, 0, sizeof *o);
    require(fnet_reassembly_new(&r) == FNET_OK);
    push(r, o, 0, 0, 0, true);
    push(r, o, OP_SIDE, 0, 0, true);
    const int32_t ends[2] = {end_of(ops, count, 0), end_of(ops, count, 1)};
    for (; count > 0; count--, ops += OP_BYTES) {
        const unsigned flags = ops[0];
        const size_t head = is_cut ? ops[1] / 2u : 0;
        if (flags & OP_FIN) {
            push(r, o, flags, ends[flags & OP_SIDE], 0, false);
            continue;
        }
        if (head && !(flags & OP_RST))
            push(r, o, flags, place_of(ops), head, false);
        push(r, o, flags, place_of(ops) + (int32_t)head, ops[1] - head, false);
    }
    fnet_reassembly_finish(r);
    drain(r, o);
    fnet_reassembly_free(r);
}

/* What a snap length cut off is given up at once, though its bytes may come otherwise: then it does
 * matter where segments were cut. */
static bool is_any_snapped(const uint8_t *ops, size_t count)
{
    for (; count > 0; count--, ops += OP_BYTES)
        if (ops[0] & OP_SNAPPED)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct outcome whole, cut;
    size_t count = size / OP_BYTES < SEGMENTS_MAX ? size / OP_BYTES : SEGMENTS_MAX;

    run(&whole, data, count, false);
    if (is_any_snapped(data, count))
        return 0;
    run(&cut, data, count, true);
    for (unsigned side = 0; side < 2; side++) {
        const struct side_log *a = &whole.sides[side], *b = &cut.sides[side];
        require(a->pos == b->pos && a->is_ended == b->is_ended);
        require(memcmp(a->places, b->places, a->pos) == 0);
    }
    return 0;
}
