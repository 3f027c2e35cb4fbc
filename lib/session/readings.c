/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readings of a connection, and whose turn it is.
 *
 * Source: Flink PartitionRequestQueue.
 */
#include "readings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void fnet__readings_init(struct fnet__readings *readings, struct fnet_session *session)
{
    *readings = (struct fnet__readings){.session = session};
    fnet_list_init(&readings->ready);
    fnet_list_init(&readings->all);
}

void fnet__readings_drop(struct fnet__readings *readings, bool are_lost)
{
    while (!fnet_list_is_empty(&readings->all))
        fnet__reading_drop(fnet_entry(readings->all.head.next, struct fnet__reading, all),
                           are_lost);
}

void fnet__readings_clear(struct fnet__readings *readings)
{
    fnet__readings_drop(readings, true);
    fnet_id_map_clear(&readings->by_receiver);
}

struct fnet__reading *fnet__readings_find(const struct fnet__readings *readings,
                                          const struct fnet_id *receiver)
{
    return fnet_id_map_get(&readings->by_receiver, receiver);
}

/* ---- one of them ------------------------------------------------------------------------- */

void fnet__reading_make_ready(struct fnet__reading *reading)
{
    fnet_list_push(&reading->readings->ready, &reading->ready);
    fnet_bell_ring(&reading->readings->session->bell);
}

static void on_view_bell(void *arg)
{
    fnet__reading_make_ready(arg);
}

enum fnet_err fnet__readings_open(struct fnet__readings *readings,
                                  const struct fnet_message *message,
                                  struct fnet_partition *partition)
{
    const struct fnet_partition_request *request = &message->request;
    const struct fnet_dialect *dialect = readings->session->dialect;
    struct fnet__reading *reading = calloc(1, sizeof *reading);
    if (!reading)
        return FNET_NOMEM;

    reading->readings = readings;
    reading->view.dialect = dialect;
    reading->view.receiver = message->receiver;
    reading->view.initial_credit = request->credit;
    reading->view.credits = request->recovers ? 0 : (uint32_t)request->credit;

    enum fnet_err err = fnet_id_map_put(&readings->by_receiver, &message->receiver, reading);
    if (err != FNET_OK) {
        free(reading);
        return err == FNET_STATE ? fnet__session_fail(readings->session, FNET_BAD_VALUE,
                                                      "PartitionRequest with a receiver in use")
                                 : err;
    }
    struct fnet_bell bell = {.ring = on_view_bell, .arg = reading};
    const bool yields_empty =
        request->credit == 0 && fnet_dialect_has_message(dialect, FNET_BACKLOG_ANNOUNCEMENT);
    err = fnet_view_open(partition, (uint32_t)request->first, bell, yields_empty,
                         &reading->view.view);
    if (err != FNET_OK) {
        fnet_id_map_take(&readings->by_receiver, &message->receiver);
        free(reading);
        return err;
    }
    fnet_list_push(&readings->all, &reading->all);
    fnet__reading_make_ready(reading);
    return FNET_OK;
}

void fnet__reading_drop(struct fnet__reading *reading, bool is_lost)
{
    fnet_id_map_take(&reading->readings->by_receiver, &reading->view.receiver);
    fnet_link_unlink(&reading->ready);
    fnet_link_unlink(&reading->all);
    fnet_view_release(reading->view.view, is_lost);
    free(reading);
}

/* ---- sending ----------------------------------------------------------------------------- */

static enum fnet_err announce(struct fnet__reading *reading)
{
    struct fnet_session *session = reading->readings->session;
    uint32_t backlog = fnet__credited_view_announce(&reading->view);

    if (backlog == 0)
        return FNET_OK;
    const struct fnet_message message = {.type = FNET_BACKLOG_ANNOUNCEMENT,
                                         .receiver = reading->view.receiver,
                                         .backlog = (int32_t)backlog};
    return fnet__outbox_push(&session->outbox, session->dialect, &message, NULL);
}

/* One buffer of one reading; who has more goes to the end of the line. */
static enum fnet_err send_one(struct fnet__reading *reading)
{
    struct fnet_session *session = reading->readings->session;
    struct fnet_message message;
    struct fnet_buffer payload;
    uint32_t bytes;
    enum fnet_err err = fnet__credited_view_next(&reading->view, &message, &payload, &bytes);

    if (err == FNET_AGAIN)
        return announce(reading);
    if (err != FNET_OK)
        return err;
    if (fnet_data_type_is_buffer(payload.data_type)) {
        session->counts.buffers_out++;
        session->counts.payload_out += bytes;
    }
    err = fnet__outbox_push(&session->outbox, session->dialect, &message, &payload);
    if (err != FNET_OK) {
        fnet_buffer_clear(&payload);
        return err;
    }
    fnet_list_push(&reading->readings->ready, &reading->ready);
    return FNET_OK;
}

enum fnet_err fnet__readings_refill(struct fnet__readings *readings)
{
    while (readings->session->outbox.count < FNET__OUTBOX_DATA_FRAMES) {
        struct fnet_link *link = fnet_list_pop(&readings->ready);
        if (!link)
            break;
        enum fnet_err err = send_one(fnet_entry(link, struct fnet__reading, ready));
        if (err != FNET_OK)
            return err;
    }
    return FNET_OK;
}

/* ---- all of them ------------------------------------------------------------------------- */

void fnet__readings_speak(struct fnet__readings *readings)
{
    for (struct fnet_link *l = readings->all.head.next; l != &readings->all.head; l = l->next)
        fnet_entry(l, struct fnet__reading, all)->view.dialect = readings->session->dialect;
}

uint64_t fnet__readings_credit(const struct fnet__readings *readings)
{
    uint64_t sum = 0;

    for (struct fnet_link *l = readings->all.head.next; l != &readings->all.head; l = l->next)
        sum += fnet_entry(l, struct fnet__reading, all)->view.credits;
    return sum;
}

static bool is_acknowledged(const struct fnet__reading *reading)
{
    return fnet_partition_state(fnet_view_partition(reading->view.view),
                                fnet_view_subpartition(reading->view.view)) ==
           FNET_SUBPARTITION_ACKNOWLEDGED;
}

size_t fnet__readings_unfinished(const struct fnet__readings *readings, char *text, size_t size)
{
    size_t unfinished = 0;
    size_t len = 0;

    if (size > 0)
        text[0] = '\0';
    for (struct fnet_link *l = readings->all.head.next; l != &readings->all.head; l = l->next) {
        const struct fnet__reading *reading = fnet_entry(l, struct fnet__reading, all);
        if (is_acknowledged(reading))
            continue;
        if (unfinished < FNET_UNFINISHED_LISTED && len < size)
            len += (size_t)snprintf(text + len, size - len, "%s%s:%" PRIu32,
                                    unfinished > 0 ? ", " : "",
                                    fnet_partition_name(fnet_view_partition(reading->view.view)),
                                    fnet_view_subpartition(reading->view.view));
        unfinished++;
    }
    if (unfinished > FNET_UNFINISHED_LISTED && len < size)
        snprintf(text + len, size - len, ", and %zu more", unfinished - FNET_UNFINISHED_LISTED);
    return unfinished;
}
