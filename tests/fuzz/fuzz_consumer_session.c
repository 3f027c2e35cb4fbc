/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a hostile producer before a consumer session with a real gate behind it. What comes
 * out of the gate, what the session says, and how everything ends, is the same however the stream
 * is cut; memory is that of the pool and a bound on events, and comes back. Input: a byte that says
 * how to cut and, from 128 on, in which dialect, a byte that says how often the gate is read, then
 * the stream.
 */
#include <stdlib.h>

#include "../../lib/gate/channel.h"

#include "fnet/session.h"

#define CHANNELS 3
#define EXCLUSIVE 1
#define FLOATING 2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* All that can be observed: an FNV-1a hash of what was polled, said and told, and the end. */
struct outcome {
    uint64_t hash;
    enum fnet_err err;
    bool is_closing;
    struct fnet_channel_counts counts[CHANNELS];
    enum fnet_channel_state states[CHANNELS];
};

/* A gate, and the session by which its channels are received. */
struct fetching {
    struct fnet_network_pool *network;
    struct fnet_local_pool *pool;
    struct fnet_gate *gate;
    struct fnet_session *session;
    struct outcome outcome;
};

static void note(struct fetching *f, const void *bytes, size_t len)
{
    const uint8_t *pos = bytes;

    for (size_t i = 0; i < len; i++)
        f->outcome.hash = (f->outcome.hash ^ pos[i]) * 0x100000001b3;
}

static void on_channel_error(void *arg, struct fnet_channel *channel, enum fnet_err err,
                             const char *text)
{
    note(arg, text, strlen(text));
    if (err == FNET_REMOTE)
        fnet_channel_fail(channel, err);
}

static void on_description(void *arg, const struct fnet_id *request,
                           const struct fnet_description_response *description)
{
    note(arg, request, sizeof *request);
    note(arg, description->name.ptr, description->name.len);
}

static void on_description_error(void *arg, const struct fnet_id *request, enum fnet_err err,
                                 const char *text)
{
    note(arg, request, sizeof *request);
    note(arg, &err, sizeof err);
    note(arg, text, strlen(text));
}

/* Channel I has an id of which every byte is I + 1: a stream of the corpus can name it. */
static void add_channel(struct fetching *f, uint32_t i)
{
    struct fnet_partition_id partition;
    struct fnet_channel *channel = fnet_gate_channel(f->gate, i);

    memset(channel->id.bytes, (int)i + 1, sizeof channel->id.bytes);
    require(fnet_partition_id_from_name("main", &partition) == FNET_OK);
    require(fnet_consumer_session_add(f->session, channel) == FNET_OK);
    require(fnet_consumer_session_request(f->session, channel, &partition, i) == FNET_OK);
}

static void begin(struct fetching *f, const struct fnet_dialect *dialect)
{
    const uint32_t segments = CHANNELS * EXCLUSIVE + FLOATING;
    const struct fnet_consumer_listener listener = {.channel_error = on_channel_error,
                                                    .description = on_description,
                                                    .description_error = on_description_error,
                                                    .arg = f};

    *f = (struct fetching){.outcome = {.hash = 0xcbf29ce484222325}};
    require(fnet_network_pool_new(FNET_SEGMENT_MIN_BYTES, segments, &f->network) == FNET_OK);
    require(fnet_local_pool_new(f->network, segments, segments, &f->pool) == FNET_OK);
    const struct fnet_gate_config config = {.channels = CHANNELS,
                                            .buffers_per_channel = EXCLUSIVE,
                                            .floating_buffers = FLOATING,
                                            .pool = f->pool};
    require(fnet_gate_new(&config, &f->gate) == FNET_OK);
    require(fnet_consumer_session_new(&listener, dialect, &f->session) == FNET_OK);
    for (uint32_t i = 0; i < CHANNELS; i++)
        add_channel(f, i);
    require(fnet_consumer_session_describe(f->session, &(struct fnet_id){.bytes = {0}}, NULL) ==
            (dialect == fnet_dialect_newest() ? FNET_OK : FNET_INVALID));
}

