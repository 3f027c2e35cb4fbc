/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialects ruled out, frame by frame. The decoders are asked: a dialect is possible as long as they
 * read in it what goes by.
 *
 * Source: Flink NettyMessage, EventSerializer, Buffer.DataType of 1.5 to 2.3.
 */
#include "inspect/dialect_guess.h"

#include <stdio.h>

#include "fnet/event.h"
#include "inspect/payload_parts.h"

/* So many frames in turn that others read are needed to give up what is well known. */
#define TRUST_MAX 8
/* A queue of so many buffers is more likely another field, read at the wrong offset. */
#define BACKLOG_SENSIBLE_MAX ((1 << 24) - 1)
/* Longer events, barriers with a long path, are not compared byte by byte. */
#define EVENT_COMPARED_MAX_BYTES 4096

#define AT_TYPE (FNET_FRAME_HEADER_BYTES - 1)

#define BIT(i) (UINT32_C(1) << (i))

static uint32_t all_dialects(void)
{
    uint32_t all = 0;

    for (size_t i = 0; fnet_dialect_at(i); i++)
        all |= BIT(i);
    return all;
}

static uint32_t released(uint32_t dialects)
{
    for (size_t i = 0; fnet_dialect_at(i); i++)
        if (!fnet_dialect_at(i)->is_released)
            dialects &= ~BIT(i);
    return dialects;
}

/* What is said of DIALECTS: those that are released, if any is. */
static uint32_t sayable(uint32_t dialects)
{
    const uint32_t known = released(dialects);

    return known ? known : dialects;
}

static size_t newest(uint32_t dialects)
{
    size_t i = 0;

    while (dialects >> i > 1)
        i++;
    return i;
}

/* ---- text -------------------------------------------------------------------------------- */

/* Length of the minor version that begins TEXT: 4 of "1.12.5". */
static size_t minor_len(const char *text)
{
    const size_t major = strcspn(text, ".") + 1;

    return major + strspn(text + major, "0123456789");
}

static bool is_same_minor(const char *a, const char *b)
{
    return minor_len(a) == minor_len(b) && strncmp(a, b, minor_len(a)) == 0;
}

/*
 * Append the versions from dialect FIRST to LAST; returns how long they are. Where all patches of a
 * minor version are among them, its patch is left out.
 */
static size_t format_range(size_t first, size_t last, char *text, size_t room)
{
    const char *from = fnet_dialect_at(first)->name;
    const char *to = strstr(fnet_dialect_at(last)->versions, " to ");
    const bool is_first_patch =
        first == 0 || !is_same_minor(fnet_dialect_at(first - 1)->name, from);
    const struct fnet_dialect *next = fnet_dialect_at(last + 1);

    if (first == last)
        return (size_t)snprintf(text, room, "%s", fnet_dialect_at(first)->versions);
    to = to ? to + strlen(" to ") : fnet_dialect_at(last)->versions;
    const size_t from_len = is_first_patch ? minor_len(from) : strlen(from);
    const bool is_last_patch = !next || !is_same_minor(to, next->name);
    const size_t to_len = is_last_patch && !strchr(to, '-') ? minor_len(to) : strlen(to);
    if (is_first_patch && is_last_patch && is_same_minor(from, to))
        return (size_t)snprintf(text, room, "%.*s", (int)from_len, from);
    return (size_t)snprintf(text, room, "%.*s to %.*s", (int)from_len, from, (int)to_len, to);
}

void dialects_format(uint32_t dialects, char text[static DIALECTS_TEXT_BYTES])
{
    size_t len = 0;

    *text = '\0';
    for (size_t i = 0; fnet_dialect_at(i); i++) {
        const size_t first = i;
        if (!(dialects & BIT(i)))
            continue;
        while (dialects & BIT(i + 1))
            i++;
        if (len > 0 && len + 2 < DIALECTS_TEXT_BYTES) {
            memcpy(text + len, ", ", 3);
            len += 2;
        }
        len += format_range(first, i, text + len, DIALECTS_TEXT_BYTES - len);
        if (len >= DIALECTS_TEXT_BYTES)
            return;
    }
}

/* ---- sets of dialects ------------------------------------------------------------------- */

/* What all that are possible have in common. */
static void compare(struct dialect_guess *g)
{
    const struct fnet_dialect *first = NULL;

    g->has_one_layout = true;
    g->data_types = UINT32_MAX;
    for (size_t i = 0; fnet_dialect_at(i); i++) {
        const struct fnet_dialect *dialect = fnet_dialect_at(i);
        if (!(g->possible & BIT(i)))
            continue;
        first = first ? first : dialect;
        if (memcmp(&first->buffer, &dialect->buffer, sizeof dialect->buffer) != 0)
            g->has_one_layout = false;
        for (uint8_t wire = 0; wire < 32; wire++)
            if (!fnet_data_type_is_buffer(fnet_dialect_get_data_type(dialect, wire)))
                g->data_types &= ~BIT(wire);
    }
}

