/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field lists as cut takes them, and the keys they make of records.
 */
#include <stdlib.h>

#include "fnet/selector.h"

#include "../tap.h"

static enum fnet_err parse(const char *list, struct fnet_key *key)
{
    *key = (struct fnet_key)FNET_KEY_INIT;
    return fnet_key_parse(list, key);
}

static void check_ranges(const char *list, size_t n, const struct fnet_field_range *expected)
{
    struct fnet_key key;

    CHECK_INT(parse(list, &key), FNET_OK);
    CHECK_INT(key.range_count, n);
    CHECK_INT(key.separator, '\t');
    for (size_t i = 0; i < n && i < key.range_count; i++) {
        CHECK_INT(key.ranges[i].first, expected[i].first);
        CHECK_INT(key.ranges[i].last, expected[i].last);
    }
}

static void test_good_lists(void)
{
    const uint32_t last = FNET_FIELD_LAST;
    struct fnet_key key;

    CASE("one field, a range, open ranges");
    check_ranges("1", 1, (struct fnet_field_range[]){{1, 1}});
    check_ranges("2-5", 1, (struct fnet_field_range[]){{2, 5}});
    check_ranges("3-3", 1, (struct fnet_field_range[]){{3, 3}});
    check_ranges("7-", 1, (struct fnet_field_range[]){{7, last}});
    check_ranges("-4", 1, (struct fnet_field_range[]){{1, 4}});
    check_ranges("4294967294", 1, (struct fnet_field_range[]){{last - 1, last - 1}});

    CASE("ranges are sorted, and joined where they overlap or touch");
    check_ranges("7-,1,3-5", 3, (struct fnet_field_range[]){{1, 1}, {3, 5}, {7, last}});
    check_ranges("5,1,5,3,1", 3, (struct fnet_field_range[]){{1, 1}, {3, 3}, {5, 5}});
    check_ranges("1,2,3", 1, (struct fnet_field_range[]){{1, 3}});
    check_ranges("4-6,1-2,3", 1, (struct fnet_field_range[]){{1, 6}});
    check_ranges("1-9,3-4", 1, (struct fnet_field_range[]){{1, 9}});
    check_ranges("2-3,6-7,9,1-8", 1, (struct fnet_field_range[]){{1, 9}});
    check_ranges("5-,9-,2", 2, (struct fnet_field_range[]){{2, 2}, {5, last}});
    check_ranges("-2,4294967294,8-", 2, (struct fnet_field_range[]){{1, 2}, {8, last}});

    CASE("as many ranges as there is room for, and no more");
    char list[512] = "";
    for (int i = 0; i <= FNET_KEY_MAX_RANGES; i++) {
        size_t len = strlen(list);
        snprintf(list + len, sizeof list - len, "%s%d", i ? "," : "", 3 * i + 1);
        CHECK_INT(parse(list, &key), i < FNET_KEY_MAX_RANGES ? FNET_OK : FNET_RANGE);
    }
    memcpy(strrchr(list, ','), ",1-", 4);
    CHECK_INT(parse(list, &key), FNET_OK);
    CHECK_INT(key.range_count, 1);
}

static void test_bad_lists(void)
{
    static const char *const invalid[] = {
        "",      ",",  "1,", ",1",  "1,,2", "-",    "0",       "0-3", "3-0", "3-2",
        "1-2-3", "a",  "1a", "1 ",  " 1",   "+1",   "--1",     "1,x", "1;2", "1--2",
        "0-",    "00", "-0", "1,0", "1.5",  "0x10", "1-2,4-3", "\t",  "1\n", "-1-2",
    };
    static const char *const too_large[] = {"4294967295", "1-4294967295",
                                            "99999999999999999999999"};
    struct fnet_key key = FNET_KEY_INIT;

    CASE("what cut refuses is refused, and the key stays as it was");
    key.range_count = 1;
    key.ranges[0] = (struct fnet_field_range){.first = 8, .last = 9};
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++)
        if (!CHECK_INT(fnet_key_parse(invalid[i], &key), FNET_INVALID))
            fprintf(stderr, "list: '%s'\n", invalid[i]);
    for (size_t i = 0; i < sizeof too_large / sizeof too_large[0]; i++)
        CHECK_INT(fnet_key_parse(too_large[i], &key), FNET_RANGE);
    CHECK(key.range_count == 1 && key.ranges[0].first == 8 && key.ranges[0].last == 9);
}

