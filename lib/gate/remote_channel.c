/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A channel to a subpartition of another process: sequence, credit, and the queue of what came.
 *
 * Source: Flink RemoteInputChannel.
 */
#include <assert.h>
#include <stdlib.h>

#include "channel.h"

/* What an event in the queue counts against the gate's bound: its bytes and what carries them. */
static size_t event_cost(uint32_t len)
{
    return len + sizeof(struct fnet_segment) + sizeof(struct fnet__received);
}

static void say(struct fnet_channel *channel, enum fnet_channel_word word)
{
    unsigned before = channel->words;

    channel->words = (uint8_t)(before | word);
    if (before == 0 && channel->has_words)
        channel->has_words(channel->has_words_arg, channel);
}

void fnet__channel_has_credit(struct fnet__credit *credit)
{
    struct fnet_channel *channel = fnet_entry(credit, struct fnet_channel, credit);

    if (channel->state == FNET_CHANNEL_OPEN)
        say(channel, FNET_SAY_CREDIT);
}

void fnet__channel_init(struct fnet_channel *channel, struct fnet_gate *gate)
{
    *channel = (struct fnet_channel){.gate = gate,
                                     .codec = (uint8_t)gate->config.codec,
                                     .ring = channel->few,
                                     .capacity = FNET__CHANNEL_FEW};
    if (gate->config.dialect)
        fnet_channel_id_random(gate->config.dialect, &channel->id);
    else
        fnet_id_random(&channel->id);
    fnet__credit_init(&channel->credit, gate->config.buffers_per_channel, &gate->floating);
}

struct fnet_gate_item fnet__channel_pop(struct fnet_channel *channel)
{
    const struct fnet__received *first = &channel->ring[channel->head];

    channel->head = (channel->head + 1) & (channel->capacity - 1);
    channel->count--;
    if (!fnet_data_type_is_buffer(first->data_type))
        channel->gate->event_bytes -= event_cost(first->len);
    return (struct fnet_gate_item){.channel = channel,
                                   .buffer = {.segment = first->segment,
                                              .offset = first->offset,
                                              .len = first->len,
                                              .data_type = first->data_type,
                                              .is_compressed = first->is_compressed},
                                   .returns_credit = first->returns_credit,
                                   .is_floating = first->is_floating};
}

static void drop_queue(struct fnet_channel *channel)
{
    fnet_link_unlink(&channel->ready);
    while (channel->count > 0) {
        struct fnet_gate_item first = fnet__channel_pop(channel);
        fnet_gate_recycle(channel->gate, &first);
    }
}

static void free_ring(struct fnet_channel *channel)
{
    if (channel->ring != channel->few)
        free(channel->ring);
}

void fnet__channel_clear(struct fnet_channel *channel)
{
    fnet__credit_close(&channel->credit);
    drop_queue(channel);
    fnet_link_unlink(&channel->words_link);
    free_ring(channel);
}

/* Nothing more will arrive: the gate need not wait for this channel any longer. */
static void leave(struct fnet_channel *channel, enum fnet_channel_state state)
{
    channel->state = state;
    channel->gate->open--;
    channel->words = 0;
    fnet__credit_close(&channel->credit);
    fnet_bell_ring(&channel->gate->config.ready);
}

const struct fnet_id *fnet_channel_id(const struct fnet_channel *channel)
{
    return &channel->id;
}

size_t fnet_channel_index(const struct fnet_channel *channel)
{
    return (size_t)(channel - channel->gate->channels);
}

struct fnet_gate *fnet_channel_gate(const struct fnet_channel *channel)
{
    return channel->gate;
}

enum fnet_channel_state fnet_channel_state(const struct fnet_channel *channel)
{
    return channel->state;
}

enum fnet_err fnet_channel_error(const struct fnet_channel *channel)
{
    return channel->error;
}

enum fnet_err fnet_channel_set_codec(struct fnet_channel *channel, enum fnet_codec codec)
{
    if (!fnet_codec_name(codec))
        return FNET_INVALID;
    enum fnet_err err = fnet__gate_add_codec(channel->gate, codec);
    if (err == FNET_OK)
        channel->codec = (uint8_t)codec;
    return err;
}

