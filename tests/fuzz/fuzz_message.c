/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: in every dialect what is decoded is encoded to the very same bytes, no byte behind
 * the message matters, and any less of it is not enough.
 */
#include <stdlib.h>

#include "fnet/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void require_same_bytes(const struct fnet_dialect *dialect, const struct fnet_message *m,
                               struct fnet_span frame)
{
    uint8_t *out = malloc(frame.len);
    require(out != NULL);
    struct fnet_writer w = fnet_writer_of(out, frame.len);

    require(fnet_message_encoded_bytes(dialect, m) == frame.len);
    require(fnet_message_encode(dialect, m, &w) == FNET_OK);
    require(w.pos == w.end);
    require(memcmp(out, frame.ptr, frame.len) == 0);
    free(out);
}

static void try_dialect(const struct fnet_dialect *dialect, const uint8_t *data, size_t size)
{
    struct fnet_message m;
    size_t used = 0;
    enum fnet_err err = fnet_message_decode(dialect, fnet_span_of(data, size), &used, &m);

    if (err == FNET_AGAIN)
        require(used > size && used <= FNET_MESSAGE_MAX_BYTES);
    if (err != FNET_OK)
        return;
    require(used <= size);
    require_same_bytes(dialect, &m, fnet_span_of(data, used));

    size_t again = 0;
    require(fnet_message_decode(dialect, fnet_span_of(data, used), &again, &m) == FNET_OK);
    require(again == used);
    require(fnet_message_decode(dialect, fnet_span_of(data, used - 1), &again, &m) == FNET_AGAIN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fnet_dialect *dialect;

    for (size_t i = 0; (dialect = fnet_dialect_at(i)); i++)
        try_dialect(dialect, data, size);
    return 0;
}
