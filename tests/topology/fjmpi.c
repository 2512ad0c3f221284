/*
 * A stand-in for the rank query interface of Fujitsu MPI: a library that is preloaded into MPI programs. The job has
 * the shape of the variable FJMPI_SHAPE, "4x2" for example, and its ranks are numbered with x fastest, FJMPI_PER_NODE
 * on each node (1). FJMPI_JOB is `torus`, where each dimension is folded in two of the network so that its ends are
 * neighbours; `mesh`, where it is not; `scattered`, where the nodes are no neighbours; or `shared`, a job that has no
 * coordinates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { LOGICAL, TOFU_SYS };

__attribute__((visibility("default"))) int FJMPI_Topology_get_dimension(int *size);
__attribute__((visibility("default"))) int FJMPI_Topology_get_shape(int *x, int *y, int *z);
__attribute__((visibility("default"))) int FJMPI_Topology_get_coords(MPI_Comm comm, int rank, int view, int maxdims,
                                                                     int *coords);

static int job_is(const char *name)
{
    const char *job = getenv("FJMPI_JOB");
    return strcmp(job ? job : "torus", name) == 0;
}

static int shape_read(int shape[3])
{
    const char *text = getenv("FJMPI_SHAPE");
    shape[0] = shape[1] = shape[2] = 0;
    return sscanf(text ? text : "1", "%dx%dx%d", &shape[0], &shape[1], &shape[2]);
}

int FJMPI_Topology_get_dimension(int *size)
{
    int shape[3];
    *size = shape_read(shape);
    return job_is("shared") ? 9 : MPI_SUCCESS;
}

int FJMPI_Topology_get_shape(int *x, int *y, int *z)
{
    int shape[3];
    shape_read(shape);
    *x = shape[0];
    *y = shape[1];
    *z = shape[2];
    return MPI_SUCCESS;
}

int FJMPI_Topology_get_coords(MPI_Comm comm, int rank, int view, int maxdims, int *coords)
{
    int shape[3], logical[3], per_node = getenv("FJMPI_PER_NODE") ? atoi(getenv("FJMPI_PER_NODE")) : 1;
    const int dims = shape_read(shape);
    if (comm != MPI_COMM_WORLD || maxdims != (view == LOGICAL ? dims : 6))
        return MPI_ERR_ARG;
    for (int d = 0, node = rank / per_node; d < 3; d++) {
        const int size = d < dims ? shape[d] : 1;
        logical[d] = node % size;
        node /= size;
        if (view == LOGICAL && d < dims)
            coords[d] = logical[d];
        if (view != TOFU_SYS)
            continue;
        const int folds = job_is("torus") && size > 2, back = folds && logical[d] >= size / 2;
        coords[d] = job_is("scattered") ? 5 * logical[d] : back ? size - 1 - logical[d] : logical[d];
        coords[3 + d] = back;
    }
    return MPI_SUCCESS;
}
