/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of dialects, and how to find a row.
 *
 * Source: Flink NettyMessage, EventSerializer, Buffer.DataType, ExecutionAttemptID,
 * IntermediateResultPartitionID, PipelinedSubpartition (1.5 to 2.3, and 2.4 before its release).
 */
#include "fnet/dialect.h"

#include "fnet/data_type.h"

#define NONE FNET_NO_DATA_TYPE

/* 1.5: a boolean, true for data. Nothing blocks, nothing overtakes. */
static const struct fnet_data_type_numbers boolean_types = {
    .to_wire = {NONE, 1, 0, 0, 0, 0, 0, NONE, 1, 0, 0, 0, NONE, NONE},
    .from_wire = {FNET_EVENT_BUFFER, FNET_DATA_BUFFER},
};

/* 1.11: three numbers from 0. */
static const struct fnet_data_type_numbers first_types = {
    .to_wire = {NONE, 0, 1, 1, 2, 2, 1, NONE, 0, 1, 1, 1, NONE, NONE},
    .from_wire = {FNET_DATA_BUFFER, FNET_EVENT_BUFFER, FNET_ALIGNED_CHECKPOINT_BARRIER},
};

/* From 1.12 on the numbers stay and more are added: in 1.18, 1.19 and 2.0. */
static const struct fnet_data_type_numbers six_types = {
    .to_wire = {NONE, 1, 2, 3, 4, 5, 6, NONE, 1, 2, 2, 2, NONE, NONE},
    .from_wire = {0, 1, 2, 3, 4, 5, 6},
};
static const struct fnet_data_type_numbers seven_types = {
    .to_wire = {NONE, 1, 2, 3, 4, 5, 6, 7, 1, 2, 2, 2, NONE, NONE},
    .from_wire = {0, 1, 2, 3, 4, 5, 6, 7},
};
static const struct fnet_data_type_numbers eleven_types = {
    .to_wire = {NONE, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, NONE, NONE},
    .from_wire = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
};
static const struct fnet_data_type_numbers thirteen_types = {
    .to_wire = {NONE, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
    .from_wire = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
};

#define BUFFER_1_5                                                                                 \
    {                                                                                              \
        .sequence = 25, .backlog = 29, .data_type = 33, .size = 34, .head = 38                     \
    }
#define BUFFER_1_10                                                                                \
    {                                                                                              \
        .sequence = 25, .backlog = 29, .data_type = 33, .is_compressed = 34, .size = 35,           \
        .head = 39                                                                                 \
    }
#define BUFFER_1_19                                                                                \
    {                                                                                              \
        .subpartition = 25, .sequence = 29, .backlog = 33, .data_type = 37, .is_compressed = 38,   \
        .size = 39, .head = 43                                                                     \
    }
#define BUFFER_2_0                                                                                 \
    {                                                                                              \
        .subpartition = 25, .partials = 29, .sequence = 33, .backlog = 37, .data_type = 41,        \
        .is_compressed = 42, .size = 43, .head = 47                                                \
    }

/* All messages, or events, up to number N. */
#define UP_TO(n) (uint16_t)((2u << (n)) - 1)

#define BARRIER(length, form, timeout, types)                                                      \
    {                                                                                              \
        .bytes = (length), .alignment = (form), .has_timeout = (timeout),                          \
        .checkpoint_types_max = (types)                                                            \
    }
#define BARRIER_1_15                                                                               \
    {                                                                                              \
        .bytes = 38, .is_compact = true, .alignment = FNET_ALIGNMENT_ORDINAL, .has_timeout = true, \
        .checkpoint_types_max = 4                                                                  \
    }

/* From the oldest on. What separates two rows is the first version that wrote otherwise. */
static const struct fnet_dialect dialects[] = {
    {
        .name = "1.5",
        .versions = "1.5 to 1.8",
        .is_released = true,
        .partition_request_bytes = 65,
        .partition_bytes = 16,
        .attempt_bytes = 16,
        .credit_names_partition = true,
        .buffer = BUFFER_1_5,
        .data_types = &boolean_types,
        .backlog = FNET_BACKLOG_ALL,
        .messages = UP_TO(6),
        .events = UP_TO(4),
        .barrier = BARRIER(28, FNET_ALIGNMENT_ABSENT, false, 1),
    },
    {
        .name = "1.9",
        .versions = "1.9",
        .is_released = true,
        .partition_request_bytes = 65,
        .partition_bytes = 16,
        .attempt_bytes = 16,
        .credit_names_partition = true,
        .buffer = BUFFER_1_5,
        .data_types = &boolean_types,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(6),
        .events = UP_TO(4),
        .barrier = BARRIER(28, FNET_ALIGNMENT_ABSENT, false, 2),
    },
    {
        .name = "1.10",
        .versions = "1.10",
        .is_released = true,
        .partition_request_bytes = 65,
        .partition_bytes = 16,
        .attempt_bytes = 16,
        .credit_names_partition = true,
        .buffer = BUFFER_1_10,
        .data_types = &boolean_types,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(6),
        .events = UP_TO(4),
        .barrier = BARRIER(28, FNET_ALIGNMENT_ABSENT, false, 2),
    },
    {
        .name = "1.11.0",
        .versions = "1.11.0 to 1.11.3",
        .is_released = true,
        .partition_request_bytes = 69,
        .partition_bytes = 20,
        .attempt_bytes = 16,
        .buffer = BUFFER_1_10,
        .data_types = &first_types,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(7),
        .events = UP_TO(5),
        .barrier = BARRIER(30, FNET_ALIGNMENT_FLAGS, false, 2),
    },
    {
        .name = "1.11.4",
        .versions = "1.11.4 to 1.11.6",
        .is_released = true,
        .partition_request_bytes = 69,
        .partition_bytes = 20,
        .attempt_bytes = 16,
        .buffer = BUFFER_1_10,
        .data_types = &first_types,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(7),
        .events = UP_TO(5),
        .barrier = BARRIER(30, FNET_ALIGNMENT_ORDINAL, false, 3),
    },
    {
        .name = "1.12.0",
        .versions = "1.12.0 to 1.12.4",
        .is_released = true,
        .partition_request_bytes = 69,
        .partition_bytes = 20,
        .attempt_bytes = 16,
        .buffer = BUFFER_1_10,
        .data_types = &six_types,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(7),
        .events = UP_TO(6),
        .barrier = BARRIER(38, FNET_ALIGNMENT_FLAGS, true, 3),
    },
    {
        .name = "1.12.5",
        .versions = "1.12.5 to 1.12.7",
        .is_released = true,
        .partition_request_bytes = 69,
        .partition_bytes = 20,
        .attempt_bytes = 16,
        .buffer = BUFFER_1_10,
        .data_types = &six_types,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(7),
        .events = UP_TO(6),
        .barrier = BARRIER(38, FNET_ALIGNMENT_ORDINAL, true, 3),
    },
    {
        .name = "1.13",
        .versions = "1.13",
        .is_released = true,
        .partition_request_bytes = 69,
        .partition_bytes = 20,
        .attempt_bytes = 16,
        .buffer = BUFFER_1_10,
        .data_types = &six_types,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(7),
        .events = UP_TO(7),
        .barrier = BARRIER(38, FNET_ALIGNMENT_ORDINAL, true, 3),
    },
    {
        .name = "1.14",
        .versions = "1.14",
        .is_released = true,
        .partition_request_bytes = 69,
        .partition_bytes = 20,
        .attempt_bytes = 16,
        .buffer = BUFFER_1_10,
        .data_types = &six_types,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(10),
        .events = UP_TO(8),
        .barrier = BARRIER(38, FNET_ALIGNMENT_ORDINAL, true, 3),
        .end_of_data_bytes = 4,
    },
    {
        .name = "1.15",
        .versions = "1.15",
        .is_released = true,
        .partition_request_bytes = 69,
        .partition_bytes = 20,
        .attempt_bytes = 16,
        .buffer = BUFFER_1_10,
        .data_types = &six_types,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(10),
        .events = UP_TO(8),
        .barrier = BARRIER_1_15,
        .end_of_data_bytes = 5,
    },
    {
        .name = "1.16",
        .versions = "1.16 to 1.17",
        .is_released = true,
        .partition_request_bytes = 93,
        .partition_bytes = 20,
        .attempt_bytes = 40,
        .buffer = BUFFER_1_10,
        .data_types = &six_types,
        .has_all_codecs = true,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(10),
        .events = UP_TO(8),
        .barrier = BARRIER_1_15,
        .end_of_data_bytes = 5,
    },
    {
        .name = "1.18",
        .versions = "1.18",
        .is_released = true,
        .partition_request_bytes = 93,
        .partition_bytes = 20,
        .attempt_bytes = 40,
        .buffer = BUFFER_1_10,
        .data_types = &seven_types,
        .has_all_codecs = true,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(11),
        .events = UP_TO(9),
        .barrier = BARRIER_1_15,
        .end_of_data_bytes = 5,
    },
    {
        .name = "1.19",
        .versions = "1.19 to 1.20",
        .is_released = true,
        .partition_request_bytes = 97,
        .partition_bytes = 20,
        .attempt_bytes = 40,
        .has_ranges = true,
        .segment_names_subpartition = true,
        .buffer = BUFFER_1_19,
        .data_types = &eleven_types,
        .has_all_codecs = true,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(11),
        .events = UP_TO(10),
        .barrier = BARRIER_1_15,
        .end_of_data_bytes = 5,
    },
    {
        .name = "2.0",
        .versions = "2.0 to 2.3",
        .is_released = true,
        .partition_request_bytes = 97,
        .partition_bytes = 20,
        .attempt_bytes = 40,
        .has_ranges = true,
        .segment_names_subpartition = true,
        .buffer = BUFFER_2_0,
        .data_types = &thirteen_types,
        .has_all_codecs = true,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(11),
        .events = UP_TO(12),
        .barrier = BARRIER_1_15,
        .end_of_data_bytes = 5,
    },
    {
        .name = "2.4",
        .versions = "2.4-SNAPSHOT",
        .partition_request_bytes = 98,
        .partition_bytes = 20,
        .attempt_bytes = 40,
        .has_ranges = true,
        .has_recovery = true,
        .segment_names_subpartition = true,
        .buffer = BUFFER_2_0,
        .data_types = &thirteen_types,
        .has_all_codecs = true,
        .backlog = FNET_BACKLOG_SENDABLE,
        .messages = UP_TO(11),
        .events = UP_TO(12),
        .barrier = BARRIER_1_15,
        .end_of_data_bytes = 5,
    },
};

#define DIALECTS (sizeof dialects / sizeof *dialects)
#define NEWEST (&dialects[DIALECTS - 2])

const struct fnet_dialect *fnet_dialect_at(size_t i)
{
    return i < DIALECTS ? &dialects[i] : NULL;
}

const struct fnet_dialect *fnet_dialect_newest(void)
{
    return NEWEST;
}

/* ---- versions ---------------------------------------------------------------------------- */

/* A patch level behind all there will be. */
#define LATEST_PATCH 999

struct version {
    unsigned part[3]; /* major, minor, patch */
};

/* The last minor versions of Flink 1 and of those known of 2. */
static const unsigned last_minor[] = {[1] = 20, [2] = 4};

static bool scan_part(const char **at, unsigned *part)
{
    const char *from = *at;

    *part = 0;
    while (**at >= '0' && **at <= '9' && *at - from < 3)
        *part = *part * 10 + (unsigned)(*(*at)++ - '0');
    return *at > from && (*from != '0' || *at - from == 1);
}

static bool scan_version(const char *text, struct version *v)
{
    const char *at = text;

    v->part[2] = LATEST_PATCH;
    if (!scan_part(&at, &v->part[0]) || *at++ != '.' || !scan_part(&at, &v->part[1]))
        return false;
    if (*at == '.' && (at++, !scan_part(&at, &v->part[2])))
        return false;
    return *at == '\0';
}

/* Does V come before the first version of DIALECT? */
static bool is_before(const struct version *v, const struct fnet_dialect *dialect)
{
    struct version first = {{0}};

    scan_version(dialect->name, &first);
    if (first.part[2] == LATEST_PATCH)
        first.part[2] = 0;
    for (size_t i = 0; i < 3; i++)
        if (v->part[i] != first.part[i])
            return v->part[i] < first.part[i];
    return false;
}

enum fnet_err fnet_dialect_parse(const char *version, const struct fnet_dialect **out)
{
    struct version v;
    size_t i = DIALECTS;

    if (!scan_version(version, &v))
        return FNET_INVALID;
    if (v.part[0] >= sizeof last_minor / sizeof *last_minor || v.part[1] > last_minor[v.part[0]])
        return FNET_INVALID;
    while (i > 0 && is_before(&v, &dialects[i - 1]))
        i--;
    if (i == 0)
        return FNET_INVALID;
    *out = &dialects[i - 1];
    return FNET_OK;
}

const struct fnet_dialect *fnet_dialect_of_request(uint32_t length,
                                                   const struct fnet_dialect *assumed)
{
    if (assumed && assumed->partition_request_bytes == length)
        return assumed;
    for (size_t i = DIALECTS; i > 0; i--)
        if (dialects[i - 1].partition_request_bytes == length)
            return &dialects[i - 1];
    return NULL;
}

/* ---- partition ids ----------------------------------------------------------------------- */

/* Bytes of an id whose number, or vertex and so on, are not left out. */
#define NUMBERED_BYTES 20
#define WITH_VERTEX_BYTES 40

struct fnet_partition_id fnet_partition_id_as_in(const struct fnet_dialect *dialect,
                                                 const struct fnet_partition_id *id)
{
    struct fnet_partition_id cut = *id;

    if (dialect->partition_bytes < NUMBERED_BYTES)
        cut.number = 0;
    if (dialect->attempt_bytes < WITH_VERTEX_BYTES) {
        memset(&cut.vertex, 0, sizeof cut.vertex);
        cut.subtask = 0;
        cut.attempt = 0;
    }
    return cut;
}

void fnet_put_partition_id_in(const struct fnet_dialect *dialect, struct fnet_writer *w,
                              const struct fnet_partition_id *id)
{
    fnet_put_id(w, &id->data_set);
    if (dialect->partition_bytes == NUMBERED_BYTES)
        fnet_put_i32(w, id->number);
    fnet_put_id(w, &id->graph);
    if (dialect->attempt_bytes == WITH_VERTEX_BYTES) {
        fnet_put_id(w, &id->vertex);
        fnet_put_i32(w, id->subtask);
        fnet_put_i32(w, id->attempt);
    }
}

void fnet_get_partition_id_in(const struct fnet_dialect *dialect, struct fnet_reader *r,
                              struct fnet_partition_id *id)
{
    *id = (struct fnet_partition_id){.number = 0};
    fnet_get_id(r, &id->data_set);
    if (dialect->partition_bytes == NUMBERED_BYTES)
        id->number = fnet_get_i32(r);
    fnet_get_id(r, &id->graph);
    if (dialect->attempt_bytes == WITH_VERTEX_BYTES) {
        fnet_get_id(r, &id->vertex);
        id->subtask = fnet_get_i32(r);
        id->attempt = fnet_get_i32(r);
    }
}