/* The key of RECORD in one piece, in a static buffer. */
static const char *key_of(const char *list, const char *record)
{
    static char joined[256];
    struct fnet_key key = FNET_KEY_INIT;
    struct fnet_span piece;
    size_t len = 0;
    bool is_first = true;

    key.separator = ':';
    if (list && fnet_key_parse(list, &key) != FNET_OK)
        return "(bad list)";
    struct fnet_key_walk walk = fnet_key_walk_of(&key, fnet_span_of(record, strlen(record)));
    for (; fnet_key_walk_next(&walk, &piece); is_first = false) {
        if (!is_first)
            joined[len++] = ':';
        memcpy(joined + len, piece.ptr, piece.len);
        len += piece.len;
    }
    CHECK(!fnet_key_walk_next(&walk, &piece));
    joined[len] = '\0';
    return joined;
}

static void test_keys(void)
{
    CASE("without a list the key is the record");
    CHECK_STR(key_of(NULL, "a:b:c"), "a:b:c");
    CHECK_STR(key_of(NULL, ""), "");

    CASE("fields come in the record's order, each once, joined by the separator");
    CHECK_STR(key_of("1", "a:b:c"), "a");
    CHECK_STR(key_of("2", "a:b:c"), "b");
    CHECK_STR(key_of("3", "a:b:c"), "c");
    CHECK_STR(key_of("2-3", "a:b:c:d"), "b:c");
    CHECK_STR(key_of("2-", "a:b:c:d"), "b:c:d");
    CHECK_STR(key_of("3,1", "a:b:c:d"), "a:c");
    CHECK_STR(key_of("1-2,4", "a:b:c:d:e"), "a:b:d");
    CHECK_STR(key_of("1,3-", "a:b:c:d:e"), "a:c:d:e");

    CASE("empty fields are fields");
    CHECK_STR(key_of("2", "a::c"), "");
    CHECK_STR(key_of("1-3", "a::c"), "a::c");
    CHECK_STR(key_of("1,3", "::"), ":");
    CHECK_STR(key_of("2", "a:"), "");
    CHECK_STR(key_of("1,2,4", ":::"), "::");

    CASE("fields that are not there are left out, with their separators");
    CHECK_STR(key_of("4", "a:b:c"), "");
    CHECK_STR(key_of("2", "abc"), "");
    CHECK_STR(key_of("1", "abc"), "abc");
    CHECK_STR(key_of("1", ""), "");
    CHECK_STR(key_of("2-9", "a:b:c"), "b:c");
    CHECK_STR(key_of("1,4", "a:b:c"), "a");
    CHECK_STR(key_of("1,3,5", "a:b:c"), "a:c");
    CHECK_STR(key_of("4294967294", "a:b:c"), "");
}

/* What cut prints for records that have all the fields asked for. */
static void test_against_cut(void)
{
    static const char *const lists[] = {"1", "3", "2-4", "5,1,3", "-2,4", "4-", "1-3,2-5"};

    CASE("keys are what cut prints");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char command[128];
        char printed[128] = "";
        snprintf(command, sizeof command, "printf 'one:two::four:five\\n' | cut -d: -f%s",
                 lists[i]);
        FILE *cut = popen(command, "r");
        if (!CHECK(cut != NULL))
            return;
        CHECK(fgets(printed, sizeof printed, cut) != NULL);
        CHECK_INT(pclose(cut), 0);
        printed[strcspn(printed, "\n")] = '\0';
        CHECK_STR(key_of(lists[i], "one:two::four:five"), printed);
    }
}

int main(void)
{
    test_good_lists();
    test_bad_lists();
    test_keys();
    test_against_cut();
    return tap_done();
}
