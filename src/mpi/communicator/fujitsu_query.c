/*
 * Calls the functions of Fujitsu MPI. They are looked up at run time, because no other MPI library has them.
 */
#include "mpi/communicator/fujitsu_query.h"

#include <dlfcn.h>
#include <stddef.h>

#include <mpi.h>
#if defined __FUJITSU || defined __CLANG_FUJITSU
#include <mpi-ext.h>
#endif

/* The views of FJMPI_Topology_get_coords. Fujitsu's <mpi-ext.h> defines them; other compilers use the values that
 * public programs show. A wrong value is detected, because coordinates are then outside the shape, or no neighbours. */
#ifdef FJMPI_LOGICAL
enum { VIEW_LOGICAL = FJMPI_LOGICAL, VIEW_TOFU = FJMPI_TOFU_SYS };
#else
enum { VIEW_LOGICAL = 0, VIEW_TOFU = 1 };
#endif

typedef struct functions {
    int (*get_dimension)(int *dims);
    int (*get_shape)(int *x, int *y, int *z);
    int (*get_coords)(MPI_Comm comm, int rank, int view, int maxdims, int *coords);
} functions_t;

static int coordinates_get(const functions_t *fujitsu, int view, int dims, int32_t *coordinates)
{
    int rank = 0, at[6] = {0};
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int code = fujitsu->get_coords(MPI_COMM_WORLD, rank, view, dims, at);
    for (int d = 0; d < dims; d++)
        coordinates[d] = at[d];
    return code;
}

void trv_mpi_fujitsu_read(trv_fujitsu_record_t *record)
{
    functions_t fujitsu;
    int dims = 0, shape[3] = {0};
    *(void **)&fujitsu.get_dimension = dlsym(RTLD_DEFAULT, "FJMPI_Topology_get_dimension");
    *(void **)&fujitsu.get_shape = dlsym(RTLD_DEFAULT, "FJMPI_Topology_get_shape");
    *(void **)&fujitsu.get_coords = dlsym(RTLD_DEFAULT, "FJMPI_Topology_get_coords");
    if (!fujitsu.get_dimension || !fujitsu.get_shape || !fujitsu.get_coords)
        return;
    record->present = 1;
    record->code = fujitsu.get_dimension(&dims);
    if (record->code == MPI_SUCCESS)
        record->code = fujitsu.get_shape(&shape[0], &shape[1], &shape[2]);
    record->dims = dims;
    if (record->code != MPI_SUCCESS || dims < 1 || dims > 3)
        return;
    for (int d = 0; d < dims; d++)
        record->shape[d] = shape[d];
    record->code = coordinates_get(&fujitsu, VIEW_LOGICAL, dims, record->logical);
    if (record->code == MPI_SUCCESS)
        record->has_tofu = coordinates_get(&fujitsu, VIEW_TOFU, 6, record->tofu) == MPI_SUCCESS;
}
