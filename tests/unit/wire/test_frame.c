/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and lengths of the message types, and the nine bytes in front of every message.
 */
#include "../../../lib/wire/frame.h"

#include "../tap.h"

static const struct {
    uint8_t type;
    const char *name;
    uint32_t min;
    uint32_t max;
} types[] = {
    {0, "BufferResponse", 47, 47 + 4 * FNET_PARTIALS_MAX + FNET_PAYLOAD_MAX_BYTES},
    {1, "ErrorResponse", 10, FNET_MESSAGE_MAX_BYTES},
    {2, "PartitionRequest", 97, 97},
    {3, "TaskEventRequest", 89, FNET_MESSAGE_MAX_BYTES},
    {4, "CancelPartitionRequest", 25, 25},
    {5, "CloseRequest", 9, 9},
    {6, "AddCredit", 29, 29},
    {7, "ResumeConsumption", 25, 25},
    {8, "AckAllUserRecordsProcessed", 25, 25},
    {9, "BacklogAnnouncement", 29, 29},
    {10, "NewBufferSize", 29, 29},
    {11, "SegmentId", 33, 33},
    {64, "DescriptionRequest", 86, 86},
    {65, "DescriptionResponse", 98, 98 + FNET_NAME_MAX_BYTES},
};

static enum fnet_err get(uint8_t type, uint32_t length, struct fnet__wire_frame *frame)
{
    uint8_t header[FNET_FRAME_HEADER_BYTES];

    fnet__wire_frame_put(header, length, (enum fnet_message_type)type);
    return fnet__wire_frame_get(fnet_dialect_newest(), fnet_span_of(header, sizeof header), frame);
}

static void test_types(void)
{
    unsigned known = 0;

    CASE("every type has Flink's name, and only those lengths that its messages can have");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct fnet__wire_frame frame = {.length = 1};
        CHECK_STR(fnet_message_type_name(types[i].type), types[i].name);
        CHECK_INT(fnet__wire_frame_min_bytes(fnet_dialect_newest(),
                                             (enum fnet_message_type)types[i].type),
                  types[i].min);
        CHECK_INT(get(types[i].type, types[i].min - 1, &frame), FNET_BAD_LENGTH);
        CHECK_INT(get(types[i].type, types[i].max + 1, &frame), FNET_BAD_LENGTH);
        CHECK_INT(get(types[i].type, UINT32_MAX, &frame), FNET_BAD_LENGTH);
        CHECK_INT(frame.length, 1);
        CHECK_INT(get(types[i].type, types[i].min, &frame), FNET_OK);
        CHECK_INT(get(types[i].type, types[i].max, &frame), FNET_OK);
        CHECK_INT(frame.length, types[i].max);
        CHECK_INT(frame.type, types[i].type);
    }

    CASE("no other type is known");
    for (unsigned type = 0; type <= UINT8_MAX; type++) {
        struct fnet__wire_frame frame;
        if (fnet_message_type_name((uint8_t)type))
            known++;
        else
            CHECK_INT(get((uint8_t)type, 25, &frame), FNET_BAD_KIND);
    }
    CHECK_INT(known, sizeof types / sizeof *types);
}

static void test_header(void)
{
    static const uint8_t close[] = {0, 0, 0, 9, 0xba, 0xdc, 0x0f, 0xfe, 5};
    uint8_t bytes[sizeof close];
    struct fnet__wire_frame frame;

    CASE("a header is length, magic, type");
    fnet__wire_frame_put(bytes, 9, FNET_CLOSE_REQUEST);
    CHECK_MEM(bytes, close, sizeof close);

    CASE("fewer bytes than a header are not enough");
    for (size_t len = 0; len < sizeof close; len++)
        CHECK_INT(fnet__wire_frame_get(fnet_dialect_newest(), fnet_span_of(close, len), &frame),
                  FNET_AGAIN);

    CASE("each byte of the magic number matters");
    for (size_t i = 4; i < 8; i++) {
        memcpy(bytes, close, sizeof close);
        bytes[i] ^= 1;
        CHECK_INT(
            fnet__wire_frame_get(fnet_dialect_newest(), fnet_span_of(bytes, sizeof bytes), &frame),
            FNET_BAD_MAGIC);
    }
}

int main(void)
{
    test_types();
    test_header();
    return tap_done();
}
