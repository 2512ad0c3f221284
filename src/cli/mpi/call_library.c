/*
 * The algorithms of an MPI library for AllReduce, selected by its control variable (MPI_T). Open MPI reads the variable
 * when a communicator is created and keeps that algorithm; MPICH reads it in every call.
 */
#include <stdlib.h>

#include "base/error.h"
#include "cli/mpi/call.h"

typedef struct library_algorithm {
    const char *name;
    int setting;
    MPI_Comm comm; /* set on first use */
} library_algorithm_t;

#ifdef OPEN_MPI
static const char variable[] = "coll_tuned_allreduce_algorithm"; /* numbers as in Open MPI 4.1 */
static library_algorithm_t algorithm[] = {{"default", 0, MPI_COMM_NULL},
                                          {"recdoub", 3, MPI_COMM_NULL},
                                          {"ring", 4, MPI_COMM_NULL},
                                          {"segring", 5, MPI_COMM_NULL},
                                          {"rabenseifner", 6, MPI_COMM_NULL}};
#else
static const char variable[] = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"; /* numbers as in MPICH 4.0 */
static library_algorithm_t algorithm[] = {{"default", 0, MPI_COMM_NULL},
                                          {"recdoub", 3, MPI_COMM_NULL},
                                          {"redscat", 4, MPI_COMM_NULL},
                                          {"radix-3", 1, MPI_COMM_NULL}};
#endif
#define ALGORITHMS (int)(sizeof algorithm / sizeof *algorithm)

static MPI_T_cvar_handle handle;
static bool opened;

void call_library_prepare(void)
{
    static const char *const setting[][2] = {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
                                             {"MPIR_CVAR_DEVICE_COLLECTIVES", "none"},
                                             {"MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM", "tsp_recexch_multiple_buffer"},
                                             {"MPIR_CVAR_IALLREDUCE_RECEXCH_KVAL", "3"}};
    for (size_t i = 0; i < sizeof setting / sizeof *setting; i++)
        setenv(setting[i][0], setting[i][1], 1);
}

const char *call_library_name(int i, int *setting)
{
    if (i >= ALGORITHMS)
        return NULL;
    *setting = algorithm[i].setting;
    return algorithm[i].name;
}

static bool library_open(void)
{
    int threads, index, count;
    if (!opened)
        opened = MPI_T_init_thread(MPI_THREAD_SINGLE, &threads) == MPI_SUCCESS &&
                 MPI_T_cvar_get_index(variable, &index) == MPI_SUCCESS &&
                 MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS;
    return opened;
}

MPI_Comm call_library_comm(MPI_Comm comm, int setting)
{
    int i = 0;
    if (!library_open()) {
        trv_fail(TRV_ERR_UNSUPPORTED, "this MPI library has no control variable %s; use mpi, its own selection",
                 variable);
        return MPI_COMM_NULL;
    }
    while (algorithm[i].setting != setting)
        i++;
    if (algorithm[i].comm == MPI_COMM_NULL) {
        const bool set = MPI_T_cvar_write(handle, &setting) == MPI_SUCCESS;
        if (set)
            PMPI_Comm_dup(comm, &algorithm[i].comm);
        MPI_T_cvar_write(handle, &(int){0});
        if (!set)
            trv_fail(TRV_ERR_UNSUPPORTED, "this MPI library does not permit setting %s; use mpi, its own selection",
                     variable);
    }
    return algorithm[i].comm;
}

void call_library_choose(int setting)
{
#ifdef OPEN_MPI
    (void)setting;
#else
    if (opened)
        MPI_T_cvar_write(handle, &setting);
#endif
}

void call_library_end(void)
{
    for (int i = 0; i < ALGORITHMS; i++)
        if (algorithm[i].comm != MPI_COMM_NULL)
            PMPI_Comm_free(&algorithm[i].comm);
}
