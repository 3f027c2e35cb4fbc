/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fnet-consume: subpartitions in, records out.
 *
 * Source: Flink Task with a SingleInputGate.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/backend.h"
#include "cli/telemetry.h"
#include "consume/consume_config.h"
#include "consume/intake.h"
#include "consume/listing.h"
#include "consume/peer.h"
#include "consume/consume_plan.h"
#include "consume/query.h"
#include "consume/reading.h"
#include "consume/sink.h"
#include "fnet/connection.h"

/* How long producers get to hear that we leave before the end. */
#define ABORT_NS UINT64_C(1000000000)
/* What is listed of the channels of a connection that was lost. */
#define CHANNELS_BYTES 2048

struct consume {
    struct consume_config config;
    struct fnet_loop *loop;
    struct fnet_trace *trace;
    struct telemetry *telemetry;
    struct peers *peers;
    struct fnet_network_pool *pool;
    struct query *queries; /* owned: one per operand that has to be asked about */
    size_t query_count;
    size_t unanswered;
    struct listing *listing;
    int *outputs;           /* owned: a descriptor per gate, opened before all else */
    struct sink **sinks;    /* owned array, one per gate; gates with one output share theirs */
    struct intake **intakes;/* owned array, one per gate */
    size_t intakes_ended;
    struct reading *readings; /* owned: all channels of all gates */
    size_t reading_count;
    struct fnet_task begin; /* once all questions are answered */
    struct fnet_timer leave;
    bool is_leaving;
    int status;
};

static size_t gate_count(const struct consume *c)
{
    return c->config.group_count;
}

/* ---- the end ----------------------------------------------------------------------------- */

static void on_leave_over(void *arg)
{
    struct consume *c = arg;

    fnet_loop_quit(c->loop);
}

static void leave(struct consume *c, uint64_t longest_ns)
{
    c->is_leaving = true;
    peers_close(c->peers);
    if (peers_are_gone(c->peers) ||
        fnet_timer_set(c->loop, &c->leave, fnet_loop_now_ns(c->loop) + longest_ns) != FNET_OK)
        fnet_loop_quit(c->loop);
}

/* It cannot be completed; what was to be said has been said. */
static void fail(struct consume *c, int status)
{
    if (c->is_leaving)
        return;
    c->status = status;
    c->is_leaving = true;
    for (size_t i = 0; i < c->reading_count; i++)
        reading_cancel(&c->readings[i]);
    for (size_t g = 0; c->intakes && g < gate_count(c); g++)
        if (c->intakes[g])
            intake_cancel(c->intakes[g]);
    leave(c, ABORT_NS);
}

static void on_emptied(void *arg)
{
    struct consume *c = arg;

    if (c->is_leaving)
        fnet_loop_quit(c->loop);
}

/* A closed pipe (| head) is nobody's mistake: leave as SIGPIPE would have it, without a word. */
static void fail_output(struct consume *c, size_t g)
{
    const struct sink *sink = c->sinks[g];
    const char *name = c->config.groups[g].output;

    if (sink_errno(sink) == EPIPE) {
        fail(c, EXIT_SIGNAL + SIGPIPE);
        return;
    }
    report_error(&c->config.report, name ? name : "standard output", "cannot write", FNET_SYSTEM,
                 sink_errno(sink));
    fail(c, EXIT_LOCAL);
}

static void on_intake_ended(void *arg, struct intake *intake, enum fnet_err err)
{
    struct consume *c = arg;
    size_t g = 0;
    int saved_errno;

    if (c->is_leaving)
        return;
    while (c->intakes[g] != intake)
        g++;
    const char *culprit = intake_culprit(intake, &saved_errno);
    if (err == FNET_RANGE) {
        report_say(&c->config.report, REPORT_ERROR, culprit,
                   "a record does not have the length of the fixed format");
        fail(c, EXIT_MALFORMED);
    } else if (err != FNET_OK && culprit) {
        report_error(&c->config.report, culprit, "reading records", err, saved_errno);
        fail(c, report_exit_code(err));
    } else if (err != FNET_OK) {
        fail_output(c, g);
    } else if (++c->intakes_ended == gate_count(c)) {
        leave(c, FNET_LINGER_NS);
    }
}

