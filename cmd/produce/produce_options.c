/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of fnet-produce.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compression.h"
#include "cli/format.h"
#include "cli/serde.h"
#include "cli/units.h"
#include "produce/produce_config.h"
#include "produce/source.h"

/* More would be a mistake: a million buffers of one channel, 64 TiB of memory. */
#define BUFFERS_MAX (1u << 20)
#define MEMORY_MAX (UINT64_C(1) << 46)

/* VERSION@ in front of ADDR, if there is one; *ADDRESS is what follows. */
static enum fnet_err scan_version(const char *text, const struct fnet_dialect **dialect,
                                  const char **address, const char **why)
{
    const size_t len = strspn(text, "0123456789.");
    char version[16] = "";

    *address = text;
    if (len == 0 || text[len] != '@')
        return FNET_OK;
    if (len < sizeof version)
        memcpy(version, text, len);
    *address = text + len + 1;
    enum fnet_err err = fnet_dialect_parse(version, dialect);
    if (err != FNET_OK)
        *why = "in front of @ stands no version of Flink from 1.5 to 2.4, as in 1.20 or 1.11.3";
    return err;
}

enum fnet_err produce_set_listen(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;
    struct produce_listen listen = {.assumed = NULL};
    const char *address;
    enum fnet_err err = scan_version(text, &listen.assumed, &address, why);

    if (err == FNET_OK)
        err = fnet_endpoint_parse(address, &listen.endpoint, why);
    if (err != FNET_OK)
        return err;
    struct produce_listen *grown =
        reallocarray(config->listens, config->listen_count + 1, sizeof *grown);
    if (!grown) {
        *why = "out of memory";
        return FNET_NOMEM;
    }
    grown[config->listen_count++] = listen;
    config->listens = grown;
    return FNET_OK;
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

static enum fnet_err set_serde(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return serde_parse(text, &config->serde, why);
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

static enum fnet_err set_compress(void *arg, const char *text, const char **why)
{
    struct produce_config *config = arg;

    return compression_parse(text, &config->codec, why);
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

enum fnet_err produce_take_operand(void *arg, const char *text, const char **why)
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

#define AT(member) offsetof(struct produce_config, member)

static const struct options_entry entries[] = {
    {.name = "listen",
     .letter = 'l',
     .argument = "ADDR",
     .help = "listen on PORT, HOST:PORT, [V6]:PORT or unix:PATH; may be\n"
             "repeated; port 0 picks one (127.0.0.1:6121); V@ADDR for\n"
             "consumers that are Flink V where requests leave it open",
     .set = produce_set_listen},
    {.name = "subpartitions",
     .letter = 'n',
     .argument = "N",
     .help = "subpartitions of each partition (1)",
     .value = OPTIONS_NUMBER,
     .offset = AT(subpartitions),
     .min = 1,
     .max = FNET_SUBPARTITIONS_MAX},
    {.name = "selector",
     .letter = 's',
     .argument = "S",
     .help = "which subpartition a record goes to: rebalance (default),\n"
             "hash, broadcast, shuffle[:SEED], global, forward, rescale,\n"
             "index",
     .set = set_selector},
    {.name = "key",
     .letter = 'k',
     .argument = "LIST",
     .help = "the key's fields, as in cut -f (whole record)",
     .set = set_key},
    {.name = "field-separator",
     .letter = 't',
     .argument = "C",
     .help = "what stands between fields (\\t)",
     .set = set_separator},
    {.name = "max-parallelism",
     .argument = "N",
     .help = "key groups for hash (by Flink's rule)",
     .value = OPTIONS_NUMBER,
     .offset = AT(selector.max_parallelism),
     .min = 1,
     .max = FNET_MAX_PARALLELISM},
    {.name = "format",
     .letter = 'f',
     .argument = "F",
     .help = "input: lines (default), nul, fixed:N, u32, bytes",
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
    {.name = "type",
     .letter = 'T',
     .argument = "T",
     .help = "pipelined or pipelined-bounded (default)",
     .set = set_type},
    {.name = "buffer-timeout",
     .argument = "D",
     .help = "flush at the latest after D; 0: every record; none: only\n"
             "full buffers (100ms)",
     .set = set_timeout},
    {.name = "segment-size",
     .argument = "S",
     .help = "bytes of a network buffer (32k)",
     .value = OPTIONS_SIZE,
     .offset = AT(segment_bytes),
     .min = FNET_SEGMENT_MIN_BYTES,
     .max = FNET_SEGMENT_MAX_BYTES},
    {.name = "buffers-per-channel",
     .letter = 'b',
     .argument = "N",
     .help = "exclusive buffers of a subpartition (2)",
     .value = OPTIONS_NUMBER,
     .offset = AT(buffers_per_channel),
     .min = 0,
     .max = BUFFERS_MAX},
    {.name = "floating-buffers",
     .argument = "N",
     .help = "buffers shared by a partition's subpartitions (8)",
     .value = OPTIONS_NUMBER,
     .offset = AT(floating_buffers),
     .min = 0,
     .max = BUFFERS_MAX},
    {.name = "max-buffers-per-channel",
     .argument = "N",
     .help = "most buffers of one subpartition (10)",
     .value = OPTIONS_NUMBER,
     .offset = AT(max_buffers_per_channel),
     .min = 1,
     .max = BUFFERS_MAX},
    {.name = "memory",
     .argument = "S",
     .help = "memory for all buffers (as the formula needs)",
     .value = OPTIONS_SIZE64,
     .offset = AT(memory),
     .min = 1,
     .max = MEMORY_MAX},
    {.name = "compress",
     .argument = "C",
     .help = "compress buffers that get smaller by it: lz4, zstd or, where\n"
             "fnet was built with it, lzo",
     .set = set_compress},
    {.name = "ready-fd",
     .argument = "N",
     .help = "write the bound addresses to descriptor N",
     .set = set_ready_fd},
    {.name = "port-file",
     .argument = "FILE",
     .help = "write the bound addresses to FILE",
     .value = OPTIONS_TEXT,
     .offset = AT(port_file)},
    {.name = "wait",
     .argument = "D",
     .help = "how long to wait for consumers after the input ended (no\n"
             "limit)",
     .value = OPTIONS_DURATION,
     .offset = AT(wait_ns)},
    {.name = "idle-timeout",
     .argument = "D",
     .help = "a consumer silent and unreachable for D is lost; 0: never\n"
             "(60s)",
     .value = OPTIONS_DURATION,
     .offset = AT(idle_timeout_ns)},
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
    .shared = process_options,
    .shared_count = PROCESS_OPTIONS,
    .shared_offset = AT(process),
    .operand = produce_take_operand,
};
