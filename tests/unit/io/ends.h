/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: the two ends of a connection. A world holds what a producer and a consumer session work
 * on; each end is one of them, over a descriptor.
 */
#ifndef TESTS_IO_ENDS_H
#define TESTS_IO_ENDS_H

#include <errno.h>

#include "fnet/connection.h"

#include "sockets.h"

#define SUBPARTITIONS 2
#define SEGMENT_BYTES 4096
#define NAME "main"

/** A partition that is written, and a gate that is read, by tasks of the loop. */
struct world {
    struct fnet_loop *loop;
    struct fnet_network_pool *network;
    struct fnet_local_pool *out;
    struct fnet_local_pool *in;
    struct fnet_partition *partition;
    struct fnet_registry registry;
    struct fnet_gate *gate;
    struct fnet_task write;
    struct fnet_task read;
    size_t total; /**< bytes of each subpartition */
    size_t written[SUBPARTITIONS];
    size_t got[SUBPARTITIONS];
    size_t ended; /**< channels that reached their end */
};

/** One end and how it came to its end. */
struct end {
    struct fnet_loop *loop;
    struct fnet_connection *connection; /**< NULL: closed */
    struct fnet_session *session;       /**< of it */
    int closed;
    enum fnet_err err;
    int saved_errno;
    char text[256]; /**< the session's error */
    struct fnet_session_counts counts;
};

static inline uint8_t byte_at(size_t subpartition, size_t i)
{
    return (uint8_t)(i * 31 + (i >> 8) + subpartition * 101);
}

static inline void write_world(void *arg)
{
    struct world *w = arg;
    size_t complete = 0;

    for (uint32_t s = 0; s < SUBPARTITIONS; s++) {
        struct fnet_builder *builder;
        while (w->written[s] < w->total &&
               fnet_partition_builder(w->partition, s, &builder) == FNET_OK) {
            size_t n = fnet_builder_room(builder);
            if (n > w->total - w->written[s])
                n = w->total - w->written[s];
            for (size_t i = 0; i < n; i++)
                fnet_builder_pos(builder)[i] = byte_at(s, w->written[s]++);
            fnet_builder_commit(builder, n);
        }
        complete += w->written[s] == w->total;
    }
    if (complete == SUBPARTITIONS && !fnet_partition_is_finished(w->partition))
        CHECK_INT(fnet_partition_finish(w->partition), FNET_OK);
}

static inline void take_item(struct world *w, const struct fnet_gate_item *item)
{
    size_t s = fnet_channel_index(item->channel);
    struct fnet_span bytes = fnet_buffer_span(&item->buffer);
    size_t wrong = 0;

    if (item->buffer.data_type == FNET_END_OF_DATA)
        fnet_channel_acknowledge(item->channel);
    w->ended += item->buffer.data_type == FNET_END_OF_PARTITION;
    if (!fnet_data_type_is_buffer(item->buffer.data_type))
        return;
    for (size_t i = 0; i < bytes.len; i++)
        wrong += bytes.ptr[i] != byte_at(s, w->got[s]++);
    CHECK_INT(wrong, 0);
}

static inline void read_world(void *arg)
{
    struct world *w = arg;
    struct fnet_gate_item item;

    while (fnet_gate_poll(w->gate, &item) == FNET_OK) {
        take_item(w, &item);
        fnet_gate_recycle(w->gate, &item);
    }
}

static inline void post_write(void *arg)
{
    struct world *w = arg;

    fnet_loop_post(w->loop, &w->write);
}

static inline void post_read(void *arg)
{
    struct world *w = arg;

    fnet_loop_post(w->loop, &w->read);
}

static inline void init_partition(struct world *w)
{
    struct fnet_partition_config config = FNET_PARTITION_CONFIG_INIT;
    uint32_t required, max;

    fnet_partition_buffers(FNET_PIPELINED_BOUNDED, SUBPARTITIONS, 2, 8, &required, &max);
    CHECK_INT(fnet_local_pool_new(w->network, required, max, &w->out), FNET_OK);
    fnet_local_pool_set_bell(w->out, (struct fnet_bell){.ring = post_write, .arg = w});
    CHECK_INT(fnet_partition_id_from_name(NAME, &config.id), FNET_OK);
    config.name = NAME;
    config.subpartitions = SUBPARTITIONS;
    config.pool = w->out;
    CHECK_INT(fnet_partition_new(&config, &w->partition), FNET_OK);
    CHECK_INT(fnet_registry_add(&w->registry, w->partition), FNET_OK);
}

