/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a hostile consumer before a producer session with real partitions behind it. What
 * the session answers, and how everything ends, is the same however the stream is cut; its answers
 * are frames; its memory is that of the pool and comes back. Input: a byte that says how to cut
 * and, from 128 on, which dialect a consumer is taken for if its request leaves that open, or that
 * it is asked; a byte that says how often answers are read; then the stream.
 */
#include <stdlib.h>

#include "fnet/session.h"

#define SEGMENTS 12
#define SUBPARTITIONS 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* All that can be observed: an FNV-1a hash of everything sent, and how it ended. */
struct outcome {
    uint64_t hash;
    uint64_t sent;
    enum fnet_err err;
    bool is_closing;
    enum fnet_subpartition_state states[SUBPARTITIONS];
};

/* What is served, and to whom. */
struct served {
    struct fnet_network_pool *network;
    struct fnet_local_pool *pool;
    struct fnet_partition *partition;
    struct fnet_registry registry;
    struct fnet_session *session;
    struct fnet_decoder *answers;
    struct outcome outcome;
};

static void begin(struct served *s, const struct fnet_dialect *assumed)
{
    *s = (struct served){.outcome = {.hash = 0xcbf29ce484222325}};
    require(fnet_network_pool_new(FNET_SEGMENT_MIN_BYTES, SEGMENTS, &s->network) == FNET_OK);
    require(fnet_local_pool_new(s->network, SEGMENTS, SEGMENTS, &s->pool) == FNET_OK);

    struct fnet_partition_config config = FNET_PARTITION_CONFIG_INIT;
    config.name = "main";
    config.subpartitions = SUBPARTITIONS;
    config.pool = s->pool;
    config.max_buffers_per_channel = 4;
    require(fnet_partition_id_from_name("main", &config.id) == FNET_OK);
    require(fnet_partition_new(&config, &s->partition) == FNET_OK);
    require(fnet_registry_add(&s->registry, s->partition) == FNET_OK);
    require(fnet_producer_session_new(&s->registry, assumed, &s->session) == FNET_OK);
    require(fnet_decoder_new(fnet_dialect_newest(), 0, &s->answers) == FNET_OK);
}

static void end(struct served *s)
{
    s->outcome.err = fnet_session_error(s->session);
    s->outcome.is_closing = fnet_session_is_closing(s->session);
    require((s->outcome.err == FNET_OK) == (fnet_session_error_text(s->session)[0] == '\0'));
    fnet_session_free(s->session);
    for (uint32_t i = 0; i < SUBPARTITIONS; i++)
        s->outcome.states[i] = fnet_partition_state(s->partition, i);
    fnet_decoder_free(s->answers);
    fnet_registry_clear(&s->registry);
    fnet_partition_free(s->partition);
    require(fnet_local_pool_used(s->pool) == 0);
    fnet_local_pool_free(s->pool);
    fnet_network_pool_free(s->network);
}

/* What a producer does meanwhile: it writes, flushes now and then, and comes to its end. */
static void produce(struct served *s, unsigned turn)
{
    if (fnet_partition_is_finished(s->partition))
        return;
    for (uint32_t i = 0; i < SUBPARTITIONS; i++) {
        struct fnet_builder *builder;
        if (fnet_partition_builder(s->partition, i, &builder) != FNET_OK)
            continue;
        size_t n = fnet_builder_room(builder) < 100 ? fnet_builder_room(builder) : 100;
        memset(fnet_builder_pos(builder), (int)turn, n);
        fnet_builder_commit(builder, n);
    }
    if (turn % 2)
        fnet_partition_flush(s->partition);
    if (turn == 6)
        require(fnet_partition_finish(s->partition) == FNET_OK);
}

/* LEN bytes of an answer: note them, and see that frames come out of them. */
static void hear(struct served *s, const uint8_t *bytes, size_t len)
{
    struct fnet_message m;
    enum fnet_err err = FNET_AGAIN;

    fnet_decoder_set_dialect(s->answers, fnet_session_dialect(s->session));
    s->outcome.sent += len;
    for (size_t i = 0; i < len; i++)
        s->outcome.hash = (s->outcome.hash ^ bytes[i]) * 0x100000001b3;
    while (len > 0) {
        uint8_t *space;
        size_t room;
        fnet_decoder_space(s->answers, &space, &room);
        size_t n = room < len ? room : len;
        require(n > 0);
        memcpy(space, bytes, n);
        fnet_decoder_commit(s->answers, n);
        bytes += n;
        len -= n;
        do {
            fnet_decoder_take(s->answers, fnet_decoder_payload(s->answers).len);
            err = fnet_decoder_next(s->answers, &m);
        } while (err == FNET_OK);
        require(err == FNET_AGAIN);
    }
}

static void read_answers(struct served *s)
{
    struct iovec spans[5];
    size_t n;

    while ((n = fnet_session_send_spans(s->session, spans, 5)) > 0) {
        size_t len = 0;
        for (size_t i = 0; i < n; i++) {
            hear(s, spans[i].iov_base, spans[i].iov_len);
            len += spans[i].iov_len;
        }
        fnet_session_sent(s->session, len);
    }
    require(!fnet_decoder_is_mid_frame(s->answers));
    require(fnet_session_wants_read(s->session) == (fnet_session_error(s->session) == FNET_OK));
}

static size_t receive(struct served *s, const uint8_t *bytes, size_t len)
{
    struct iovec spaces[FNET_SESSION_RECV_SPACES];
    size_t n = fnet_session_recv_spaces(s->session, spaces);
    size_t moved = 0;

    for (size_t i = 0; i < n && moved < len; i++) {
        size_t some = spaces[i].iov_len < len - moved ? spaces[i].iov_len : len - moved;
        memcpy(spaces[i].iov_base, bytes + moved, some);
        moved += some;
    }
    require(moved > 0);
    enum fnet_err err = fnet_session_received(s->session, moved);
    require(err == fnet_session_error(s->session));
    return moved;
}

/* Receive STREAM in pieces of at most MOST bytes; answers are read every TURN bytes. */
static struct outcome serve(const struct fnet_dialect *assumed, struct fnet_span stream,
                            size_t most, size_t turn)
{
    struct served s;
    size_t at = 0;
    unsigned turns = 0;

    begin(&s, assumed);
    while (at < stream.len && fnet_session_error(s.session) == FNET_OK) {
        size_t len = turn - at % turn;
        len = len < stream.len - at ? len : stream.len - at;
        at += receive(&s, stream.ptr + at, len < most ? len : most);
        if (at % turn == 0 && fnet_session_error(s.session) == FNET_OK) {
            produce(&s, turns++);
            read_answers(&s);
        }
    }
    read_answers(&s);
    (void)!fnet_session_end_of_stream(s.session);
    end(&s);
    return s.outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;

    struct fnet_span stream = fnet_span_of(data + 2, size - 2);
    size_t turn = 16 * (1 + (size_t)data[1]);
    const struct fnet_dialect *assumed =
        data[0] < 128 ? fnet_dialect_newest() : fnet_dialect_at(data[0] % 16);
    struct outcome whole = serve(assumed, stream, SIZE_MAX, turn);
    struct outcome cut = serve(assumed, stream, 1 + (size_t)data[0], turn);

    require(whole.hash == cut.hash && whole.sent == cut.sent);
    require(whole.err == cut.err && whole.is_closing == cut.is_closing);
    require(memcmp(whole.states, cut.states, sizeof whole.states) == 0);
    return 0;
}
