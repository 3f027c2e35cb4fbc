/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame streams of one connection, into the conversation, the printers and the problems.
 */
#include "inspect/connection_tap.h"

#include <errno.h>
#include <stdlib.h>

#define RECORDS_AT_ONCE 64
/* "SRC > DST" */
#define FLOW_NAME_BYTES (2 * FNET_FLOW_END_TEXT_BYTES + 3)

enum fnet_err tap_new(struct tap_board *board, const struct fnet_flow *flow, struct tap **out)
{
    struct tap *tap = calloc(1, sizeof *tap);

    if (!tap)
        return FNET_NOMEM;
    tap->board = board;
    tap->flow = flow;
    frame_stream_init(&tap->sides[0], board->conversation.spill_dir);
    frame_stream_init(&tap->sides[1], board->conversation.spill_dir);
    *out = tap;
    return FNET_OK;
}

void tap_free(struct tap *tap)
{
    if (!tap)
        return;
    frame_stream_clear(&tap->sides[0]);
    frame_stream_clear(&tap->sides[1]);
    free(tap);
}

static struct place name_place(const struct tap *tap, unsigned side,
                               char name[static FLOW_NAME_BYTES])
{
    char src[FNET_FLOW_END_TEXT_BYTES];
    char dst[FNET_FLOW_END_TEXT_BYTES];

    if (!tap->flow)
        return (struct place){.file = tap->board->file};
    fnet_flow_end_format(&tap->flow->ends[side], src);
    fnet_flow_end_format(&tap->flow->ends[!side], dst);
    snprintf(name, FLOW_NAME_BYTES, "%s > %s", src, dst);
    return (struct place){.file = tap->board->file, .flow = name};
}

static enum fnet_err print_message(const struct tap_board *board, struct inspected *m)
{
    struct fnet_span records[RECORDS_AT_ONCE];
    uint64_t number;
    size_t n;
    enum fnet_err err = FNET_OK;

    if (board->print.is_json)
        return print_json(board->out, &board->print, m);
    if (!board->print.is_summary)
        return print_text(board->out, &board->print, m);
    while (err == FNET_OK)
        err = conversation_next_records(m, records, RECORDS_AT_ONCE, &n, &number);
    return err == FNET_AGAIN ? FNET_OK : err;
}

static enum fnet_err take_message(struct tap *tap, const struct frame_item *item,
                                  const struct place *place, unsigned side)
{
    struct tap_board *board = tap->board;
    struct inspected m;
    enum fnet_err err = FNET_OK;

    board->messages++;
    if (!tap->connection)
        err = conversation_connect(&board->conversation, tap->flow, side,
                                   conversation_direction(item->message.type), &tap->connection);
    if (err == FNET_OK)
        err = conversation_take(&board->conversation, tap->connection, item, &m);
    if (err != FNET_OK)
        return err;
    err = print_message(board, &m);
    if (err == FNET_SYSTEM)
        errno = m.channel->decoder.record.saved_errno;
    if (err == FNET_OK)
        problem_say_findings(board->problems, place, &m);
    return err;
}

static void take_skip(struct tap *tap, const struct frame_item *item, const struct place *place)
{
    problem_say_skip(tap->board->problems, place, item);
    if (tap->connection)
        conversation_miss(tap->connection);
}

static void take_foreign(struct tap *tap, const struct frame_item *item, const struct place *place)
{
    struct tap_board *board = tap->board;

    if (!tap->flow) {
        board->is_foreign = true;
        board->looks_like = item->name;
    } else if (item->name) {
        problem_note(board->problems, place, "%s, not decoded", item->name);
    } else {
        board->other_streams++;
        board->other_bytes += item->bytes;
    }
}

static enum fnet_err take_items(struct tap *tap, unsigned side)
{
    char name[FLOW_NAME_BYTES];
    const struct place place = name_place(tap, side, name);
    struct frame_item item;
    enum fnet_err err;

    while ((err = frame_stream_next(&tap->sides[side], &item)) == FNET_OK) {
        switch (item.kind) {
        case FRAME_MESSAGE: err = take_message(tap, &item, &place, side); break;
        case FRAME_SKIPPED: take_skip(tap, &item, &place); break;
        case FRAME_FOREIGN: take_foreign(tap, &item, &place); break;
        case FRAME_NOTHING: break;
        }
        if (err != FNET_OK)
            return err;
    }
    return err == FNET_AGAIN ? FNET_OK : err;
}

enum fnet_err tap_feed(struct tap *tap, unsigned side, struct fnet_span bytes, bool has_time,
                       uint64_t time_ns)
{
    struct frame_stream *s = &tap->sides[side];
    enum fnet_err err = frame_stream_feed(s, bytes, has_time, time_ns);

    if (err == FNET_SYSTEM)
        errno = s->staged.saved_errno;
    return err == FNET_OK ? take_items(tap, side) : err;
}

enum fnet_err tap_gap(struct tap *tap, unsigned side, uint64_t lost)
{
    frame_stream_gap(&tap->sides[side], lost);
    return take_items(tap, side);
}

enum fnet_err tap_finish(struct tap *tap, unsigned side)
{
    frame_stream_finish(&tap->sides[side]);
    return take_items(tap, side);
}
