/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: whatever claims to be a throwable, what comes out of it, its causes and their stacks
 * is text, within the limits, and less of the stream says no more; and the input as text goes into
 * a throwable and comes out the same, cut and cleaned. Input: one byte that chooses the
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

/* How much is known of the throwable in STREAM, and that it is text. */
static size_t read_chain(struct fnet_span stream)
{
    static struct fnet_throwable_chain chain;
    struct fnet_throwable t;
    char line[FNET_THROWABLE_TEXT_BYTES];
    enum fnet_err err = fnet_throwable_chain_decode(stream, &chain);

    require(err == FNET_OK || err == FNET_BAD_VALUE || err == FNET_TRUNCATED);
    if (err != FNET_OK)
        return 0;
    require(chain.end == FNET_OK || chain.end == FNET_BAD_VALUE || chain.end == FNET_TRUNCATED);
    require(chain.count >= 1 && chain.count <= FNET_THROWABLE_CHAIN_MAX);
    require(chain.left_out == 0 || chain.count == FNET_THROWABLE_CHAIN_MAX);
    for (size_t i = 0; i < chain.count; i++) {
        const struct fnet_chained_throwable *thrown = &chain.throwables[i];
        fnet_throwable_chain_get(&chain, i, &t);
        require(is_utf8(t.class_name) && is_utf8(t.message) && is_utf8(t.original_class));
        require(thrown->line_count <= FNET_THROWABLE_STACK_MAX);
        for (size_t n = 0; n < thrown->line_count; n++) {
            fnet_throwable_chain_line(&chain, i, n, line);
            require(is_utf8(line));
        }
    }
    require(chain.throwables[0].class_name.len > 0);
    return chain.count + chain.left_out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fnet_throwable t;

    if (size < 1)
        return 0;
    size_t known = read_chain(fnet_span_of(data + 1, size - 1));
    for (size_t len = (size - 1) / 2; len > 0; len /= 2)
        require(read_chain(fnet_span_of(data + 1, len)) <= known);

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
