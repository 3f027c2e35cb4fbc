/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far an emission gets without a new buffer; what it writes is seen in test_record_writer.
 */
#include "../../../lib/stream/emission.h"

#include "../partition/made_partition.h"

#define RECORD_BYTES 12
#define NEED (FNET_RECORD_HEADER_BYTES + RECORD_BYTES)
#define RECORDS_MAX 64

static const uint8_t input[RECORDS_MAX * RECORD_BYTES] = "records that lie side by side";

static struct fnet_records records_of(struct fnet_span *spans, size_t n)
{
    for (size_t i = 0; i < n; i++)
        spans[i] = fnet_span_of(input + i * RECORD_BYTES, RECORD_BYTES);
    return (struct fnet_records){
        .spans = spans, .count = n, .within = fnet_span_of(input, n * RECORD_BYTES)};
}

/* Open the builder of each subpartition and leave ROOM bytes in it. */
static void leave_room(struct made_partition *m, uint32_t subpartitions, size_t room)
{
    for (uint32_t i = 0; i < subpartitions; i++)
        CHECK_INT(put_into(m->partition, i, 'x', MADE_SEGMENT_BYTES - room), FNET_OK);
}

static size_t room_of(const struct fnet__emission *e, uint32_t subpartition)
{
    return fnet_builder_room(fnet_builder_slot(e->slots, subpartition));
}

static void test_closed(void)
{
    struct made_partition m;
    struct fnet_span spans[RECORDS_MAX];
    const struct fnet_records records = records_of(spans, 8);
    const struct fnet_targets turns = {.kind = FNET_TARGETS_IN_TURN, .channels = 2};
    const struct fnet_targets all = {.kind = FNET_TARGETS_ALL};

    CASE("nothing goes where no buffer is open, and nothing to all");
    make_partition(&m, "main", 2, 4, 4);
    struct fnet__emission e = fnet__emission_of(m.partition, &records, &turns);
    CHECK_INT(fnet__emission_put(&e), 0);
    e = fnet__emission_of(m.partition, &records, &all);
    CHECK_INT(fnet__emission_put(&e), 0);
    CHECK_INT(e.rest.count, 8);
    unmake_partition(&m);
}

static void test_lanes(void)
{
    struct made_partition m;
    struct fnet_span spans[RECORDS_MAX];
    const struct fnet_records records = records_of(spans, 15);
    const struct fnet_targets turns = {.kind = FNET_TARGETS_IN_TURN, .next = 1, .channels = 2};

    CASE("with room for all, all go at once");
    make_partition(&m, "main", 2, 4, 4);
    leave_room(&m, 2, 8 * NEED + 1);
    struct fnet__emission e = fnet__emission_of(m.partition, &records, &turns);
    CHECK_INT(fnet__emission_put(&e), 15);
    CHECK_INT(room_of(&e, 0), NEED + 1);
    CHECK_INT(room_of(&e, 1), 1);
    CHECK_INT(e.rest.count, 0);
    unmake_partition(&m);

    CASE("with less, as many rounds as the fullest has room for; none is filled to its end");
    make_partition(&m, "main", 2, 4, 4);
    leave_room(&m, 2, 5 * NEED);
    e = fnet__emission_of(m.partition, &records, &turns);
    CHECK_INT(fnet__emission_put(&e), 8);
    CHECK_INT(room_of(&e, 0), NEED);
    CHECK_INT(room_of(&e, 1), NEED);

    CASE("then one by one: the next has no room");
    CHECK_INT(fnet__emission_put(&e), 0);
    CHECK_INT(e.rest.count, 7);
    CHECK(e.rest.spans == spans + 8);
    CHECK_INT(fnet_targets_at(&e.targets, 0), 1);
    unmake_partition(&m);
}

static void test_singly(void)
{
    struct made_partition m;
    struct fnet_span spans[RECORDS_MAX];
    const struct fnet_records records = records_of(spans, 9);
    const struct fnet_targets turns = {.kind = FNET_TARGETS_IN_TURN, .channels = 3};
    const uint32_t each[9] = {0, 0, 0, 0, 2, 1, 1, 1, 1};
    const struct fnet_targets chosen = {.kind = FNET_TARGETS_EACH, .each = each};

    CASE("where lanes do not pay, a round goes one by one before they are tried again");
    make_partition(&m, "main", 3, 8, 8);
    leave_room(&m, 3, 2 * NEED);
    struct fnet__emission e = fnet__emission_of(m.partition, &records, &turns);
    CHECK_INT(fnet__emission_put(&e), 3);
    CHECK_INT(fnet__emission_put(&e), 0);
    unmake_partition(&m);

    CASE("records with a target each go up to the first without room");
    make_partition(&m, "main", 3, 8, 8);
    leave_room(&m, 3, 3 * NEED);
    e = fnet__emission_of(m.partition, &records, &chosen);
    CHECK_INT(fnet__emission_put(&e), 2);
    fnet__emission_skip(&e, 2);
    CHECK_INT(fnet__emission_put(&e), 3);
    CHECK_INT(e.rest.count, 2);
    unmake_partition(&m);
}

int main(void)
{
    test_closed();
    test_lanes();
    test_singly();
    return tap_done();
}
