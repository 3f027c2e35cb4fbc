/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream: which subpartition a record goes to. A batch of records in, their targets out.
 *
 * Source: Flink streaming/runtime/partitioner/: RebalancePartitioner, KeyGroupStreamPartitioner,
 * BroadcastPartitioner, ShufflePartitioner, GlobalPartitioner, ForwardPartitioner,
 * RescalePartitioner; runtime/state/KeyGroupRangeAssignment; util/MathUtils. The key is the String
 * that the key's bytes are in UTF-8, or the number they stand for, so that a record lands where
 * Flink's keyBy of it would.
 */
#ifndef FNET_SELECTOR_H
#define FNET_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/err.h"
#include "fnet/value.h"

/** Flink's bounds of the number of key groups. */
#define FNET_MAX_PARALLELISM 32768u
#define FNET_DEFAULT_MAX_PARALLELISM_MIN 128u

/** Ranges a list of fields may have, after touching ones were joined. */
#define FNET_KEY_MAX_RANGES 32
/** The last field of a range that is open at its end. */
#define FNET_FIELD_LAST UINT32_MAX

/* ---- keys -------------------------------------------------------------------------------- */

/** Fields FIRST to LAST, counted from 1. */
struct fnet_field_range {
    uint32_t first;
    uint32_t last;
};

/**
 * What part of a record is its key: all of it, or some of the fields that SEPARATOR bytes divide
 * it into, joined by separators in the order they have in the record, as `cut -f` prints them.
 * Fields a record does not have are left out. Unlike cut, a record without any separator is one
 * field and nothing more, so that the key of its second field is empty.
 */
struct fnet_key {
    size_t range_count; /**< 0: the whole record */
    uint8_t separator;
    /** Increasing, neither overlapping nor touching. */
    struct fnet_field_range ranges[FNET_KEY_MAX_RANGES];
};

#define FNET_KEY_INIT                                                                              \
    {                                                                                              \
        .range_count = 0, .separator = '\t'                                                        \
    }

/**
 * Read a list of fields as `cut -f` takes it: N, N-, N-M or -M, divided by commas, in any order.
 *
 * @param key  its ranges are replaced, its separator stays.
 *
 * Errors: FNET_INVALID  LIST is empty or something else, or a range decreases, or a field is 0.
 *         FNET_RANGE    a number is FNET_FIELD_LAST or more, or there are more than
 *                       FNET_KEY_MAX_RANGES ranges.
 */
FNET_CHECKED enum fnet_err fnet_key_parse(const char *list, struct fnet_key *key);

/** A walk over the pieces of one record's key. */
struct fnet_key_walk {
    const struct fnet_key *key; /**< borrowed */
    const uint8_t *pos;         /**< where FIELD begins; NULL: there is no more */
    const uint8_t *end;         /**< of the record */
    uint32_t field;
    size_t range;
};

static inline struct fnet_key_walk fnet_key_walk_of(const struct fnet_key *key,
                                                    struct fnet_span record)
{
    return (struct fnet_key_walk){
        .key = key, .pos = record.ptr, .end = record.ptr + record.len, .field = 1};
}

/**
 * The next piece of the key, borrowed from the record: the key is all pieces joined by separators.
 * Returns false when there is none. Cost: each byte of the record is looked at once per walk.
 */
bool fnet_key_walk_next(struct fnet_key_walk *walk, struct fnet_span *piece);

/* ---- key groups -------------------------------------------------------------------------- */

/**
 * Java's hashCode of the String new String(BYTES, UTF_8), continued from HASH (0 at first): over
 * UTF-16 units, where each malformed part of BYTES is one U+FFFD, as the JDK decides what a part
 * is. Pieces may be hashed one by one if none but the last ends inside a character.
 */
uint32_t fnet_java_hash(uint32_t hash, struct fnet_span bytes);

/** Flink's MathUtils.murmurHash, never negative. */
uint32_t fnet_murmur_hash(uint32_t hash);

/** Flink's max parallelism of an operator that sets none. */
uint32_t fnet_default_max_parallelism(uint32_t parallelism);

/* ---- selectors --------------------------------------------------------------------------- */

enum fnet_selector_kind {
    FNET_SELECTOR_REBALANCE, /**< in turn, from a channel chosen at random */
    FNET_SELECTOR_HASH,      /**< by the key's key group */
    FNET_SELECTOR_BROADCAST, /**< to all */
    FNET_SELECTOR_SHUFFLE,   /**< at random */
    FNET_SELECTOR_GLOBAL,    /**< to channel 0 */
    FNET_SELECTOR_FORWARD,   /**< to channel 0, the only one in Flink */
    FNET_SELECTOR_RESCALE,   /**< in turn, from channel 0 */
    FNET_SELECTOR_INDEX,     /**< the key is the channel's number */
};

