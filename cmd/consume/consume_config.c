/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of fnet-consume.
 */
#include "consume/consume_config.h"

#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/units.h"
#include "consume/operand.h"
#include "fnet/buffer.h"
#include "fnet/connection.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)

static const struct consume_group group_defaults = {
    .format = FNET_DELIMITER_CONFIG_INIT,
    .limit = UINT64_MAX,
    .buffers_per_channel = FNET_BUFFERS_PER_CHANNEL,
    .floating_buffers = FNET_FLOATING_BUFFERS,
};

static struct consume_group *current(struct consume_config *config)
{
    return &config->groups[config->group_count - 1];
}

void consume_config_clear(struct consume_config *config)
{
    for (size_t g = 0; g < config->group_count; g++) {
        for (size_t i = 0; i < config->groups[g].operand_count; i++)
            operand_clear(&config->groups[g].operands[i]);
        free(config->groups[g].operands);
    }
    free(config->groups);
}

/* ---- setters: of a gate ------------------------------------------------------------------ */

static enum fnet_err set_output(void *arg, const char *text, const char **why)
{
    (void)why;
    current(arg)->output = text;
    return FNET_OK;
}

static enum fnet_err set_format(void *arg, const char *text, const char **why)
{
    return format_parse(text, &current(arg)->format, why);
}

static enum fnet_err set_nul(void *arg, const char *text, const char **why)
{
    (void)text;
    return set_format(arg, "nul", why);
}

static enum fnet_err set_delimiter(void *arg, const char *text, const char **why)
{
    return format_parse_delimiter(text, &current(arg)->format, why);
}

static enum fnet_err set_tag(void *arg, const char *text, const char **why)
{
    (void)text;
    (void)why;
    current(arg)->has_tag = true;
    return FNET_OK;
}

static enum fnet_err set_limit(void *arg, const char *text, const char **why)
{
    return units_parse_number(text, 0, UINT64_MAX - 1, &current(arg)->limit, why);
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

static enum fnet_err set_buffers(void *arg, const char *text, const char **why)
{
    return set_u32(&current(arg)->buffers_per_channel, text, 0, 65536, why);
}

static enum fnet_err set_floating(void *arg, const char *text, const char **why)
{
    return set_u32(&current(arg)->floating_buffers, text, 0, 1u << 20, why);
}

static enum fnet_err take_operand(void *arg, const char *text, const char **why)
{
    struct consume_group *group = current(arg);
    struct consume_operand *grown =
        reallocarray(group->operands, group->operand_count + 1, sizeof *grown);

