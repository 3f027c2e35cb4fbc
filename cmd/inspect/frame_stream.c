/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames out of bytes that may have gaps, may begin anywhere, or may be something else.
 */
#include "inspect/frame_stream.h"

#define MAGIC_OFFSET 4
#define MAGIC_BYTES 4
/* Room for the head of a data buffer; for more only if it has partial sizes. */
#define BITE_BYTES 64
/* Frames are kept back, until others tell their dialect, up to so many bytes. */
#define KEPT_MAX_BYTES (64u << 10)

static struct fnet_span staged(const struct frame_stream *s)
{
    if (!s->staged.ptr) /* before the first feed */
        return fnet_span_of("", 0);
    return fnet_span_of(s->staged.ptr + s->begin, s->staged.len - s->begin);
}

static void use(struct frame_stream *s, size_t n)
{
    s->begin += n;
    s->offset += n;
}

void frame_stream_init(struct frame_stream *s, const char *spill_dir, struct dialect_guess *guess)
{
    *s = (struct frame_stream){.staged = {.dir = spill_dir}, .guess = guess};
}

void frame_stream_clear(struct frame_stream *s)
{
    fnet_spill_buffer_clear(&s->staged);
}

enum fnet_err frame_stream_feed(struct frame_stream *s, struct fnet_span bytes, bool has_time,
                                uint64_t time_ns)
{
    struct fnet_span rest = staged(s);

    s->due = 0; /* next() looks again */
    s->must_decide = false;
    s->seen += bytes.len;
    s->has_time = has_time;
    s->time_ns = time_ns;
    if (s->state == FRAME_STREAM_FOREIGN)
        return FNET_OK;

    /* What is left is at most the head of one frame: it moves once, the bytes behind it never. */
    if (rest.len == 0)
        fnet_spill_buffer_reset(&s->staged);
    else if (s->begin > 0)
        memmove(s->staged.ptr, rest.ptr, rest.len);
    s->staged.len = rest.len;
    s->begin = 0;
    enum fnet_err err = fnet_spill_buffer_reserve(&s->staged, bytes.len);
    if (err != FNET_OK)
        return err;
    memcpy(s->staged.ptr + s->staged.len, bytes.ptr, bytes.len);
    s->staged.len += bytes.len;
    return FNET_OK;
}

size_t frame_stream_bite(const struct frame_stream *s, size_t len)
{
    if (s->due > 0) /* nobody let it go past */
        return s->due < len ? s->due : len;
    return s->state == FRAME_STREAM_SYNCED && len > BITE_BYTES ? BITE_BYTES : len;
}

size_t frame_stream_due(const struct frame_stream *s)
{
    return s->due;
}

struct fnet_span frame_stream_peek(const struct frame_stream *s, struct fnet_message *message)
{
    const struct fnet_span rest = staged(s);
    size_t head;

    if (fnet_message_decode(s->dialect, rest, &head, message) != FNET_OK)
        head = rest.len;
    return fnet_span_of(rest.ptr + head, rest.len - head);
}

void frame_stream_skip_ahead(struct frame_stream *s, size_t n, bool has_time, uint64_t time_ns)
{
    s->seen += n;
    s->has_time = has_time;
    s->time_ns = time_ns;
    s->passed += n;
    s->due -= n;
}

void frame_stream_finish(struct frame_stream *s)
{
    s->is_finished = true;
}

/* ---- out of step ------------------------------------------------------------------------- */

static bool is_skip_empty(const struct frame_skip *skip)
{
    return !skip->is_mid_stream && skip->lost == 0 && skip->skipped == 0;
}

static void skip(struct frame_stream *s, size_t n)
{
    s->skip.skipped += n;
    use(s, n);
}

/* Begin to search at BEGIN; what is staged may still hold a frame. */
static void search(struct frame_stream *s)
{
    if (is_skip_empty(&s->skip))
        s->skip_offset = s->offset;
    s->missing = 0;
    s->dialect = NULL;
    s->kept_count = 0;
    s->state = FRAME_STREAM_SEARCHING;
}

static void note_frame(struct frame_stream *s)
{
    struct fnet_span rest = staged(s);

    if (rest.len < FNET_FRAME_HEADER_BYTES)
        return;
    s->skip.length = fnet_load_be32(rest.ptr);
    s->skip.type = rest.ptr[FNET_FRAME_HEADER_BYTES - 1];
}

