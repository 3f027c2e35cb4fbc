/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records in files and pipes: finding them in input bytes, framing them as output bytes.
 *
 * Source: none in Flink; POSIX 3.206 Line, and what `sort -z` and `split -n r/N` do with an
 * unterminated last line.
 */
#include <assert.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "fnet/record.h"

#define BLOCK_BYTES 64

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- finding ------------------------------------------------------------------------------ */

#ifdef __SSE2__
static inline uint64_t quarter_mask(const uint8_t *at, __m128i wanted)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted));
}

/* Bit i of the result tells whether at[i] is DELIMITER, for BLOCK_BYTES bytes. */
static inline uint64_t block_mask(const uint8_t *at, uint8_t delimiter)
{
    const __m128i wanted = _mm_set1_epi8((char)delimiter);

    return quarter_mask(at, wanted) | quarter_mask(at + 16, wanted) << 16 |
           quarter_mask(at + 32, wanted) << 32 | quarter_mask(at + 48, wanted) << 48;
}
#else
/* The same, eight bytes at a time: the top bit of each byte that is zero after the XOR is set,
   and the product gathers the eight top bits in the highest byte. */
static inline uint64_t block_mask(const uint8_t *at, uint8_t delimiter)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t low7 = ones * 0x7f;
    uint64_t mask = 0;

    for (unsigned i = 0; i < BLOCK_BYTES / 8; i++) {
        uint64_t bytes;
        memcpy(&bytes, at + 8 * i, sizeof bytes);
        bytes = le64toh(bytes) ^ ones * delimiter;
        uint64_t zeros = ~(((bytes & low7) + low7) | bytes | low7);
        mask |= (zeros >> 7) * UINT64_C(0x0102040810204080) >> 56 << 8 * i;
    }
    return mask;
}
#endif

/* The same for the last LEN < BLOCK_BYTES bytes of the input. */
static uint64_t tail_mask(const uint8_t *at, size_t len, uint8_t delimiter)
{
    uint8_t block[BLOCK_BYTES] = {0};

    memcpy(block, at, len);
    return block_mask(block, delimiter) & ((UINT64_C(1) << len) - 1);
}

/* Records found so far and the input behind them. */
struct search {
    const uint8_t *pos;
    const uint8_t *end;
    struct fnet_span *records;
    size_t count;
    size_t max;
};

static size_t left_of(const struct search *s)
{
    return (size_t)(s->end - s->pos);
}

/* The next record is LEN bytes, and SKIP bytes follow it. */
static inline void take(struct search *s, size_t len, size_t skip)
{
    s->records[s->count++] = fnet_span_of(s->pos, len);
    s->pos += len + skip;
}

/* Take the records that end at the bits of MASK, the delimiters of the block at AT. */
static inline void take_block(struct search *s, const uint8_t *at, uint64_t mask)
{
    while (mask && s->count < s->max) {
        take(s, (size_t)(at + __builtin_ctzll(mask) - s->pos), 1);
        mask &= mask - 1;
    }
}

/* Take records whose delimiter stands in [at, end), as many as there is room for; returns how far
   was searched. */
static const uint8_t *take_delimited(struct search *s, const uint8_t *at, uint8_t delimiter)
{
    struct search local = *s; /* not in memory that the spans could overlap */

    while (at < local.end && local.count < local.max) {
        size_t len = smaller((size_t)(local.end - at), BLOCK_BYTES);
        uint64_t mask =
            len == BLOCK_BYTES ? block_mask(at, delimiter) : tail_mask(at, len, delimiter);
        /* Only a record that began in an earlier block can be too long. */
        if (mask &&
            (size_t)(at - local.pos) + (size_t)__builtin_ctzll(mask) > FNET_RECORD_MAX_BYTES)
            break;
        take_block(&local, at, mask);
        at += len;
    }
    *s = local;
    return at;
}

static enum fnet_err find_delimited(struct search *s, uint8_t delimiter, bool is_end,
                                    size_t *searched)
{
    const uint8_t *at = take_delimited(s, s->pos + *searched, delimiter);

    /* The block at which RECORDS became full may hold more delimiters. */
    *searched = s->count < s->max ? (size_t)(at - s->pos) : 0;
    if (s->count < s->max && left_of(s) > FNET_RECORD_MAX_BYTES)
        return FNET_BAD_LENGTH;
    if (s->count < s->max && is_end && left_of(s) > 0) {
        take(s, left_of(s), 0);
        *searched = 0;
    }
    return FNET_AGAIN;
}

static enum fnet_err find_fixed(struct search *s, size_t record_bytes, bool is_end)
{
    if (record_bytes > FNET_RECORD_MAX_BYTES)
        return FNET_BAD_LENGTH;
    while (s->count < s->max && left_of(s) >= record_bytes)
        take(s, record_bytes, 0);
    return is_end ? FNET_TRUNCATED : FNET_AGAIN;
}

static enum fnet_err find_u32(struct search *s, bool is_end)
{
    while (s->count < s->max && left_of(s) >= FNET_RECORD_HEADER_BYTES) {
        size_t len = fnet_load_be32(s->pos);
        if (len > FNET_RECORD_MAX_BYTES)
            return FNET_BAD_LENGTH;
        if (len > left_of(s) - FNET_RECORD_HEADER_BYTES)
            break;
        s->pos += FNET_RECORD_HEADER_BYTES;
        take(s, len, 0);
    }
    return is_end ? FNET_TRUNCATED : FNET_AGAIN;
}

