/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the producers have: asked before any gate is built, since its size depends on it.
 */
#include "consume/consume.h"

#include <stdlib.h>

#include "fnet/partition.h"

/* No producer is believed to have more: a list of them is kept in memory. */
#define PARTITIONS_MAX 65536u

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
        fnet_loop_post(c->process.loop, &c->begin);
}

/* As many answers as the first promises, and one to the question about one partition. */
static bool is_next_answer(struct query *q, const struct fnet_description_response *description)
{
    if (q->answers == 0)
        q->expected = (uint32_t)description->remaining + 1;
    q->answers++;
    return q->expected <= (q->is_for_all ? PARTITIONS_MAX : 1u) &&
           q->answers + (uint32_t)description->remaining == q->expected;
}

void consume_on_description(void *arg, const struct fnet_id *request,
                            const struct fnet_description_response *description)
{
    struct consume *c = arg;
    struct query *q = query_of(c, request);

    if (!q || q->is_answered || c->is_leaving)
        return;
    if (!is_next_answer(q, description)) {
        consume_refused(c, q->peer, q->operand->name, FNET_BAD_VALUE,
                        "an impossible number of partitions");
        return;
    }
    if (c->config.wants_list)
        listing_add(c->listing, q->operand->server, description);
    if (description->remaining > 0)
        return;
    if (!q->is_for_all &&
        (description->subpartitions < 1 || description->subpartitions > FNET_SUBPARTITIONS_MAX)) {
        consume_refused(c, q->peer, q->operand->name, FNET_BAD_VALUE,
                        "an impossible number of subpartitions");
        return;
    }
    if (!q->is_for_all && !fnet_codec_name(description->codec)) {
        consume_refused(c, q->peer, q->operand->name, FNET_BAD_VALUE, "an unknown codec");
        return;
    }
    q->subpartitions = (uint32_t)description->subpartitions;
    q->codec = (enum fnet_codec)description->codec;
    on_answered(c, q);
}

void consume_on_description_error(void *arg, const struct fnet_id *request, enum fnet_err err,
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
    consume_refused(c, q->peer, q->operand->name, err, text);
}

static enum fnet_err ask(struct consume *c, const struct consume_operand *operand)
{
    struct query *q = &c->queries[c->query_count];

    q->loop = c->process.loop;
    q->operand = operand;
    q->is_for_all = c->config.wants_list && !operand->has_name;
    q->backoff = consume_backoff(c);

    const struct peer_place place = {
        .endpoint = operand->endpoint, .name = operand->server, .dialect = fnet_dialect_newest()};
    enum fnet_err err = peers_get(c->peers, &place, &q->peer);
    if (err != FNET_OK)
        return err;
    c->query_count++;
    c->unanswered++;
    return query_ask(q);
}

enum fnet_err consume_ask(struct consume *c)
{
    size_t operands = 0;
    enum fnet_err err = FNET_OK;

    for (size_t g = 0; g < consume_gates(c); g++)
        operands += c->config.groups[g].operand_count;
    c->queries = calloc(operands + 1, sizeof *c->queries); /* never 0 bytes */
    if (!c->queries)
        return FNET_NOMEM;
    for (size_t g = 0; g < consume_gates(c); g++) {
        const struct consume_group *group = &c->config.groups[g];
        for (size_t i = 0; err == FNET_OK && i < group->operand_count; i++)
            if (c->config.wants_list || !group->operands[i].subpartitions)
                err = ask(c, &group->operands[i]);
    }
    if (c->unanswered == 0)
        fnet_loop_post(c->process.loop, &c->begin);
    return err;
}

/* NULL when nothing was asked about OPERAND. */
static const struct query *query_about(const struct consume *c,
                                       const struct consume_operand *operand)
{
    for (size_t i = 0; i < c->query_count; i++)
        if (c->queries[i].operand == operand)
            return &c->queries[i];
    return NULL;
}

size_t consume_count_channels(const struct consume *c, const struct consume_operand *operand)
{
    const struct query *q = query_about(c, operand);

    return q ? q->subpartitions : operand->subpartition_count;
}

enum fnet_codec consume_codec(const struct consume *c, const struct consume_operand *operand)
{
    const struct query *q = query_about(c, operand);

    return q ? q->codec : FNET_CODEC_NONE;
}
