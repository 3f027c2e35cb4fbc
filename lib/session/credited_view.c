/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view that sends only what credit pays for.
 *
 * Source: Flink CreditBasedSequenceNumberingViewReader.
 */
#include "credited_view.h"

#include "translation.h"

enum fnet_err fnet__credited_view_add_credit(struct fnet__credited_view *v, int32_t n)
{
    if (n < 1 || v->credits > (uint32_t)INT32_MAX - (uint32_t)n)
        return FNET_RANGE;
    v->credits += (uint32_t)n;
    v->is_backlog_known = false;
    return FNET_OK;
}

/* The event in ITEM as the consumer knows it; FNET_AGAIN when it knows none, and it is gone. */
static enum fnet_err translate(struct fnet__credited_view *v, struct fnet_view_item *item)
{
    const bool is_end = item->buffer.data_type == FNET_END_OF_DATA;
    enum fnet_err err = fnet__session_translate(fnet_dialect_newest(), v->dialect, &item->buffer);

    if (err == FNET_OK)
        return FNET_OK;
    fnet_buffer_clear(&item->buffer);
    if (err != FNET_INVALID)
        return err;
    err = is_end ? fnet_view_conclude(v->view) : FNET_OK;
    return err == FNET_OK ? FNET_AGAIN : err;
}

/* Does a consumer that speaks the view's dialect know the codec? */
static bool reads_compressed(const struct fnet__credited_view *v)
{
    if (!v->dialect->buffer.is_compressed)
        return false;
    return v->dialect->has_all_codecs ||
           fnet_partition_codec(fnet_view_partition(v->view)) == FNET_CODEC_LZ4;
}

static enum fnet_err next_item(struct fnet__credited_view *v, struct fnet_view_item *item)
{
    enum fnet_err err;

    do {
        if (!fnet__credited_view_is_ready(v))
            return FNET_AGAIN;
        err = fnet_view_next(v->view, item);
        if (err != FNET_OK)
            return err;
        if (v->dialect != fnet_dialect_newest() &&
            !fnet_data_type_is_buffer(item->buffer.data_type))
            err = translate(v, item);
    } while (err == FNET_AGAIN);
    return err;
}

static uint32_t backlog_of(const struct fnet__credited_view *v, const struct fnet_view_item *item)
{
    switch (v->dialect->backlog) {
    case FNET_BACKLOG_ALL: return item->queued;
    case FNET_BACKLOG_SENDABLE: break;
    }
    return item->backlog;
}

enum fnet_err fnet__credited_view_next(struct fnet__credited_view *v, struct fnet_message *message,
                                       struct fnet_buffer *payload, uint32_t *bytes)
{
    struct fnet_view_item item;

    enum fnet_err err = next_item(v, &item);

    if (err != FNET_OK)
        return err;
    *bytes = item.buffer.len;
    if (fnet_data_type_is_buffer(item.buffer.data_type)) {
        v->credits--;
        if (reads_compressed(v))
            fnet_view_compress(v->view, &item.buffer);
    }
    *message = (struct fnet_message){
        .type = FNET_BUFFER_RESPONSE,
        .receiver = v->receiver,
        .buffer = {.subpartition = (int32_t)fnet_view_subpartition(v->view),
                   .sequence = v->sequence,
                   .backlog = (int32_t)backlog_of(v, &item),
                   .data_type = item.buffer.data_type,
                   .is_compressed = item.buffer.is_compressed,
                   .size = item.buffer.len},
    };
    /* As Java's int: a stream of more than 2^31 buffers goes on with negative numbers. */
    v->sequence = v->sequence == INT32_MAX ? INT32_MIN : v->sequence + 1;
    *payload = item.buffer;
    return FNET_OK;
}

uint32_t fnet__credited_view_announce(struct fnet__credited_view *v)
{
    if (!fnet_dialect_has_message(v->dialect, FNET_BACKLOG_ANNOUNCEMENT))
        return 0;
    if (v->initial_credit > 0 || v->credits > 0 || v->is_backlog_known)
        return 0;

    uint32_t backlog = fnet_view_backlog(v->view);
    v->is_backlog_known = backlog > 0;
    return backlog;
}
