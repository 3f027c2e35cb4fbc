/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of stream elements from their text, and their text from them.
 *
 * Source: Flink LongSerializer, IntSerializer, BytePrimitiveArraySerializer, TupleSerializer (1.5
 * to 2.3); java.lang.Long.parseLong for what is a number.
 */
#include "fnet/value.h"

#include "string_value.h"

#define TUPLE_PREFIX "tuple("
#define NULL_TEXT "\\N"
#define NULL_TEXT_BYTES 2
/* Of -9223372036854775808. */
#define NUMBER_TEXT_BYTES 20
/* A value but for its text's bytes: a String's length or a long. */
#define FIXED_BYTES 8
/* A text from this length on is looked at before room is made for it. */
#define LONG_TEXT_BYTES (64u << 10)

/* ---- names ------------------------------------------------------------------------------- */

static const char *const type_names[] = {
    [FNET_VALUE_STRING] = "string",
    [FNET_VALUE_LONG] = "long",
    [FNET_VALUE_INT] = "int",
    [FNET_VALUE_BYTES] = "bytes",
};
#define TYPES (sizeof type_names / sizeof *type_names)

const char *fnet_value_type_name(enum fnet_value_type type)
{
    return type_names[type];
}

/* The type whose name is the first LEN characters of TEXT, as the next field of SERDE. */
static enum fnet_err add_field(struct fnet_serde *serde, const char *text, size_t len)
{
    for (size_t i = 0; i < TYPES; i++) {
        if (strlen(type_names[i]) != len || memcmp(type_names[i], text, len) != 0)
            continue;
        if (serde->field_count == FNET_TUPLE_MAX_FIELDS)
            return FNET_RANGE;
        serde->fields[serde->field_count++] = (enum fnet_value_type)i;
        return FNET_OK;
    }
    return FNET_INVALID;
}

/* TYPE,TYPE...) */
static enum fnet_err parse_tuple(const char *list, struct fnet_serde *serde)
{
    serde->is_tuple = true;
    for (;;) {
        const size_t len = strcspn(list, ",)");
        enum fnet_err err = add_field(serde, list, len);
        if (err != FNET_OK)
            return err;
        list += len;
        if (*list == '\0' || (*list == ')' && list[1] != '\0'))
            return FNET_INVALID;
        if (*list++ == ')')
            return FNET_OK;
    }
}

enum fnet_err fnet_serde_parse(const char *name, struct fnet_serde *serde)
{
    struct fnet_serde parsed = {.separator = serde->separator};
    enum fnet_err err = FNET_OK;

    if (strncmp(name, TUPLE_PREFIX, strlen(TUPLE_PREFIX)) == 0)
        err = parse_tuple(name + strlen(TUPLE_PREFIX), &parsed);
    else if (strcmp(name, "raw") != 0)
        err = add_field(&parsed, name, strlen(name));
    if (err == FNET_OK)
        *serde = parsed;
    return err;
}

void fnet_serde_format(const struct fnet_serde *serde, char text[static FNET_SERDE_TEXT_BYTES])
{
    char *end = stpcpy(text, serde->is_tuple ? TUPLE_PREFIX : "");

    if (fnet_serde_is_raw(serde))
        end = stpcpy(end, "raw");
    for (size_t i = 0; i < serde->field_count; i++) {
        end = stpcpy(end, i > 0 ? "," : "");
        end = stpcpy(end, type_names[serde->fields[i]]);
    }
    stpcpy(end, serde->is_tuple ? ")" : "");
}

/* ---- numbers ----------------------------------------------------------------------------- */

enum fnet_err fnet_value_parse_number(enum fnet_value_type type, struct fnet_span text,
                                      int64_t *number)
{
    const bool is_negative = text.len > 0 && text.ptr[0] == '-';
    const uint64_t greatest = type == FNET_VALUE_INT ? INT32_MAX : INT64_MAX;
    const uint64_t most = greatest + is_negative;
    uint64_t value = 0;
    size_t i = is_negative;

    if (i == text.len)
        return FNET_BAD_VALUE;
    for (; i < text.len; i++) {
        const unsigned digit = text.ptr[i] - (unsigned)'0';
        if (digit > 9 || value > (most - digit) / 10)
            return FNET_BAD_VALUE;
        value = value * 10 + digit;
    }
    *number = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return FNET_OK;
}

