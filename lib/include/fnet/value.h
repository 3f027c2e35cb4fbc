/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record: the values in stream elements, and their text in files and pipes.
 *
 *     type     in the element                               as text
 *     STRING   variable-length number of UTF-16 units + 1,  UTF-8
 *              or 0 for null, and of each unit
 *     LONG     int64, big-endian                            decimal digits, a minus sign in front
 *     INT      int32, big-endian                            the same
 *     BYTES    int32 length, bytes                          the bytes as they are
 *     a tuple  its fields, one after the other              its fields, separators between them
 *
 * A null String is the text \N, two characters. What is malformed in UTF-8 becomes U+FFFD, as Java
 * has it, and so does half of a surrogate pair on the way back. A text is the whole of a record;
 * nothing is escaped, so a field with a separator in it comes out as two.
 *
 * Source: Flink StringValue.writeString and readString, LongSerializer, IntSerializer,
 * BytePrimitiveArraySerializer, TupleSerializer (1.5 to 2.3); PostgreSQL COPY for \N.
 */
#ifndef FNET_VALUE_H
#define FNET_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/err.h"
#include "fnet/record.h"

/* ---- types ------------------------------------------------------------------------------- */

enum fnet_value_type {
    FNET_VALUE_STRING,
    FNET_VALUE_LONG,
    FNET_VALUE_INT,
    FNET_VALUE_BYTES,
};

/** Flink's Tuple25 has the most fields. */
#define FNET_TUPLE_MAX_FIELDS 25
/** Longest name of a serde, NUL included: tuple(string,...). */
#define FNET_SERDE_TEXT_BYTES (sizeof "tuple()" + FNET_TUPLE_MAX_FIELDS * sizeof "string")

/** What the records of a stream are. */
struct fnet_serde {
    size_t field_count; /**< 0: raw: they are no elements, their bytes are text as they are */
    bool is_tuple;      /**< else one value, without any separator */
    enum fnet_value_type fields[FNET_TUPLE_MAX_FIELDS];
    uint8_t separator; /**< between the fields of a tuple's text */
};

#define FNET_SERDE_INIT                                                                            \
    {                                                                                              \
        .field_count = 0, .separator = '\t'                                                        \
    }

static inline bool fnet_serde_is_raw(const struct fnet_serde *serde)
{
    return serde->field_count == 0;
}

/** "string", "long", "int" or "bytes", static. */
FNET_API const char *fnet_value_type_name(enum fnet_value_type type);

/**
 * Read "raw", the name of a type, or "tuple(TYPE,...)".
 *
 * @param serde  its separator stays.
 *
 * Errors: FNET_INVALID  NAME is anything else.
 *         FNET_RANGE    more than FNET_TUPLE_MAX_FIELDS fields.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_serde_parse(const char *name, struct fnet_serde *serde);
/** Write the name of SERDE. */
FNET_API void fnet_serde_format(const struct fnet_serde *serde,
                                char text[static FNET_SERDE_TEXT_BYTES]);

/* ---- one value --------------------------------------------------------------------------- */

/** A value, or a field of a tuple. */
struct fnet_value {
    enum fnet_value_type type;
    bool is_null;           /**< of STRING */
    int64_t number;         /**< of LONG and INT */
    struct fnet_span bytes; /**< of BYTES; of STRING its units, encoded; borrowed */
    size_t units;           /**< of STRING: how many */
};

/**
 * Read a decimal number, TYPE is LONG or INT.
 *
 * Errors: FNET_BAD_VALUE  TEXT is anything but digits with perhaps a minus sign in front, or the
 *                         number is out of the type's range.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_value_parse_number(enum fnet_value_type type,
                                                            struct fnet_span text, int64_t *number);

/** The text of VALUE has at most so many bytes. */
FNET_API size_t fnet_value_text_max(const struct fnet_value *value);
/** Append the text of VALUE to W, which has room for fnet_value_text_max(). */
FNET_API void fnet_value_put_text(const struct fnet_value *value, struct fnet_writer *w);

