/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record: records in the byte stream of a channel, and records in the bytes of a file or pipe.
 *
 * On the wire a subpartition is one endless stream cut into buffers; each record in it is an int32
 * big-endian length and that many bytes, cut anywhere, also inside the length. No I/O here but the
 * temporary file of a very long record.
 *
 * Source: Flink RecordWriter.serializeRecord, SpillingAdaptiveSpanningRecordDeserializer,
 * NonSpanningWrapper, SpanningWrapper.
 */
#ifndef FNET_RECORD_H
#define FNET_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/err.h"

/** Bytes of the length in front of each record. */
#define FNET_RECORD_HEADER_BYTES 4
/** Longest record: Flink keeps the length in an int32 and its arrays end a little below. */
#define FNET_RECORD_MAX_BYTES (INT32_MAX - 8)
/** A record that is being assembled moves to a temporary file above this (Flink's threshold). */
#define FNET_SPILL_THRESHOLD_BYTES (5u << 20)

/* ---- a growable buffer that spills ------------------------------------------------------- */

/**
 * Contiguous bytes that grow at the end: on the heap up to FNET_SPILL_THRESHOLD_BYTES, above it in
 * an unlinked temporary file that is mapped into memory, so that the kernel can write it out. Disk
 * space is reserved before it is mapped: a full disk is an error code, not a SIGBUS. All zero but
 * DIR is an empty one; fnet_spill_buffer_clear() frees.
 */
struct fnet_spill_buffer {
    const char *dir; /**< borrowed: where the file goes; NULL: $TMPDIR is not read, /tmp */
    uint8_t *ptr;    /**< owned */
    size_t len;      /**< bytes in use, <= capacity */
    size_t capacity;
    int fd; /**< of the file while is_spilled */
    bool is_spilled;
    int saved_errno; /**< why FNET_SYSTEM was returned */
};

/**
 * Make room for MORE bytes behind LEN. PTR may move.
 *
 * Errors: FNET_NOMEM
 *         FNET_SYSTEM  saved_errno tells why: ENOSPC, EDQUOT, EFBIG, EACCES, ... A process with
 *                      RLIMIT_FSIZE must ignore SIGXFSZ to see EFBIG.
 *         The contents stay as they were.
 * Cost:   O(bytes) over a buffer's life: it grows by a half at least.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_spill_buffer_reserve(struct fnet_spill_buffer *b,
                                                              size_t more);
/** Forget the contents; give a file, and nearly all heap, back. */
FNET_API void fnet_spill_buffer_reset(struct fnet_spill_buffer *b);
/** Free everything. */
FNET_API void fnet_spill_buffer_clear(struct fnet_spill_buffer *b);

/* ---- copying short records --------------------------------------------------------------- */

/** Records up to this are copied by whole blocks where there is slack: no call, no loop. */
#define FNET_SHORT_RECORD_BYTES 64

/**
 * Copy LEN bytes. May write rubbish behind the copy, but below TO_END, and read behind the
 * original, but below FROM_END, up to FNET_SHORT_RECORD_BYTES from TO and FROM.
 */
static inline void fnet_record_copy(uint8_t *to, const uint8_t *to_end, const uint8_t *from,
                                    const uint8_t *from_end, size_t len)
{
    const size_t half = FNET_SHORT_RECORD_BYTES / 2;

    if (len <= FNET_SHORT_RECORD_BYTES && to_end - to >= FNET_SHORT_RECORD_BYTES &&
        from_end - from >= FNET_SHORT_RECORD_BYTES) {
        memcpy(to, from, half);
        if (len > half)
            memcpy(to + half, from + half, half);
    } else if (len > 0) {
        memcpy(to, from, len);
    }
}

/**
 * Does each of N records begin at most FNET_RECORD_HEADER_BYTES behind the end of the one before?
 * Then they lie in one piece of memory, readable up to the end of the last, which is what
 * fnet_record_copy() wants to know. So it is for all records of one call of fnet_delimiter_find()
 * or fnet_record_deserializer_next().
 */
static inline bool fnet_records_are_adjacent(const struct fnet_span *records, size_t n)
{
    bool has_gap = false;

    for (size_t i = 1; i < n; i++)
        has_gap |= (uintptr_t)records[i].ptr - (uintptr_t)records[i - 1].ptr - records[i - 1].len >
                   FNET_RECORD_HEADER_BYTES;
    return !has_gap;
}

/** A batch of records. */
struct fnet_records {
    const struct fnet_span *spans; /**< borrowed */
    size_t count;
    /** Where all of them lie, in order and none over another, as fnet_delimiter_find() finds them;
        empty: they may lie anywhere. */
    struct fnet_span within;
};

