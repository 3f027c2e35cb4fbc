/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream elements to bytes and back.
 *
 * Source: Flink StreamElementSerializer (1.5 to 2.3).
 */
#include "fnet/element.h"

#define STATUS_ACTIVE 0
#define STATUS_IDLE (-1)

const char *fnet_element_type_name(uint32_t tag)
{
    static const char *const names[] = {
        [FNET_ELEMENT_TIMED_RECORD] = "StreamRecord",
        [FNET_ELEMENT_RECORD] = "StreamRecord",
        [FNET_ELEMENT_WATERMARK] = "Watermark",
        [FNET_ELEMENT_LATENCY_MARKER] = "LatencyMarker",
        [FNET_ELEMENT_WATERMARK_STATUS] = "WatermarkStatus",
        [FNET_ELEMENT_RECORD_ATTRIBUTES] = "RecordAttributes",
        [FNET_ELEMENT_INTERNAL_WATERMARK] = "InternalWatermark",
    };
    return tag < sizeof names / sizeof *names ? names[tag] : NULL;
}

size_t fnet_element_encoded_bytes(const struct fnet_element *element)
{
    switch (element->tag) {
    case FNET_ELEMENT_TIMED_RECORD: return 1 + 8 + element->value.len;
    case FNET_ELEMENT_RECORD: return 1 + element->value.len;
    case FNET_ELEMENT_WATERMARK: return 1 + 8;
    case FNET_ELEMENT_LATENCY_MARKER: return 1 + 8 + FNET_ID_BYTES + 4;
    case FNET_ELEMENT_WATERMARK_STATUS: return 1 + 4;
    case FNET_ELEMENT_RECORD_ATTRIBUTES: return 1 + 1;
    case FNET_ELEMENT_INTERNAL_WATERMARK: return 1 + 4 + 8;
    }
    return 1;
}

enum fnet_err fnet_element_encode(const struct fnet_element *element, struct fnet_writer *w)
{
    if (!fnet_element_type_name((uint32_t)element->tag))
        return FNET_BAD_KIND;
    if (fnet_element_encoded_bytes(element) > fnet_writer_left(w))
        return FNET_RANGE;

    fnet_put_u8(w, (uint8_t)element->tag);
    switch (element->tag) {
    case FNET_ELEMENT_TIMED_RECORD:
        fnet_put_i64(w, element->timestamp);
        fnet_put_bytes(w, element->value.ptr, element->value.len);
        break;
    case FNET_ELEMENT_RECORD: fnet_put_bytes(w, element->value.ptr, element->value.len); break;
    case FNET_ELEMENT_WATERMARK: fnet_put_i64(w, element->timestamp); break;
    case FNET_ELEMENT_LATENCY_MARKER:
        fnet_put_i64(w, element->timestamp);
        fnet_put_bytes(w, element->operator_id.bytes, FNET_ID_BYTES);
        fnet_put_i32(w, element->subtask);
        break;
    case FNET_ELEMENT_WATERMARK_STATUS:
        fnet_put_i32(w, element->is_idle ? STATUS_IDLE : STATUS_ACTIVE);
        break;
    case FNET_ELEMENT_RECORD_ATTRIBUTES: fnet_put_u8(w, element->is_backlog); break;
    case FNET_ELEMENT_INTERNAL_WATERMARK:
        fnet_put_i32(w, element->subpartition);
        fnet_put_i64(w, element->timestamp);
        break;
    }
    return FNET_OK;
}

/* All that is left is the value. */
static struct fnet_span get_rest(struct fnet_reader *r)
{
    return fnet_get_span(r, fnet_reader_left(r));
}

static void get_latency_marker(struct fnet_reader *r, struct fnet_element *out)
{
    out->timestamp = fnet_get_i64(r);
    struct fnet_span id = fnet_get_span(r, FNET_ID_BYTES);
    if (id.len)
        memcpy(out->operator_id.bytes, id.ptr, id.len);
    out->subtask = fnet_get_i32(r);
}

static enum fnet_err get_watermark_status(struct fnet_reader *r, struct fnet_element *out)
{
    int32_t status = fnet_get_i32(r);

    out->is_idle = status == STATUS_IDLE;
    return status == STATUS_IDLE || status == STATUS_ACTIVE ? FNET_OK : FNET_BAD_VALUE;
}

static enum fnet_err get_record_attributes(struct fnet_reader *r, struct fnet_element *out)
{
    uint8_t is_backlog = fnet_get_u8(r);

    out->is_backlog = is_backlog == 1;
    return is_backlog <= 1 ? FNET_OK : FNET_BAD_VALUE;
}

enum fnet_err fnet_element_decode(struct fnet_span record, struct fnet_element *out)
{
    struct fnet_reader r = fnet_reader_of(record);
    const uint8_t tag = fnet_get_u8(&r);
    struct fnet_element element = {.tag = (enum fnet_element_tag)tag};
    enum fnet_err err = FNET_OK;

    if (r.failed)
        return FNET_TRUNCATED;
    if (!fnet_element_type_name(tag))
        return FNET_BAD_KIND;
    switch (element.tag) {
    case FNET_ELEMENT_TIMED_RECORD:
        element.timestamp = fnet_get_i64(&r);
        element.value = get_rest(&r);
        break;
    case FNET_ELEMENT_RECORD: element.value = get_rest(&r); break;
    case FNET_ELEMENT_WATERMARK: element.timestamp = fnet_get_i64(&r); break;
    case FNET_ELEMENT_LATENCY_MARKER: get_latency_marker(&r, &element); break;
    case FNET_ELEMENT_WATERMARK_STATUS: err = get_watermark_status(&r, &element); break;
    case FNET_ELEMENT_RECORD_ATTRIBUTES: err = get_record_attributes(&r, &element); break;
    case FNET_ELEMENT_INTERNAL_WATERMARK:
        element.subpartition = fnet_get_i32(&r);
        element.timestamp = fnet_get_i64(&r);
        break;
    }
    if (r.failed)
        return FNET_TRUNCATED;
    if (err != FNET_OK || fnet_reader_left(&r) > 0)
        return FNET_BAD_VALUE;
    *out = element;
    return FNET_OK;
}
