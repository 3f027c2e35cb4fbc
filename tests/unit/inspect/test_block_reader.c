/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect/block_reader: Flink's blocks tell what compressed them, and what is none is refused.
 */
#include "inspect/block_reader.h"

#include <stdlib.h>

#include "../failmalloc.h"
#include "../tap.h"

static const enum fnet_codec codecs[] = {FNET_CODEC_LZ4, FNET_CODEC_ZSTD, FNET_CODEC_LZO};
#define CODECS (sizeof codecs / sizeof *codecs)

#define ORIGINAL_MAX 40000
#define BLOCK_MAX (2 * ORIGINAL_MAX)

/* LEN bytes that can be compressed, as different as KIND. */
static void fill(uint8_t *original, size_t len, unsigned kind)
{
    uint32_t state = kind + 1;

    for (size_t i = 0; i < len; i++) {
        state = state * 1103515245 + 12345;
        const uint32_t noise = (state >> 16) % (2 + kind % 7);
        const bool is_noise = kind % 2 && i > len / 4 && i < len / 2;
        original[i] = is_noise ? (uint8_t)noise : (uint8_t) "the quick brown fox "[i % 20];
    }
    /* What other codecs begin or end with. */
    if (kind % 3 == 0)
        memcpy(original, "\xb5\x2f\xfd\x28", 4);
    if (kind % 5 == 0)
        memcpy(original + len - 3, "\x11\0\0", 3);
}

static struct fnet_span compress(enum fnet_codec codec, struct fnet_span original,
                                 uint8_t block[static BLOCK_MAX])
{
    struct fnet_compressor *c = NULL;
    struct fnet_span out = {.len = 0};

    CHECK_INT(fnet_compressor_new(codec, ORIGINAL_MAX, &c), FNET_OK);
    CHECK_INT(fnet_compressor_compress(c, original, &out), FNET_OK);
    memcpy(block, out.ptr, out.len);
    fnet_compressor_free(c);
    return fnet_span_of(block, out.len);
}

static void check_found(struct block_reader *r, enum fnet_codec codec, struct fnet_span original)
{
    static uint8_t bytes[BLOCK_MAX];
    const struct fnet_span block = compress(codec, original, bytes);
    enum fnet_codec found = FNET_CODEC_NONE;
    struct fnet_span got = {.len = 0};

    CHECK_INT(block_reader_read(r, block, &found, &got), FNET_OK);
    CHECK_INT(found, codec);
    if (CHECK_INT(got.len, original.len))
        CHECK(memcmp(got.ptr, original.ptr, got.len) == 0);
}

static void test_found(void)
{
    static const size_t sizes[] = {100, 1000, 32768, ORIGINAL_MAX, 300};
    static uint8_t original[ORIGINAL_MAX];
    struct block_reader r;

    CASE("every codec is recognised, by turns, whatever it compressed");
    block_reader_init(&r, FNET_CODEC_NONE);
    for (unsigned kind = 0; kind < 105; kind++) {
        const size_t len = sizes[kind % 5];
        fill(original, len, kind);
        for (size_t c = 0; c < CODECS; c++)
            if (fnet_codec_is_available(codecs[c]))
                check_found(&r, codecs[c], fnet_span_of(original, len));
    }
    CHECK_INT(r.capacity, ORIGINAL_MAX);
    block_reader_clear(&r);
}

static void test_given(void)
{
    static uint8_t original[1000], bytes[BLOCK_MAX];
    enum fnet_codec found;
    struct fnet_span got;
    struct block_reader r;

    CASE("what is given is not questioned");
    fill(original, sizeof original, 1);
    for (size_t given = 0; given < CODECS; given++) {
        block_reader_init(&r, codecs[given]);
        for (size_t c = 0; c < CODECS && fnet_codec_is_available(codecs[given]); c++) {
            if (!fnet_codec_is_available(codecs[c]))
                continue;
            const struct fnet_span block =
                compress(codecs[c], fnet_span_of(original, sizeof original), bytes);
            CHECK_INT(block_reader_read(&r, block, &found, &got),
                      c == given ? FNET_OK : FNET_BAD_VALUE);
            CHECK_INT(found, codecs[given]);
        }
        block_reader_clear(&r);
    }
}

