/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers on the heap, references, and a builder that is read while it is filled.
 */
#include "fnet/buffer.h"

#include "../failmalloc.h"
#include "../tap.h"

static struct fnet_span span_of(const char *text)
{
    return fnet_span_of(text, strlen(text));
}

static void test_heap(void)
{
    struct fnet_buffer buffer;

    CASE("a heap buffer holds a copy of the bytes");
    char text[] = "an event";
    CHECK_INT(fnet_buffer_new_heap(span_of(text), FNET_EVENT_BUFFER, &buffer), FNET_OK);
    text[0] = 'X';
    CHECK_INT(buffer.len, 8);
    CHECK_INT(buffer.offset, 0);
    CHECK_INT(buffer.data_type, FNET_EVENT_BUFFER);
    CHECK(!buffer.is_compressed);
    CHECK_MEM(fnet_buffer_span(&buffer).ptr, "an event", 8);
    CHECK(buffer.segment->is_sealed);
    CHECK_INT(buffer.segment->written, 8);

    CASE("a second reference keeps the bytes after the first is cleared");
    struct fnet_buffer other = fnet_buffer_ref(&buffer);
    CHECK_INT(buffer.segment->refs, 2);
    fnet_buffer_clear(&buffer);
    CHECK(buffer.segment == NULL);
    CHECK_MEM(fnet_buffer_span(&other).ptr, "an event", 8);
    fnet_buffer_clear(&other);

    CASE("clearing no buffer does nothing");
    fnet_buffer_clear(&other);

    CASE("an empty heap buffer is a buffer");
    CHECK_INT(fnet_buffer_new_heap(fnet_span_of(NULL, 0), FNET_EVENT_BUFFER, &buffer), FNET_OK);
    CHECK(buffer.segment != NULL);
    CHECK_INT(buffer.len, 0);
    fnet_buffer_clear(&buffer);

    CASE("a heap buffer with room is filled by its owner");
    CHECK_INT(fnet_buffer_new_heap_room(3, FNET_DATA_BUFFER, &buffer), FNET_OK);
    CHECK_INT(buffer.segment->capacity, 3);
    memcpy(buffer.segment->bytes, "abc", 3);
    CHECK_MEM(fnet_buffer_span(&buffer).ptr, "abc", 3);
    fnet_buffer_clear(&buffer);
}

static void test_heap_errors(void)
{
    struct fnet_buffer untouched = {.len = 77}, buffer = untouched;

    CASE("more than the largest segment is refused, the output untouched");
    CHECK_INT(fnet_buffer_new_heap_room(FNET_SEGMENT_MAX_BYTES + 1, 0, &buffer), FNET_RANGE);
    CHECK_INT(
        fnet_buffer_new_heap(fnet_span_of("", (size_t)FNET_SEGMENT_MAX_BYTES + 1), 0, &buffer),
        FNET_RANGE);
    CHECK_INT(fnet_buffer_new_heap(fnet_span_of("", SIZE_MAX), 0, &buffer), FNET_RANGE);
    CHECK(buffer.segment == NULL && buffer.len == 77);

    CASE("without memory there is no buffer, the output untouched");
    unsigned n = 0;
    do {
        buffer = untouched;
        failmalloc_arm(++n);
        enum fnet_err err = fnet_buffer_new_heap(span_of("x"), FNET_EVENT_BUFFER, &buffer);
        if (err == FNET_OK) {
            fnet_buffer_clear(&buffer);
        } else {
            CHECK_INT(err, FNET_NOMEM);
            CHECK(buffer.segment == NULL && buffer.len == 77);
        }
    } while (failmalloc_disarm());
}

static void append(struct fnet_builder *builder, const char *text)
{
    size_t len = strlen(text);

    CHECK(len <= fnet_builder_room(builder));
    memcpy(fnet_builder_pos(builder), text, len);
    fnet_builder_commit(builder, len);
}

/* A builder over a heap segment that is CAPACITY long and empty. */
static struct fnet_builder new_builder(uint32_t capacity)
{
    struct fnet_buffer room;
    enum fnet_err err = fnet_buffer_new_heap_room(capacity, FNET_DATA_BUFFER, &room);

    CHECK_INT(err, FNET_OK);
    room.segment->written = 0;
    room.segment->is_sealed = false;
    return (struct fnet_builder){.segment = room.segment};
}

static void test_builder(void)
{
    struct fnet_builder builder = {0};

    CASE("a zeroed builder is not open");
    CHECK(!fnet_builder_is_open(&builder));

    CASE("a consumer sees what is committed, once");
    builder = new_builder(16);
    struct fnet_consumer consumer = fnet_builder_consumer(&builder);
    CHECK(fnet_builder_is_open(&builder));
    CHECK(!fnet_consumer_has_data(&consumer));
    append(&builder, "abc");
    CHECK_INT(fnet_builder_room(&builder), 13);
    CHECK(fnet_consumer_has_data(&consumer));
    struct fnet_buffer first = fnet_consumer_build(&consumer);
    CHECK_INT(first.len, 3);
    CHECK_INT(first.data_type, FNET_DATA_BUFFER);
    CHECK(!fnet_consumer_has_data(&consumer));

    CASE("bytes written later do not show in a buffer built earlier");
    append(&builder, "defg");
    struct fnet_buffer second = fnet_consumer_build(&consumer);
    CHECK_MEM(fnet_buffer_span(&first).ptr, "abc", 3);
    CHECK_INT(first.len, 3);
    CHECK_INT(second.len, 4);
    CHECK_MEM(fnet_buffer_span(&second).ptr, "defg", 4);

    CASE("a consumer made later begins at what was written by then");
    struct fnet_consumer late = fnet_builder_consumer(&builder);
    append(&builder, "hi");
    struct fnet_buffer third = fnet_consumer_build(&late);
    CHECK_INT(third.len, 2);
    CHECK_MEM(fnet_buffer_span(&third).ptr, "hi", 2);

    CASE("sealing closes the builder and tells the consumers, who still have the bytes");
    CHECK(!fnet_consumer_is_sealed(&consumer));
    fnet_builder_seal(&builder);
    CHECK(!fnet_builder_is_open(&builder));
    CHECK(fnet_consumer_is_sealed(&consumer));
    CHECK(fnet_consumer_has_data(&consumer));
    struct fnet_buffer rest = fnet_consumer_build(&consumer);
    CHECK_MEM(fnet_buffer_span(&rest).ptr, "hi", 2);

    CASE("a consumer that has taken everything builds an empty buffer");
    struct fnet_buffer empty = fnet_consumer_build(&consumer);
    CHECK_INT(empty.len, 0);

    fnet_consumer_clear(&consumer);
    fnet_consumer_clear(&late);
    CHECK(consumer.segment == NULL);
    CHECK_INT(rest.segment->refs, 5);
    fnet_buffer_clear(&first);
    fnet_buffer_clear(&second);
    fnet_buffer_clear(&third);
    fnet_buffer_clear(&empty);
    fnet_buffer_clear(&rest);
}

int main(void)
{
    test_heap();
    test_heap_errors();
    test_builder();
    return tap_done();
}
