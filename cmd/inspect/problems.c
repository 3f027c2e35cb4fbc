/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Problems in words.
 */
#include "inspect/problems.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define TEXT_BYTES 512
/* "SRC > DST: " */
#define FLOW_NAME_BYTES (2 * FNET_FLOW_END_TEXT_BYTES + 5)

/* One more line of its kind, if it is not one too many. */
static bool may_say(struct problems *p, uint64_t *said)
{
    if (*said < PROBLEMS_SAID_MAX || p->report->most == REPORT_DETAIL) {
        ++*said;
        return true;
    }
    p->unsaid++;
    return false;
}

static void name_flow(const struct place *at, char name[static FLOW_NAME_BYTES])
{
    char src[FNET_FLOW_END_TEXT_BYTES];
    char dst[FNET_FLOW_END_TEXT_BYTES];

    *name = '\0';
    if (!at->flow)
        return;
    fnet_flow_end_format(&at->flow->ends[at->side], src);
    fnet_flow_end_format(&at->flow->ends[!at->side], dst);
    snprintf(name, FLOW_NAME_BYTES, "%s > %s: ", src, dst);
}

__attribute__((format(printf, 3, 0))) static void say(const struct problems *p,
                                                      const struct place *at, const char *format,
                                                      va_list args)
{
    char text[TEXT_BYTES];
    char flow[FLOW_NAME_BYTES];

    vsnprintf(text, sizeof text, format, args);
    name_flow(at, flow);
    report_say(p->report, REPORT_NOTE, at->file, "%s%s", flow, text);
}

void problem_say(struct problems *p, const struct place *at, const char *format, ...)
{
    va_list args;

    p->count++;
    if (!may_say(p, &p->problems_said))
        return;
    va_start(args, format);
    say(p, at, format, args);
    va_end(args);
}

void problem_note(struct problems *p, const struct place *at, const char *format, ...)
{
    va_list args;

    if (!may_say(p, &p->notes_said))
        return;
    va_start(args, format);
    say(p, at, format, args);
    va_end(args);
}

void problems_finish(struct problems *p)
{
    if (p->unsaid)
        report_say(p->report, REPORT_NOTE, NULL, "%" PRIu64 " more lines like these, see -v",
                   p->unsaid);
}

/* ---- out of step ------------------------------------------------------------------------- */

