/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An input gate: what its channels received comes out in order, round robin, until all have ended.
 */
#define MADE_CODEC FNET_CODEC_LZ4
#include "made_gate.h"

#include "../failmalloc.h"

static void test_configuration(void)
{
    struct fnet_gate_config config = FNET_GATE_CONFIG_INIT;
    struct fnet_gate *gate = NULL;

    CASE("a gate has 2 exclusive buffers per channel and 8 floating ones by default");
    CHECK_INT(config.buffers_per_channel, 2);
    CHECK_INT(config.floating_buffers, 8);

    CASE("a gate without any buffers is refused");
    config.buffers_per_channel = 0;
    config.floating_buffers = 0;
    CHECK_INT(fnet_gate_new(&config, &gate), FNET_INVALID);
    CHECK(gate == NULL);
    config.floating_buffers = 1;
    CHECK_INT(fnet_gate_new(&config, &gate), FNET_OK);
    fnet_gate_free(gate);
    fnet_gate_free(NULL);
}

static void test_channels(void)
{
    struct made_gate m;

    CASE("channels are numbered, and their ids differ");
    make_gate(&m, 3, 2, 8);
    CHECK_INT(fnet_gate_channels(m.gate), 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK(fnet_gate_channel(m.gate, i) == m.channels[i]);
        CHECK_INT(fnet_channel_index(m.channels[i]), i);
        CHECK(fnet_channel_gate(m.channels[i]) == m.gate);
        CHECK_INT(fnet_channel_state(m.channels[i]), FNET_CHANNEL_OPEN);
        CHECK_INT(fnet_channel_initial_credit(m.channels[i]), 2);
        for (size_t j = 0; j < i; j++)
            CHECK(
                !fnet_id_is_equal(fnet_channel_id(m.channels[i]), fnet_channel_id(m.channels[j])));
    }
    unmake_gate(&m);

    CASE("a gate without channels is at its end");
    make_gate(&m, 0, 2, 8);
    CHECK_INT(poll_nothing(&m), FNET_EOF);
    unmake_gate(&m);
}

static void test_order(void)
{
    struct made_gate m;

    CASE("the bell rings for what arrives");
    make_gate(&m, 3, 4, 0);
    CHECK_INT(poll_nothing(&m), FNET_AGAIN);
    CHECK_INT(m.rings, 0);
    CHECK_INT(arrive_data(m.channels[1], 0, 'a'), FNET_OK);
    CHECK(m.rings > 0);

    CASE("a channel's buffers come in order, channels take turns");
    CHECK_INT(arrive_data(m.channels[1], 1, 'b'), FNET_OK);
    CHECK_INT(arrive_data(m.channels[1], 2, 'c'), FNET_OK);
    CHECK_INT(arrive_data(m.channels[0], 0, 'd'), FNET_OK);
    CHECK_INT(arrive_data(m.channels[2], 0, 'e'), FNET_OK);
    CHECK_INT(arrive_data(m.channels[2], 1, 'f'), FNET_OK);
    check_polled(&m, m.channels[1], 'a');
    check_polled(&m, m.channels[0], 'd');
    check_polled(&m, m.channels[2], 'e');
    check_polled(&m, m.channels[1], 'b');
    check_polled(&m, m.channels[2], 'f');
    check_polled(&m, m.channels[1], 'c');
    CHECK_INT(poll_nothing(&m), FNET_AGAIN);
    unmake_gate(&m);
}

static void test_recycle(void)
{
    struct made_gate m;
    struct fnet_gate_item item;

    CASE("an item keeps its memory until it is recycled, which gives its credit back");
    make_gate(&m, 1, 1, 0);
    CHECK_INT(arrive_data(m.channels[0], 0, 'a'), FNET_OK);
    CHECK_INT(arrive_data(m.channels[0], 1, 'b'), FNET_NO_CREDIT);
    CHECK_INT(fnet_gate_poll(m.gate, &item), FNET_OK);
    check_words(m.channels[0], 0, 0);
    CHECK_INT(fnet_local_pool_used(m.pool), 1);
    fnet_gate_recycle(m.gate, &item);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);
    check_words(m.channels[0], FNET_SAY_CREDIT, 1);
    CHECK_INT(arrive_data(m.channels[0], 1, 'b'), FNET_OK);

    CASE("a floating buffer serves the channel that waits for one");
    unmake_gate(&m);
    make_gate(&m, 2, 1, 1);
    fnet_channel_announce_backlog(m.channels[0], 1);
    check_words(m.channels[0], FNET_SAY_CREDIT, 1);
    fnet_channel_announce_backlog(m.channels[1], 1);
    check_words(m.channels[1], 0, 0);
    CHECK_INT(arrive_data(m.channels[0], 0, 'a'), FNET_OK);
    CHECK_INT(arrive_data(m.channels[0], 1, 'b'), FNET_OK);
    check_polled(&m, m.channels[0], 'a');
    check_words(m.channels[0], 0, 0);
    check_words(m.channels[1], FNET_SAY_CREDIT, 1);
    unmake_gate(&m);
}

