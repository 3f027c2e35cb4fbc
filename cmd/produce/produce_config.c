/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of fnet-produce.
 */
#include "produce/produce_config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/units.h"
#include "produce/source.h"

/* Memory of an unbounded (pipelined) partition unless told: Flink's least network memory. */
#define UNBOUNDED_BYTES (UINT64_C(64) << 20)

#define DEFAULT_TIMEOUT_NS (100 * UINT64_C(1000000))
#define DEFAULT_IDLE_NS (60 * UINT64_C(1000000000))

void produce_config_init(struct produce_config *config)
{
    *config = (struct produce_config){
        .report = {.program = "fnet-produce", .most = REPORT_NOTE},
        .type = FNET_PIPELINED_BOUNDED,
        .subpartitions = 1,
        .selector = FNET_SELECTOR_CONFIG_INIT,
        .format = FNET_DELIMITER_CONFIG_INIT,
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

/* ---- setters ----------------------------------------------------------------------------- */

static enum fnet_err set_listen(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;
    struct fnet_endpoint endpoint;
    enum fnet_err err = fnet_endpoint_parse(text, &endpoint, why);

    if (err != FNET_OK)
        return err;
    struct fnet_endpoint *grown =
        reallocarray(config->listens, config->listen_count + 1, sizeof *grown);
    if (!grown) {
        *why = "out of memory";
        return FNET_NOMEM;
    }
    grown[config->listen_count++] = endpoint;
    config->listens = grown;
    return FNET_OK;
}

static enum fnet_err set_u32(uint32_t *out, const char *text, uint32_t min, uint32_t max,
                             const char **why)
{
    uint64_t value;
    enum fnet_err err = units_parse_number(text, min, max, &value, why);

    if (err == FNET_OK)
        *out = (uint32_t)value;
    return err;
}

static enum fnet_err set_subpartitions(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return set_u32(&config->subpartitions, text, 1, FNET_SUBPARTITIONS_MAX, why);
}

/* NAME, or shuffle:SEED. */
static enum fnet_err set_selector(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;
    const char *colon = strchr(text, ':');
    char name[16] = "";
    size_t len = colon ? (size_t)(colon - text) : strlen(text);

    if (len < sizeof name)
        memcpy(name, text, len);
    if (fnet_selector_kind_parse(name, &config->selector.kind) != FNET_OK) {
        *why = "not rebalance, hash, broadcast, shuffle[:SEED], global, forward, rescale or index";
        return FNET_INVALID;
    }
    config->selector.has_seed = colon != NULL;
    if (!colon)
        return FNET_OK;
    if (config->selector.kind != FNET_SELECTOR_SHUFFLE) {
        *why = "only shuffle takes a seed";
        return FNET_INVALID;
    }
    return units_parse_number(colon + 1, 0, UINT64_MAX, &config->selector.seed, why);
}

static enum fnet_err set_key(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;
    enum fnet_err err = fnet_key_parse(text, &config->selector.key);

    if (err == FNET_INVALID)
        *why = "not a list of fields: N, N-M, N- or -M, divided by commas";
    else if (err != FNET_OK)
        *why = "too many ranges, or too large a number";
    return err;
}

static enum fnet_err set_separator(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return units_parse_char(text, &config->selector.key.separator, why);
}

static enum fnet_err set_max_parallelism(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return set_u32(&config->selector.max_parallelism, text, 1, FNET_MAX_PARALLELISM, why);
}

static enum fnet_err set_format(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return format_parse(text, &config->format, why);
}

static enum fnet_err set_nul(void *arg, const char *text, const char **why)
{
    (void)text;
    return set_format(arg, "nul", why);
}

static enum fnet_err set_delimiter(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return format_parse_delimiter(text, &config->format, why);
}

static enum fnet_err set_type(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    if (strcmp(text, "pipelined") == 0)
        config->type = FNET_PIPELINED;
    else if (strcmp(text, "pipelined-bounded") == 0)
        config->type = FNET_PIPELINED_BOUNDED;
    else {
        *why = "not pipelined or pipelined-bounded";
        return FNET_INVALID;
    }
    return FNET_OK;
}

static enum fnet_err set_timeout(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    if (strcmp(text, "none") == 0) {
        config->timeout_ns = SOURCE_TIMEOUT_NONE;
        return FNET_OK;
    }
    return units_parse_duration(text, &config->timeout_ns, why);
}

static enum fnet_err set_segment_size(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;
    uint64_t bytes;
    enum fnet_err err =
        units_parse_size(text, FNET_SEGMENT_MIN_BYTES, FNET_SEGMENT_MAX_BYTES, &bytes, why);

    if (err == FNET_OK)
        config->segment_bytes = (uint32_t)bytes;
    return err;
}

static enum fnet_err set_buffers(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return set_u32(&config->buffers_per_channel, text, 0, 65536, why);
}

static enum fnet_err set_floating(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return set_u32(&config->floating_buffers, text, 0, 1u << 20, why);
}

static enum fnet_err set_max_buffers(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return set_u32(&config->max_buffers_per_channel, text, 1, 1u << 20, why);
}

static enum fnet_err set_memory(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return units_parse_size(text, 1, UINT64_C(1) << 46, &config->memory, why);
}

static enum fnet_err set_port_file(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    (void)why;
    config->port_file = text;
    return FNET_OK;
}

static enum fnet_err set_ready_fd(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;
    uint64_t fd;
    enum fnet_err err = units_parse_number(text, 0, INT32_MAX, &fd, why);

    if (err == FNET_OK && fcntl((int)fd, F_GETFD) < 0) {
        *why = "not an open file descriptor";
        err = FNET_INVALID;
    }
    if (err == FNET_OK)
        config->ready_fd = (int)fd;
    return err;
}

static enum fnet_err set_wait(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return units_parse_duration(text, &config->wait_ns, why);
}

static enum fnet_err set_idle_timeout(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return units_parse_duration(text, &config->idle_timeout_ns, why);
}

static enum fnet_err set_plaintext(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    (void)text;
    (void)why;
    config->is_plaintext = true;
    return FNET_OK;
}

static enum fnet_err set_trace(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    (void)why;
    config->trace_file = text;
    return FNET_OK;
}

static enum fnet_err set_progress(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return telemetry_set_progress(&config->telemetry, text, why);
}

static enum fnet_err set_stats(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    (void)why;
    config->telemetry.stats_file = text;
    return FNET_OK;
}

static enum fnet_err set_stats_interval(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return telemetry_set_interval(&config->telemetry, text, why);
}

static enum fnet_err set_digest(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    (void)text;
    (void)why;
    config->wants_digest = true;
    return FNET_OK;
}

static enum fnet_err set_dry_run(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    (void)text;
    (void)why;
    config->is_dry_run = true;
    return FNET_OK;
}

static enum fnet_err set_quiet(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    (void)text;
    (void)why;
    report_quieter(&config->report);
    return FNET_OK;
}

static enum fnet_err set_verbose(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    (void)text;
    (void)why;
    report_louder(&config->report);
    return FNET_OK;
}

static enum fnet_err take_operand(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;
    const char *equals = strchr(text, '=');
    struct produce_operand operand = {.file = equals ? equals + 1 : "-"};
    char *name = equals ? strndup(text, (size_t)(equals - text)) : strdup(text);
    struct produce_operand *grown =
        reallocarray(config->operands, config->operand_count + 1, sizeof *grown);

    if (grown)
        config->operands = grown;
    if (!name || !grown) {
        free(name);
        *why = "out of memory";
        return FNET_NOMEM;
    }
    enum fnet_err err = fnet_partition_id_parse(name, &operand.id);
    if (err == FNET_OK && *operand.file == '\0') {
        *why = "the file's name is missing";
        err = FNET_INVALID;
    } else if (err != FNET_OK) {
        *why = "not a partition name ([A-Za-z0-9._-]+) or Flink result partition id";
    }
    if (err != FNET_OK) {
        free(name);
        return err;
    }
    operand.name = name;
    config->operands[config->operand_count++] = operand;
    return FNET_OK;
}

static const struct options_entry entries[] = {
    {"listen", 'l', "ADDR", false,
     "listen on PORT, HOST:PORT, [V6]:PORT or unix:PATH; may be\n"
     "repeated; port 0 picks one (127.0.0.1:6121)",
     set_listen},
    {"subpartitions", 'n', "N", false, "subpartitions of each partition (1)", set_subpartitions},
    {"selector", 's', "S", false,
     "which subpartition a record goes to: rebalance (default),\n"
     "hash, broadcast, shuffle[:SEED], global, forward, rescale,\n"
     "index",
     set_selector},
    {"key", 'k', "LIST", false, "the key's fields, as in cut -f (whole record)", set_key},
    {"field-separator", 't', "C", false, "what stands between fields (\\t)", set_separator},
    {"max-parallelism", 0, "N", false, "key groups for hash (by Flink's rule)",
     set_max_parallelism},
    {"format", 'f', "F", false, "input: lines (default), nul, fixed:N, u32, bytes", set_format},
    {NULL, 'z', NULL, false, "the same as -f nul", set_nul},
    {"delimiter", 'd', "C", false, "lines end in C: a byte, \\t, \\0 or \\xNN (\\n)",
     set_delimiter},
    {"type", 'T', "T", false, "pipelined or pipelined-bounded (default)", set_type},
    {"buffer-timeout", 0, "D", false,
     "flush at the latest after D; 0: every record; none: only\n"
     "full buffers (100ms)",
     set_timeout},
    {"segment-size", 0, "S", false, "bytes of a network buffer (32k)", set_segment_size},
    {"buffers-per-channel", 'b', "N", false, "exclusive buffers of a subpartition (2)",
     set_buffers},
    {"floating-buffers", 0, "N", false, "buffers shared by a partition's subpartitions (8)",
     set_floating},
    {"max-buffers-per-channel", 0, "N", false, "most buffers of one subpartition (10)",
     set_max_buffers},
    {"memory", 0, "S", false, "memory for all buffers (as the formula needs)", set_memory},
    {"ready-fd", 0, "N", false, "write the bound addresses to descriptor N", set_ready_fd},
    {"port-file", 0, "FILE", false, "write the bound addresses to FILE", set_port_file},
    {"wait", 0, "D", false,
     "how long to wait for consumers after the input ended (no\n"
     "limit)",
     set_wait},
    {"idle-timeout", 0, "D", false,
     "a consumer silent and unreachable for D is lost; 0: never\n"
     "(60s)",
     set_idle_timeout},
    {"plaintext", 0, NULL, false, "allow addresses beyond this host, unencrypted", set_plaintext},
    {"trace", 0, "FILE", false, "write every frame to FILE, for fnet-inspect", set_trace},
    {"progress", 0, "WHEN", true, "show progress: auto (default), always, never", set_progress},
    {"stats", 0, "FILE", false, "write statistics to FILE, JSON lines", set_stats},
    {"stats-interval", 0, "D", false, "how often (only on USR2 and at the end)",
     set_stats_interval},
    {"digest", 0, NULL, false, "print count and hash of each subpartition's records", set_digest},
    {"dry-run", 0, NULL, false, "print what would be done, and stop", set_dry_run},
    {"quiet", 'q', NULL, false, "say errors only", set_quiet},
    {"verbose", 'v', NULL, false, "say more", set_verbose},
};

const struct options_table produce_options = {
    .program = "fnet-produce",
    .synopsis = "[OPTION]... [NAME[=FILE]]...",
    .purpose = "Read records and serve them, split into subpartitions, to fnet-consume or Flink.",
    .notes =
        "NAME is a result partition ([A-Za-z0-9._-]+, or an id as Flink logs it), read from\n"
        "FILE or standard input; without operands there is one called main. Sizes take k M G,\n"
        "durations ms s m h.",
    .entries = entries,
    .count = sizeof entries / sizeof *entries,
    .operand = take_operand,
};

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

    if (config->operand_count == 0 && take_operand(config, "main", &why) != FNET_OK) {
        options_mistake(&produce_options, "%s", why);
        return false;
    }
    if (config->listen_count == 0 && set_listen(config, "127.0.0.1:6121", &why) != FNET_OK) {
        options_mistake(&produce_options, "%s", why);
        return false;
    }
    if (config->format.format == FNET_FORMAT_BYTES)
        config->format.record_bytes = config->segment_bytes - FNET_RECORD_HEADER_BYTES;
    return check_operands(config) && check_selector(config) && check_memory(config);
}
