/*
 * The memory that an operation runs on: the program's own, or copies on the host where that lies on a GPU, where send
 * and receive buffer overlap, or where AllGather's types have gaps.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_BUFFERS_H
#define TRIVANCE_MPI_OPERATIONS_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>

#include "execute/run/arguments.h"
#include "mpi/communicator/state.h"
#include "mpi/operations/device.h"
#include "mpi/operations/gather.h"
#include "mpi/operations/want.h"
#include "mpi/settings/job_settings.h"

typedef struct trv_mpi_buffers {
    const void *input; /* for trv_mpi_operation_start */
    void *output;
    trv_mpi_alias_t alias;
    void *from, *to; /* copies, or NULL: */
    void *home;      /* where `to` goes in the end */
    size_t home_bytes;
    trv_mpi_gather_t gather; /* where packed_bytes > 0: what `to` is unpacked by */
    size_t packed_bytes;     /* of each rank */
} trv_mpi_buffers_t;

/* Whether one of them lies on a GPU. Looked at under the drop-in only: the API takes memory of the host. */
static inline bool trv_mpi_on_device(const void *input, const void *output)
{
    return trv_mpi_is_drop_in() && trv_device_present() &&
           ((input != MPI_IN_PLACE && trv_device_holds(input)) || trv_device_holds(output));
}

/* Copies, where trv_mpi_buffers_begin finds that they are needed. */
int trv_mpi_buffers_copy(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state, const trv_mpi_want_t *want,
                         const void *input, void *output);

/* input may be MPI_IN_PLACE. TRV_OK or a code of the core; then there is nothing to end. */
static inline int trv_mpi_buffers_begin(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state,
                                        const trv_mpi_want_t *want, const void *input, void *output)
{
    const bool in_place = input == MPI_IN_PLACE;
    const size_t part = want->count * want->elements.size;
    buffers->input = in_place ? output : input;
    buffers->output = output;
    buffers->alias = TRV_MPI_APART;
    buffers->from = buffers->to = NULL; /* so that the members below have no meaning */
    if ((in_place || !trv_buffers_overlap(want->collective, part, state->ranks, input, output)) &&
        !trv_mpi_on_device(input, output))
        return TRV_OK;
    return trv_mpi_buffers_copy(buffers, state, want, input, output);
}
/* The same for an AllGather of types with gaps, of `bytes` from every rank. */
int trv_mpi_buffers_begin_packed(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state,
                                 const trv_mpi_gather_t *gather, size_t bytes);

/* After the run, which returned `code`: copies the result to its place if that is TRV_OK, and frees the copies. Those of a
 * run that failed are lost, because a send may still read them. */
int trv_mpi_buffers_copy_back(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state, int code);
static inline int trv_mpi_buffers_end(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state, int code)
{
    return buffers->to || buffers->from ? trv_mpi_buffers_copy_back(buffers, state, code) : code;
}

#endif
