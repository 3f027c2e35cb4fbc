/* SPDX-License-Identifier: Apache-2.0 */
/*
 * savefile -> packet -> reassembly -> frame stream -> conversation -> printer, or a raw stream
 * straight into the frame stream. What a file is, its first bytes tell.
 */
#include "inspect/pipeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum state {
    RECOGNISING, /* the first bytes of the file are not there yet */
    IN_SAVEFILE,
    IN_STREAM, /* frames, no packets */
    BROKEN,    /* the savefile cannot be read on */
};

/* A connection on its way through: both directions, and what they belong to. */
struct tap {
    const struct fnet_flow *flow; /* NULL: a raw stream, all in sides[0] */
    struct frame_stream sides[2];
    struct connection *connection; /* NULL until a message tells who asks */
};

struct pipeline {
    const struct pipeline_config *config;
    const char *file;
    enum state state;
    uint8_t head[FNET_SAVEFILE_MAGIC_BYTES];
    size_t head_len;
    struct fnet_savefile *savefile;
    struct fnet_reassembly *reassembly;
    struct tap **taps; /* owned, by flow number; NULL: not there */
    size_t tap_capacity;
    struct conversation conversation;
    uint64_t messages;
    bool is_foreign; /* of a raw stream: it is something else, LOOKS_LIKE if known */
    const char *looks_like;

    /* Packets that lead nowhere, said at the end of the file. */
    uint64_t packets;
    uint64_t fragments;
    uint64_t cut;
    uint64_t malformed;
    uint64_t not_followed;
    uint64_t unknown_links;
    uint32_t unknown_link;  /* the last such link type */
    uint64_t other_streams; /* directions of connections without any frame, of no known kind */
    uint64_t other_bytes;
};

enum fnet_err pipeline_new(const struct pipeline_config *config, const char *file,
                           struct pipeline **out)
{
    struct pipeline *p = calloc(1, sizeof *p);
    enum fnet_err err = FNET_NOMEM;

    if (!p)
        return FNET_NOMEM;
    p->config = config;
    p->file = file;
    conversation_init(&p->conversation, config->spill_dir);
    err = fnet_savefile_new(&p->savefile);
    if (err == FNET_OK)
        err = fnet_reassembly_new(&p->reassembly);
    if (err == FNET_OK)
        *out = p;
    else
        pipeline_free(p);
    return err;
}

static void free_tap(struct tap *tap)
{
    if (!tap)
        return;
    frame_stream_clear(&tap->sides[0]);
    frame_stream_clear(&tap->sides[1]);
    free(tap);
}

void pipeline_free(struct pipeline *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->tap_capacity; i++)
        free_tap(p->taps[i]);
    free(p->taps);
    conversation_clear(&p->conversation);
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

    if (err != FNET_OK)
        return err;
    if (!p->taps[number]) {
        struct tap *tap = calloc(1, sizeof *tap);
        if (!tap)
            return FNET_NOMEM;
        tap->flow = flow;
        frame_stream_init(&tap->sides[0], p->config->spill_dir);
        frame_stream_init(&tap->sides[1], p->config->spill_dir);
        p->taps[number] = tap;
    }
    *out = p->taps[number];
    return FNET_OK;
}

/* "SRC > DST", or nothing for a raw stream. */
#define FLOW_NAME_BYTES (2 * FNET_FLOW_END_TEXT_BYTES + 3)

static struct place name_place(const struct pipeline *p, const struct tap *tap, unsigned side,
                               char name[static FLOW_NAME_BYTES])
{
    char src[FNET_FLOW_END_TEXT_BYTES];
    char dst[FNET_FLOW_END_TEXT_BYTES];

    if (!tap->flow)
        return (struct place){.file = p->file};
    fnet_flow_end_format(&tap->flow->ends[side], src);
    fnet_flow_end_format(&tap->flow->ends[!side], dst);
    snprintf(name, FLOW_NAME_BYTES, "%s > %s", src, dst);
    return (struct place){.file = p->file, .flow = name};
}

/* ---- items ------------------------------------------------------------------------------- */

static enum fnet_err print_message(const struct pipeline_config *config, struct inspected *m)
{
    struct fnet_span records[64];
    uint64_t number;
    size_t n;
    enum fnet_err err = FNET_OK;

    if (config->print.is_json)
        return print_json(config->out, &config->print, m);
    if (!config->print.is_summary)
        return print_text(config->out, &config->print, m);
    while (err == FNET_OK)
        err = conversation_next_records(m, records, 64, &n, &number);
    return err == FNET_AGAIN ? FNET_OK : err;
}

static enum fnet_err take_message(struct pipeline *p, struct tap *tap, unsigned side,
                                  const struct frame_item *item)
{
    char name[FLOW_NAME_BYTES];
    struct place place = name_place(p, tap, side, name);
    struct inspected m;
    enum fnet_err err = FNET_OK;

    p->messages++;
    if (!tap->connection)
        err = conversation_connect(&p->conversation, tap->flow, side,
                                   conversation_direction(item->message.type), &tap->connection);
    if (err == FNET_OK)
        err = conversation_take(&p->conversation, tap->connection, item, &m);
    if (err == FNET_OK)
        err = print_message(p->config, &m);
    if (err == FNET_SYSTEM && m.channel)
        errno = m.channel->decoder.record.saved_errno;
    if (err == FNET_OK)
        problem_say_findings(p->config->problems, &place, &m);
    return err;
}

