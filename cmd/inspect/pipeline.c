/* SPDX-License-Identifier: Apache-2.0 */
/*
 * savefile -> packet -> reassembly -> frame stream -> conversation -> printer, or a raw stream
 * straight into the frame stream. What a file is, its first bytes tell.
 */
#include "inspect/pipeline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "inspect/connection_tap.h"

#define STREAM_BLOCK_BYTES (64u << 10)

enum state {
    RECOGNISING, /* the first bytes of the file are not there yet */
    IN_SAVEFILE,
    IN_STREAM, /* frames, no packets */
    BROKEN,    /* the savefile cannot be read on */
};

struct pipeline {
    enum state state;
    uint8_t head[FNET_SAVEFILE_MAGIC_BYTES];
    size_t head_len;
    uint8_t block[STREAM_BLOCK_BYTES]; /* of what is no savefile */
    struct fnet_savefile *savefile;
    struct fnet_reassembly *reassembly;
    struct tap **taps; /* owned, by flow number; NULL: not there */
    size_t tap_capacity;
    struct tap_board board;

    /* Packets that lead nowhere, said at the end of the file. */
    uint64_t packets;
    uint64_t fragments;
    uint64_t cut;
    uint64_t malformed;
    uint64_t not_followed;
    uint64_t unknown_links;
    uint32_t unknown_link; /* the last such link type */
};

enum fnet_err pipeline_new(const struct pipeline_config *config, const char *file,
                           struct pipeline **out)
{
    struct pipeline *p = calloc(1, sizeof *p);
    enum fnet_err err = FNET_NOMEM;

    if (!p)
        return FNET_NOMEM;
    p->board = (struct tap_board){
        .file = file,
        .print = config->print,
        .dialect = config->dialect,
        .out = config->out,
        .problems = config->problems,
    };
    conversation_init(&p->board.conversation, config->spill_dir, config->codec);
    err = fnet_savefile_new(&p->savefile);
    if (err == FNET_OK)
        err = fnet_reassembly_new(&p->reassembly);
    if (err == FNET_OK)
        *out = p;
    else
        pipeline_free(p);
    return err;
}

void pipeline_free(struct pipeline *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->tap_capacity; i++)
        tap_free(p->taps[i]);
    free(p->taps);
    conversation_clear(&p->board.conversation);
    fnet_reassembly_free(p->reassembly);
    fnet_savefile_free(p->savefile);
    free(p);
}

/* ---- taps -------------------------------------------------------------------------------- */

static enum fnet_err make_taps(struct pipeline *p, size_t number)
{
    size_t capacity = p->tap_capacity ? p->tap_capacity : 16;

    if (number < p->tap_capacity)
        return FNET_OK;
    while (capacity <= number)
        capacity *= 2;
    struct tap **grown = realloc(p->taps, capacity * sizeof *grown);
    if (!grown)
        return FNET_NOMEM;
    for (size_t i = p->tap_capacity; i < capacity; i++)
        grown[i] = NULL;
    p->taps = grown;
    p->tap_capacity = capacity;
    return FNET_OK;
}

/* The tap of connection NUMBER, whose ends are FLOW's. */
static enum fnet_err find_tap(struct pipeline *p, size_t number, const struct fnet_flow *flow,
                              struct tap **out)
{
    enum fnet_err err = make_taps(p, number);

    if (err == FNET_OK && !p->taps[number])
        err = tap_new(&p->board, flow, &p->taps[number]);
    if (err == FNET_OK)
        *out = p->taps[number];
    return err;
}

/* ---- packets ----------------------------------------------------------------------------- */

static enum fnet_err take_stretch(struct pipeline *p, const struct fnet_stretch *stretch)
{
    struct tap *tap;
    enum fnet_err err = find_tap(p, stretch->flow->number, stretch->flow, &tap);

