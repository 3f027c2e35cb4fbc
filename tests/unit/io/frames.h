/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests: frames as a peer without a session sends and hears them, over a bare descriptor.
 */
#ifndef TESTS_IO_FRAMES_H
#define TESTS_IO_FRAMES_H

#include <errno.h>
#include <sys/socket.h>

#include "fnet/wire.h"

#include "../tap.h"

#define FRAMES_BYTES (64u << 10)

/** Frames one behind the other. */
struct frames {
    uint8_t bytes[FRAMES_BYTES];
    size_t len;
    bool has_end; /**< heard: the peer has closed */
    int error;    /**< heard: errno */
};

static inline void add_frame(struct frames *frames, const struct fnet_message *message)
{
    struct fnet_writer w =
        fnet_writer_of(frames->bytes + frames->len, sizeof frames->bytes - frames->len);

    CHECK_INT(fnet_message_encode(fnet_dialect_newest(), message, &w), FNET_OK);
    frames->len = (size_t)(w.pos - frames->bytes);
}

static inline void add_payload(struct frames *frames, const void *bytes, size_t len)
{
    memcpy(frames->bytes + frames->len, bytes, len);
    frames->len += len;
}

/** A buffer or event of RECEIVER. */
static inline void add_buffer(struct frames *frames, const struct fnet_id *receiver,
                              int32_t sequence, uint8_t data_type, struct fnet_span payload)
{
    add_frame(frames, &(struct fnet_message){.type = FNET_BUFFER_RESPONSE,
                                             .receiver = *receiver,
                                             .buffer = {.sequence = sequence,
                                                        .data_type = data_type,
                                                        .size = (uint32_t)payload.len}});
    add_payload(frames, payload.ptr, payload.len);
}

/** An error of the whole connection. */
static inline void add_error(struct frames *frames, const char *text)
{
    uint8_t bytes[FNET_THROWABLE_ENCODED_MAX_BYTES];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);

    CHECK_INT(fnet_throwable_encode(false, text, &w), FNET_OK);
    add_frame(frames, &(struct fnet_message){.type = FNET_ERROR_RESPONSE,
                                             .error.throwable =
                                                 fnet_span_of(bytes, (size_t)(w.pos - bytes))});
}

static inline void add_request(struct frames *frames, const struct fnet_id *receiver,
                               const char *name, int32_t subpartition)
{
    struct fnet_message message = {.type = FNET_PARTITION_REQUEST,
                                   .receiver = *receiver,
                                   .request = {.first = subpartition, .last = subpartition}};

    message.request.credit = 2;
    CHECK_INT(fnet_partition_id_from_name(name, &message.request.partition), FNET_OK);
    add_frame(frames, &message);
}

/** A message of TYPE that has no body but RECEIVER, which may be NULL. */
static inline void add_plain(struct frames *frames, enum fnet_message_type type,
                             const struct fnet_id *receiver)
{
    struct fnet_message message = {.type = type};

    if (receiver)
        message.receiver = *receiver;
    add_frame(frames, &message);
}

/** Send the first LEN bytes of FRAMES, all of them at once. */
static inline void say_bytes(int fd, const struct frames *frames, size_t len)
{
    CHECK_INT(send(fd, frames->bytes, len, MSG_NOSIGNAL), len);
}

static inline void say(int fd, const struct frames *frames)
{
    say_bytes(fd, frames, frames->len);
}

/** Append what is there to be received, as far as there is room for it. */
static inline void hear(int fd, struct frames *heard)
{
    while (heard->len < sizeof heard->bytes) {
        ssize_t n =
            recv(fd, heard->bytes + heard->len, sizeof heard->bytes - heard->len, MSG_DONTWAIT);
        if (n <= 0) {
            heard->has_end = n == 0;
            heard->error = n < 0 && errno != EAGAIN ? errno : 0;
            return;
        }
        heard->len += (size_t)n;
    }
}

/** Take the first message off FRAMES; no BufferResponse. Its spans live until the next change. */
static inline bool take_frame(struct frames *frames, size_t *offset, struct fnet_message *out)
{
    size_t used;

    if (fnet_message_decode(fnet_dialect_newest(),
                            fnet_span_of(frames->bytes + *offset, frames->len - *offset), &used,
                            out) != FNET_OK)
        return false;
    *offset += used;
    return true;
}

/** The text of the one error frame that stands at the end of what was HEARD. */
static inline void check_last_words(struct frames *heard, const char *text)
{
    struct fnet_message message = {.type = FNET_CLOSE_REQUEST};
    struct fnet_throwable thrown = {.message = ""};
    size_t offset = 0;

    while (take_frame(heard, &offset, &message))
        continue;
    CHECK_INT(offset, heard->len);
    CHECK_INT(message.type, FNET_ERROR_RESPONSE);
    if (message.type == FNET_ERROR_RESPONSE)
        CHECK_INT(fnet_throwable_decode(message.error.throwable, &thrown), FNET_OK);
    CHECK_STR(thrown.message, text);
}

#endif
