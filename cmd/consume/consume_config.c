/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of fnet-consume.
 */
#include "consume/consume_config.h"

#include <stdlib.h>
#include <string.h>

#include "cli/compression.h"
#include "cli/format.h"
#include "cli/serde.h"
#include "cli/units.h"
#include "consume/operand.h"
#include "fnet/buffer.h"
#include "fnet/connection.h"
#include "fnet/wire.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)

/* More would be a mistake. */
#define BUFFERS_MAX (1u << 20)
#define CONNECTIONS_MAX 1024

static const struct consume_group group_defaults = {
    .format = FNET_DELIMITER_CONFIG_INIT,
    .serde = FNET_SERDE_INIT,
    .limit = UINT64_MAX,
    .buffers_per_channel = FNET_BUFFERS_PER_CHANNEL,
    .floating_buffers = FNET_FLOATING_BUFFERS,
    .codec = FNET_CODEC_LZ4,
};

static void clear_group(struct consume_group *group)
{
    for (size_t i = 0; i < group->operand_count; i++)
        operand_clear(&group->operands[i]);
    free(group->operands);
}

void consume_config_clear(struct consume_config *config)
{
    for (size_t g = 0; g < config->group_count; g++)
        clear_group(&config->groups[g]);
    clear_group(&config->current);
    free(config->groups);
}

/* ---- setters: of a gate ------------------------------------------------------------------ */

static enum fnet_err set_format(void *arg, const char *text, const char **why)
{
    return format_parse(text, &((struct consume_config *)arg)->current.format, why);
}

static enum fnet_err set_nul(void *arg, const char *text, const char **why)
{
    (void)text;
    return set_format(arg, "nul", why);
}

static enum fnet_err set_delimiter(void *arg, const char *text, const char **why)
{
    return format_parse_delimiter(text, &((struct consume_config *)arg)->current.format, why);
}

static enum fnet_err set_serde(void *arg, const char *text, const char **why)
{
    return serde_parse(text, &((struct consume_config *)arg)->current.serde, why);
}

static enum fnet_err set_separator(void *arg, const char *text, const char **why)
{
    return units_parse_char(text, &((struct consume_config *)arg)->current.serde.separator, why);
}

static enum fnet_err set_dialect(void *arg, const char *text, const char **why)
{
    enum fnet_err err = fnet_dialect_parse(text, &((struct consume_config *)arg)->current.dialect);

    if (err != FNET_OK)
        *why = "not a version of Flink from 1.5 to 2.4, as in 1.17 or 1.11.3";
    return err;
}

static enum fnet_err set_codec(void *arg, const char *text, const char **why)
{
    return compression_parse(text, &((struct consume_config *)arg)->current.codec, why);
}

static enum fnet_err take_operand(void *arg, const char *text, const char **why)
{
    struct consume_group *group = &((struct consume_config *)arg)->current;
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

static enum fnet_err set_retry(void *arg, const char *text, const char **why)
{
    struct consume_config *config = arg;

