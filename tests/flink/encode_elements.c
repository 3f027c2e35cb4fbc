/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream elements for Flink to read: values of every type, and what stands between them.
 */
#include "../unit/flink_elements.h"

#include <string.h>

#include "fnet/value.h"

#include "dice.h"
#include "encode.h"

/* In no UTF-8; those bytes of a tuple that are a field of their own go without it. */
#define SEPARATOR 0xff
#define LONG_TEXT 100000

static const int64_t longs[] = {0, 1, -1, 42, INT64_MAX, INT64_MAX - 1, INT64_MIN, INT64_MIN + 1};
static const int32_t ints[] = {0, 1, -1, INT32_MAX, INT32_MIN};

/* A value that is to be, and its text. */
struct wanted {
    enum fnet_value_type type;
    bool is_null;
    int64_t number;
    struct fnet_span text;
};

/* ---- values ------------------------------------------------------------------------------ */

static struct wanted number(enum fnet_value_type type, int64_t value)
{
    char *text = (char *)scratch(24);

    snprintf(text, 24, "%" PRId64, value);
    return (struct wanted){.type = type, .number = value, .text = fnet_span_of(text, strlen(text))};
}

static struct wanted string(struct fnet_span text)
{
    return (struct wanted){.type = FNET_VALUE_STRING, .text = text};
}

static struct wanted bytes(struct fnet_span value)
{
    return (struct wanted){.type = FNET_VALUE_BYTES, .text = value};
}

static struct wanted null_string(void)
{
    return (struct wanted){
        .type = FNET_VALUE_STRING, .is_null = true, .text = fnet_span_of("\\N", 2)};
}

static struct wanted roll_value(void)
{
    switch ((enum fnet_value_type)roll_below(FNET_VALUE_BYTES + 1)) {
    case FNET_VALUE_STRING:
        return roll_below(10) == 0 ? null_string() : string(roll_text(roll_below(140)));
    case FNET_VALUE_LONG: return number(FNET_VALUE_LONG, roll_between(INT64_MIN, INT64_MAX));
    case FNET_VALUE_INT: return number(FNET_VALUE_INT, roll_int());
    case FNET_VALUE_BYTES: break;
    }
    return bytes(roll_bytes(roll_below(100)));
}

static void add_value(struct flink_fields *f, const char *key, const struct wanted *v)
{
    switch (v->type) {
    case FNET_VALUE_STRING:
        if (!v->is_null)
            flink_add_text(f, key, v->text);
        break;
    case FNET_VALUE_LONG:
    case FNET_VALUE_INT: flink_add(f, key, "%" PRId64, v->number); break;
    case FNET_VALUE_BYTES: flink_add_hex(f, key, v->text); break;
    }
}

/* ---- records ----------------------------------------------------------------------------- */

/* The text of VALUES with separators between. */
static struct fnet_span join(const struct wanted *values, size_t count)
{
    size_t bytes = count;

    for (size_t i = 0; i < count; i++)
        bytes += values[i].text.len;

    struct fnet_writer w = fnet_writer_of(scratch(bytes), bytes);
    const uint8_t *text = w.pos;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            fnet_put_u8(&w, SEPARATOR);
        fnet_put_bytes(&w, values[i].text.ptr, values[i].text.len);
    }
    return fnet_span_of(text, (size_t)(w.pos - text));
}

/* TEXT as the value of E, which has a timestamp or is made by the other way that fnet has. */
static void write_element(const struct fnet_serde *serde, struct fnet_span text,
                          struct fnet_element *e, struct flink_fields *f)
{
    struct fnet_value_fault fault;
    struct fnet_transcoder t;
    struct fnet_span record = text;
    size_t done;

    if (e->tag == FNET_ELEMENT_RECORD) {
        fnet_transcoder_init(&t, serde, "/tmp");
        must(fnet_transcoder_encode(&t, &text, 1, &record, &done, &fault), "a record");
        write_line("record", f, record, fnet_span_of(NULL, 0));
        fnet_transcoder_clear(&t);
        return;
    }
    const size_t most = fnet_values_encoded_max(serde, text);
    struct fnet_writer w = fnet_writer_of(scratch(most), most);
    const uint8_t *value = w.pos;
    must(fnet_values_encode(serde, text, &w, &fault), "a value");
    e->value = fnet_span_of(value, (size_t)(w.pos - value));

    const size_t size = fnet_element_encoded_bytes(e);
    w = fnet_writer_of(scratch(size), size);
    must(fnet_element_encode(e, &w), "a record");
    write_line("record-timed", f, fnet_span_of(w.pos - size, size), fnet_span_of(NULL, 0));
}

static void write_record(struct fnet_element e, bool is_tuple, const struct wanted *values,
                         size_t count)
{
    struct fnet_serde serde = {.field_count = count, .is_tuple = is_tuple, .separator = SEPARATOR};
    struct flink_fields f = {.text = NULL};
    char name[FNET_SERDE_TEXT_BYTES];

    for (size_t i = 0; i < count; i++)
        serde.fields[i] = values[i].type;
    fnet_serde_format(&serde, name);
    flink_add_element(&f, &e);
    flink_add(&f, "serde", "%s", name);
    for (size_t i = 0; i < count; i++) {
        char key[32] = "value";
        if (is_tuple)
            snprintf(key, sizeof key, "value.%zu", i);
        add_value(&f, key, &values[i]);
    }
    write_element(&serde, join(values, count), &e, &f);
}

