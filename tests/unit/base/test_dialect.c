/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialects: which version speaks which, which request is whose, ids and data types in each.
 */
#include "fnet/dialect.h"

#include "fnet/data_type.h"

#include "../tap.h"

static void test_parse(void)
{
    static const struct {
        const char *version;
        const char *name;
    } known[] = {
        {"1.5", "1.5"},       {"1.5.6", "1.5"},      {"1.8.3", "1.5"},     {"1.9", "1.9"},
        {"1.10.3", "1.10"},   {"1.11", "1.11.4"},    {"1.11.0", "1.11.0"}, {"1.11.3", "1.11.0"},
        {"1.11.4", "1.11.4"}, {"1.11.99", "1.11.4"}, {"1.12", "1.12.5"},   {"1.12.4", "1.12.0"},
        {"1.12.5", "1.12.5"}, {"1.13.0", "1.13"},    {"1.14.6", "1.14"},   {"1.15", "1.15"},
        {"1.16", "1.16"},     {"1.17.2", "1.16"},    {"1.18", "1.18"},     {"1.19.0", "1.19"},
        {"1.20.4", "1.19"},   {"2.0", "2.0"},        {"2.1", "2.0"},       {"2.2.1", "2.0"},
        {"2.3.0", "2.0"},     {"2.4", "2.4"},
    };
    static const char *const unknown[] = {
        "",     "1",        "1.",   "1.4",    "1.4.9",    "1.21", "2.5",    "3.0",
        "0.9",  "1.08",     "01.8", "1.8.",   "1.8.x",    " 1.8", "1.8 ",   "1.8.3.1",
        "-1.8", "1.16-rc1", "1,8",  "1.1000", "1.8.1000", "v1.8", "newest",
    };
    const struct fnet_dialect *dialect;

    CASE("a version, with its patch level or without, has one dialect");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        dialect = NULL;
        CHECK_INT(fnet_dialect_parse(known[i].version, &dialect), FNET_OK);
        CHECK_STR(dialect ? dialect->name : NULL, known[i].name);
    }
    CASE("what is no version, too old or not known yet has none");
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        dialect = NULL;
        CASE(unknown[i]);
        CHECK_INT(fnet_dialect_parse(unknown[i], &dialect), FNET_INVALID);
        CHECK(dialect == NULL);
    }
}

static void test_rows(void)
{
    const struct fnet_dialect *dialect;
    const struct fnet_dialect *found;
    const struct fnet_dialect *before = NULL;
    size_t i;

    CASE("every dialect is found by its name, and none has less than the one before");
    for (i = 0; (dialect = fnet_dialect_at(i)); i++) {
        CASE(dialect->name);
        CHECK_INT(fnet_dialect_parse(dialect->name, &found), FNET_OK);
        CHECK(found == dialect);
        CHECK(strncmp(dialect->versions, dialect->name, 3) == 0);
        CHECK(fnet_dialect_of_request(dialect->partition_request_bytes, dialect) == dialect);
        CHECK_INT(dialect->buffer.size + 4, dialect->buffer.head);
        CHECK(!before || ((dialect->messages & before->messages) == before->messages &&
                          (dialect->events & before->events) == before->events));
        CHECK(fnet_dialect_has_message(dialect, 0) && !fnet_dialect_has_message(dialect, 12));
        CHECK(fnet_dialect_has_message(dialect, 64) == (dialect == fnet_dialect_newest()));
        CHECK(!fnet_dialect_has_event(dialect, 13) && !fnet_dialect_has_event(dialect, 77));
        before = dialect;
    }
    CHECK_INT(i, 15);
    CASE("the newest is released");
    CHECK_STR(fnet_dialect_newest()->name, "2.0");
    CHECK(fnet_dialect_newest()->is_released);
}