static void on_drained(void *arg)
{
    struct consume *c = arg;

    if (c->is_leaving)
        return;
    for (size_t g = 0; g < gate_count(c); g++) {
        if (sink_is_broken(c->sinks[g])) {
            fail_output(c, g);
            return;
        }
        intake_post(c->intakes[g]);
    }
}

static void on_signal(void *arg, int signo)
{
    struct consume *c = arg;

    if (signo == SIGUSR2)
        telemetry_write_stats(c->telemetry);
    else if (c->is_leaving) /* a second one does not wait */
        fnet_loop_quit(c->loop);
    else
        fail(c, EXIT_SIGNAL + signo);
}

/* ---- connections and channels that fail --------------------------------------------------- */

static void on_unreachable(void *arg, struct peer *peer, const char *reason)
{
    struct consume *c = arg;

    if (c->is_leaving)
        return;
    report_say(&c->config.report, REPORT_ERROR, peer_name(peer), "cannot connect: %s", reason);
    fail(c, EXIT_UNREACHABLE);
}

/* "main:0 after 17 records, main:1 after 20 records" */
static void list_open_channels(const struct consume *c, const struct peer *peer, char *text,
                               size_t size)
{
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < c->reading_count && len < size; i++) {
        const struct reading *r = &c->readings[i];
        if (r->peer != peer || fnet_channel_state(reading_channel(r)) != FNET_CHANNEL_OPEN)
            continue;
        len += (size_t)snprintf(text + len, size - len, "%s%s after %" PRIu64 " records",
                                len > 0 ? ", " : "", intake_channel_name(r->intake, r->index),
                                intake_channel_records(r->intake, r->index));
    }
}

static const char *what_ended(enum fnet_err err)
{
    if (err == FNET_LOST)
        return "connection lost";
    if (err == FNET_REMOTE)
        return "the producer failed";
    return "broken protocol";
}

/* What was received is still written out; then it is counted what that was. */
static void on_lost(void *arg, struct peer *peer, enum fnet_err err, const char *reason)
{
    struct consume *c = arg;
    char channels[CHANNELS_BYTES];

    if (c->is_leaving)
        return;
    for (size_t g = 0; c->intakes && g < gate_count(c); g++)
        if (c->intakes[g])
            intake_drain(c->intakes[g]);
    if (c->is_leaving) /* the output failed meanwhile, and that was said */
        return;
    list_open_channels(c, peer, channels, sizeof channels);
    report_say(&c->config.report, REPORT_ERROR, peer_name(peer), "%s: %s%s%s", what_ended(err),
               reason, channels[0] ? "; end of partition not reached: " : "", channels);
    fail(c, report_exit_code(err));
}

static struct reading *reading_of(const struct consume *c, const struct fnet_channel *channel)
{
    for (size_t i = 0; i < c->reading_count; i++)
        if (reading_channel(&c->readings[i]) == channel)
            return &c->readings[i];
    return NULL;
}

static void say_refused(struct consume *c, const struct peer *peer, const char *name,
                        enum fnet_err err, const char *text)
{
    char where[FNET_NAME_MAX_BYTES + 512];

    if (c->is_leaving)
        return;
    snprintf(where, sizeof where, "%s/%s", peer_name(peer), name);
    report_say(&c->config.report, REPORT_ERROR, where, "%s: %s",
               err == FNET_NO_PARTITION ? "no such partition" : "refused by the producer", text);
    fail(c, report_exit_code(err));
}

static void on_channel_error(void *arg, struct fnet_channel *channel, enum fnet_err err,
                             const char *text)
{
    struct consume *c = arg;
    struct reading *r = reading_of(c, channel);

    if (err == FNET_NO_PARTITION && !c->is_leaving) {
        enum fnet_err again = reading_request_again(r);
        if (again == FNET_OK)
            return;
        err = again;
    }
    say_refused(c, r->peer, intake_channel_name(r->intake, r->index), err, text);
}

/* ---- questions --------------------------------------------------------------------------- */

