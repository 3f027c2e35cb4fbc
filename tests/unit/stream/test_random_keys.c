/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 100,000 random keys go where Flink's keyBy sends these Strings, whole records or fields of some.
 *
 * Source: tests/golden/hash/SOURCE, for how the keys are made and what Flink said of them;
 * SplitMix64 of Steele, Lea, Flood (2014).
 */
#include <sodium.h>
#include <stdlib.h>

#include "fnet/selector.h"

#include "../tap.h"

#define GOLDEN "tests/golden/hash/random.tsv"
#define ROWS 24
#define FIELD_ROWS                                                                                 \
    18 /* from this one on, those of the greatest parallelism, keys are fields too                 \
        */
#define KEYS 100000
#define BATCH 1000
#define KEY_MAX_BYTES 1024 /* 255 characters of four, and two fields of one beside them */
#define MAX_SUBTASKS 128

/* ---- keys -------------------------------------------------------------------------------- */

struct key {
    uint8_t bytes[KEY_MAX_BYTES];
    size_t len;
};

static uint32_t below(uint64_t *state, uint32_t bound)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) >> 33) % bound;
}

/* As UTF-8 has it, and surrogates in the same way. */
static void add_code(struct key *key, uint32_t code)
{
    uint8_t *to = key->bytes + key->len;
    const size_t followers = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t leads[] = {0, 0xc0, 0xe0, 0xf0};

    to[0] = (uint8_t)(leads[followers] | code >> 6 * followers);
    for (size_t i = 1; i <= followers; i++)
        to[i] = (uint8_t)(0x80 | (code >> 6 * (followers - i) & 0x3f));
    key->len += 1 + followers;
}

static uint32_t random_code(uint64_t *state, uint32_t kind)
{
    uint32_t code;

    switch (kind) {
    case 0: return 0x20 + below(state, 0x5f);
    case 1: code = below(state, 0x21); return code < 0x20 ? code : 0x7f;
    case 2: return 0x80 + below(state, 0x80);
    case 3: code = 0x100 + below(state, 0xf700); return code < 0xd800 ? code : code + 0x800;
    default: return 0x10000 + below(state, 0x100000);
    }
}

static void add_malformed(struct key *key, uint64_t *state)
{
    switch (below(state, 3)) {
    case 0: add_code(key, 0xd800 + below(state, 0x800)); break;
    case 1:
        add_code(key, random_code(state, 2 + below(state, 3)));
        key->len--;
        break;
    default: key->bytes[key->len++] = (uint8_t)(0x80 + below(state, 0x80)); break;
    }
}

static void make_key(struct key *key, uint64_t *state)
{
    uint32_t left = below(state, 8u << below(state, 6));
    const uint32_t kinds = 1 + below(state, 6);

    key->len = 0;
    while (left > 0) {
        const uint32_t kind = below(state, kinds);
        uint32_t run = 1 + below(state, 24);
        run = run < left ? run : left;
        left -= run;
        for (; run > 0; run--) {
            if (kind == 5)
                add_malformed(key, state);
            else
                add_code(key, random_code(state, kind));
        }
    }
}

/* ---- where they go ----------------------------------------------------------------------- */

/* What became of all keys. */
struct tally {
    crypto_hash_sha256_state digest;
    uint32_t counts[MAX_SUBTASKS];
};

/* What Flink said for one parallelism and one max parallelism, and what fnet says. */
struct row {
    uint32_t parallelism;
    uint32_t max_parallelism;
    char digest[2 * crypto_hash_sha256_BYTES + 1];
    char counts[MAX_SUBTASKS * 8];
    struct fnet_selector whole;  /* the key is the record, */
    struct fnet_selector second; /* its second field, */
    struct fnet_selector apart;  /* or all but that */
    struct tally of_records;
    struct tally of_fields;
};

static struct fnet_selector selector_of(const struct row *row, const char *fields)
{
    struct fnet_selector_config config = FNET_SELECTOR_CONFIG_INIT;
    struct fnet_selector s;

    memset(&s, 0, sizeof s);
    config.kind = FNET_SELECTOR_HASH;
    config.channels = row->parallelism;
    config.max_parallelism = row->max_parallelism;
    if (row->max_parallelism == fnet_default_max_parallelism(row->parallelism))
        config.max_parallelism = 0;
    if (fields)
        CHECK_INT(fnet_key_parse(fields, &config.key), FNET_OK);
    CHECK_INT(fnet_selector_init(&s, &config), FNET_OK);
    CHECK_INT(s.config.max_parallelism, row->max_parallelism);
    return s;
}

static void row_init(struct row *row)
{
    row->whole = selector_of(row, NULL);
    row->second = selector_of(row, "2");
    row->apart = selector_of(row, "1,3-");
    crypto_hash_sha256_init(&row->of_records.digest);
    crypto_hash_sha256_init(&row->of_fields.digest);
}

static void route(struct fnet_selector *s, const struct fnet_span *records, size_t n,
                  struct tally *tally)
{
    uint32_t room[BATCH];
    struct fnet_targets targets;
    size_t done = 0;

    CHECK_INT(fnet_selector_select(s, records, n, room, &targets, &done), FNET_OK);
    for (size_t i = 0; i < done; i++) {
        const uint32_t target = fnet_targets_at(&targets, i);
        uint8_t bytes[4];
        if (!CHECK(target < s->config.channels))
            return;
        fnet_store_be32(bytes, target);
        crypto_hash_sha256_update(&tally->digest, bytes, sizeof bytes);
        tally->counts[target]++;
    }
}

