/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would be done, in words, and whether it may be.
 */
#include "consume/consume_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/format.h"

static int check_addresses(const struct consume_operand *operand)
{
    struct fnet_address *addresses;
    size_t count;
    const char *why;
    int status = EXIT_DONE;

    if (fnet_endpoint_resolve(&operand->endpoint, false, &addresses, &count, &why) != FNET_OK)
        return EXIT_DONE;
    for (size_t i = 0; status == EXIT_DONE && i < count; i++) {
        if (fnet_address_is_loopback(&addresses[i]))
            continue;
        options_mistake(&consume_options,
                        "%s: on another host, and everybody between could read everything: "
                        "--plaintext allows it",
                        operand->server);
        status = EXIT_USAGE;
    }
    free(addresses);
    return status;
}

int plan_check_addresses(const struct consume_config *config)
{
    if (config->process.is_plaintext)
        return EXIT_DONE;
    for (size_t g = 0; g < config->group_count; g++) {
        for (size_t i = 0; i < config->groups[g].operand_count; i++) {
            int status = check_addresses(&config->groups[g].operands[i]);
            if (status != EXIT_DONE)
                return status;
        }
    }
    return EXIT_DONE;
}

static void print_operand(const struct consume_operand *operand)
{
    char id[FNET_PARTITION_ID_TEXT_BYTES];
    struct fnet_address *addresses;
    size_t count;
    const char *why;

    fnet_partition_id_format(&operand->id, id);
    printf("  partition: %s of %s, id %s, subpartitions", operand->name, operand->server, id);
    if (!operand->subpartitions)
        printf(" all");
    for (size_t i = 0; operand->subpartitions && i < operand->subpartition_count; i++)
        printf("%c%" PRIu32, i > 0 ? ',' : ' ', operand->subpartitions[i]);
    printf("\n  address:");
    if (fnet_endpoint_resolve(&operand->endpoint, false, &addresses, &count, &why) != FNET_OK) {
        printf(" %s\n", why);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        char text[FNET_ADDRESS_TEXT_BYTES];
        fnet_address_format(&addresses[i], text);
        printf(" %s", text);
    }
    printf("\n");
    free(addresses);
}

int plan_print(const struct consume_config *config)
{
    for (size_t g = 0; g < config->group_count; g++) {
        const struct consume_group *group = &config->groups[g];
        char format[FORMAT_TEXT_BYTES];
        char serde[FNET_SERDE_TEXT_BYTES];
        format_describe(&group->format, format);
        fnet_serde_format(&group->serde, serde);
        printf("gate %zu: to %s\n", g + 1, group->output ? group->output : "standard output");
        printf("  format: %s%s\n", format, group->has_tag ? ", tagged" : "");
        printf("  serde: %s\n", serde);
        printf("  buffers: %" PRIu32 " for each channel, %" PRIu32 " floating, of %" PRIu32
               " bytes\n",
               group->buffers_per_channel, group->floating_buffers, config->segment_bytes);
        if (group->codec != FNET_CODEC_LZ4)
            printf("  codec: %s\n", fnet_codec_name(group->codec));
        if (group->dialect != fnet_dialect_newest())
            printf("  dialect: of Flink %s\n", group->dialect->versions);
        if (group->limit != UINT64_MAX)
            printf("  limit: %" PRIu64 " records\n", group->limit);
        for (size_t i = 0; i < group->operand_count; i++)
            print_operand(&group->operands[i]);
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_DONE : EXIT_LOCAL;
}