static void set(struct dialect_guess *g, uint32_t possible, uint32_t likely)
{
    const uint32_t said = sayable(possible);
    const bool is_news = g->possible != possible;

    g->possible = possible;
    g->likely = likely;
    g->dialect = fnet_dialect_at(newest(sayable(likely)));
    if (!is_news)
        return;
    g->is_sure = (said & (said - 1)) == 0;
    dialects_format(said, g->versions);
    compare(g);
}

/* Only FIT is possible any more, and PREFERRED of it, if any, is likely. */
static void narrow(struct dialect_guess *g, uint32_t fit, uint32_t preferred)
{
    const uint32_t choices[] = {g->likely & fit & preferred, g->likely & fit, fit & preferred, fit};
    size_t i = 0;

    while (!choices[i])
        i++;
    set(g, fit, choices[i]);
}

void dialect_guess_init(struct dialect_guess *g, const struct fnet_dialect *given)
{
    *g = (struct dialect_guess){.is_given = given != NULL};
    set(g, all_dialects(), all_dialects());
    for (size_t i = 0; given && fnet_dialect_at(i); i++)
        if (fnet_dialect_at(i) == given)
            set(g, BIT(i), BIT(i));
}

/* ---- payloads ---------------------------------------------------------------------------- */

/* May EVENT have this TYPE? Of a blocking partition all have that of an event. */
static bool may_be_sent_as(const struct fnet_event *event, uint8_t type)
{
    const bool is_barrier = event->type == FNET_EVENT_CHECKPOINT_BARRIER;

    if (type == FNET_ALIGNED_CHECKPOINT_BARRIER ||
        type == FNET_TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER)
        return is_barrier;
    if (type == FNET_PRIORITIZED_EVENT_BUFFER && is_barrier)
        return event->barrier.alignment_type == FNET_UNALIGNED;
    return true;
}

/* Would Flink have written PAYLOAD as an event of wire TYPE? It may leave the padding out. */
static bool is_event(const struct fnet_dialect *dialect, uint8_t type, struct fnet_span payload)
{
    uint8_t bytes[EVENT_COMPARED_MAX_BYTES];
    struct fnet_writer w = fnet_writer_of(bytes, sizeof bytes);
    struct fnet_event event;

    if (fnet_event_decode(dialect, payload, &event) != FNET_OK)
        return false;
    if (!may_be_sent_as(&event, type))
        return false;
    const size_t len = fnet_event_encoded_bytes(dialect, &event);
    if (len > sizeof bytes)
        return true;
    return fnet_event_encode(dialect, &event, &w) == FNET_OK && payload.len <= len &&
           memcmp(bytes, payload.ptr, payload.len) == 0;
}

/* The same of each event in PAYLOAD. */
static bool are_events(const struct fnet_dialect *dialect, const struct fnet_buffer_response *b,
                       struct fnet_span payload)
{
    struct payload_parts parts = payload_parts_of(b, payload);
    struct fnet_span event;

    while (payload_parts_next(&parts, &event))
        if (!is_event(dialect, b->data_type, event))
            return false;
    return true;
}

/* What the dialects make of one BufferResponse; sets of dialects. */
struct buffer_readings {
    uint32_t data;
    uint32_t events;
    uint32_t good_events; /* whose bytes an encoder would write */
    uint32_t sensible;
};

static void read_buffer(const struct dialect_guess *g, struct fnet_span bytes, bool is_whole,
                        struct buffer_readings *out)
{
    *out = (struct buffer_readings){.data = 0};
    for (size_t i = 0; fnet_dialect_at(i); i++) {
        const struct fnet_dialect *dialect = fnet_dialect_at(i);
        struct fnet_message m;
        size_t head;
        if (!(g->possible & BIT(i)) || fnet_message_decode(dialect, bytes, &head, &m) != FNET_OK)
            continue;
        const struct fnet_buffer_response *b = &m.buffer;
        if (m.type == FNET_DIALECT_PROBE) {
            out->data |= BIT(i);
            out->sensible |= BIT(i);
            continue;
        }
        if (b->backlog <= BACKLOG_SENSIBLE_MAX)
            out->sensible |= BIT(i);
        if (fnet_data_type_is_buffer(b->data_type)) {
            out->data |= BIT(i);
            continue;
        }
        out->events |= BIT(i);
        if (is_whole && !b->is_compressed && /* no version compresses events */
            are_events(dialect, b, fnet_span_of(bytes.ptr + head, b->size)))
            out->good_events |= BIT(i);
    }
}

/* Data may be anything, but hardly ever looks like a whole event. */
static enum fnet_err weigh_buffer(struct dialect_guess *g, struct fnet_span bytes)
{
    const uint32_t length = fnet_load_be32(bytes.ptr);
    const bool is_whole = bytes.len >= length;
    struct buffer_readings r;

    read_buffer(g, bytes, is_whole, &r);
    if (is_whole && (r.data | r.good_events))
        narrow(g, r.data | r.good_events, r.sensible & (r.good_events ? r.good_events : r.data));
    else
        narrow(g, g->possible, r.sensible & (length > GUESS_FRAME_MAX_BYTES ? r.data : r.sensible));
    return r.events && !is_whole && length <= GUESS_FRAME_MAX_BYTES ? FNET_AGAIN : FNET_OK;
}

