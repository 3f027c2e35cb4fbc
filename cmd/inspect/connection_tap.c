/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame streams of one connection, into the conversation, the printers and the problems.
 */
#include "inspect/connection_tap.h"

#include <errno.h>
#include <stdlib.h>

enum fnet_err tap_new(struct tap_board *board, const struct fnet_flow *flow, struct tap **out)
{
    struct tap *tap = calloc(1, sizeof *tap);

    if (!tap)
        return FNET_NOMEM;
    tap->board = board;
    tap->flow = flow;
    dialect_guess_init(&tap->guess, board->dialect);
    frame_stream_init(&tap->sides[0], board->conversation.spill_dir, &tap->guess);
    frame_stream_init(&tap->sides[1], board->conversation.spill_dir, &tap->guess);
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

/* In text, a line about the dialect, at ITEM or at the end, if there is something new to say. */
static void print_guess(struct tap *tap, const struct frame_item *item)
{
    const struct print_options *print = &tap->board->print;

    if (tap->guess.is_given || print->is_json || print->is_summary)
        return;
    if (tap->is_sure_printed || tap->printed == tap->guess.possible)
        return;
    print_dialect(tap->board->out, tap->connection, item);
    tap->printed = tap->guess.possible;
    tap->is_sure_printed = tap->guess.is_sure;
}

/* The first buffer tells the most; after it only what makes it sure is worth a line. */
static bool is_guess_ripe(const struct tap *tap, const struct frame_item *item)
{
    return tap->guess.is_sure || (!tap->printed && item->message.type == FNET_BUFFER_RESPONSE);
}

static void say_restart(struct tap *tap, const struct place *place)
{
    problem_say(tap->board->problems, place,
                "taken for another dialect before, from here on for Flink %s", tap->guess.versions);
    tap->restarts = tap->guess.restarts;
    tap->printed = 0;
    tap->is_sure_printed = false;
}

static enum fnet_err print_message(const struct tap_board *board, struct inspected *m)
{
    if (board->print.is_json)
        return print_json(board->out, &board->print, m);
    return board->print.is_summary ? FNET_OK : print_text(board->out, &board->print, m);
}

static enum fnet_err take_message(struct tap *tap, const struct frame_item *item,
                                  const struct place *place, unsigned side)
{
    struct tap_board *board = tap->board;
    struct passage *passage = &tap->passages[side];
    struct inspected m;
    enum fnet_err err = FNET_OK;

    board->messages++;
    if (!tap->connection)
        err = conversation_connect(&board->conversation, tap->flow, side,
                                   conversation_direction(item->message.type), &tap->guess,
                                   &tap->connection);
    if (err == FNET_OK)
        err = conversation_take(&board->conversation, tap->connection, item, &m);
    if (err != FNET_OK)
        return err;
    if (!board->print.has_records)
        err = conversation_count_records(&m, passage->is_begun ? &passage->count : NULL);
    passage->is_begun = false;
    if (err != FNET_OK)
        return err;
    if (tap->restarts != tap->guess.restarts)
        say_restart(tap, place);
    if (is_guess_ripe(tap, item))
        print_guess(tap, item);
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
    const struct place place = {.file = tap->board->file, .flow = tap->flow, .side = side};
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

/* Is nothing of payloads but their records' number asked for? */
static bool may_pass(const struct print_options *print)
{
    return !print->has_records && !print->has_payload;
}

/* Let a payload go past that begins BYTES; returns how many bytes did. Records cannot be counted in
 * pieces of what is compressed. */
static size_t pass(struct tap *tap, unsigned side, struct fnet_span bytes)
{
    struct frame_stream *s = &tap->sides[side];
    struct passage *passage = &tap->passages[side];
    const size_t due = frame_stream_due(s);
    const size_t n = due < bytes.len ? due : bytes.len;

    if (n == 0 || !may_pass(&tap->board->print))
        return 0;
    if (!passage->is_begun) {
        struct fnet_message message;
        const struct fnet_span fed = frame_stream_peek(s, &message);
        if (message.buffer.is_compressed)
            return 0;
        passage->count = record_count_from(conversation_place(tap->connection, &message));
        record_count_add(&passage->count, fed);
        passage->is_begun = true;
    }
    record_count_add(&passage->count, fnet_span_of(bytes.ptr, n));
    return n;
}

enum fnet_err tap_feed(struct tap *tap, unsigned side, struct fnet_span bytes, bool has_time,
                       uint64_t time_ns)
{
    struct frame_stream *s = &tap->sides[side];
    enum fnet_err err = FNET_OK;

    while (bytes.len > 0 && err == FNET_OK) {
        size_t n = pass(tap, side, bytes);
        if (n > 0) {
            frame_stream_skip_ahead(s, n, has_time, time_ns);
        } else {
            n = may_pass(&tap->board->print) ? frame_stream_bite(s, bytes.len) : bytes.len;
            err = frame_stream_feed(s, fnet_span_of(bytes.ptr, n), has_time, time_ns);
        }
        bytes = fnet_span_of(bytes.ptr + n, bytes.len - n);
        if (err == FNET_OK && frame_stream_due(s) == 0)
            err = take_items(tap, side);
    }
    if (err == FNET_SYSTEM)
        errno = s->staged.saved_errno;
    return err;
}

enum fnet_err tap_gap(struct tap *tap, unsigned side, uint64_t lost)
{
    frame_stream_decide(&tap->sides[side]);
    enum fnet_err err = take_items(tap, side);
    if (err != FNET_OK)
        return err;
    frame_stream_gap(&tap->sides[side], lost);
    return take_items(tap, side);
}

enum fnet_err tap_finish(struct tap *tap, unsigned side)
{
    frame_stream_finish(&tap->sides[side]);
    return take_items(tap, side);
}

void tap_conclude(struct tap *tap)
{
    if (tap->connection)
        print_guess(tap, NULL);
}
