/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base: Flink's identifiers, their text forms, ids made from names, and a map keyed by id.
 *
 * Source: Flink AbstractID, IntermediateResultPartitionID, ExecutionAttemptID, ResultPartitionID
 * (1.16 and later): an AbstractID is 16 bytes whose order on the wire is the order of its 32 hex
 * digits in logs.
 */
#ifndef FNET_ID_H
#define FNET_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/err.h"

#define FNET_ID_BYTES 16
#define FNET_ID_TEXT_BYTES 33 /**< 32 hex digits and a NUL */

/** A partition and its producer on the wire: 16 + 4 + 16 + 16 + 4 + 4. */
#define FNET_PARTITION_ID_BYTES 60
/** Longest text of a partition id, with its NUL: hex#number@graph_vertex_subtask_attempt. */
#define FNET_PARTITION_ID_TEXT_BYTES (32 + 1 + 11 + 1 + 32 + 1 + 32 + 1 + 11 + 1 + 11 + 1)
/** Longest partition name that is accepted, without NUL. */
#define FNET_NAME_MAX_BYTES 255

/** An AbstractID: InputChannelID, IntermediateDataSetID, JobVertexID, ExecutionGraphID. */
struct fnet_id {
    uint8_t bytes[FNET_ID_BYTES];
};

/** A ResultPartitionID: which intermediate result partition, made by which execution attempt. */
struct fnet_partition_id {
    struct fnet_id data_set;
    int32_t number; /**< the producer's subtask index in IntermediateResultPartitionID */
    struct fnet_id graph;
    struct fnet_id vertex;
    int32_t subtask;
    int32_t attempt;
};

FNET_API bool fnet_id_is_equal(const struct fnet_id *a, const struct fnet_id *b);

/** Draw ID at random, as a consumer does for each of its input channels. */
FNET_API void fnet_id_random(struct fnet_id *id);

/** Write the 32 hex digits of ID and a NUL to TEXT. */
FNET_API void fnet_id_format(const struct fnet_id *id, char text[static FNET_ID_TEXT_BYTES]);

/**
 * Read exactly 32 hex digits of either case.
 *
 * Errors: FNET_INVALID  TEXT is anything else.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_id_parse(const char *text, struct fnet_id *id);

FNET_API bool fnet_partition_id_is_equal(const struct fnet_partition_id *a,
                                         const struct fnet_partition_id *b);

/**
 * Make the ids of the partition that fnet calls NAME: data set, graph and vertex are 16 bytes of
 * BLAKE2b of NAME, told apart by BLAKE2b's personalisation ("fnet data set", "fnet graph", "fnet
 * vertex", zero padded); the three numbers are 0. Both ends compute them, nothing is exchanged.
 *
 * Errors: FNET_INVALID  NAME is empty, longer than FNET_NAME_MAX_BYTES or has a character
 *                       outside [A-Za-z0-9._-].
 * Source: RFC 7693 (BLAKE2), libsodium crypto_generichash_blake2b.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_partition_id_from_name(const char *name,
                                                                struct fnet_partition_id *id);

/**
 * Read a partition id as Flink logs it, "HEX#NUMBER@GRAPH_VERTEX_SUBTASK_ATTEMPT", or else a
 * name as fnet_partition_id_from_name() takes it. Before 1.16 an id ends behind what is called
 * GRAPH here, before 1.11 it has no "#NUMBER": both may be missing and then are 0.
 *
 * Errors: FNET_INVALID  TEXT is neither.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_partition_id_parse(const char *text,
                                                            struct fnet_partition_id *id);

/** Write ID in Flink's text form and a NUL to TEXT. */
FNET_API void fnet_partition_id_format(const struct fnet_partition_id *id,
                                       char text[static FNET_PARTITION_ID_TEXT_BYTES]);

/* On the wire, as of Flink 1.16: lower half first, all integers big-endian. */
FNET_API void fnet_put_id(struct fnet_writer *w, const struct fnet_id *id);
FNET_API void fnet_get_id(struct fnet_reader *r, struct fnet_id *id);
FNET_API void fnet_put_partition_id(struct fnet_writer *w, const struct fnet_partition_id *id);
FNET_API void fnet_get_partition_id(struct fnet_reader *r, struct fnet_partition_id *id);

/**
 * A map from ids to borrowed pointers: open addressing, at most three quarters full. All zero is an
 * empty map that owns nothing. Ids come from peers, who may choose them: the slot is found by a
 * keyed hash (SipHash-2-4), whose key is drawn for each map.
 */
struct fnet_id_map {
    struct fnet_id_map_slot *slots; /**< owned; NULL while empty */
    size_t capacity;                /**< 0 or a power of two */
    size_t count;                   /**< live entries, <= capacity / 4 * 3 */
    uint8_t key[16];
};

/**
 * Add VALUE, borrowed and not NULL, under ID.
 *
 * Errors: FNET_STATE  ID is there already.
 *         FNET_NOMEM
 */
FNET_API FNET_CHECKED enum fnet_err fnet_id_map_put(struct fnet_id_map *map,
                                                    const struct fnet_id *id, void *value);
/** The value under ID, NULL when there is none. */
FNET_API void *fnet_id_map_get(const struct fnet_id_map *map, const struct fnet_id *id);
/** Take ID out; returns its value, NULL when it was not there. */
FNET_API void *fnet_id_map_take(struct fnet_id_map *map, const struct fnet_id *id);
/** The value in slot I < capacity, NULL when that is free: to visit all of them. */
FNET_API void *fnet_id_map_at(const struct fnet_id_map *map, size_t i);
/** Forget all entries and free the slots; the map is then empty and usable. */
FNET_API void fnet_id_map_clear(struct fnet_id_map *map);

#endif