    if (err != FNET_OK)
        return err;
    switch (stretch->kind) {
    case FNET_STRETCH_BYTES:
        return tap_feed(tap, stretch->side, stretch->bytes, stretch->has_time, stretch->time_ns);
    case FNET_STRETCH_GAP: return tap_gap(tap, stretch->side, stretch->lost);
    case FNET_STRETCH_END: return tap_finish(tap, stretch->side);
    }
    return FNET_OK;
}

static enum fnet_err take_stretches(struct pipeline *p)
{
    struct fnet_stretch stretch;
    enum fnet_err err;

    while ((err = fnet_reassembly_next(p->reassembly, &stretch)) == FNET_OK) {
        err = take_stretch(p, &stretch);
        if (err != FNET_OK)
            return err;
    }
    return err == FNET_AGAIN ? FNET_OK : err;
}

static enum fnet_err take_packet(struct pipeline *p, const struct fnet_packet *packet)
{
    enum fnet_err err;

    switch (packet->kind) {
    case FNET_PACKET_OTHER: return FNET_OK;
    case FNET_PACKET_FRAGMENT: p->fragments++; return FNET_OK;
    case FNET_PACKET_TCP:
    case FNET_PACKET_STRETCH: break;
    }
    err = fnet_reassembly_push(p->reassembly, packet);
    if (err == FNET_RANGE) {
        p->not_followed++;
        return FNET_OK;
    }
    return err == FNET_OK ? take_stretches(p) : err;
}

static enum fnet_err take_captured(struct pipeline *p, const struct fnet_captured *captured)
{
    struct fnet_packet packet;
    enum fnet_err err = fnet_packet_decode(captured, &packet);

    p->packets++;
    if (err == FNET_OK)
        return take_packet(p, &packet);
    if (err == FNET_BAD_KIND) {
        p->unknown_links++;
        p->unknown_link = captured->link_type;
    } else if (err == FNET_TRUNCATED) {
        p->cut++;
    } else {
        p->malformed++;
    }
    return FNET_OK;
}

static enum fnet_err take_savefile(struct pipeline *p)
{
    const struct place place = {.file = p->board.file};
    struct fnet_captured captured;
    enum fnet_err err = FNET_OK;

    while (err == FNET_OK) {
        err = fnet_savefile_next(p->savefile, &captured);
        if (err == FNET_OK)
            err = take_captured(p, &captured);
        else if (fnet_err_class(err) == FNET_CLASS_PEER) {
            problem_say(p->board.problems, &place,
                        "offset %" PRIu64 ": broken capture file: %s, the rest is not read",
                        fnet_savefile_offset(p->savefile), fnet_strerror(err));
            p->state = BROKEN;
            return FNET_OK;
        }
    }
    return err == FNET_AGAIN ? FNET_OK : err;
}

/* ---- the file ---------------------------------------------------------------------------- */

static enum fnet_err feed_stream(struct pipeline *p, struct fnet_span bytes)
{
    struct tap *tap;
    enum fnet_err err = find_tap(p, 0, NULL, &tap);

    return err == FNET_OK ? tap_feed(tap, 0, bytes, false, 0) : err;
}

/* The head of the file is there, and says what follows. */
static enum fnet_err recognise(struct pipeline *p)
{
    const struct fnet_span head = fnet_span_of(p->head, p->head_len);

    if (p->head_len < sizeof p->head)
        return FNET_OK;
    p->state = fnet_savefile_is_magic(p->head) ? IN_SAVEFILE : IN_STREAM;
    return p->state == IN_SAVEFILE ? fnet_savefile_feed(p->savefile, head) : feed_stream(p, head);
}

enum fnet_err pipeline_space(struct pipeline *p, uint8_t **ptr, size_t *len)
{
    switch (p->state) {
    case RECOGNISING:
        *ptr = p->head + p->head_len;
        *len = sizeof p->head - p->head_len;
        return FNET_OK;
    case IN_SAVEFILE: return fnet_savefile_space(p->savefile, ptr, len);
    case IN_STREAM:
    case BROKEN: break;
    }
    *ptr = p->block;
    *len = sizeof p->block;
    return FNET_OK;
}

