/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Java's hash, Flink's mixing and key groups, against values a JDK and a running Flink gave.
 */
#include <stdlib.h>

#include "fnet/selector.h"

#include "../tap.h"

#define VECTORS "tests/golden/hash/vectors.tsv"

/* One line of the vectors. */
struct vector {
    uint8_t key[512];
    size_t key_len;
    long hash;
    unsigned long murmur;
    unsigned long group;
    unsigned long subtask;
};

static bool parse_vector(const char *line, struct vector *v)
{
    unsigned byte;

    for (v->key_len = 0; sscanf(line, "%2x", &byte) == 1 && *line != '\t'; line += 2)
        v->key[v->key_len++] = (uint8_t)byte;
    return sscanf(line, "\t%ld\t%lu\t%lu\t%lu", &v->hash, &v->murmur, &v->group, &v->subtask) == 4;
}

static uint32_t target_of(struct fnet_span key)
{
    struct fnet_selector_config config = FNET_SELECTOR_CONFIG_INIT;
    struct fnet_selector s;
    struct fnet_targets targets;
    uint32_t target = 77;
    size_t done = 0;

    config.kind = FNET_SELECTOR_HASH;
    config.channels = 4;
    CHECK_INT(fnet_selector_init(&s, &config), FNET_OK);
    CHECK_INT(fnet_selector_select(&s, &key, 1, &target, &targets, &done), FNET_OK);
    return target;
}

static void check_vector(const struct vector *v)
{
    /* On the heap and of its exact size, so that a sanitizer sees a byte read too many. */
    uint8_t *copy = malloc(v->key_len ? v->key_len : 1);
    if (!copy)
        abort();
    memcpy(copy, v->key, v->key_len);
    struct fnet_span key = fnet_span_of(copy, v->key_len);
    uint32_t hash = fnet_java_hash(0, key);

    CHECK_INT((int32_t)hash, v->hash);
    CHECK_INT(fnet_murmur_hash(hash), v->murmur);
    CHECK_INT(fnet_murmur_hash(hash) % 128, v->group);
    CHECK_INT(target_of(key), v->subtask);
    free(copy);
}

static void test_vectors(void)
{
    char line[4096];
    unsigned n = 0;
    FILE *file = fopen(VECTORS, "r");

    CASE("the published vectors");
    if (!file) {
        CHECK(file != NULL);
        return;
    }
    while (fgets(line, sizeof line, file)) {
        struct vector v;
        if (line[0] == '#')
            continue;
        if (CHECK(parse_vector(line, &v)))
            check_vector(&v);
        n++;
    }
    fclose(file);
    CHECK(n > 200);
}

static void test_checked_values(void)
{
    CASE("values read from a running Flink");
    CHECK_INT(fnet_murmur_hash(0), 593689054);
    CHECK_INT(fnet_murmur_hash(1), 68075478);
    CHECK_INT(fnet_murmur_hash(42), 1134849565);
    CHECK_INT(fnet_murmur_hash((uint32_t)-1), 1982413648);
    CHECK_INT(593689054 % 128, 94);
    CHECK_INT(fnet_java_hash(0, fnet_span_of("hello", 5)), 99162322);
    CHECK_INT(fnet_java_hash(0, fnet_span_of("world", 5)), 113318802);

    CASE("no hash is mixed to a negative number, not even that to -2^31");
    CHECK_INT(fnet_murmur_hash(2205091669u), 0);
    for (uint32_t i = 0; i < 1000000; i++)
        if (!CHECK(fnet_murmur_hash(i * 4294) <= INT32_MAX))
            break;
}

static void test_ascii(void)
{
    uint8_t text[300];
    uint32_t slow = 0;

    CASE("ASCII of every length at every alignment hashes as character after character");
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i * 37 % 128);
    for (size_t from = 0; from < 16; from++) {
        slow = 0;
        for (size_t len = 0; from + len < sizeof text; len++) {
            CHECK_INT(fnet_java_hash(0, fnet_span_of(text + from, len)), slow);
            slow = slow * 31 + text[from + len];
        }
    }

    CASE("a hash goes on from piece to piece");
    for (size_t cut = 0; cut <= 40; cut++) {
        uint32_t hash = fnet_java_hash(0, fnet_span_of(text, cut));
        CHECK_INT(fnet_java_hash(hash, fnet_span_of(text + cut, 40 - cut)),
                  fnet_java_hash(0, fnet_span_of(text, 40)));
    }
}

static void test_mixed(void)
{
    CASE("a character that is not ASCII is found at every place");
    for (size_t len = 2; len < 50; len++)
        for (size_t at = 0; at + 2 <= len; at++) {
            uint8_t text[50];
            uint32_t slow = 0;
            memset(text, 'x', sizeof text);
            memcpy(text + at, "\xc3\xa9", 2);
            for (size_t i = 0; i < len - 1; i++)
                slow = slow * 31 + (i == at ? 0xe9 : 'x');
            CHECK_INT(fnet_java_hash(0, fnet_span_of(text, len)), slow);
        }
}

static void test_default_max_parallelism(void)
{
    static const uint32_t expected[][2] = {
        {1, 128},       {4, 128},       {85, 128},      {86, 256},      {128, 256},
        {170, 256},     {171, 256},     {172, 512},     {1000, 2048},   {10922, 16384},
        {10923, 16384}, {10924, 32768}, {21845, 32768}, {32768, 32768}, {UINT32_MAX, 32768},
    };

    CASE("the default is a power of two of at least one and a half times the parallelism");
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        CHECK_INT(fnet_default_max_parallelism(expected[i][0]), expected[i][1]);
}

int main(void)
{
    test_vectors();
    test_checked_values();
    test_ascii();
    test_mixed();
    test_default_max_parallelism();
    return tap_done();
}
