/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: what must hold for the blocks of each codec alike.
 */
#ifndef COMPRESS_BLOCKS_H
#define COMPRESS_BLOCKS_H

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "fnet/compress.h"

#include "../golden.h"
#include "../tap.h"

#define BLOCKS_ROOM 200000u
#define BLOCKS_GUARD 64u
#define BLOCKS_GUARD_BYTE 0xA5

/** What compress.bats takes for "skipped". */
#define BLOCKS_SKIPPED 77

/** A codec at work. OUT is room for any original here, and a guard. */
struct blocks {
    enum fnet_codec codec;
    struct fnet_compressor *compressor;
    struct fnet_decompressor *decompressor;
    uint8_t out[BLOCKS_ROOM + BLOCKS_GUARD];
};

__attribute__((unused)) static void blocks_open(struct blocks *b, enum fnet_codec codec)
{
    b->codec = codec;
    CHECK_INT(fnet_compressor_new(codec, BLOCKS_ROOM, &b->compressor), FNET_OK);
    CHECK_INT(fnet_decompressor_new(codec, &b->decompressor), FNET_OK);
}

__attribute__((unused)) static void blocks_close(struct blocks *b)
{
    fnet_compressor_free(b->compressor);
    fnet_decompressor_free(b->decompressor);
}

/** Fill with what no codec can shorten. */
__attribute__((unused)) static void blocks_fill_random(uint8_t *bytes, size_t len)
{
    uint32_t x = 2463534242u;

    for (size_t i = 0; i < len; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        bytes[i] = (uint8_t)(x >> 11);
    }
}

/**
 * Decompress BLOCK into exactly ROOM bytes: what comes out moves by all of the original or not at
 * all, and nothing is written behind the room.
 */
__attribute__((unused)) static enum fnet_err blocks_read(struct blocks *b, struct fnet_span block,
                                                         size_t room, struct fnet_span *original)
{
    /* Of its exact size on the heap, where a sanitizer or valgrind sees a byte read too many. */
    uint8_t *copy = malloc(block.len ? block.len : 1);
    if (!copy)
        abort();
    if (block.len)
        memcpy(copy, block.ptr, block.len);
    memset(b->out + room, BLOCKS_GUARD_BYTE, BLOCKS_GUARD);

    struct fnet_writer w = fnet_writer_of(b->out, room);
    enum fnet_err err =
        fnet_decompressor_decompress(b->decompressor, fnet_span_of(copy, block.len), &w);

    for (size_t i = 0; i < BLOCKS_GUARD; i++)
        if (!CHECK_INT(b->out[room + i], BLOCKS_GUARD_BYTE))
            break;
    *original = fnet_span_of(b->out, (size_t)(w.pos - b->out));
    CHECK(err == FNET_OK ? original->len > 0 : original->len == 0);
    CHECK(w.end == b->out + room && !w.failed);
    free(copy);
    return err;
}

/** ORIGINAL to a block and back. Returns whether it became one: libraries differ in when it does.
 */
__attribute__((unused)) static bool blocks_round_trip(struct blocks *b, struct fnet_span original)
{
    struct fnet_span block, again;
    enum fnet_err err = fnet_compressor_compress(b->compressor, original, &block);

    if (err == FNET_INCOMPRESSIBLE)
        return false;
    CHECK_INT(err, FNET_OK);
    CHECK(block.len < original.len);
    CHECK_INT(blocks_read(b, block, original.len, &again), FNET_OK);
    CHECK_INT(again.len, original.len);
    CHECK_MEM(again.ptr, original.ptr, original.len);
    CHECK_INT(blocks_read(b, block, original.len - 1, &again), FNET_BAD_LENGTH);
    return true;
}

/** Every line of CODEC in flink.txt is read to its original, which goes into a block of ours. */
__attribute__((unused)) static void blocks_check_golden(struct blocks *b)
{
    struct golden g = golden_open("tests/golden/compress/flink.txt");
    const char *codec = fnet_codec_name(b->codec);
    unsigned read = 0;

    CASE("what Flink wrote is read, and comes back from a block of ours");
    while (golden_next(&g)) {
        bool is_left = strncmp(g.words[0], "not-", 4) == 0;
        size_t len = strtoul(g.words[1], NULL, 10);
        uint32_t crc = (uint32_t)strtoul(g.words[2], NULL, 16);
        struct fnet_span original = golden_span(&g);

        if (strcmp(is_left ? g.words[0] + 4 : g.words[0], codec) != 0)
            continue;
        if (!is_left)
            CHECK_INT(blocks_read(b, golden_span(&g), len, &original), FNET_OK);
        CHECK_INT(original.len, len);
        CHECK_INT(crc32(0, original.ptr, (uInt)original.len), crc);

        uint8_t *copy = malloc(len);
        if (!copy)
            abort();
        memcpy(copy, original.ptr, original.len);
        blocks_round_trip(b, fnet_span_of(copy, original.len));
        free(copy);
        read += !is_left;
    }
    CHECK(read >= 7);
}

