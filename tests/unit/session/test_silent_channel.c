/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end that is held until the records before it were processed.
 */
#include "../../../lib/session/silent_channel.h"

#include <stdlib.h>

#include "fnet/event.h"

#include "../failmalloc.h"
#include "../gate/made_gate.h"

static struct fnet_buffer end_of_partition(void)
{
    static const uint8_t bytes[4];
    struct fnet_buffer buffer = {.segment = NULL};

    CHECK_INT(
        fnet_buffer_new_heap(fnet_span_of(bytes, sizeof bytes), FNET_END_OF_PARTITION, &buffer),
        FNET_OK);
    return buffer;
}

static uint8_t polled(struct made_gate *gate)
{
    struct fnet_gate_item item;

    if (fnet_gate_poll(gate->gate, &item) != FNET_OK)
        return 0;
    uint8_t type = item.buffer.data_type;
    fnet_gate_recycle(gate->gate, &item);
    return type;
}

static void test_keep(void)
{
    struct made_gate gate;
    struct fnet_id_map map = {.count = 0};
    struct fnet_partition_id id = {.number = 1};
    unsigned n = 0;
    bool did_fail;

    CASE("the partition asked for last is known, and nothing of a channel that never asked");
    make_gate(&gate, 1, 2, 0);
    CHECK(fnet__silent_channel_find(&map, gate.channels[0]) == NULL);
    do {
        failmalloc_arm(++n);
        enum fnet_err err = fnet__silent_channel_keep(&map, gate.channels[0], &id);
        did_fail = failmalloc_disarm();
        CHECK_INT(err, did_fail ? FNET_NOMEM : FNET_OK);
        CHECK((fnet__silent_channel_find(&map, gate.channels[0]) == NULL) == did_fail);
    } while (did_fail);
    id.number = 2;
    CHECK_INT(fnet__silent_channel_keep(&map, gate.channels[0], &id), FNET_OK);
    struct fnet__silent_channel *silent = fnet__silent_channel_find(&map, gate.channels[0]);
    CHECK_INT(silent->partition.number, 2);
    CHECK_INT(map.count, 1);
    CHECK(!silent->is_ending);
    free(silent);
    fnet_id_map_clear(&map);
    unmake_gate(&gate);
}

static void test_hold(void)
{
    struct made_gate gate;
    struct fnet__silent_channel silent = {.is_ending = false};
    struct fnet_buffer event = end_of_partition();
    struct fnet_event decoded = {.type = FNET_EVENT_OTHER};

    CASE("nothing is given as long as nothing is held");
    make_gate(&gate, 1, 2, 0);
    CHECK_INT(fnet__silent_channel_end(NULL, gate.channels[0]), FNET_OK);
    CHECK_INT(fnet__silent_channel_end(&silent, gate.channels[0]), FNET_OK);
    CHECK_INT(polled(&gate), 0);

    CASE("the end of the partition becomes that of the data, and follows it");
    failmalloc_arm(1);
    enum fnet_err err = fnet__silent_channel_hold_end(&silent, 0, &event);
    if (failmalloc_disarm()) {
        CHECK_INT(err, FNET_NOMEM);
        CHECK_INT(event.data_type, FNET_END_OF_PARTITION);
        CHECK(!silent.is_ending);
        CHECK_INT(fnet__silent_channel_hold_end(&silent, 0, &event), FNET_OK);
    }
    CHECK_INT(event.data_type, FNET_END_OF_DATA);
    CHECK_INT(fnet_event_decode(fnet_dialect_newest(), fnet_buffer_span(&event), &decoded),
              FNET_OK);
    CHECK_INT(decoded.type, FNET_EVENT_END_OF_DATA);
    CHECK_INT(fnet_channel_receive(gate.channels[0], &event, 0), FNET_OK);
    CHECK_INT(polled(&gate), FNET_END_OF_DATA);
    CHECK_INT(fnet__silent_channel_end(&silent, gate.channels[0]), FNET_OK);
    CHECK_INT(fnet_channel_state(gate.channels[0]), FNET_CHANNEL_ENDED);
    CHECK_INT(polled(&gate), FNET_END_OF_PARTITION);
    CASE("once");
    CHECK_INT(fnet__silent_channel_end(&silent, gate.channels[0]), FNET_OK);
    CHECK_INT(polled(&gate), 0);

    CASE("behind the greatest number comes the least");
    event = end_of_partition();
    CHECK_INT(fnet__silent_channel_hold_end(&silent, INT32_MAX, &event), FNET_OK);
    CHECK_INT(silent.sequence, INT32_MIN);
    fnet_buffer_clear(&event);
    unmake_gate(&gate);
}

int main(void)
{
    test_keep();
    test_hold();
    return tap_done();
}
