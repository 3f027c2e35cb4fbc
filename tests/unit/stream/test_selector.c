/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where each selector sends records.
 */
#include <stdlib.h>

#include "fnet/selector.h"

#include "../tap.h"

static struct fnet_selector_config config_of(enum fnet_selector_kind kind, uint32_t channels)
{
    struct fnet_selector_config config = FNET_SELECTOR_CONFIG_INIT;

    config.kind = kind;
    config.channels = channels;
    return config;
}

static struct fnet_selector selector_of(const struct fnet_selector_config *config)
{
    struct fnet_selector s;

    memset(&s, 0, sizeof s);
    CHECK_INT(fnet_selector_init(&s, config), FNET_OK);
    return s;
}

static void select_many(struct fnet_selector *s, uint32_t *targets, size_t n)
{
    static const struct fnet_span records[1000];
    static uint32_t room[1000];
    struct fnet_targets chosen;
    size_t done = 0;

    CHECK_INT(fnet_selector_select(s, records, n, room, &chosen, &done), FNET_OK);
    CHECK_INT(done, n);
    for (size_t i = 0; i < n; i++) {
        struct fnet_targets rest = fnet_targets_behind(&chosen, i);
        targets[i] = fnet_targets_at(&chosen, i);
        CHECK_INT(fnet_targets_at(&rest, 0), targets[i]);
    }
}

static uint32_t select_one(struct fnet_selector *s, const char *record)
{
    struct fnet_span span = fnet_span_of(record, strlen(record));
    struct fnet_targets chosen;
    uint32_t room;
    size_t done = 0;

    CHECK_INT(fnet_selector_select(s, &span, 1, &room, &chosen, &done), FNET_OK);
    return fnet_targets_at(&chosen, 0);
}

static void test_names(void)
{
    enum fnet_selector_kind kind = FNET_SELECTOR_INDEX;

    CASE("each kind has a name that is read back, and nothing else is");
    for (int i = 0; i <= FNET_SELECTOR_INDEX; i++) {
        const char *name = fnet_selector_kind_name((enum fnet_selector_kind)i);
        CHECK_INT(fnet_selector_kind_parse(name, &kind), FNET_OK);
        CHECK_INT(kind, i);
    }
    CHECK_INT(fnet_selector_kind_parse("", &kind), FNET_INVALID);
    CHECK_INT(fnet_selector_kind_parse("Hash", &kind), FNET_INVALID);
    CHECK(!fnet_selector_kind_name((enum fnet_selector_kind)(FNET_SELECTOR_INDEX + 1)));
    CHECK(!fnet_selector_kind_name((enum fnet_selector_kind) - 1));
}

static void test_in_turn(void)
{
    uint32_t t[1000];

    CASE("rescale begins at 0 and goes round, over the ends of batches too");
    struct fnet_selector_config config = config_of(FNET_SELECTOR_RESCALE, 3);
    struct fnet_selector s = selector_of(&config);
    select_many(&s, t, 4);
    select_many(&s, t + 4, 996);
    for (uint32_t i = 0; i < 1000; i++)
        CHECK_INT(t[i], i % 3);

    CASE("rebalance goes round from anywhere");
    bool began[8] = {false};
    config = config_of(FNET_SELECTOR_REBALANCE, 8);
    config.has_seed = true;
    for (config.seed = 0; config.seed < 100; config.seed++) {
        s = selector_of(&config);
        select_many(&s, t, 20);
        began[t[0]] = true;
        for (uint32_t i = 0; i < 20; i++)
            CHECK_INT(t[i], (t[0] + i) % 8);
    }
    for (size_t i = 0; i < 8; i++)
        CHECK(began[i]);

    CASE("without a seed rebalance begins at random: a thousand channels are not all the same");
    config = config_of(FNET_SELECTOR_REBALANCE, 1000);
    uint32_t first = 0;
    unsigned same = 0;
    for (int i = 0; i < 10; i++) {
        s = selector_of(&config);
        select_many(&s, t, 1);
        same += i > 0 && t[0] == first;
        first = t[0];
    }
    CHECK(same < 9);
}

