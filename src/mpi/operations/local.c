/*
 * The executor's reduction by MPI_Reduce_local, which takes two operands: inout := in op inout.
 *
 * Commutative operations are evaluated from the left, ((s0 + s1) + s2) + …, in the schedule's order, because a
 * consistent schedule guarantees identical results for this order only. Other operations are evaluated from the right,
 * s0 + (s1 + (s2 + …)): MPI requires operations to be associative, and only in this way MPI_Reduce_local keeps the
 * order of the operands without a copy of each.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi/operations/elements.h"
#include "transport/mpi/mpi_error.h"

#define TILE_BYTES 65536

int trv_mpi_local_init(trv_mpi_local_t *local, const trv_mpi_elements_t *elements, MPI_Datatype datatype, MPI_Op op)
{
    *local = (trv_mpi_local_t){.datatype = datatype,
                               .op = op,
                               .commutative = elements->commutative,
                               .size = elements->size};
    local->tile = TILE_BYTES / elements->size;
    if (local->tile == 0)
        local->tile = 1;
    local->scratch = malloc(local->tile * elements->size);
    return local->scratch ? TRV_OK : trv_fail_memory();
}

void trv_mpi_local_clear(trv_mpi_local_t *local)
{
    free(local->scratch);
    local->scratch = NULL;
}

/* Reduces `count` elements, from `offset` bytes on, of all sources in order into `result`, which contains those of
 * source[start] already. */
static int fold(const trv_mpi_local_t *local, void *result, const void *const *source, int sources, size_t offset,
                int start, int count)
{
    for (int i = 1; i < sources; i++) {
        int at = local->commutative ? (i <= start ? i - 1 : i) : sources - 1 - i;
        int code = PMPI_Reduce_local((const char *)source[at] + offset, result, count, local->datatype, local->op);
        if (code != MPI_SUCCESS)
            return trv_mpi_transport_error("MPI_Reduce_local", code);
    }
    return TRV_OK;
}

int trv_mpi_local_reduce(void *context, void *destination, const void *const *source, int sources, size_t count)
{
    const trv_mpi_local_t *local = context;
    int start = local->commutative ? 0 : sources - 1; /* the operand that is copied to the result first */
    bool aliased = false;                             /* the destination is also a later operand */
    for (int i = 0; i < sources; i++)
        aliased = aliased || (source[i] == destination && i != start);
    if (aliased && local->commutative && sources > 1 && source[1] == destination) {
        start = 1; /* s0 + s1 = s1 + s0: start with s1, which is in the destination already */
        aliased = source[0] == destination;
        for (int i = 2; i < sources; i++)
            aliased = aliased || source[i] == destination;
    }
    for (size_t done = 0; done < count;) {
        size_t tile = count - done < local->tile ? count - done : local->tile;
        size_t offset = done * local->size;
        char *tile_start = (char *)destination + offset;
        const char *first = (const char *)source[start] + offset;
        char *result = aliased ? local->scratch : tile_start;
        if (result != first)
            memcpy(result, first, tile * local->size);
        int code = fold(local, result, source, sources, offset, start, (int)tile);
        if (code < 0)
            return code;
        if (result != tile_start)
            memcpy(tile_start, result, tile * local->size);
        done += tile;
    }
    return TRV_OK;
}
