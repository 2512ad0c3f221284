/*
 * The algorithms of an MPI library for each collective, selected by its control variable (MPI_T). Open MPI reads the
 * variable when a communicator is created and keeps that algorithm; MPICH reads it in every call. An algorithm that
 * does not support the number of ranks is replaced by the library.
 */
#include <stdlib.h>

#include "base/error.h"
#include "cli/mpi/call.h"
#include "schedule/collective.h"

#define ALGORITHMS_MAX 10

typedef struct library_algorithm {
    const char *name; /* NULL after the last */
    int setting;
} library_algorithm_t;

typedef struct library {
    const char *variable;
    library_algorithm_t algorithm[ALGORITHMS_MAX]; /* beside the library's own selection, whose number is 0 */
} library_t;

#ifdef OPEN_MPI
/* Numbers as in Open MPI 4.1. */
static const library_t libraries[TRV_COLLECTIVES] = {
    [TRV_ALLREDUCE] = {"coll_tuned_allreduce_algorithm",
                       {{"recdoub", 3}, {"ring", 4}, {"segring", 5}, {"rabenseifner", 6}}},
    [TRV_REDUCE_SCATTER] = {"coll_tuned_reduce_scatter_block_algorithm",
                            {{"recdoub", 2}, {"rechalving", 3}, {"butterfly", 4}}},
    [TRV_ALLGATHER] = {"coll_tuned_allgather_algorithm", {{"bruck", 2}, {"recdoub", 3}, {"ring", 4}, {"neighbor", 5}}},
    [TRV_BROADCAST] = {"coll_tuned_bcast_algorithm",
                       {{"chain", 2},
                        {"pipeline", 3},
                        {"split-binary", 4},
                        {"binary", 5},
                        {"binomial", 6},
                        {"knomial", 7},
                        {"scatter-allgather", 8},
                        {"scatter-ring", 9}}},
    [TRV_REDUCE] = {"coll_tuned_reduce_algorithm",
                    {{"chain", 2}, {"pipeline", 3}, {"binary", 4}, {"binomial", 5}, {"rabenseifner", 7}}},
    [TRV_SCATTER] = {"coll_tuned_scatter_algorithm", {{"linear", 1}, {"binomial", 2}, {"linear-nb", 3}}},
    [TRV_GATHER] = {"coll_tuned_gather_algorithm", {{"linear", 1}, {"binomial", 2}, {"linear-sync", 3}}},
    [TRV_ALLTOALL] = {"coll_tuned_alltoall_algorithm",
                      {{"linear", 1}, {"pairwise", 2}, {"bruck", 3}, {"linear-sync", 4}}},
};
#else
/* Numbers as in MPICH 4.0. */
static const library_t libraries[TRV_COLLECTIVES] = {
    [TRV_ALLREDUCE] = {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", {{"recdoub", 3}, {"redscat", 4}, {"radix-3", 1}}},
    [TRV_REDUCE_SCATTER] = {"MPIR_CVAR_REDUCE_SCATTER_BLOCK_INTRA_ALGORITHM",
                            {{"recdoub", 2}, {"pairwise", 3}, {"rechalving", 4}}},
    [TRV_ALLGATHER] = {"MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM", {{"bruck", 1}, {"recdoub", 3}, {"ring", 4}}},
    [TRV_BROADCAST] = {"MPIR_CVAR_BCAST_INTRA_ALGORITHM",
                       {{"binomial", 1}, {"scatter-recdoub", 4}, {"scatter-ring", 5}}},
    [TRV_REDUCE] = {"MPIR_CVAR_REDUCE_INTRA_ALGORITHM", {{"binomial", 1}, {"redscat", 4}}},
    [TRV_SCATTER] = {"MPIR_CVAR_SCATTER_INTRA_ALGORITHM", {{"binomial", 1}}},
    [TRV_GATHER] = {"MPIR_CVAR_GATHER_INTRA_ALGORITHM", {{"binomial", 1}}},
    [TRV_ALLTOALL] = {"MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM", {{"bruck", 1}, {"pairwise", 3}, {"scattered", 5}}},
};
#endif

/* Handles and communicators of a collective, created when its algorithms are first used. */
static struct state {
    MPI_T_cvar_handle handle;
    bool opened;
    MPI_Comm comm[ALGORITHMS_MAX]; /* by number, if `created` */
    bool created[ALGORITHMS_MAX];
} states[TRV_COLLECTIVES];

void call_library_prepare(void)
{
    static const char *const setting[][2] = {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
                                             {"MPIR_CVAR_DEVICE_COLLECTIVES", "none"},
                                             {"MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM", "tsp_recexch_multiple_buffer"},
                                             {"MPIR_CVAR_IALLREDUCE_RECEXCH_KVAL", "3"}};
    for (size_t i = 0; i < sizeof setting / sizeof *setting; i++)
        setenv(setting[i][0], setting[i][1], 1);
}

const char *call_library_name(trv_collective_t collective, int i, int *setting)
{
    if (i > 0)
        *setting = libraries[collective].algorithm[i - 1].setting;
    else
        *setting = 0;
    return i > 0 ? libraries[collective].algorithm[i - 1].name : "default";
}

static bool library_open(trv_collective_t collective)
{
    struct state *state = &states[collective];
    int threads, index, count;
    if (!state->opened)
        state->opened = MPI_T_init_thread(MPI_THREAD_SINGLE, &threads) == MPI_SUCCESS &&
                        MPI_T_cvar_get_index(libraries[collective].variable, &index) == MPI_SUCCESS &&
                        MPI_T_cvar_handle_alloc(index, NULL, &state->handle, &count) == MPI_SUCCESS;
    return state->opened;
}

MPI_Comm call_library_comm(MPI_Comm comm, trv_collective_t collective, int setting)
{
    const char *variable = libraries[collective].variable;
    struct state *state = &states[collective];
    if (!library_open(collective)) {
        trv_fail(TRV_ERR_UNSUPPORTED, "this MPI library has no control variable %s; use mpi, its own selection",
                 variable);
        return MPI_COMM_NULL;
    }
    if (!state->created[setting]) {
        const bool set = MPI_T_cvar_write(state->handle, &setting) == MPI_SUCCESS;
        if (set)
            state->created[setting] = PMPI_Comm_dup(comm, &state->comm[setting]) == MPI_SUCCESS;
        if (set && !state->created[setting])
            trv_fail(TRV_ERR_TRANSPORT, "MPI_Comm_dup failed for the MPI library's algorithm %d", setting);
        MPI_T_cvar_write(state->handle, &(int){0});
        if (!set)
            trv_fail(TRV_ERR_UNSUPPORTED, "this MPI library does not permit setting %s; use mpi, its own selection",
                     variable);
    }
    return state->created[setting] ? state->comm[setting] : MPI_COMM_NULL;
}

void call_library_choose(trv_collective_t collective, int setting)
{
#ifdef OPEN_MPI
    (void)collective, (void)setting;
#else
    if (states[collective].opened)
        MPI_T_cvar_write(states[collective].handle, &setting);
#endif
}

void call_library_end(void)
{
    for (int c = 0; c < TRV_COLLECTIVES; c++)
        for (int i = 0; i < ALGORITHMS_MAX; i++)
            if (states[c].created[i])
                PMPI_Comm_free(&states[c].comm[i]);
}