static struct query *query_of(const struct consume *c, const struct fnet_id *id)
{
    for (size_t i = 0; i < c->query_count; i++)
        if (fnet_id_is_equal(&c->queries[i].id, id))
            return &c->queries[i];
    return NULL;
}

static void on_answered(struct consume *c, struct query *q)
{
    q->is_answered = true;
    if (--c->unanswered == 0)
        fnet_loop_post(c->loop, &c->begin);
}

static void on_description(void *arg, const struct fnet_id *request,
                           const struct fnet_description_response *description)
{
    struct consume *c = arg;
    struct query *q = query_of(c, request);

    if (!q || q->is_answered || c->is_leaving)
        return;
    if (c->config.wants_list)
        listing_add(c->listing, q->operand->server, description);
    if (description->remaining > 0)
        return;
    if (!q->is_for_all &&
        (description->subpartitions < 1 || description->subpartitions > FNET_SUBPARTITIONS_MAX)) {
        say_refused(c, q->peer, q->operand->name, FNET_BAD_VALUE,
                    "an impossible number of subpartitions");
        return;
    }
    q->subpartitions = (uint32_t)description->subpartitions;
    on_answered(c, q);
}

static void on_description_error(void *arg, const struct fnet_id *request, enum fnet_err err,
                                 const char *text)
{
    struct consume *c = arg;
    struct query *q = query_of(c, request);

    if (!q || c->is_leaving)
        return;
    if (err == FNET_NO_PARTITION) {
        enum fnet_err again = query_ask_again(q);
        if (again == FNET_OK)
            return;
        err = again;
    }
    say_refused(c, q->peer, q->operand->name, err, text);
}

static struct backoff new_backoff(const struct consume *c)
{
    return (struct backoff){.min_ns = c->config.backoff_min_ns,
                            .max_ns = c->config.backoff_max_ns};
}

static enum fnet_err ask(struct consume *c, const struct consume_operand *operand)
{
    struct query *q = &c->queries[c->query_count];

    q->loop = c->loop;
    q->operand = operand;
    q->is_for_all = c->config.wants_list && !operand->has_name;
    q->backoff = new_backoff(c);
    enum fnet_err err =
        peers_get(c->peers, &operand->endpoint, operand->server, 0, &q->peer);
    if (err != FNET_OK)
        return err;
    c->query_count++;
    c->unanswered++;
    return query_ask(q);
}

static enum fnet_err ask_all(struct consume *c)
{
    size_t operands = 0;
    enum fnet_err err = FNET_OK;

    for (size_t g = 0; g < gate_count(c); g++)
        operands += c->config.groups[g].operand_count;
    c->queries = calloc(operands, sizeof *c->queries);
    if (!c->queries)
        return FNET_NOMEM;
    for (size_t g = 0; g < gate_count(c); g++) {
        const struct consume_group *group = &c->config.groups[g];
        for (size_t i = 0; err == FNET_OK && i < group->operand_count; i++)
            if (c->config.wants_list || !group->operands[i].subpartitions)
                err = ask(c, &group->operands[i]);
    }
    if (c->unanswered == 0)
        fnet_loop_post(c->loop, &c->begin);
    return err;
}

/* ---- gates ------------------------------------------------------------------------------- */

static size_t count_channels(const struct consume *c, const struct consume_operand *operand)
{
    if (operand->subpartitions)
        return operand->subpartition_count;
    for (size_t i = 0; i < c->query_count; i++)
        if (c->queries[i].operand == operand)
            return c->queries[i].subpartitions;
    return 0;
}

static size_t count_gate_channels(const struct consume *c, size_t g)
{
    const struct consume_group *group = &c->config.groups[g];
    size_t n = 0;

    for (size_t i = 0; i < group->operand_count; i++)
        n += count_channels(c, &group->operands[i]);
    return n;
}

