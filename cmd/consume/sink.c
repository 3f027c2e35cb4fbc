/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where records go: framed into one buffer, written out when it is full or nothing more is there.
 */
#include "consume/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define BUFFER_BYTES (256u << 10)
/* With less room than this the buffer is written out before more is framed into it. */
#define ROOM_WORTH_FRAMING (BUFFER_BYTES / 4)

struct sink {
    struct sink_config config;
    struct fnet_output *output;
    struct fnet_task ready;
    uint8_t *buffer; /* owned: BUFFER_BYTES, and room for rubbish behind them */
    size_t begin;    /* begin <= end <= BUFFER_BYTES */
    size_t end;
    uint64_t appended;
    const struct sink_style *owner; /* whose record is under way; NULL: nobody's */
    size_t offset;                  /* bytes of that record, framed, that are in */
    int saved_errno;                /* 0: no failure */
};

static void on_ready(void *arg)
{
    struct sink *sink = arg;

    sink->config.drained(sink->config.arg);
}

enum fnet_err sink_new(const struct sink_config *config, struct sink **out)
{
    struct sink *sink = calloc(1, sizeof *sink);
    if (!sink)
        return FNET_NOMEM;

    enum fnet_err err = FNET_NOMEM;
    sink->config = *config;
    fnet_task_init(&sink->ready, on_ready, sink);
    sink->buffer = malloc(BUFFER_BYTES + FNET_SHORT_RECORD_BYTES);
    if (sink->buffer)
        err = fnet_output_open(config->loop, config->fd, &sink->ready, &sink->output);
    if (err != FNET_OK) {
        free(sink->buffer);
        free(sink);
        return err;
    }
    *out = sink;
    return FNET_OK;
}

enum fnet_err sink_close(struct sink *sink)
{
    if (!sink)
        return FNET_OK;
    fnet_task_cancel(&sink->ready);
    fnet_output_close(sink->output);
    int rc = sink->config.fd == STDOUT_FILENO ? 0 : close(sink->config.fd);
    free(sink->buffer);
    free(sink);
    return rc == 0 ? FNET_OK : FNET_SYSTEM;
}

uint64_t sink_appended(const struct sink *sink)
{
    return sink->appended;
}

uint64_t sink_written(const struct sink *sink)
{
    return sink->appended - (sink->end - sink->begin);
}

bool sink_is_broken(const struct sink *sink)
{
    return sink->saved_errno != 0 || fnet_output_is_broken(sink->output);
}

int sink_errno(const struct sink *sink)
{
    return sink->saved_errno != 0 ? sink->saved_errno : EPIPE;
}

/* Write some of what is buffered and of BODY behind it; N tells how much of BODY went. */
static enum fnet_err write_some(struct sink *sink, struct fnet_span body, size_t *n)
{
    const size_t buffered = sink->end - sink->begin;
    struct iovec spans[2];
    int count = 0;
    size_t gone = 0;

    if (sink->saved_errno != 0)
        return FNET_SYSTEM;
    if (buffered > 0)
        spans[count++] =
            (struct iovec){.iov_base = sink->buffer + sink->begin, .iov_len = buffered};
    if (body.len > 0)
        spans[count++] =
            (struct iovec){.iov_base = (void *)(uintptr_t)body.ptr, .iov_len = body.len};
    enum fnet_err err = fnet_output_write(sink->output, spans, count, &gone);
    if (err == FNET_SYSTEM)
        sink->saved_errno = errno;
    if (err != FNET_OK)
        return err;
    if (gone < buffered) {
        sink->begin += gone;
        *n = 0;
        return FNET_OK;
    }
    sink->begin = 0;
    sink->end = 0;
    *n = gone - buffered;
    return FNET_OK;
}

enum fnet_err sink_flush(struct sink *sink)
{
    enum fnet_err err = FNET_OK;
    size_t none;

    while (err == FNET_OK && sink->begin < sink->end)
        err = write_some(sink, fnet_span_of(NULL, 0), &none);
    return err;
}

static size_t room(const struct sink *sink)
{
    return BUFFER_BYTES - sink->end;
}

bool sink_is_free_for(const struct sink *sink, const struct sink_style *style)
{
    return sink->owner == NULL || sink->owner == style;
}

/* ---- one record, in as many pieces as it takes ---------------------------------------------- */

/* Copy what there is room for into the buffer, or write from where it lies what is long. */
static enum fnet_err append_some(struct sink *sink, struct fnet_span bytes, size_t *n)
{
    if (bytes.len >= FNET_LONG_RECORD_BYTES)
        return write_some(sink, bytes, n);
    if (room(sink) == 0) {
        *n = 0;
        return sink_flush(sink);
    }
    *n = bytes.len < room(sink) ? bytes.len : room(sink);
    memcpy(sink->buffer + sink->end, bytes.ptr, *n);
    sink->end += *n;
    return FNET_OK;
}

/* What is not in yet of a piece of LEN bytes, which stands at *FROM in the framed record; the next
   piece stands behind it. */
