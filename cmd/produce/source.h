/* SPDX-License-Identifier: Apache-2.0 */
/*
 * produce: one input on its way into one result partition.
 */
#ifndef PRODUCE_SOURCE_H
#define PRODUCE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "fnet/digest.h"
#include "fnet/io.h"
#include "fnet/partition.h"
#include "fnet/record.h"
#include "fnet/selector.h"
#include "fnet/stream.h"
#include "fnet/value.h"

/** No output flusher: only full buffers are sent. */
#define SOURCE_TIMEOUT_NONE UINT64_MAX

struct source;

struct source_config {
    struct fnet_loop *loop;
    struct fnet_local_pool *pool; /**< borrowed, of the partition; its bell becomes the source's */
    struct fnet_partition *partition; /**< borrowed */
    int fd;                           /**< owned; standard input is not closed */
    const char *spill_dir;            /**< where a record of more than 5 MiB is assembled */
    struct fnet_delimiter_config format;
    struct fnet_serde serde; /**< of what goes into the partition */
    struct fnet_selector_config selector;
    uint64_t timeout_ns; /**< of buffers: 0 flushes every batch, SOURCE_TIMEOUT_NONE never */
    bool wants_digest;
    /** The input has ended and is in the partition, or ERR with what was being done. */
    void (*ended)(void *arg, struct source *source, enum fnet_err err, const char *what,
                  int saved_errno);
    void *arg;
};

/** Make a source; it begins to read with the loop. Errors: FNET_NOMEM, FNET_RANGE, FNET_SYSTEM. */
FNET_CHECKED enum fnet_err source_new(const struct source_config *config, struct source **out);
/** Read and write nothing more; what was counted stays. */
void source_stop(struct source *source);
void source_free(struct source *source);

struct fnet_partition *source_partition(const struct source *source);
uint64_t source_records(const struct source *source);
uint64_t source_bytes(const struct source *source);
/** One per subpartition; NULL without wants_digest. */
const struct fnet_digest *source_digests(const struct source *source);

#endif