/* BYTES arrive in CHANNEL as SEQUENCE, compressed. */
static void arrive_compressed(struct fnet_channel *channel, int32_t sequence,
                              struct fnet_span bytes)
{
    struct fnet_buffer buffer = {.segment = NULL};

    if (!CHECK_INT(
            fnet_channel_begin(channel, sequence, FNET_DATA_BUFFER, (uint32_t)bytes.len, &buffer),
            FNET_OK))
        return;
    memcpy(buffer.segment->bytes, bytes.ptr, bytes.len);
    buffer.is_compressed = true;
    CHECK_INT(fnet_channel_receive(channel, &buffer, 0), FNET_OK);
}

static void test_compressed(void)
{
    struct made_gate m;
    struct fnet_gate_item item;
    struct fnet_compressor *compressor = NULL;
    uint8_t text[MADE_SEGMENT_BYTES];
    struct fnet_span block;

    make_gate(&m, 2, 2, 0);
    CHECK_INT(fnet_channel_reads_compressed(m.channels[0]), fnet_codec_is_available(MADE_CODEC));
    CHECK_STR(fnet_channel_codec_name(m.channels[0]), "lz4");
    if (!fnet_codec_is_available(MADE_CODEC)) {
        unmake_gate(&m);
        return;
    }
    memset(text, 'z', sizeof text);
    CHECK_INT(fnet_compressor_new(MADE_CODEC, sizeof text, &compressor), FNET_OK);
    CHECK_INT(fnet_compressor_compress(compressor, fnet_span_of(text, sizeof text), &block),
              FNET_OK);

    CASE("a compressed buffer is polled as its original; its credit returns when that does");
    arrive_compressed(m.channels[0], 0, block);
    CHECK_INT(fnet_gate_poll(m.gate, &item), FNET_OK);
    CHECK(!item.buffer.is_compressed);
    if (CHECK_INT(item.buffer.len, sizeof text))
        CHECK_MEM(fnet_buffer_span(&item.buffer).ptr, text, sizeof text);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);
    check_words(m.channels[0], 0, 0);
    fnet_gate_recycle(m.gate, &item);
    check_words(m.channels[0], FNET_SAY_CREDIT, 1);

    CASE("one that is none is an error of its channel, and leaves nothing behind");
    arrive_compressed(m.channels[1], 0, fnet_span_of(block.ptr, block.len - 1));
    CHECK_INT(fnet_gate_poll(m.gate, &item), FNET_BAD_LENGTH);
    CHECK(fnet_gate_culprit(m.gate) == m.channels[1]);
    CHECK_INT(fnet_local_pool_used(m.pool), 0);
    fnet_compressor_free(compressor);
    unmake_gate(&m);
}

static void test_codecs(void)
{
    struct made_gate m;
    struct fnet_gate_item item;
    uint8_t text[MADE_SEGMENT_BYTES];

    CASE("each channel has the codec that its producer names");
    make_gate(&m, 4, 2, 0);
    memset(text, 'z', sizeof text);
    for (enum fnet_codec codec = FNET_CODEC_LZ4; fnet_codec_name(codec); codec++) {
        struct fnet_channel *channel = m.channels[codec];
        struct fnet_compressor *compressor = NULL;
        struct fnet_span block;
        CHECK_INT(fnet_channel_set_codec(channel, codec), FNET_OK);
        CHECK_STR(fnet_channel_codec_name(channel), fnet_codec_name(codec));
        CHECK_INT(fnet_channel_reads_compressed(channel), fnet_codec_is_available(codec));
        if (!fnet_codec_is_available(codec))
            continue;
        CHECK_INT(fnet_compressor_new(codec, sizeof text, &compressor), FNET_OK);
        CHECK_INT(fnet_compressor_compress(compressor, fnet_span_of(text, sizeof text), &block),
                  FNET_OK);
        arrive_compressed(channel, 0, block);
        CHECK_INT(fnet_gate_poll(m.gate, &item), FNET_OK);
        if (CHECK_INT(item.buffer.len, sizeof text))
            CHECK_MEM(fnet_buffer_span(&item.buffer).ptr, text, sizeof text);
        fnet_gate_recycle(m.gate, &item);
        fnet_compressor_free(compressor);
    }

    CASE("with none there is nothing it could read, and no other number is one");
    CHECK_INT(fnet_channel_set_codec(m.channels[0], FNET_CODEC_NONE), FNET_OK);
    CHECK(!fnet_channel_reads_compressed(m.channels[0]));
    CHECK_INT(fnet_channel_set_codec(m.channels[0], (enum fnet_codec)4), FNET_INVALID);
    CHECK_STR(fnet_channel_codec_name(m.channels[0]), "none");
    unmake_gate(&m);
}

