/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where records go: framed into one buffer, written out when it is full or nothing more is there.
 */
#include "consume/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (256u << 10)

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

enum fnet_err sink_flush(struct sink *sink)
{
    while (sink->begin < sink->end) {
        size_t n = 0;
        if (sink->saved_errno != 0)
            return FNET_SYSTEM;
        enum fnet_err err = fnet_output_write(sink->output, sink->buffer + sink->begin,
                                              sink->end - sink->begin, &n);
        if (err == FNET_SYSTEM)
            sink->saved_errno = errno;
        if (err != FNET_OK)
            return err;
        sink->begin += n;
    }
    sink->begin = 0;
    sink->end = 0;
    return FNET_OK;
}

static size_t room(const struct sink *sink)
{
    return BUFFER_BYTES - sink->end;
}

static void append_bytes(struct sink *sink, const void *bytes, size_t len)
{
    memcpy(sink->buffer + sink->end, bytes, len);
    sink->end += len;
    sink->appended += len;
}

bool sink_is_free_for(const struct sink *sink, const struct sink_style *style)
{
    return sink->owner == NULL || sink->owner == style;
}

/* ---- one record, in as many pieces as it takes ---------------------------------------------- */

/* The part of a piece of LEN bytes at FROM in the framed record that is due now. */
static bool append_piece(struct sink *sink, const void *bytes, size_t len, size_t from)
{
    const size_t skip = sink->offset - from;

    if (sink->offset < from || skip >= len)
        return true;
    size_t n = len - skip < room(sink) ? len - skip : room(sink);
    append_bytes(sink, (const uint8_t *)bytes + skip, n);
    sink->offset += n;
    return skip + n == len;
}

/* Tag, tab, length, body, delimiter: those that the style has. Returns whether all is in. */
static bool append_pieces(struct sink *sink, const struct sink_style *style,
                          struct fnet_span record)
{
    const struct fnet_delimiter_config *format = &style->format;
    const size_t tag_len = style->tag ? strlen(style->tag) : 0;
    const uint8_t delimiter = format->format == FNET_FORMAT_NUL ? 0 : format->delimiter;
    uint8_t length[FNET_RECORD_HEADER_BYTES];
    size_t from = 0;

    if (format->format == FNET_FORMAT_U32) {
        fnet_store_be32(length, (uint32_t)(record.len + (style->tag ? tag_len + 1 : 0)));
        if (!append_piece(sink, length, sizeof length, from))
            return false;
        from += sizeof length;
    }
    if (style->tag) {
        if (!append_piece(sink, style->tag, tag_len, from) ||
            !append_piece(sink, "\t", 1, from + tag_len))
            return false;
        from += tag_len + 1;
    }
    if (!append_piece(sink, record.ptr, record.len, from))
        return false;
    from += record.len;
    return (format->format != FNET_FORMAT_LINES && format->format != FNET_FORMAT_NUL) ||
           append_piece(sink, &delimiter, 1, from);
}

static enum fnet_err append_one(struct sink *sink, const struct sink_style *style,
                                struct fnet_span record)
{
    if (style->format.format == FNET_FORMAT_FIXED && record.len != style->format.record_bytes)
        return FNET_RANGE;
    const bool is_resumed = sink->owner != NULL;
    sink->owner = style;
    while (!append_pieces(sink, style, record)) {
        enum fnet_err err = sink_flush(sink);
        if (err != FNET_OK)
            return err;
    }
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

    *fit = style->tag ? 0 : count_fitting(sink, style, records, n, &framed);
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
