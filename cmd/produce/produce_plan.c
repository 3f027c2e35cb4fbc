/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would be done, in words.
 */
#include "produce/produce_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/format.h"
#include "cli/units.h"
#include "produce/source.h"

static void print_listens(const struct produce_config *config)
{
    for (size_t i = 0; i < config->listen_count; i++) {
        const struct produce_listen *listen = &config->listens[i];
        struct fnet_address *addresses;
        size_t count;
        const char *why;
        if (fnet_endpoint_resolve(&listen->endpoint, true, &addresses, &count, &why) != FNET_OK) {
            printf("listen: %s: %s\n", listen->endpoint.host, why);
            continue;
        }
        for (size_t j = 0; j < count; j++) {
            char text[FNET_ADDRESS_TEXT_BYTES];
            fnet_address_format(&addresses[j], text);
            printf("listen: %s%s%s%s\n", text, listen->assumed ? ", of Flink " : "",
                   listen->assumed ? listen->assumed->versions : "",
                   config->process.is_plaintext || fnet_address_is_loopback(&addresses[j])
                       ? ""
                       : " (refused without --plaintext)");
        }
        free(addresses);
    }
}

static void print_fields(const struct fnet_key *key)
{
    if (key->range_count == 0) {
        printf(", key: whole record");
        return;
    }
    printf(", key: fields ");
    for (size_t i = 0; i < key->range_count; i++) {
        const struct fnet_field_range *range = &key->ranges[i];
        printf("%s%" PRIu32, i > 0 ? "," : "", range->first);
        if (range->last == FNET_FIELD_LAST)
            printf("-");
        else if (range->last > range->first)
            printf("-%" PRIu32, range->last);
    }
    printf(" between \\x%02x", key->separator);
}

static void print_key(const struct fnet_selector_config *selector)
{
    print_fields(&selector->key);
    if (selector->kind == FNET_SELECTOR_HASH && selector->key_type != FNET_VALUE_STRING)
        printf(", %s", fnet_value_type_name(selector->key_type));
}

static void print_selector(const struct fnet_selector_config *selector)
{
    printf("selector: %s over %" PRIu32 " subpartition%s", fnet_selector_kind_name(selector->kind),
           selector->channels, selector->channels == 1 ? "" : "s");
    if (selector->kind == FNET_SELECTOR_HASH || selector->kind == FNET_SELECTOR_INDEX)
        print_key(selector);
    if (selector->kind == FNET_SELECTOR_HASH)
        printf(", key groups: %" PRIu32, selector->max_parallelism
                                             ? selector->max_parallelism
                                             : fnet_default_max_parallelism(selector->channels));
    if (selector->has_seed)
        printf(", seed: %" PRIu64, selector->seed);
    printf("\n");
}

static void print_partitions(const struct produce_config *config)
{
    for (size_t i = 0; i < config->operand_count; i++) {
        const struct produce_operand *operand = &config->operands[i];
        char id[FNET_PARTITION_ID_TEXT_BYTES];
        fnet_partition_id_format(&operand->id, id);
        printf("partition: %s, from %s, id %s\n", operand->name,
               strcmp(operand->file, "-") == 0 ? "standard input" : operand->file, id);
    }
}

static void print_buffers(const struct produce_config *config)
{
    uint32_t required;
    uint32_t max;
    uint64_t total;
    char size[UNITS_TEXT_BYTES];

    produce_config_buffers(config, &required, &max, &total);
    units_format_size(total * config->segment_bytes, size);
    printf("buffers: %" PRIu64 " of %" PRIu32 " bytes (%s), at least %" PRIu32
           " for each partition\n",
           total, config->segment_bytes, size, required);
    if (config->timeout_ns == SOURCE_TIMEOUT_NONE)
        printf("buffer timeout: none\n");
    else
        printf("buffer timeout: %.15g ms\n", (double)config->timeout_ns / 1e6);
    printf("compress: %s\n", fnet_codec_name(config->codec));
}

int plan_print(const struct produce_config *config)
{
    char format[FORMAT_TEXT_BYTES];
    char serde[FNET_SERDE_TEXT_BYTES];

    format_describe(&config->format, format);
    fnet_serde_format(&config->serde, serde);
    print_listens(config);
    print_partitions(config);
    printf("type: %s\nformat: %s\nserde: %s\n",
           config->type == FNET_PIPELINED ? "pipelined" : "pipelined-bounded", format, serde);
    print_selector(&config->selector);
    print_buffers(config);
    return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_DONE : EXIT_LOCAL;
}

uint64_t plan_expected_bytes(const int *inputs, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        struct stat st;
        if (fstat(inputs[i], &st) != 0 || !S_ISREG(st.st_mode))
            return 0;
        sum += (uint64_t)st.st_size;
    }
    return sum;
}
