/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: what decodes as an element, and its values, encodes to something that decodes to the
 * same; a text that is a value comes back. Input: which serde, then an element and a text.
 */
#include <stdint.h>
#include <stdlib.h>

#include "fnet/element.h"
#include "fnet/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void require_same(struct fnet_span a, struct fnet_span b)
{
    require(a.len == b.len);
    require(a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* An element's encoding is its only one. */
static void check_element(struct fnet_span bytes)
{
    struct fnet_element element;

    if (fnet_element_decode(bytes, &element) != FNET_OK)
        return;
    const size_t len = fnet_element_encoded_bytes(&element);
    uint8_t *again = malloc(len);
    require(again != NULL);
    struct fnet_writer w = fnet_writer_of(again, len);
    require(fnet_element_encode(&element, &w) == FNET_OK && w.pos == w.end);
    require_same(fnet_span_of(again, len), bytes);
    free(again);
}

/* Text of an element; the text is an element again, with the same text. */
static void check_decoded(const struct fnet_serde *serde, struct fnet_span element)
{
    struct fnet_transcoder t[3];
    struct fnet_span text;
    struct fnet_span made;
    struct fnet_span again;
    struct fnet_value_fault fault;
    size_t count;
    size_t done;

    for (size_t i = 0; i < 3; i++)
        fnet_transcoder_init(&t[i], serde, NULL);
    if (fnet_transcoder_decode(&t[0], &element, 1, &text, &count, &done) == FNET_OK && count == 1) {
        /* A field with a separator in it is two. */
        if (fnet_transcoder_encode(&t[1], &text, 1, &made, &done, &fault) == FNET_OK) {
            require(fnet_transcoder_decode(&t[2], &made, 1, &again, &count, &done) == FNET_OK);
            require(count == 1);
            require_same(again, text);
        } else {
            require(serde->is_tuple);
        }
    }
    for (size_t i = 0; i < 3; i++)
        fnet_transcoder_clear(&t[i]);
}

/* The element of TEXT has a text, which has the same element. */
static void check_encoded(const struct fnet_serde *serde, struct fnet_span text)
{
    struct fnet_transcoder t[3];
    struct fnet_span element;
    struct fnet_span readable;
    struct fnet_span again;
    struct fnet_value_fault fault;
    size_t count;
    size_t done;

    for (size_t i = 0; i < 3; i++)
        fnet_transcoder_init(&t[i], serde, NULL);
    if (fnet_transcoder_encode(&t[0], &text, 1, &element, &done, &fault) == FNET_OK) {
        require(fnet_transcoder_decode(&t[1], &element, 1, &readable, &count, &done) == FNET_OK);
        require(count == 1);
        require(fnet_transcoder_encode(&t[2], &readable, 1, &again, &done, &fault) == FNET_OK);
        require_same(again, element);
    } else {
        require(done == 0 && fault.text.len <= text.len);
    }
    for (size_t i = 0; i < 3; i++)
        fnet_transcoder_clear(&t[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"string",
                                        "long",
                                        "int",
                                        "bytes",
                                        "tuple(string)",
                                        "tuple(string,long)",
                                        "tuple(int,string,bytes)",
                                        "tuple(bytes,string,string,int)"};
    struct fnet_serde serde = FNET_SERDE_INIT;

    if (size < 1)
        return 0;
    require(fnet_serde_parse(names[data[0] % 8], &serde) == FNET_OK);
    const struct fnet_span input = fnet_span_of(data + 1, size - 1);
    check_element(input);
    check_decoded(&serde, input);
    check_encoded(&serde, input);
    return 0;
}
