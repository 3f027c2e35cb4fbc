/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view that sends only what credit pays for: counting credits, numbering buffers, and telling
 * a consumer without exclusive buffers what waits.
 */
#include "../../../lib/session/credited_view.h"

static enum fnet_codec codec = FNET_CODEC_NONE;

#define MADE_CODEC codec
#include "../partition/made_partition.h"

#include "fnet/event.h"

static struct fnet__credited_view made_view(struct made_partition *m, int32_t initial_credit)
{
    struct fnet__credited_view v = {.dialect = fnet_dialect_newest(),
                                    .initial_credit = initial_credit,
                                    .credits = (uint32_t)initial_credit};
    const struct fnet_bell nobody = {.ring = NULL};

    fnet_id_random(&v.receiver);
    CHECK_INT(fnet_view_open(m->partition, 1, nobody, initial_credit == 0, &v.view), FNET_OK);
    return v;
}

static enum fnet_err next(struct fnet__credited_view *v, struct fnet_message *message)
{
    struct fnet_buffer payload = {.segment = NULL};
    uint32_t bytes = 0;
    enum fnet_err err = fnet__credited_view_next(v, message, &payload, &bytes);

    if (err == FNET_OK) {
        CHECK_INT(payload.len, message->buffer.size);
        CHECK_INT(payload.is_compressed, message->buffer.is_compressed);
        CHECK(payload.is_compressed ? payload.len < bytes : payload.len == bytes);
    }
    fnet_buffer_clear(&payload);
    return err;
}

static void check_next(struct fnet__credited_view *v, uint8_t type, uint32_t size, int32_t sequence,
                       int32_t backlog)
{
    struct fnet_message message = {.type = FNET_CLOSE_REQUEST};

    if (!CHECK_INT(next(v, &message), FNET_OK))
        return;
    CHECK_INT(message.type, FNET_BUFFER_RESPONSE);
    CHECK(fnet_id_is_equal(&message.receiver, &v->receiver));
    CHECK_INT(message.buffer.subpartition, 1);
    CHECK_INT(message.buffer.sequence, sequence);
    CHECK_INT(message.buffer.backlog, backlog);
    CHECK_INT(message.buffer.data_type, type);
    CHECK_INT(message.buffer.size, size);
    CHECK_INT(message.buffer.partials, 0);
    CHECK(!message.buffer.is_compressed);
}

static void test_credits(void)
{
    struct made_partition m;
    struct fnet_message message;

    CASE("each data buffer costs a credit and says how many wait behind it");
    make_partition(&m, "main", 2, 8, 8);
    struct fnet__credited_view v = made_view(&m, 2);
    CHECK(!fnet__credited_view_is_ready(&v));
    CHECK_INT(put_into(m.partition, 1, 'a', 3 * MADE_SEGMENT_BYTES + 10), FNET_OK);
    fnet_partition_flush(m.partition);
    check_next(&v, FNET_DATA_BUFFER, MADE_SEGMENT_BYTES, 0, 3);
    check_next(&v, FNET_DATA_BUFFER, MADE_SEGMENT_BYTES, 1, 2);
    CHECK_INT(v.credits, 0);
    CHECK(!fnet__credited_view_is_ready(&v));
    CHECK_INT(next(&v, &message), FNET_AGAIN);

    CASE("credit adds up");
    CHECK_INT(fnet__credited_view_add_credit(&v, 1), FNET_OK);
    CHECK_INT(fnet__credited_view_add_credit(&v, 4), FNET_OK);
    CHECK_INT(v.credits, 5);
    check_next(&v, FNET_DATA_BUFFER, MADE_SEGMENT_BYTES, 2, 1);
    check_next(&v, FNET_DATA_BUFFER, 10, 3, 0);
    CHECK_INT(next(&v, &message), FNET_AGAIN);
    CHECK_INT(v.credits, 3);

    CASE("events are numbered with the data but cost nothing");
    v.credits = 0;
    CHECK_INT(fnet_partition_finish(m.partition), FNET_OK);
    CHECK(fnet__credited_view_is_ready(&v));
    check_next(&v, FNET_END_OF_DATA, 5, 4, 0);
    CHECK_INT(v.credits, 0);
    unmake_partition(&m);
}

static void test_wrong_credit(void)
{
    struct made_partition m;

    CASE("credit of 0 or below is no credit, and more than a number holds is refused");
    make_partition(&m, "main", 2, 4, 4);
    struct fnet__credited_view v = made_view(&m, 2);
    CHECK_INT(fnet__credited_view_add_credit(&v, 0), FNET_RANGE);
    CHECK_INT(fnet__credited_view_add_credit(&v, -1), FNET_RANGE);
    CHECK_INT(fnet__credited_view_add_credit(&v, INT32_MIN), FNET_RANGE);
    CHECK_INT(fnet__credited_view_add_credit(&v, INT32_MAX - 1), FNET_RANGE);
    CHECK_INT(v.credits, 2);
    CHECK_INT(fnet__credited_view_add_credit(&v, INT32_MAX - 2), FNET_OK);
    CHECK_INT(fnet__credited_view_add_credit(&v, 1), FNET_RANGE);
    unmake_partition(&m);
}

