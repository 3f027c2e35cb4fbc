/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate: the receiving side. An input gate has channels, each the reading of one subpartition; what
 * they receive queues up in order of arrival and is polled buffer by buffer. Credits see to it
 * that nothing arrives without memory for it. Not thread safe.
 *
 * Two neighbours work on a channel: the session below the wire delivers what was received and
 * carries away what the channel has to say (credit, acknowledgement, resumption); the reader above
 * polls, recycles and acknowledges.
 *
 * Source: Flink SingleInputGate, RemoteInputChannel, BufferManager.
 */
#ifndef FNET_GATE_H
#define FNET_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/buffer.h"
#include "fnet/compress.h"
#include "fnet/dialect.h"
#include "fnet/err.h"
#include "fnet/id.h"
#include "fnet/list.h"

/** Largest event that is accepted from a peer. */
#define FNET_EVENT_MAX_BYTES (64u << 10)
/** Events cost no credit: most bytes of them that may wait in one gate. */
#define FNET_GATE_EVENT_BYTES_MAX (4u << 20)

struct fnet_gate;
struct fnet_channel;

/** Where a channel stands. */
enum fnet_channel_state {
    FNET_CHANNEL_OPEN,      /**< receiving, or about to */
    FNET_CHANNEL_ENDED,     /**< EndOfPartition was received */
    FNET_CHANNEL_FAILED,    /**< see fnet_channel_error() */
    FNET_CHANNEL_CANCELLED, /**< we did not want the rest */
};

struct fnet_gate_config {
    size_t channels;
    uint32_t buffers_per_channel;       /**< exclusive buffers, may be 0 */
    uint32_t floating_buffers;          /**< shared by the channels; > 0 where the above is 0 */
    struct fnet_local_pool *pool;       /**< borrowed: channels * exclusive + floating segments */
    const struct fnet_dialect *dialect; /**< that the ids of the channels say; NULL: they say none,
                                             as Flink's */
    enum fnet_codec codec;  /**< of compressed buffers, unless fnet_channel_set_codec() knows it;
                                 where it is LZ4, zstd's are recognised */
    struct fnet_bell ready; /**< rings when poll may have something new to say */
};

#define FNET_GATE_CONFIG_INIT                                                                      \
    {                                                                                              \
        .buffers_per_channel = FNET_BUFFERS_PER_CHANNEL, .floating_buffers = FNET_FLOATING_BUFFERS \
    }

/**
 * Make a gate and its channels, each with a random InputChannelID.
 *
 * @param out  owned by caller.
 *
 * Errors: FNET_INVALID (no buffers at all), FNET_NOMEM.
 */
FNET_CHECKED enum fnet_err fnet_gate_new(const struct fnet_gate_config *config,
                                         struct fnet_gate **out);
/** Free GATE, its channels and what they hold. Safe on NULL. */
void fnet_gate_free(struct fnet_gate *gate);

size_t fnet_gate_channels(const struct fnet_gate *gate);
/** Borrowed from the gate. */
struct fnet_channel *fnet_gate_channel(const struct fnet_gate *gate, size_t index);

/** What poll yields: a data buffer or an event of one channel. */
struct fnet_gate_item {
    struct fnet_channel *channel; /**< borrowed */
    struct fnet_buffer buffer;    /**< owned by caller, to be given to fnet_gate_recycle() */
    bool returns_credit;          /**< of the gate's bookkeeping */
    bool is_floating;             /**< the same */
};

/**
 * The next buffer or event, in order of arrival within a channel and round robin among them.
 *
 * Errors: FNET_AGAIN  nothing is there; the gate's bell rings.
 *         FNET_EOF    every channel has ended, failed or was cancelled, and its queue is empty.
 *         FNET_TRUNCATED, FNET_BAD_LENGTH, FNET_BAD_VALUE  a compressed buffer is none, and
 *         FNET_NOMEM: dead; fnet_gate_culprit() tells the channel.
 * Cost:   O(1); what is compressed is decompressed into a buffer on the heap.
 */
FNET_CHECKED enum fnet_err fnet_gate_poll(struct fnet_gate *gate, struct fnet_gate_item *out);
/** The channel of poll's error. */
struct fnet_channel *fnet_gate_culprit(const struct fnet_gate *gate);
/** Done with ITEM: its memory goes back and, through the channel's credit, on to the sender. */
void fnet_gate_recycle(struct fnet_gate *gate, struct fnet_gate_item *item);

/* ---- a channel, as its owner sees it ------------------------------------------------------- */

const struct fnet_id *fnet_channel_id(const struct fnet_channel *channel);
/** Number within the gate, from 0. */
size_t fnet_channel_index(const struct fnet_channel *channel);
struct fnet_gate *fnet_channel_gate(const struct fnet_channel *channel);
enum fnet_channel_state fnet_channel_state(const struct fnet_channel *channel);
/** Of a FAILED channel; FNET_OK otherwise. */
enum fnet_err fnet_channel_error(const struct fnet_channel *channel);