static enum fnet_err append_piece(struct sink *sink, const void *bytes, size_t len, size_t *from)
{
    const size_t begin = *from;

    *from += len;
    while (sink->offset < *from) {
        const size_t skip = sink->offset - begin;
        size_t n;
        enum fnet_err err =
            append_some(sink, fnet_span_of((const uint8_t *)bytes + skip, len - skip), &n);
        if (err != FNET_OK)
            return err;
        sink->offset += n;
        sink->appended += n;
    }
    return FNET_OK;
}

/* Length, tag, tab, body, delimiter: those that the style has. */
static enum fnet_err append_pieces(struct sink *sink, const struct sink_style *style,
                                   struct fnet_span record)
{
    const struct fnet_delimiter_config *format = &style->format;
    const size_t tag_len = style->tag ? strlen(style->tag) : 0;
    const uint8_t delimiter = format->format == FNET_FORMAT_NUL ? 0 : format->delimiter;
    uint8_t length[FNET_RECORD_HEADER_BYTES];
    enum fnet_err err = FNET_OK;
    size_t from = 0;

    if (format->format == FNET_FORMAT_U32) {
        fnet_store_be32(length, (uint32_t)(record.len + (style->tag ? tag_len + 1 : 0)));
        err = append_piece(sink, length, sizeof length, &from);
    }
    if (err == FNET_OK && style->tag)
        err = append_piece(sink, style->tag, tag_len, &from);
    if (err == FNET_OK && style->tag)
        err = append_piece(sink, "\t", 1, &from);
    if (err == FNET_OK)
        err = append_piece(sink, record.ptr, record.len, &from);
    if (err == FNET_OK &&
        (format->format == FNET_FORMAT_LINES || format->format == FNET_FORMAT_NUL))
        err = append_piece(sink, &delimiter, 1, &from);
    return err;
}

static enum fnet_err append_one(struct sink *sink, const struct sink_style *style,
                                struct fnet_span record)
{
    if (style->format.format == FNET_FORMAT_FIXED && record.len != style->format.record_bytes)
        return FNET_RANGE;
    const bool is_resumed = sink->owner != NULL;
    sink->owner = style;
    enum fnet_err err = append_pieces(sink, style, record);
    if (err != FNET_OK)
        return err;
    sink->owner = NULL;
    sink->offset = 0;
    if (is_resumed) /* other gates may have found it taken */
        fnet_loop_post(sink->config.loop, &sink->ready);
    return FNET_OK;
}

/* ---- batches ------------------------------------------------------------------------------- */

/* How many of N records fit into the room there is. */
static size_t count_fitting(const struct sink *sink, const struct sink_style *style,
                            const struct fnet_span *records, size_t n, size_t *framed)
{
    size_t fit = n;

    while (fit > 0) {
        *framed = fnet_delimiter_framed_bytes(&style->format, records, fit);
        if (*framed <= room(sink))
            return fit;
        fit /= 2;
    }
    return 0;
}

static enum fnet_err append_batch(struct sink *sink, const struct sink_style *style,
                                  const struct fnet_span *records, size_t n, size_t *fit)
{
    size_t framed = 0;

    *fit = 0;
    if (!style->tag && records[0].len < FNET_LONG_RECORD_BYTES)
        *fit = count_fitting(sink, style, records, n, &framed);
    if (*fit == 0)
        return FNET_OK;
    struct fnet_writer w =
        fnet_writer_of(sink->buffer + sink->end, room(sink) + FNET_SHORT_RECORD_BYTES);
    enum fnet_err err = fnet_delimiter_frame(&style->format, records, *fit, &w);
    if (err != FNET_OK)
        return err;
    sink->end += framed;
    sink->appended += framed;
    return FNET_OK;
}

enum fnet_err sink_append(struct sink *sink, const struct sink_style *style,
                          const struct fnet_span *records, size_t n, size_t *done)
{
    enum fnet_err err = FNET_OK;
    size_t i = 0;

    while (err == FNET_OK && i < n) {
        size_t fit = 0;
        if (!sink->owner)
            err = append_batch(sink, style, records + i, n - i, &fit);
        if (err == FNET_OK && fit == 0) {
            err = append_one(sink, style, records[i]);
            fit = err == FNET_OK;
        }
        i += err == FNET_OK ? fit : 0;
    }
    *done = i;
    return err;
}

enum fnet_err sink_begin(struct sink *sink, struct fnet_writer *w)
{
    if (sink->owner)
        return FNET_STATE;
    if (room(sink) < ROOM_WORTH_FRAMING) {
        enum fnet_err err = sink_flush(sink);
        if (err != FNET_OK)
            return err;
    }
    *w = fnet_writer_of(sink->buffer + sink->end, room(sink));
    return FNET_OK;
}

void sink_commit(struct sink *sink, const struct fnet_writer *w)
{
    const size_t n = (size_t)(w->pos - (sink->buffer + sink->end));

    sink->end += n;
    sink->appended += n;
}
