/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identifiers: Flink's text form, the bytes on the wire, ids made from names.
 */
#include "fnet/id.h"

#include "../tap.h"

#define DATA_SET "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
#define GRAPH "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
#define VERTEX "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf"
#define PARTITION DATA_SET "#3@" GRAPH "_" VERTEX "_4_1"

static void test_text(void)
{
    struct fnet_id id;
    char text[FNET_ID_TEXT_BYTES];

    CASE("32 hex digits of either case, the bytes in their order");
    CHECK_INT(fnet_id_parse("A0a1A2a3A4a5A6a7A8a9AAabACadAEaf", &id), FNET_OK);
    for (size_t i = 0; i < FNET_ID_BYTES; i++)
        CHECK_INT(id.bytes[i], 0xa0 + i);
    fnet_id_format(&id, text);
    CHECK_STR(text, DATA_SET);

    CASE("anything else is refused and changes nothing");
    static const char *const bad[] = {"",
                                      "a0",
                                      DATA_SET "0",
                                      " " DATA_SET,
                                      DATA_SET "\n",
                                      "0x" DATA_SET,
                                      "g0a1a2a3a4a5a6a7a8a9aaabacadaeaf",
                                      "a0a1a2a3a4a5a6a7a8a9aaabacadaea",
                                      "a0a1a2a3a4a5a6a7a8a9aaabacadae-1"};
    struct fnet_id untouched = id;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_INT(fnet_id_parse(bad[i], &id), FNET_INVALID);
    CHECK(fnet_id_is_equal(&id, &untouched));
}

static void test_equality(void)
{
    struct fnet_id a = {{1}};
    struct fnet_id b = {{1}};

    CASE("ids differ when any byte does");
    CHECK(fnet_id_is_equal(&a, &b));
    for (size_t i = 0; i < FNET_ID_BYTES; i++) {
        b.bytes[i] ^= 1;
        CHECK(!fnet_id_is_equal(&a, &b));
        b.bytes[i] ^= 1;
    }

    CASE("ids drawn at random differ");
    fnet_id_random(&a);
    fnet_id_random(&b);
    CHECK(!fnet_id_is_equal(&a, &b));

    CASE("partition ids differ when any part does");
    struct fnet_partition_id p = {.number = 1, .subtask = 2, .attempt = 3};
    struct fnet_partition_id q = p;
    CHECK(fnet_partition_id_is_equal(&p, &q));
    q.data_set.bytes[15]++;
    CHECK(!fnet_partition_id_is_equal(&p, &q));
    q = p;
    q.number++;
    CHECK(!fnet_partition_id_is_equal(&p, &q));
    q = p;
    q.graph.bytes[0]++;
    CHECK(!fnet_partition_id_is_equal(&p, &q));
    q = p;
    q.vertex.bytes[0]++;
    CHECK(!fnet_partition_id_is_equal(&p, &q));
    q = p;
    q.subtask++;
    CHECK(!fnet_partition_id_is_equal(&p, &q));
    q = p;
    q.attempt++;
    CHECK(!fnet_partition_id_is_equal(&p, &q));
}

static void test_partition_text(void)
{
    struct fnet_partition_id id;
    char text[FNET_PARTITION_ID_TEXT_BYTES];

    CASE("a partition id as Flink logs it");
    CHECK_INT(fnet_partition_id_parse(PARTITION, &id), FNET_OK);
    CHECK_INT(id.data_set.bytes[0], 0xa0);
    CHECK_INT(id.number, 3);
    CHECK_INT(id.graph.bytes[15], 0xbf);
    CHECK_INT(id.vertex.bytes[1], 0xc1);
    CHECK_INT(id.subtask, 4);
    CHECK_INT(id.attempt, 1);
    fnet_partition_id_format(&id, text);
    CHECK_STR(text, PARTITION);

    CASE("the longest one fits, and all there is between");
    id.number = INT32_MIN;
    id.subtask = INT32_MIN;
    id.attempt = INT32_MIN;
    fnet_partition_id_format(&id, text);
    CHECK_INT(strlen(text), FNET_PARTITION_ID_TEXT_BYTES - 1);
    CHECK_INT(
        fnet_partition_id_parse(DATA_SET "#2147483647@" GRAPH "_" VERTEX "_0_2147483647", &id),
        FNET_OK);
    CHECK_INT(id.number, INT32_MAX);
    CHECK_INT(id.subtask, 0);
    CHECK_INT(id.attempt, INT32_MAX);

    CASE("an id as older versions log it: without number, without what is behind the graph");
    CHECK_INT(fnet_partition_id_parse(DATA_SET "#3@" GRAPH, &id), FNET_OK);
    CHECK_INT(id.number, 3);
    CHECK_INT(id.graph.bytes[15], 0xbf);
    CHECK_INT(id.vertex.bytes[1], 0);
    CHECK_INT(id.subtask, 0);
    CHECK_INT(fnet_partition_id_parse(DATA_SET "@" GRAPH, &id), FNET_OK);
    CHECK_INT(id.number, 0);
    CHECK_INT(id.graph.bytes[15], 0xbf);

    CASE("neither an id nor a name");
    static const char *const bad[] = {
        DATA_SET "#@" GRAPH "_" VERTEX "_0_0",
        DATA_SET "#-1@" GRAPH "_" VERTEX "_0_0",
        DATA_SET "#03@" GRAPH "_" VERTEX "_0_0",
        DATA_SET "#2147483648@" GRAPH "_" VERTEX "_0_0",
        DATA_SET "#99999999999999999999@" GRAPH "_" VERTEX "_0_0",
        DATA_SET "#3@" GRAPH "_" VERTEX "_0",
        DATA_SET "#3@" GRAPH "_" VERTEX "_0_0_0",
        DATA_SET "#3",
        DATA_SET "@",
        DATA_SET "@" GRAPH "_",
        DATA_SET "@" GRAPH "_" VERTEX,
        DATA_SET "@" GRAPH "#3",
        "",
        "a/b",
        "a b",
        "a:0",
    };
    struct fnet_partition_id untouched = id;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_INT(fnet_partition_id_parse(bad[i], &id), FNET_INVALID);
    CHECK(fnet_partition_id_is_equal(&id, &untouched));
}