/** The name of KIND, static, as the command line spells it; NULL for other numbers. */
const char *fnet_selector_kind_name(enum fnet_selector_kind kind);

/**
 * Read a name.
 *
 * Errors: FNET_INVALID  no kind has it.
 */
FNET_CHECKED enum fnet_err fnet_selector_kind_parse(const char *name,
                                                    enum fnet_selector_kind *kind);

struct fnet_selector_config {
    enum fnet_selector_kind kind;
    uint32_t channels;        /**< subpartitions, at least 1 */
    uint32_t max_parallelism; /**< of HASH: key groups; 0: Flink's default */
    uint64_t seed;            /**< of SHUFFLE and REBALANCE: the same seed, the same targets */
    bool has_seed;            /**< if not, it is drawn at random */
    struct fnet_key key;      /**< of HASH and INDEX */
    /** Of HASH: LONG or INT, and the key's first piece is the text of such a number and hashed as
        one; any other type is hashed as a String. What is no number goes anywhere. */
    enum fnet_value_type key_type;
};

#define FNET_SELECTOR_CONFIG_INIT                                                                  \
    {                                                                                              \
        .kind = FNET_SELECTOR_REBALANCE, .channels = 1, .key = FNET_KEY_INIT                       \
    }

/** In place; owns nothing, so there is no clear. */
struct fnet_selector {
    struct fnet_selector_config config; /**< max_parallelism and seed filled in */
    uint32_t next;                      /**< of REBALANCE and RESCALE */
    uint64_t random;                    /**< state of the generator */
};

/**
 * Make S select as CONFIG says; CONFIG is copied.
 *
 * Errors: FNET_RANGE    channels is 0; for HASH max_parallelism is above FNET_MAX_PARALLELISM or
 *                       below channels.
 *         FNET_INVALID  several ranges with a separator above 0x7f, which could cut and join
 *                       characters of UTF-8; several ranges for INDEX.
 */
FNET_CHECKED enum fnet_err fnet_selector_init(struct fnet_selector *s,
                                              const struct fnet_selector_config *config);

enum fnet_targets_kind {
    FNET_TARGETS_EACH,    /**< each record has a channel of its own */
    FNET_TARGETS_IN_TURN, /**< the channels take turns */
    FNET_TARGETS_ALL,     /**< every record goes to every channel */
};

/** Where the records of a batch go. */
struct fnet_targets {
    enum fnet_targets_kind kind;
    const uint32_t *each; /**< borrowed; of EACH: the channel of each record */
    uint32_t next;     /**< of IN_TURN: the first record's channel; that of the last before ... */
    uint32_t channels; /**< ... CHANNELS > 0 is followed by channel 0 */
};

/** The channel of record I, unless it goes to all. */
static inline uint32_t fnet_targets_at(const struct fnet_targets *targets, size_t i)
{
    if (targets->kind == FNET_TARGETS_EACH)
        return targets->each[i];
    return (uint32_t)((targets->next + i) % targets->channels);
}

/** The targets of the records behind the first N. */
static inline struct fnet_targets fnet_targets_behind(const struct fnet_targets *targets, size_t n)
{
    struct fnet_targets rest = *targets;

    if (rest.kind == FNET_TARGETS_EACH)
        rest.each += n;
    else if (rest.kind == FNET_TARGETS_IN_TURN)
        rest.next = fnet_targets_at(targets, n);
    return rest;
}

/**
 * Choose the channels of N records, in order.
 *
 * @param room     for N numbers, which TARGETS borrows if each record has a channel of its own.
 * @param targets  all channels in it are below those of the selector.
 * @param done     N if FNET_OK; if FNET_BAD_VALUE, which record was bad: those before it have
 *                 their targets in ROOM.
 *
 * Errors: FNET_BAD_VALUE  INDEX: a key is no decimal number below channels.
 * Cost:   O(1) for REBALANCE, RESCALE, GLOBAL, FORWARD, BROADCAST; O(records) for SHUFFLE; HASH and
 *         INDEX O(bytes up to the key's end).
 */
FNET_CHECKED enum fnet_err fnet_selector_select(struct fnet_selector *s,
                                                const struct fnet_span *records, size_t n,
                                                uint32_t *room, struct fnet_targets *targets,
                                                size_t *done);

#endif
