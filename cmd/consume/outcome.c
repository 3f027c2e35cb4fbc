/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How it ends: well, by a failure, by a signal; what is said of it, and the exit status.
 */
#include "consume/consume.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* How long producers get to hear that we leave before the end. */
#define ABORT_NS UINT64_C(1000000000)
/* So many channels of a connection that was lost are listed: what a line can hold, for the names of
   Flink's partitions are long. */
#define CHANNELS_LISTED 8
#define CHANNELS_BYTES (CHANNELS_LISTED * (READING_NAME_BYTES + 40))

void consume_on_leave_over(void *arg)
{
    struct consume *c = arg;

    fnet_loop_quit(c->process.loop);
}

void consume_leave(struct consume *c, uint64_t longest_ns)
{
    c->is_leaving = true;
    peers_close(c->peers);
    if (peers_are_gone(c->peers) ||
        fnet_timer_set(c->process.loop, &c->leave,
                       fnet_loop_now_ns(c->process.loop) + longest_ns) != FNET_OK)
        fnet_loop_quit(c->process.loop);
}

/* It cannot be completed; what was to be said has been said. */
void consume_fail(struct consume *c, int status)
{
    if (c->is_leaving)
        return;
    c->status = status;
    c->is_leaving = true;
    fnet_timer_cancel(c->process.loop, &c->late);
    for (size_t i = 0; i < c->reading_count; i++)
        reading_cancel(&c->readings[i]);
    for (size_t g = 0; c->intakes && g < consume_gates(c); g++)
        if (c->intakes[g])
            intake_cancel(c->intakes[g]);
    consume_leave(c, ABORT_NS);
}

void consume_on_emptied(void *arg)
{
    struct consume *c = arg;

    if (c->is_leaving)
        fnet_loop_quit(c->process.loop);
}

static struct reading *reading_of(const struct consume *c, const struct fnet_channel *channel)
{
    const size_t index = fnet_channel_index(channel);

    for (size_t i = 0; i < c->reading_count; i++)
        if (c->readings[i].index == index && reading_channel(&c->readings[i]) == channel)
            return &c->readings[i];
    return NULL;
}

/* A closed pipe (| head) is nobody's mistake: leave as SIGPIPE would have it, without a word. */
static void fail_output(struct consume *c, size_t g)
{
    const struct sink *sink = c->sinks[g];
    const char *name = c->config.groups[g].output;

    if (sink_errno(sink) == EPIPE) {
        consume_fail(c, EXIT_SIGNAL + SIGPIPE);
        return;
    }
    report_error(&c->config.process.report, name ? name : "standard output", "cannot write",
                 FNET_SYSTEM, sink_errno(sink));
    consume_fail(c, EXIT_LOCAL);
}

/* What failed when a compressed buffer could not be read, and which option may be to blame. */
static const char *what_of_block(enum fnet_err err)
{
    if (err == FNET_BAD_VALUE)
        return "decompressing a buffer (see --codec)";
    return err == FNET_BAD_LENGTH ? "decompressing a buffer (see --segment-size)"
                                  : "decompressing a buffer";
}

/* What INTAKE was about when ERR ended it, with what came over CULPRIT, which may be NULL. */
static void say_where(char what[static REPORT_PLACE_BYTES], const struct intake *intake,
                      const struct fnet_channel *culprit, enum fnet_err err)
{
    uint64_t after;

    if (err == FNET_SYSTEM)
        report_spill_file(what, getenv("TMPDIR"));
    else if (intake_is_element_bad(intake, &after))
        snprintf(what, REPORT_PLACE_BYTES,
                 "what follows %" PRIu64 " records is no element of --serde", after);
    else if (culprit && fnet_gate_culprit(fnet_channel_gate(culprit)) == culprit)
        snprintf(what, REPORT_PLACE_BYTES, "%s", what_of_block(err));
    else
        snprintf(what, REPORT_PLACE_BYTES, "reading records");
}