static enum fnet_err add_reading(struct consume *c, const struct consume_operand *operand,
                                 size_t i, struct intake *intake, size_t index)
{
    struct reading *r = &c->readings[c->reading_count];

    *r = (struct reading){
        .loop = c->loop,
        .operand = operand,
        .subpartition = operand->subpartitions ? operand->subpartitions[i] : (uint32_t)i,
        .intake = intake,
        .index = index,
        .backoff = new_backoff(c),
    };
    enum fnet_err err = intake_name(intake, index, operand->name, r->subpartition);
    if (err == FNET_OK)
        err = peers_get(c->peers, &operand->endpoint, operand->server,
                        (uint32_t)i % c->config.max_connections, &r->peer);
    if (err == FNET_OK)
        c->reading_count++;
    return err;
}

static enum fnet_err build_gate(struct consume *c, size_t g)
{
    const struct consume_group *group = &c->config.groups[g];
    const struct intake_config config = {
        .loop = c->loop,
        .network = c->pool,
        .sink = c->sinks[g],
        .format = group->format,
        .has_tag = group->has_tag,
        .wants_digest = c->config.wants_digest,
        .limit = group->limit,
        .buffers_per_channel = group->buffers_per_channel,
        .floating_buffers = group->floating_buffers,
        .channels = count_gate_channels(c, g),
        .spill_dir = getenv("TMPDIR"),
        .ended = on_intake_ended,
        .arg = c,
    };
    enum fnet_err err = intake_new(&config, &c->intakes[g]);
    size_t index = 0;

    for (size_t o = 0; o < group->operand_count; o++) {
        size_t n = count_channels(c, &group->operands[o]);
        for (size_t i = 0; err == FNET_OK && i < n; i++)
            err = add_reading(c, &group->operands[o], i, c->intakes[g], index++);
    }
    return err;
}

static enum fnet_err build_gates(struct consume *c)
{
    uint64_t segments = 0;
    size_t channels = 0;

    for (size_t g = 0; g < gate_count(c); g++) {
        const struct consume_group *group = &c->config.groups[g];
        size_t n = count_gate_channels(c, g);
        segments += (uint64_t)n * group->buffers_per_channel + group->floating_buffers;
        channels += n;
    }
    if (segments > UINT32_MAX)
        return FNET_NOMEM;
    c->readings = calloc(channels + 1, sizeof *c->readings);
    if (!c->readings)
        return FNET_NOMEM;

    enum fnet_err err =
        fnet_network_pool_new(c->config.segment_bytes, (uint32_t)segments, &c->pool);
    for (size_t g = 0; err == FNET_OK && g < gate_count(c); g++)
        err = build_gate(c, g);
    for (size_t i = 0; err == FNET_OK && i < c->reading_count; i++)
        err = reading_request(&c->readings[i]);
    for (size_t g = 0; err == FNET_OK && g < gate_count(c); g++)
        err = intake_start(c->intakes[g]);
    return err;
}

static void begin(void *arg)
{
    struct consume *c = arg;

    if (c->is_leaving)
        return;
    if (c->config.wants_list) {
        c->status = listing_print(c->listing, &c->config.report);
        leave(c, FNET_LINGER_NS);
        return;
    }
    enum fnet_err err = build_gates(c);
    if (err != FNET_OK) {
        report_error(&c->config.report, NULL, "cannot build the input gates", err, errno);
        fail(c, EXIT_LOCAL);
    }
}

/* ---- what is told ------------------------------------------------------------------------ */

static void on_totals(void *arg, struct telemetry_totals *out)
{
    const struct consume *c = arg;

    *out = (struct telemetry_totals){.records = 0};
    if (c->pool) {
        out->pool_used = fnet_network_pool_used(c->pool);
        out->pool_size = fnet_network_pool_segments(c->pool);
    }
    for (size_t g = 0; g < gate_count(c); g++) {
        if (!c->intakes[g])
            continue;
        const struct fnet_channel_counts counts = intake_counts(c->intakes[g]);
        out->records += intake_records(c->intakes[g]);
        out->bytes += counts.bytes;
        out->credit += counts.credit;
    }
}

