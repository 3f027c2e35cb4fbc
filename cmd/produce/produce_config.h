/* SPDX-License-Identifier: Apache-2.0 */
/*
 * produce: what the command line says.
 */
#ifndef PRODUCE_CONFIG_H
#define PRODUCE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/process.h"
#include "fnet/compress.h"
#include "fnet/dialect.h"
#include "fnet/id.h"
#include "fnet/io.h"
#include "fnet/partition.h"
#include "fnet/record.h"
#include "fnet/selector.h"
#include "fnet/value.h"

/** An operand NAME[=FILE]. */
struct produce_operand {
    const char *name; /**< owned */
    const char *file; /**< "-": standard input */
    struct fnet_partition_id id;
};

/** --listen [VERSION@]ADDR. */
struct produce_listen {
    struct fnet_endpoint endpoint;
    const struct fnet_dialect *assumed; /**< of the consumers that come there; NULL: the newest */
};

struct produce_config {
    struct process_config process;

    struct produce_listen *listens; /**< owned; --listen in order */
    size_t listen_count;

    struct produce_operand *operands; /**< owned */
    size_t operand_count;
    enum fnet_partition_type type;
    uint32_t subpartitions;
    struct fnet_selector_config selector;
    struct fnet_delimiter_config format;
    struct fnet_serde serde;

    uint64_t timeout_ns; /**< of buffers, as in struct source_config */
    uint32_t segment_bytes;
    uint32_t buffers_per_channel;
    uint32_t floating_buffers;
    uint32_t max_buffers_per_channel;
    uint64_t memory; /**< 0: as the formula needs */
    enum fnet_codec codec;

    const char *port_file;
    int ready_fd;             /**< -1: none */
    uint64_t wait_ns;         /**< UINT64_MAX: no limit */
    uint64_t idle_timeout_ns; /**< 0: as the system does */
};

/* ---- produce_options.c ----------------------------------------------------------------------- */

extern const struct options_table produce_options;

/* Setters whose defaults are taken by the same road; in the manner of struct options_entry. */
FNET_CHECKED enum fnet_err produce_set_listen(void *config, const char *text, const char **why);
FNET_CHECKED enum fnet_err produce_take_operand(void *config, const char *text, const char **why);

/* ---- produce_config.c ------------------------------------------------------------------------ */

/** The defaults; produce_config_clear() afterwards. */
void produce_config_init(struct produce_config *config);
void produce_config_clear(struct produce_config *config);

/**
 * Check what no single option can see, and fill in what follows from others. A mistake is said on
 * standard error.
 */
bool produce_config_complete(struct produce_config *config);

/**
 * Segments that all partitions need at least, may use at most, and have: config->memory if given.
 * REQUIRED and MAX are of one partition.
 */
void produce_config_buffers(const struct produce_config *config, uint32_t *required, uint32_t *max,
                            uint64_t *total);

#endif