/* ---- frames ------------------------------------------------------------------------------ */

/* Which of CANDIDATES read the frame, and whether one of them needs more of it first. */
static uint32_t read_frame(uint32_t candidates, struct fnet_span bytes, bool *wants_more)
{
    uint32_t fit = 0;

    *wants_more = false;
    for (size_t i = 0; fnet_dialect_at(i); i++) {
        struct fnet_message m;
        size_t used;
        if (!(candidates & BIT(i)))
            continue;
        enum fnet_err err = fnet_message_decode(fnet_dialect_at(i), bytes, &used, &m);
        if (err == FNET_OK || err == FNET_AGAIN)
            fit |= BIT(i);
        *wants_more = *wants_more || err == FNET_AGAIN;
    }
    return fit;
}

/* The dialect that the frame says outright, as a set; empty: none. */
static uint32_t told(const struct fnet_dialect *read_in, struct fnet_span bytes)
{
    const struct fnet_dialect *dialect = NULL;
    struct fnet_message m;
    size_t used;

    if (fnet_message_decode(read_in, bytes, &used, &m) != FNET_OK)
        return 0;
    if (m.type == FNET_PARTITION_REQUEST)
        dialect = fnet_channel_id_dialect(&m.receiver);
    else if (m.type == FNET_CANCEL_PARTITION_REQUEST)
        fnet_dialect_probe_answer(&m.receiver, &dialect);
    for (size_t i = 0; dialect && fnet_dialect_at(i); i++)
        if (fnet_dialect_at(i) == dialect)
            return BIT(i);
    return 0;
}

enum fnet_err dialect_guess_weigh(struct dialect_guess *g, struct fnet_span bytes)
{
    bool wants_more;
    const uint32_t fit = read_frame(g->possible, bytes, &wants_more);

    if (!fit) {
        struct fnet_message m;
        size_t used;
        return fnet_message_decode(g->dialect, bytes, &used, &m);
    }
    narrow(g, fit, fit);
    if (wants_more)
        return FNET_AGAIN;
    const uint8_t type = bytes.ptr[AT_TYPE];
    if (type == FNET_BUFFER_RESPONSE)
        return weigh_buffer(g, bytes);
    const uint32_t said = fit & told(g->dialect, bytes);
    if (said)
        narrow(g, said, said);
    if (type < 16 && type != FNET_ERROR_RESPONSE && type != FNET_TASK_EVENT_REQUEST &&
        type != FNET_CANCEL_PARTITION_REQUEST)
        g->weighed |= BIT(type);
    return FNET_OK;
}

bool dialect_guess_is_moot(const struct dialect_guess *g, struct fnet_span bytes)
{
    if (dialect_guess_is_settled(g))
        return true;
    if (bytes.len < FNET_FRAME_HEADER_BYTES)
        return false;
    const uint8_t type = bytes.ptr[AT_TYPE];
    const uint8_t at = g->dialect->buffer.data_type;
    if (type == FNET_BUFFER_RESPONSE)
        return g->has_one_layout && bytes.len > at && bytes.ptr[at] < 32 &&
               (g->data_types & BIT(bytes.ptr[at]));
    return type < 16 && (g->weighed & BIT(type));
}

bool dialect_guess_is_clear(const struct dialect_guess *g, struct fnet_span bytes)
{
    struct fnet_message first, m;
    size_t first_used, used;

    if (fnet_message_decode(g->dialect, bytes, &first_used, &first) != FNET_OK ||
        first.type != FNET_BUFFER_RESPONSE)
        return true;
    for (size_t i = 0; fnet_dialect_at(i); i++)
        if ((g->likely & BIT(i)) &&
            (fnet_message_decode(fnet_dialect_at(i), bytes, &used, &m) != FNET_OK ||
             used != first_used || m.buffer.data_type != first.buffer.data_type))
            return false;
    return true;
}

bool dialect_guess_is_header(const struct dialect_guess *g,
                             const uint8_t header[static FNET_FRAME_HEADER_BYTES])
{
    bool wants_more;

    return read_frame(g->is_given ? g->possible : all_dialects(),
                      fnet_span_of(header, FNET_FRAME_HEADER_BYTES), &wants_more) != 0;
}

void dialect_guess_confirm(struct dialect_guess *g)
{
    if (g->trust < TRUST_MAX)
        g->trust++;
}

bool dialect_guess_doubt(struct dialect_guess *g, struct fnet_span bytes)
{
    bool wants_more;
    const uint32_t others =
        g->is_given ? 0 : read_frame(all_dialects() & ~g->possible, bytes, &wants_more);

    if (!others)
        return false;
    if (g->trust > 0) {
        g->trust--;
        return false;
    }
    set(g, others, others);
    g->weighed = 0;
    g->restarts++;
    return true;
}

uint32_t dialects_of_request(uint32_t length)
{
    uint32_t dialects = 0;

    for (size_t i = 0; fnet_dialect_at(i); i++)
        if (fnet_dialect_at(i)->partition_request_bytes == length)
            dialects |= BIT(i);
    return dialects;
}
