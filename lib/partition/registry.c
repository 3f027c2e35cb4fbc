/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The partitions of a process, found by their ids.
 *
 * Source: Flink ResultPartitionManager.
 */
#include <stdlib.h>

#include "fnet/partition.h"

enum fnet_err fnet_registry_add(struct fnet_registry *registry, struct fnet_partition *partition)
{
    if (fnet_registry_find(registry, fnet_dialect_newest(), fnet_partition_id(partition)))
        return FNET_STATE;

    struct fnet_partition **grown =
        reallocarray(registry->partitions, registry->count + 1, sizeof *grown);
    if (!grown)
        return FNET_NOMEM;
    grown[registry->count++] = partition;
    registry->partitions = grown;
    return FNET_OK;
}

struct fnet_partition *fnet_registry_find(const struct fnet_registry *registry,
                                          const struct fnet_dialect *dialect,
                                          const struct fnet_partition_id *id)
{
    const struct fnet_partition_id wanted = fnet_partition_id_as_in(dialect, id);

    for (size_t i = 0; i < registry->count; i++) {
        const struct fnet_partition_id there =
            fnet_partition_id_as_in(dialect, fnet_partition_id(registry->partitions[i]));
        if (fnet_partition_id_is_equal(&there, &wanted))
            return registry->partitions[i];
    }
    return NULL;
}

void fnet_registry_clear(struct fnet_registry *registry)
{
    free(registry->partitions);
    *registry = (struct fnet_registry){.count = 0};
}
