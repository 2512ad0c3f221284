/*
 * The buffers of an operation: allocation of the copies that replace the program's buffers, and copying back.
 */
#include "mpi/operations/buffers.h"

#include <stdlib.h>

#include "base/abandon.h"
#include "base/error.h"

static void buffers_free(trv_mpi_buffers_t *buffers)
{
    if (buffers->output_copy != buffers->input_copy)
        free(buffers->output_copy);
    free(buffers->input_copy);
    buffers->input_copy = buffers->output_copy = NULL;
}

int trv_mpi_buffers_copy(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments,
                         const void *input, void *output)
{
    const bool in_place = input == MPI_IN_PLACE;
    const size_t out_bytes = trv_mpi_output_bytes(arguments, state->rank, state->ranks);
    size_t in_bytes = trv_mpi_input_bytes(arguments, state->rank, state->ranks);
    if (in_place && in_bytes < out_bytes)
        in_bytes = out_bytes;
    void *input_copy = malloc(in_bytes + 1); /* never of 0 bytes, for which malloc may return NULL */
    void *output_copy = in_place ? input_copy : malloc(out_bytes + 1);
    *buffers = (trv_mpi_buffers_t){.input = input_copy,
                                   .output = output_copy,
                                   .alias = trv_mpi_alias(arguments, state->rank, state->ranks, input, output),
                                   .input_copy = input_copy,
                                   .output_copy = output_copy,
                                   .destination = output,
                                   .destination_bytes = out_bytes};
    const int code = input_copy && output_copy ? trv_device_copy(input_copy, in_place ? output : input, in_bytes)
                                               : trv_fail_memory();
    if (code < 0)
        buffers_free(buffers);
    return code;
}

int trv_mpi_buffers_begin_packed(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state,
                                 const trv_mpi_movement_t *movement, size_t bytes)
{
    *buffers = (trv_mpi_buffers_t){.movement = *movement, .packed_bytes = bytes};
    if (trv_mpi_movement_is_same(movement, state->rank, state->ranks))
        buffers->alias = trv_mpi_alias_of_same(movement->collective, bytes);
    int code = trv_mpi_movement_pack(state, &buffers->movement, bytes, &buffers->output_copy);
    buffers->input_copy = buffers->output = buffers->output_copy;
    buffers->input = buffers->output;
    return code;
}

static int copy_result(const trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state)
{
    if (buffers->packed_bytes > 0)
        return trv_mpi_movement_unpack(state, &buffers->movement, buffers->packed_bytes, buffers->output_copy);
    return buffers->output_copy
               ? trv_device_copy(buffers->destination, buffers->output_copy, buffers->destination_bytes)
               : TRV_OK;
}

int trv_mpi_buffers_copy_back(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state, int code)
{
    if (code < 0) {
        trv_abandon(buffers->output_copy != buffers->input_copy ? buffers->output_copy : NULL);
        trv_abandon(buffers->input_copy);
        return code;
    }
    code = copy_result(buffers, state);
    buffers_free(buffers);
    return code;
}
