/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections, and the bytes of each direction in the order in which they were sent.
 *
 * Source: RFC 9293 (TCP) section 3.4, sequence numbers and their comparison.
 */
#include <search.h>
#include <stdlib.h>

#include "fnet/capture.h"

/* A segment that came before the ones in front of it; its bytes follow the struct. */
struct waiting {
    struct waiting *next;
    uint32_t sequence;
    bool has_time;
    uint64_t time_ns;
    size_t len;
    size_t missing; /* behind the bytes */
    uint8_t bytes[];
};

/* What comes out next in one direction: bytes, then those that are missing behind them. */
struct current {
    bool has_time;
    uint64_t time_ns;
    struct fnet_span bytes;
    size_t missing;
};

/* One direction of a connection. */
struct side {
    bool is_started;
    bool is_first_unknown; /* the bytes before the first are missing, nobody knows how many */
    bool is_finished;      /* a FIN was seen: LAST is valid */
    bool is_ended;         /* the end was given out */
    uint32_t first;        /* sequence number of the first byte */
    uint32_t expected;     /* of the next byte to give out */
    uint32_t last;         /* of the byte behind the last one */
    struct waiting *queue; /* owned, in order of sequence; the first is behind EXPECTED */
    size_t queued;
};

struct connection {
    struct fnet_flow flow; /* first: what the tree compares */
    struct side sides[2];
    bool is_reset;
};

/* Connections of late, by what two ends have in common whichever sent: most packets belong to one
 * of them, and need no search. */
#define RECENT_BITS 10

struct fnet_reassembly {
    struct connection *recent[1 << RECENT_BITS]; /* borrowed; NULL: none */
    void *tree; /* of struct connection, by ends; the newest of each pair of ends */
    struct connection **connections; /* owned, by number */
    size_t count;
    size_t capacity;

    /* What next() works on. */
    struct connection *active; /* NULL: nothing */
    unsigned sides_left;       /* bit 0 and 1: sides to look at */
    bool is_flushing;          /* give up what is missing */
    size_t finishing;          /* connections below it are finished */
    bool is_finishing;
    struct current current; /* of the lowest side left */
    struct waiting *held;   /* owned: CURRENT borrows from it */
    size_t waiting_bytes;   /* in all queues */
};

enum fnet_err fnet_reassembly_new(struct fnet_reassembly **out)
{
    struct fnet_reassembly *r = calloc(1, sizeof *r);

    if (!r)
        return FNET_NOMEM;
    *out = r;
    return FNET_OK;
}

static void free_queue(struct side *side)
{
    while (side->queue) {
        struct waiting *w = side->queue;
        side->queue = w->next;
        free(w);
    }
}

static void keep(void *connection)
{
    (void)connection; /* the tree borrows */
}

void fnet_reassembly_free(struct fnet_reassembly *r)
{
    if (!r)
        return;
    tdestroy(r->tree, keep);
    for (size_t i = 0; i < r->count; i++) {
        free_queue(&r->connections[i]->sides[0]);
        free_queue(&r->connections[i]->sides[1]);
        free(r->connections[i]);
    }
    free(r->connections);
    free(r->held);
    free(r);
}

/* ---- connections ------------------------------------------------------------------------- */

/* Order of pairs of ends, whichever end comes first in each. */
static int compare(const void *a, const void *b)
{
    const struct fnet_flow_end *x = ((const struct fnet_flow *)a)->ends;
    const struct fnet_flow_end *y = ((const struct fnet_flow *)b)->ends;
    const int x_low = memcmp(&x[0], &x[1], sizeof *x) > 0;
    const int y_low = memcmp(&y[0], &y[1], sizeof *y) > 0;
    int order = memcmp(&x[x_low], &y[y_low], sizeof *x);

    return order ? order : memcmp(&x[!x_low], &y[!y_low], sizeof *x);
}

