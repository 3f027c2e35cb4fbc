/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data types: numbers, names, and what follows from them.
 */
#include "fnet/data_type.h"

#include <stddef.h>

#include "../tap.h"

static const struct {
    const char *name; /* at its ordinal */
    bool is_buffer;
    bool blocks;
} types[] = {
    {NULL, false, false},
    {"DATA_BUFFER", true, false},
    {"EVENT_BUFFER", false, false},
    {"PRIORITIZED_EVENT_BUFFER", false, false},
    {"ALIGNED_CHECKPOINT_BARRIER", false, true},
    {"TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER", false, true},
    {"RECOVERY_COMPLETION", false, true},
    {"END_OF_SEGMENT", false, false},
    {"DATA_BUFFER_WITH_CLEAR_END", true, false},
    {"END_OF_DATA", false, false},
    {"END_OF_PARTITION", false, false},
    {"RECOVERY_METADATA", false, false},
    {"ALIGNED_WATERMARK_EVENT", false, true},
    {"UNALIGNED_WATERMARK_EVENT", false, false},
};

int main(void)
{
    CASE("each type has the ordinal, name and nature that Flink gives it");
    for (size_t i = 1; i < sizeof types / sizeof *types; i++) {
        uint8_t type = (uint8_t)i;
        CHECK(fnet_data_type_is_known(type));
        CHECK_STR(fnet_data_type_name(type), types[i].name);
        CHECK_INT(fnet_data_type_is_buffer(type), types[i].is_buffer);
        CHECK_INT(fnet_data_type_blocks_upstream(type), types[i].blocks);
    }

    CASE("no other byte is a type");
    for (unsigned type = 0; type <= UINT8_MAX; type++)
        if (type == 0 || type >= sizeof types / sizeof *types) {
            CHECK(!fnet_data_type_is_known((uint8_t)type));
            CHECK(fnet_data_type_name((uint8_t)type) == NULL);
            CHECK(!fnet_data_type_is_buffer((uint8_t)type));
            CHECK(!fnet_data_type_blocks_upstream((uint8_t)type));
        }
    return tap_done();
}
