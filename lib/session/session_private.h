/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session, private: what both machines share, and what makes them different.
 */
#ifndef FNET_SESSION_PRIVATE_H
#define FNET_SESSION_PRIVATE_H

#include "outbox.h"

#include "fnet/session.h"

/** Most characters of an error text, with its NUL. */
#define FNET__SESSION_TEXT_BYTES 512

/** What a side does with what happens; SESSION is the first member of its own struct. */
struct fnet__session_ops {
    /**
     * The peer's first message is a frame of LENGTH bytes with TYPE: in which dialect does it
     * speak? NULL for none. The whole function is NULL on the side that chose the dialect.
     */
    const struct fnet_dialect *(*recognise)(const struct fnet_session *session, uint8_t type,
                                            uint32_t length);
    /** A message is there; for a BufferResponse set session->payload first thing. */
    enum fnet_err (*on_message)(struct fnet_session *session, const struct fnet_message *message);
    /** The payload is complete; NULL on the side that receives none. */
    enum fnet_err (*on_payload)(struct fnet_session *session);
    /** Put what is to be said into the outbox. */
    enum fnet_err (*refill)(struct fnet_session *session);
    /** Is something open that needs the peer? */
    bool (*is_unfinished)(const struct fnet_session *session);
    /** A peer error was found: tell the peer if that is this side's part. */
    void (*on_error)(struct fnet_session *session);
    void (*free)(struct fnet_session *session);
    /** No more messages are taken while so many frames wait: each may ask for answers. */
    size_t full_frames;
};

struct fnet_session {
    const struct fnet__session_ops *ops;
    struct fnet_decoder *decoder;       /**< owned */
    const struct fnet_dialect *dialect; /**< the newest until it is recognised */
    bool is_recognised;
    struct fnet__outbox outbox;
    struct fnet_bell bell;
    struct fnet_buffer payload; /**< owned: being received; no segment: to be thrown away */
    uint32_t filled;            /**< bytes of it that are there */
    bool is_receiving;          /**< a payload is due */
    bool is_held;               /**< messages are staged that wait for room in the outbox */
    bool is_closing;
    enum fnet_err error; /**< the peer or system error that killed the session */
    char text[FNET__SESSION_TEXT_BYTES];
    struct fnet_session_counts counts;
};

/** Errors: FNET_NOMEM. */
FNET_CHECKED enum fnet_err fnet__session_init(struct fnet_session *session,
                                              const struct fnet__session_ops *ops,
                                              const struct fnet_dialect *dialect);
void fnet__session_clear(struct fnet_session *session);

/** Put a message without payload into the outbox and ring the bell. Errors: FNET_NOMEM. */
FNET_CHECKED enum fnet_err fnet__session_say(struct fnet_session *session,
                                             const struct fnet_message *message);

/** Keep a text for ERR and return it; the first one stays. */
__attribute__((format(printf, 3, 4))) enum fnet_err fnet__session_fail(struct fnet_session *session,
                                                                       enum fnet_err err,
                                                                       const char *format, ...);

#endif