static enum fnet_err add_connection(struct fnet_reassembly *r, const struct fnet_packet *p,
                                    struct connection **out)
{
    if (r->count == FNET_FLOWS_MAX)
        return FNET_RANGE;
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 16;
        struct connection **grown = realloc(r->connections, capacity * sizeof *grown);
        if (!grown)
            return FNET_NOMEM;
        r->connections = grown;
        r->capacity = capacity;
    }
    struct connection *c = calloc(1, sizeof *c);
    if (!c)
        return FNET_NOMEM;
    c->flow = (struct fnet_flow){.ends = {p->src, p->dst}, .number = (uint32_t)r->count};
    struct connection **node = tsearch(c, &r->tree, compare);
    if (!node) {
        free(c);
        return FNET_NOMEM;
    }
    if (*node != c)
        c->flow.reuse = (*node)->flow.reuse + 1;
    *node = c; /* instead of the older one */
    r->connections[r->count++] = c;
    *out = c;
    return FNET_OK;
}

static unsigned side_of(const struct connection *c, const struct fnet_packet *p)
{
    return memcmp(&c->flow.ends[0], &p->src, sizeof p->src) != 0;
}

/* Does P open a connection where C was, between the same ends? */
static bool is_successor(const struct connection *c, const struct fnet_packet *p)
{
    const struct side *side = &c->sides[side_of(c, p)];

    return p->is_syn && side->is_started && side->first != p->sequence + 1;
}

static bool is_between(const struct connection *c, const struct fnet_flow_end *a,
                       const struct fnet_flow_end *b)
{
    return memcmp(&c->flow.ends[0], a, sizeof *a) == 0 &&
           memcmp(&c->flow.ends[1], b, sizeof *b) == 0;
}

static enum fnet_err search_connection(struct fnet_reassembly *r, const struct fnet_packet *p,
                                       struct connection **out)
{
    const struct fnet_flow wanted = {.ends = {p->src, p->dst}};
    struct connection *const *node = tfind(&wanted, &r->tree, compare);

    if (node && !is_successor(*node, p)) {
        *out = *node;
        return FNET_OK;
    }
    return add_connection(r, p, out);
}

static enum fnet_err find_connection(struct fnet_reassembly *r, const struct fnet_packet *p,
                                     struct connection **out)
{
    const uint32_t ports = (p->src.port ^ p->dst.port) * 0x9e3779b1u;
    struct connection **recent = &r->recent[ports >> (32 - RECENT_BITS)];
    enum fnet_err err;

    if (*recent && !p->is_syn &&
        (is_between(*recent, &p->src, &p->dst) || is_between(*recent, &p->dst, &p->src))) {
        *out = *recent;
        return FNET_OK;
    }
    err = search_connection(r, p, out);
    if (err == FNET_OK)
        *recent = *out;
    return err;
}

/* ---- one direction ----------------------------------------------------------------------- */

/* How far SEQUENCE is behind what SIDE expects; negative: it is before it, and was there. */
static int32_t distance(const struct side *side, uint32_t sequence)
{
    return (int32_t)(sequence - side->expected);
}

/* Cut N bytes off the head of C, of those that are there, then of those that are missing. */
static void cut_head(struct current *c, size_t n)
{
    size_t there = n < c->bytes.len ? n : c->bytes.len;
    size_t missing = n - there < c->missing ? n - there : c->missing;

    c->bytes = fnet_span_of(c->bytes.ptr + there, c->bytes.len - there);
    c->missing -= missing;
}

/* Nothing of C, which begins at the next byte of SIDE, lies behind the FIN. */
static void cut_tail(const struct side *side, struct current *c)
{
    size_t room = side->last - side->expected;

    if (!side->is_finished)
        return;
    if (c->bytes.len > room)
        c->bytes.len = room;
    if (c->missing > room - c->bytes.len)
        c->missing = room - c->bytes.len;
}

static void start_side(struct side *side, const struct fnet_packet *p)
{
    side->is_started = true;
    side->is_first_unknown = !p->is_syn;
    side->first = side->expected = p->sequence + p->is_syn;
}

