/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dialect probe: what Flink of either kind finds in it, and that fnet takes it for one message.
 */
#include "fnet/wire.h"

#include "../tap.h"

static const struct fnet_dialect *dialect_of(const char *version)
{
    const struct fnet_dialect *dialect = NULL;

    CHECK_INT(fnet_dialect_parse(version, &dialect), FNET_OK);
    return dialect;
}

static void put_probe(uint8_t bytes[static FNET_DIALECT_PROBE_BYTES])
{
    const struct fnet_message probe = {.type = FNET_DIALECT_PROBE};
    struct fnet_writer w = fnet_writer_of(bytes, FNET_DIALECT_PROBE_BYTES);

    CHECK_INT(fnet_message_encoded_bytes(fnet_dialect_newest(), &probe), FNET_DIALECT_PROBE_BYTES);
    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &probe, &w), FNET_OK);
    CHECK_INT(fnet_writer_left(&w), 0);
}

static uint32_t field(const uint8_t *frame, uint8_t at)
{
    return at ? fnet_load_be32(frame + at) : 0;
}

/*
 * The receivers that Flink cancels: it goes from one BufferResponse to the next by the sizes in
 * them, whatever their length says.
 */
static size_t read_as_flink(const uint8_t *bytes, const struct fnet_dialect *dialect,
                            struct fnet_id cancelled[static 3])
{
    const struct fnet_buffer_response_layout *layout = &dialect->buffer;
    size_t at = 0;
    size_t count = 0;

    while (at + layout->head <= FNET_DIALECT_PROBE_BYTES && count < 3) {
        const uint8_t *frame = bytes + at;
        CHECK_INT(fnet_load_be32(frame + 4), FNET_MAGIC);
        CHECK_INT(frame[8], FNET_BUFFER_RESPONSE);
        CHECK((int32_t)field(frame, layout->subpartition) >= -1);
        CHECK((int32_t)field(frame, layout->backlog) >= 0);
        CHECK_INT(fnet_dialect_get_data_type(dialect, frame[layout->data_type]), FNET_DATA_BUFFER);
        CHECK_INT(frame[layout->is_compressed], 0);
        CHECK(field(frame, layout->size) > 0);
        memcpy(cancelled[count++].bytes, frame + FNET_FRAME_HEADER_BYTES, FNET_ID_BYTES);
        at += layout->head + 4 * field(frame, layout->partials) + field(frame, layout->size);
    }
    CHECK_INT(at, FNET_DIALECT_PROBE_BYTES);
    return count;
}

static void test_answers(void)
{
    static const char *const versions[] = {"1.19", "1.20", "2.0", "2.3"};
    uint8_t bytes[FNET_DIALECT_PROBE_BYTES];

    CASE("each kind of Flink finds two frames, and the answer to the second says which it is");
    put_probe(bytes);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        const struct fnet_dialect *dialect = dialect_of(versions[i]);
        const struct fnet_dialect *told = dialect;
        struct fnet_id cancelled[3];
        CHECK(fnet_dialect_probe_exists(dialect));
        CHECK_INT(read_as_flink(bytes, dialect, cancelled), 2);
        CHECK(fnet_dialect_probe_answer(&cancelled[0], &told));
        CHECK(told == NULL);
        CHECK(fnet_dialect_probe_answer(&cancelled[1], &told));
        CHECK(told == dialect);
    }

    CASE("other channels are no answers");
    const struct fnet_dialect *told;
    struct fnet_id id;
    fnet_channel_id_random(fnet_dialect_newest(), &id);
    CHECK(!fnet_dialect_probe_answer(&id, &told));
    memset(&id, 0, sizeof id);
    CHECK(!fnet_dialect_probe_answer(&id, &told));
}

static void test_message(void)
{
    uint8_t bytes[FNET_DIALECT_PROBE_BYTES];
    struct fnet_message m = {.type = FNET_DIALECT_PROBE};
    const struct fnet_dialect *dialect;
    size_t used;

    CASE("to fnet it is one message, in the dialects that it is about");
    put_probe(bytes);
    for (size_t i = 0; (dialect = fnet_dialect_at(i)); i++) {
        const bool exists = dialect->partition_request_bytes == 97;
        CHECK_INT(fnet_dialect_probe_exists(dialect), exists);
        enum fnet_err err =
            fnet_message_decode(dialect, fnet_span_of(bytes, sizeof bytes), &used, &m);
        CHECK_INT(err, exists ? FNET_OK : FNET_BAD_LENGTH);
        if (exists) {
            CHECK_INT(m.type, FNET_DIALECT_PROBE);
            CHECK_INT(used, sizeof bytes);
        }
    }
    CHECK_STR(fnet_message_type_name(FNET_DIALECT_PROBE), "DialectProbe");

    CASE("it is not sent where the request says all, nor without room");
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
    CHECK_INT(fnet_message_encode(dialect_of("1.18"), &m, &w), FNET_INVALID);
    CHECK_INT(fnet_message_encode(dialect_of("2.4"), &m, &w), FNET_INVALID);
    w = fnet_writer_of(bytes, sizeof bytes - 1);
    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), &m, &w), FNET_RANGE);

    CASE("one that is cut anywhere is waited for");
    put_probe(bytes);
    for (size_t len = 0; len < sizeof bytes; len++)
        CHECK_INT(fnet_message_decode(fnet_dialect_newest(), fnet_span_of(bytes, len), &used, &m),
                  FNET_AGAIN);

    CASE("one in which anything differs behind the receiver is none");
    for (size_t i = FNET_FRAME_HEADER_BYTES + FNET_ID_BYTES; i < sizeof bytes; i++) {
        bytes[i] ^= 1;
        CHECK_INT(fnet_message_decode(fnet_dialect_newest(), fnet_span_of(bytes, sizeof bytes),
                                      &used, &m),
                  FNET_BAD_VALUE);
        bytes[i] ^= 1;
    }

    CASE("a BufferResponse as long as it, for another receiver, is one");
    bytes[FNET_FRAME_HEADER_BYTES] ^= 1;
    fnet_store_be32(bytes + 43, sizeof bytes - 47);
    CHECK_INT(
        fnet_message_decode(fnet_dialect_newest(), fnet_span_of(bytes, sizeof bytes), &used, &m),
        FNET_OK);
    CHECK_INT(m.type, FNET_BUFFER_RESPONSE);
}

int main(void)
{
    test_answers();
    test_message();
    return tap_done();
}
