/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One gate on its way into one sink: read batches, append them, acknowledge what is written out.
 *
 * Source: Flink StreamTask.processInput, its end by EndOfData and AckAllUserRecordsProcessed.
 */
#include "consume/intake.h"

#include <stdlib.h>
#include <string.h>

/* Batches of one turn of the loop. */
#define BATCHES_PER_TURN 64

/* Of a lane whose EndOfData did not come yet. */
#define NO_END UINT64_MAX

/* What the intake knows of every channel, by its index in the gate. There are thousands. */
struct lane {
    uint64_t records;
    uint64_t end_at;      /* bytes appended when EndOfData came, or NO_END */
    struct fnet_link due; /* in the list of those to acknowledge */
};

struct intake {
    struct intake_config config;
    struct fnet_local_pool *pool;
    struct fnet_gate *gate;
    struct fnet_record_reader *reader;
    struct lane *lanes;          /* owned */
    char **tags;                 /* owned, one for each lane; NULL: none are wanted */
    struct fnet_digest *digests; /* owned, the same */
    struct sink_style style;     /* of the lane whose turn it is */
    struct fnet_task work;
    struct fnet_list due; /* lanes whose end is appended and not yet written out, in order */
    struct fnet_record_batch batch; /* under way: records from AT on */
    size_t at;
    uint64_t records;
    struct fnet_span *texts; /* owned: of the batch; NULL if serde is raw */
    struct fnet_transcoder transcoder;
    enum fnet_err element_err; /* why the element behind the batch is none */
    uint64_t skipped;
    bool is_started;
    bool is_ended;
    bool is_cancelled;
    struct fnet_channel *culprit;
    int saved_errno;
};

static struct lane *lane_of(const struct intake *in, const struct fnet_channel *channel)
{
    return &in->lanes[fnet_channel_index(channel)];
}

/* ---- the end ----------------------------------------------------------------------------- */

static void end(struct intake *in, enum fnet_err err)
{
    if (in->is_ended)
        return;
    in->is_ended = true;
    in->config.ended(in->config.arg, in, err);
}

/* What is written out is done: its producer may count on it. */
static void acknowledge(struct intake *in)
{
    while (!fnet_list_is_empty(&in->due)) {
        struct lane *lane = fnet_entry(in->due.head.next, struct lane, due);
        if (sink_written(in->config.sink) < lane->end_at)
            return;
        fnet_link_unlink(&lane->due);
        fnet_channel_acknowledge(intake_channel(in, (size_t)(lane - in->lanes)));
    }
}

/* ---- work -------------------------------------------------------------------------------- */

static void take_event(struct intake *in)
{
    struct lane *lane = lane_of(in, in->batch.channel);

    if (in->batch.event != FNET_END_OF_DATA || lane->end_at != NO_END)
        return;
    lane->end_at = sink_appended(in->config.sink);
    fnet_list_push(&in->due, &lane->due);
}

static uint64_t records_wanted(const struct intake *in)
{
    return in->config.limit - in->records;
}

static enum fnet_err append_batch(struct intake *in)
{
    const size_t i = fnet_channel_index(in->batch.channel);
    const struct fnet_span *records = in->batch.records + in->at;
    size_t n = in->batch.count - in->at;
    size_t done = 0;

    if (n > records_wanted(in))
        n = (size_t)records_wanted(in);
    in->style.tag = in->tags ? in->tags[i] : NULL;
    enum fnet_err err = sink_append(in->config.sink, &in->style, records, n, &done);
    if (in->digests)
        fnet_digest_add(&in->digests[i], records, done);
    in->at += done;
    in->lanes[i].records += done;
    in->records += done;
    if (err == FNET_RANGE)
        in->culprit = in->batch.channel;
    return err;
}

/* Most records need not be looked at one by one: whole buffers of them become output. */
static enum fnet_err frame_batch(struct intake *in, struct fnet_writer *w)
{
    const uint64_t wanted = records_wanted(in);
    const size_t max = wanted < SIZE_MAX ? (size_t)wanted : SIZE_MAX;
    enum fnet_err err =
        fnet_record_reader_frame(in->reader, &in->config.format, max, w, &in->batch);

    if (err != FNET_OK || in->batch.records || in->batch.count == 0)
        return err;
    sink_commit(in->config.sink, w);
    in->at = in->batch.count;
    lane_of(in, in->batch.channel)->records += in->batch.count;
    in->records += in->batch.count;
    return FNET_OK;
}