/** The codec refuses every line of the file at PATH, whose headers are right. */
__attribute__((unused)) static void blocks_check_bad(struct blocks *b, const char *path)
{
    struct golden g = golden_open(path);
    struct fnet_span original;
    unsigned refused = 0;

    CASE("bad blocks are refused, and what follows is read");
    while (golden_next(&g)) {
        if (!CHECK_INT(blocks_read(b, golden_span(&g), 4096, &original), FNET_BAD_VALUE))
            fprintf(stderr, "    %s\n", g.name);
        refused++;
    }
    CHECK(refused > 0);
    memset(b->out, 'a', 100);
    struct fnet_span block;
    CHECK_INT(fnet_compressor_compress(b->compressor, fnet_span_of(b->out, 100), &block), FNET_OK);
    CHECK_INT(blocks_read(b, block, 100, &original), FNET_OK);
}

/** Originals of every small length and some others, of contents from the best to the worst. */
__attribute__((unused)) static void blocks_check_round_trips(struct blocks *b)
{
    static uint8_t original[BLOCKS_ROOM];
    static const size_t larger[] = {1000, 4095, 4096, 4097, 32768, 65536, 70000, 131073, 200000};
    unsigned compressed = 0;

    CASE("what is compressed comes back, whatever its length");
    for (size_t len = 1; len <= 300; len++) {
        memset(original, 'z', len);
        compressed += blocks_round_trip(b, fnet_span_of(original, len));
        blocks_fill_random(original, len);
        CHECK(!blocks_round_trip(b, fnet_span_of(original, len)));
        memset(original, 0, len / 2);
        compressed += blocks_round_trip(b, fnet_span_of(original, len));
    }
    CHECK(compressed > 400);

    CASE("and whatever is in it");
    for (size_t i = 0; i < sizeof larger / sizeof *larger; i++) {
        const size_t len = larger[i];
        memset(original, 0, len);
        CHECK(blocks_round_trip(b, fnet_span_of(original, len)));
        for (size_t at = 0; at + 11 <= len; at += 11)
            snprintf((char *)original + at, 12, "%010zu\n", at * at);
        CHECK(blocks_round_trip(b, fnet_span_of(original, len)));
        blocks_fill_random(original + len / 3, len / 3);
        CHECK(blocks_round_trip(b, fnet_span_of(original, len)));
        blocks_fill_random(original, len);
        CHECK(!blocks_round_trip(b, fnet_span_of(original, len)));
    }
}

/** A block of a text of LEN bytes, at most 999, in a buffer of ours. */
__attribute__((unused)) static struct fnet_span blocks_of_text(struct blocks *b, size_t len,
                                                               uint8_t copy[static 1000])
{
    char text[1000];
    struct fnet_span block;

    for (size_t at = 0; at < len; at += 9)
        snprintf(text + at, sizeof text - at, "line %03zu\n", at % 61);
    CHECK_INT(fnet_compressor_compress(b->compressor, fnet_span_of(text, len), &block), FNET_OK);
    memcpy(copy, block.ptr, block.len);
    return fnet_span_of(copy, block.len);
}

/** No part of a block is one, not even when its header says so. */
__attribute__((unused)) static void blocks_check_cut(struct blocks *b)
{
    uint8_t copy[1000];
    struct fnet_span block = blocks_of_text(b, 900, copy), original;

    CASE("a block that is cut short is refused, wherever it is cut");
    for (size_t len = 0; len < block.len; len++)
        CHECK_INT(blocks_read(b, fnet_span_of(copy, len), 1000, &original),
                  len < FNET_BLOCK_HEADER_BYTES ? FNET_TRUNCATED : FNET_BAD_LENGTH);

    CASE("also when its length is the one that it has");
    for (size_t len = FNET_BLOCK_HEADER_BYTES + 1; len < block.len; len++) {
        copy[0] = (uint8_t)(len - FNET_BLOCK_HEADER_BYTES);
        copy[1] = (uint8_t)((len - FNET_BLOCK_HEADER_BYTES) >> 8);
        CHECK_INT(blocks_read(b, fnet_span_of(copy, len), 1000, &original), FNET_BAD_VALUE);
    }
}

/** Any bit may be another: nothing is written where it should not be, and nothing is remembered. */
__attribute__((unused)) static void blocks_check_flipped(struct blocks *b)
{
    uint8_t copy[1000];
    struct fnet_span block = blocks_of_text(b, 900, copy), original;
    unsigned refused = 0;

    CASE("a block with a bit flipped is refused or has the length it says");
    for (size_t bit = 0; bit < block.len * 8; bit++) {
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum fnet_err err = blocks_read(b, block, 1000, &original);
        if (err == FNET_OK)
            CHECK_INT(original.len, 900);
        else
            CHECK(err == FNET_BAD_VALUE || err == FNET_BAD_LENGTH);
        refused += err != FNET_OK;
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    CHECK(refused > 64);
    CHECK_INT(blocks_read(b, block, 900, &original), FNET_OK);
}

/** All of it. The exit status: skipped if fnet is built without CODEC. */
__attribute__((unused)) static int blocks_test(enum fnet_codec codec, const char *bad_path)
{
    static struct blocks b;

    if (!fnet_codec_is_available(codec))
        return BLOCKS_SKIPPED;
    blocks_open(&b, codec);
    blocks_check_golden(&b);
    blocks_check_bad(&b, bad_path);
    blocks_check_round_trips(&b);
    blocks_check_cut(&b);
    blocks_check_flipped(&b);
    blocks_close(&b);
    return tap_done();
}

#endif