/* Flink's metric names, of the task's input. */
static void on_stats(void *arg, FILE *out)
{
    const struct consume *c = arg;
    struct telemetry_totals totals;
    uint64_t buffers = 0;
    uint32_t queued = 0;

    on_totals(arg, &totals);
    for (size_t g = 0; g < gate_count(c); g++) {
        if (!c->intakes[g])
            continue;
        const struct fnet_channel_counts counts = intake_counts(c->intakes[g]);
        buffers += counts.buffers;
        queued += counts.queued;
    }
    fprintf(out,
            "\"numRecordsIn\":%" PRIu64 ",\"numBytesIn\":%" PRIu64 ",\"numBuffersInRemote\":%" PRIu64
            ",\"inputQueueLength\":%" PRIu32 ",\"credit\":%" PRIu64
            ",\"usedMemorySegments\":%" PRIu32 ",\"totalMemorySegments\":%" PRIu32
            ",\"peakMemorySegments\":%" PRIu32,
            totals.records, totals.bytes, buffers, queued, totals.credit, totals.pool_used,
            totals.pool_size, c->pool ? fnet_network_pool_peak(c->pool) : 0);
}

static void print_digests(const struct consume *c)
{
    for (size_t i = 0; c->config.wants_digest && i < c->reading_count; i++) {
        const struct reading *r = &c->readings[i];
        telemetry_print_digest(r->operand->name, r->subpartition,
                               intake_channel_digest(r->intake, r->index));
    }
}

/* ---- building ---------------------------------------------------------------------------- */

static bool is_stdout(const char *output)
{
    return !output || strcmp(output, "-") == 0;
}

/* Before signals are caught: the opening of a FIFO may wait, and can be interrupted. */
static int open_outputs(struct consume *c)
{
    c->outputs = calloc(gate_count(c), sizeof *c->outputs);
    if (!c->outputs)
        return EXIT_LOCAL;
    for (size_t g = 0; g < gate_count(c); g++) {
        const char *output = c->config.groups[g].output;
        c->outputs[g] = c->config.wants_list || is_stdout(output)
                            ? STDOUT_FILENO
                            : open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (c->outputs[g] < 0) {
            report_error(&c->config.report, output, "cannot open", FNET_SYSTEM, errno);
            return EXIT_LOCAL;
        }
    }
    return EXIT_DONE;
}

/* Gates that write to standard output share one sink, so that records stay whole. */
static enum fnet_err build_sinks(struct consume *c)
{
    c->sinks = calloc(gate_count(c), sizeof(struct sink *));
    c->intakes = calloc(gate_count(c), sizeof(struct intake *));
    if (!c->sinks || !c->intakes)
        return FNET_NOMEM;
    for (size_t g = 0; g < gate_count(c); g++) {
        size_t first = 0;
        while (first < g && c->outputs[first] != c->outputs[g])
            first++;
        if (first < g) {
            c->sinks[g] = c->sinks[first];
            continue;
        }
        const struct sink_config config = {
            .loop = c->loop, .fd = c->outputs[g], .drained = on_drained, .arg = c};
        enum fnet_err err = sink_new(&config, &c->sinks[g]);
        if (err != FNET_OK)
            return err;
    }
    return FNET_OK;
}

static enum fnet_err build_peers(struct consume *c)
{
    const struct peers_config config = {
        .loop = c->loop,
        .report = &c->config.report,
        .trace = c->trace,
        .connect_timeout_ns = c->config.connect_timeout_ns,
        .retries = c->config.retries,
        .idle_timeout_ns = c->config.idle_timeout_ns,
        .is_plaintext = c->config.is_plaintext,
        .listener = {.channel_error = on_channel_error,
                     .description = on_description,
                     .description_error = on_description_error,
                     .arg = c},
        .unreachable = on_unreachable,
        .lost = on_lost,
        .emptied = on_emptied,
        .arg = c,
    };
    return peers_new(&config, &c->peers);
}

static enum fnet_err build(struct consume *c)
{
    const struct telemetry_source source = {.totals = on_totals, .stats = on_stats, .arg = c};
    sigset_t signals;
    enum fnet_err err = backend_loop_new(&c->loop);