/* Elements become texts; what comes before a bad one is output first. */
static void decode_batch(struct intake *in)
{
    size_t count;
    size_t done;

    in->element_err = fnet_transcoder_decode(&in->transcoder, in->batch.records, in->batch.count,
                                             in->texts, &count, &done);
    in->batch.records = in->texts;
    in->batch.count = count;
    in->skipped += done - count;
}

/* All before the bad element was appended; once that is written out, say so. */
static enum fnet_err fail_element(struct intake *in)
{
    enum fnet_err err = sink_flush(in->config.sink);

    if (err != FNET_OK)
        return err;
    in->culprit = in->batch.channel;
    in->saved_errno = in->transcoder.scratch.saved_errno;
    return in->element_err;
}

static enum fnet_err next_batch(struct intake *in)
{
    struct fnet_writer w;
    enum fnet_err err = FNET_STATE;

    if (in->element_err != FNET_OK)
        return fail_element(in);
    in->at = 0;
    in->batch.count = 0;
    if (!in->tags && !in->digests && !in->texts)
        err = sink_begin(in->config.sink, &w);
    if (err == FNET_OK)
        err = frame_batch(in, &w);
    else if (err == FNET_STATE)
        err = fnet_record_reader_next(in->reader, &in->batch);
    else
        return err;
    if (err != FNET_OK && err != FNET_AGAIN && err != FNET_EOF)
        in->culprit = fnet_record_reader_where(in->reader, &in->saved_errno);
    if (err == FNET_OK && in->texts && in->batch.count > 0)
        decode_batch(in);
    return err;
}

/* Until nothing is left (FNET_EOF), nothing is there, or the sink is full (FNET_AGAIN). */
static enum fnet_err move_batches(struct intake *in, size_t batches)
{
    while (batches > 0) {
        enum fnet_err err;
        if (in->records >= in->config.limit)
            intake_cancel(in);
        if (in->is_cancelled)
            return FNET_EOF;
        if (in->at >= in->batch.count) {
            err = next_batch(in);
            if (err != FNET_OK)
                return err;
            if (in->batch.count == 0)
                take_event(in);
        }
        if (in->at < in->batch.count) {
            if (!sink_is_free_for(in->config.sink, &in->style))
                return FNET_AGAIN;
            err = append_batch(in);
            if (err != FNET_OK)
                return err;
            batches--; /* events cost nothing */
        }
    }
    fnet_loop_post(in->config.loop, &in->work);
    return FNET_OK;
}

static void run(struct intake *in, size_t batches)
{
    if (in->is_ended || !in->is_started)
        return;

    enum fnet_err err = move_batches(in, batches);
    if (err == FNET_OK || err == FNET_AGAIN || err == FNET_EOF) {
        /* Nothing more for now: the reader of our output shall have what there is. */
        enum fnet_err flush_err = err == FNET_OK ? FNET_OK : sink_flush(in->config.sink);
        if (flush_err != FNET_OK)
            err = flush_err;
        acknowledge(in);
    }
    if (err == FNET_EOF) {
        end(in, FNET_OK);
    } else if (err != FNET_OK && err != FNET_AGAIN) {
        /* What came before it shall be written, if the output takes it at once. */
        enum fnet_err flush_err = sink_flush(in->config.sink);
        (void)flush_err;
        end(in, err);
    }
}

static void work(void *arg)
{
    run(arg, BATCHES_PER_TURN);
}

void intake_drain(struct intake *in)
{
    run(in, SIZE_MAX);
}

void intake_post(struct intake *in)
{
    if (!in->is_ended && in->is_started)
        fnet_loop_post(in->config.loop, &in->work);
}

static void on_bell(void *arg)
{
    intake_post(arg);
}

void intake_cancel(struct intake *in)
{
    in->is_cancelled = true;
    for (size_t i = 0; i < in->config.channels; i++)
        fnet_channel_cancel(intake_channel(in, i));
}

/* ---- life -------------------------------------------------------------------------------- */

static enum fnet_err build(struct intake *in)
{
    const struct intake_config *config = &in->config;
    const uint32_t segments =
        (uint32_t)config->channels * config->buffers_per_channel + config->floating_buffers;
    enum fnet_err err = fnet_local_pool_new(config->network, segments, segments, &in->pool);
    if (err != FNET_OK)
        return err;