static void test_requests(void)
{
    static const struct {
        uint32_t length;
        const char *name;
    } newest[] = {{65, "1.10"}, {69, "1.15"}, {93, "1.18"}, {97, "2.0"}, {98, "2.4"}};
    const struct fnet_dialect *old;

    CASE("a request that several dialects have is the newest one's");
    for (size_t i = 0; i < sizeof newest / sizeof *newest; i++)
        CHECK_STR(fnet_dialect_of_request(newest[i].length, NULL)->name, newest[i].name);
    CASE("... or that of the assumed one, if it is one of them");
    CHECK_INT(fnet_dialect_parse("1.11.2", &old), FNET_OK);
    CHECK(fnet_dialect_of_request(69, old) == old);
    CHECK_STR(fnet_dialect_of_request(65, old)->name, "1.10");
    CASE("no dialect has a request of another length");
    for (uint32_t length = 0; length < 200; length++)
        if (length != 65 && length != 69 && length != 93 && length != 97 && length != 98)
            CHECK(fnet_dialect_of_request(length, old) == NULL);
}

static void test_data_types(void)
{
    const struct fnet_dialect *dialect;

    for (size_t i = 0; (dialect = fnet_dialect_at(i)); i++) {
        CASE(dialect->name);
        for (unsigned wire = 0; wire < 256; wire++) {
            uint8_t type = fnet_dialect_get_data_type(dialect, (uint8_t)wire);
            if (type != 0)
                CHECK_INT(fnet_dialect_put_data_type(dialect, type), wire);
        }
        for (unsigned type = 0; type < 256; type++) {
            uint8_t wire = fnet_dialect_put_data_type(dialect, (uint8_t)type);
            if (wire == FNET_NO_DATA_TYPE)
                continue;
            uint8_t again = fnet_dialect_get_data_type(dialect, wire);
            CHECK(fnet_data_type_is_known((uint8_t)type));
            CHECK_INT(fnet_data_type_is_buffer(again), fnet_data_type_is_buffer((uint8_t)type));
        }
        CHECK_INT(fnet_dialect_put_data_type(dialect, 0), FNET_NO_DATA_TYPE);
    }
}

static void test_partition_ids(void)
{
    const struct fnet_dialect *dialect;
    struct fnet_partition_id id = {.number = 7, .subtask = 8, .attempt = 9};
    struct fnet_partition_id named;

    fnet_id_random(&id.data_set);
    fnet_id_random(&id.graph);
    fnet_id_random(&id.vertex);
    CHECK_INT(fnet_partition_id_from_name("main", &named), FNET_OK);
    for (size_t i = 0; (dialect = fnet_dialect_at(i)); i++) {
        uint8_t bytes[FNET_PARTITION_ID_BYTES];
        struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
        struct fnet_partition_id cut = fnet_partition_id_as_in(dialect, &id);
        struct fnet_partition_id again;

        CASE(dialect->name);
        fnet_put_partition_id_in(dialect, &w, &id);
        CHECK_INT(w.pos - bytes, dialect->partition_bytes + dialect->attempt_bytes);
        struct fnet_reader r = fnet_reader_of(fnet_span_of(bytes, (size_t)(w.pos - bytes)));
        fnet_get_partition_id_in(dialect, &r, &again);
        CHECK(!r.failed && fnet_reader_left(&r) == 0);
        CHECK(fnet_partition_id_is_equal(&again, &cut));
        CHECK_INT(cut.number, dialect->partition_bytes > 16 ? 7 : 0);
        CHECK_INT(cut.attempt, dialect->attempt_bytes > 16 ? 9 : 0);
        CHECK(fnet_id_is_equal(&cut.data_set, &id.data_set));
        CHECK(fnet_id_is_equal(&cut.graph, &id.graph));
    }
    CASE("in the newest nothing is lost");
    struct fnet_partition_id whole = fnet_partition_id_as_in(fnet_dialect_newest(), &id);
    CHECK(fnet_partition_id_is_equal(&whole, &id));
}

int main(void)
{
    test_parse();
    test_rows();
    test_requests();
    test_data_types();
    test_partition_ids();
    return tap_done();
}
