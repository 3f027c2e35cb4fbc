/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: what a stream element says, as fields of tests/flink/README.
 */
#ifndef TESTS_FLINK_ELEMENTS_H
#define TESTS_FLINK_ELEMENTS_H

#include <inttypes.h>

#include "fnet/element.h"

#include "flink_fields.h"

/* All but the value. */
static void flink_add_element(struct flink_fields *f, const struct fnet_element *e)
{
    flink_add(f, "type", "%s", fnet_element_type_name(e->tag));
    switch (e->tag) {
    case FNET_ELEMENT_RECORD: break;
    case FNET_ELEMENT_TIMED_RECORD:
    case FNET_ELEMENT_WATERMARK: flink_add(f, "timestamp", "%" PRId64, e->timestamp); break;
    case FNET_ELEMENT_LATENCY_MARKER:
        flink_add(f, "marked", "%" PRId64, e->timestamp);
        flink_add_id(f, "operator", &e->operator_id);
        flink_add(f, "subtask", "%" PRId32, e->subtask);
        break;
    case FNET_ELEMENT_WATERMARK_STATUS: flink_add_flag(f, "idle", e->is_idle); break;
    case FNET_ELEMENT_RECORD_ATTRIBUTES: flink_add_flag(f, "backlog", e->is_backlog); break;
    case FNET_ELEMENT_INTERNAL_WATERMARK:
        flink_add(f, "subpartition", "%" PRId32, e->subpartition);
        flink_add(f, "timestamp", "%" PRId64, e->timestamp);
        break;
    }
}

#endif
