/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every value that Flink wrote into its text and back, names of serdes, numbers, tuples, mistakes.
 */
#include "fnet/element.h"
#include "fnet/value.h"

#include "../flink_golden.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- golden ------------------------------------------------------------------------------ */

/* The value behind KEY= in FIELDS, up to a semicolon; false if there is none. */
static bool find_field(const char *fields, const char *key, char *value, size_t size)
{
    const size_t len = strlen(key);

    for (const char *at = fields; at; at = strchr(at, ';')) {
        at += *at == ';';
        if (strncmp(at, key, len) != 0 || at[len] != '=')
            continue;
        snprintf(value, size, "%.*s", (int)strcspn(at + len + 1, ";"), at + len + 1);
        return true;
    }
    return false;
}

static size_t put_utf8(uint32_t code, uint8_t *to)
{
    if (code < 0x80) {
        to[0] = (uint8_t)code;
        return 1;
    }
    const size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    for (size_t i = more; i > 0; i--, code >>= 6)
        to[i] = (uint8_t)(0x80 | (code & 0x3f));
    to[0] = (uint8_t)((0xf0u << (3 - more)) | code);
    return more + 1;
}

static bool is_high(uint32_t unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(uint32_t unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

static uint32_t unescape(const char **at)
{
    unsigned unit = (uint8_t) * *at;

    if (strncmp(*at, "\\u", 2) != 0) {
        ++*at;
        return unit;
    }
    sscanf(*at + 2, "%4x", &unit);
    *at += 6;
    return unit;
}

/* The UTF-8 of a field that has UTF-16 units as \uXXXX; half a pair is U+FFFD, and then false. */
static bool read_text(const char *field, uint8_t *to, size_t *len)
{
    bool is_whole = true;

    for (*len = 0; *field;) {
        uint32_t code = unescape(&field);
        const char *next = field;
        const uint32_t low = is_high(code) && *next ? unescape(&next) : 0;
        if (is_low(low)) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            field = next;
        } else if (is_high(code) || is_low(code)) {
            code = 0xfffd;
            is_whole = false;
        }
        *len += put_utf8(code, to + *len);
    }
    return is_whole;
}

/* What field I of the line's value is as text; false if it cannot be told back from it. */
static bool expected_text(const struct flink_line *line, const struct fnet_serde *serde, size_t i,
                          uint8_t *to, size_t *len)
{
    char key[32] = "value";
    char field[4096];

    if (serde->is_tuple)
        snprintf(key, sizeof key, "value.%zu", i);
    if (!find_field(line->fields, key, field, sizeof field)) {
        memcpy(to, "\\N", *len = 2);
        return true;
    }
    if (serde->fields[i] != FNET_VALUE_BYTES)
        return read_text(field, to, len);
    const struct fnet_span bytes = flink_bytes(field);
    memcpy(to, bytes.ptr, *len = bytes.len);
    return true;
}

static void check_cuts(const struct fnet_serde *serde, struct fnet_span bytes)
{
    struct fnet_value values[FNET_TUPLE_MAX_FIELDS];

    for (size_t len = 0; len < bytes.len; len++)
        CHECK_INT(fnet_values_decode(serde, fnet_span_of(bytes.ptr, len), values), FNET_TRUNCATED);
}

static void check_text(const struct flink_line *line, const struct fnet_serde *serde,
                       const struct fnet_value *values, struct fnet_span bytes)
{
    uint8_t expected[2048] = {0};
    uint8_t text[2048];
    uint8_t again[4096];
    size_t expected_len = 0;
    bool is_whole = true;
    struct fnet_writer w = fnet_writer_of(text, sizeof text);

    for (size_t i = 0; i < serde->field_count; i++) {
        size_t len;
        if (i > 0) {
            fnet_put_u8(&w, '|');
            expected[expected_len++] = '|';
        }
        CHECK_INT(values[i].type, serde->fields[i]);
        fnet_value_put_text(&values[i], &w);
        is_whole &= expected_text(line, serde, i, expected + expected_len, &len);
        expected_len += len;
    }
    CHECK_INT(w.pos - text, expected_len);
    CHECK_MEM(text, expected, expected_len);

    struct fnet_value_fault fault;
    w = fnet_writer_of(again, sizeof again);
    CHECK_INT(fnet_values_encode(serde, fnet_span_of(text, expected_len), &w, &fault), FNET_OK);
    if (!is_whole)
        return;
    CHECK_INT(w.pos - again, bytes.len);
    CHECK_MEM(again, bytes.ptr, bytes.len);
}

static void check_line(const struct flink_line *line)
{
    struct fnet_serde serde = {.separator = '|'};
    struct fnet_value values[FNET_TUPLE_MAX_FIELDS];
    struct fnet_element element;
    char name[64];

    if (!find_field(line->fields, "serde", name, sizeof name))
        return;
    CHECK_INT(fnet_serde_parse(name, &serde), FNET_OK);
    CHECK_INT(fnet_element_decode(line->bytes, &element), FNET_OK);
    if (!CHECK_INT(fnet_values_decode(&serde, element.value, values), FNET_OK))
        return;
    check_text(line, &serde, values, element.value);
    check_cuts(&serde, element.value);
}

/* ---- names ------------------------------------------------------------------------------- */

static void test_names(void)
{
    static const char *const right[] = {"raw",
                                        "string",
                                        "long",
                                        "int",
                                        "bytes",
                                        "tuple(string)",
                                        "tuple(string,long)",
                                        "tuple(int,bytes,int,string)"};
    static const char *const wrong[] = {"",
                                        "String",
                                        "longs",
                                        "lon",
                                        "string,long",
                                        "tuple",
                                        "tuple(",
                                        "tuple()",
                                        "tuple(string",
                                        "tuple(string,)",
                                        "tuple(,string)",
                                        "tuple(string)x",
                                        "tuple(string, long)",
                                        "tuple(raw)",
                                        "tuple(tuple(int))"};

    CASE("a name is read and written, and the separator stays");
    for (size_t i = 0; i < COUNT(right); i++) {
        struct fnet_serde serde = {.separator = ';'};
        char text[FNET_SERDE_TEXT_BYTES];
        CHECK_INT(fnet_serde_parse(right[i], &serde), FNET_OK);
        fnet_serde_format(&serde, text);
        CHECK_STR(text, right[i]);
        CHECK_INT(serde.separator, ';');
        CHECK_INT(fnet_serde_is_raw(&serde), i == 0);
    }
    CASE("nothing else is, and nothing changes then");
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct fnet_serde serde = {.field_count = 1, .fields = {FNET_VALUE_INT}};
        CHECK_INT(fnet_serde_parse(wrong[i], &serde), FNET_INVALID);
        CHECK(serde.field_count == 1 && serde.fields[0] == FNET_VALUE_INT && !serde.is_tuple);
    }
}