static inline void init_gate(struct world *w)
{
    struct fnet_gate_config config = FNET_GATE_CONFIG_INIT;

    CHECK_INT(fnet_local_pool_new(w->network, SUBPARTITIONS * 2 + 8, SUBPARTITIONS * 2 + 8, &w->in),
              FNET_OK);
    config.channels = SUBPARTITIONS;
    config.pool = w->in;
    config.ready = (struct fnet_bell){.ring = post_read, .arg = w};
    CHECK_INT(fnet_gate_new(&config, &w->gate), FNET_OK);
}

/** A partition of SUBPARTITIONS times TOTAL bytes, and a gate for them. */
static inline void make_world(struct world *w, enum fnet_loop_backend backend, size_t total)
{
    *w = (struct world){.loop = new_loop(backend), .total = total};
    fnet_task_init(&w->write, write_world, w);
    fnet_task_init(&w->read, read_world, w);
    CHECK_INT(fnet_network_pool_new(SEGMENT_BYTES, 64, &w->network), FNET_OK);
    init_partition(w);
    init_gate(w);
    post_write(w);
}

static inline void free_world(struct world *w)
{
    fnet_task_cancel(&w->write);
    fnet_task_cancel(&w->read);
    fnet_gate_free(w->gate);
    fnet_partition_free(w->partition);
    fnet_registry_clear(&w->registry);
    fnet_local_pool_free(w->out);
    fnet_local_pool_free(w->in);
    CHECK_INT(fnet_network_pool_used(w->network), 0);
    fnet_network_pool_free(w->network);
    fnet_loop_free(w->loop);
}

/* As the commands do: the end of a connection is where it is freed. */
static inline void on_closed(void *arg, struct fnet_connection *connection, enum fnet_err err,
                             int saved_errno)
{
    struct end *end = arg;

    CHECK(connection == end->connection);
    end->closed++;
    end->err = err;
    end->saved_errno = saved_errno;
    end->counts = fnet_session_counts(end->session);
    snprintf(end->text, sizeof end->text, "%s", fnet_session_error_text(end->session));
    fnet_connection_free(connection);
    end->connection = NULL;
    fnet_loop_quit(end->loop);
}

/** Connect SESSION over FD; both are END's, and IDLE_TIMEOUT and TRACE may be 0. */
static inline void open_end(struct fnet_loop *loop, struct end *end, struct fnet_session *session,
                            int fd, bool is_producer, uint64_t idle_timeout_ns,
                            struct fnet_trace *trace)
{
    const struct fnet_connection_config config = {.loop = loop,
                                                  .trace = trace,
                                                  .is_producer = is_producer,
                                                  .idle_timeout_ns = idle_timeout_ns,
                                                  .closed = on_closed,
                                                  .arg = end};

    *end = (struct end){.loop = loop, .session = session};
    CHECK_INT(fnet_connection_new(&config, session, fd, &end->connection), FNET_OK);
}

static inline struct fnet_session *new_producer(struct world *w)
{
    struct fnet_session *session = NULL;

    CHECK_INT(fnet_producer_session_new(&w->registry, fnet_dialect_newest(), &session), FNET_OK);
    return session;
}

static inline void ignore_channel_error(void *arg, struct fnet_channel *channel, enum fnet_err err,
                                        const char *text)
{
    (void)arg;
    (void)channel;
    (void)err;
    (void)text;
}

/** A session that has asked for every subpartition. */
static inline struct fnet_session *new_consumer(struct world *w)
{
    const struct fnet_consumer_listener listener = {.channel_error = ignore_channel_error};
    struct fnet_session *session = NULL;
    struct fnet_partition_id id;

    CHECK_INT(fnet_partition_id_from_name(NAME, &id), FNET_OK);
    CHECK_INT(fnet_consumer_session_new(&listener, fnet_dialect_newest(), &session), FNET_OK);
    for (uint32_t i = 0; i < SUBPARTITIONS; i++) {
        struct fnet_channel *channel = fnet_gate_channel(w->gate, i);
        CHECK_INT(fnet_consumer_session_add(session, channel), FNET_OK);
        CHECK_INT(fnet_consumer_session_request(session, channel, &id, i), FNET_OK);
    }
    return session;
}

static inline void open_producer(struct world *w, struct end *end, int fd, struct fnet_trace *trace)
{
    open_end(w->loop, end, new_producer(w), fd, true, 0, trace);
}

static inline void open_consumer(struct world *w, struct end *end, int fd, struct fnet_trace *trace)
{
    open_end(w->loop, end, new_consumer(w), fd, false, 0, trace);
}

/** Run until END has come to its end; the other may come to its own meanwhile. */
static inline void await_end(struct end *end)
{
    for (int i = 0; i < 2 && !end->closed; i++)
        run_until_quit(end->loop);
    CHECK_INT(end->closed, 1);
}

static inline void check_end(struct end *end, enum fnet_err err, int saved_errno)
{
    await_end(end);
    CHECK_INT(end->err, err);
    CHECK_INT(end->saved_errno, saved_errno);
}

#endif