    if (strcmp(text, "forever") == 0) {
        config->retries = FNET_RETRY_FOREVER;
        return FNET_OK;
    }
    uint64_t retries;
    enum fnet_err err = units_parse_number(text, 0, FNET_RETRY_FOREVER - 1, &retries, why);
    if (err == FNET_OK)
        config->retries = (uint32_t)retries;
    return err;
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

#define AT(member) offsetof(struct consume_config, member)

static const struct options_entry entries[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "where this gate's records go (standard output)",
     .value = OPTIONS_TEXT,
     .offset = AT(current.output)},
    {.name = "format",
     .letter = 'f',
     .argument = "F",
     .help = "output: lines (default), nul, fixed:N, u32, bytes",
     .set = set_format},
    {.letter = 'z', .help = "the same as -f nul", .set = set_nul},
    {.name = "delimiter",
     .letter = 'd',
     .argument = "C",
     .help = "lines end in C: a byte, \\t, \\0 or \\xNN (\\n)",
     .set = set_delimiter},
    {.name = "serde",
     .argument = "S",
     .help = "raw (default), or the records are the text of Flink's\n"
             "string, long, int, bytes or tuple(TYPE,...)",
     .set = set_serde},
    {.name = "field-separator",
     .letter = 't',
     .argument = "C",
     .help = "what stands between the fields of a tuple (\\t)",
     .set = set_separator},
    {.name = "tag",
     .help = "put NAME:SUB and a tab before each record",
     .value = OPTIONS_FLAG,
     .offset = AT(current.has_tag)},
    {.name = "limit",
     .argument = "N",
     .help = "stop after N records",
     .value = OPTIONS_NUMBER64,
     .offset = AT(current.limit),
     .min = 0,
     .max = UINT64_MAX - 1},
    {.name = "buffers-per-channel",
     .letter = 'b',
     .argument = "N",
     .help = "exclusive buffers of a channel, also 0 (2)",
     .value = OPTIONS_NUMBER,
     .offset = AT(current.buffers_per_channel),
     .min = 0,
     .max = BUFFERS_MAX},
    {.name = "floating-buffers",
     .argument = "N",
     .help = "buffers shared by the gate's channels (8)",
     .value = OPTIONS_NUMBER,
     .offset = AT(current.floating_buffers),
     .min = 0,
     .max = BUFFERS_MAX},
    {.name = "dialect",
     .argument = "V",
     .help = "speak as Flink V does, 1.5 to 2.4 (2.3); before 2.0 the\n"
             "endpoints must name their subpartitions",
     .set = set_dialect},
    {.name = "codec",
     .argument = "C",
     .help = "what compressed buffers are compressed with, where the\n"
             "producer is not asked: lz4, zstd, which is recognised too,\n"
             "or, where fnet was built with it, lzo (lz4)",
     .set = set_codec},
    {.name = "next", .help = "what follows is another gate", .value = OPTIONS_END_GROUP},
    {.name = "connect-timeout",
     .argument = "D",
     .help = "how long an address may take to answer (10s)",
     .value = OPTIONS_DURATION,
     .offset = AT(connect_timeout_ns),
     .min = 1},
    {.name = "retry",
     .argument = "N",
     .help = "try N times more to connect, or forever (0)",
     .set = set_retry},
    {.name = "request-backoff",
     .argument = "MIN:MAX",
     .help = "wait before asking again for a partition that is not\n"
             "there, doubling; give up after MAX (100ms:10s)",
     .set = set_backoff},
    {.name = "idle-timeout",
     .argument = "D",
     .help = "a producer silent and unreachable for D is lost; 0: never\n"
             "(60s)",
     .value = OPTIONS_DURATION,
     .offset = AT(idle_timeout_ns)},
    {.name = "max-connections",
     .argument = "N",
     .help = "connections to each producer (1)",
     .value = OPTIONS_NUMBER,
     .offset = AT(max_connections),
     .min = 1,
     .max = CONNECTIONS_MAX},
    {.name = "segment-size",
     .argument = "S",
     .help = "bytes of a network buffer, as the producer's (32k)",
     .value = OPTIONS_SIZE,
     .offset = AT(segment_bytes),
     .min = FNET_SEGMENT_MIN_BYTES,
     .max = FNET_SEGMENT_MAX_BYTES},
    {.name = "list",
     .help = "print what the producers serve, and stop",
     .value = OPTIONS_FLAG,
     .offset = AT(wants_list)},
};

const struct options_table consume_options = {
    .program = "fnet-consume",
    .synopsis = "[OPTION]... ENDPOINT... [--next [OPTION]... ENDPOINT...]",
    .purpose = "Receive subpartitions from fnet-produce or Flink and write their records.",
    .notes =
        "ENDPOINT is HOST[:PORT][/NAME[:SUBS]] or unix:PATH/NAME[:SUBS]; SUBS like 0-3,7, by\n"
        "default all that the partition NAME (main) has. Each group of options and endpoints\n"
        "is one input gate; --output, --format, --serde, --tag, --limit, --dialect, --codec\n"
        "and the numbers of buffers are a gate's, all others hold for the process. Sizes take\n"
        "k M G, durations ms s m h.",
    .entries = entries,
    .count = sizeof entries / sizeof *entries,
    .shared = process_options,
    .shared_count = PROCESS_OPTIONS,
    .shared_offset = AT(process),
    .operand = take_operand,
};

/* ---- the whole --------------------------------------------------------------------------- */

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
    return true;
}

/* In an old dialect nothing can be asked, and before 1.14 nobody says that buffers wait. */
static bool check_dialect(const struct consume_config *config, const struct consume_group *group)
{
    if (group->dialect == fnet_dialect_newest())
        return true;
    if (config->wants_list) {
        options_mistake(&consume_options,
                        "--list: Flink %s has no such question, leave --dialect out",
                        group->dialect->versions);
        return false;
    }
    for (size_t i = 0; i < group->operand_count; i++) {
        const struct consume_operand *operand = &group->operands[i];
        if (operand->subpartitions)
            continue;
        options_mistake(&consume_options,
                        "%s: in the dialect of Flink %s nobody tells how many subpartitions there "
                        "are: name them, as in %s/%s:0-3",
                        operand->server, group->dialect->versions, operand->server, operand->name);
        return false;
    }
    if (group->buffers_per_channel == 0 &&
        !fnet_dialect_has_message(group->dialect, FNET_BACKLOG_ANNOUNCEMENT)) {
        options_mistake(&consume_options,
                        "--buffers-per-channel: in the dialect of Flink %s a channel needs one",
                        group->dialect->versions);
        return false;
    }
    return true;
}

/* The group that was read joins the others; the next one begins with the defaults. */
static enum fnet_err end_group(struct consume_config *config)
{
    struct consume_group *grown =
        reallocarray(config->groups, config->group_count + 1, sizeof *grown);

    if (!grown)
        return FNET_NOMEM;
    config->groups = grown;
    if (!config->current.dialect)
        config->current.dialect = fnet_dialect_newest();
    grown[config->group_count++] = config->current;
    config->current = group_defaults;
    return FNET_OK;
}

enum options_result consume_config_parse(struct consume_config *config, int argc, char *argv[])
{
    *config = (struct consume_config){
        .process.report = {.program = "fnet-consume", .most = REPORT_NOTE},
        .current = group_defaults,
        .connect_timeout_ns = 10 * S,
        .backoff_min_ns = 100 * MS,
        .backoff_max_ns = 10 * S,
        .idle_timeout_ns = 60 * S,
        .max_connections = 1,
        .segment_bytes = FNET_SEGMENT_BYTES,
    };
    for (int used = 0, group_end; used < argc; used += group_end) {
        enum options_result result =
            options_parse(&consume_options, config, argc - used, argv + used, &group_end);
        if (result != OPTIONS_RUN)
            return result;
        if (end_group(config) != FNET_OK) {
            options_mistake(&consume_options, "out of memory");
            return OPTIONS_MISTAKE;
        }
    }
    for (size_t g = 0; g < config->group_count; g++)
        if (!check_group(config, g) || !check_dialect(config, &config->groups[g]))
            return OPTIONS_MISTAKE;
    return OPTIONS_RUN;
}
