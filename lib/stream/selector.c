/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which subpartition each record of a batch goes to.
 *
 * Source: Flink streaming/runtime/partitioner/. Steele, Lea, Flood, Fast Splittable Pseudorandom
 * Number Generators (2014), for SplitMix64; Lemire, Fast Random Integer Generation in an Interval
 * (2019). java.lang.Long and Integer hashCode.
 */
#include "fnet/selector.h"
#include "fnet/id.h"

static const char *const names[] = {
    [FNET_SELECTOR_REBALANCE] = "rebalance", [FNET_SELECTOR_HASH] = "hash",
    [FNET_SELECTOR_BROADCAST] = "broadcast", [FNET_SELECTOR_SHUFFLE] = "shuffle",
    [FNET_SELECTOR_GLOBAL] = "global",       [FNET_SELECTOR_FORWARD] = "forward",
    [FNET_SELECTOR_RESCALE] = "rescale",     [FNET_SELECTOR_INDEX] = "index",
};
#define KINDS (sizeof names / sizeof names[0])

const char *fnet_selector_kind_name(enum fnet_selector_kind kind)
{
    return (size_t)kind < KINDS ? names[kind] : NULL;
}

enum fnet_err fnet_selector_kind_parse(const char *name, enum fnet_selector_kind *kind)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(name, names[i]) == 0) {
            *kind = (enum fnet_selector_kind)i;
            return FNET_OK;
        }
    return FNET_INVALID;
}

/* ---- random numbers ---------------------------------------------------------------------- */

static uint32_t random_u32(struct fnet_selector *s)
{
    uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) >> 32);
}

/* Uniform below CHANNELS: the few products that would favour some channel are drawn again. */
static uint32_t random_channel(struct fnet_selector *s)
{
    const uint32_t channels = s->config.channels;
    uint64_t product = (uint64_t)random_u32(s) * channels;

    if ((uint32_t)product < channels) {
        const uint32_t unfair = (0 - channels) % channels;
        while ((uint32_t)product < unfair)
            product = (uint64_t)random_u32(s) * channels;
    }
    return (uint32_t)(product >> 32);
}

static uint64_t random_seed(void)
{
    struct fnet_id id;

    fnet_id_random(&id);
    return fnet_load_be64(id.bytes);
}

/* ---- making a selector ------------------------------------------------------------------- */

static enum fnet_err check_key_groups(const struct fnet_selector_config *config)
{
    if (config->max_parallelism > FNET_MAX_PARALLELISM ||
        config->channels > config->max_parallelism)
        return FNET_RANGE;
    return config->key.range_count > 1 && config->key.separator > 0x7f ? FNET_INVALID : FNET_OK;
}

enum fnet_err fnet_selector_init(struct fnet_selector *s, const struct fnet_selector_config *config)
{
    struct fnet_selector made = {.config = *config};
    enum fnet_err err = FNET_OK;

    if (config->channels == 0)
        return FNET_RANGE;
    if (config->max_parallelism == 0)
        made.config.max_parallelism = fnet_default_max_parallelism(config->channels);
    if (config->kind == FNET_SELECTOR_HASH)
        err = check_key_groups(&made.config);
    if (config->kind == FNET_SELECTOR_INDEX && config->key.range_count > 1)
        err = FNET_INVALID;
    if (err != FNET_OK)
        return err;

    if (!config->has_seed)
        made.config.seed = random_seed();
    made.random = made.config.seed;
    if (config->kind == FNET_SELECTOR_REBALANCE)
        made.next = random_channel(&made);
    *s = made;
    return FNET_OK;
}

/* ---- selecting --------------------------------------------------------------------------- */

/* The next N turns of CHANNELS channels. */
static struct fnet_targets take_turns(struct fnet_selector *s, uint32_t channels, size_t n)
{
    const struct fnet_targets targets = {
        .kind = FNET_TARGETS_IN_TURN, .next = s->next, .channels = channels};

    s->next = fnet_targets_at(&targets, n);
    return targets;
}

