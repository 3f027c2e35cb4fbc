/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: in every dialect an event that was decoded and encoded decodes to the same event,
 * and its fields are the bytes they came from.
 */
#include <stdlib.h>

#include "fnet/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* The bytes of EVENT, owned by caller. */
static struct fnet_span encode(const struct fnet_dialect *dialect, const struct fnet_event *event)
{
    size_t len = fnet_event_encoded_bytes(dialect, event);
    uint8_t *bytes = malloc(len);
    require(bytes != NULL);
    struct fnet_writer w = fnet_writer_of(bytes, len);

    require(fnet_event_encode(dialect, event, &w) == FNET_OK);
    require(w.pos == w.end);
    return fnet_span_of(bytes, len);
}

static void try_dialect(const struct fnet_dialect *dialect, const uint8_t *data, size_t size)
{
    struct fnet_event event;

    if (fnet_event_decode(dialect, fnet_span_of(data, size), &event) != FNET_OK)
        return;
    require(fnet_event_type_name(event.type) != NULL);
    require(fnet_data_type_is_known((uint8_t)fnet_event_data_type(&event)));

    struct fnet_span once = encode(dialect, &event);
    /* All but padding came from the input: where both have bytes they are the same, or padding. */
    size_t common = size < once.len ? size : once.len;
    while (common > 0 && once.ptr[common - 1] == 0)
        common--;
    require(memcmp(once.ptr, data, common) == 0);

    struct fnet_event back;
    require(fnet_event_decode(dialect, once, &back) == FNET_OK);
    require(back.type == event.type);
    struct fnet_span twice = encode(dialect, &back);
    require(once.len == twice.len && memcmp(once.ptr, twice.ptr, once.len) == 0);
    free((void *)(uintptr_t)once.ptr);
    free((void *)(uintptr_t)twice.ptr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fnet_dialect *dialect;

    for (size_t i = 0; (dialect = fnet_dialect_at(i)); i++)
        try_dialect(dialect, data, size);
    return 0;
}