void consume_on_intake_ended(void *arg, struct intake *intake, enum fnet_err err)
{
    struct consume *c = arg;
    char name[READING_NAME_BYTES];
    size_t g = 0;
    char what[REPORT_PLACE_BYTES];
    int saved_errno;

    if (c->is_leaving)
        return;
    while (c->intakes[g] != intake)
        g++;
    const struct fnet_channel *culprit = intake_culprit(intake, &saved_errno);
    say_where(what, intake, culprit, err);
    if (culprit)
        reading_name(reading_of(c, culprit), name);
    if (err == FNET_RANGE) {
        report_say(&c->config.process.report, REPORT_ERROR, culprit ? name : NULL,
                   "a record does not have the length of the fixed format");
        consume_fail(c, EXIT_MALFORMED);
    } else if (err != FNET_OK && culprit) {
        report_error(&c->config.process.report, name, what, err, saved_errno);
        consume_fail(c, report_exit_code(err));
    } else if (err != FNET_OK) {
        fail_output(c, g);
    } else if (++c->intakes_ended == consume_gates(c) && !c->loss.peer) {
        consume_leave(c, FNET_LINGER_NS);
    }
}

/* Output that was framed and counted, and not yet written. */
static uint64_t count_unwritten(const struct consume *c)
{
    uint64_t bytes = 0;

    for (size_t g = 0; c->sinks && g < consume_gates(c); g++)
        bytes += sink_appended(c->sinks[g]) - sink_written(c->sinks[g]);
    return bytes;
}

void consume_on_drained(void *arg)
{
    struct consume *c = arg;

    if (c->is_leaving)
        return;
    for (size_t g = 0; g < consume_gates(c); g++) {
        if (sink_is_broken(c->sinks[g])) {
            fail_output(c, g);
            return;
        }
        if (c->intakes[g] && c->loss.peer)
            intake_drain(c->intakes[g]);
        else if (c->intakes[g])
            intake_post(c->intakes[g]);
    }
    if (c->loss.peer && count_unwritten(c) == 0)
        fnet_loop_post(c->process.loop, &c->conclude);
}

void consume_on_signal(void *arg, int signo)
{
    struct consume *c = arg;

    if (signo == SIGUSR2)
        telemetry_write_stats(c->process.telemetry);
    else if (c->is_leaving) /* a second one does not wait */
        fnet_loop_quit(c->process.loop);
    else
        consume_fail(c, EXIT_SIGNAL + signo);
}

/* ---- connections and channels that fail --------------------------------------------------- */

void consume_on_unreachable(void *arg, struct peer *peer, const char *reason)
{
    struct consume *c = arg;

    if (c->is_leaving)
        return;
    report_say(&c->config.process.report, REPORT_ERROR, peer_name(peer), "cannot connect: %s",
               reason);
    consume_fail(c, EXIT_UNREACHABLE);
}

/* "main:0 after 17 records, main:1 after 20 records" */
static void list_failed_channels(const struct consume *c, char *text, size_t size)
{
    size_t len = 0;
    size_t count = 0;

    text[0] = '\0';
    for (size_t i = 0; i < c->reading_count; i++) {
        const struct reading *r = &c->readings[i];
        if (r->peer != c->loss.peer ||
            fnet_channel_state(reading_channel(r)) != FNET_CHANNEL_FAILED)
            continue;
        if (++count > CHANNELS_LISTED)
            continue;
        char name[READING_NAME_BYTES];
        reading_name(r, name);
        len += (size_t)snprintf(text + len, size - len, "%s%s after %" PRIu64 " records",
                                len > 0 ? ", " : "", name,
                                intake_channel_records(r->intake, r->index));
    }
    if (count > CHANNELS_LISTED)
        snprintf(text + len, size - len, ", and %zu more", count - CHANNELS_LISTED);
}

static const char *what_ended(enum fnet_err err)
{
    if (err == FNET_LOST)
        return "connection lost";
    if (err == FNET_REMOTE)
        return "the producer failed";
    return "broken protocol";
}

