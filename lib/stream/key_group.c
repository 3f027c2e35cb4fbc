/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the bytes of a key to its key group: Java's hash of a String, Flink's mixing of it.
 *
 * Source: java.lang.String hashCode; Flink MathUtils.murmurHash, KeyGroupRangeAssignment.
 */
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "fnet/selector.h"
#include "fnet/utf8.h"

#define NOT_ASCII UINT64_C(0x8080808080808080)

/* Powers of 31 modulo 2^32: by what a hash is multiplied when so many characters follow. */
static const uint32_t powers[] = {1,        31,        961,        29791,     923521,
                                  28629151, 887503681, 1742810335, 2487512833};
#define POWER_4 923521u
#define POWER_8 2487512833u
#define POWER_16 1353309697u

/* The hash of eight ASCII characters, the first in the lowest byte: neighbours are joined to
   pairs, fours and eight, each sum below 2^32 until the last. */
static inline uint32_t hash_of_eight(uint64_t chars)
{
    const uint64_t bytes = UINT64_C(0x00ff00ff00ff00ff);
    const uint64_t words = UINT64_C(0x0000ffff0000ffff);

    chars = (chars & bytes) * 31 + (chars >> 8 & bytes);
    chars = (chars & words) * 961 + (chars >> 16 & words);
    return (uint32_t)chars * POWER_4 + (uint32_t)(chars >> 32);
}

static inline uint64_t load_eight(const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return le64toh(v);
}

static inline uint32_t load_four(const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return le32toh(v);
}

/* 0 < LEN < 8 characters in the highest bytes, behind zeros, which do not change a hash. Loads
   that overlap put the same bytes in the same place. */
static inline uint64_t load_few(const uint8_t *at, size_t len)
{
    const size_t shift = 8 * (8 - len);

    if (len >= 4)
        return (uint64_t)load_four(at) << shift | (uint64_t)load_four(at + len - 4) << 32;
    return (uint64_t)at[0] << shift | (uint64_t)at[len / 2] << (shift + 8 * (len / 2)) |
           (uint64_t)at[len - 1] << 56;
}

#ifdef __SSE2__
#define BLOCK_BYTES 16

/* Lane I of 0 to 3. */
#define LANE(v, i) ((uint32_t)_mm_cvtsi128_si32(_mm_shuffle_epi32((v), (i))))

/* Hash the blocks of 16 ASCII characters at the head of BYTES, and take them off. Each block
   becomes four sums of four characters; those at even and odd places are summed up in 64-bit
   lanes of which only the low halves count. */
static uint32_t hash_blocks(uint32_t hash, struct fnet_span *bytes)
{
    const __m128i zero = _mm_setzero_si128();
    const __m128i pair = _mm_set1_epi32(1 << 16 | 31);
    const __m128i four = _mm_set1_epi32(1 << 16 | 961);
    const __m128i block = _mm_set1_epi64x(POWER_16);
    __m128i even = zero;
    __m128i odd = zero;

    for (; bytes->len >= BLOCK_BYTES; bytes->ptr += BLOCK_BYTES, bytes->len -= BLOCK_BYTES) {
        __m128i chars = _mm_loadu_si128((const __m128i *)(const void *)bytes->ptr);
        if (_mm_movemask_epi8(chars))
            break;
        __m128i low = _mm_madd_epi16(_mm_unpacklo_epi8(chars, zero), pair);
        __m128i high = _mm_madd_epi16(_mm_unpackhi_epi8(chars, zero), pair);
        __m128i sums = _mm_madd_epi16(_mm_packs_epi32(low, high), four);
        even = _mm_add_epi64(_mm_mul_epu32(even, block), sums);
        odd = _mm_add_epi64(_mm_mul_epu32(odd, block), _mm_srli_epi64(sums, 32));
        hash *= POWER_16;
    }
    return hash + (LANE(even, 0) * POWER_4 + LANE(odd, 0)) * POWER_8 + LANE(even, 2) * POWER_4 +
           LANE(odd, 2);
}
#else
#define BLOCK_BYTES SIZE_MAX

static uint32_t hash_blocks(uint32_t hash, struct fnet_span *bytes)
{
    (void)bytes;
    return hash;
}
#endif

/* Hash the character at POS, or one U+FFFD for the malformed part there; returns its length. */
static size_t hash_character(const uint8_t *pos, const uint8_t *end, uint32_t *hash)
{
    uint32_t code;
    size_t n = fnet_utf8_next(pos, end, &code);

    if (code >= 0x10000) {
        *hash = *hash * 31 + (0xd800 + ((code - 0x10000) >> 10));
        code = 0xdc00 + (code & 0x3ff);
    }
    *hash = *hash * 31 + code;
    return n;
}

/* Hash what is not ASCII, or not only. */
static uint32_t hash_mixed(uint32_t hash, struct fnet_span bytes)
{
    const uint8_t *pos = bytes.ptr;
    const uint8_t *end = bytes.ptr + bytes.len;

    while (pos < end) {
        if (end - pos >= 8 && !(load_eight(pos) & NOT_ASCII)) {
            hash = hash * POWER_8 + hash_of_eight(load_eight(pos));
            pos += 8;
        } else {
            pos += hash_character(pos, end, &hash);
        }
    }
    return hash;
}

uint32_t fnet_java_hash(uint32_t hash, struct fnet_span bytes)
{
    if (bytes.len >= BLOCK_BYTES)
        hash = hash_blocks(hash, &bytes);
    for (; bytes.len >= 8; bytes.ptr += 8, bytes.len -= 8) {
        uint64_t chars = load_eight(bytes.ptr);
        if (chars & NOT_ASCII)
            return hash_mixed(hash, bytes);
        hash = hash * POWER_8 + hash_of_eight(chars);
    }
    if (bytes.len == 0)
        return hash;
    uint64_t chars = load_few(bytes.ptr, bytes.len);
    if (chars & NOT_ASCII)
        return hash_mixed(hash, bytes);
    return hash * powers[bytes.len] + hash_of_eight(chars);
}

static uint32_t rotate_left(uint32_t v, unsigned bits)
{
    return v << bits | v >> (32 - bits);
}

uint32_t fnet_murmur_hash(uint32_t hash)
{
    uint32_t k = rotate_left(hash * 0xcc9e2d51u, 15) * 0x1b873593u;

    k = rotate_left(k, 13) * 5 + 0xe6546b64u;
    k ^= 4; /* the length of an int */
    k = (k ^ k >> 16) * 0x85ebca6bu;
    k = (k ^ k >> 13) * 0xc2b2ae35u;
    k ^= k >> 16;
    /* The absolute value without a branch, which would be mispredicted half of the time; the last
       step makes 0 of 2^31. */
    const uint32_t sign = 0 - (k >> 31);
    return ((k ^ sign) - sign) & INT32_MAX;
}

uint32_t fnet_default_max_parallelism(uint32_t parallelism)
{
    uint32_t groups = FNET_DEFAULT_MAX_PARALLELISM_MIN;

    while (groups < FNET_MAX_PARALLELISM && groups < (uint64_t)parallelism + parallelism / 2)
        groups *= 2;
    return groups;
}