enum fnet_err pipeline_commit(struct pipeline *p, size_t n)
{
    switch (p->state) {
    case RECOGNISING: p->head_len += n; return recognise(p);
    case IN_SAVEFILE: fnet_savefile_commit(p->savefile, n); return take_savefile(p);
    case IN_STREAM: return feed_stream(p, fnet_span_of(p->block, n));
    case BROKEN: break;
    }
    return FNET_OK;
}

static enum fnet_err finish_taps(struct pipeline *p)
{
    enum fnet_err err = FNET_OK;

    for (size_t i = 0; i < p->tap_capacity && err == FNET_OK; i++) {
        if (p->taps[i])
            err = tap_finish(p->taps[i], 0);
        if (p->taps[i] && err == FNET_OK)
            err = tap_finish(p->taps[i], 1);
        if (p->taps[i] && err == FNET_OK)
            tap_conclude(p->taps[i]);
    }
    return err;
}

static void say_packets(const struct pipeline *p)
{
    const struct place place = {.file = p->board.file};
    struct problems *problems = p->board.problems;

    if (p->state == IN_SAVEFILE && fnet_savefile_is_mid_record(p->savefile))
        problem_say(problems, &place, "offset %" PRIu64 ": the file ends inside a packet",
                    fnet_savefile_offset(p->savefile));
    if (p->fragments)
        problem_say(problems, &place, "%" PRIu64 " IP fragments not decoded", p->fragments);
    if (p->cut)
        problem_say(problems, &place, "%" PRIu64 " packets cut inside their headers", p->cut);
    if (p->malformed)
        problem_say(problems, &place, "%" PRIu64 " packets with impossible headers", p->malformed);
    if (p->unknown_links)
        problem_say(problems, &place, "%" PRIu64 " packets of link type %" PRIu32 " not decoded",
                    p->unknown_links, p->unknown_link);
    if (p->not_followed)
        problem_say(problems, &place, "%" PRIu64 " packets of too many connections not followed",
                    p->not_followed);
    if (p->board.other_streams)
        problem_note(problems, &place,
                     "%" PRIu64 " other TCP streams, %" PRIu64 " bytes without a Flink frame",
                     p->board.other_streams, p->board.other_bytes);
    if (p->board.messages == 0)
        problem_note(problems, &place, "no Flink frames in %" PRIu64 " packets", p->packets);
}

static enum fnet_err refuse(const struct pipeline *p)
{
    const struct report *report = p->board.problems->report;

    if (p->head_len == 0)
        report_say(report, REPORT_ERROR, p->board.file, "empty");
    else if (p->board.looks_like)
        report_say(report, REPORT_ERROR, p->board.file, "not a capture: looks like %s",
                   p->board.looks_like);
    else
        report_say(report, REPORT_ERROR, p->board.file,
                   "not recognised: neither pcap, pcapng nor Flink frames");
    return FNET_BAD_MAGIC;
}

enum fnet_err pipeline_finish(struct pipeline *p)
{
    enum fnet_err err = FNET_OK;

    if (p->state == RECOGNISING && p->head_len > 0) {
        p->state = IN_STREAM;
        err = feed_stream(p, fnet_span_of(p->head, p->head_len));
    }
    if (err == FNET_OK && p->state != IN_STREAM) {
        fnet_reassembly_finish(p->reassembly);
        err = take_stretches(p);
    }
    if (err == FNET_OK)
        err = finish_taps(p);
    if (err != FNET_OK)
        return err;
    if (p->head_len == 0 || p->board.is_foreign)
        return refuse(p);
    if (p->state != IN_STREAM)
        say_packets(p);
    if (p->board.print.is_summary)
        print_summary(p->board.out, &p->board.conversation);
    return FNET_OK;
}