    if (err != FNET_OK)
        return err;
    fnet_task_init(&c->begin, begin, c);
    c->leave = (struct fnet_timer){.run = on_leave_over, .arg = c};
    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR2);
    err = fnet_loop_handle_signals(c->loop, &signals, on_signal, c);
    if (err == FNET_OK)
        err = build_sinks(c);
    if (err == FNET_OK && c->config.trace_file)
        err = fnet_trace_open(c->loop, c->config.trace_file, &c->trace);
    if (err == FNET_OK)
        err = telemetry_new(&c->config.telemetry, &c->config.report, c->loop, &source,
                            &c->telemetry);
    if (err == FNET_OK)
        err = build_peers(c);
    if (err == FNET_OK && c->config.wants_list)
        err = listing_new(&c->listing);
    return err;
}

static void clear_progress_line(void *arg)
{
    struct consume *c = arg;

    telemetry_clear_line(c->telemetry);
}

/* Records on the terminal and a progress line on it would tread on each other. */
static void arrange_progress(struct consume *c)
{
    for (size_t g = 0; g < gate_count(c); g++)
        if (c->outputs[g] == STDOUT_FILENO && isatty(STDOUT_FILENO) &&
            c->config.telemetry.progress == TELEMETRY_PROGRESS_AUTO)
            c->config.telemetry.progress = TELEMETRY_PROGRESS_NEVER;
    c->config.report.before_line = clear_progress_line;
    c->config.report.arg = c;
}

static int run(struct consume *c)
{
    int status = plan_check_addresses(&c->config);
    if (status == EXIT_DONE)
        status = open_outputs(c);
    if (status != EXIT_DONE)
        return status;

    arrange_progress(c);
    enum fnet_err err = build(c);
    if (err == FNET_OK)
        err = ask_all(c);
    if (err == FNET_OK)
        err = fnet_loop_run(c->loop);
    if (err != FNET_OK) {
        report_error(&c->config.report, NULL, "cannot start", err, errno);
        return EXIT_LOCAL;
    }
    return c->status;
}

static int close_outputs(struct consume *c, int status)
{
    int failed = EXIT_DONE;

    for (size_t g = 0; c->sinks && g < gate_count(c); g++) {
        size_t first = 0;
        while (first < g && c->outputs[first] != c->outputs[g])
            first++;
        if (first == g && sink_close(c->sinks[g]) != FNET_OK) {
            report_error(&c->config.report, c->config.groups[g].output, "cannot write", FNET_SYSTEM,
                         errno);
            failed = EXIT_LOCAL;
        }
    }
    struct telemetry *telemetry = c->telemetry;

    c->telemetry = NULL; /* there is no line to clear any more */
    if (telemetry_finish(telemetry) != FNET_OK) {
        report_error(&c->config.report, c->config.telemetry.stats_file, "cannot write", FNET_SYSTEM,
                     errno);
        failed = EXIT_LOCAL;
    }
    if (fnet_trace_close(c->trace) != FNET_OK) {
        report_error(&c->config.report, c->config.trace_file, "cannot write", FNET_SYSTEM, errno);
        failed = EXIT_LOCAL;
    }
    return status == EXIT_DONE ? failed : status;
}

static void clear(struct consume *c)
{
    for (size_t i = 0; i < c->query_count; i++)
        query_cancel(&c->queries[i]);
    for (size_t i = 0; i < c->reading_count; i++)
        reading_cancel(&c->readings[i]);
    peers_free(c->peers);
    for (size_t g = 0; c->intakes && g < gate_count(c); g++)
        intake_free(c->intakes[g]);
    listing_free(c->listing);
    fnet_network_pool_free(c->pool);
    fnet_loop_free(c->loop);
    free(c->queries);
    free(c->readings);
    free(c->intakes);
    free(c->sinks);
    free(c->outputs);
    consume_config_clear(&c->config);
}

int main(int argc, char *argv[])
{
    struct consume c = {.status = EXIT_DONE};
    enum options_result result = consume_config_parse(&c.config, argc, argv);

    if (result != OPTIONS_RUN) {
        consume_config_clear(&c.config);
        return options_exit(&consume_options, result);
    }
    signal(SIGPIPE, SIG_IGN);
    int status = c.config.is_dry_run ? plan_print(&c.config) : run(&c);
    if (status == EXIT_DONE)
        print_digests(&c);
    status = close_outputs(&c, status);
    clear(&c);
    return status;
}
