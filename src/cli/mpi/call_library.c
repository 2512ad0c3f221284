/*
 * The algorithms of an MPI library for each collective, selected by its control variable (MPI_T). Open MPI reads the
 * variable when a communicator is created and keeps that algorithm; MPICH reads it in every call. An algorithm that does
 * not support the number of ranks is replaced by the library.
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
    MPI_Comm comm[ALGORITHMS_MAX];                 /* by number, if `created` */
    bool created[ALGORITHMS_MAX];
    MPI_T_cvar_handle handle;
    bool opened;
} library_t;

#ifdef OPEN_MPI
/* Numbers as in Open MPI 4.1. */
static library_t libraries[TRV_COLLECTIVES] = {
    [TRV_ALLREDUCE] = {.variable = "coll_tuned_allreduce_algorithm",
                       .algorithm = {{"recdoub", 3}, {"ring", 4}, {"segring", 5}, {"rabenseifner", 6}}},
    [TRV_REDUCE_SCATTER] = {.variable = "coll_tuned_reduce_scatter_block_algorithm",
                            .algorithm = {{"recdoub", 2}, {"rechalving", 3}, {"butterfly", 4}}},
    [TRV_ALLGATHER] = {.variable = "coll_tuned_allgather_algorithm",
                       .algorithm = {{"bruck", 2}, {"recdoub", 3}, {"ring", 4}, {"neighbor", 5}}},
    [TRV_BROADCAST] = {.variable = "coll_tuned_bcast_algorithm",
                       .algorithm = {{"chain", 2},
                                     {"pipeline", 3},
                                     {"split-binary", 4},
                                     {"binary", 5},
                                     {"binomial", 6},
                                     {"knomial", 7},
                                     {"scatter-allgather", 8},
                                     {"scatter-ring", 9}}},
    [TRV_REDUCE] = {.variable = "coll_tuned_reduce_algorithm",
                    .algorithm = {{"chain", 2}, {"pipeline", 3}, {"binary", 4}, {"binomial", 5}, {"rabenseifner", 7}}},
    [TRV_SCATTER] = {.variable = "coll_tuned_scatter_algorithm",
                     .algorithm = {{"linear", 1}, {"binomial", 2}, {"linear-nb", 3}}},
    [TRV_GATHER] = {.variable = "coll_tuned_gather_algorithm",
                    .algorithm = {{"linear", 1}, {"binomial", 2}, {"linear-sync", 3}}},
    [TRV_ALLTOALL] = {.variable = "coll_tuned_alltoall_algorithm",
                      .algorithm = {{"linear", 1}, {"pairwise", 2}, {"bruck", 3}, {"linear-sync", 4}}},
};
#else
/* Numbers as in MPICH 4.0. */
static library_t libraries[TRV_COLLECTIVES] = {
    [TRV_ALLREDUCE] = {.variable = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM",
                       .algorithm = {{"recdoub", 3}, {"redscat", 4}, {"radix-3", 1}}},
    [TRV_REDUCE_SCATTER] = {.variable = "MPIR_CVAR_REDUCE_SCATTER_BLOCK_INTRA_ALGORITHM",
                            .algorithm = {{"recdoub", 2}, {"pairwise", 3}, {"rechalving", 4}}},
    [TRV_ALLGATHER] = {.variable = "MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM",
                       .algorithm = {{"bruck", 1}, {"recdoub", 3}, {"ring", 4}}},
    [TRV_BROADCAST] = {.variable = "MPIR_CVAR_BCAST_INTRA_ALGORITHM",
                       .algorithm = {{"binomial", 1}, {"scatter-recdoub", 4}, {"scatter-ring", 5}}},
    [TRV_REDUCE] = {.variable = "MPIR_CVAR_REDUCE_INTRA_ALGORITHM", .algorithm = {{"binomial", 1}, {"redscat", 4}}},
    [TRV_SCATTER] = {.variable = "MPIR_CVAR_SCATTER_INTRA_ALGORITHM", .algorithm = {{"binomial", 1}}},
    [TRV_GATHER] = {.variable = "MPIR_CVAR_GATHER_INTRA_ALGORITHM", .algorithm = {{"binomial", 1}}},
    [TRV_ALLTOALL] = {.variable = "MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM",
                      .algorithm = {{"bruck", 1}, {"pairwise", 3}, {"scattered", 5}}},
};
#endif

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

static bool library_open(library_t *library)
{
    int threads, index, count;
    if (!library->opened)
        library->opened = MPI_T_init_thread(MPI_THREAD_SINGLE, &threads) == MPI_SUCCESS &&
                          MPI_T_cvar_get_index(library->variable, &index) == MPI_SUCCESS &&
                          MPI_T_cvar_handle_alloc(index, NULL, &library->handle, &count) == MPI_SUCCESS;
    return library->opened;
}

MPI_Comm call_library_comm(MPI_Comm comm, trv_collective_t collective, int setting)
{
    library_t *library = &libraries[collective];
    if (!library_open(library)) {
        trv_fail(TRV_ERR_UNSUPPORTED, "this MPI library has no control variable %s; use mpi, its own selection",
                 library->variable);
        return MPI_COMM_NULL;
    }
    if (!library->created[setting]) {
        const bool set = MPI_T_cvar_write(library->handle, &setting) == MPI_SUCCESS;
        if (set)
            library->created[setting] = PMPI_Comm_dup(comm, &library->comm[setting]) == MPI_SUCCESS;
        if (set && !library->created[setting])
            trv_fail(TRV_ERR_TRANSPORT, "MPI_Comm_dup failed for the MPI library's algorithm %d", setting);
        MPI_T_cvar_write(library->handle, &(int){0});
        if (!set)
            trv_fail(TRV_ERR_UNSUPPORTED, "this MPI library does not permit setting %s; use mpi, its own selection",
                     library->variable);
    }
    return library->created[setting] ? library->comm[setting] : MPI_COMM_NULL;
}

void call_library_choose(trv_collective_t collective, int setting)
{
#ifdef OPEN_MPI
    (void)collective, (void)setting;
#else
    if (libraries[collective].opened)
        MPI_T_cvar_write(libraries[collective].handle, &setting);
#endif
}

void call_library_end(void)
{
    for (int c = 0; c < TRV_COLLECTIVES; c++)
        for (int i = 0; i < ALGORITHMS_MAX; i++)
            if (libraries[c].created[i])
                PMPI_Comm_free(&libraries[c].comm[i]);
}
