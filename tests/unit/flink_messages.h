/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: what a message says in one dialect, as fields of tests/flink/README.
 */
#ifndef TESTS_FLINK_MESSAGES_H
#define TESTS_FLINK_MESSAGES_H

#include <inttypes.h>

#include "fnet/wire.h"

#include "flink_fields.h"

static void flink_add_partition(struct flink_fields *f, const struct fnet_dialect *dialect,
                                const struct fnet_partition_id *id)
{
    char vertex[FNET_ID_TEXT_BYTES];

    flink_add_id(f, "partition", &id->data_set);
    if (dialect->partition_bytes > 16)
        flink_add_more(f, "#%" PRId32, id->number);
    flink_add_id(f, "producer", &id->graph);
    fnet_id_format(&id->vertex, vertex);
    if (dialect->attempt_bytes > 16)
        flink_add_more(f, "_%s_%" PRId32 "_%" PRId32, vertex, id->subtask, id->attempt);
}

static void flink_add_buffer(struct flink_fields *f, const struct fnet_dialect *dialect,
                             const struct fnet_buffer_response *b)
{
    const uint8_t wire = fnet_dialect_put_data_type(dialect, b->data_type);

    if (dialect->buffer.subpartition)
        flink_add(f, "subpartition", "%" PRId32, b->subpartition);
    flink_add(f, "sequence", "%" PRId32, b->sequence);
    flink_add(f, "backlog", "%" PRId32, b->backlog);
    flink_add(f, "data_type", "%s", fnet_data_type_name(fnet_dialect_get_data_type(dialect, wire)));
    if (dialect->buffer.is_compressed)
        flink_add_flag(f, "compressed", b->is_compressed);
    flink_add(f, "size", "%" PRIu32, b->size);
    for (uint32_t i = 0; i < b->partials; i++) {
        const uint32_t size = fnet_load_be32(b->partial_sizes.ptr + 4 * i);
        if (i == 0)
            flink_add(f, "partial_sizes", "%" PRIu32, size);
        else
            flink_add_more(f, ",%" PRIu32, size);
    }
}

static void flink_add_body(struct flink_fields *f, const struct fnet_dialect *dialect,
                           const struct fnet_message *m)
{
    switch (m->type) {
    case FNET_BUFFER_RESPONSE: flink_add_buffer(f, dialect, &m->buffer); break;
    case FNET_PARTITION_REQUEST:
        flink_add_partition(f, dialect, &m->request.partition);
        flink_add(f, "subpartition", "%" PRId32, m->request.first);
        if (m->request.last != m->request.first)
            flink_add(f, "last_subpartition", "%" PRId32, m->request.last);
        flink_add(f, "credit", "%" PRId32, m->request.credit);
        break;
    case FNET_TASK_EVENT_REQUEST: flink_add_partition(f, dialect, &m->task_event.partition); break;
    case FNET_ADD_CREDIT:
        if (dialect->credit_names_partition)
            flink_add_partition(f, dialect, &m->credited);
        flink_add(f, "credit", "%" PRId32, m->credit);
        break;
    case FNET_BACKLOG_ANNOUNCEMENT: flink_add(f, "backlog", "%" PRId32, m->backlog); break;
    case FNET_NEW_BUFFER_SIZE: flink_add(f, "buffer_size", "%" PRId32, m->buffer_size); break;
    case FNET_SEGMENT_ID:
        if (dialect->segment_names_subpartition)
            flink_add(f, "subpartition", "%" PRId32, m->segment.subpartition);
        flink_add(f, "segment", "%" PRId32, m->segment.segment);
        break;
    case FNET_ERROR_RESPONSE:
    case FNET_CANCEL_PARTITION_REQUEST:
    case FNET_CLOSE_REQUEST:
    case FNET_RESUME_CONSUMPTION:
    case FNET_ACK_ALL_USER_RECORDS_PROCESSED:
    case FNET_DESCRIPTION_REQUEST:
    case FNET_DESCRIPTION_RESPONSE:
    case FNET_DIALECT_PROBE: break;
    }
}

/* All but the payload and what is in it. LENGTH is that of the frame. */
static void flink_add_message(struct flink_fields *f, const struct fnet_dialect *dialect,
                              size_t length, const struct fnet_message *m)
{
    const bool is_fatal = m->type == FNET_ERROR_RESPONSE && !m->error.has_receiver;

    flink_add(f, "type", "%s", fnet_message_type_name(m->type));
    flink_add(f, "length", "%zu", length);
    if (!is_fatal && m->type != FNET_CLOSE_REQUEST)
        flink_add_id(f, "receiver", &m->receiver);
    flink_add_body(f, dialect, m);
}

#endif