static void test_codec_without_memory(void)
{
    struct made_gate m;
    unsigned n = 0;
    bool did_fail;

    CASE("without memory a channel keeps the codec it had");
    do {
        make_gate(&m, 1, 2, 0);
        failmalloc_arm(++n);
        enum fnet_err err = fnet_channel_set_codec(m.channels[0], FNET_CODEC_ZSTD);
        did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        CHECK_STR(fnet_channel_codec_name(m.channels[0]), did_fail ? "lz4" : "zstd");
        unmake_gate(&m);
    } while (did_fail);
}

static void test_end(void)
{
    struct made_gate m;

    CASE("the end comes when every channel has ended, failed or was cancelled");
    make_gate(&m, 3, 2, 0);
    CHECK_INT(arrive_data(m.channels[0], 0, 'a'), FNET_OK);
    CHECK_INT(arrive(m.channels[0], 1, FNET_END_OF_PARTITION, 0, 4, 0), FNET_OK);
    fnet_channel_fail(m.channels[1], FNET_LOST);
    CHECK_INT(m.rings > 0, 1);
    m.rings = 0;
    fnet_channel_cancel(m.channels[2]);
    CHECK(m.rings > 0);

    CASE("... and all that was received has been polled");
    check_polled(&m, m.channels[0], 'a');
    check_polled(&m, m.channels[0], 0);
    CHECK_INT(poll_nothing(&m), FNET_EOF);
    CHECK_INT(fnet_channel_state(m.channels[0]), FNET_CHANNEL_ENDED);
    CHECK_INT(fnet_channel_state(m.channels[1]), FNET_CHANNEL_FAILED);
    CHECK_INT(fnet_channel_state(m.channels[2]), FNET_CHANNEL_CANCELLED);

    CASE("one open channel is enough to wait for");
    unmake_gate(&m);
    make_gate(&m, 2, 2, 0);
    CHECK_INT(arrive(m.channels[0], 0, FNET_END_OF_PARTITION, 0, 4, 0), FNET_OK);
    check_polled(&m, m.channels[0], 0);
    CHECK_INT(poll_nothing(&m), FNET_AGAIN);
    unmake_gate(&m);
}

static void test_free_with_items(void)
{
    struct made_gate m;

    CASE("a gate may go with buffers and events queued, and with channels that wait for buffers");
    make_gate(&m, 4, 1, 2);
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT(arrive(m.channels[i], 0, FNET_DATA_BUFFER, 'a', 10, 9), FNET_OK);
        CHECK_INT(arrive(m.channels[i], 1, FNET_EVENT_BUFFER, 'b', 10, 9), FNET_OK);
    }
    unmake_gate(&m);
}

static void test_no_memory(void)
{
    struct made_gate m;
    unsigned n = 0;

    make_gate(&m, 0, 1, 4);
    CASE("without memory there is no gate");
    do {
        struct fnet_gate *gate = NULL;
        const struct fnet_gate_config config = {
            .channels = 5, .buffers_per_channel = 1, .pool = m.pool};
        failmalloc_arm(++n);
        enum fnet_err err = fnet_gate_new(&config, &gate);
        bool did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        CHECK((gate == NULL) == did_fail);
        fnet_gate_free(gate);
        if (!did_fail)
            break;
    } while (n < 1000);
    CHECK(n < 1000);
    unmake_gate(&m);
}

int main(void)
{
    test_configuration();
    test_channels();
    test_order();
    test_recycle();
    test_compressed();
    test_codecs();
    test_codec_without_memory();
    test_end();
    test_free_with_items();
    test_no_memory();
    return tap_done();
}
