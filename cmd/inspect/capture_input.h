/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: captured bytes out of files and pipes that may stall, until they end, or until nobody
 * wants to see more.
 */
#ifndef INSPECT_CAPTURE_INPUT_H
#define INSPECT_CAPTURE_INPUT_H

#include "fnet/bytes.h"
#include "fnet/io.h"

/** Where the bytes go. */
struct capture_sink {
    /** Where the next ones may be written, LEN > 0. */
    enum fnet_err (*space)(void *arg, uint8_t **ptr, size_t *len);
    /** N of them were. */
    enum fnet_err (*commit)(void *arg, size_t n);
    void *arg;
};

/** Reads one file after the other. All zero is closed. */
struct capture_input {
    struct fnet_loop *loop;
    struct fnet_watch output; /* standard output, for its reader's going away */
    struct fnet_task task;
    struct fnet_input *file; /* NULL between files */
    int signal;              /**< the SIGINT or SIGTERM that ended the reading, 0: none did */
    bool is_output_gone;     /**< the reader of standard output went away */

    const struct capture_sink *sink;
    enum fnet_err err;
};

/** Begin. SIGHUP, SIGINT and SIGTERM end the reading from now on. Errors: as backend_loop_new(). */
FNET_CHECKED enum fnet_err capture_input_open(struct capture_input *in);
void capture_input_close(struct capture_input *in); /**< safe on an all-zero one */

/**
 * Read FD into SINK, block by block, to the end, or until a signal comes or standard output has no
 * reader any more. Whenever no bytes are there standard output is flushed.
 *
 * A file is read and not mapped: another process may cut it short while it is looked at.
 *
 * Errors: FNET_NOMEM, FNET_SYSTEM (errno is set), and those of SINK.
 */
FNET_CHECKED enum fnet_err capture_input_drain(struct capture_input *in, int fd,
                                               const struct capture_sink *sink);

#endif
