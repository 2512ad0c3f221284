/*
 * Elements for the executor from MPI's types and operations: a kernel of the core if one exists, MPI_Reduce_local if
 * the type has no gaps, or otherwise the reason why only the MPI library can reduce them.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_ELEMENTS_H
#define TRIVANCE_MPI_OPERATIONS_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include <trivance/execute.h>

typedef enum trv_mpi_reducer {
    TRV_MPI_KERNEL, /* a type and an operation of the core */
    TRV_MPI_LOCAL,  /* MPI_Reduce_local as the executor's callback */
    TRV_MPI_LIBRARY /* fall back to the MPI library's collective */
} trv_mpi_reducer_t;

typedef struct trv_mpi_elements {
    trv_mpi_reducer_t reducer;
    trv_type_t type; /* type and op are valid for TRV_MPI_KERNEL only */
    trv_op_t op;
    size_t size; /* bytes from one element to the next */
    bool exact;  /* every order of evaluation gives the same bits */
    bool idempotent;
    bool commutative;
    bool predefined;    /* type and operation are predefined by MPI, so their handles never change */
    const char *reason; /* for TRV_MPI_LIBRARY, for the log; else NULL */
} trv_mpi_elements_t;

/* MPI_SUCCESS, or MPI_ERR_TYPE or MPI_ERR_OP with the message in trv_last_error(). */
int trv_mpi_elements(MPI_Datatype datatype, MPI_Op op, trv_mpi_elements_t *elements);

/* The bytes of `count` elements of `size` bytes. They must be at most 2^50, so that products with a number of ranks do
 * not overflow. MPI_SUCCESS, or MPI_ERR_COUNT with the message in trv_last_error(). */
int trv_mpi_count_bytes(MPI_Count count, size_t size, size_t *bytes);

/* The arguments of MPI_Reduce_local, and a scratch buffer for one tile of elements. */
typedef struct trv_mpi_local {
    MPI_Datatype datatype;
    MPI_Op op;
    bool commutative;
    size_t size;
    size_t tile; /* elements in `scratch` */
    void *scratch;
} trv_mpi_local_t;

int trv_mpi_local_init(trv_mpi_local_t *local, const trv_mpi_elements_t *elements, MPI_Datatype datatype, MPI_Op op);
void trv_mpi_local_clear(trv_mpi_local_t *local);

/* trv_elements_t.reduce with a trv_mpi_local_t as its context. */
int trv_mpi_local_reduce(void *context, void *destination, const void *const *source, int sources, size_t count);

#endif