static void test_constant(void)
{
    uint32_t t[100];

    CASE("global and forward send everything to channel 0");
    for (int forward = 0; forward < 2; forward++) {
        struct fnet_selector_config config =
            config_of(forward ? FNET_SELECTOR_FORWARD : FNET_SELECTOR_GLOBAL, 5);
        struct fnet_selector s = selector_of(&config);
        memset(t, 0xff, sizeof t);
        select_many(&s, t, 100);
        for (size_t i = 0; i < 100; i++)
            CHECK_INT(t[i], 0);
    }

    CASE("one channel gets everything, whatever the selector");
    for (int kind = 0; kind <= FNET_SELECTOR_RESCALE; kind++) {
        struct fnet_selector_config config = config_of((enum fnet_selector_kind)kind, 1);
        struct fnet_selector s = selector_of(&config);
        if (kind == FNET_SELECTOR_BROADCAST)
            continue;
        select_many(&s, t, 100);
        for (size_t i = 0; i < 100; i++)
            CHECK_INT(t[i], 0);
    }
}

static void test_broadcast(void)
{
    struct fnet_selector_config config = config_of(FNET_SELECTOR_BROADCAST, 3);
    struct fnet_selector s = selector_of(&config);
    struct fnet_span record = fnet_span_of("x", 1);
    struct fnet_targets chosen = {.kind = FNET_TARGETS_EACH};
    uint32_t room = 77;
    size_t done = 77;

    CASE("broadcast sends everything to all, however much is behind it");
    CHECK_INT(fnet_selector_select(&s, &record, 1, &room, &chosen, &done), FNET_OK);
    CHECK_INT(chosen.kind, FNET_TARGETS_ALL);
    chosen = fnet_targets_behind(&chosen, 1);
    CHECK_INT(chosen.kind, FNET_TARGETS_ALL);
    CHECK_INT(done, 1);
}

static void test_shuffle(void)
{
    enum { CHANNELS = 7, ROUNDS = 70 };
    uint32_t a[1000];
    uint32_t b[1000];
    struct fnet_selector_config config = config_of(FNET_SELECTOR_SHUFFLE, CHANNELS);

    CASE("the same seed gives the same targets however they are asked for");
    config.has_seed = true;
    config.seed = 42;
    struct fnet_selector s = selector_of(&config);
    struct fnet_selector other = selector_of(&config);
    select_many(&s, a, 1000);
    for (size_t i = 0; i < 1000; i += 10)
        select_many(&other, b + i, 10);
    CHECK_MEM(a, b, sizeof a);

    CASE("the sequence of a seed does not change from version to version");
    static const uint32_t first[] = {5, 1, 1, 2, 0, 6, 1, 5};
    CHECK_MEM(a, first, sizeof first);

    CASE("another seed and no seed give others");
    config.seed = 43;
    s = selector_of(&config);
    select_many(&s, b, 1000);
    CHECK(memcmp(a, b, sizeof a) != 0);
    config.has_seed = false;
    s = selector_of(&config);
    select_many(&s, a, 1000);
    CHECK(memcmp(a, b, sizeof a) != 0);

    CASE("all channels are hit alike: 70000 targets, 10000 each, within five deviations");
    config.has_seed = true;
    config.seed = 1;
    s = selector_of(&config);
    int hits[CHANNELS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        select_many(&s, a, 1000);
        for (size_t i = 0; i < 1000; i++)
            hits[a[i] % CHANNELS] += a[i] < CHANNELS;
    }
    for (size_t i = 0; i < CHANNELS; i++)
        CHECK(abs(hits[i] - 10000) < 470);

    CASE("targets stay below the largest number of channels, where a third would be unfair");
    config = config_of(FNET_SELECTOR_SHUFFLE, 0xc0000000);
    s = selector_of(&config);
    unsigned low = 0;
    for (int round = 0; round < 10; round++) {
        select_many(&s, a, 1000);
        for (size_t i = 0; i < 1000; i++) {
            CHECK(a[i] < 0xc0000000);
            low += a[i] % 3 == 0;
        }
    }
    CHECK(low > 3000 && low < 3700);
}

