/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One input on its way into one result partition: read, cut into records, choose subpartitions,
 * write; when there is no buffer, wait, and do not read.
 *
 * Source: Flink RecordWriter and its OutputFlusher.
 */
#include "produce/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/report.h"
#include "cli/serde.h"

/* One read; also what a turn of the loop is worth. */
#define READ_BYTES (256u << 10)
/* Records of a batch: so few that their spans stay in the first-level cache. */
#define BATCH_RECORDS 512
/* Many subpartitions have buffers that are not in any cache: each shall get several records of a
   batch, or lines of 100 bytes, at once; for too many of them that would cost too much memory. */
#define READ_BYTES_PER_SUBPARTITION 1024
#define READ_BYTES_MAX (1024u << 10)
#define BATCH_RECORDS_PER_SUBPARTITION 10
#define BATCH_RECORDS_MAX 10240
/* Where input begins in memory: half a page off the segments, which begin at pages. To copy long
   records between places that are nearly alike modulo 4 KiB takes several times as long. */
#define INPUT_BEGIN 2048

struct source {
    struct source_config config;
    struct fnet_input *input;
    struct fnet_task work;
    struct fnet_timer flusher;
    struct fnet_spill_buffer bytes; /* read and not yet written, from START */
    size_t start;
    bool is_end_read; /* the input has no more */
    bool is_paused;   /* ... has no more for now, and a chunk is shorter than it could be */
    bool is_ended;
    struct fnet_delimiter delimiter;
    struct fnet_selector selector;
    struct fnet_record_writer writer;
    size_t batch;     /* records found */
    size_t selected;  /* ... and with a target */
    size_t written;   /* ... and in the partition */
    size_t batch_len; /* input bytes of the batch */
    size_t batch_max; /* records of a batch */
    size_t read_bytes;
    uint64_t records_done;
    uint64_t bytes_done;
    struct fnet_digest *digests;                 /* owned, one per subpartition */
    struct fnet_span records[BATCH_RECORDS_MAX]; /* of the input, or made of it once selected */
    struct fnet_span within;                     /* where those that go out lie */
    struct fnet_transcoder transcoder;           /* unless serde is raw */
    struct fnet_targets targets;                 /* of all of them */
    uint32_t each[BATCH_RECORDS_MAX];
};

static void end(struct source *s, enum fnet_err err, const char *what, int saved_errno)
{
    s->is_ended = true;
    fnet_timer_cancel(s->config.loop, &s->flusher);
    s->config.ended(s->config.arg, s, err, what, saved_errno);
}

static void on_flush(void *arg)
{
    struct source *s = arg;

    fnet_partition_flush(s->config.partition);
}

/* The output flusher: a flush at the latest so long after something was written. */
static enum fnet_err arrange_flush(struct source *s)
{
    if (s->config.timeout_ns == SOURCE_TIMEOUT_NONE ||
        !fnet_partition_wants_flush(s->config.partition))
        return FNET_OK;
    if (s->config.timeout_ns == 0) {
        fnet_partition_flush(s->config.partition);
        return FNET_OK;
    }
    if (fnet_timer_is_set(&s->flusher))
        return FNET_OK;
    return fnet_timer_set(s->config.loop, &s->flusher,
                          fnet_loop_now_ns(s->config.loop) + s->config.timeout_ns);
}

/* ---- in ---------------------------------------------------------------------------------- */

static enum fnet_err begin_input(struct source *s)
{
    fnet_spill_buffer_reset(&s->bytes); /* gives back what a long record has taken */
    enum fnet_err err = fnet_spill_buffer_reserve(&s->bytes, INPUT_BEGIN + s->read_bytes);
    if (err == FNET_OK) {
        s->start = INPUT_BEGIN;
        s->bytes.len = INPUT_BEGIN;
    }
    return err;
}

/* What is left of the last read goes to the front, so that the bytes stay in one piece. */
static enum fnet_err make_room(struct source *s)
{
    const size_t left = s->bytes.len - s->start;

    if (left == 0 && (s->bytes.capacity == 0 || s->bytes.capacity > 3 * s->read_bytes))
        return begin_input(s);
    if (s->start > INPUT_BEGIN) {
        memmove(s->bytes.ptr + INPUT_BEGIN, s->bytes.ptr + s->start, left);
        s->start = INPUT_BEGIN;
        s->bytes.len = INPUT_BEGIN + left;
    }
    return fnet_spill_buffer_reserve(&s->bytes, s->read_bytes);
}