/* Nothing the side knows fits SEQUENCE: what waits is given up and it begins anew there. */
static void restart_side(struct fnet_reassembly *r, struct side *side, uint32_t sequence)
{
    for (struct waiting *w = side->queue; w; w = w->next)
        r->waiting_bytes -= sizeof *w + w->len;
    free_queue(side);
    side->queued = 0;
    side->is_first_unknown = true;
    side->is_finished = false;
    side->expected = sequence;
}

static enum fnet_err enqueue(struct fnet_reassembly *r, struct side *side,
                             const struct fnet_packet *p)
{
    struct waiting **at = &side->queue;
    struct waiting *w = malloc(sizeof *w + p->payload.len);

    if (!w)
        return FNET_NOMEM;
    *w = (struct waiting){
        .sequence = p->sequence,
        .has_time = p->has_time,
        .time_ns = p->time_ns,
        .len = p->payload.len,
        .missing = p->missing,
    };
    if (w->len)
        memcpy(w->bytes, p->payload.ptr, w->len);
    while (*at && (int32_t)((*at)->sequence - w->sequence) <= 0)
        at = &(*at)->next;
    w->next = *at;
    *at = w;
    side->queued++;
    r->waiting_bytes += sizeof *w + w->len;
    return FNET_OK;
}

/* Make the first waiting segment the current one, without what was given out already. */
static void dequeue(struct fnet_reassembly *r, struct side *side)
{
    struct waiting *w = side->queue;

    side->queue = w->next;
    side->queued--;
    r->waiting_bytes -= sizeof *w + w->len;
    r->held = w;
    r->current = (struct current){.has_time = w->has_time,
                                  .time_ns = w->time_ns,
                                  .bytes = fnet_span_of(w->bytes, w->len),
                                  .missing = w->missing};
    cut_head(&r->current, side->expected - w->sequence);
    cut_tail(side, &r->current);
}

/* A segment of TCP: current if it continues what was given out, else it waits. */
static enum fnet_err take_segment(struct fnet_reassembly *r, struct side *side,
                                  const struct fnet_packet *p)
{
    const size_t len = p->payload.len + p->missing;

    if (side->is_ended)
        return FNET_OK;
    if (!side->is_started && (len > 0 || p->is_syn))
        start_side(side, p);
    if (p->is_fin && side->is_started && !side->is_finished) {
        side->is_finished = true;
        side->last = p->sequence + p->is_syn + (uint32_t)len;
    }
    if (len == 0)
        return FNET_OK;
    /* With a SYN, data begins one number later. */
    struct fnet_packet data = *p;
    data.sequence += p->is_syn;
    int32_t ahead = distance(side, data.sequence);
    if (ahead > FNET_TCP_WINDOW_MAX || ahead < -FNET_TCP_WINDOW_MAX) {
        restart_side(r, side, data.sequence);
        ahead = 0;
    }
    if (ahead > 0)
        return enqueue(r, side, &data);
    r->current = (struct current){
        .has_time = p->has_time, .time_ns = p->time_ns, .bytes = p->payload, .missing = p->missing};
    cut_head(&r->current, (size_t)(-(int64_t)ahead));
    cut_tail(side, &r->current);
    return FNET_OK;
}

static void take_stretch(struct fnet_reassembly *r, struct side *side, const struct fnet_packet *p)
{
    side->is_started = true;
    r->current = (struct current){
        .has_time = p->has_time, .time_ns = p->time_ns, .bytes = p->payload, .missing = p->missing};
}

enum fnet_err fnet_reassembly_push(struct fnet_reassembly *r, const struct fnet_packet *p)
{
    struct connection *c;
    enum fnet_err err = find_connection(r, p, &c);

    if (err != FNET_OK)
        return err;
    unsigned n = side_of(c, p);
    if (p->kind == FNET_PACKET_STRETCH)
        take_stretch(r, &c->sides[n], p);
    else if (!p->is_rst) /* what a reset may carry is no part of the stream */
        err = take_segment(r, &c->sides[n], p);
    if (err != FNET_OK)
        return err;
    c->is_reset |= p->is_rst;
    r->active = c;
    r->sides_left = c->is_reset ? 3 : 1u << n;
    r->is_flushing = c->is_reset;
    return FNET_OK;
}

