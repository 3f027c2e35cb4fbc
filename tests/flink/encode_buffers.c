/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BufferResponses for Flink to read: data, compressed and in parts, and every event.
 */
#include "../unit/flink_messages.h"

#include <zlib.h>

#include "fnet/compress.h"

#include "dice.h"
#include "encode.h"

/* The buffers that Decode has. */
#define SEGMENT_BYTES 32768
#define PARTS_MAX 16
#define PART_BYTES 1000

/* What is in the payload; all zero: just data. */
struct contents {
    const char *codec;         /* NULL: not compressed */
    struct fnet_span original; /* what all of it decompresses to */
    const struct fnet_event *event;
};

/* B without size, which is that of PAYLOAD. */
static void write_buffer(const struct fnet_dialect *dialect, struct fnet_buffer_response b,
                         struct fnet_span payload, const struct contents *c)
{
    struct flink_fields f = {.text = NULL};
    struct fnet_message m = {.type = FNET_BUFFER_RESPONSE, .receiver = roll_id(), .buffer = b};

    m.buffer.size = (uint32_t)payload.len;
    const struct fnet_span head = message_bytes(dialect, &m);
    flink_add_message(&f, dialect, head.len + payload.len, &m);
    if (c->codec) {
        flink_add(&f, "codec", "%s", c->codec);
        flink_add(&f, "data_size", "%zu", c->original.len);
        flink_add(&f, "data_crc32", "%08lx", crc32(0, c->original.ptr, (unsigned)c->original.len));
    }
    if (c->event)
        add_nested_event(&f, dialect, c->event);
    flink_add_hex(&f, "payload", payload);
    write_line("BufferResponse", &f, head, payload);
}

static struct fnet_buffer_response roll_head(void)
{
    return (struct fnet_buffer_response){
        .subpartition = roll_int_from(-1),
        .sequence = roll_int(),
        .backlog = roll_int_from(0),
        .data_type = FNET_DATA_BUFFER,
    };
}

/* ---- buffers of data --------------------------------------------------------------------- */

static void encode_data(const struct fnet_dialect *dialect)
{
    static const int32_t subpartitions[] = {-1, 0, 1, INT32_MAX};
    static const int32_t sequences[] = {0, 1, -1, INT32_MAX, INT32_MIN};
    static const int32_t backlogs[] = {0, 1, INT32_MAX};
    static const size_t sizes[] = {0, 1, 2, 255, 256, SEGMENT_BYTES - 1, SEGMENT_BYTES};
    const struct contents data = {.codec = NULL};

    for (size_t i = 0; i < COUNT(subpartitions) * COUNT(sequences) * COUNT(backlogs); i++) {
        const struct fnet_buffer_response b = {
            .subpartition = subpartitions[i % COUNT(subpartitions)],
            .sequence = sequences[i / COUNT(subpartitions) % COUNT(sequences)],
            .backlog = backlogs[i / COUNT(subpartitions) / COUNT(sequences)],
            .data_type = FNET_DATA_BUFFER,
        };
        write_buffer(dialect, b, roll_bytes(10), &data);
    }
    for (size_t i = 0; i < 2 * COUNT(sizes); i++) {
        struct fnet_buffer_response b = roll_head();
        if (i % 2)
            b.data_type = FNET_DATA_BUFFER_WITH_CLEAR_END;
        write_buffer(dialect, b, roll_bytes(sizes[i / 2]), &data);
    }
}

static bool has_codec(const struct fnet_dialect *dialect, enum fnet_codec codec)
{
    return fnet_codec_is_available(codec) &&
           is_since(dialect, codec == FNET_CODEC_LZ4 ? "1.10" : "1.16");
}

/*
 * ORIGINALS, of SEGMENT_BYTES together at most, as blocks of CODEC one behind the other, which are
 * shorter; their sizes too.
 */
static struct fnet_span compress_all(enum fnet_codec codec, const struct fnet_span *originals,
                                     size_t count, uint32_t *sizes)
{
    uint8_t *bytes = scratch(SEGMENT_BYTES);
    struct fnet_compressor *compressor;
    size_t len = 0;

    must(fnet_compressor_new(codec, SEGMENT_BYTES, &compressor), "a compressor");
    for (size_t i = 0; i < count; i++) {
        struct fnet_span block;
        must(fnet_compressor_compress(compressor, originals[i], &block), "compressing");
        memcpy(bytes + len, block.ptr, block.len);
        len += block.len;
        sizes[i] = (uint32_t)block.len;
    }
    fnet_compressor_free(compressor);
    return fnet_span_of(bytes, len);
}

static const char *codec_name(enum fnet_codec codec)
{
    static const char *const names[] = {
        [FNET_CODEC_LZ4] = "LZ4", [FNET_CODEC_ZSTD] = "ZSTD", [FNET_CODEC_LZO] = "LZO"};

    return names[codec];
}

static void write_compressed(const struct fnet_dialect *dialect, enum fnet_codec codec,
                             struct fnet_span original)
{
    struct fnet_buffer_response b = roll_head();
    const struct contents data = {.codec = codec_name(codec), .original = original};
    uint32_t size;
    const struct fnet_span block = compress_all(codec, &original, 1, &size);

