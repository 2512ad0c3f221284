/*
 * Tags: positions in the lower half, ranges in the upper one.
 */
#include "mpi/tags.h"

#include <limits.h>
#include <stdlib.h>

#include "common/error.h"
#include "mpi/transport/channel.h"
#include "mpi/transport/error.h"

int trv_mpi_tags_init(trv_mpi_tags_t *tags, MPI_Comm comm)
{
    int *upper = NULL, found = 0;
    int code = PMPI_Comm_get_attr(comm, MPI_TAG_UB, &upper, &found);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("asking MPI for its largest tag", code);
    tags->limit = found && *upper < INT_MAX ? *upper + 1 : found ? INT_MAX : 32767; /* MPI promises at least 32767 */
    tags->range = NULL;
    return TRV_OK;
}

int trv_mpi_tags_positions(const trv_mpi_tags_t *tags)
{
    return tags->limit / 2 / TRV_MPI_POSITION_TAGS;
}

int trv_mpi_tags_take(trv_mpi_tags_t *tags, int count, int *first)
{
    trv_mpi_range_t **place = &tags->range;
    int at = tags->limit / 2;
    while (*place && (*place)->first - at < count) {
        at = (*place)->first + (*place)->count;
        place = &(*place)->next;
    }
    if (tags->limit - at < count)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "no %d message tags are free: this MPI has %d on a communicator; free plans "
                        "that are not needed",
                        count, tags->limit);
    trv_mpi_range_t *range = malloc(sizeof *range);
    if (!range)
        return trv_fail_memory();
    *range = (trv_mpi_range_t){.first = at, .count = count, .next = *place};
    *place = range;
    *first = at;
    return TRV_OK;
}

void trv_mpi_tags_give_back(trv_mpi_tags_t *tags, int first)
{
    for (trv_mpi_range_t **place = &tags->range; *place; place = &(*place)->next)
        if ((*place)->first == first) {
            trv_mpi_range_t *range = *place;
            *place = range->next;
            free(range);
            return;
        }
}