void fnet_reassembly_finish(struct fnet_reassembly *r)
{
    r->is_finishing = true;
}

/* ---- giving out -------------------------------------------------------------------------- */

/* Has the earliest waiting segment waited enough for what is missing before it? */
static bool is_patience_over(const struct fnet_reassembly *r, const struct side *side)
{
    return r->is_flushing || side->queued > FNET_REORDER_MAX_SEGMENTS ||
           r->waiting_bytes > FNET_REORDER_MAX_BYTES;
}

static enum fnet_err give_gap(struct side *side, uint32_t lost, struct fnet_stretch *out)
{
    out->kind = FNET_STRETCH_GAP;
    out->lost = lost;
    side->expected += lost;
    return FNET_OK;
}

static enum fnet_err give_bytes(struct fnet_reassembly *r, struct side *side,
                                struct fnet_stretch *out)
{
    out->kind = FNET_STRETCH_BYTES;
    out->has_time = r->current.has_time;
    out->time_ns = r->current.time_ns;
    out->bytes = r->current.bytes;
    side->expected += (uint32_t)r->current.bytes.len;
    r->current.bytes.len = 0;
    return FNET_OK;
}

/* SIDE may be at its end: at its FIN, or where nothing waits any more when the connection was reset
 * or the capture ends, if need be behind a gap. */
static enum fnet_err give_end(const struct fnet_reassembly *r, const struct connection *c,
                              struct side *side, struct fnet_stretch *out)
{
    int32_t missing = side->is_finished ? distance(side, side->last) : 0;

    if (side->is_ended || !side->is_started || !(side->is_finished || c->is_reset))
        return FNET_AGAIN;
    if (missing > 0)
        return r->is_flushing ? give_gap(side, (uint32_t)missing, out) : FNET_AGAIN;
    side->is_ended = true;
    out->kind = FNET_STRETCH_END;
    return FNET_OK;
}

static bool is_at_fin(const struct side *side)
{
    return side->is_finished && distance(side, side->last) <= 0;
}

/* The next stretch of SIDE, the lowest one left. FNET_AGAIN: it has none. */
static enum fnet_err give(struct fnet_reassembly *r, struct connection *c, struct side *side,
                          struct fnet_stretch *out)
{
    for (;;) {
        if (side->is_first_unknown) {
            side->is_first_unknown = false;
            give_gap(side, 0, out);
            out->lost = FNET_GAP_UNKNOWN;
            return FNET_OK;
        }
        if (r->current.bytes.len > 0)
            return give_bytes(r, side, out);
        if (r->current.missing > 0) {
            uint32_t missing = (uint32_t)r->current.missing;
            r->current.missing = 0;
            return give_gap(side, missing, out);
        }
        if (!side->queue || is_at_fin(side))
            return give_end(r, c, side, out);
        int32_t ahead = distance(side, side->queue->sequence);
        if (ahead > 0 && is_patience_over(r, side))
            return give_gap(side, (uint32_t)ahead, out);
        if (ahead > 0)
            return FNET_AGAIN;
        free(r->held);
        dequeue(r, side);
    }
}

/* At the finish: on to the next connection. */
static bool go_on(struct fnet_reassembly *r)
{
    if (!r->is_finishing || r->finishing == r->count)
        return false;
    r->active = r->connections[r->finishing++];
    r->sides_left = 3;
    r->is_flushing = true;
    return true;
}

enum fnet_err fnet_reassembly_next(struct fnet_reassembly *r, struct fnet_stretch *out)
{
    while (r->active || go_on(r)) {
        for (unsigned n = 0; n < 2; n++) {
            struct fnet_stretch stretch = {.flow = &r->active->flow, .side = n};
            if (!(r->sides_left & 1u << n))
                continue;
            if (give(r, r->active, &r->active->sides[n], &stretch) == FNET_OK) {
                *out = stretch;
                return FNET_OK;
            }
            r->sides_left &= ~(1u << n);
        }
        r->active = NULL;
        free(r->held);
        r->held = NULL;
    }
    return FNET_AGAIN;
}
