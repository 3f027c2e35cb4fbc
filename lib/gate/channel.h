/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate, private: a channel, what the gate asks of it and what it asks of the gate.
 */
#ifndef FNET_GATE_CHANNEL_H
#define FNET_GATE_CHANNEL_H

#include "credit.h"

#include "fnet/gate.h"

/** By enum fnet_codec. */
#define FNET__GATE_CODECS (FNET_CODEC_LZO + 1)

struct fnet_gate {
    struct fnet_gate_config config;
    struct fnet__floating floating;
    struct fnet_list ready;        /**< channels with something queued, by their ready link */
    struct fnet_channel *channels; /**< owned array */
    size_t open;                   /**< channels in state OPEN */
    size_t event_bytes;            /**< queued, of all channels */
    struct fnet_decompressor *decompressors[FNET__GATE_CODECS]; /**< owned; NULL: not needed, or
                                                                     not built with */
    struct fnet_channel *culprit;
};

/** As many as most channels ever have in their queue. */
#define FNET__CHANNEL_FEW 2

/** A buffer or event in the queue. */
struct fnet__received {
    struct fnet_segment *segment; /**< owned reference */
    uint32_t offset;
    uint32_t len;
    uint8_t data_type;
    bool is_compressed;
    bool returns_credit; /**< it is data, and the last part of what one credit paid for */
    bool is_floating;    /**< ... which was for a floating buffer */
};

/** There are thousands: what is the same for all channels is the gate's. */
struct fnet_channel {
    struct fnet_gate *gate;
    struct fnet_id id;
    enum fnet_channel_state state;
    enum fnet_err error;
    int32_t sequence; /**< the next one */
    uint8_t words;    /**< enum fnet_channel_word, or-ed */
    uint8_t codec;    /**< enum fnet_codec */
    bool is_floating; /**< the data that begin() made room for last has a floating buffer */
    struct fnet__credit credit;
    struct fnet__received *ring; /**< the queue of COUNT entries from HEAD: FEW, or owned */
    uint32_t capacity;           /**< a power of two */
    uint32_t head;
    uint32_t count;
    uint32_t backlog; /**< of the sender, as last told */
    struct fnet__received few[FNET__CHANNEL_FEW];
    struct fnet_link ready;
    struct fnet_link words_link;
    void (*has_words)(void *arg, struct fnet_channel *channel);
    void *has_words_arg;
    uint64_t buffers; /**< received, and so on */
    uint64_t bytes;
    uint64_t events;
};

/** See to it that what CODEC compressed can be read, if fnet was built with it. Errors: FNET_NOMEM.
 */
FNET_CHECKED enum fnet_err fnet__gate_add_codec(struct fnet_gate *gate, enum fnet_codec codec);

void fnet__channel_init(struct fnet_channel *channel, struct fnet_gate *gate);
void fnet__channel_clear(struct fnet_channel *channel);
/** Take the first of at least one received item. */
struct fnet_gate_item fnet__channel_pop(struct fnet_channel *channel);
/** A channel has credit that its sender does not know of. */
void fnet__channel_has_credit(struct fnet__credit *credit);

#endif