static void test_widest(void)
{
    char name[FNET_SERDE_TEXT_BYTES + 16] = "tuple(string";
    struct fnet_serde serde = FNET_SERDE_INIT;
    char text[FNET_SERDE_TEXT_BYTES];

    CASE("25 fields are most");
    for (int i = 1; i < FNET_TUPLE_MAX_FIELDS; i++)
        strcat(name, ",string");
    strcat(name, ")");
    CHECK_INT(fnet_serde_parse(name, &serde), FNET_OK);
    CHECK_INT(serde.field_count, FNET_TUPLE_MAX_FIELDS);
    fnet_serde_format(&serde, text);
    CHECK_STR(text, name);
    strcpy(name + strlen(name) - 1, ",int)");
    CHECK_INT(fnet_serde_parse(name, &serde), FNET_RANGE);
    CHECK_INT(serde.field_count, FNET_TUPLE_MAX_FIELDS);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static void test_numbers(void)
{
    static const struct {
        const char *text;
        bool is_long;
        bool is_int;
        int64_t value;
    } numbers[] = {
        {"0", true, true, 0},
        {"-0", true, true, 0},
        {"007", true, true, 7},
        {"00000000000000000000000000007", true, true, 7},
        {"2147483647", true, true, INT32_MAX},
        {"2147483648", true, false, 2147483648},
        {"-2147483648", true, true, INT32_MIN},
        {"-2147483649", true, false, -2147483649},
        {"9223372036854775807", true, false, INT64_MAX},
        {"9223372036854775808", false, false, 0},
        {"-9223372036854775808", true, false, INT64_MIN},
        {"-9223372036854775809", false, false, 0},
        {"18446744073709551616", false, false, 0},
        {"99999999999999999999999999", false, false, 0},
        {"", false, false, 0},
        {"-", false, false, 0},
        {"--1", false, false, 0},
        {"+1", false, false, 0},
        {" 1", false, false, 0},
        {"1 ", false, false, 0},
        {"1.0", false, false, 0},
        {"1L", false, false, 0},
        {"0x1", false, false, 0},
        {"\\N", false, false, 0},
        {"/", false, false, 0},
        {":", false, false, 0},
    };

    for (size_t i = 0; i < COUNT(numbers); i++) {
        const struct fnet_span text = fnet_span_of(numbers[i].text, strlen(numbers[i].text));
        int64_t value = 42;
        CASE(numbers[i].text);
        CHECK_INT(fnet_value_parse_number(FNET_VALUE_LONG, text, &value),
                  numbers[i].is_long ? FNET_OK : FNET_BAD_VALUE);
        CHECK_INT(value, numbers[i].is_long ? numbers[i].value : 42);
        value = 42;
        CHECK_INT(fnet_value_parse_number(FNET_VALUE_INT, text, &value),
                  numbers[i].is_int ? FNET_OK : FNET_BAD_VALUE);
        CHECK_INT(value, numbers[i].is_int ? numbers[i].value : 42);
    }
}

/* ---- mistakes ---------------------------------------------------------------------------- */

static struct fnet_serde serde_of(const char *name)
{
    struct fnet_serde serde = {.separator = ','};

    CHECK_INT(fnet_serde_parse(name, &serde), FNET_OK);
    return serde;
}

/* TEXT is none of NAME: FIELDS of it, or FIELD, which is CULPRIT. */
static void check_fault(const char *name, const char *text, size_t fields, size_t field,
                        const char *culprit)
{
    const struct fnet_serde serde = serde_of(name);
    struct fnet_value_fault fault = {.fields = 99};
    uint8_t room[256];
    struct fnet_writer w = fnet_writer_of(room, sizeof room);

    CASE(text);
    CHECK_INT(fnet_values_encode(&serde, fnet_span_of(text, strlen(text)), &w, &fault),
              FNET_BAD_VALUE);
    CHECK(w.pos == room);
    CHECK_INT(fault.fields, fields);
    CHECK_INT(fault.field, field);
    CHECK(fault.text.len == strlen(culprit) &&
          memcmp(fault.text.ptr, culprit, fault.text.len) == 0);
    if (field > 0)
        CHECK_INT(fault.type, serde.fields[field - 1]);
}

static void test_faults(void)
{
    check_fault("long", "x", 0, 0, "x");
    check_fault("int", "2147483648", 0, 0, "2147483648");
    check_fault("tuple(string,long)", "", 1, 0, "");
    check_fault("tuple(string,long)", "a", 1, 0, "a");
    check_fault("tuple(string,long)", "a,1,", 3, 0, "a,1,");
    check_fault("tuple(string,long)", "a,", 0, 2, "");
    check_fault("tuple(int,string)", "a,b", 0, 1, "a");
    check_fault("tuple(long)", "1,2", 2, 0, "1,2");

    CASE("less room than could be needed");
    const struct fnet_serde serde = serde_of("long");
    const struct fnet_span text = fnet_span_of("1", 1);
    struct fnet_value_fault fault;
    uint8_t room[64];
    struct fnet_writer w = fnet_writer_of(room, fnet_values_encoded_max(&serde, text) - 1);
    CHECK_INT(fnet_values_encode(&serde, text, &w, &fault), FNET_RANGE);
    CHECK(w.pos == room);
}

static void test_bad_bytes(void)
{
    const struct fnet_serde bytes = serde_of("bytes");
    const struct fnet_serde number = serde_of("int");
    struct fnet_value values[FNET_TUPLE_MAX_FIELDS];

    CASE("lengths that cannot be, bytes behind the end");
    CHECK_INT(fnet_values_decode(&bytes, fnet_span_of("\377\377\377\377", 4), values),
              FNET_BAD_VALUE);
    CHECK_INT(fnet_values_decode(&bytes, fnet_span_of("\177\377\377\377x", 5), values),
              FNET_TRUNCATED);
    CHECK_INT(fnet_values_decode(&bytes, fnet_span_of("\0\0\0\0x", 5), values), FNET_BAD_VALUE);
    CHECK_INT(fnet_values_decode(&number, fnet_span_of("\0\0\0\0x", 5), values), FNET_BAD_VALUE);
}

int main(void)
{
    const size_t versions = flink_visit("elements", check_line);

    CASE("every version is there");
    CHECK(versions >= 20);
    test_names();
    test_widest();
    test_numbers();
    test_faults();
    test_bad_bytes();
    return tap_done();
}