/* The frame at BEGIN goes no further. */
static void drop_cut_frame(struct frame_stream *s)
{
    search(s);
    s->skip.is_cut = true;
    note_frame(s);
    skip(s, staged(s).len);
}

/* The frame at BEGIN does not decode. It must not be found again. */
static void drop_bad_frame(struct frame_stream *s, enum fnet_err err)
{
    search(s);
    s->skip.err = err;
    note_frame(s);
    skip(s, 1);
}

static void lose(struct frame_stream *s, uint64_t lost)
{
    if (s->state == FRAME_STREAM_SYNCED && staged(s).len > 0)
        drop_cut_frame(s);
    else if (s->state != FRAME_STREAM_AT_START)
        search(s);
    skip(s, staged(s).len);
    if (lost == FNET_GAP_UNKNOWN) {
        s->skip.is_mid_stream = true;
    } else {
        s->skip.lost += lost;
        s->offset += lost;
    }
}

/* Bytes of the frame at BEGIN that have not come yet, if it is a BufferResponse and the rest of
 * its payload is all that it lacks; else 0. */
static size_t payload_wanted(const struct frame_stream *s)
{
    const struct fnet_span rest = staged(s);
    struct fnet_message message;
    size_t used;

    if (s->state != FRAME_STREAM_SYNCED || !s->dialect ||
        fnet_message_decode(s->dialect, rest, &used, &message) != FNET_OK ||
        message.type != FNET_BUFFER_RESPONSE)
        return 0;
    const size_t length = used + message.buffer.size;
    const size_t there = rest.len + s->passed + s->missing;
    return length > there ? length - there : 0;
}

void frame_stream_decide(struct frame_stream *s)
{
    s->must_decide = true;
}

void frame_stream_gap(struct frame_stream *s, uint64_t lost)
{
    /* A gap inside a payload of known length does not hide where the next frame begins. */
    const size_t wanted = payload_wanted(s);

    if (s->state == FRAME_STREAM_FOREIGN)
        return;
    if (lost <= wanted) {
        s->missing += (size_t)lost;
    } else if (wanted > 0) {
        s->missing += wanted;
        s->gap_after = lost == FNET_GAP_UNKNOWN ? lost : lost - wanted;
    } else {
        lose(s, lost);
    }
}

/* ---- other protocols --------------------------------------------------------------------- */

/* What BYTES, the first of a stream, look like; NULL: nothing that is known. */
static const char *recognise(struct fnet_span bytes)
{
    static const struct {
        const char *name;
        const char *head;
    } known[] = {
        {"SSH", "SSH-"},      {"HTTP", "HTTP/"},  {"HTTP", "GET "},     {"HTTP", "HEAD "},
        {"HTTP", "POST "},    {"HTTP", "PUT "},   {"HTTP", "DELETE "},  {"HTTP", "OPTIONS "},
        {"HTTP", "CONNECT "}, {"HTTP", "PRI * "}, {"gzip", "\x1f\x8b"},
    };

    /* A TLS record: its type, 20 to 23, and version 3. */
    if (bytes.len >= 2 && bytes.ptr[0] >= 0x14 && bytes.ptr[0] <= 0x17 && bytes.ptr[1] == 3)
        return "TLS";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t len = strlen(known[i].head);
        if (bytes.len >= len && memcmp(bytes.ptr, known[i].head, len) == 0)
            return known[i].name;
    }
    for (size_t i = 0; i < bytes.len; i++)
        if ((bytes.ptr[i] < ' ' || bytes.ptr[i] > '~') && bytes.ptr[i] != '\r' &&
            bytes.ptr[i] != '\n' && bytes.ptr[i] != '\t')
            return NULL;
    return bytes.len > 0 ? "text" : NULL;
}

static bool is_magic(struct fnet_span bytes)
{
    return bytes.len >= MAGIC_OFFSET + MAGIC_BYTES &&
           fnet_load_be32(bytes.ptr + MAGIC_OFFSET) == FNET_MAGIC;
}

/* ---- items ------------------------------------------------------------------------------- */

