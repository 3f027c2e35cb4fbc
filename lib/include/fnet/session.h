/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: the two protocol machines, producer (server) and consumer (client), one per connection.
 * Bytes in, bytes out: no sockets, no clock. Two of them joined in memory run the whole protocol.
 *
 *     n = fnet_session_recv_spaces(s, iov)        read into them, payloads go straight into place
 *     fnet_session_received(s, bytes)
 *     n = fnet_session_send_spans(s, iov, max)    write from them
 *     fnet_session_sent(s, bytes)
 *
 * A connection speaks one dialect (fnet/dialect.h): the consumer's, which the producer recognises.
 * Partitions and gates know the newest form only; sessions turn events into the dialect and back.
 *
 * The session's bell rings when there may be something to send that was not there before.
 *
 * Source: Flink PartitionRequestQueue, PartitionRequestServerHandler,
 * CreditBasedSequenceNumberingViewReader, CreditBasedPartitionRequestClientHandler.
 */
#ifndef FNET_SESSION_H
#define FNET_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "fnet/err.h"
#include "fnet/gate.h"
#include "fnet/id.h"
#include "fnet/list.h"
#include "fnet/partition.h"
#include "fnet/wire.h"

struct fnet_session;

/* ---- both sides -------------------------------------------------------------------------- */

/** Spaces that fnet_session_recv_spaces() fills at most. */
#define FNET_SESSION_RECV_SPACES 2

/** Free SESSION. A producer's views are released as lost, a consumer's channels fail. */
void fnet_session_free(struct fnet_session *session);
void fnet_session_set_bell(struct fnet_session *session, struct fnet_bell bell);

/** What SESSION speaks; of a producer the newest until the first request shows the peer's. */
const struct fnet_dialect *fnet_session_dialect(const struct fnet_session *session);

/** May more be received now? False while answers pile up that the peer does not read. */
bool fnet_session_wants_read(const struct fnet_session *session);

/** Where the next bytes of the stream go, in order. Returns the number of spaces, at least 1. */
size_t fnet_session_recv_spaces(struct fnet_session *session,
                                struct iovec spaces[static FNET_SESSION_RECV_SPACES]);

/**
 * N bytes were put there.
 *
 * Errors: peer errors, FNET_REMOTE (the peer reports a fatal error), FNET_NOMEM: dead; see
 *         fnet_session_error_text(). What a producer session still has to send says why: send it
 *         before the connection is closed.
 */
FNET_CHECKED enum fnet_err fnet_session_received(struct fnet_session *session, size_t n);

/**
 * The peer will send nothing more.
 *
 * Errors: FNET_TRUNCATED  in the middle of a frame.
 *         FNET_LOST       readings were not at their end.
 */
FNET_CHECKED enum fnet_err fnet_session_end_of_stream(struct fnet_session *session);

/** What to send next, borrowed until fnet_session_sent(). Returns how many spans, 0 to MAX. */
size_t fnet_session_send_spans(struct fnet_session *session, struct iovec *spans, size_t max);
void fnet_session_sent(struct fnet_session *session, size_t n);

/** Is nothing more to be exchanged once what send_spans() gives was sent? */
bool fnet_session_is_closing(const struct fnet_session *session);

/** The error that killed SESSION, also one met while sending; FNET_OK while it lives. */
enum fnet_err fnet_session_error(const struct fnet_session *session);
/** What went wrong, in words; empty when nothing did. Borrowed from SESSION. */
const char *fnet_session_error_text(const struct fnet_session *session);

/** What went over the connection so far, for statistics. */
struct fnet_session_counts {
    uint64_t buffers_out; /**< data buffers of a producer, ... */
    uint64_t payload_out; /**< ... and their payload, before it was compressed */
    uint64_t frames_in;
    uint64_t frames_out;
    uint64_t bytes_in;
    uint64_t bytes_out;
};
struct fnet_session_counts fnet_session_counts(const struct fnet_session *session);

/* ---- producer ---------------------------------------------------------------------------- */