/* Text that grows piece by piece, ", " between them; cut where it is full. */
struct pieces {
    char text[TEXT_BYTES / 2];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void add_piece(struct pieces *p, const char *format,
                                                            ...)
{
    va_list args;

    if (p->len > 0 && p->len + 2 < sizeof p->text) {
        memcpy(p->text + p->len, ", ", 3);
        p->len += 2;
    }
    va_start(args, format);
    int n = vsnprintf(p->text + p->len, sizeof p->text - p->len, format, args);
    va_end(args);
    if (n > 0)
        p->len += (size_t)n < sizeof p->text - p->len ? (size_t)n : sizeof p->text - p->len - 1;
}

/* The versions whose PartitionRequest has the frame's length; empty: none, or it is none. */
static void name_dialects(const struct frame_skip *skip, char versions[static DIALECTS_TEXT_BYTES])
{
    const bool is_request = skip->err == FNET_BAD_LENGTH && skip->type == FNET_PARTITION_REQUEST;

    dialects_format(is_request ? dialects_of_request(skip->length) : 0, versions);
}

static void add_frame(struct pieces *pieces, const struct frame_skip *skip)
{
    const char *name = fnet_message_type_name(skip->type);
    char versions[DIALECTS_TEXT_BYTES];

    name_dialects(skip, versions);
    if (skip->is_cut && skip->length)
        add_piece(pieces, "%s of %" PRIu32 " bytes cut", name ? name : "frame", skip->length);
    else if (skip->is_cut)
        add_piece(pieces, "frame cut");
    if (skip->err == FNET_BAD_MAGIC)
        add_piece(pieces, "no frame where one should begin");
    else if (*versions)
        add_piece(pieces, "%s of Flink %s in a connection of another version", name, versions);
    else if (skip->err != FNET_OK && name)
        add_piece(pieces, "%s of %" PRIu32 " bytes: %s", name, skip->length,
                  fnet_strerror(skip->err));
    else if (skip->err != FNET_OK)
        add_piece(pieces, "frame of unknown type %u", skip->type);
}

void problem_say_skip(struct problems *p, const struct place *at, const struct frame_item *item)
{
    const struct frame_skip *skip = &item->skip;
    struct pieces pieces = {.len = 0};

    if (skip->is_mid_stream)
        add_piece(&pieces, "captured in mid-stream");
    add_frame(&pieces, skip);
    if (skip->lost)
        add_piece(&pieces, "%" PRIu64 " bytes missing", skip->lost);
    if (skip->skipped)
        add_piece(&pieces, "%" PRIu64 " bytes skipped up to the %s", skip->skipped,
                  skip->is_at_end ? "end" : "next frame");
    problem_say(p, at, "offset %" PRIu64 ": %s", item->offset, pieces.text);
}

/* ---- findings ---------------------------------------------------------------------------- */

static void say_records(struct problems *p, const struct place *at, const struct inspected *m,
                        const char *channel)
{
    const struct fnet_buffer_response *b = &m->item->message.buffer;

    if (m->findings & FOUND_RECORDS_LOST)
        problem_say(p, at,
                    "channel %s: records not known from sequence %" PRId32
                    " up to a record boundary",
                    channel, b->sequence);
    if (m->findings & FOUND_NO_CODEC)
        problem_note(p, at, "channel %s: buffers compressed with %s, which this is built without",
                     channel, fnet_codec_name(m->bad_codec));
    if (m->findings & FOUND_BAD_BLOCK)
        problem_say(p, at, "channel %s: sequence %" PRId32 ": not compressed with %s: %s", channel,
                    (int32_t)((uint32_t)b->sequence + m->bad_block), fnet_codec_name(m->bad_codec),
                    fnet_strerror(m->block_err));
    if (m->findings & FOUND_BAD_RECORD)
        problem_say(p, at, "channel %s: sequence %" PRId32 ": impossible length of record %" PRIu64,
                    channel, b->sequence, m->channel->records);
    if (m->findings & FOUND_BAD_ELEMENT)
        problem_say(p, at, "channel %s: sequence %" PRId32 ": a record is no element of --serde",
                    channel, b->sequence);
    if (m->findings & FOUND_CUT_RECORD)
        problem_say(p, at, "channel %s: the partition ends inside record %" PRIu64, channel,
                    m->channel->records);
}

void problem_say_findings(struct problems *p, const struct place *at, const struct inspected *m)
{
    const struct fnet_message *message = &m->item->message;
    char channel[FNET_ID_TEXT_BYTES];

    if (!m->findings && !m->item->missing)
        return;
    fnet_id_format(&message->receiver, channel);
    if (m->item->missing)
        problem_say(p, at,
                    "channel %s: sequence %" PRId32 ": %zu of %" PRIu32 " payload bytes missing",
                    channel, message->buffer.sequence, m->item->missing, message->buffer.size);
    if (m->findings & FOUND_BAD_SEQUENCE)
        problem_say(p, at, "channel %s: sequence %" PRId32 " where %" PRIu32 " was expected",
                    channel, message->buffer.sequence, m->expected);
    if (m->findings & FOUND_NO_CREDIT)
        problem_say(p, at, "channel %s: sequence %" PRId32 ": buffer without credit", channel,
                    message->buffer.sequence);
    if (m->findings & FOUND_BAD_EVENT)
        problem_say(p, at, "channel %s: an event does not decode", channel);
    if (m->findings & FOUND_BAD_ERROR)
        problem_say(p, at, "an error does not decode");
    if (m->findings & FOUND_TOO_MANY)
        problem_say(p, at, "channel %s is not followed, there are too many", channel);
    say_records(p, at, m, channel);
}