/* ---- all values of an element ------------------------------------------------------------ */

/** Why a text is none of a serde. */
struct fnet_value_fault {
    size_t fields;             /**< it has so many, and the tuple another number; 0: else ... */
    size_t field;              /**< ... this field of the tuple, from 1; 0: there is one value */
    enum fnet_value_type type; /**< ... is not of its type */
    struct fnet_span text;     /**< the field or the whole; borrowed */
};

/** The values of TEXT, encoded, have at most so many bytes. */
FNET_API size_t fnet_values_encoded_max(const struct fnet_serde *serde, struct fnet_span text);

/**
 * Append the values that TEXT stands for to W. SERDE is not raw.
 *
 * @param w      has room for fnet_values_encoded_max(); rubbish may be left behind its cursor.
 * @param fault  set on FNET_BAD_VALUE.
 *
 * Errors: FNET_BAD_VALUE  TEXT is none of SERDE.
 *         FNET_RANGE      W has no room.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_values_encode(const struct fnet_serde *serde,
                                                       struct fnet_span text, struct fnet_writer *w,
                                                       struct fnet_value_fault *fault);

/**
 * Read the field_count values that are the whole of BYTES. SERDE is not raw.
 *
 * @param values  the first field_count are set, and borrow from BYTES.
 *
 * Errors: FNET_TRUNCATED  BYTES ends inside a value.
 *         FNET_BAD_VALUE  a length or a UTF-16 unit that cannot be, or bytes behind the last value.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_values_decode(
    const struct fnet_serde *serde, struct fnet_span bytes,
    struct fnet_value values[static FNET_TUPLE_MAX_FIELDS]);

/* ---- batches ----------------------------------------------------------------------------- */

/** Makes batches of elements from texts, or back, in memory that is used again. */
struct fnet_transcoder {
    struct fnet_serde serde;
    struct fnet_spill_buffer scratch; /**< what became of the last batch; saved_errno is in it */
};

/** SPILL_DIR is borrowed: where very long records go. */
FNET_API void fnet_transcoder_init(struct fnet_transcoder *t, const struct fnet_serde *serde,
                                   const char *spill_dir);
FNET_API void fnet_transcoder_clear(struct fnet_transcoder *t);

/**
 * Make an element without timestamp of each of N texts.
 *
 * @param records  room for N, which may be that of TEXTS; borrowed until the next call. They lie
 *                 one behind the other in the scratch buffer.
 * @param done     N, or on errors which text was bad.
 * @param fault    set on FNET_BAD_VALUE.
 *
 * Errors: FNET_BAD_VALUE   a text is none of the serde.
 *         FNET_BAD_LENGTH  an element would be longer than FNET_RECORD_MAX_BYTES.
 *         FNET_NOMEM, FNET_SYSTEM (errno in scratch.saved_errno).
 * Cost:   O(bytes), memory up to three times that of the texts.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_transcoder_encode(struct fnet_transcoder *t,
                                                           const struct fnet_span *texts, size_t n,
                                                           struct fnet_span *records, size_t *done,
                                                           struct fnet_value_fault *fault);

/**
 * Make texts of those of N elements that are records. The others are left out.
 *
 * @param texts  room for N, which may be that of RECORDS; borrowed until the next call. They lie
 *               one behind the other in the scratch buffer.
 * @param count  how many texts there are.
 * @param done   N, or on errors which element was bad.
 *
 * Errors: FNET_TRUNCATED, FNET_BAD_KIND, FNET_BAD_VALUE: as fnet_element_decode() and
 *         fnet_values_decode().
 *         FNET_NOMEM, FNET_SYSTEM (errno in scratch.saved_errno).
 * Cost:   O(bytes).
 */
FNET_API FNET_CHECKED enum fnet_err fnet_transcoder_decode(struct fnet_transcoder *t,
                                                           const struct fnet_span *records,
                                                           size_t n, struct fnet_span *texts,
                                                           size_t *count, size_t *done);

#endif
