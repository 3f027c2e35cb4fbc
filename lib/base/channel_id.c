/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of input channels that say what their consumer speaks.
 *
 * Source: Flink InputChannelID, which a producer takes for any 16 bytes.
 */
#include <stdlib.h>

#include "fnet/dialect.h"

static const char mark[] = {'f', 'n', 'e', 't'};

#define VERSION_BYTES 3
#define MARKED_BYTES (sizeof mark + VERSION_BYTES + 1)

/* The first bytes of the ids in DIALECT. */
static void put_mark(const struct fnet_dialect *dialect, uint8_t bytes[static MARKED_BYTES])
{
    const char *at = dialect->name;

    memset(bytes, 0, MARKED_BYTES);
    memcpy(bytes, mark, sizeof mark);
    for (size_t i = 0; i < VERSION_BYTES && *at; i++) {
        char *end;
        bytes[sizeof mark + i] = (uint8_t)strtoul(at, &end, 10);
        at = *end ? end + 1 : end;
    }
}

void fnet_channel_id_random(const struct fnet_dialect *dialect, struct fnet_id *id)
{
    fnet_id_random(id);
    put_mark(dialect, id->bytes);
}

const struct fnet_dialect *fnet_channel_id_dialect(const struct fnet_id *id)
{
    uint8_t bytes[MARKED_BYTES];

    if (memcmp(id->bytes, mark, sizeof mark) != 0)
        return NULL;
    for (size_t i = 0; fnet_dialect_at(i); i++) {
        put_mark(fnet_dialect_at(i), bytes);
        if (memcmp(id->bytes, bytes, sizeof bytes) == 0)
            return fnet_dialect_at(i);
    }
    return NULL;
}