static void test_hash(void)
{
    struct fnet_selector_config config = config_of(FNET_SELECTOR_HASH, 4);
    struct fnet_selector s = selector_of(&config);

    CASE("hash fills in the default of key groups");
    CHECK_INT(s.config.max_parallelism, 128);
    CHECK_INT(select_one(&s, "hello"), 35 * 4 / 128);
    CHECK_INT(select_one(&s, "world"), 66 * 4 / 128);
    CHECK_INT(select_one(&s, ""), 94 * 4 / 128);

    CASE("key groups that are no power of two");
    config.max_parallelism = 100;
    s = selector_of(&config);
    CHECK_INT(select_one(&s, "hello"), 1715862179 % 100 * 4 / 100);
    CHECK_INT(select_one(&s, "world"), 2116508994 % 100 * 4 / 100);
    config.max_parallelism = 4;
    s = selector_of(&config);
    CHECK_INT(select_one(&s, "hello"), 1715862179 % 4);

    CASE("the key alone decides, however it stands in the record");
    config.max_parallelism = 0;
    CHECK_INT(fnet_key_parse("2", &config.key), FNET_OK);
    s = selector_of(&config);
    CHECK_INT(select_one(&s, "a\thello\tb"), 1);
    CHECK_INT(select_one(&s, "\thello"), 1);
    CHECK_INT(select_one(&s, "no second field"), 94 * 4 / 128);

    CASE("fields that are apart hash as their joined text");
    struct fnet_selector_config whole = config_of(FNET_SELECTOR_HASH, 1024);
    struct fnet_selector joined = selector_of(&whole);
    config = config_of(FNET_SELECTOR_HASH, 1024);
    config.key.separator = ',';
    CHECK_INT(fnet_key_parse("1,3-4,6-", &config.key), FNET_OK);
    s = selector_of(&config);
    CHECK_INT(select_one(&s, "one,2,three,four,5,six,seven"),
              select_one(&joined, "one,three,four,six,seven"));
    CHECK_INT(select_one(&s, "caf\xc3\xa9,x,na\xc3\xafve"),
              select_one(&joined, "caf\xc3\xa9,na\xc3\xafve"));
    /* A character that is cut by the separator is malformed in both. */
    CHECK_INT(select_one(&s, "caf\xc3,x,\xa9"), select_one(&joined, "caf\xc3,\xa9"));
}

/* Where a key with Java's hashCode HASH goes, by Flink's rule for 128 key groups. */
static uint32_t channel_of(uint32_t hash, uint32_t channels)
{
    return fnet_murmur_hash(hash) % 128 * channels / 128;
}

static void test_number_keys(void)
{
    static const struct {
        const char *text;
        uint32_t long_hash; /* as java.lang.Long has it */
        uint32_t int_hash;
    } numbers[] = {
        {"0", 0, 0},
        {"007", 7, 7},
        {"-1", 0, 0xffffffff},
        {"-2147483648", 0x7fffffff, 0x80000000},
        {"4294967296", 1, 0},
        {"-9223372036854775808", 0x80000000, 0},
        {"81985529216486895", 0x88888888, 0},
        {"no number", 0, 0},
    };
    struct fnet_selector_config config = config_of(FNET_SELECTOR_HASH, 128);

    config.max_parallelism = 128;

    CASE("numbers are hashed as Java hashes a Long and an Integer");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        config.key_type = FNET_VALUE_LONG;
        struct fnet_selector s = selector_of(&config);
        CHECK_INT(select_one(&s, numbers[i].text), channel_of(numbers[i].long_hash, 128));
        config.key_type = FNET_VALUE_INT;
        s = selector_of(&config);
        CHECK_INT(select_one(&s, numbers[i].text), channel_of(numbers[i].int_hash, 128));
    }
    CASE("one field of several is a number");
    CHECK_INT(fnet_key_parse("2", &config.key), FNET_OK);
    struct fnet_selector s = selector_of(&config);
    CHECK_INT(select_one(&s, "x\t-1\ty"), channel_of(0xffffffff, 128));
    CASE("any other type is hashed as a String");
    config.key_type = FNET_VALUE_BYTES;
    s = selector_of(&config);
    CHECK_INT(select_one(&s, "x\tab\ty"), channel_of(3105, 128));
}