    b.is_compressed = true;
    write_buffer(dialect, b, block, &data);
}

static void encode_compressed(const struct fnet_dialect *dialect)
{
    static const size_t sizes[] = {100, 255, 256, 1000, 4096, SEGMENT_BYTES - 1, SEGMENT_BYTES};
    static const uint8_t zeroes[SEGMENT_BYTES];

    for (unsigned codec = FNET_CODEC_LZ4; codec <= FNET_CODEC_LZO; codec++)
        for (size_t i = 0; i < COUNT(sizes) && has_codec(dialect, codec); i++) {
            write_compressed(dialect, codec, roll_words(sizes[i]));
            write_compressed(dialect, codec, fnet_span_of(zeroes, sizes[i]));
        }
}

/* ---- partial buffers --------------------------------------------------------------------- */

static struct fnet_span put_sizes(const uint32_t *sizes, uint32_t count)
{
    uint8_t *bytes = scratch(4 * (size_t)count);

    for (uint32_t i = 0; i < count; i++)
        fnet_store_be32(bytes + 4 * (size_t)i, sizes[i]);
    return fnet_span_of(bytes, 4 * (size_t)count);
}

/* COUNT parts of up to MOST bytes each. */
static void write_partials(const struct fnet_dialect *dialect, uint32_t count, uint32_t most)
{
    static uint32_t sizes[FNET_PARTIALS_MAX];
    struct fnet_buffer_response b = roll_head();
    const struct contents data = {.codec = NULL};
    size_t total = 0;

    for (uint32_t i = 0; i < count; i++)
        total += sizes[i] = 1 + roll_below(most);
    b.partials = count;
    b.partial_sizes = put_sizes(sizes, count);
    write_buffer(dialect, b, roll_bytes(total), &data);
}

/* COUNT parts, which are alike in length before they are compressed. */
static void write_compressed_partials(const struct fnet_dialect *dialect, enum fnet_codec codec,
                                      uint32_t count)
{
    struct fnet_span originals[PARTS_MAX];
    uint32_t sizes[PARTS_MAX];
    struct fnet_buffer_response b = roll_head();
    const struct fnet_span words = roll_words(PART_BYTES * (size_t)count);
    const struct contents data = {.codec = codec_name(codec), .original = words};

    for (uint32_t i = 0; i < count; i++)
        originals[i] = fnet_span_of(words.ptr + PART_BYTES * (size_t)i, PART_BYTES);
    const struct fnet_span payload = compress_all(codec, originals, count, sizes);
    b.is_compressed = true;
    b.partials = count;
    b.partial_sizes = put_sizes(sizes, count);
    write_buffer(dialect, b, payload, &data);
}

static void encode_partials(const struct fnet_dialect *dialect)
{
    static const uint32_t counts[] = {1, 2, 3, 16, 255, 256, FNET_PARTIALS_MAX};

    if (!dialect->buffer.partials)
        return;
    for (size_t i = 0; i < COUNT(counts); i++)
        write_partials(dialect, counts[i], SEGMENT_BYTES / counts[i]);
    for (unsigned codec = FNET_CODEC_LZ4; codec <= FNET_CODEC_LZO; codec++)
        for (uint32_t count = 1; count <= PARTS_MAX && has_codec(dialect, codec); count++)
            write_compressed_partials(dialect, codec, count);
}

/* ---- events ------------------------------------------------------------------------------ */

static void write_event(const struct fnet_dialect *dialect, const struct fnet_event *event)
{
    struct fnet_buffer_response b = roll_head();
    const struct contents contents = {.event = event};
    const struct fnet_span payload = event_bytes(dialect, event);
    const uint32_t size = (uint32_t)payload.len;

    b.data_type = (uint8_t)fnet_event_data_type(event);
    if (dialect->buffer.partials && roll_below(4) == 0) {
        b.partials = 1;
        b.partial_sizes = put_sizes(&size, 1);
    }
    write_buffer(dialect, b, payload, &contents);
}

/* ---- all of them ------------------------------------------------------------------------- */

void encode_buffers(const struct fnet_dialect *dialect)
{
    encode_data(dialect);
    encode_compressed(dialect);
    encode_partials(dialect);
    visit_events(dialect, write_event);
}

/* What DIALECT does not have is data instead. */
void encode_rolled_buffer(const struct fnet_dialect *dialect)
{
    const struct contents data = {.codec = NULL};
    const enum fnet_codec codec = (enum fnet_codec)(FNET_CODEC_LZ4 + roll_below(3));
    const uint32_t kind = roll_below(5);

    if (kind == 0) {
        const struct fnet_event event = roll_event(dialect);
        write_event(dialect, &event);
    } else if (kind == 1 && has_codec(dialect, codec)) {
        write_compressed(dialect, codec, roll_words(100 + roll_below(2000)));
    } else if (kind == 2 && has_codec(dialect, codec) && dialect->buffer.partials) {
        write_compressed_partials(dialect, codec, 1 + roll_below(3));
    } else if (kind == 3 && dialect->buffer.partials) {
        write_partials(dialect, 1 + roll_below(20), 50);
    } else {
        write_buffer(dialect, roll_head(), roll_bytes(roll_below(500)), &data);
    }
}
