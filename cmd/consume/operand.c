/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HOST[:PORT][/NAME[:SUBS]] and unix:PATH/NAME[:SUBS], taken apart.
 */
#include "consume/operand.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fnet/partition.h"

#define DEFAULT_NAME "main"

void operand_clear(struct consume_operand *operand)
{
    free(operand->server);
    free(operand->name);
    free(operand->subpartitions);
    *operand = (struct consume_operand){.server = NULL};
}

static bool is_socket(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

static bool is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A path has slashes of its own: the last one ends it, unless all of it is a socket, or nothing
 * would be left of it. */
static const char *find_slash(const char *text)
{
    if (strncmp(text, "unix:", 5) != 0)
        return strchr(text, '/');
    const char *last = strrchr(text + 5, '/');
    return is_socket(text + 5) || last == text + 5 ? NULL : last;
}

static enum fnet_err scan_number(const char **at, uint32_t *out)
{
    uint32_t value = 0;
    const char *from = *at;

    while (**at >= '0' && **at <= '9' && value < FNET_SUBPARTITIONS_MAX)
        value = value * 10 + (uint32_t)(*(*at)++ - '0');
    if (*at == from || value >= FNET_SUBPARTITIONS_MAX)
        return FNET_INVALID;
    *out = value;
    return FNET_OK;
}

static enum fnet_err add_range(struct consume_operand *operand, bool *seen, uint32_t first,
                               uint32_t last, const char **why)
{
    size_t n = last - first + 1;
    uint32_t *grown =
        reallocarray(operand->subpartitions, operand->subpartition_count + n, sizeof *grown);

    if (!grown) {
        *why = "out of memory";
        return FNET_NOMEM;
    }
    operand->subpartitions = grown;
    for (uint32_t s = first; s <= last; s++) {
        if (seen[s]) {
            *why = "a subpartition is given twice";
            return FNET_INVALID;
        }
        seen[s] = true;
        grown[operand->subpartition_count++] = s;
    }
    return FNET_OK;
}

/* 0-3,7 */
static enum fnet_err parse_subpartitions(const char *text, struct consume_operand *operand,
                                         const char **why)
{
    bool seen[FNET_SUBPARTITIONS_MAX] = {false};
    const char *at = text;

    for (;;) {
        uint32_t first;
        if (scan_number(&at, &first) != FNET_OK)
            break;
        uint32_t last = first;
        if (*at == '-') {
            at++;
            if (scan_number(&at, &last) != FNET_OK || last < first)
                break;
        }
        enum fnet_err err = add_range(operand, seen, first, last, why);
        if (err != FNET_OK || *at == '\0')
            return err;
        if (*at++ != ',')
            break;
    }
    *why = "subpartitions are numbers and ranges below 32768, as in 0-3,7";
    return FNET_INVALID;
}

static enum fnet_err parse_partition(const char *text, struct consume_operand *operand,
                                     const char **why)
{
    const char *colon = strrchr(text, ':');

    operand->has_name = true;
    operand->name = colon ? strndup(text, (size_t)(colon - text)) : strdup(text);
    if (!operand->name) {
        *why = "out of memory";
        return FNET_NOMEM;
    }
    if (fnet_partition_id_parse(operand->name, &operand->id) != FNET_OK) {
        *why = "not a partition name ([A-Za-z0-9._-]+) or Flink result partition id";
        return FNET_INVALID;
    }
    if (colon)
        return parse_subpartitions(colon + 1, operand, why);
    if (strchr(operand->name, '@') == NULL)
        return FNET_OK;
    *why = "a Flink partition does not tell how many subpartitions it has: name them, as in :0-3";
    return FNET_INVALID;
}

static enum fnet_err parse(const char *text, struct consume_operand *operand, const char **why)
{
    const char *slash = find_slash(text);

    operand->server = slash ? strndup(text, (size_t)(slash - text)) : strdup(text);
    if (!operand->server) {
        *why = "out of memory";
        return FNET_NOMEM;
    }
    enum fnet_err err = fnet_endpoint_parse(operand->server, &operand->endpoint, why);
    if (err != FNET_OK)
        return err;
    if (operand->endpoint.is_unix && is_directory(operand->endpoint.path)) {
        *why = "a directory, not a socket: the partition's name is missing behind it";
        return FNET_INVALID;
    }
    if (!operand->endpoint.is_unix && operand->endpoint.port == 0) {
        *why = "port 0 cannot be connected to";
        return FNET_INVALID;
    }
    if (slash)
        return parse_partition(slash + 1, operand, why);
    operand->name = strdup(DEFAULT_NAME);
    if (!operand->name) {
        *why = "out of memory";
        return FNET_NOMEM;
    }
    return fnet_partition_id_from_name(DEFAULT_NAME, &operand->id);
}

enum fnet_err operand_parse(const char *text, struct consume_operand *out, const char **why)
{
    struct consume_operand operand = {.server = NULL};
    enum fnet_err err = parse(text, &operand, why);

    if (err == FNET_OK)
        *out = operand;
    else
        operand_clear(&operand);
    return err;
}