static enum fnet_err give_foreign(struct frame_stream *s, struct frame_item *out)
{
    s->state = FRAME_STREAM_FOREIGN;
    use(s, staged(s).len);
    *out = (struct frame_item){.kind = FRAME_FOREIGN, .name = s->looks_like, .bytes = s->seen};
    return FNET_OK;
}

/* Say what was out of step so far, if anything was. */
static enum fnet_err give_skip(struct frame_stream *s, struct frame_item *out)
{
    if (is_skip_empty(&s->skip))
        return FNET_AGAIN;
    *out = (struct frame_item){
        .kind = FRAME_SKIPPED,
        .offset = s->skip_offset,
        .has_time = s->has_time,
        .time_ns = s->time_ns,
        .skip = s->skip,
    };
    s->skip = (struct frame_skip){.err = FNET_OK};
    return FNET_OK;
}

/* The first bytes are there: are they of a protocol that has a name? */
static enum fnet_err look_at_start(struct frame_stream *s, struct frame_item *out)
{
    const struct fnet_span rest = staged(s);

    if (rest.len < FNET_FRAME_HEADER_BYTES && !s->is_finished)
        return FNET_AGAIN;
    s->looks_like = is_magic(rest) ? NULL : recognise(rest);
    /* In mid-stream any bytes may come first. */
    if (s->looks_like && is_skip_empty(&s->skip))
        return give_foreign(s, out);
    search(s);
    return FNET_OK;
}

/* Move BEGIN to the next frame. What cannot be one is skipped. */
static bool find_frame(struct frame_stream *s)
{
    static const uint8_t magic[MAGIC_BYTES] = {0xba, 0xdc, 0x0f, 0xfe};

    for (;;) {
        struct fnet_span rest = staged(s);
        if (rest.len < MAGIC_OFFSET + MAGIC_BYTES)
            return false;
        const uint8_t *at =
            memmem(rest.ptr + MAGIC_OFFSET, rest.len - MAGIC_OFFSET, magic, sizeof magic);
        if (!at) {
            /* The magic may be cut by the end of what is there. */
            skip(s, rest.len - (MAGIC_OFFSET + MAGIC_BYTES - 1));
            return false;
        }
        skip(s, (size_t)(at - rest.ptr) - MAGIC_OFFSET);
        rest = staged(s);
        if (rest.len < FNET_FRAME_HEADER_BYTES)
            return false;
        /* The header alone decides: more of the frame may or may not be there yet, and the result
         * must not depend on that. */
        if (dialect_guess_is_header(s->guess, rest.ptr))
            return true;
        skip(s, 1);
    }
}

/* Remember when the frames that are whole, and kept back, came. */
static void stamp_kept(struct frame_stream *s)
{
    struct fnet_span rest = staged(s);

    for (size_t i = 0; i < KEPT_STAMPS && rest.len >= FNET_FRAME_HEADER_BYTES; i++) {
        const uint32_t length = fnet_load_be32(rest.ptr);
        if (length < FNET_FRAME_HEADER_BYTES || length > rest.len)
            return;
        if (i == s->kept_count)
            s->kept[s->kept_count++] = (struct frame_stamp){s->has_time, s->time_ns};
        rest = fnet_span_of(rest.ptr + length, rest.len - length);
    }
}

/* When the last byte of the frame at BEGIN came. */
static struct frame_stamp take_stamp(struct frame_stream *s)
{
    struct frame_stamp stamp = {s->has_time, s->time_ns};

    if (s->kept_count > 0) {
        stamp = s->kept[0];
        memmove(s->kept, s->kept + 1, --s->kept_count * sizeof *s->kept);
    }
    return stamp;
}

static enum fnet_err give_message(struct frame_stream *s, size_t head,
                                  const struct fnet_message *message, struct frame_item *out)
{
    const struct fnet_span rest = staged(s);
    const size_t payload = message->type == FNET_BUFFER_RESPONSE ? message->buffer.size : 0;
    const size_t there = rest.len + s->passed + s->missing;

    if (there < head + payload) {
        if (fnet_data_type_is_buffer(message->buffer.data_type))
            s->due = head + payload - there;
        return FNET_AGAIN;
    }
    const struct frame_stamp stamp = take_stamp(s);
    *out = (struct frame_item){
        .kind = FRAME_MESSAGE,
        .offset = s->offset,
        .has_time = stamp.has_time,
        .time_ns = stamp.time_ns,
        .dialect = s->dialect,
        .message = *message,
        .length = head + payload,
        .payload = fnet_span_of(rest.ptr + head, payload - s->missing - s->passed),
        .missing = s->missing,
    };
    use(s, head + out->payload.len);
    s->offset += s->missing + s->passed;
    s->missing = 0;
    s->passed = 0;
    s->dialect = NULL;
    dialect_guess_confirm(s->guess);
    if (s->gap_after) {
        lose(s, s->gap_after);
        s->gap_after = 0;
    }
    return FNET_OK;
}

