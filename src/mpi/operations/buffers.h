/*
 * The memory that an operation runs on: the program's buffers, or copies on the host if a buffer is on a GPU, if send
 * and receive buffer overlap, or if the types of a collective that moves data have gaps.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_BUFFERS_H
#define TRIVANCE_MPI_OPERATIONS_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>

#include "execute/run/arguments.h"
#include "mpi/communicator/state.h"
#include "mpi/operations/device.h"
#include "mpi/operations/movement.h"
#include "mpi/operations/call_arguments.h"
#include "mpi/settings/job_settings.h"

typedef struct trv_mpi_buffers {
    const void *input; /* of the plan */
    void *output;
    trv_mpi_alias_t alias;
    void *input_copy,
        *output_copy;  /* owned copies of input and output, may be equal. If NULL, the members below are not set: */
    void *destination; /* the program's buffer, to which `output_copy` is copied at the end */
    size_t destination_bytes;
    trv_mpi_movement_t movement; /* if packed_bytes > 0: the arguments by which `output_copy` is unpacked */
    size_t packed_bytes;         /* of a vector or block; 0 if nothing is packed */
} trv_mpi_buffers_t;

/* Whether one of the buffers is on a GPU. Only the drop-in checks: the API requires buffers on the host. */
static inline bool trv_mpi_on_device(const void *input, const void *output)
{
    return trv_mpi_is_drop_in() && trv_device_present() &&
           ((input && input != MPI_IN_PLACE && trv_device_holds(input)) || (output && trv_device_holds(output)));
}

/* Allocates copies and fills them. Only for trv_mpi_buffers_begin, when it has found that copies are needed. */
int trv_mpi_buffers_copy(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments,
                         const void *input, void *output);

/* Prepares the buffers of a run. `input` may be MPI_IN_PLACE; a buffer that the rank does not have is NULL. TRV_OK; or
 * a code of the core, and then there are no copies. */
static inline int trv_mpi_buffers_begin(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state,
                                        const trv_mpi_arguments_t *arguments, const void *input, void *output)
{
    const bool in_place = input == MPI_IN_PLACE;
    const bool placed = arguments->blocks && arguments->collective == TRV_ALLGATHER; /* read_call has checked them */
    buffers->input = in_place ? output : input;
    buffers->output = output;
    buffers->alias = TRV_MPI_APART;
    buffers->input_copy = buffers->output_copy = NULL; /* so the members after them are not set */
    if (placed ||
        ((in_place || !trv_memory_overlaps(input, trv_mpi_input_bytes(arguments, state->rank, state->ranks), output,
                                           trv_mpi_output_bytes(arguments, state->rank, state->ranks))) &&
         !trv_mpi_on_device(input, output)))
        return TRV_OK;
    return trv_mpi_buffers_copy(buffers, state, arguments, input, output);
}
/* The same for collectives that move types with gaps, in vectors or blocks of `bytes`. */
int trv_mpi_buffers_begin_packed(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state,
                                 const trv_mpi_movement_t *movement, size_t bytes);

/* Ends a run that returned `code`: if that is TRV_OK, copies the result to the program's buffer and frees the copies.
 * The copies of a failed run are never freed, because a send may still read them. Returns `code` or an error of
 * copying. */
int trv_mpi_buffers_copy_back(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state, int code);
static inline int trv_mpi_buffers_end(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state, int code)
{
    return buffers->output_copy || buffers->input_copy ? trv_mpi_buffers_copy_back(buffers, state, code) : code;
}

#endif
