/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: one file from its bytes to printed lines.
 */
#ifndef INSPECT_PIPELINE_H
#define INSPECT_PIPELINE_H

#include "inspect/printers.h"
#include "inspect/problems.h"

struct pipeline;

/** What is the same for every file. Borrowed by each pipeline. */
struct pipeline_config {
    struct print_options print;
    const struct fnet_dialect *dialect; /**< of all connections; NULL: found out */
    enum fnet_codec codec;              /**< of compressed buffers; NONE: found out */
    struct problems *problems;
    const char *spill_dir; /**< for temporary files */
    FILE *out;
};

/** Begin FILE, a borrowed name for messages. OUT is owned by caller. Errors: FNET_NOMEM. */
FNET_CHECKED enum fnet_err pipeline_new(const struct pipeline_config *config, const char *file,
                                        struct pipeline **out);
void pipeline_free(struct pipeline *p); /**< safe on NULL */

/** Where the next LEN > 0 bytes of the file may be written, up to commit. Errors: FNET_NOMEM. */
FNET_CHECKED enum fnet_err pipeline_space(struct pipeline *p, uint8_t **ptr, size_t *len);
/**
 * N bytes were written to the space: print the messages that they complete. What is wrong with them
 * is said, and is no error here.
 *
 * Errors: FNET_NOMEM, FNET_SYSTEM (errno is set).
 */
FNET_CHECKED enum fnet_err pipeline_commit(struct pipeline *p, size_t n);

/**
 * The file is at its end: print what is left, and the summary if one is wanted.
 *
 * Errors: as pipeline_commit(), and
 *         FNET_BAD_MAGIC  the file is nothing that is known; that was said as an error.
 */
FNET_CHECKED enum fnet_err pipeline_finish(struct pipeline *p);

#endif