static void test_refused(void)
{
    static const struct {
        struct fnet_span block;
        enum fnet_codec codec;
        enum fnet_err err;
    } cases[] = {
        {{(const uint8_t *)"\1\0\0\0\1\0\0", 7}, FNET_CODEC_LZ4, FNET_TRUNCATED},
        {{(const uint8_t *)"", 0}, FNET_CODEC_LZ4, FNET_TRUNCATED},
        {{(const uint8_t *)"\1\0\0\0\1\0\0\4!", 9}, FNET_CODEC_LZ4, FNET_BAD_LENGTH},
        {{(const uint8_t *)"\1\0\0\0\xff\xff\xff\xff!", 9}, FNET_CODEC_LZ4, FNET_BAD_LENGTH},
        {{(const uint8_t *)"\1\0\0\0\0\0\0\0!", 9}, FNET_CODEC_LZ4, FNET_BAD_LENGTH},
        {{(const uint8_t *)"\2\0\0\0\1\0\0\0!", 9}, FNET_CODEC_LZ4, FNET_BAD_LENGTH},
        {{(const uint8_t *)"\1\0\0\0\1\0\0\0!", 9}, FNET_CODEC_LZ4, FNET_BAD_VALUE},
        {{(const uint8_t *)"\5\0\0\0\1\0\0\0\x28\xb5\x2f\xfd!", 13},
         FNET_CODEC_ZSTD,
         FNET_BAD_VALUE},
        {{(const uint8_t *)"\4\0\0\0\1\0\0\0\x16\x11\0\0", 12}, FNET_CODEC_LZO, FNET_BAD_VALUE},
    };
    struct block_reader r;

    CASE("what no codec reads is told as that which it looks like, and sets nothing but that");
    block_reader_init(&r, FNET_CODEC_NONE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool is_there = fnet_codec_is_available(cases[i].codec);
        const bool is_looked_at = cases[i].err == FNET_BAD_VALUE || cases[i].err == FNET_BAD_LENGTH;
        enum fnet_codec found = FNET_CODEC_NONE;
        struct fnet_span got = {.len = 77};
        const enum fnet_err err = block_reader_read(&r, cases[i].block, &found, &got);
        if (is_there)
            CHECK_INT(err, cases[i].err);
        else
            CHECK(err == FNET_UNSUPPORTED || (err == cases[i].err && is_looked_at));
        CHECK_INT(found, cases[i].codec);
        CHECK_INT(got.len, 77);
    }
    CHECK(r.capacity <= 1);
    block_reader_clear(&r);
}

static void test_no_memory(void)
{
    static uint8_t original[1000], bytes[BLOCK_MAX];
    unsigned n = 0;
    bool failed;

    CASE("without memory the reader says so, and may be asked again");
    fill(original, sizeof original, 1);
    for (size_t c = 0; c < CODECS; c++) {
        if (!fnet_codec_is_available(codecs[c]))
            continue;
        const struct fnet_span block =
            compress(codecs[c], fnet_span_of(original, sizeof original), bytes);
        n = 0;
        do {
            struct block_reader r;
            enum fnet_codec found;
            struct fnet_span got;
            block_reader_init(&r, FNET_CODEC_NONE);
            failmalloc_arm(++n);
            enum fnet_err err = block_reader_read(&r, block, &found, &got);
            failed = failmalloc_disarm();
            CHECK_INT(err, failed ? FNET_NOMEM : FNET_OK);
            CHECK_INT(block_reader_read(&r, block, &found, &got), FNET_OK);
            block_reader_clear(&r);
        } while (failed);
    }
}

int main(void)
{
    test_found();
    test_given();
    test_refused();
    test_no_memory();
    return tap_done();
}