/* ---- serializer: records into buffers ---------------------------------------------------- */

/**
 * One record on its way into buffers: length and body are copied until the room is full and go on
 * in the next room. All zero is idle. The body is borrowed until the record is done.
 */
struct fnet_record_serializer {
    uint8_t header[FNET_RECORD_HEADER_BYTES];
    size_t header_left;    /**< bytes of HEADER still to be written */
    struct fnet_span body; /**< bytes still to be written */
};

/** Begin RECORD (at most FNET_RECORD_MAX_BYTES, checked by the caller); only while idle. */
static inline void fnet_record_serializer_begin(struct fnet_record_serializer *s,
                                                struct fnet_span record)
{
    fnet_store_be32(s->header, (uint32_t)record.len);
    s->header_left = FNET_RECORD_HEADER_BYTES;
    s->body = record;
}

/** Is there nothing left to write? */
static inline bool fnet_record_serializer_is_done(const struct fnet_record_serializer *s)
{
    return s->header_left == 0 && s->body.len == 0;
}

/** Write as much as fits to PTR; returns how many bytes that were. */
FNET_API size_t fnet_record_serializer_write(struct fnet_record_serializer *s, uint8_t *ptr,
                                             size_t room);

/**
 * Append the whole of RECORD to W: the way of nearly all records, a serializer is for those that
 * are cut. May write rubbish behind W's cursor.
 *
 * @param record        at most FNET_RECORD_MAX_BYTES, checked by the caller.
 * @param readable_end  as FROM_END of fnet_record_copy(); at least the record's end.
 *
 * Returns false, and does nothing, if it does not fit.
 */
static inline bool fnet_record_put(struct fnet_writer *w, struct fnet_span record,
                                   const uint8_t *readable_end)
{
    size_t room = fnet_writer_left(w);

    if (room < FNET_RECORD_HEADER_BYTES || room - FNET_RECORD_HEADER_BYTES < record.len)
        return false;
    fnet_store_be32(w->pos, (uint32_t)record.len);
    w->pos += FNET_RECORD_HEADER_BYTES;
    fnet_record_copy(w->pos, w->end, record.ptr, readable_end, record.len);
    w->pos += record.len;
    return true;
}

/**
 * fnet_record_put() for N records, up to the first that does not fit; returns how many did.
 */
FNET_API size_t fnet_records_put(const struct fnet_span *records, size_t n, struct fnet_writer *w);

/* ---- deserializer: buffers into records -------------------------------------------------- */

/**
 * Takes the data buffers of one channel in order and yields records. A record inside one buffer
 * is borrowed from it; one that lies across buffers is assembled in a spill buffer.
 */
struct fnet_record_deserializer {
    struct fnet_span input;                   /**< borrowed rest of the current buffer */
    struct fnet_spill_buffer record;          /**< the record being assembled */
    uint8_t header[FNET_RECORD_HEADER_BYTES]; /**< a length that was cut */
    size_t header_len;                        /**< bytes of it seen, 0 to 4 */
    size_t record_len;                        /**< valid once header_len is 4 */
    bool is_delivered; /**< RECORD was handed out and is dropped by the next call */
};

/** Make an empty deserializer; spill files go to SPILL_DIR (borrowed, NULL: /tmp). */
FNET_API void fnet_record_deserializer_init(struct fnet_record_deserializer *d,
                                            const char *spill_dir);
FNET_API void fnet_record_deserializer_clear(struct fnet_record_deserializer *d);

/** Take BUFFER, borrowed until next() returned FNET_AGAIN; only after it did (or at first). */
FNET_API void fnet_record_deserializer_feed(struct fnet_record_deserializer *d,
                                            struct fnet_span buffer);

/**
 * Yield up to MAX > 0 records. One that had to be assembled comes alone.
 *
 * @param records  borrowed until the next call of next() or clear(), or until the buffer's end.
 * @param count    how many, at least 1 if FNET_OK.
 *
 * Errors: FNET_AGAIN       the buffer is used up.
 *         FNET_BAD_LENGTH  a length is negative or above FNET_RECORD_MAX_BYTES: dead.
 *         FNET_NOMEM, FNET_SYSTEM (errno in record.saved_errno): dead.
 * Cost:   O(records), no copy but of records that lie across buffers.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_record_deserializer_next(
    struct fnet_record_deserializer *d, struct fnet_span *records, size_t max, size_t *count);

/** Is a record unfinished, so that the stream may not end here? */
FNET_API bool fnet_record_deserializer_is_mid_record(const struct fnet_record_deserializer *d);