static void test_index(void)
{
    static const char *const bad[] = {"",   "12",  "13",        "99999999999999999999999",
                                      "-1", "+1",  " 1",        "1 ",
                                      "a",  "0x1", "4294967296"};
    struct fnet_selector_config config = config_of(FNET_SELECTOR_INDEX, 12);
    struct fnet_selector s = selector_of(&config);
    uint32_t t[3] = {77, 77, 77};
    struct fnet_targets chosen = {.kind = FNET_TARGETS_ALL};
    size_t done = 77;

    CASE("the record is the number");
    CHECK_INT(select_one(&s, "0"), 0);
    CHECK_INT(select_one(&s, "11"), 11);
    CHECK_INT(select_one(&s, "000000000000000000000007"), 7);

    CASE("what is no number below channels is FNET_BAD_VALUE, after those before it");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fnet_span r[] = {fnet_span_of("3", 1), fnet_span_of(bad[i], strlen(bad[i])),
                                fnet_span_of("4", 1)};
        CHECK_INT(fnet_selector_select(&s, r, 3, t, &chosen, &done), FNET_BAD_VALUE);
        CHECK_INT(done, 1);
        CHECK(t[0] == 3 && t[2] == 77);
        CHECK_INT(chosen.kind, FNET_TARGETS_ALL); /* untouched */
    }

    CASE("a field is the number");
    CHECK_INT(fnet_key_parse("2", &config.key), FNET_OK);
    s = selector_of(&config);
    CHECK_INT(select_one(&s, "x\t5\ty"), 5);
    struct fnet_span r = fnet_span_of("5", 1);
    CHECK_INT(fnet_selector_select(&s, &r, 1, t, &chosen, &done), FNET_BAD_VALUE);
    CHECK_INT(done, 0);

    CASE("no records are no error");
    CHECK_INT(fnet_selector_select(&s, NULL, 0, t, &chosen, &done), FNET_OK);
    CHECK_INT(done, 0);
}

static void test_limits(void)
{
    struct fnet_selector s;
    memset(&s, 0x77, sizeof s);
    const struct fnet_selector before = s;
    struct fnet_selector_config config = config_of(FNET_SELECTOR_GLOBAL, 0);

    CASE("no channels, and more channels than key groups, are out of range");
    CHECK_INT(fnet_selector_init(&s, &config), FNET_RANGE);
    config = config_of(FNET_SELECTOR_HASH, FNET_MAX_PARALLELISM + 1);
    CHECK_INT(fnet_selector_init(&s, &config), FNET_RANGE);
    config = config_of(FNET_SELECTOR_HASH, 1);
    config.max_parallelism = FNET_MAX_PARALLELISM + 1;
    CHECK_INT(fnet_selector_init(&s, &config), FNET_RANGE);
    config = config_of(FNET_SELECTOR_HASH, 101);
    config.max_parallelism = 100;
    CHECK_INT(fnet_selector_init(&s, &config), FNET_RANGE);

    CASE("keys that a selector cannot use are invalid");
    config = config_of(FNET_SELECTOR_HASH, 4);
    config.key.separator = 0x80;
    CHECK_INT(fnet_key_parse("1,3", &config.key), FNET_OK);
    CHECK_INT(fnet_selector_init(&s, &config), FNET_INVALID);
    config = config_of(FNET_SELECTOR_INDEX, 4);
    CHECK_INT(fnet_key_parse("1,3", &config.key), FNET_OK);
    CHECK_INT(fnet_selector_init(&s, &config), FNET_INVALID);
    CHECK_MEM(&s, &before, sizeof s);

    CASE("the limits themselves are good");
    config = config_of(FNET_SELECTOR_HASH, FNET_MAX_PARALLELISM);
    CHECK_INT(fnet_selector_init(&s, &config), FNET_OK);
    CHECK_INT(s.config.max_parallelism, FNET_MAX_PARALLELISM);
    config = config_of(FNET_SELECTOR_HASH, 4);
    config.key.separator = 0xff;
    CHECK_INT(fnet_key_parse("2-3", &config.key), FNET_OK);
    CHECK_INT(fnet_selector_init(&s, &config), FNET_OK);
}

int main(void)
{
    test_names();
    test_in_turn();
    test_constant();
    test_broadcast();
    test_shuffle();
    test_hash();
    test_number_keys();
    test_index();
    test_limits();
    return tap_done();
}
