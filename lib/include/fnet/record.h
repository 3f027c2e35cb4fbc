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
    const char *dir;  /**< borrowed: where the file goes; NULL: $TMPDIR is not read, /tmp */
    uint8_t *ptr;     /**< owned */
    size_t len;       /**< bytes in use, <= capacity */
    size_t capacity;
    int fd;           /**< of the file while is_spilled */
    bool is_spilled;
    int saved_errno;  /**< why FNET_SYSTEM was returned */
};

/**
 * Make room for MORE bytes behind LEN. PTR may move.
 *
 * Errors: FNET_NOMEM, FNET_SYSTEM; the contents stay as they were.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_spill_buffer_reserve(struct fnet_spill_buffer *b,
                                                              size_t more);
/** Forget the contents; give a file, and heap above 64 KiB, back. */
FNET_API void fnet_spill_buffer_reset(struct fnet_spill_buffer *b);
/** Free everything. */
FNET_API void fnet_spill_buffer_clear(struct fnet_spill_buffer *b);

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

/* ---- deserializer: buffers into records -------------------------------------------------- */

/**
 * Takes the data buffers of one channel in order and yields records. A record inside one buffer
 * is borrowed from it; one that lies across buffers is assembled in a spill buffer.
 */
struct fnet_record_deserializer {
    struct fnet_span input;           /**< borrowed rest of the current buffer */
    struct fnet_spill_buffer record;  /**< the record being assembled */
    uint8_t header[FNET_RECORD_HEADER_BYTES]; /**< a length that was cut */
    size_t header_len;                /**< bytes of it seen, 0 to 4 */
    size_t record_len;                /**< valid once header_len is 4 */
    bool is_delivered;                /**< RECORD was handed out and is dropped by the next call */
};

/** Make an empty deserializer; spill files go to SPILL_DIR (borrowed, NULL: /tmp). */
FNET_API void fnet_record_deserializer_init(struct fnet_record_deserializer *d,
                                            const char *spill_dir);
FNET_API void fnet_record_deserializer_clear(struct fnet_record_deserializer *d);

/** Take BUFFER, borrowed until next() returned FNET_AGAIN; only after it did (or at first). */
FNET_API void fnet_record_deserializer_feed(struct fnet_record_deserializer *d,
                                            struct fnet_span buffer);

/**
 * Yield up to MAX records.
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
    size_t record_bytes; /**< of FNET_FORMAT_FIXED, > 0; of FNET_FORMAT_BYTES: largest chunk */
};

#define FNET_DELIMITER_CONFIG_INIT                                                                \
    {                                                                                             \
        .format = FNET_FORMAT_LINES, .delimiter = '\n'                                            \
    }

/** Finds records in input bytes. All state is how far a long record has been searched. */
struct fnet_delimiter {
    struct fnet_delimiter_config config;
    size_t searched; /**< bytes at the head of the input known to hold no delimiter */
};

FNET_API void fnet_delimiter_init(struct fnet_delimiter *d,
                                  const struct fnet_delimiter_config *config);

/**
 * Find up to MAX complete records at the head of INPUT.
 *
 * @param is_end   no bytes will follow INPUT: its rest is the last record, though unterminated.
 * @param records  borrowed from INPUT, without delimiters and lengths.
 * @param count    how many.
 * @param used     bytes of INPUT they took, delimiters and lengths included.
 *
 * With no record found, call again with the same bytes and more behind them.
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
 */
FNET_API FNET_CHECKED enum fnet_err fnet_delimiter_frame(
    const struct fnet_delimiter_config *config, const struct fnet_span *records, size_t n,
    struct fnet_writer *w);

#endif
