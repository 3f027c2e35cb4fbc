/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: captured bytes out of files and pipes that may stall, until they end, or until nobody
 * wants to see more.
 */
#ifndef INSPECT_CAPTURE_INPUT_H
#define INSPECT_CAPTURE_INPUT_H

#include "fnet/bytes.h"
#include "fnet/io.h"

#define CAPTURE_INPUT_BLOCK_BYTES (64u << 10)

/** Reads one file after the other. All zero is closed. */
struct capture_input {
    struct fnet_loop *loop;
    struct fnet_watch output; /* standard output, for its reader's going away */
    struct fnet_task task;
    struct fnet_input *file; /* NULL between files */
    int signal;              /**< the SIGINT or SIGTERM that ended the reading, 0: none did */
    bool is_output_gone;     /**< the reader of standard output went away */

    enum fnet_err (*take)(void *arg, struct fnet_span bytes);
    void *arg;
    enum fnet_err err;
    uint8_t block[CAPTURE_INPUT_BLOCK_BYTES];
};

/** Begin. SIGHUP, SIGINT and SIGTERM end the reading from now on. Errors: as backend_loop_new(). */
FNET_CHECKED enum fnet_err capture_input_open(struct capture_input *in);
void capture_input_close(struct capture_input *in); /**< safe on an all-zero one */

/**
 * Give the bytes of FD to TAKE, block by block, to the end, or until a signal comes or standard
 * output has no reader any more. Whenever no bytes are there standard output is flushed.
 *
 * Errors: FNET_NOMEM, FNET_SYSTEM (errno is set), and what TAKE returned.
 */
FNET_CHECKED enum fnet_err capture_input_drain(struct capture_input *in, int fd,
                                               enum fnet_err (*take)(void *arg,
                                                                     struct fnet_span bytes),
                                               void *arg);

#endif