static void test_sequence_wraps(void)
{
    struct made_partition m;

    CASE("numbers go on below zero after the largest, as in Java");
    make_partition(&m, "main", 2, 8, 8);
    struct fnet__credited_view v = made_view(&m, 5);
    v.sequence = INT32_MAX;
    CHECK_INT(put_into(m.partition, 1, 'a', 2 * MADE_SEGMENT_BYTES + 1), FNET_OK);
    check_next(&v, FNET_DATA_BUFFER, MADE_SEGMENT_BYTES, INT32_MAX, 1);
    check_next(&v, FNET_DATA_BUFFER, MADE_SEGMENT_BYTES, INT32_MIN, 0);
    CHECK_INT(v.sequence, INT32_MIN + 1);
    unmake_partition(&m);
}

static void test_announce(void)
{
    struct made_partition m;

    CASE("nothing waits, nothing is announced");
    make_partition(&m, "main", 2, 8, 8);
    struct fnet__credited_view v = made_view(&m, 0);
    CHECK_INT(fnet__credited_view_announce(&v), 0);

    CASE("what waits for credit is announced once");
    CHECK_INT(put_into(m.partition, 1, 'a', 2 * MADE_SEGMENT_BYTES + 10), FNET_OK);
    CHECK_INT(fnet__credited_view_announce(&v), 2);
    CHECK_INT(fnet__credited_view_announce(&v), 0);
    fnet_partition_flush(m.partition);
    CHECK_INT(fnet__credited_view_announce(&v), 0);

    CASE("while there is credit nothing is announced: the buffers themselves tell");
    CHECK_INT(fnet__credited_view_add_credit(&v, 1), FNET_OK);
    CHECK_INT(fnet__credited_view_announce(&v), 0);
    check_next(&v, FNET_DATA_BUFFER, MADE_SEGMENT_BYTES, 0, 2);

    CASE("when it ran out, what waits now is announced again");
    CHECK_INT(fnet__credited_view_announce(&v), 2);
    CHECK_INT(fnet__credited_view_announce(&v), 0);
    unmake_partition(&m);

    CASE("a consumer with exclusive buffers needs no announcement");
    make_partition(&m, "main", 2, 8, 8);
    v = made_view(&m, 1);
    CHECK_INT(put_into(m.partition, 1, 'a', 2 * MADE_SEGMENT_BYTES + 10), FNET_OK);
    check_next(&v, FNET_DATA_BUFFER, MADE_SEGMENT_BYTES, 0, 1);
    CHECK_INT(v.credits, 0);
    CHECK_INT(fnet__credited_view_announce(&v), 0);
    unmake_partition(&m);
}

/* Is a full buffer compressed for who speaks DIALECT? It is told, and so are the sizes. */
static bool is_compressed_for(const struct fnet_dialect *dialect)
{
    struct made_partition m;
    struct fnet_message message = {.type = FNET_CLOSE_REQUEST};

    make_partition(&m, "main", 2, 4, 4);
    struct fnet__credited_view v = made_view(&m, 2);
    v.dialect = dialect;
    CHECK_INT(put_into(m.partition, 1, 'a', MADE_SEGMENT_BYTES), FNET_OK);
    CHECK_INT(fnet_partition_finish(m.partition), FNET_OK);
    CHECK_INT(next(&v, &message), FNET_OK);
    const bool is_compressed = message.buffer.is_compressed;
    CHECK(message.buffer.size < MADE_SEGMENT_BYTES || !is_compressed);

    /* The event behind it is not. */
    if (fnet_dialect_has_event(dialect, FNET_EVENT_END_OF_DATA)) {
        CHECK_INT(next(&v, &message), FNET_OK);
        CHECK(!message.buffer.is_compressed);
    }
    unmake_partition(&m);
    return is_compressed;
}

/* The first versions of Flink that know a codec. */
static const char *first_version(enum fnet_codec of)
{
    return of == FNET_CODEC_LZ4 ? "1.10" : "1.16";
}

static void test_compressed(void)
{
    CASE("buffers are compressed for those only whose version knows the codec");
    for (codec = FNET_CODEC_LZ4; fnet_codec_name(codec); codec++) {
        const struct fnet_dialect *dialect;
        bool is_known = false;
        if (!fnet_codec_is_available(codec))
            continue;
        for (size_t i = 0; (dialect = fnet_dialect_at(i)); i++) {
            is_known |= strcmp(dialect->name, first_version(codec)) == 0;
            CHECK_INT(is_compressed_for(dialect), is_known);
        }
        CHECK(is_known);
    }

    CASE("for nobody without a codec");
    codec = FNET_CODEC_NONE;
    CHECK(!is_compressed_for(fnet_dialect_newest()));
}

int main(void)
{
    test_credits();
    test_wrong_credit();
    test_sequence_wraps();
    test_announce();
    test_compressed();
    return tap_done();
}