static void add_bytes(struct key *key, const void *bytes, size_t len)
{
    memcpy(key->bytes + key->len, bytes, len);
    key->len += len;
}

/* Make KEY the second field of three, or, if it has a tab and so is several fields, put another
   one behind its first. Returns which. */
static bool make_record(const struct key *key, struct key *record)
{
    const uint8_t *tab = memchr(key->bytes, '\t', key->len);
    const size_t cut = tab ? (size_t)(tab + 1 - key->bytes) : 0;

    record->len = 0;
    add_bytes(record, key->bytes, cut);
    add_bytes(record, "7\t", 2);
    add_bytes(record, key->bytes + cut, key->len - cut);
    if (!tab)
        add_bytes(record, "\t9", 2);
    return tab != NULL;
}

static void route_batch(struct row *rows, const struct key *keys)
{
    struct fnet_span records[BATCH];

    for (size_t i = 0; i < BATCH; i++)
        records[i] = fnet_span_of(keys[i].bytes, keys[i].len);
    for (size_t i = 0; i < ROWS; i++)
        route(&rows[i].whole, records, BATCH, &rows[i].of_records);
    for (size_t i = 0; i < BATCH; i++) {
        struct key record;
        const bool is_apart = make_record(&keys[i], &record);
        const struct fnet_span bytes = fnet_span_of(record.bytes, record.len);
        for (size_t r = FIELD_ROWS; r < ROWS; r++)
            route(is_apart ? &rows[r].apart : &rows[r].second, &bytes, 1, &rows[r].of_fields);
    }
}

/* ---- what Flink said --------------------------------------------------------------------- */

static void check_digest(crypto_hash_sha256_state *digest, const char *expected)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char hex[2 * sizeof hash + 1];

    crypto_hash_sha256_final(digest, hash);
    CHECK_STR(sodium_bin2hex(hex, sizeof hex, hash, sizeof hash), expected);
}

static void check_tally(struct tally *tally, const struct row *row)
{
    char counts[sizeof row->counts] = "";

    for (size_t i = 0, len = 0; i < row->parallelism; i++)
        len +=
            (size_t)snprintf(counts + len, sizeof counts - len, i ? ",%u" : "%u", tally->counts[i]);
    CHECK_STR(counts, row->counts);
    check_digest(&tally->digest, row->digest);
}

static bool read_row(FILE *file, const char *name, uint32_t number, char *digest)
{
    char read_name[16];
    uint32_t read_number;

    return fscanf(file, "%15s %u %64s -", read_name, &read_number, digest) == 3 &&
           strcmp(read_name, name) == 0 && read_number == number;
}

static bool read_golden(char *keys_digest, char *defaults_digest, struct row *rows)
{
    FILE *file = fopen(GOLDEN, "r");
    size_t n = 0;

    if (!file)
        return false;
    if (read_row(file, "keys", KEYS, keys_digest) &&
        read_row(file, "default", FNET_MAX_PARALLELISM, defaults_digest))
        for (; n < ROWS; n++)
            if (fscanf(file, "%u %u %64s %1023s", &rows[n].parallelism, &rows[n].max_parallelism,
                       rows[n].digest, rows[n].counts) != 4 ||
                rows[n].parallelism > MAX_SUBTASKS)
                break;
    const bool is_whole = n == ROWS && fscanf(file, "%*s") == EOF;
    fclose(file);
    return is_whole;
}

static void test_defaults(const char *expected)
{
    crypto_hash_sha256_state digest;

    CASE("the max parallelism of every parallelism by default is Flink's");
    crypto_hash_sha256_init(&digest);
    for (uint32_t parallelism = 1; parallelism <= FNET_MAX_PARALLELISM; parallelism++) {
        uint8_t bytes[4];
        fnet_store_be32(bytes, fnet_default_max_parallelism(parallelism));
        crypto_hash_sha256_update(&digest, bytes, sizeof bytes);
    }
    check_digest(&digest, expected);
}

static void test_keys(struct row *rows, const char *keys_digest)
{
    static struct key keys[BATCH];
    crypto_hash_sha256_state digest;
    uint64_t state = 4;

    crypto_hash_sha256_init(&digest);
    for (size_t i = 0; i < ROWS; i++)
        row_init(&rows[i]);
    for (size_t n = 0; n < KEYS; n += BATCH) {
        for (size_t i = 0; i < BATCH; i++) {
            uint8_t len[4];
            make_key(&keys[i], &state);
            fnet_store_be32(len, (uint32_t)keys[i].len);
            crypto_hash_sha256_update(&digest, len, sizeof len);
            crypto_hash_sha256_update(&digest, keys[i].bytes, keys[i].len);
        }
        route_batch(rows, keys);
    }
    CASE("the keys are those that Flink got");
    check_digest(&digest, keys_digest);
    CASE("records that are the keys go where Flink's keyBy sends them");
    for (size_t i = 0; i < ROWS; i++)
        check_tally(&rows[i].of_records, &rows[i]);
    CASE("and so do records with the keys as fields");
    for (size_t i = FIELD_ROWS; i < ROWS; i++)
        check_tally(&rows[i].of_fields, &rows[i]);
}

int main(void)
{
    static struct row rows[ROWS];
    char keys_digest[sizeof rows[0].digest];
    char defaults_digest[sizeof rows[0].digest];

    if (CHECK(read_golden(keys_digest, defaults_digest, rows))) {
        test_defaults(defaults_digest);
        test_keys(rows, keys_digest);
    }
    return tap_done();
}