static enum fnet_err read_more(struct source *s)
{
    enum fnet_err err = make_room(s);
    if (err != FNET_OK) {
        char what[REPORT_PLACE_BYTES] = "assembling a record";
        if (err == FNET_SYSTEM)
            report_spill_file(what, s->config.spill_dir);
        end(s, err, what, s->bytes.saved_errno);
        return err;
    }

    size_t n = 0;
    err = fnet_input_read(s->input, s->bytes.ptr + s->bytes.len, s->read_bytes, &n);
    s->is_paused = err == FNET_AGAIN && s->bytes.len > s->start &&
                   s->config.format.format == FNET_FORMAT_BYTES;
    if (s->is_paused)
        return FNET_OK;
    if (err == FNET_OK)
        s->bytes.len += n;
    else if (err == FNET_EOF)
        s->is_end_read = true;
    else if (err != FNET_AGAIN)
        end(s, err, "reading the input", errno);
    return err == FNET_EOF ? FNET_OK : err;
}

static enum fnet_err find_batch(struct source *s)
{
    struct fnet_span rest = fnet_span_of(s->bytes.ptr + s->start, s->bytes.len - s->start);

    s->batch = 0;
    s->selected = 0;
    s->written = 0;
    const bool is_end = s->is_end_read || s->is_paused;
    s->is_paused = false;
    return fnet_delimiter_find(&s->delimiter, rest, is_end, s->records, s->batch_max, &s->batch,
                               &s->batch_len);
}

/* ---- out --------------------------------------------------------------------------------- */

static void digest(struct source *s)
{
    uint32_t n = fnet_partition_subpartitions(s->config.partition);

    if (s->targets.kind == FNET_TARGETS_ALL) {
        for (uint32_t i = 0; i < n; i++)
            fnet_digest_add(&s->digests[i], s->records, s->batch);
        return;
    }
    for (size_t i = 0; i < s->batch; i++)
        fnet_digest_add(&s->digests[fnet_targets_at(&s->targets, i)], &s->records[i], 1);
}

static enum fnet_err select_targets(struct source *s)
{
    enum fnet_err err = fnet_selector_select(&s->selector, s->records, s->batch, s->each,
                                             &s->targets, &s->selected);
    if (err == FNET_OK) {
        if (s->digests)
            digest(s);
        return FNET_OK;
    }
    char what[96];
    snprintf(what, sizeof what, "record %" PRIu64 ": its key names no subpartition",
             s->records_done + s->selected + 1);
    end(s, err, what, 0);
    return err;
}

/* The records that were text become elements. */
static enum fnet_err encode(struct source *s)
{
    struct fnet_value_fault fault;
    size_t done = 0;
    enum fnet_err err =
        fnet_transcoder_encode(&s->transcoder, s->records, s->batch, s->records, &done, &fault);

    s->within = fnet_span_of(s->transcoder.scratch.ptr, s->transcoder.scratch.len);
    if (err == FNET_OK)
        return FNET_OK;
    char why[SERDE_FAULT_BYTES] = "encoding it";
    char what[SERDE_FAULT_BYTES + 32];
    if (err == FNET_BAD_VALUE)
        serde_explain(&s->config.serde, &fault, why);
    snprintf(what, sizeof what, "record %" PRIu64 ": %s", s->records_done + done + 1, why);
    end(s, err, what, s->transcoder.scratch.saved_errno);
    return err;
}

/* A batch that was found is on its way. */
static enum fnet_err prepare(struct source *s)
{
    enum fnet_err err = select_targets(s);

    s->within = fnet_span_of(s->bytes.ptr + s->start, s->batch_len);
    if (err == FNET_OK && !fnet_serde_is_raw(&s->config.serde))
        err = encode(s);
    return err;
}

static enum fnet_err write_batch(struct source *s)
{
    enum fnet_err err = s->selected < s->batch ? prepare(s) : FNET_OK;
    if (err != FNET_OK)
        return err;