bool fnet_channel_reads_compressed(const struct fnet_channel *channel)
{
    return channel->gate->decompressors[channel->codec] != NULL;
}

const char *fnet_channel_codec_name(const struct fnet_channel *channel)
{
    return fnet_codec_name(channel->codec);
}

void fnet_channel_acknowledge(struct fnet_channel *channel)
{
    if (channel->state == FNET_CHANNEL_OPEN)
        say(channel, FNET_SAY_ACKNOWLEDGE);
}

void fnet_channel_resume(struct fnet_channel *channel)
{
    if (channel->state == FNET_CHANNEL_OPEN)
        say(channel, FNET_SAY_RESUME);
}

void fnet_channel_cancel(struct fnet_channel *channel)
{
    drop_queue(channel);
    if (channel->state != FNET_CHANNEL_OPEN)
        return;
    leave(channel, FNET_CHANNEL_CANCELLED);
    say(channel, FNET_SAY_RELEASE);
}

void fnet_channel_attach(struct fnet_channel *channel,
                         void (*has_words)(void *arg, struct fnet_channel *channel), void *arg)
{
    channel->has_words = has_words;
    channel->has_words_arg = arg;
}

struct fnet_link *fnet_channel_link(struct fnet_channel *channel)
{
    return &channel->words_link;
}

struct fnet_channel *fnet_channel_of_link(struct fnet_link *link)
{
    return fnet_entry(link, struct fnet_channel, words_link);
}

uint32_t fnet_channel_initial_credit(const struct fnet_channel *channel)
{
    return channel->credit.exclusive;
}

unsigned fnet_channel_take_words(struct fnet_channel *channel, uint32_t *credit)
{
    unsigned words = channel->words;

    channel->words = 0;
    if (words & FNET_SAY_CREDIT) {
        uint32_t sum = fnet__credit_announce(&channel->credit);
        if (sum > 0)
            *credit = sum;
        else
            words &= ~(unsigned)FNET_SAY_CREDIT;
    }
    return words;
}

enum fnet_err fnet_channel_begin(struct fnet_channel *channel, int32_t sequence, uint8_t data_type,
                                 uint32_t len, struct fnet_buffer *out)
{
    struct fnet_gate *gate = channel->gate;

    if (channel->state != FNET_CHANNEL_OPEN)
        return FNET_STATE;
    if (sequence != channel->sequence)
        return FNET_BAD_SEQUENCE;
    if (!fnet_data_type_is_buffer(data_type)) {
        if (len == 0 || len > FNET_EVENT_MAX_BYTES)
            return FNET_BAD_LENGTH;
        if (gate->event_bytes + event_cost(len) > FNET_GATE_EVENT_BYTES_MAX)
            return FNET_NO_CREDIT;
        return fnet_buffer_new_heap_room(len, data_type, out);
    }

    struct fnet_builder builder;
    if (len > fnet_local_pool_segment_bytes(gate->config.pool))
        return FNET_BAD_LENGTH;
    enum fnet_err err = fnet__credit_use(&channel->credit, &channel->is_floating);
    if (err != FNET_OK)
        return err;
    err = fnet_local_pool_take(gate->config.pool, NULL, &builder);
    if (err != FNET_OK) {
        fnet__credit_return(&channel->credit, channel->is_floating);
        return FNET_NOMEM; /* the pool is smaller than what was promised */
    }
    fnet_builder_commit(&builder, len);
    *out = (struct fnet_buffer){.segment = builder.segment, .len = len, .data_type = data_type};
    return FNET_OK;
}

/* Make room for N more in the queue. */
static enum fnet_err reserve(struct fnet_channel *channel, uint32_t n)
{
    uint32_t capacity = channel->capacity;

    while (capacity - channel->count < n)
        capacity *= 2;
    if (capacity == channel->capacity)
        return FNET_OK;
    struct fnet__received *ring = malloc(capacity * sizeof *ring);
    if (!ring)
        return FNET_NOMEM;
    for (uint32_t i = 0; i < channel->count; i++)
        ring[i] = channel->ring[(channel->head + i) & (channel->capacity - 1)];
    free_ring(channel);
    channel->ring = ring;
    channel->capacity = capacity;
    channel->head = 0;
    return FNET_OK;
}