static void take_foreign(struct pipeline *p, struct tap *tap, unsigned side,
                         const struct frame_item *item)
{
    char name[FLOW_NAME_BYTES];
    struct place place = name_place(p, tap, side, name);

    if (!tap->flow) {
        p->is_foreign = true;
        p->looks_like = item->name;
    } else if (item->name) {
        problem_note(p->config->problems, &place, "%s, not decoded", item->name);
    } else {
        p->other_streams++;
        p->other_bytes += item->bytes;
    }
}

static enum fnet_err take_items(struct pipeline *p, struct tap *tap, unsigned side)
{
    char name[FLOW_NAME_BYTES];
    struct frame_item item;
    enum fnet_err err;

    while ((err = frame_stream_next(&tap->sides[side], &item)) == FNET_OK) {
        switch (item.kind) {
        case FRAME_MESSAGE: err = take_message(p, tap, side, &item); break;
        case FRAME_FOREIGN: take_foreign(p, tap, side, &item); break;
        case FRAME_SKIPPED: {
            struct place place = name_place(p, tap, side, name);
            problem_say_skip(p->config->problems, &place, &item);
            if (tap->connection)
                conversation_miss(tap->connection);
            break;
        }
        case FRAME_NOTHING: break;
        }
        if (err != FNET_OK)
            return err;
    }
    return err == FNET_AGAIN ? FNET_OK : err;
}

static enum fnet_err feed_side(struct pipeline *p, struct tap *tap, unsigned side,
                               struct fnet_span bytes, bool has_time, uint64_t time_ns)
{
    struct frame_stream *s = &tap->sides[side];
    enum fnet_err err = frame_stream_feed(s, bytes, has_time, time_ns);

    if (err == FNET_SYSTEM)
        errno = s->staged.saved_errno;
    return err == FNET_OK ? take_items(p, tap, side) : err;
}

static enum fnet_err finish_side(struct pipeline *p, struct tap *tap, unsigned side)
{
    frame_stream_finish(&tap->sides[side]);
    return take_items(p, tap, side);
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
        return feed_side(p, tap, stretch->side, stretch->bytes, stretch->has_time,
                         stretch->time_ns);
    case FNET_STRETCH_GAP:
        frame_stream_gap(&tap->sides[stretch->side], stretch->lost);
        return take_items(p, tap, stretch->side);
    case FNET_STRETCH_END: return finish_side(p, tap, stretch->side);
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

static enum fnet_err feed_savefile(struct pipeline *p, struct fnet_span bytes)
{
    const struct place place = {.file = p->file};
    struct fnet_captured captured;
    enum fnet_err err = fnet_savefile_feed(p->savefile, bytes);

    while (err == FNET_OK) {
        err = fnet_savefile_next(p->savefile, &captured);
        if (err == FNET_OK)
            err = take_captured(p, &captured);
        else if (fnet_err_class(err) == FNET_CLASS_PEER) {
            problem_say(p->config->problems, &place,
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

    return err == FNET_OK ? feed_side(p, tap, 0, bytes, false, 0) : err;
}

static enum fnet_err feed_recognised(struct pipeline *p, struct fnet_span bytes)
{
    switch (p->state) {
    case IN_SAVEFILE: return feed_savefile(p, bytes);
    case IN_STREAM: return feed_stream(p, bytes);
    case RECOGNISING:
    case BROKEN: break;
    }
    return FNET_OK;
}

enum fnet_err pipeline_feed(struct pipeline *p, struct fnet_span bytes)
{
    if (p->state != RECOGNISING)
        return feed_recognised(p, bytes);
    while (bytes.len > 0 && p->head_len < sizeof p->head) {
        p->head[p->head_len++] = *bytes.ptr++;
        bytes.len--;
    }
    if (p->head_len < sizeof p->head)
        return FNET_OK;
    p->state = fnet_savefile_is_magic(p->head) ? IN_SAVEFILE : IN_STREAM;
    enum fnet_err err = feed_recognised(p, fnet_span_of(p->head, p->head_len));
    return err == FNET_OK ? feed_recognised(p, bytes) : err;
}

static enum fnet_err finish_taps(struct pipeline *p)
{
    enum fnet_err err = FNET_OK;

    for (size_t i = 0; i < p->tap_capacity && err == FNET_OK; i++) {
        if (p->taps[i])
            err = finish_side(p, p->taps[i], 0);
        if (p->taps[i] && err == FNET_OK)
            err = finish_side(p, p->taps[i], 1);
    }
    return err;
}

static void say_packets(const struct pipeline *p)
{
    const struct place place = {.file = p->file};
    struct problems *problems = p->config->problems;

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
    if (p->other_streams)
        problem_note(problems, &place,
                     "%" PRIu64 " other TCP streams, %" PRIu64 " bytes without a Flink frame",
                     p->other_streams, p->other_bytes);
    if (p->messages == 0)
        problem_note(problems, &place, "no Flink frames in %" PRIu64 " packets", p->packets);
}

static enum fnet_err refuse(const struct pipeline *p)
{
    const struct report *report = p->config->problems->report;

    if (p->head_len == 0)
        report_say(report, REPORT_ERROR, p->file, "empty");
    else if (p->looks_like)
        report_say(report, REPORT_ERROR, p->file, "not a capture: looks like %s", p->looks_like);
    else
        report_say(report, REPORT_ERROR, p->file,
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
    if (p->head_len == 0 || p->is_foreign)
        return refuse(p);
    if (p->state != IN_STREAM)
        say_packets(p);
    if (p->config->print.is_summary)
        print_summary(p->config->out, &p->conversation);
    return FNET_OK;
}
