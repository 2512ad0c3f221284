/*
 * One collective that is measured: a plan, or the MPI library's own by any of its algorithms.
 */
#ifndef TRIVANCE_CLI_MPI_CALL_H
#define TRIVANCE_CLI_MPI_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include <trivance/algorithms.h>
#include <trivance/reduce.h>
#include <trivance/trivance_mpi.h>

#define CALL_LIBRARY "mpi" /* the algorithm's name where the MPI library's own serves */

typedef struct call {
    MPI_Comm comm;
    trv_collective_t collective;
    trv_type_t type;
    trv_op_t op;
    uint64_t count; /* the executor's: the vector, or a block */
    void *send;     /* or MPI_IN_PLACE */
    void *receive;
    int setting;                            /* of the MPI library: the number of its algorithm, 0 for its own choice */
    TRV_Plan plan;                          /* TRV_PLAN_NULL: the MPI library's own collective */
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* that serves */
    int steps;                              /* of it; 0 for the library's own */
    uint64_t bytes_sent;                    /* by this rank */
} call_t;

/* Makes the plan of a name, a family, planned or auto on a torus (NULL: that of the environment); for CALL_LIBRARY
 * none. Or that of a schedule. Collective. 0, or a negative code with a sentence on every rank. */
int call_create(call_t *call, const char *torus, const char *algorithm);
int call_create_schedule(call_t *call, const trv_schedule_t *schedule);
void call_free(call_t *call);
/* 0 or TRV_ERR_TRANSPORT. */
int call_run(const call_t *call);

/* MPI_DATATYPE_NULL for a type that MPI has not. */
MPI_Datatype call_mpi_type(trv_type_t type);
MPI_Op call_mpi_op(trv_op_t op);

/* ---- The MPI library's algorithms of AllReduce (call_library.c) -------------------------------------------------- */

/* Before MPI_Init: lets the library's algorithms be chosen. */
void call_library_prepare(void);
/* The name of the i-th, NULL behind the last, and its number. The first one is the library's own choice. */
const char *call_library_name(int i, int *setting);
/* The communicator on which the library takes the algorithm; MPI_COMM_NULL after a sentence where it cannot be chosen.
 * Collective over `comm`, for the life of the program. */
MPI_Comm call_library_comm(MPI_Comm comm, int setting);
/* Before a call, for libraries that look at their variable in every call. */
void call_library_choose(int setting);
void call_library_end(void);

#endif
