/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consume: where records go, a batch at a time. Several gates may share one sink.
 */
#ifndef CONSUME_SINK_H
#define CONSUME_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "fnet/io.h"
#include "fnet/record.h"

struct sink;

/** How a gate's records look in the output. */
struct sink_style {
    struct fnet_delimiter_config format;
    const char *tag; /**< in front of each record, a tab behind it; NULL: none */
};

struct sink_config {
    struct fnet_loop *loop;
    int fd; /**< owned; standard output is not closed */
    /** Bytes were written out, or the output failed: the users may try again. */
    void (*drained)(void *arg);
    void *arg;
};

/** Errors: FNET_NOMEM, FNET_SYSTEM (errno is set). OUT is owned by caller. */
FNET_CHECKED enum fnet_err sink_new(const struct sink_config *config, struct sink **out);
/**
 * Close and free; what is buffered is lost. Safe on NULL.
 *
 * Errors: FNET_SYSTEM  the file reported an error only now; errno is set.
 */
FNET_CHECKED enum fnet_err sink_close(struct sink *sink);

/**
 * Append records, whole ones only but for the last, which may be under way.
 *
 * @param done  how many are in; set also with FNET_AGAIN.
 *
 * After FNET_AGAIN call again with the records from *done on, the first of them unchanged, and with
 * nothing of another gate's in between: sink_owner() tells whose turn it is.
 *
 * Errors: FNET_AGAIN   the output is full.
 *         FNET_RANGE   a record does not have the length of the fixed format.
 *         FNET_SYSTEM  the output failed; see sink_errno().
 */
FNET_CHECKED enum fnet_err sink_append(struct sink *sink, const struct sink_style *style,
                                       const struct fnet_span *records, size_t n, size_t *done);
/**
 * Let whole records be framed straight into the buffer: into W, whose bytes sink_commit() appends.
 *
 * @param w  borrowed until the next call on SINK; it has a good deal of room.
 *
 * Errors: FNET_STATE   a record is under way, which sink_append() has to end first.
 *         FNET_AGAIN   the output is full.
 *         FNET_SYSTEM  the output failed; see sink_errno().
 */
FNET_CHECKED enum fnet_err sink_begin(struct sink *sink, struct fnet_writer *w);
void sink_commit(struct sink *sink, const struct fnet_writer *w);

/** Is a record of STYLE's under way, or of nobody? Otherwise STYLE's gate has to wait. */
bool sink_is_free_for(const struct sink *sink, const struct sink_style *style);

/** Write out what is buffered. Errors: FNET_AGAIN, FNET_SYSTEM. */
FNET_CHECKED enum fnet_err sink_flush(struct sink *sink);

/** Output bytes appended, and written out, so far. */
uint64_t sink_appended(const struct sink *sink);
uint64_t sink_written(const struct sink *sink);

/** Has the output failed, or its reader gone away? */
bool sink_is_broken(const struct sink *sink);
/** Why; EPIPE for a reader that went away. */
int sink_errno(const struct sink *sink);

#endif