void consume_on_conclude(void *arg)
{
    struct consume *c = arg;
    const uint64_t unwritten = count_unwritten(c);
    char channels[CHANNELS_BYTES];
    char rest[64] = "";

    if (c->is_leaving)
        return;
    list_failed_channels(c, channels, sizeof channels);
    if (unwritten > 0)
        snprintf(rest, sizeof rest, ", the last %" PRIu64 " bytes not written", unwritten);
    report_say(&c->config.process.report, REPORT_ERROR, peer_name(c->loss.peer), "%s: %s%s%s%s",
               what_ended(c->loss.err), c->loss.reason,
               channels[0] ? "; end of partition not reached: " : "", channels, rest);
    consume_fail(c, report_exit_code(c->loss.err));
}

/* What an option may have to do with it. */
static const char *hint_of(const struct peer *peer, enum fnet_err err)
{
    const struct fnet_session *session = peer_session(peer);
    const bool is_old = fnet_session_dialect(session) != fnet_dialect_newest();
    const bool is_first_word = fnet_session_counts(session).frames_in == 1;

    /* With a culprit the frame could be read: it is the buffer that is too long. */
    if (err == FNET_BAD_LENGTH && fnet_consumer_session_culprit(session))
        return " (see --segment-size)";
    if (is_first_word && (err == FNET_REMOTE || err == FNET_UNKNOWN_RECEIVER))
        return " (if that is an older Flink, see --dialect)"; /* it may have misread the request */
    if (err == FNET_BAD_LENGTH || (is_old && (err == FNET_BAD_KIND || err == FNET_BAD_VALUE)))
        return " (see --dialect)";
    return "";
}

/* What was received is still written out, while the output takes it; then it is counted. */
void consume_on_lost(void *arg, struct peer *peer, enum fnet_err err, const char *reason)
{
    struct consume *c = arg;

    if (c->is_leaving || c->loss.peer)
        return;
    c->loss.peer = peer;
    c->loss.err = err;
    snprintf(c->loss.reason, sizeof c->loss.reason, "%s%s", reason, hint_of(peer, err));
    for (size_t g = 0; c->intakes && g < consume_gates(c); g++)
        if (c->intakes[g])
            intake_drain(c->intakes[g]);
    if (count_unwritten(c) == 0 ||
        fnet_timer_set(c->process.loop, &c->late, fnet_loop_now_ns(c->process.loop) + ABORT_NS) !=
            FNET_OK)
        fnet_loop_post(c->process.loop, &c->conclude);
}

void consume_refused(struct consume *c, const struct peer *peer, const char *name,
                     enum fnet_err err, const char *text)
{
    char where[FNET_NAME_MAX_BYTES + 512];

    if (c->is_leaving)
        return;
    snprintf(where, sizeof where, "%s/%s", peer_name(peer), name);
    report_say(&c->config.process.report, REPORT_ERROR, where, "%s: %s",
               err == FNET_NO_PARTITION ? "no such partition"
               : err == FNET_REMOTE     ? "refused by the producer"
                                        : what_ended(err),
               text);
    consume_fail(c, report_exit_code(err));
}

void consume_on_channel_error(void *arg, struct fnet_channel *channel, enum fnet_err err,
                              const char *text)
{
    struct consume *c = arg;
    struct reading *r = reading_of(c, channel);
    char name[READING_NAME_BYTES];

    if (err == FNET_NO_PARTITION && !c->is_leaving) {
        reading_name(r, name);
        report_say(&c->config.process.report, REPORT_DETAIL, name, "%s; asking again", text);
        enum fnet_err again = reading_request_again(r, c->process.loop, consume_backoff(c));
        if (again == FNET_OK)
            return;
        err = again;
    }
    const struct fnet_channel_counts counts = fnet_channel_counts(channel);
    if (err == FNET_REMOTE && counts.buffers + counts.events > 0) { /* in mid-stream */
        fnet_channel_fail(channel, err);
        consume_on_lost(c, r->peer, err, text);
        return;
    }
    reading_name(r, name);
    consume_refused(c, r->peer, name, err, text);
}