/**
 * Serve the partitions of REGISTRY to one consumer, in its dialect. An event that this does not
 * have is not sent. Before 1.14 a consumer has no word by which to acknowledge: EndOfPartition
 * then follows the last record at once, and all is delivered when the consumer takes leave of the
 * subpartition afterwards, as Flink does once the task has taken the last record out of its gate.
 * What Flink's task does not process after that is not heard of; nor can a cancellation that
 * crosses the EndOfPartition be told from that leave. A connection that is lost is a loss until
 * then.
 *
 * @param registry  borrowed.
 * A consumer's dialect is what the id of its first channel says (fnet_channel_id_dialect()); else
 * ASSUMED, if the length of its first request leaves that open; else the answer to a dialect probe,
 * before which no data is sent, where that can tell; else fnet_dialect_of_request().
 *
 * @param assumed   may be NULL.
 * @param out       owned by caller.
 *
 * Errors: FNET_NOMEM
 */
FNET_CHECKED enum fnet_err fnet_producer_session_new(const struct fnet_registry *registry,
                                                     const struct fnet_dialect *assumed,
                                                     struct fnet_session **out);

/** Tell the peer that all is over because of TEXT, and close. */
void fnet_producer_session_abort(struct fnet_session *session, const char *text);

/**
 * Everything is delivered: close once every reading was taken leave of, by a CancelPartitionRequest
 * or a CloseRequest, and what is queued was sent. Who does not want to wait frees the session.
 */
void fnet_producer_session_close(struct fnet_session *session);

/** Subpartitions being read over SESSION. */
size_t fnet_producer_session_readings(const struct fnet_session *session);
/** The credit of all of them together. */
uint64_t fnet_producer_session_credit(const struct fnet_session *session);
/** So many names are listed, then only counted: a line can hold them, also Flink's long ones. */
#define FNET_UNFINISHED_LISTED 8
/**
 * Those of them whose records are not acknowledged; their names go to TEXT ("main:0, main:3, and 5
 * more"), as far as there is room.
 */
size_t fnet_producer_session_unfinished(const struct fnet_session *session, char *text,
                                        size_t size);

/* ---- consumer ---------------------------------------------------------------------------- */

/** What a consumer session tells its owner; all are called from fnet_session_received(). */
struct fnet_consumer_listener {
    /** The request of CHANNEL failed: FNET_NO_PARTITION, or FNET_REMOTE. Fail it, or ask again. */
    void (*channel_error)(void *arg, struct fnet_channel *channel, enum fnet_err err,
                          const char *text);
    /** One partition; its spans are borrowed during the call. */
    void (*description)(void *arg, const struct fnet_id *request,
                        const struct fnet_description_response *description);
    /** Instead of a description. */
    void (*description_error)(void *arg, const struct fnet_id *request, enum fnet_err err,
                              const char *text);
    void *arg;
};

/**
 * Read in DIALECT. Before 1.14 a channel is told its end of data when the end of its partition
 * arrived; that end, and with it the leave that tells the producer, it gets once it acknowledged.
 *
 * Errors: FNET_NOMEM. LISTENER is copied; OUT is owned by caller.
 */
FNET_CHECKED enum fnet_err fnet_consumer_session_new(const struct fnet_consumer_listener *listener,
                                                     const struct fnet_dialect *dialect,
                                                     struct fnet_session **out);

/**
 * Let CHANNEL be received over SESSION, which stays open until all its channels are released.
 *
 * @param channel  borrowed until the session is freed.
 *
 * Errors: FNET_NOMEM, FNET_STATE (closing).
 */
FNET_CHECKED enum fnet_err fnet_consumer_session_add(struct fnet_session *session,
                                                     struct fnet_channel *channel);
/** Ask for SUBPARTITION of PARTITION, for a channel added; again after FNET_NO_PARTITION. */
FNET_CHECKED enum fnet_err fnet_consumer_session_request(struct fnet_session *session,
                                                         struct fnet_channel *channel,
                                                         const struct fnet_partition_id *partition,
                                                         uint32_t subpartition);
/**
 * Ask for the description of PARTITION, or of all when NULL. Only of fnet peers.
 *
 * @param request  a fresh id that comes back with the answer.
 *
 * Errors: FNET_NOMEM, FNET_INVALID (only the newest dialect has that question).
 */
FNET_CHECKED enum fnet_err fnet_consumer_session_describe(
    struct fnet_session *session, const struct fnet_id *request,
    const struct fnet_partition_id *partition);
/** Send a CloseRequest: nothing more is wanted of this peer. */
void fnet_consumer_session_close(struct fnet_session *session);
/** The channel that the fatal error is about; NULL for none. */
struct fnet_channel *fnet_consumer_session_culprit(const struct fnet_session *session);

#endif
