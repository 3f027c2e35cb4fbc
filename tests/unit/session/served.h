/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: a partition of four subpartitions behind a producer session, and a scripted consumer.
 */
#ifndef TESTS_SESSION_SERVED_H
#define TESTS_SESSION_SERVED_H

#include "../partition/made_partition.h"
#include "scripted_peer.h"

#define SUBPARTITIONS 4

/* A producer session over the partition "main", and its consumer. */
struct served {
    struct made_partition main;
    struct fnet_registry registry;
    struct fnet_session *session;
    struct scripted_peer peer;
    struct fnet_id ids[SUBPARTITIONS]; /* receivers, one per subpartition */
    int rings;
};

__attribute__((unused)) static void serve(struct served *s, size_t step)
{
    make_partition(&s->main, "main", SUBPARTITIONS, 64, 64);
    s->registry = (struct fnet_registry){.count = 0};
    CHECK_INT(fnet_registry_add(&s->registry, s->main.partition), FNET_OK);
    CHECK_INT(fnet_producer_session_new(&s->registry, fnet_dialect_newest(), &s->session), FNET_OK);
    s->rings = 0;
    fnet_session_set_bell(s->session, counting_bell(&s->rings));
    meet(&s->peer, s->session);
    s->peer.step = step;
    for (size_t i = 0; i < SUBPARTITIONS; i++)
        fnet_id_random(&s->ids[i]);
}

__attribute__((unused)) static void stop(struct served *s)
{
    part(&s->peer);
    fnet_registry_clear(&s->registry);
    unmake_partition(&s->main);
}

__attribute__((unused)) static struct fnet_message request_of(const struct served *s,
                                                              int32_t subpartition, int32_t credit)
{
    return (struct fnet_message){.type = FNET_PARTITION_REQUEST,
                                 .receiver = s->ids[subpartition % SUBPARTITIONS],
                                 .request = {.partition = *fnet_partition_id(s->main.partition),
                                             .first = subpartition,
                                             .last = subpartition,
                                             .credit = credit}};
}

__attribute__((unused)) static enum fnet_err request(struct served *s, int32_t subpartition,
                                                     int32_t credit)
{
    const struct fnet_message message = request_of(s, subpartition, credit);

    return tell(&s->peer, &message);
}

__attribute__((unused)) static enum fnet_err say(struct served *s, enum fnet_message_type type,
                                                 uint32_t subpartition)
{
    const struct fnet_message message = {.type = type, .receiver = s->ids[subpartition]};

    return tell(&s->peer, &message);
}

__attribute__((unused)) static enum fnet_err add_credit(struct served *s, uint32_t subpartition,
                                                        int32_t credit)
{
    const struct fnet_message message = {
        .type = FNET_ADD_CREDIT, .receiver = s->ids[subpartition], .credit = credit};

    return tell(&s->peer, &message);
}

__attribute__((unused)) static void put(struct served *s, uint32_t subpartition, uint8_t byte,
                                        size_t len)
{
    CHECK_INT(put_into(s->main.partition, subpartition, byte, len), FNET_OK);
}

__attribute__((unused)) static enum fnet_subpartition_state state_of(const struct served *s,
                                                                     uint32_t subpartition)
{
    return fnet_partition_state(s->main.partition, subpartition);
}

/* Hear a data buffer of SUBPARTITION. */
__attribute__((unused)) static void must_hear_data(struct served *s, uint32_t subpartition,
                                                   int32_t sequence, uint8_t byte, uint32_t size,
                                                   int32_t backlog)
{
    struct fnet_message m = must_hear(&s->peer, FNET_BUFFER_RESPONSE, &s->ids[subpartition]);

    CHECK_INT(m.buffer.data_type, FNET_DATA_BUFFER);
    CHECK_INT(m.buffer.subpartition, subpartition);
    CHECK_INT(m.buffer.sequence, sequence);
    CHECK_INT(m.buffer.backlog, backlog);
    CHECK_INT(m.buffer.size, size);
    if (CHECK_INT(s->peer.payload_len, size) && size > 0)
        CHECK_INT(s->peer.payload[size - 1], byte);
}

__attribute__((unused)) static void must_hear_event(struct served *s, uint32_t subpartition,
                                                    int32_t sequence, uint8_t type)
{
    struct fnet_message m = must_hear(&s->peer, FNET_BUFFER_RESPONSE, &s->ids[subpartition]);

    CHECK_INT(m.buffer.data_type, type);
    CHECK_INT(m.buffer.sequence, sequence);
}

#endif