    const struct fnet_gate_config gate = {
        .channels = config->channels,
        .buffers_per_channel = config->buffers_per_channel,
        .floating_buffers = config->floating_buffers,
        .pool = in->pool,
        .dialect = config->dialect,
        .codec = config->codec,
        .ready = {.ring = on_bell, .arg = in},
    };
    return fnet_gate_new(&gate, &in->gate);
}

static bool make_lanes(struct intake *in)
{
    const struct intake_config *config = &in->config;
    const size_t n = config->channels + 1; /* never 0 bytes */

    in->lanes = calloc(n, sizeof *in->lanes);
    if (config->has_tag)
        in->tags = calloc(n, sizeof(char *));
    if (config->wants_digest)
        in->digests = calloc(n, sizeof *in->digests);
    for (size_t i = 0; in->lanes && i < n; i++)
        in->lanes[i].end_at = NO_END;
    return in->lanes && (in->tags || !config->has_tag) && (in->digests || !config->wants_digest);
}

enum fnet_err intake_new(const struct intake_config *config, struct intake **out)
{
    struct intake *in = calloc(1, sizeof *in);
    if (!in)
        return FNET_NOMEM;

    in->config = *config;
    fnet_list_init(&in->due);
    fnet_task_init(&in->work, work, in);
    fnet_transcoder_init(&in->transcoder, &config->serde, config->spill_dir);
    if (!fnet_serde_is_raw(&config->serde))
        in->texts = calloc(FNET_RECORD_BATCH_MAX, sizeof *in->texts);
    in->style.format = config->format;
    const bool has_memory = make_lanes(in) && (in->texts || fnet_serde_is_raw(&config->serde));
    enum fnet_err err = has_memory ? build(in) : FNET_NOMEM;
    if (err != FNET_OK) {
        intake_free(in);
        return err;
    }
    *out = in;
    return FNET_OK;
}

void intake_free(struct intake *in)
{
    if (!in)
        return;
    in->is_ended = true; /* bells that ring from here on are not heard */
    fnet_task_cancel(&in->work);
    fnet_record_reader_free(in->reader);
    fnet_gate_free(in->gate);
    if (in->pool)
        fnet_local_pool_free(in->pool);
    for (size_t i = 0; in->tags && i < in->config.channels; i++)
        free(in->tags[i]);
    free(in->tags);
    free(in->digests);
    free(in->lanes);
    free(in->texts);
    fnet_transcoder_clear(&in->transcoder);
    free(in);
}

enum fnet_err intake_tag(struct intake *in, size_t i, const char *tag)
{
    if (!in->tags)
        return FNET_OK;
    in->tags[i] = strdup(tag);
    return in->tags[i] ? FNET_OK : FNET_NOMEM;
}

enum fnet_err intake_start(struct intake *in)
{
    enum fnet_err err = fnet_record_reader_new(in->gate, in->config.spill_dir, &in->reader);

    if (err != FNET_OK)
        return err;
    in->is_started = true;
    intake_post(in);
    return FNET_OK;
}

struct fnet_channel *intake_channel(const struct intake *in, size_t i)
{
    return fnet_gate_channel(in->gate, i);
}

uint64_t intake_channel_records(const struct intake *in, size_t i)
{
    return in->lanes[i].records;
}

const struct fnet_digest *intake_channel_digest(const struct intake *in, size_t i)
{
    return &in->digests[i];
}

const struct fnet_channel *intake_culprit(const struct intake *in, int *saved_errno)
{
    *saved_errno = in->saved_errno;
    return in->culprit;
}

bool intake_is_element_bad(const struct intake *in, uint64_t *after)
{
    if (!in->culprit || in->element_err == FNET_OK)
        return false;
    *after = lane_of(in, in->culprit)->records;
    return true;
}

uint64_t intake_records(const struct intake *in)
{
    return in->records;
}

uint64_t intake_skipped(const struct intake *in)
{
    return in->skipped;
}

struct fnet_channel_counts intake_counts(const struct intake *in)
{
    struct fnet_channel_counts sum = {.buffers = 0};

    for (size_t i = 0; i < in->config.channels; i++) {
        const struct fnet_channel_counts counts = fnet_channel_counts(intake_channel(in, i));
        sum.buffers += counts.buffers;
        sum.bytes += counts.bytes;
        sum.events += counts.events;
        sum.queued += counts.queued;
        sum.credit += counts.credit;
        sum.backlog += counts.backlog;
    }
    return sum;
}