/* Queue the parts of BUFFER, whose reference goes to the last one. */
static void push_parts(struct fnet_channel *channel, const struct fnet_buffer *buffer,
                       const uint32_t *sizes, uint32_t n)
{
    const bool is_data = fnet_data_type_is_buffer(buffer->data_type);
    uint32_t offset = buffer->offset;

    for (uint32_t i = 0; i < n; i++) {
        const bool is_last = i + 1 == n;
        channel->ring[(channel->head + channel->count++) & (channel->capacity - 1)] =
            (struct fnet__received){.segment = is_last ? buffer->segment
                                                       : fnet_segment_ref(buffer->segment),
                                    .offset = offset,
                                    .len = sizes[i],
                                    .data_type = buffer->data_type,
                                    .is_compressed = buffer->is_compressed,
                                    .returns_credit = is_data && is_last,
                                    .is_floating = is_data && channel->is_floating};
        offset += sizes[i];
    }
    /* In unsigned numbers: the one behind the greatest is the least. */
    channel->sequence = (int32_t)((uint32_t)channel->sequence + n);
}

void fnet_channel_abandon(struct fnet_channel *channel, struct fnet_buffer *buffer)
{
    bool is_data = fnet_data_type_is_buffer(buffer->data_type);

    fnet_buffer_clear(buffer);
    if (is_data)
        fnet__credit_return(&channel->credit, channel->is_floating);
}

enum fnet_err fnet_channel_receive_parts(struct fnet_channel *channel, struct fnet_buffer *buffer,
                                         const uint32_t *sizes, uint32_t n, uint32_t backlog)
{
    uint8_t type = buffer->data_type;

    assert(n == 1 || fnet_data_type_is_buffer(type));
    if (channel->state != FNET_CHANNEL_OPEN) {
        fnet_channel_abandon(channel, buffer);
        return FNET_OK;
    }
    enum fnet_err err = reserve(channel, n);
    if (err != FNET_OK)
        return err;
    push_parts(channel, buffer, sizes, n);
    if (fnet_data_type_is_buffer(type)) {
        channel->buffers += n;
        channel->bytes += buffer->len;
    } else {
        channel->events++;
        channel->gate->event_bytes += event_cost(buffer->len);
    }
    buffer->segment = NULL;
    fnet_list_push(&channel->gate->ready, &channel->ready);
    fnet_channel_announce_backlog(channel, backlog);
    if (fnet_data_type_blocks_upstream(type) && channel->credit.exclusive == 0)
        fnet__credit_close(&channel->credit);
    if (type == FNET_END_OF_PARTITION) {
        leave(channel, FNET_CHANNEL_ENDED);
        say(channel, FNET_SAY_RELEASE);
    }
    fnet_bell_ring(&channel->gate->config.ready);
    return FNET_OK;
}

enum fnet_err fnet_channel_receive(struct fnet_channel *channel, struct fnet_buffer *buffer,
                                   uint32_t backlog)
{
    const uint32_t size = buffer->len;

    return fnet_channel_receive_parts(channel, buffer, &size, 1, backlog);
}

void fnet_channel_announce_backlog(struct fnet_channel *channel, uint32_t backlog)
{
    channel->backlog = backlog;
    if (channel->state == FNET_CHANNEL_OPEN)
        fnet__credit_set_backlog(&channel->credit, backlog);
}

void fnet_channel_fail(struct fnet_channel *channel, enum fnet_err err)
{
    if (channel->state != FNET_CHANNEL_OPEN)
        return;
    channel->error = err;
    leave(channel, FNET_CHANNEL_FAILED);
    say(channel, FNET_SAY_RELEASE);
}

struct fnet_channel_counts fnet_channel_counts(const struct fnet_channel *channel)
{
    return (struct fnet_channel_counts){.buffers = channel->buffers,
                                        .bytes = channel->bytes,
                                        .events = channel->events,
                                        .queued = channel->count,
                                        .credit = channel->credit.granted,
                                        .backlog = channel->backlog};
}
