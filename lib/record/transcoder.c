/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of texts into stream elements and back.
 *
 * Source: Flink StreamElementSerializer around the serializers in value.c.
 */
#include "fnet/element.h"
#include "fnet/value.h"

#include "string_value.h"

#define TAG_BYTES 1
/* A field's text but for a String's or the bytes: a long and a separator. */
#define FIXED_TEXT_BYTES 21
/* An element from this length on is looked at before room is made for its text. */
#define LONG_ELEMENT_BYTES (64u << 10)
/* What was needed for a longer batch is given back. */
#define KEPT_BYTES (4u << 20)

void fnet_transcoder_init(struct fnet_transcoder *t, const struct fnet_serde *serde,
                          const char *spill_dir)
{
    *t = (struct fnet_transcoder){.serde = *serde, .scratch = {.dir = spill_dir}};
}

void fnet_transcoder_clear(struct fnet_transcoder *t)
{
    fnet_spill_buffer_clear(&t->scratch);
}

/* Empty scratch memory of so many BYTES. The whole batch lies in one piece, which must not move
   once there are spans of it. */
static enum fnet_err begin(struct fnet_transcoder *t, size_t bytes, struct fnet_writer *w)
{
    t->scratch.len = 0;
    if (t->scratch.capacity > KEPT_BYTES)
        fnet_spill_buffer_clear(&t->scratch);
    enum fnet_err err = fnet_spill_buffer_reserve(&t->scratch, bytes);
    if (err == FNET_OK)
        *w = fnet_writer_of(t->scratch.ptr, t->scratch.capacity);
    return err;
}

/* ---- texts to elements ------------------------------------------------------------------- */

static size_t elements_max(const struct fnet_serde *serde, const struct fnet_span *texts, size_t n)
{
    size_t bytes = n * TAG_BYTES;

    for (size_t i = 0; i < n; i++)
        bytes += fnet_values_encoded_max(serde, texts[i]);
    return bytes;
}

enum fnet_err fnet_transcoder_encode(struct fnet_transcoder *t, const struct fnet_span *texts,
                                     size_t n, struct fnet_span *records, size_t *done,
                                     struct fnet_value_fault *fault)
{
    struct fnet_writer w;
    enum fnet_err err = begin(t, elements_max(&t->serde, texts, n), &w);
    size_t i = 0;

    for (; err == FNET_OK && i < n; i++) {
        const uint8_t *element = w.pos;
        fnet_put_u8(&w, FNET_ELEMENT_RECORD);
        err = fnet_values_encode(&t->serde, texts[i], &w, fault);
        const size_t len = (size_t)(w.pos - element);
        if (err == FNET_OK && len > FNET_RECORD_MAX_BYTES)
            err = FNET_BAD_LENGTH;
        if (err != FNET_OK)
            break;
        records[i] = fnet_span_of(element, len);
        t->scratch.len += len;
    }
    *done = i;
    return err;
}

/* ---- elements to texts ------------------------------------------------------------------- */

/* At least what fnet_value_text_max() says of the values of each, without looking at them. */
static size_t texts_max(const struct fnet_serde *serde, const struct fnet_span *records, size_t n)
{
    size_t bytes = n * serde->field_count * FIXED_TEXT_BYTES;

    for (size_t i = 0; i < n; i++) {
        const struct fnet_span record = records[i];
        const bool is_ascii =
            record.len >= LONG_ELEMENT_BYTES && fnet__string_count_high(record) == 0;
        bytes += record.len + (is_ascii ? 0 : record.len / 2);
    }
    return bytes;
}

/* ELEMENT is a record. */
static enum fnet_err put_text(const struct fnet_serde *serde, const struct fnet_element *element,
                              struct fnet_writer *w)
{
    struct fnet_value values[FNET_TUPLE_MAX_FIELDS];
    enum fnet_err err = fnet_values_decode(serde, element->value, values);

    if (err != FNET_OK)
        return err;
    for (size_t i = 0; i < serde->field_count; i++) {
        if (i > 0)
            fnet_put_u8(w, serde->separator);
        fnet_value_put_text(&values[i], w);
    }
    return FNET_OK;
}

enum fnet_err fnet_transcoder_decode(struct fnet_transcoder *t, const struct fnet_span *records,
                                     size_t n, struct fnet_span *texts, size_t *count, size_t *done)
{
    struct fnet_writer w;
    enum fnet_err err = begin(t, texts_max(&t->serde, records, n), &w);
    size_t found = 0;
    size_t i = 0;

    for (; err == FNET_OK && i < n; i++) {
        const uint8_t *text = w.pos;
        struct fnet_element element;
        err = fnet_element_decode(records[i], &element);
        if (err == FNET_OK && fnet_element_is_record(&element)) {
            err = put_text(&t->serde, &element, &w);
            if (err != FNET_OK)
                break;
            texts[found] = fnet_span_of(text, (size_t)(w.pos - text));
            t->scratch.len += texts[found++].len;
        }
        if (err != FNET_OK)
            break;
    }
    *count = found;
    *done = i;
    return err;
}
