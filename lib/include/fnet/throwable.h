/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire: the Java throwable in an ErrorResponse, out of its object stream and into one. Reading
 * executes nothing, trusts no length, needs no heap, and takes time in proportion to the stream.
 *
 * Source: Java Object Serialization Specification, chapter 6 (protocol version 2);
 * java.lang.Throwable, StackTraceElement; Flink SerializedThrowable.
 */
#ifndef FNET_THROWABLE_H
#define FNET_THROWABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/bytes.h"
#include "fnet/err.h"

/**
 * Most bytes of each text taken out of or put into a throwable, with NUL. Of a longer one that is
 * taken out the beginning is followed by "... (N more bytes)"; one that is put in is cut.
 */
#define FNET_THROWABLE_TEXT_BYTES 1024
/** Most throwables of a chain that are kept: the outermost seven, and the root cause. */
#define FNET_THROWABLE_CHAIN_MAX 8
/** Most stack lines of each that are kept, the innermost calls. */
#define FNET_THROWABLE_STACK_MAX 64
/** Room that fnet_throwable_encode() never exceeds. */
#define FNET_THROWABLE_ENCODED_MAX_BYTES 2560
/** Class of the error that answers a request for a partition that does not exist. */
#define FNET_PARTITION_NOT_FOUND_CLASS                                                             \
    "org.apache.flink.runtime.io.network.partition.PartitionNotFoundException"

/** What an error says, as NUL-terminated UTF-8; all but the name of its class may be empty. */
struct fnet_throwable {
    char class_name[FNET_THROWABLE_TEXT_BYTES];
    char message[FNET_THROWABLE_TEXT_BYTES];
    /** Of Flink's SerializedThrowable: the class of the throwable that it stands for. */
    char original_class[FNET_THROWABLE_TEXT_BYTES];
};

/** The strings of a stack line, in the order in which it shows them. */
enum fnet_stack_text {
    FNET_STACK_LOADER,
    FNET_STACK_MODULE,
    FNET_STACK_MODULE_VERSION,
    FNET_STACK_CLASS,
    FNET_STACK_METHOD,
    FNET_STACK_FILE,
};
#define FNET_STACK_TEXTS 6

/** A stack line; fnet_throwable_chain_line() makes a text of it. */
struct fnet_stack_line {
    uint32_t handle;                  /**< of its element in the stream; 0: not known */
    uint32_t texts[FNET_STACK_TEXTS]; /**< where they begin in the stream; 0: null, not known */
    int32_t number;                   /**< in the file; < 0: none, -2: a native method */
    uint8_t format;                   /**< flags: what of the texts is not shown */
};

/** A throwable of a chain; its texts are modified UTF-8, borrowed from the stream. */
struct fnet_chained_throwable {
    struct fnet_span class_name;
    struct fnet_span message;
    struct fnet_span original_class;
    uint32_t line_count; /**< of LINES, the innermost call first */
    uint32_t lines_more; /**< that are not among them */
    struct fnet_stack_line lines[FNET_THROWABLE_STACK_MAX];
};

/** A throwable and its causes, some 20 KiB. Suppressed throwables are not among them. */
struct fnet_throwable_chain {
    struct fnet_span stream; /**< borrowed */
    /**
     * FNET_OK; else the stream was not followed to its end, and what stands behind is not known:
     * FNET_TRUNCATED  it ends before that.
     * FNET_BAD_VALUE  it breaks the grammar, nests deeper or names more classes than any real one,
     *                 or holds what only its own classes can read.
     */
    enum fnet_err end;
    size_t count;    /**< 1 to FNET_THROWABLE_CHAIN_MAX; each is caused by the next */
    size_t left_out; /**< causes between the last two */
    struct fnet_chained_throwable throwables[FNET_THROWABLE_CHAIN_MAX];
};

/**
 * Read the throwable in a Java object stream, with its causes and their stack lines.
 *
 * Shape:  a cause that is the throwable itself, or one that it caused, is none. A string, stack
 *         line or cause that the stream only refers to is not known when it lies beyond the first
 *         1024 strings, the lines that are kept or the chain; class and message of those that are
 *         kept are always found.
 * Errors: FNET_BAD_VALUE  STREAM does not begin with an object and the name of its class.
 *         FNET_TRUNCATED  it ends before that name does.
 * Cost:   O(length of STREAM), no allocation, 20 KiB of stack.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_throwable_chain_decode(struct fnet_span stream,
                                                                struct fnet_throwable_chain *out);

/**
 * The texts of throwable I < CHAIN->count. What UTF-8 or a C string cannot hold becomes U+FFFD.
 */
FNET_API void fnet_throwable_chain_get(const struct fnet_throwable_chain *chain, size_t i,
                                       struct fnet_throwable *out);

/**
 * Stack line LINE < line_count of throwable I < CHAIN->count as Java writes it, as in
 * "java.base/java.lang.Thread.run(Thread.java:840)". A class or method that is not known is "?".
 *
 * Source: java.lang.StackTraceElement.toString.
 */
FNET_API void fnet_throwable_chain_line(const struct fnet_throwable_chain *chain, size_t i,
                                        size_t line, char out[static FNET_THROWABLE_TEXT_BYTES]);

/**
 * Find the texts of the outermost throwable in a Java object stream, for who needs no more.
 *
 * Errors: as fnet_throwable_chain_decode(). A message that cannot be found is left empty instead.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_throwable_decode(struct fnet_span stream,
                                                          struct fnet_throwable *out);

/**
 * Append a Throwable that Java's ObjectInputStream reads: a PartitionNotFoundException (MESSAGE is
 * its detail, its partition id is null, and that is what Flink up to 1.8 says) when NOT_FOUND, else
 * a java.io.IOException. No stack trace, no cause.
 *
 * @param message  UTF-8; a byte that is none becomes '?'.
 *
 * Errors: FNET_RANGE  no room; FNET_THROWABLE_ENCODED_MAX_BYTES always suffice.
 */
FNET_API FNET_CHECKED enum fnet_err fnet_throwable_encode(bool not_found, const char *message,
                                                          struct fnet_writer *w);

#endif