/**
 * Buffers of CHANNEL that come compressed are CODEC's, as its producer said. To be told before any
 * comes.
 *
 * Errors: FNET_INVALID  not a codec.
 *         FNET_NOMEM
 */
FNET_CHECKED enum fnet_err fnet_channel_set_codec(struct fnet_channel *channel,
                                                  enum fnet_codec codec);
/** Can CHANNEL read compressed buffers: has it a codec, and one that fnet was built with? */
bool fnet_channel_reads_compressed(const struct fnet_channel *channel);
/** The codec's name, static. */
const char *fnet_channel_codec_name(const struct fnet_channel *channel);

/** Every record before EndOfData was processed: tell the producer. */
void fnet_channel_acknowledge(struct fnet_channel *channel);
/** An event that blocks the sender was dealt with: let it go on. */
void fnet_channel_resume(struct fnet_channel *channel);
/** The rest is not wanted: drop what is queued, tell the producer. */
void fnet_channel_cancel(struct fnet_channel *channel);

/* ---- a channel, as its session sees it ----------------------------------------------------- */

/** What a channel has to say to its producer, or-ed. */
enum fnet_channel_word {
    FNET_SAY_CREDIT = 1,
    FNET_SAY_RESUME = 2,
    FNET_SAY_ACKNOWLEDGE = 4,
    FNET_SAY_RELEASE = 8, /**< ended, failed or cancelled: no further message will be about it */
};

/** HAS_WORDS is called when the channel has something to say after it had nothing. */
void fnet_channel_attach(struct fnet_channel *channel,
                         void (*has_words)(void *arg, struct fnet_channel *channel), void *arg);
/** The link by which the session queues channels that have words to say. */
struct fnet_link *fnet_channel_link(struct fnet_channel *channel);
struct fnet_channel *fnet_channel_of_link(struct fnet_link *link);

/** The credit that goes into the PartitionRequest. */
uint32_t fnet_channel_initial_credit(const struct fnet_channel *channel);

/**
 * Take the words to say now; they are then said.
 *
 * @param credit  set if FNET_SAY_CREDIT: the sum since the last time, > 0.
 */
unsigned fnet_channel_take_words(struct fnet_channel *channel, uint32_t *credit);

/**
 * A BufferResponse begins: where to put its payload.
 *
 * @param sequence  must be the next one.
 * @param out       owned by caller: LEN bytes to fill, then give to fnet_channel_receive(). It is
 *                  paid for now: give it to fnet_channel_abandon() if the rest will not come.
 *
 * Errors: FNET_BAD_SEQUENCE, FNET_BAD_LENGTH (larger than a segment or FNET_EVENT_MAX_BYTES; an
 *         event of no bytes), FNET_NO_CREDIT (data beyond the credit given; events beyond
 *         FNET_GATE_EVENT_BYTES_MAX), FNET_STATE (not OPEN), FNET_NOMEM. The channel's state does
 *         not change: fail it.
 */
FNET_CHECKED enum fnet_err fnet_channel_begin(struct fnet_channel *channel, int32_t sequence,
                                              uint8_t data_type, uint32_t len,
                                              struct fnet_buffer *out);

/** The connection ended before the payload that begin() made room for was complete. */
void fnet_channel_abandon(struct fnet_channel *channel, struct fnet_buffer *buffer);

/**
 * The payload is complete. A channel that was cancelled meanwhile drops it.
 *
 * @param buffer   consumed.
 * @param backlog  data buffers queued at the sender; decides which floating buffers to ask for.
 *
 * Errors: FNET_NOMEM.
 */
FNET_CHECKED enum fnet_err fnet_channel_receive(struct fnet_channel *channel,
                                                struct fnet_buffer *buffer, uint32_t backlog);

/**
 * The same for a payload that holds N data buffers side by side, as sort-merge partitions send
 * them. They count as N in the sequence, one credit pays for all, the backlog is behind the last.
 *
 * @param sizes  of each, in bytes; their sum is BUFFER's length. Of an event N is 1: each is begun
 *               and received by itself.
 */
FNET_CHECKED enum fnet_err fnet_channel_receive_parts(struct fnet_channel *channel,
                                                      struct fnet_buffer *buffer,
                                                      const uint32_t *sizes, uint32_t n,
                                                      uint32_t backlog);

/** BacklogAnnouncement. */
void fnet_channel_announce_backlog(struct fnet_channel *channel, uint32_t backlog);
/** The channel will receive nothing more, because of ERR; what is queued can still be polled. */
void fnet_channel_fail(struct fnet_channel *channel, enum fnet_err err);

/** Counters of a channel, for statistics and messages. */
struct fnet_channel_counts {
    uint64_t buffers; /**< data buffers received */
    uint64_t bytes;   /**< their payload */
    uint64_t events;
    uint32_t queued;  /**< buffers and events not polled yet */
    uint32_t credit;  /**< what the sender may still send */
    uint32_t backlog; /**< as last told */
};
struct fnet_channel_counts fnet_channel_counts(const struct fnet_channel *channel);

#endif