    const struct fnet_records records = {
        .spans = s->records + s->written,
        .count = s->batch - s->written,
        .within = s->within,
    };
    const struct fnet_targets targets = fnet_targets_behind(&s->targets, s->written);
    size_t done = 0;
    err = fnet_record_writer_emit(&s->writer, &records, &targets, &done);
    s->written += done;
    if (err == FNET_OK) {
        s->records_done += s->batch;
        s->bytes_done += s->batch_len;
        s->start += s->batch_len;
        s->batch = 0;
    }
    enum fnet_err flush_err = arrange_flush(s);
    if (err == FNET_OK)
        err = flush_err;
    if (err != FNET_OK && err != FNET_AGAIN)
        end(s, err, "writing into the partition", 0);
    return err;
}

static void finish(struct source *s)
{
    enum fnet_err err = fnet_partition_finish(s->config.partition);

    end(s, err, "ending the partition", 0);
}

static void work(void *arg)
{
    struct source *s = arg;
    bool has_read = false;

    while (!s->is_ended) {
        if (s->batch == 0) {
            enum fnet_err err = find_batch(s);
            if (err == FNET_EOF) {
                finish(s);
                return;
            }
            if (err != FNET_OK && err != FNET_AGAIN) {
                end(s, err, "the input", 0);
                return;
            }
            if (err == FNET_AGAIN && has_read) { /* a turn is one read: others want theirs */
                fnet_loop_post(s->config.loop, &s->work);
                return;
            }
            if (err == FNET_AGAIN) {
                if (read_more(s) != FNET_OK)
                    return;
                has_read = true;
                continue;
            }
        }
        if (write_batch(s) != FNET_OK)
            return;
    }
}

/* ---- life -------------------------------------------------------------------------------- */

static void post(void *arg)
{
    struct source *s = arg;

    if (!s->is_ended)
        fnet_loop_post(s->config.loop, &s->work);
}

static size_t scaled(size_t least, size_t wanted, size_t most)
{
    return wanted < least || wanted > most ? least : wanted;
}

enum fnet_err source_new(const struct source_config *config, struct source **out)
{
    struct source *s = calloc(1, sizeof *s);
    if (!s)
        return FNET_NOMEM;

    const size_t subpartitions = fnet_partition_subpartitions(config->partition);
    s->config = *config;
    s->batch_max =
        scaled(BATCH_RECORDS, subpartitions * BATCH_RECORDS_PER_SUBPARTITION, BATCH_RECORDS_MAX);
    s->read_bytes = scaled(READ_BYTES, subpartitions * READ_BYTES_PER_SUBPARTITION, READ_BYTES_MAX);
    s->bytes.dir = config->spill_dir;
    s->writer.partition = config->partition;
    s->flusher = (struct fnet_timer){.run = on_flush, .arg = s};
    fnet_task_init(&s->work, work, s);
    fnet_delimiter_init(&s->delimiter, &config->format);
    fnet_transcoder_init(&s->transcoder, &config->serde, config->spill_dir);

    enum fnet_err err = fnet_selector_init(&s->selector, &config->selector);
    if (err == FNET_OK && config->wants_digest) {
        s->digests = calloc(fnet_partition_subpartitions(config->partition), sizeof *s->digests);
        err = s->digests ? FNET_OK : FNET_NOMEM;
    }
    if (err == FNET_OK)
        err = fnet_input_open(config->loop, config->fd, &s->work, &s->input);
    if (err != FNET_OK) {
        free(s->digests);
        free(s);
        return err;
    }
    fnet_local_pool_set_bell(config->pool, (struct fnet_bell){.ring = post, .arg = s});
    post(s);
    *out = s;
    return FNET_OK;
}

void source_stop(struct source *s)
{
    s->is_ended = true;
    fnet_local_pool_set_bell(s->config.pool, (struct fnet_bell){.ring = NULL});
    fnet_task_cancel(&s->work);
    fnet_timer_cancel(s->config.loop, &s->flusher);
}

void source_free(struct source *s)
{
    if (!s)
        return;
    source_stop(s);
    fnet_input_close(s->input);
    if (s->config.fd != STDIN_FILENO)
        close(s->config.fd);
    fnet_spill_buffer_clear(&s->bytes);
    fnet_transcoder_clear(&s->transcoder);
    free(s->digests);
    free(s);
}

struct fnet_partition *source_partition(const struct source *s)
{
    return s->config.partition;
}

uint64_t source_records(const struct source *s)
{
    return s->records_done;
}

uint64_t source_bytes(const struct source *s)
{
    return s->bytes_done;
}

const struct fnet_digest *source_digests(const struct source *s)
{
    return s->digests;
}