static bool is_number(enum fnet_value_type type)
{
    return type == FNET_VALUE_LONG || type == FNET_VALUE_INT;
}

/* Java's hashCode of the Long or Integer that TEXT is. */
static uint32_t hash_of_number(enum fnet_value_type type, struct fnet_span text)
{
    int64_t number;

    if (fnet_value_parse_number(type, text, &number) != FNET_OK)
        return 0;
    return (uint32_t)(type == FNET_VALUE_LONG ? (uint64_t)number ^ (uint64_t)number >> 32
                                              : (uint64_t)number);
}

static uint32_t hash_of_key(const struct fnet_selector_config *config, struct fnet_span record)
{
    const struct fnet_key *key = &config->key;
    struct fnet_key_walk walk = fnet_key_walk_of(key, record);
    struct fnet_span piece;
    if (!fnet_key_walk_next(&walk, &piece))
        return 0;
    if (is_number(config->key_type))
        return hash_of_number(config->key_type, piece);
    uint32_t hash = fnet_java_hash(0, piece);
    while (walk.range < key->range_count && fnet_key_walk_next(&walk, &piece))
        hash = fnet_java_hash(hash * 31 + key->separator, piece);
    return hash;
}

static void select_by_hash(const struct fnet_selector *s, const struct fnet_span *records, size_t n,
                           uint32_t *targets)
{
    const uint32_t groups = s->config.max_parallelism;
    const uint32_t channels = s->config.channels;
    const bool is_whole = s->config.key.range_count == 0 && !is_number(s->config.key_type);
    /* The default is a power of two, and two divisions cost as much as a short key's hash. */
    const bool is_power = (groups & (groups - 1)) == 0;
    const int log = __builtin_ctz(groups);

    for (size_t i = 0; i < n; i++) {
        uint32_t hash = fnet_murmur_hash(is_whole ? fnet_java_hash(0, records[i])
                                                  : hash_of_key(&s->config, records[i]));
        targets[i] =
            is_power ? (hash & (groups - 1)) * channels >> log : hash % groups * channels / groups;
    }
}

static bool parse_channel(struct fnet_span text, uint32_t channels, uint32_t *channel)
{
    uint64_t value = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
        if (value >= channels)
            return false;
    }
    *channel = (uint32_t)value;
    return text.len > 0;
}

/* Returns how many records have a good number, up to the first that has not. */
static size_t select_by_index(const struct fnet_selector *s, const struct fnet_span *records,
                              size_t n, uint32_t *targets)
{
    for (size_t i = 0; i < n; i++) {
        struct fnet_key_walk walk = fnet_key_walk_of(&s->config.key, records[i]);
        struct fnet_span piece;
        if (!fnet_key_walk_next(&walk, &piece) ||
            !parse_channel(piece, s->config.channels, &targets[i]))
            return i;
    }
    return n;
}

enum fnet_err fnet_selector_select(struct fnet_selector *s, const struct fnet_span *records,
                                   size_t n, uint32_t *room, struct fnet_targets *targets,
                                   size_t *done)
{
    struct fnet_targets chosen = {.kind = FNET_TARGETS_EACH, .each = room};
    size_t good = n;

    switch (s->config.kind) {
    case FNET_SELECTOR_REBALANCE:
    case FNET_SELECTOR_RESCALE: chosen = take_turns(s, s->config.channels, n); break;
    case FNET_SELECTOR_HASH: select_by_hash(s, records, n, room); break;
    case FNET_SELECTOR_BROADCAST: chosen.kind = FNET_TARGETS_ALL; break;
    case FNET_SELECTOR_SHUFFLE:
        for (size_t i = 0; i < n; i++)
            room[i] = random_channel(s);
        break;
    case FNET_SELECTOR_GLOBAL:
    case FNET_SELECTOR_FORWARD: chosen = take_turns(s, 1, n); break;
    case FNET_SELECTOR_INDEX: good = select_by_index(s, records, n, room); break;
    }
    *done = good;
    if (good < n)
        return FNET_BAD_VALUE;
    *targets = chosen;
    return FNET_OK;
}
