/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers on their way out of a view, compressed: what becomes a block and what stays as it is,
 * and where the memory goes.
 */
#include "fnet/compress.h"

static enum fnet_codec codec;

#define MADE_SEGMENT_BYTES 4096
#define MADE_CODEC codec
#include "made_partition.h"

#include "../failmalloc.h"

/** What partition.bats takes for "skipped". */
#define SKIPPED 77

/* Take what VIEW has next, and compress it. */
static struct fnet_buffer take(struct fnet_view *view)
{
    struct fnet_view_item item = {.buffer = {.segment = NULL}};

    CHECK_INT(fnet_view_next(view, &item), FNET_OK);
    if (item.buffer.segment)
        fnet_view_compress(view, &item.buffer);
    return item.buffer;
}

/* BUFFER is a block of LEN bytes of value BYTE; give it back. */
static void check_block(struct fnet_buffer *buffer, uint8_t byte, size_t len)
{
    struct fnet_decompressor *d = NULL;
    uint8_t out[MADE_SEGMENT_BYTES];
    struct fnet_writer w = fnet_writer_of(out, sizeof out);

    CHECK(buffer->is_compressed);
    CHECK_INT(buffer->data_type, FNET_DATA_BUFFER);
    CHECK(buffer->len < len);
    CHECK_INT(fnet_decompressor_new(codec, &d), FNET_OK);
    CHECK_INT(fnet_decompressor_decompress(d, fnet_buffer_span(buffer), &w), FNET_OK);
    CHECK_INT(w.pos - out, len);
    for (size_t i = 0; i < len; i++)
        if (!CHECK_INT(out[i], byte))
            break;
    fnet_decompressor_free(d);
    fnet_buffer_clear(buffer);
}

/* BUFFER is still LEN bytes in a segment of the pool, or an event; give it back. */
static void check_plain(struct fnet_buffer *buffer, size_t len, uint8_t data_type)
{
    CHECK(!buffer->is_compressed);
    CHECK_INT(buffer->len, len);
    CHECK_INT(buffer->data_type, data_type);
    CHECK((buffer->segment->pool != NULL) == fnet_data_type_is_buffer(data_type));
    fnet_buffer_clear(buffer);
}

static void test_round_trip(void)
{
    struct made_partition m;

    CASE("a full buffer becomes a block in its place");
    make_partition(&m, "main", 1, 2, 1);
    CHECK_INT(fnet_partition_codec(m.partition), codec);
    const uint32_t zero = 0;
    CHECK_INT(put_into(m.partition, 0, 'a', MADE_SEGMENT_BYTES), FNET_OK);
    fnet_partition_seal(m.partition, &zero);
    struct fnet_view *view = open_view(m.partition, 0);
    struct fnet_buffer buffer = take(view);
    CHECK(buffer.segment->pool == m.pool);

    CASE("... whose segment is in use as long as the block is");
    CHECK_INT(fnet_local_pool_used(m.pool), 1);
    check_block(&buffer, 'a', MADE_SEGMENT_BYTES);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);
    unmake_partition(&m);
}

static void fill_random(struct fnet_builder *builder)
{
    const size_t len = fnet_builder_room(builder);
    uint32_t x = 2463534242u;

    for (size_t i = 0; i < len; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        fnet_builder_pos(builder)[i] = (uint8_t)(x >> 11);
    }
    fnet_builder_commit(builder, len);
}

static void test_plain(void)
{
    struct made_partition m;
    struct fnet_builder *builder;

    CASE("what does not become smaller is left where it is");
    make_partition(&m, "main", 1, 4, 4);
    struct fnet_view *view = open_view(m.partition, 0);
    CHECK_INT(fnet_partition_builder(m.partition, 0, &builder), FNET_OK);
    fill_random(builder);
    CHECK_INT(put_into(m.partition, 0, 'a', 9), FNET_OK);
    CHECK_INT(fnet_partition_finish(m.partition), FNET_OK);
    struct fnet_buffer buffer = take(view);
    CHECK_INT(fnet_local_pool_used(m.pool), 2);
    check_plain(&buffer, MADE_SEGMENT_BYTES, FNET_DATA_BUFFER);
    buffer = take(view);
    check_plain(&buffer, 9, FNET_DATA_BUFFER);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);

    CASE("events are not compressed");
    buffer = take(view);
    check_plain(&buffer, 5, FNET_END_OF_DATA);
    const uint8_t zeros[1000] = {0};
    CHECK_INT(fnet_buffer_new_heap(fnet_span_of(zeros, sizeof zeros), FNET_EVENT_BUFFER, &buffer),
              FNET_OK);
    fnet_view_compress(view, &buffer);
    check_plain(&buffer, sizeof zeros, FNET_EVENT_BUFFER);
    unmake_partition(&m);
}

