/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading side of a subpartition.
 *
 * Source: Flink PipelinedSubpartitionView, ResultPartition.onSubpartitionAllDataProcessed.
 */
#include "subpartition.h"

enum fnet_err fnet_view_open(struct fnet_partition *partition, uint32_t subpartition,
                             struct fnet_bell bell, bool yield_empty, struct fnet_view **out)
{
    if (subpartition >= partition->config.subpartitions)
        return FNET_RANGE;

    struct fnet_view *view = &partition->subpartitions[subpartition];
    if (view->queue.state != FNET_SUBPARTITION_WAITING)
        return FNET_STATE;
    view->queue.bell = bell;
    view->queue.yields_empty = yield_empty;
    fnet__partition_set_state(view, FNET_SUBPARTITION_READING);
    *out = view;
    return FNET_OK;
}

bool fnet_view_is_available(const struct fnet_view *view, uint32_t credits)
{
    return fnet__pipelined_is_available(&view->queue, credits);
}

uint32_t fnet_view_backlog(const struct fnet_view *view)
{
    return fnet__pipelined_backlog(&view->queue);
}

enum fnet_err fnet_view_next(struct fnet_view *view, struct fnet_view_item *out)
{
    return fnet__pipelined_next(&view->queue, out);
}

enum fnet_err fnet_view_conclude(struct fnet_view *view)
{
    if (view->queue.end != FNET__END_OF_DATA_TAKEN)
        return FNET_STATE;

    struct fnet_buffer end;
    enum fnet_err err = fnet__partition_new_event(FNET_EVENT_END_OF_PARTITION, &end);
    if (err != FNET_OK)
        return err;
    err = fnet__pipelined_add_event(&view->queue, &end);
    fnet_buffer_clear(&end);
    if (err == FNET_OK)
        view->queue.end = FNET__END_OF_PARTITION_QUEUED;
    return err;
}

enum fnet_err fnet_view_acknowledge(struct fnet_view *view)
{
    enum fnet_err err = fnet_view_conclude(view);

    if (err == FNET_OK)
        fnet__partition_set_state(view, FNET_SUBPARTITION_ACKNOWLEDGED);
    return err;
}

void fnet_view_release(struct fnet_view *view, bool is_lost)
{
    enum fnet_subpartition_state end = FNET_SUBPARTITION_CANCELLED;

    if (view->queue.state == FNET_SUBPARTITION_ACKNOWLEDGED ||
        (!is_lost && view->queue.end == FNET__END_OF_PARTITION_TAKEN))
        end = FNET_SUBPARTITION_DONE;
    else if (is_lost)
        end = FNET_SUBPARTITION_LOST;
    view->queue.bell = (struct fnet_bell){.ring = NULL};
    fnet__pipelined_drop(&view->queue);
    fnet__partition_set_state(view, end);
}

const struct fnet_partition *fnet_view_partition(const struct fnet_view *view)
{
    return view->partition;
}

uint32_t fnet_view_subpartition(const struct fnet_view *view)
{
    return (uint32_t)(view - view->partition->subpartitions);
}