static enum fnet_err find_chunks(struct search *s, size_t chunk_bytes, bool is_end)
{
    const size_t len = smaller(chunk_bytes, FNET_RECORD_MAX_BYTES);

    while (s->count < s->max && left_of(s) >= len)
        take(s, len, 0);
    if (s->count < s->max && is_end && left_of(s) > 0)
        take(s, left_of(s), 0);
    return FNET_AGAIN;
}

/* Fill S; returns what to say if nothing was found. */
static enum fnet_err find_in(struct fnet_delimiter *d, struct search *s, bool is_end)
{
    switch (d->config.format) {
    case FNET_FORMAT_LINES: return find_delimited(s, d->config.delimiter, is_end, &d->searched);
    case FNET_FORMAT_NUL: return find_delimited(s, 0, is_end, &d->searched);
    case FNET_FORMAT_FIXED: return find_fixed(s, d->config.record_bytes, is_end);
    case FNET_FORMAT_U32: return find_u32(s, is_end);
    case FNET_FORMAT_BYTES: return find_chunks(s, d->config.record_bytes, is_end);
    }
    return FNET_INVALID;
}

void fnet_delimiter_init(struct fnet_delimiter *d, const struct fnet_delimiter_config *config)
{
    assert(config->record_bytes > 0 ||
           (config->format != FNET_FORMAT_FIXED && config->format != FNET_FORMAT_BYTES));
    *d = (struct fnet_delimiter){.config = *config};
}

enum fnet_err fnet_delimiter_find(struct fnet_delimiter *d, struct fnet_span input, bool is_end,
                                  struct fnet_span *records, size_t max, size_t *count,
                                  size_t *used)
{
    assert(max > 0 && d->searched <= input.len);
    if (input.len == 0)
        return is_end ? FNET_EOF : FNET_AGAIN;

    struct search s = {
        .pos = input.ptr, .end = input.ptr + input.len, .records = records, .max = max};
    enum fnet_err err = find_in(d, &s, is_end);
    if (s.count == 0)
        return err;
    *count = s.count;
    *used = (size_t)(s.pos - input.ptr);
    return FNET_OK;
}

/* ---- framing ------------------------------------------------------------------------------ */

/* Bytes that each record gets on top of its body. */
static size_t overhead_of(enum fnet_record_format format)
{
    switch (format) {
    case FNET_FORMAT_LINES:
    case FNET_FORMAT_NUL: return 1;
    case FNET_FORMAT_U32: return FNET_RECORD_HEADER_BYTES;
    case FNET_FORMAT_FIXED:
    case FNET_FORMAT_BYTES: return 0;
    }
    return 0;
}

size_t fnet_delimiter_framed_bytes(const struct fnet_delimiter_config *config,
                                   const struct fnet_span *records, size_t n)
{
    size_t bytes = n * overhead_of(config->format);

    for (size_t i = 0; i < n; i++)
        bytes += records[i].len;
    return bytes;
}

static bool have_length(const struct fnet_span *records, size_t n, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (records[i].len != len)
            return false;
    return true;
}

/* Put length, body, DELIMITER of each record; HAS_LENGTH and HAS_DELIMITER are constants. */
static inline __attribute__((always_inline)) void put_records(const struct fnet_span *records,
                                                              size_t n, bool has_length,
                                                              bool has_delimiter, uint8_t delimiter,
                                                              struct fnet_writer *w)
{
    const bool are_adjacent = fnet_records_are_adjacent(records, n);
    uint8_t *pos = w->pos;

    for (size_t i = 0; i < n; i++) {
        const uint8_t *body = records[i].ptr;
        size_t len = records[i].len;
        if (has_length) {
            fnet_store_be32(pos, (uint32_t)len);
            pos += FNET_RECORD_HEADER_BYTES;
        }
        const struct fnet_span last = records[are_adjacent ? n - 1 : i];
        fnet_record_copy(pos, w->end, body, last.ptr + last.len, len);
        pos += len;
        if (has_delimiter)
            *pos++ = delimiter;
    }
    w->pos = pos;
}

enum fnet_err fnet_delimiter_frame(const struct fnet_delimiter_config *config,
                                   const struct fnet_span *records, size_t n, struct fnet_writer *w)
{
    if (fnet_delimiter_framed_bytes(config, records, n) > fnet_writer_left(w))
        return FNET_RANGE;
    if (config->format == FNET_FORMAT_FIXED && !have_length(records, n, config->record_bytes))
        return FNET_RANGE;

    switch (config->format) {
    case FNET_FORMAT_LINES: put_records(records, n, false, true, config->delimiter, w); break;
    case FNET_FORMAT_NUL: put_records(records, n, false, true, 0, w); break;
    case FNET_FORMAT_U32: put_records(records, n, true, false, 0, w); break;
    case FNET_FORMAT_FIXED:
    case FNET_FORMAT_BYTES: put_records(records, n, false, false, 0, w); break;
    }
    return FNET_OK;
}