static void end(struct fetching *f)
{
    f->outcome.err = fnet_session_error(f->session);
    f->outcome.is_closing = fnet_session_is_closing(f->session);
    require((f->outcome.err == FNET_OK) == (fnet_session_error_text(f->session)[0] == '\0'));
    note(f, fnet_session_error_text(f->session), strlen(fnet_session_error_text(f->session)));
    fnet_session_free(f->session);
    for (size_t i = 0; i < CHANNELS; i++) {
        f->outcome.states[i] = fnet_channel_state(fnet_gate_channel(f->gate, i));
        f->outcome.counts[i] = fnet_channel_counts(fnet_gate_channel(f->gate, i));
        require(f->outcome.states[i] != FNET_CHANNEL_OPEN);
    }
    fnet_gate_free(f->gate);
    require(fnet_local_pool_used(f->pool) == 0);
    fnet_local_pool_free(f->pool);
    fnet_network_pool_free(f->network);
}

/* Every second item is read, so that some credit is always out and some is not. */
static void read_gate(struct fetching *f, unsigned turn)
{
    struct fnet_gate_item item;

    require(f->gate->event_bytes <= FNET_GATE_EVENT_BYTES_MAX);
    for (unsigned n = turn % 3; n > 0 && fnet_gate_poll(f->gate, &item) == FNET_OK; n--) {
        struct fnet_span span = fnet_buffer_span(&item.buffer);
        note(f, span.ptr, span.len);
        if (item.buffer.data_type == FNET_END_OF_DATA)
            fnet_channel_acknowledge(item.channel);
        if (fnet_data_type_blocks_upstream(item.buffer.data_type))
            fnet_channel_resume(item.channel);
        fnet_gate_recycle(f->gate, &item);
    }
    if (turn == 20)
        fnet_channel_cancel(fnet_gate_channel(f->gate, 1));
}

static void let_speak(struct fetching *f)
{
    struct iovec spans[5];
    size_t n;

    while ((n = fnet_session_send_spans(f->session, spans, 5)) > 0) {
        size_t len = 0;
        for (size_t i = 0; i < n; i++) {
            note(f, spans[i].iov_base, spans[i].iov_len);
            len += spans[i].iov_len;
        }
        fnet_session_sent(f->session, len);
    }
}

static size_t receive(struct fetching *f, const uint8_t *bytes, size_t len)
{
    struct iovec spaces[FNET_SESSION_RECV_SPACES];
    size_t n = fnet_session_recv_spaces(f->session, spaces);
    size_t moved = 0;

    for (size_t i = 0; i < n && moved < len; i++) {
        size_t some = spaces[i].iov_len < len - moved ? spaces[i].iov_len : len - moved;
        memcpy(spaces[i].iov_base, bytes + moved, some);
        moved += some;
    }
    require(moved > 0);
    enum fnet_err err = fnet_session_received(f->session, moved);
    require(err == fnet_session_error(f->session) && err != FNET_NOMEM);
    return moved;
}

/* Receive STREAM in pieces of at most MOST bytes; the gate is read every TURN bytes. */
static struct outcome fetch(const struct fnet_dialect *dialect, struct fnet_span stream,
                            size_t most, size_t turn)
{
    struct fetching f;
    size_t at = 0;
    unsigned turns = 0;

    begin(&f, dialect);
    let_speak(&f);
    while (at < stream.len && fnet_session_error(f.session) == FNET_OK) {
        size_t len = turn - at % turn;
        len = len < stream.len - at ? len : stream.len - at;
        at += receive(&f, stream.ptr + at, len < most ? len : most);
        if (at % turn == 0 && fnet_session_error(f.session) == FNET_OK) {
            read_gate(&f, turns++);
            let_speak(&f);
        }
    }
    (void)!fnet_session_end_of_stream(f.session);
    end(&f);
    return f.outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;

    struct fnet_span stream = fnet_span_of(data + 2, size - 2);
    size_t turn = 16 * (1 + (size_t)data[1]);
    const struct fnet_dialect *dialect = fnet_dialect_at(data[0] % 16);
    if (data[0] < 128 || !dialect)
        dialect = fnet_dialect_newest();
    struct outcome whole = fetch(dialect, stream, SIZE_MAX, turn);
    struct outcome cut = fetch(dialect, stream, 1 + (size_t)data[0], turn);

    require(whole.hash == cut.hash);
    require(whole.err == cut.err && whole.is_closing == cut.is_closing);
    for (size_t i = 0; i < CHANNELS; i++) {
        require(whole.states[i] == cut.states[i]);
        require(whole.counts[i].buffers == cut.counts[i].buffers);
        require(whole.counts[i].bytes == cut.counts[i].bytes);
        require(whole.counts[i].events == cut.counts[i].events);
        require(whole.counts[i].queued == cut.counts[i].queued);
    }
    return 0;
}