    if (!grown) {
        *why = "out of memory";
        return FNET_NOMEM;
    }
    group->operands = grown;
    enum fnet_err err = operand_parse(text, &grown[group->operand_count], why);
    if (err == FNET_OK)
        group->operand_count++;
    return err;
}

/* ---- setters: of the process -------------------------------------------------------------- */

static enum fnet_err set_connect_timeout(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;
    uint64_t ns;
    enum fnet_err err = units_parse_duration(text, &ns, why);

    if (err == FNET_OK && ns == 0) {
        *why = "no time at all";
        err = FNET_RANGE;
    }
    if (err == FNET_OK)
        config->connect_timeout_ns = ns;
    return err;
}

static enum fnet_err set_retry(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    if (strcmp(text, "forever") == 0) {
        config->retries = FNET_RETRY_FOREVER;
        return FNET_OK;
    }
    return set_u32(&config->retries, text, 0, FNET_RETRY_FOREVER - 1, why);
}

/* MIN:MAX */
static enum fnet_err set_backoff(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;
    const char *colon = strchr(text, ':');
    char min[32] = "";
    uint64_t min_ns;
    uint64_t max_ns;

    if (!colon || (size_t)(colon - text) >= sizeof min) {
        *why = "not MIN:MAX";
        return FNET_INVALID;
    }
    memcpy(min, text, (size_t)(colon - text));
    enum fnet_err err = units_parse_duration(min, &min_ns, why);
    if (err == FNET_OK)
        err = units_parse_duration(colon + 1, &max_ns, why);
    if (err == FNET_OK && max_ns < min_ns) {
        *why = "MAX is less than MIN";
        err = FNET_RANGE;
    }
    if (err != FNET_OK)
        return err;
    config->backoff_min_ns = min_ns;
    config->backoff_max_ns = max_ns;
    return FNET_OK;
}

static enum fnet_err set_idle_timeout(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    return units_parse_duration(text, &config->idle_timeout_ns, why);
}

static enum fnet_err set_max_connections(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    return set_u32(&config->max_connections, text, 1, 1024, why);
}

static enum fnet_err set_segment_size(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;
    uint64_t bytes;
    enum fnet_err err =
        units_parse_size(text, FNET_SEGMENT_MIN_BYTES, FNET_SEGMENT_MAX_BYTES, &bytes, why);

    if (err == FNET_OK)
        config->segment_bytes = (uint32_t)bytes;
    return err;
}

static enum fnet_err set_plaintext(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    (void)text;
    (void)why;
    config->is_plaintext = true;
    return FNET_OK;
}

static enum fnet_err set_list(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    (void)text;
    (void)why;
    config->wants_list = true;
    return FNET_OK;
}

static enum fnet_err set_trace(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    (void)why;
    config->trace_file = text;
    return FNET_OK;
}

static enum fnet_err set_progress(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    return telemetry_set_progress(&config->telemetry, text, why);
}

static enum fnet_err set_stats(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    (void)why;
    config->telemetry.stats_file = text;
    return FNET_OK;
}

static enum fnet_err set_stats_interval(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    return telemetry_set_interval(&config->telemetry, text, why);
}

static enum fnet_err set_digest(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    (void)text;
    (void)why;
    config->wants_digest = true;
    return FNET_OK;
}

static enum fnet_err set_dry_run(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    (void)text;
    (void)why;
    config->is_dry_run = true;
    return FNET_OK;
}

static enum fnet_err set_quiet(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    (void)text;
    (void)why;
    report_quieter(&config->report);
    return FNET_OK;
}

static enum fnet_err set_verbose(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    (void)text;
    (void)why;
    report_louder(&config->report);
    return FNET_OK;
}

static const struct options_entry entries[] = {
    {"output", 'o', "FILE", false, "where this gate's records go (standard output)", set_output},
    {"format", 'f', "F", false, "output: lines (default), nul, fixed:N, u32, bytes", set_format},
    {NULL, 'z', NULL, false, "the same as -f nul", set_nul},
    {"delimiter", 'd', "C", false, "lines end in C: a byte, \\t, \\0 or \\xNN (\\n)",
     set_delimiter},
    {"tag", 0, NULL, false, "put NAME:SUB and a tab before each record", set_tag},
    {"limit", 0, "N", false, "stop after N records", set_limit},
    {"buffers-per-channel", 'b', "N", false, "exclusive buffers of a channel, also 0 (2)",
     set_buffers},
    {"floating-buffers", 0, "N", false, "buffers shared by the gate's channels (8)", set_floating},
    {"next", 0, NULL, false, "what follows is another gate", NULL},
    {"connect-timeout", 0, "D", false, "how long an address may take to answer (10s)",
     set_connect_timeout},
    {"retry", 0, "N", false, "try N times more to connect, or forever (0)", set_retry},
    {"request-backoff", 0, "MIN:MAX", false,
     "wait before asking again for a partition that is not\n"
     "there, doubling; give up after MAX (100ms:10s)",
     set_backoff},
    {"idle-timeout", 0, "D", false,
     "a producer silent and unreachable for D is lost; 0: never\n"
     "(60s)",
     set_idle_timeout},
    {"max-connections", 0, "N", false, "connections to each producer (1)", set_max_connections},
    {"segment-size", 0, "S", false, "bytes of a network buffer, as the producer's (32k)",
     set_segment_size},
    {"plaintext", 0, NULL, false, "allow addresses beyond this host, unencrypted", set_plaintext},
    {"list", 0, NULL, false, "print what the producers serve, and stop", set_list},
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

const struct options_table consume_options = {
    .program = "fnet-consume",
    .synopsis = "[OPTION]... ENDPOINT... [--next [OPTION]... ENDPOINT...]",
    .purpose = "Receive subpartitions from fnet-produce or Flink and write their records.",
    .notes =
        "ENDPOINT is HOST[:PORT][/NAME[:SUBS]] or unix:PATH/NAME[:SUBS]; SUBS like 0-3,7, by\n"
        "default all that the partition NAME (main) has. Each group of options and endpoints\n"
        "is one input gate; --output, --format, --tag, --limit and the numbers of buffers are\n"
        "a gate's, all others hold for the process. Sizes take k M G, durations ms s m h.",
    .entries = entries,
    .count = sizeof entries / sizeof *entries,
    .operand = take_operand,
};

/* ---- the whole --------------------------------------------------------------------------- */

static bool is_stdout(const struct consume_group *group)
{
    return !group->output || strcmp(group->output, "-") == 0;
}

static bool check_group(const struct consume_config *config, size_t g)
{
    const struct consume_group *group = &config->groups[g];

    if (group->operand_count == 0) {
        options_mistake(&consume_options, "no endpoint is given%s",
                        config->group_count > 1 ? " for one of the gates" : "");
        return false;
    }
    if (group->buffers_per_channel == 0 && group->floating_buffers == 0) {
        options_mistake(&consume_options,
                        "--floating-buffers: with 0 exclusive buffers there must be some");
        return false;
    }
    if (group->has_tag &&
        (group->format.format == FNET_FORMAT_BYTES || group->format.format == FNET_FORMAT_FIXED)) {
        options_mistake(&consume_options, "--tag: %s records cannot carry one",
                        group->format.format == FNET_FORMAT_BYTES ? "bytes" : "fixed");
        return false;
    }
    for (size_t other = 0; other < g; other++) {
        if (is_stdout(group) || is_stdout(&config->groups[other]) ||
            strcmp(group->output, config->groups[other].output) != 0)
            continue;
        options_mistake(&consume_options, "--output: %s is given for two gates", group->output);
        return false;
    }
    return true;
}

static enum fnet_err begin_group(struct consume_config *config)
{
    struct consume_group *grown =
        reallocarray(config->groups, config->group_count + 1, sizeof *grown);

    if (!grown)
        return FNET_NOMEM;
    config->groups = grown;
    grown[config->group_count++] = group_defaults;
    return FNET_OK;
}

enum options_result consume_config_parse(struct consume_config *config, int argc, char *argv[])
{
    *config = (struct consume_config){
        .report = {.program = "fnet-consume", .most = REPORT_NOTE},
        .connect_timeout_ns = 10 * S,
        .backoff_min_ns = 100 * MS,
        .backoff_max_ns = 10 * S,
        .idle_timeout_ns = 60 * S,
        .max_connections = 1,
        .segment_bytes = FNET_SEGMENT_BYTES,
    };
    int used = 0;
    do {
        int group_end;
        if (begin_group(config) != FNET_OK) {
            options_mistake(&consume_options, "out of memory");
            return OPTIONS_MISTAKE;
        }
        enum options_result result =
            options_parse(&consume_options, config, argc - used, argv + used, &group_end);
        if (result != OPTIONS_RUN)
            return result;
        used += group_end;
    } while (used < argc);

    for (size_t g = 0; g < config->group_count; g++)
        if (!check_group(config, g))
            return OPTIONS_MISTAKE;
    return OPTIONS_RUN;
}
