/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from ids to pointers: open addressing with linear probing and backward-shift removal.
 *
 * Source: Knuth, The Art of Computer Programming 3, 6.4 algorithms L and R; SipHash-2-4 from
 * libsodium (crypto_shorthash), since peers choose the ids.
 */
#include <stdlib.h>

#include <sodium.h>

#include "fnet/id.h"

#define FIRST_CAPACITY 16

struct fnet_id_map_slot {
    struct fnet_id id;
    void *value; /* NULL: free */
};

static size_t home_of(const struct fnet_id_map *map, const struct fnet_id *id)
{
    uint64_t hash;

    _Static_assert(crypto_shorthash_BYTES == sizeof hash, "SipHash gives 64 bits");
    _Static_assert(crypto_shorthash_KEYBYTES == sizeof map->key, "SipHash takes a 128-bit key");
    crypto_shorthash((unsigned char *)&hash, id->bytes, FNET_ID_BYTES, map->key);
    return (size_t)hash & (map->capacity - 1);
}

/* The slot that holds ID, or the free one where it would go. There is always a free one. */
static size_t slot_of(const struct fnet_id_map *map, const struct fnet_id *id)
{
    size_t i = home_of(map, id);

    while (map->slots[i].value && !fnet_id_is_equal(&map->slots[i].id, id))
        i = (i + 1) & (map->capacity - 1);
    return i;
}

static enum fnet_err grow(struct fnet_id_map *map)
{
    struct fnet_id_map bigger = {.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY,
                                 .count = map->count};

    bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
    if (!bigger.slots)
        return FNET_NOMEM;
    if (map->capacity)
        memcpy(bigger.key, map->key, sizeof bigger.key);
    else
        crypto_shorthash_keygen(bigger.key);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].value)
            bigger.slots[slot_of(&bigger, &map->slots[i].id)] = map->slots[i];
    free(map->slots);
    *map = bigger;
    return FNET_OK;
}

enum fnet_err fnet_id_map_put(struct fnet_id_map *map, const struct fnet_id *id, void *value)
{
    if (fnet_id_map_get(map, id))
        return FNET_STATE;
    if (map->count + 1 > map->capacity / 4 * 3) {
        enum fnet_err err = grow(map);
        if (err != FNET_OK)
            return err;
    }
    map->slots[slot_of(map, id)] = (struct fnet_id_map_slot){.id = *id, .value = value};
    map->count++;
    return FNET_OK;
}

void *fnet_id_map_get(const struct fnet_id_map *map, const struct fnet_id *id)
{
    return map->capacity ? map->slots[slot_of(map, id)].value : NULL;
}

void *fnet_id_map_take(struct fnet_id_map *map, const struct fnet_id *id)
{
    if (!map->capacity)
        return NULL;

    size_t hole = slot_of(map, id);
    void *value = map->slots[hole].value;
    if (!value)
        return NULL;

    /* Close the hole: move back every later entry of the run whose home is not behind the hole. */
    const size_t mask = map->capacity - 1;
    for (size_t i = (hole + 1) & mask; map->slots[i].value; i = (i + 1) & mask) {
        size_t home = home_of(map, &map->slots[i].id);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole].value = NULL;
    map->count--;
    return value;
}

void *fnet_id_map_at(const struct fnet_id_map *map, size_t i)
{
    return map->slots[i].value;
}

void fnet_id_map_clear(struct fnet_id_map *map)
{
    free(map->slots);
    *map = (struct fnet_id_map){.capacity = 0};
}