static void test_empty(void)
{
    struct made_partition m;
    struct fnet_view *view = NULL;
    const struct fnet_bell nobody = {.ring = NULL};

    CASE("neither is a buffer without bytes");
    make_partition(&m, "main", 1, 4, 4);
    CHECK_INT(fnet_view_open(m.partition, 0, nobody, true, &view), FNET_OK);
    CHECK_INT(put_into(m.partition, 0, 'a', 2000), FNET_OK);
    fnet_partition_flush(m.partition);
    struct fnet_buffer buffer = take(view);
    check_block(&buffer, 'a', 2000);
    CHECK_INT(fnet_partition_finish(m.partition), FNET_OK);
    buffer = take(view);
    check_plain(&buffer, 0, FNET_DATA_BUFFER);
    unmake_partition(&m);
}

static void test_partial(void)
{
    struct made_partition m;
    const uint32_t zero = 0;

    CASE("of a buffer that is being filled, each flushed part is a block, and more is written");
    make_partition(&m, "main", 1, 4, 4);
    struct fnet_view *view = open_view(m.partition, 0);
    CHECK_INT(put_into(m.partition, 0, 'a', 1000), FNET_OK);
    fnet_partition_flush(m.partition);
    struct fnet_buffer first = take(view);
    CHECK_INT(put_into(m.partition, 0, 'b', 500), FNET_OK);
    fnet_partition_flush(m.partition);
    struct fnet_buffer second = take(view);
    CHECK_INT(put_into(m.partition, 0, 'c', MADE_SEGMENT_BYTES - 1500), FNET_OK);
    CHECK_INT(fnet_local_pool_used(m.pool), 1);

    CASE("... and the segment is back after the last");
    fnet_partition_seal(m.partition, &zero);
    struct fnet_buffer third = take(view);
    check_block(&first, 'a', 1000);
    check_block(&second, 'b', 500);
    CHECK_INT(fnet_local_pool_used(m.pool), 1);
    check_block(&third, 'c', MADE_SEGMENT_BYTES - 1500);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);
    unmake_partition(&m);
}

static void test_broadcast(void)
{
    struct made_partition m;
    struct fnet_view *views[3];

    CASE("of a broadcast buffer each reader gets a block of its own");
    make_partition(&m, "main", 3, 4, 4);
    for (uint32_t i = 0; i < 3; i++)
        views[i] = open_view(m.partition, i);
    CHECK_INT(put_bytes(m.partition, NULL, 'a', MADE_SEGMENT_BYTES), FNET_OK);
    fnet_partition_seal(m.partition, NULL);
    struct fnet_buffer first = take(views[0]);
    struct fnet_buffer second = take(views[1]);
    CHECK(first.segment != second.segment);
    CHECK(!first.segment->pool);
    CHECK_INT(first.segment->capacity, first.len);

    CASE("... and the segment waits for the last of them, which may take it as it is");
    CHECK_INT(fnet_local_pool_used(m.pool), 1);
    check_block(&first, 'a', MADE_SEGMENT_BYTES);
    check_data(views[2], 'a', MADE_SEGMENT_BYTES, 0);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);
    check_block(&second, 'a', MADE_SEGMENT_BYTES);
    unmake_partition(&m);
}