static void put_decimal(int64_t number, struct fnet_writer *w)
{
    char text[NUMBER_TEXT_BYTES];
    size_t at = sizeof text;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    do
        text[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (number < 0)
        text[--at] = '-';
    fnet_put_bytes(w, text + at, sizeof text - at);
}

/* ---- one value --------------------------------------------------------------------------- */

static bool is_null_text(struct fnet_span text)
{
    return text.len == NULL_TEXT_BYTES && memcmp(text.ptr, NULL_TEXT, NULL_TEXT_BYTES) == 0;
}

/* W has room. */
static enum fnet_err encode(enum fnet_value_type type, struct fnet_span text, struct fnet_writer *w)
{
    int64_t number = 0;
    enum fnet_err err = FNET_OK;

    switch (type) {
    case FNET_VALUE_STRING:
        if (is_null_text(text))
            fnet_put_u8(w, 0);
        else
            fnet__string_put(text, w);
        break;
    case FNET_VALUE_LONG:
        err = fnet_value_parse_number(type, text, &number);
        fnet_put_i64(w, number);
        break;
    case FNET_VALUE_INT:
        err = fnet_value_parse_number(type, text, &number);
        fnet_put_i32(w, (int32_t)number);
        break;
    case FNET_VALUE_BYTES:
        fnet_put_u32(w, (uint32_t)text.len);
        fnet_put_bytes(w, text.ptr, text.len);
        break;
    }
    return err;
}

static enum fnet_err get_bytes(struct fnet_reader *r, struct fnet_value *value)
{
    const int32_t len = fnet_get_i32(r);

    if (len < 0)
        return FNET_BAD_VALUE;
    value->bytes = fnet_get_span(r, (size_t)len);
    return FNET_OK;
}

static enum fnet_err decode(enum fnet_value_type type, struct fnet_reader *r,
                            struct fnet_value *value)
{
    enum fnet_err err = FNET_OK;

    *value = (struct fnet_value){.type = type};
    switch (type) {
    case FNET_VALUE_STRING: err = fnet__string_get(r, value); break;
    case FNET_VALUE_LONG: value->number = fnet_get_i64(r); break;
    case FNET_VALUE_INT: value->number = fnet_get_i32(r); break;
    case FNET_VALUE_BYTES: err = get_bytes(r, value); break;
    }
    return r->failed ? FNET_TRUNCATED : err;
}

size_t fnet_value_text_max(const struct fnet_value *value)
{
    switch (value->type) {
    case FNET_VALUE_STRING:
        if (value->is_null)
            return NULL_TEXT_BYTES;
        /* The worst are units of two bytes that become three. */
        return value->bytes.len + (value->bytes.len > value->units ? value->bytes.len / 2 : 0);
    case FNET_VALUE_LONG:
    case FNET_VALUE_INT: return NUMBER_TEXT_BYTES;
    case FNET_VALUE_BYTES: return value->bytes.len;
    }
    return 0;
}

void fnet_value_put_text(const struct fnet_value *value, struct fnet_writer *w)
{
    switch (value->type) {
    case FNET_VALUE_STRING:
        if (value->is_null)
            fnet_put_bytes(w, NULL_TEXT, NULL_TEXT_BYTES);
        else
            fnet__string_put_text(value, w);
        break;
    case FNET_VALUE_LONG:
    case FNET_VALUE_INT: put_decimal(value->number, w); break;
    case FNET_VALUE_BYTES: fnet_put_bytes(w, value->bytes.ptr, value->bytes.len); break;
    }
}

/* ---- all of an element ------------------------------------------------------------------- */

size_t fnet_values_encoded_max(const struct fnet_serde *serde, struct fnet_span text)
{
    /* What is not ASCII may be malformed, and become three bytes each. */
    const size_t more = text.len < LONG_TEXT_BYTES ? text.len : fnet__string_count_high(text);

    return serde->field_count * FIXED_BYTES + text.len + 2 * more;
}

/* Take the next field off TEXT; FIELDS more follow it. */
static bool take_field(struct fnet_span *text, uint8_t separator, size_t fields,
                       struct fnet_span *field)
{
    const uint8_t *end = text->len ? memchr(text->ptr, separator, text->len) : NULL;

    *field = *text;
    if (!end)
        return fields == 0;
    if (fields == 0)
        return false;
    field->len = (size_t)(end - text->ptr);
    *text = fnet_span_of(end + 1, text->len - field->len - 1);
    return true;
}

static size_t count_fields(struct fnet_span text, uint8_t separator)
{
    size_t n = 1;

    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == separator;
    return n;
}

static enum fnet_err encode_tuple(const struct fnet_serde *serde, struct fnet_span text,
                                  struct fnet_writer *w, struct fnet_value_fault *fault)
{
    struct fnet_span rest = text;

    for (size_t i = 0; i < serde->field_count; i++) {
        struct fnet_span field;
        if (!take_field(&rest, serde->separator, serde->field_count - 1 - i, &field)) {
            *fault = (struct fnet_value_fault){.fields = count_fields(text, serde->separator),
                                               .text = text};
            return FNET_BAD_VALUE;
        }
        enum fnet_err err = encode(serde->fields[i], field, w);
        if (err != FNET_OK) {
            *fault =
                (struct fnet_value_fault){.field = i + 1, .type = serde->fields[i], .text = field};
            return err;
        }
    }
    return FNET_OK;
}

enum fnet_err fnet_values_encode(const struct fnet_serde *serde, struct fnet_span text,
                                 struct fnet_writer *w, struct fnet_value_fault *fault)
{
    struct fnet_writer to = *w;
    enum fnet_err err;

    if (fnet_writer_left(w) < fnet_values_encoded_max(serde, text))
        return FNET_RANGE;
    if (serde->is_tuple) {
        err = encode_tuple(serde, text, &to, fault);
    } else {
        err = encode(serde->fields[0], text, &to);
        if (err != FNET_OK)
            *fault = (struct fnet_value_fault){.type = serde->fields[0], .text = text};
    }
    if (err == FNET_OK)
        *w = to;
    return err;
}

enum fnet_err fnet_values_decode(const struct fnet_serde *serde, struct fnet_span bytes,
                                 struct fnet_value values[static FNET_TUPLE_MAX_FIELDS])
{
    struct fnet_reader r = fnet_reader_of(bytes);

    for (size_t i = 0; i < serde->field_count; i++) {
        enum fnet_err err = decode(serde->fields[i], &r, &values[i]);
        if (err != FNET_OK)
            return err;
    }
    return fnet_reader_left(&r) > 0 ? FNET_BAD_VALUE : FNET_OK;
}