static void test_names(void)
{
    struct fnet_partition_id id;
    struct fnet_partition_id other;
    char text[FNET_PARTITION_ID_TEXT_BYTES];

    /* From an independent BLAKE2b: 16 bytes of digest, personalised by the part's name. */
    CASE("ids from names are 16 bytes of BLAKE2b");
    CHECK_INT(fnet_partition_id_from_name("main", &id), FNET_OK);
    fnet_partition_id_format(&id, text);
    CHECK_STR(text, "b1ce5a97822f493377bbd2f1902bc301#0@05beabb55adb3745690b371104168c1d_"
                    "5fddbc8e86afb80e76ca7345ce097f71_0_0");
    CHECK_INT(fnet_partition_id_from_name("a.b_c-9", &id), FNET_OK);
    fnet_partition_id_format(&id, text);
    CHECK_STR(text, "baacb2c910732f31287c5d4805b2d908#0@e163873b2c9e602a24f85dadc9d0fccc_"
                    "dc94939eae104a0838b945136d589baa_0_0");

    CASE("what parses as a name has the id of that name");
    CHECK_INT(fnet_partition_id_parse("main", &id), FNET_OK);
    CHECK_INT(fnet_partition_id_from_name("main", &other), FNET_OK);
    CHECK(fnet_partition_id_is_equal(&id, &other));
    CHECK_INT(fnet_partition_id_parse(DATA_SET, &id), FNET_OK);
    CHECK_INT(fnet_partition_id_from_name(DATA_SET, &other), FNET_OK);
    CHECK(fnet_partition_id_is_equal(&id, &other));

    CASE("a name is 1 to 255 of the characters allowed");
    char name[FNET_NAME_MAX_BYTES + 2];
    memset(name, 'n', sizeof name);
    name[FNET_NAME_MAX_BYTES + 1] = '\0';
    CHECK_INT(fnet_partition_id_from_name(name, &id), FNET_INVALID);
    name[FNET_NAME_MAX_BYTES] = '\0';
    CHECK_INT(fnet_partition_id_from_name(name, &id), FNET_OK);
    CHECK_INT(fnet_partition_id_from_name("", &id), FNET_INVALID);
    for (int c = 1; c <= 255; c++) {
        const char one[] = {(char)c, '\0'};
        bool is_allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
        CHECK_INT(fnet_partition_id_from_name(one, &id), is_allowed ? FNET_OK : FNET_INVALID);
    }
}

static void test_wire(void)
{
    uint8_t bytes[FNET_PARTITION_ID_BYTES];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
    struct fnet_partition_id id;
    struct fnet_partition_id back;

    CASE("60 bytes in the order of the text");
    CHECK_INT(fnet_partition_id_parse(PARTITION, &id), FNET_OK);
    fnet_put_partition_id(&w, &id);
    CHECK(!w.failed && w.pos == w.end);
    CHECK_INT(bytes[0], 0xa0);
    CHECK_INT(fnet_load_be32(bytes + 16), 3);
    CHECK_INT(bytes[20], 0xb0);
    CHECK_INT(bytes[36], 0xc0);
    CHECK_INT(fnet_load_be32(bytes + 52), 4);
    CHECK_INT(fnet_load_be32(bytes + 56), 1);
    struct fnet_reader r = fnet_reader_of(fnet_span_of(bytes, sizeof bytes));
    fnet_get_partition_id(&r, &back);
    CHECK(!r.failed && fnet_reader_left(&r) == 0);
    CHECK(fnet_partition_id_is_equal(&id, &back));

    CASE("fewer bytes are noticed, and the id is 0 where they end");
    r = fnet_reader_of(fnet_span_of(bytes, 15));
    struct fnet_id part = {{1}};
    fnet_get_id(&r, &part);
    CHECK(r.failed);
    CHECK_MEM(part.bytes, (const uint8_t[FNET_ID_BYTES]){0}, FNET_ID_BYTES);
}

int main(void)
{
    test_text();
    test_equality();
    test_partition_text();
    test_names();
    test_wire();
    return tap_done();
}
