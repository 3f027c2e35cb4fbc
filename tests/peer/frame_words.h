/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer: frames out of words, with every field as the words say, also such as no encoder would make.
 */
#ifndef PEER_FRAME_WORDS_H
#define PEER_FRAME_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fnet/fnet.h"

enum {
    STEP_WORDS = 24,
    REQUESTS_MAX = 64,
    FRAME_BYTES = 1 << 20,
};

/** A step of a script: a verb, an object, fields. */
struct step {
    const char *words[STEP_WORDS];
    size_t count;
};

/** What a frame may refer to. */
struct conversation {
    bool is_producer;
    uint32_t sequence;                     /**< of the next BufferResponse */
    struct fnet_id requests[REQUESTS_MAX]; /**< their receivers */
    size_t request_count;
};

/** What is wrong with a script ends the program. */
__attribute__((format(printf, 1, 2))) _Noreturn void fail(const char *format, ...);

/** TEXT as a number, 0x allowed. */
uint64_t number(const char *text);

/** Append the bytes that TEXT has two hex digits each for. */
void put_hex(const char *text, struct fnet_writer *w);

/** Append the frame that STEP, "send TYPE [FIELD=VALUE]...", describes. */
void put_frame(struct conversation *c, const struct step *step, struct fnet_writer *w);

#endif
