/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/serde: what --serde takes, and what is said of a text that is none.
 */
#include "cli/serde.h"

#include "../tap.h"

static void test_names(void)
{
    struct fnet_serde serde = {.separator = ','};
    const char *why = NULL;

    CASE("a serde is taken");
    CHECK_INT(serde_parse("tuple(string,long)", &serde, &why), FNET_OK);
    CHECK(serde.is_tuple && serde.field_count == 2 && serde.separator == ',');
    CHECK(why == NULL);
    CASE("anything else is refused with a reason, and changes nothing");
    CHECK_INT(serde_parse("Tuple2", &serde, &why), FNET_INVALID);
    CHECK_STR(why, "not raw, string, long, int, bytes or tuple(TYPE,...) of these");
    CHECK_INT(serde_parse("tuple(int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,"
                          "int,int,int,int,int,int,int,int,int,int)",
                          &serde, &why),
              FNET_RANGE);
    CHECK_STR(why, "a tuple has at most 25 fields");
    CHECK_INT(serde.field_count, 2);
}

static void check_said(const char *name, const char *text, size_t len, const char *expected)
{
    struct fnet_serde serde = {.separator = ','};
    struct fnet_value_fault fault = {.fields = 0};
    uint8_t room[1024];
    struct fnet_writer w = fnet_writer_of(room, sizeof room);
    const char *why = NULL;
    char said[SERDE_FAULT_BYTES];

    CASE(expected);
    CHECK_INT(serde_parse(name, &serde, &why), FNET_OK);
    CHECK_INT(fnet_values_encode(&serde, fnet_span_of(text, len), &w, &fault), FNET_BAD_VALUE);
    serde_explain(&serde, &fault, said);
    CHECK_STR(said, expected);
}

static void test_faults(void)
{
    check_said("long", "12x", 3, "not a long: '12x'");
    check_said("int", "", 0, "not an int: ''");
    check_said("tuple(string,int)", "a,b", 3, "field 2 is not an int: 'b'");
    check_said("tuple(string,int)", "a", 1, "1 field, not 2: 'a'");
    check_said("tuple(string,int)", "a,1,2", 5, "3 fields, not 2: 'a,1,2'");
    check_said("long", "0123456789012345678901234567890123456789", 40,
               "not a long: '0123456789012345678901234567890123456789'");
    check_said("long", "0123456789012345678901234567890123456789x", 41,
               "not a long: '0123456789012345678901234567890123456789...'");
    check_said("long", "1\0002", 3, "not a long: '1'");
}

int main(void)
{
    test_names();
    test_faults();
    return tap_done();
}
