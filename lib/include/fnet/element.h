/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record: what a record of a DataStream or Table job is: an element of a stream, a tag and what
 * follows it. Most elements are records in the job's sense, with a value; the others are watermarks
 * and their like, which stand between them.
 *
 * Source: Flink StreamElementSerializer (1.5 to 2.3; the tags above WATERMARK_STATUS since 1.19).
 */
#ifndef FNET_ELEMENT_H
#define FNET_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/err.h"
#include "fnet/id.h"

/** The first byte of an element. */
enum fnet_element_tag {
    FNET_ELEMENT_TIMED_RECORD = 0, /**< timestamp, value */
    FNET_ELEMENT_RECORD = 1,       /**< value */
    FNET_ELEMENT_WATERMARK = 2,    /**< timestamp */
    FNET_ELEMENT_LATENCY_MARKER = 3,
    FNET_ELEMENT_WATERMARK_STATUS = 4,
    FNET_ELEMENT_RECORD_ATTRIBUTES = 5,
    FNET_ELEMENT_INTERNAL_WATERMARK = 6, /**< subpartition, timestamp */
};

/** The timestamp of the watermark behind which nothing comes. */
#define FNET_WATERMARK_MAX INT64_MAX

/** Most bytes of an element without its value: those of a latency marker. */
#define FNET_ELEMENT_HEAD_MAX_BYTES (1 + 8 + FNET_ID_BYTES + 4)

/** An element; of the fields those count that the tag has. */
struct fnet_element {
    enum fnet_element_tag tag;
    int64_t timestamp;          /**< of a latency marker: when it was made, ms since 1970 */
    struct fnet_span value;     /**< of both records; borrowed */
    struct fnet_id operator_id; /**< of a latency marker: the source it comes from ... */
    int32_t subtask;            /**< ... and which of its subtasks */
    bool is_idle;               /**< of a watermark status; else active */
    bool is_backlog;            /**< of record attributes */
    int32_t subpartition;       /**< of an internal watermark */
};

/** Flink's class, static; NULL for other numbers. Both records are a StreamRecord. */
FNET_API const char *fnet_element_type_name(uint32_t tag);

/** Does ELEMENT carry a value? */
static inline bool fnet_element_is_record(const struct fnet_element *element)
{
    return element->tag <= FNET_ELEMENT_RECORD;
}

/** Bytes of ELEMENT, its value included. */
FNET_API size_t fnet_element_encoded_bytes(const struct fnet_element *element);

/**
 * Append ELEMENT, its value included, to W.
 *
 * Errors: FNET_BAD_KIND  the tag is none.
 *         FNET_RANGE     W has no room.
 *         Nothing is written then.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_element_encode(const struct fnet_element *element,
                                                        struct fnet_writer *w);

/**
 * Read the element that is the whole of RECORD. The value is not looked at.
 *
 * @param out  borrows the value from RECORD.
 *
 * Errors: FNET_TRUNCATED  RECORD ends before the value or in any other field.
 *         FNET_BAD_KIND   an unknown tag.
 *         FNET_BAD_VALUE  neither active nor idle, neither backlog nor not, or bytes behind the
 * end.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_element_decode(struct fnet_span record,
                                                        struct fnet_element *out);

#endif