/*
 * Decide in which dialect the frame at BEGIN is read; it stays with that while more of it comes. In
 * all dialects a frame says its length in front, so that those behind it can be asked, too. How
 * much is there must not change the result, only when it comes.
 */
static enum fnet_err decide(struct frame_stream *s)
{
    struct fnet_span rest = staged(s);
    enum fnet_err err = FNET_OK;
    size_t at = 0;

    if (s->dialect)
        return FNET_OK;
    const bool may_wait = !s->is_finished && !s->must_decide && rest.len < KEPT_MAX_BYTES;
    rest.len = rest.len < KEPT_MAX_BYTES ? rest.len : KEPT_MAX_BYTES;
    while (err == FNET_OK && !dialect_guess_is_moot(s->guess, rest)) {
        const struct fnet_span frame = fnet_span_of(rest.ptr + at, rest.len - at);
        err = dialect_guess_weigh(s->guess, frame);
        if (at == 0 && err != FNET_OK && err != FNET_AGAIN)
            return err;
        if (err != FNET_OK || dialect_guess_is_clear(s->guess, rest))
            break;
        const uint32_t length = fnet_load_be32(frame.ptr);
        if (length >= frame.len)
            err = FNET_AGAIN;
        else
            at += length;
    }
    if (err == FNET_AGAIN && may_wait) {
        stamp_kept(s);
        return FNET_AGAIN;
    }
    s->dialect = s->guess->dialect;
    return FNET_OK;
}

/* The frame at BEGIN, as far as it is there. */
static enum fnet_err take_frame(struct frame_stream *s, struct frame_item *out)
{
    const struct fnet_span rest = staged(s);
    struct fnet_message message;
    size_t used;
    enum fnet_err err = FNET_AGAIN;

    if (rest.len >= FNET_FRAME_HEADER_BYTES)
        err = decide(s);
    if (err == FNET_OK)
        err = fnet_message_decode(s->dialect, rest, &used, &message);
    if (err == FNET_OK) {
        if (s->is_finished)
            s->missing += payload_wanted(s);
        err = give_message(s, used, &message, out);
    } else if (err == FNET_AGAIN && s->is_finished && rest.len > 0) {
        drop_cut_frame(s);
        return FNET_OK;
    } else if (err != FNET_AGAIN) {
        s->dialect = NULL;
        if (!dialect_guess_doubt(s->guess, rest))
            drop_bad_frame(s, err);
        return FNET_OK;
    }
    return err;
}

static enum fnet_err search_frame(struct frame_stream *s, struct frame_item *out)
{
    if (find_frame(s)) {
        s->state = FRAME_STREAM_SYNCED;
        s->is_flink = true;
        return is_skip_empty(&s->skip) ? FNET_OK : give_skip(s, out);
    }
    if (!s->is_finished)
        return FNET_AGAIN;
    skip(s, staged(s).len);
    if (!s->is_flink && s->seen > 0)
        return give_foreign(s, out);
    s->skip.is_at_end = true;
    return give_skip(s, out);
}

enum fnet_err frame_stream_next(struct frame_stream *s, struct frame_item *out)
{
    enum fnet_err err = FNET_OK;

    out->kind = FRAME_NOTHING;
    s->due = 0;
    while (err == FNET_OK && out->kind == FRAME_NOTHING) {
        switch (s->state) {
        case FRAME_STREAM_AT_START: err = look_at_start(s, out); break;
        case FRAME_STREAM_SYNCED: err = take_frame(s, out); break;
        case FRAME_STREAM_SEARCHING: err = search_frame(s, out); break;
        case FRAME_STREAM_FOREIGN: err = FNET_AGAIN; break;
        }
    }
    return err;
}
