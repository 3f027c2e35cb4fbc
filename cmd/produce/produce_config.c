/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command line says as a whole: defaults, and what no single option can see.
 */
#include "produce/produce_config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "produce/source.h"

/* Memory of an unbounded (pipelined) partition unless told: Flink's least network memory. */
#define UNBOUNDED_BYTES (UINT64_C(64) << 20)

#define DEFAULT_TIMEOUT_NS (100 * UINT64_C(1000000))
#define DEFAULT_IDLE_NS (60 * UINT64_C(1000000000))

void produce_config_init(struct produce_config *config)
{
    *config = (struct produce_config){
        .process.report = {.program = "fnet-produce", .most = REPORT_NOTE},
        .type = FNET_PIPELINED_BOUNDED,
        .subpartitions = 1,
        .selector = FNET_SELECTOR_CONFIG_INIT,
        .format = FNET_DELIMITER_CONFIG_INIT,
        .serde = FNET_SERDE_INIT,
        .timeout_ns = DEFAULT_TIMEOUT_NS,
        .segment_bytes = FNET_SEGMENT_BYTES,
        .buffers_per_channel = FNET_BUFFERS_PER_CHANNEL,
        .floating_buffers = FNET_FLOATING_BUFFERS,
        .max_buffers_per_channel = FNET_MAX_BUFFERS_PER_CHANNEL,
        .ready_fd = -1,
        .wait_ns = UINT64_MAX,
        .idle_timeout_ns = DEFAULT_IDLE_NS,
    };
}

void produce_config_clear(struct produce_config *config)
{
    for (size_t i = 0; i < config->operand_count; i++)
        free((void *)(uintptr_t)config->operands[i].name);
    free(config->operands);
    free(config->listens);
}

/* ---- the whole --------------------------------------------------------------------------- */

static bool check_operands(struct produce_config *config)
{
    size_t from_stdin = 0;

    for (size_t i = 0; i < config->operand_count; i++) {
        from_stdin += strcmp(config->operands[i].file, "-") == 0;
        for (size_t j = 0; j < i; j++) {
            if (!fnet_partition_id_is_equal(&config->operands[i].id, &config->operands[j].id))
                continue;
            options_mistake(&produce_options, "%s: given twice", config->operands[i].name);
            return false;
        }
    }
    if (from_stdin > 1) {
        options_mistake(&produce_options, "only one partition can be read from standard input");
        return false;
    }
    return true;
}

static bool check_selector(struct produce_config *config)
{
    const struct fnet_selector_config *s = &config->selector;
    const bool has_key = s->kind == FNET_SELECTOR_HASH || s->kind == FNET_SELECTOR_INDEX;

    config->selector.channels = config->subpartitions;
    if (s->kind == FNET_SELECTOR_FORWARD && config->subpartitions != 1) {
        options_mistake(&produce_options, "--selector: forward has one subpartition, not %" PRIu32,
                        config->subpartitions);
        return false;
    }
    if (s->key.range_count > 1 && s->kind == FNET_SELECTOR_INDEX) {
        options_mistake(&produce_options, "--key: index takes its number from one range of fields");
        return false;
    }
    if (s->key.range_count > 1 && s->key.separator > 0x7f) {
        options_mistake(&produce_options,
                        "--field-separator: several key fields need an ASCII separator");
        return false;
    }
    if (config->format.format == FNET_FORMAT_BYTES && has_key) {
        options_mistake(&produce_options, "--format: bytes has no records to take a key from");
        return false;
    }
    if (s->kind == FNET_SELECTOR_HASH && s->max_parallelism != 0 &&
        s->max_parallelism < config->subpartitions) {
        options_mistake(&produce_options,
                        "--max-parallelism: %" PRIu32 " key groups are too few for %" PRIu32
                        " subpartitions",
                        s->max_parallelism, config->subpartitions);
        return false;
    }
    return true;
}

/* What the key is in Flink: the value, or one field of a tuple, however its range is written; all
   else is as a String. */
static enum fnet_value_type key_type(const struct fnet_serde *serde, const struct fnet_key *key)
{
    const uint32_t fields = (uint32_t)serde->field_count;
    const uint32_t first = key->range_count ? key->ranges[0].first : 1;
    uint32_t last = key->range_count ? key->ranges[0].last : FNET_FIELD_LAST;

    last = last < fields ? last : fields;
    if (key->range_count > 1 || first != last || serde->fields[first - 1] == FNET_VALUE_BYTES)
        return FNET_VALUE_STRING;
    return serde->fields[first - 1];
}

static bool check_serde(struct produce_config *config)
{
    struct fnet_selector_config *selector = &config->selector;

    config->serde.separator = selector->key.separator;
    selector->key_type = key_type(&config->serde, &selector->key);
    if (config->format.format == FNET_FORMAT_BYTES && !fnet_serde_is_raw(&config->serde)) {
        options_mistake(&produce_options, "--format: bytes has no records that --serde could read");
        return false;
    }
    return true;
}

void produce_config_buffers(const struct produce_config *config, uint32_t *required, uint32_t *max,
                            uint64_t *total)
{
    fnet_partition_buffers(config->type, config->subpartitions, config->buffers_per_channel,
                           config->floating_buffers, required, max);
    if (config->memory > 0)
        *total = config->memory / config->segment_bytes;
    else if (config->type == FNET_PIPELINED)
        *total = *required * config->operand_count + UNBOUNDED_BYTES / config->segment_bytes;
    else
        *total = (uint64_t)*max * config->operand_count;
}

static bool check_memory(const struct produce_config *config)
{
    uint32_t required;
    uint32_t max;
    uint64_t total;

    produce_config_buffers(config, &required, &max, &total);
    const uint64_t needed = (uint64_t)required * config->operand_count;
    if (total < needed) {
        options_mistake(&produce_options,
                        "--memory: room for %" PRIu64 " buffers of %" PRIu32 " bytes, at least "
                        "%" PRIu64 " are needed (subpartitions + 1 for each partition): %" PRIu64
                        " bytes",
                        total, config->segment_bytes, needed, needed * config->segment_bytes);
        return false;
    }
    if (total > UINT32_MAX) {
        options_mistake(&produce_options, "--memory: more than 2^32 buffers");
        return false;
    }
    return true;
}

bool produce_config_complete(struct produce_config *config)
{
    const char *why = NULL;

    if (config->operand_count == 0 && produce_take_operand(config, "main", &why) != FNET_OK) {
        options_mistake(&produce_options, "%s", why);
        return false;
    }
    if (config->listen_count == 0 &&
        produce_set_listen(config, "127.0.0.1:6121", &why) != FNET_OK) {
        options_mistake(&produce_options, "%s", why);
        return false;
    }
    if (config->format.format == FNET_FORMAT_BYTES)
        config->format.record_bytes = config->segment_bytes - FNET_RECORD_HEADER_BYTES;
    return check_operands(config) && check_selector(config) && check_serde(config) &&
           check_memory(config);
}