/* ---- delimiter: records in files and pipes ----------------------------------------------- */

/** How records stand in a file or pipe; the numbers also travel in description responses. */
enum fnet_record_format {
    FNET_FORMAT_LINES = 0, /**< each ended by the delimiter, newline by default */
    FNET_FORMAT_NUL = 1,   /**< each ended by a NUL byte */
    FNET_FORMAT_FIXED = 2, /**< each of the same length, nothing between */
    FNET_FORMAT_U32 = 3,   /**< each behind its length, 4 bytes big-endian */
    FNET_FORMAT_BYTES = 4, /**< no records: chunks, joined again on output */
};

struct fnet_delimiter_config {
    enum fnet_record_format format;
    uint8_t delimiter;   /**< of FNET_FORMAT_LINES */
    size_t record_bytes; /**< > 0; of FNET_FORMAT_FIXED, and of each chunk of FNET_FORMAT_BYTES */
};

#define FNET_DELIMITER_CONFIG_INIT                                                                 \
    {                                                                                              \
        .format = FNET_FORMAT_LINES, .delimiter = '\n'                                             \
    }

/** Finds records in input bytes. All state is how far a long record has been searched. */
struct fnet_delimiter {
    struct fnet_delimiter_config config;
    size_t searched; /**< bytes at the head of the input known to hold no delimiter */
};

FNET_API void fnet_delimiter_init(struct fnet_delimiter *d,
                                  const struct fnet_delimiter_config *config);

/**
 * Find up to MAX > 0 complete records at the head of INPUT.
 *
 * @param is_end   no bytes will follow INPUT: its rest is the last record, though unterminated. Of
 *                 FNET_FORMAT_BYTES also: none will for a while, so that a shorter chunk goes out.
 * @param records  borrowed from INPUT, without delimiters and lengths.
 * @param count    how many.
 * @param used     bytes of INPUT they took, delimiters and lengths included.
 *
 * Afterwards call again with the bytes behind USED, and, with no record found, with more behind
 * them.
 *
 * Errors: FNET_AGAIN       not one whole record; USED is untouched.
 *         FNET_EOF         is_end and INPUT is empty.
 *         FNET_BAD_LENGTH  a record is longer than FNET_RECORD_MAX_BYTES.
 *         FNET_TRUNCATED   is_end in the middle of a FIXED or U32 record.
 * Cost:   O(bytes), each searched once; vectorised for lines.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_delimiter_find(struct fnet_delimiter *d,
                                                        struct fnet_span input, bool is_end,
                                                        struct fnet_span *records, size_t max,
                                                        size_t *count, size_t *used);

/** Output bytes of N records under CONFIG: bodies, delimiters, lengths. */
FNET_API size_t fnet_delimiter_framed_bytes(const struct fnet_delimiter_config *config,
                                            const struct fnet_span *records, size_t n);

/**
 * Append N records in CONFIG's framing to W. A record in FIXED format must have its length.
 *
 * Errors: FNET_RANGE  no room for fnet_delimiter_framed_bytes(); a record has another length than
 *                     FIXED asks. Nothing is written then.
 * Cost:   O(bytes); fastest with FNET_SHORT_RECORD_BYTES more room than is needed, where rubbish
 *         may be written behind W's cursor, and records that fnet_records_are_adjacent().
 */
FNET_API FNET_CHECKED enum fnet_err fnet_delimiter_frame(const struct fnet_delimiter_config *config,
                                                         const struct fnet_span *records, size_t n,
                                                         struct fnet_writer *w);

/* ---- from buffers to files in one pass --------------------------------------------------- */

/** A record from this length on is better written from where it lies than copied. */
#define FNET_LONG_RECORD_BYTES (16u << 10)

/**
 * What fnet_record_deserializer_next() and fnet_delimiter_frame() do, in one pass over the bytes:
 * append up to MAX records that lie whole at the head of D's buffer to W in CONFIG's framing. Stops
 * at a record that is cut, has no room, is as long as FNET_LONG_RECORD_BYTES or has another length
 * than FIXED asks, and at one that is none: next() tells about it. May write rubbish behind W's
 * cursor.
 *
 * Returns how many records were appended.
 * Cost:   O(bytes); fastest with FNET_SHORT_RECORD_BYTES more room than is needed.
 */
FNET_API size_t fnet_record_deserializer_frame(struct fnet_record_deserializer *d,
                                               const struct fnet_delimiter_config *config,
                                               size_t max, struct fnet_writer *w);

#endif
