/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consume: what the command line says.
 */
#ifndef CONSUME_CONFIG_H
#define CONSUME_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/process.h"
#include "fnet/compress.h"
#include "fnet/dialect.h"
#include "fnet/id.h"
#include "fnet/io.h"
#include "fnet/record.h"
#include "fnet/value.h"

/** An operand HOST[:PORT][/NAME[:SUBS]] or unix:PATH/NAME[:SUBS]. */
struct consume_operand {
    char *server; /**< owned: the text in front of the name */
    char *name;   /**< owned: of the partition; "main" unless given */
    bool has_name;
    struct fnet_endpoint endpoint; /**< of SERVER */
    struct fnet_partition_id id;
    uint32_t *subpartitions; /**< owned; NULL: all that there are */
    size_t subpartition_count;
};

/** One input gate, between --next and --next. */
struct consume_group {
    struct consume_operand *operands; /**< owned */
    size_t operand_count;
    const char *output; /**< NULL or "-": standard output */
    struct fnet_delimiter_config format;
    struct fnet_serde serde;
    bool has_tag;
    uint64_t limit; /**< UINT64_MAX: none */
    uint32_t buffers_per_channel;
    uint32_t floating_buffers;
    enum fnet_codec codec;
    const struct fnet_dialect *dialect; /**< while it is being read NULL: the newest */
};

struct consume_config {
    struct process_config process;
    struct consume_group current; /**< of parsing: the group that is being read */
    struct consume_group *groups; /**< owned */
    size_t group_count;
    uint64_t connect_timeout_ns;
    uint32_t retries;
    uint64_t backoff_min_ns; /**< 0: a request is not repeated */
    uint64_t backoff_max_ns;
    uint64_t idle_timeout_ns; /**< 0: as the system does */
    uint32_t max_connections; /**< per peer */
    uint32_t segment_bytes;
    bool wants_list;
};

extern const struct options_table consume_options;

/**
 * Read the whole command line, all groups. Afterwards consume_config_clear(), whatever the result;
 * a mistake was said on standard error.
 */
enum options_result consume_config_parse(struct consume_config *config, int argc, char *argv[]);
void consume_config_clear(struct consume_config *config);

#endif
