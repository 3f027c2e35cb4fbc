/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: whatever claims to be a throwable, what comes out is text; and the input as text
 * goes into a throwable and comes out the same, cut and cleaned. Input: one byte that chooses the
 * class, then a stream, or a text.
 */
#include <stdlib.h>

#include "fnet/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Is TEXT valid UTF-8, with its NUL inside the array it lies in? */
static bool is_utf8(const char text[static FNET_THROWABLE_TEXT_BYTES])
{
    const uint8_t *p = (const uint8_t *)text;

    if (!memchr(text, 0, FNET_THROWABLE_TEXT_BYTES))
        return false;
    while (*p) {
        unsigned more = *p < 0x80 ? 0 : *p < 0xC2 ? 9 : *p < 0xE0 ? 1 : *p < 0xF0 ? 2 : 3;
        uint8_t lead = *p++;
        if (more == 9 || lead > 0xF4)
            return false;
        if ((lead == 0xE0 && *p < 0xA0) || (lead == 0xED && *p > 0x9F) ||
            (lead == 0xF0 && *p < 0x90) || (lead == 0xF4 && *p > 0x8F))
            return false;
        for (; more > 0; more--)
            if ((*p++ & 0xC0) != 0x80)
                return false;
    }
    return true;
}

/* TEXT through a throwable. */
static struct fnet_throwable pass(bool not_found, const char *text)
{
    uint8_t stream[FNET_THROWABLE_ENCODED_MAX_BYTES];
    struct fnet_writer w = fnet_writer_of(stream, sizeof stream);
    struct fnet_throwable t;

    require(fnet_throwable_encode(not_found, text, &w) == FNET_OK);
    require(fnet_throwable_decode(fnet_span_of(stream, (size_t)(w.pos - stream)), &t) == FNET_OK);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fnet_throwable t;

    if (size < 1)
        return 0;
    if (fnet_throwable_decode(fnet_span_of(data + 1, size - 1), &t) == FNET_OK)
        require(t.class_name[0] && is_utf8(t.class_name) && is_utf8(t.message));

    char *text = malloc(size);
    require(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    t = pass(data[0] & 1, text);
    require(is_utf8(t.message));
    if (size <= FNET_THROWABLE_TEXT_BYTES && is_utf8(memcpy(t.class_name, text, strlen(text) + 1)))
        require(strcmp(t.message, text) == 0);
    struct fnet_throwable again = pass(data[0] & 1, t.message);
    require(strcmp(again.message, t.message) == 0);
    free(text);
    return 0;
}