static void test_copies(void)
{
    struct made_partition m;
    struct fnet_buffer taken[4];
    struct fnet_view *views[4];

    CASE("as many blocks of broadcast buffers wait at a time as the pool may have segments");
    make_partition(&m, "main", 4, 2, 2);
    CHECK_INT(put_bytes(m.partition, NULL, 'a', MADE_SEGMENT_BYTES), FNET_OK);
    fnet_partition_seal(m.partition, NULL);
    for (uint32_t i = 0; i < 4; i++) {
        views[i] = open_view(m.partition, i);
        taken[i] = take(views[i]);
    }
    check_block(&taken[0], 'a', MADE_SEGMENT_BYTES);
    check_block(&taken[1], 'a', MADE_SEGMENT_BYTES);
    check_plain(&taken[2], MADE_SEGMENT_BYTES, FNET_DATA_BUFFER);
    check_plain(&taken[3], MADE_SEGMENT_BYTES, FNET_DATA_BUFFER);

    CASE("... and when they are gone others may");
    CHECK_INT(put_bytes(m.partition, NULL, 'b', MADE_SEGMENT_BYTES), FNET_OK);
    fnet_partition_seal(m.partition, NULL);
    taken[0] = take(views[0]);
    check_block(&taken[0], 'b', MADE_SEGMENT_BYTES);
    unmake_partition(&m);
}

static void test_no_memory_for_block(void)
{
    struct made_partition m;
    unsigned n = 0;
    bool did_fail;

    CASE("without memory for the block a broadcast buffer is sent as it is");
    do {
        make_partition(&m, "main", 2, 2, 2);
        struct fnet_view *view = open_view(m.partition, 0);
        CHECK_INT(put_bytes(m.partition, NULL, 'a', MADE_SEGMENT_BYTES), FNET_OK);
        fnet_partition_seal(m.partition, NULL);
        failmalloc_arm(++n);
        struct fnet_buffer buffer = take(view);
        did_fail = failmalloc_disarm();
        if (did_fail)
            check_plain(&buffer, MADE_SEGMENT_BYTES, FNET_DATA_BUFFER);
        else
            check_block(&buffer, 'a', MADE_SEGMENT_BYTES);
        unmake_partition(&m);
    } while (did_fail);
}

static void test_no_memory_for_partition(void)
{
    struct made_partition m;
    unsigned n = 0;
    bool did_fail;

    CASE("without memory for the compressor there is no partition");
    make_partition(&m, "main", 1, 2, 2);
    struct fnet_partition_config config = FNET_PARTITION_CONFIG_INIT;
    config.name = "other";
    config.pool = m.pool;
    config.codec = codec;
    do {
        struct fnet_partition *other = NULL;
        failmalloc_arm(++n);
        enum fnet_err err = fnet_partition_new(&config, &other);
        did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        CHECK((other == NULL) == did_fail);
        fnet_partition_free(other);
    } while (did_fail);
    unmake_partition(&m);
}

static void test_no_codec(void)
{
    struct made_partition m;
    const uint32_t zero = 0;

    CASE("without a codec everything is left as it is");
    codec = FNET_CODEC_NONE;
    make_partition(&m, "main", 1, 2, 2);
    CHECK_INT(put_into(m.partition, 0, 'a', MADE_SEGMENT_BYTES), FNET_OK);
    fnet_partition_seal(m.partition, &zero);
    struct fnet_view *view = open_view(m.partition, 0);
    struct fnet_buffer buffer = take(view);
    check_plain(&buffer, MADE_SEGMENT_BYTES, FNET_DATA_BUFFER);

    CASE("with one that is not there, there is no partition");
    struct fnet_partition_config config = FNET_PARTITION_CONFIG_INIT;
    struct fnet_partition *other = NULL;
    config.name = "other";
    config.pool = m.pool;
    for (config.codec = FNET_CODEC_LZ4; fnet_codec_name(config.codec); config.codec++) {
        CHECK_INT(fnet_partition_new(&config, &other),
                  fnet_codec_is_available(config.codec) ? FNET_OK : FNET_UNSUPPORTED);
        fnet_partition_free(other);
        other = NULL;
    }
    CHECK_INT(fnet_partition_new(&config, &other), FNET_INVALID);
    unmake_partition(&m);
}

int main(void)
{
    int codecs = 0;

    for (codec = FNET_CODEC_LZ4; fnet_codec_name(codec); codec++) {
        if (!fnet_codec_is_available(codec))
            continue;
        codecs++;
        test_round_trip();
        test_plain();
        test_empty();
        test_partial();
        test_broadcast();
        test_copies();
        test_no_memory_for_block();
        test_no_memory_for_partition();
    }
    test_no_codec();
    return codecs > 0 || tap_failures ? tap_done() : SKIPPED;
}
