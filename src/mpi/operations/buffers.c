/*
 * The buffers of an operation: allocation of the copies that replace the program's buffers, and copying back.
 */
#include "mpi/operations/buffers.h"

#include <stdlib.h>

#include "base/abandon.h"
#include "base/error.h"

static void release(trv_mpi_buffers_t *buffers)
{
    if (buffers->to != buffers->from)
        free(buffers->to);
    free(buffers->from);
    buffers->from = buffers->to = NULL;
}

int trv_mpi_buffers_copy(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments,
                         const void *input, void *output)
{
    const bool in_place = input == MPI_IN_PLACE;
    const size_t part = arguments->count * arguments->elements.size;
    const size_t out_bytes = trv_output_bytes(arguments->collective, part, state->ranks);
    const size_t in_bytes = in_place && out_bytes > part ? out_bytes
                                                         : trv_input_bytes(arguments->collective, part, state->ranks);
    void *from = malloc(in_bytes), *to = in_place ? from : malloc(out_bytes);
    *buffers = (trv_mpi_buffers_t){.input = from,
                                   .output = to,
                                   .alias = trv_mpi_alias(arguments, state->rank, state->ranks, input, output),
                                   .from = from,
                                   .to = to,
                                   .home = output,
                                   .home_bytes = out_bytes};
    const int code = from && to ? trv_device_copy(from, in_place ? output : input, in_bytes) : trv_fail_memory();
    if (code < 0)
        release(buffers);
    return code;
}

int trv_mpi_buffers_begin_packed(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state,
                                 const trv_mpi_gather_t *gather, size_t bytes)
{
    *buffers = (trv_mpi_buffers_t){.gather = *gather, .packed_bytes = bytes};
    int code = trv_mpi_gather_pack(state, &buffers->gather, bytes, &buffers->to);
    buffers->from = buffers->output = buffers->to;
    buffers->input = buffers->output;
    return code;
}

static int bring_home(const trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state)
{
    if (buffers->packed_bytes > 0)
        return trv_mpi_gather_unpack(state, &buffers->gather, buffers->packed_bytes, buffers->to);
    return buffers->to ? trv_device_copy(buffers->home, buffers->to, buffers->home_bytes) : TRV_OK;
}

int trv_mpi_buffers_copy_back(trv_mpi_buffers_t *buffers, const trv_mpi_state_t *state, int code)
{
    if (code < 0) {
        trv_abandon(buffers->to != buffers->from ? buffers->to : NULL);
        trv_abandon(buffers->from);
        return code;
    }
    code = bring_home(buffers, state);
    release(buffers);
    return code;
}
