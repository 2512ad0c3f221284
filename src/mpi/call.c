/*
 * Arguments: what is refused, and with which words.
 */
#include "mpi/call.h"

#include <stdint.h>
#include <string.h>

#include "common/error.h"
#include "mpi/settings.h"
#include "mpi/transport/error.h"
#include "mpi/watch.h"

int trv_mpi_want(const trv_mpi_arguments_t *arguments, trv_mpi_want_t *want)
{
    *want = (trv_mpi_want_t){.collective = arguments->collective, .datatype = arguments->datatype, .op = arguments->op};
    if (arguments->count < 0)
        return trv_fail(TRV_ERR_ARGUMENT, "the count is %lld; it must be 0 or more", (long long)arguments->count),
               MPI_ERR_COUNT;
    want->count = (size_t)arguments->count;
    return trv_mpi_elements(arguments->datatype, arguments->op, &want->elements);
}

trv_mpi_want_t trv_mpi_bytes(size_t bytes)
{
    /* Copied in the largest elements that fit, so that pieces start where the processor likes it. */
    bool words = bytes % sizeof(uint64_t) == 0;
    trv_mpi_want_t want = {.collective = TRV_ALLGATHER, .datatype = MPI_BYTE, .op = MPI_OP_NULL};
    want.count = words ? bytes / sizeof(uint64_t) : bytes;
    want.elements = (trv_mpi_elements_t){.way = TRV_MPI_KERNEL, .type = words ? TRV_UINT64 : TRV_UINT8, .op = TRV_BOR,
                                         .size = words ? sizeof(uint64_t) : 1, .exact = true, .idempotent = true,
                                         .commutative = true, .predefined = true};
    return want;
}

int trv_mpi_overlap(const trv_mpi_state_t *state, const trv_mpi_want_t *want, const void *input, const void *output)
{
    if (input == MPI_IN_PLACE)
        return MPI_SUCCESS;
    size_t one = want->count * want->elements.size, all = one * (size_t)state->ranks;
    uintptr_t in = (uintptr_t)input, out = (uintptr_t)output;
    size_t in_bytes = want->collective == TRV_REDUCE_SCATTER ? all : one;
    size_t out_bytes = want->collective == TRV_ALLGATHER ? all : one;
    if (in + in_bytes <= out || out + out_bytes <= in)
        return MPI_SUCCESS;
    trv_fail(TRV_ERR_ARGUMENT,
             "the send buffer and the receive buffer %s; pass MPI_IN_PLACE as the send buffer, or two "
             "buffers that do not overlap",
             in == out ? "are the same" : "overlap");
    return MPI_ERR_BUFFER;
}

int trv_mpi_least(MPI_Comm comm, uint64_t *word, int words)
{
    MPI_Request request;
    int code = PMPI_Iallreduce(MPI_IN_PLACE, word, words, MPI_UINT64_T, MPI_MIN, comm, &request);
    return code == MPI_SUCCESS ? trv_mpi_watch_all(comm, &request, "make the same call") : code;
}

/* ---- TRIVANCE_CHECK ---------------------------------------------------------------------------------------------- */

enum { COLLECTIVE, COUNT, SIZE, KIND, SETTING, FAULT, FACTS };

static uint64_t hash(uint64_t seed, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        seed = (seed ^ byte[i]) * 1099511628211u; /* FNV-1a */
    return seed;
}

uint64_t trv_mpi_setting(const trv_mpi_state_t *state)
{
    const unsigned kind[] = {state->serves, state->one_way, state->shared_port};
    uint64_t setting = hash(trv_settings_hash(trv_mpi_settings()), state->algorithm, strlen(state->algorithm));
    setting = hash(setting, state->torus.size, sizeof state->torus.size);
    return hash(setting, kind, sizeof kind);
}

static void collect(const trv_mpi_state_t *state, trv_collective_t collective, const trv_mpi_want_t *want, int fault,
                    uint64_t fact[FACTS])
{
    const trv_mpi_elements_t *elements = &want->elements;
    fact[COLLECTIVE] = (uint64_t)collective;
    fact[COUNT] = want->count;
    fact[SIZE] = elements->size;
    fact[KIND] = elements->way == TRV_MPI_KERNEL ? (uint64_t)elements->type * TRV_OPS + (uint64_t)elements->op + 1 : 0;
    fact[SETTING] = trv_mpi_setting(state);
    fact[FAULT] = (uint64_t)fault;
}

/* The sentence for the first fact that differs; least and most over the ranks. */
static int disagreement(const uint64_t *least, const uint64_t *most)
{
    if (least[COLLECTIVE] != most[COLLECTIVE])
        return trv_fail(TRV_ERR_INVALID, "the ranks call different collectives on this communicator"), MPI_ERR_OTHER;
    if (least[COUNT] != most[COUNT] || least[SIZE] != most[SIZE])
        return trv_fail(TRV_ERR_INVALID,
                        "the count differs between ranks: from %llu elements of %llu bytes to %llu of %llu; "
                        "all ranks must pass the same",
                        (unsigned long long)least[COUNT], (unsigned long long)least[SIZE],
                        (unsigned long long)most[COUNT], (unsigned long long)most[SIZE]),
               MPI_ERR_COUNT;
    if (least[KIND] != most[KIND])
        return trv_fail(TRV_ERR_INVALID,
                        "the type or the operation differs between ranks; all ranks must pass the same"),
               MPI_ERR_OP;
    if (least[SETTING] != most[SETTING])
        return trv_fail(TRV_ERR_INVALID,
                        "the torus or the algorithm differs between ranks; all ranks must set the same, by "
                        "TRV_Comm_set or TRIVANCE_TORUS and TRIVANCE_ALGORITHM"),
               MPI_ERR_ARG;
    return MPI_SUCCESS;
}

int trv_mpi_agree(trv_mpi_state_t *state, trv_collective_t collective, const trv_mpi_want_t *want, int fault)
{
    if (!trv_mpi_settings()->check || !state)
        return fault;
    uint64_t least[2 * FACTS], *most = least + FACTS;
    collect(state, collective, want, fault, least);
    for (int i = 0; i < FACTS; i++)
        most[i] = ~least[i]; /* the least complement is the complement of the largest */
    int code = trv_mpi_least(state->comm, least, 2 * FACTS);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("comparing the ranks' arguments", code), MPI_ERR_OTHER;
    for (int i = 0; i < FACTS; i++)
        most[i] = ~most[i];
    if (fault != MPI_SUCCESS)
        return fault; /* this rank's own sentence is the better one */
    if (most[FAULT] != MPI_SUCCESS)
        return trv_fail(TRV_ERR_INVALID,
                        "another rank was given arguments that are refused; its trv_last_error() has the "
                        "reason"),
               (int)most[FAULT];
    return disagreement(least, most);
}
