/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate, private: a channel, what the gate asks of it and what it asks of the gate.
 */
#ifndef FNET_GATE_CHANNEL_H
#define FNET_GATE_CHANNEL_H

#include "credit.h"

#include "fnet/gate.h"

struct fnet_gate {
    struct fnet_gate_config config;
    struct fnet__floating floating;
    struct fnet_list ready;         /**< channels with something queued, by their ready link */
    struct fnet_channel **channels; /**< owned */
    size_t count;
    size_t open;        /**< channels in state OPEN */
    size_t event_bytes; /**< queued, of all channels */
};

struct fnet__received {
    struct fnet_buffer buffer; /**< owned */
    bool returns_credit;       /**< it is data: its memory was promised by a credit */
    bool is_floating;          /**< ... for a floating buffer */
};

struct fnet_channel {
    struct fnet_gate *gate;
    size_t index;
    struct fnet_id id;
    enum fnet_channel_state state;
    enum fnet_err error;
    int32_t sequence; /**< the next one */
    struct fnet__credit credit;
    bool is_floating; /**< the data that begin() made room for last has a floating buffer */
    struct fnet__received *ring; /**< owned; the queue of COUNT entries from HEAD */
    uint32_t capacity;           /**< 0 or a power of two */
    uint32_t head;
    uint32_t count;
    struct fnet_link ready;
    struct fnet_link words_link;
    unsigned words; /**< enum fnet_channel_word, or-ed */
    void (*has_words)(void *arg, struct fnet_channel *channel);
    void *has_words_arg;
    struct fnet_channel_counts counts;
};

FNET_CHECKED enum fnet_err fnet__channel_new(struct fnet_gate *gate, struct fnet_channel **out);
void fnet__channel_free(struct fnet_channel *channel);
/** Take the first of at least one received item. */
struct fnet__received fnet__channel_pop(struct fnet_channel *channel);

#endif
