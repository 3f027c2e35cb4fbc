/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chance out of splitmix64.
 *
 * Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
 */
#include "dice.h"

#include <stdio.h>
#include <stdlib.h>

#define SCRATCH_BYTES (8u << 20)

static uint64_t state;
static uint8_t scratch_room[SCRATCH_BYTES];
static size_t scratch_used;

/* ---- memory ------------------------------------------------------------------------------ */

uint8_t *scratch(size_t n)
{
    uint8_t *at = scratch_room + scratch_used;

    if (n > SCRATCH_BYTES - scratch_used) {
        fprintf(stderr, "encode: no room for %zu bytes\n", n);
        exit(2);
    }
    scratch_used += n;
    return at;
}

void scratch_reset(void)
{
    scratch_used = 0;
}

/* ---- numbers ----------------------------------------------------------------------------- */

void roll_seed(uint64_t seed)
{
    state = seed;
}

static uint64_t roll(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t roll_below(uint32_t n)
{
    return (uint32_t)(roll() % n);
}

bool roll_flag(void)
{
    return roll() & 1;
}

int64_t roll_between(int64_t least, int64_t most)
{
    const int64_t edges[] = {least, most, 0, 1, -1};
    const int64_t edge = edges[roll_below(5)];
    const uint64_t range = (uint64_t)most - (uint64_t)least;
    uint64_t distance = roll() >> roll_below(64);

    if (roll_below(4) == 0 && edge >= least && edge <= most)
        return edge;
    if (distance > range)
        distance %= range + 1;
    return (int64_t)(roll_flag() ? (uint64_t)least + distance : (uint64_t)most - distance);
}

int32_t roll_int(void)
{
    return (int32_t)roll_between(INT32_MIN, INT32_MAX);
}

int32_t roll_int_from(int32_t least)
{
    return (int32_t)roll_between(least, INT32_MAX);
}

struct fnet_id roll_id(void)
{
    struct fnet_id id;

    memcpy(id.bytes, roll_bytes(sizeof id.bytes).ptr, sizeof id.bytes);
    return id;
}

struct fnet_partition_id roll_partition(void)
{
    return (struct fnet_partition_id){
        .data_set = roll_id(),
        .number = roll_int_from(0),
        .graph = roll_id(),
        .vertex = roll_id(),
        .subtask = roll_int_from(0),
        .attempt = roll_int_from(0),
    };
}

/* ---- bytes and texts --------------------------------------------------------------------- */

struct fnet_span roll_bytes(size_t n)
{
    uint8_t *bytes = scratch(n);

    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)roll();
    return fnet_span_of(bytes, n);
}

struct fnet_span roll_words(size_t n)
{
    static const char *const words[] = {"buffer", "barrier", "credit", "a",
                                        " ",      ", ",      "0000",   "\n"};
    uint8_t *bytes = scratch(n);

    for (size_t i = 0; i < n;) {
        const char *word = words[roll_below(sizeof words / sizeof *words)];
        while (*word && i < n)
            bytes[i++] = (uint8_t)*word++;
    }
    return fnet_span_of(bytes, n);
}

void put_utf8(struct fnet_writer *w, uint32_t code)
{
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    const unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

    fnet_put_u8(w, (uint8_t)(lead[more] | code >> 6 * more));
    for (unsigned i = more; i-- > 0;)
        fnet_put_u8(w, (uint8_t)(0x80 | (code >> 6 * i & 0x3f)));
}

/* As many of one byte in UTF-8 as of two, three and four, and of each length as Flink has it. */
static uint32_t roll_character(void)
{
    static const uint32_t ends[] = {0x7f,   0x80,   0x7ff,  0x800,   0x3fff,   0x4000, 0xd7ff,
                                    0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff, 0,      ';'};
    static const struct {
        uint32_t from, to;
    } ranges[] = {{0, 0x7f}, {0x80, 0x7ff}, {0x800, 0xd7ff}, {0xe000, 0xffff}, {0x10000, 0x10ffff}};

    if (roll_below(4) == 0)
        return ends[roll_below(sizeof ends / sizeof *ends)];
    const uint32_t i = roll_below(sizeof ranges / sizeof *ranges);
    return ranges[i].from + roll_below(ranges[i].to - ranges[i].from + 1);
}

struct fnet_span roll_text(size_t n)
{
    struct fnet_writer w = fnet_writer_of(scratch(4 * n), 4 * n);
    const uint8_t *text = w.pos;
    const bool is_ascii = roll_below(4) == 0;

    for (size_t i = 0; i < n; i++)
        put_utf8(&w, is_ascii ? ' ' + roll_below(0x5f) : roll_character());
    return fnet_span_of(text, (size_t)(w.pos - text));
}

struct fnet_span roll_units(size_t n)
{
    struct fnet_writer w = fnet_writer_of(scratch(3 * n), 3 * n);
    const uint8_t *text = w.pos;

    for (size_t i = 0; i < n; i++) {
        const uint32_t unit = roll_below(0x10000) >> 4 * roll_below(4);
        if (unit == 0)
            fnet_put_u16(&w, 0xc080);
        else
            put_utf8(&w, unit);
    }
    return fnet_span_of(text, (size_t)(w.pos - text));
}