static void write_value(struct wanted value)
{
    write_record((struct fnet_element){.tag = FNET_ELEMENT_RECORD}, false, &value, 1);
}

static void write_rolled_tuple(struct fnet_element e, size_t count)
{
    struct wanted values[FNET_TUPLE_MAX_FIELDS];

    for (size_t i = 0; i < count; i++) {
        values[i] = roll_value();
        if (values[i].type != FNET_VALUE_BYTES)
            continue;
        uint8_t *copy = scratch(values[i].text.len);
        for (size_t at = 0; at < values[i].text.len; at++)
            copy[at] = values[i].text.ptr[at] & (SEPARATOR - 1);
        values[i].text.ptr = copy;
    }
    write_record(e, true, values, count);
}

static void encode_strings(void)
{
    static const uint32_t codes[] = {0,       0x1f,    0x7e,     0x7f,   0x80,   0xff,   0x7ff,
                                     0x800,   0x3fff,  0x4000,   0xd7ff, 0xe000, 0xfffd, 0xffff,
                                     0x10000, 0x1f600, 0x10ffff, '\\',   ';',    '\t'};
    static const size_t lengths[] = {0, 1, 125, 126, 127, 128, 16381, 16382, 16383, LONG_TEXT};

    write_value(null_string());
    for (size_t c = 0; c < COUNT(codes); c++)
        for (size_t l = 0; l < COUNT(lengths); l++) {
            /* The long ones of a few widths only. */
            if (lengths[l] > 1000 && c % 5 != 0)
                continue;
            struct fnet_writer w = fnet_writer_of(scratch(4 * lengths[l]), 4 * lengths[l]);
            const uint8_t *text = w.pos;
            for (size_t i = 0; i < lengths[l]; i++)
                put_utf8(&w, codes[c]);
            write_value(string(fnet_span_of(text, (size_t)(w.pos - text))));
        }
}

static void encode_records(void)
{
    static const size_t lengths[] = {0, 1, 4, 255, 256, 300, 70000};

    encode_strings();
    for (size_t i = 0; i < COUNT(longs); i++) {
        const struct fnet_element e = {.tag = FNET_ELEMENT_TIMED_RECORD, .timestamp = longs[i]};
        const struct wanted value = number(FNET_VALUE_LONG, longs[i]);
        write_record(e, false, &value, 1);
        write_value(number(FNET_VALUE_LONG, longs[i]));
    }
    for (size_t i = 0; i < COUNT(ints); i++)
        write_value(number(FNET_VALUE_INT, ints[i]));
    for (size_t i = 0; i < COUNT(lengths); i++)
        write_value(bytes(roll_bytes(lengths[i])));
    for (size_t fields = 1; fields <= FNET_TUPLE_MAX_FIELDS; fields++)
        write_rolled_tuple((struct fnet_element){.tag = FNET_ELEMENT_RECORD}, fields);
}

/* ---- all elements ------------------------------------------------------------------------ */

static void write_mark(struct fnet_element e)
{
    const size_t size = fnet_element_encoded_bytes(&e);
    struct fnet_writer w = fnet_writer_of(scratch(size), size);
    struct flink_fields f = {.text = NULL};

    flink_add_element(&f, &e);
    must(fnet_element_encode(&e, &w), fnet_element_type_name(e.tag));
    write_line(fnet_element_type_name(e.tag), &f, fnet_span_of(w.pos - size, size),
               fnet_span_of(NULL, 0));
}

/* The last two tags are new in 1.19. */
static unsigned count_tags(const struct fnet_dialect *dialect)
{
    return (is_since(dialect, "1.19") ? FNET_ELEMENT_INTERNAL_WATERMARK
                                      : FNET_ELEMENT_WATERMARK_STATUS) +
           1;
}

static void encode_marks(const struct fnet_dialect *dialect)
{
    for (unsigned tag = FNET_ELEMENT_WATERMARK; tag < count_tags(dialect); tag++)
        for (size_t i = 0; i < COUNT(longs); i++)
            write_mark((struct fnet_element){
                .tag = (enum fnet_element_tag)tag,
                .timestamp = longs[i],
                .operator_id = roll_id(),
                .subtask = ints[i % COUNT(ints)],
                .is_idle = i % 2,
                .is_backlog = i % 2,
                .subpartition = ints[i % COUNT(ints)],
            });
}

static void encode_rolled(const struct fnet_dialect *dialect)
{
    const struct fnet_element e = {
        .tag = (enum fnet_element_tag)roll_below(count_tags(dialect)),
        .timestamp = roll_between(INT64_MIN, INT64_MAX),
        .operator_id = roll_id(),
        .subtask = roll_int(),
        .is_idle = roll_flag(),
        .is_backlog = roll_flag(),
        .subpartition = roll_int(),
    };

    if (!fnet_element_is_record(&e)) {
        write_mark(e);
    } else if (roll_flag()) {
        write_rolled_tuple(e, 1 + roll_below(FNET_TUPLE_MAX_FIELDS));
    } else {
        const struct wanted value = roll_value();
        write_record(e, false, &value, 1);
    }
}

void encode_elements(const struct fnet_dialect *dialect, unsigned count)
{
    encode_records();
    encode_marks(dialect);
    for (unsigned i = 0; i < count; i++)
        encode_rolled(dialect);
}
