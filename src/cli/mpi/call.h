/*
 * One collective to be measured: a plan, or the MPI library's collective with any of its algorithms.
 */
#ifndef TRIVANCE_CLI_MPI_CALL_H
#define TRIVANCE_CLI_MPI_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include <trivance/algorithms.h>
#include <trivance/reduce.h>
#include <trivance/trivance_mpi.h>

#define CALL_LIBRARY "mpi" /* the algorithm's name for the MPI library's collective */

typedef struct call {
    MPI_Comm comm;
    trv_collective_t collective;
    trv_type_t type;
    trv_op_t op;
    uint64_t count;                         /* the executor's: the vector, or a block */
    int root;                               /* 0 for collectives without a root */
    void *send;                             /* or MPI_IN_PLACE, as in MPI; for a Broadcast always */
    void *receive;                          /* of the root of a Scatter: or MPI_IN_PLACE */
    int setting;                            /* number of the MPI library's algorithm; 0: its own selection */
    TRV_Plan plan;                          /* TRV_PLAN_NULL: the MPI library's own collective */
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* that is executed */
    int steps;                              /* of the algorithm; 0 for the MPI library's */
    uint64_t bytes_sent;                    /* by this rank */
} call_t;

/* Creates a call: the plan for a name, a family, planned or auto on a torus (NULL: that of the environment), or the
 * MPI library's collective for CALL_LIBRARY. The second function creates the plan of a schedule. Collective. Return
 * 0, or a negative code with an error message on every rank. */
int call_create(call_t *call, const char *torus, const char *algorithm);
int call_create_schedule(call_t *call, const trv_schedule_t *schedule);
void call_free(call_t *call);
/* Runs the call. Returns 0 or TRV_ERR_TRANSPORT. */
int call_run(const call_t *call);

/* The MPI datatype of a type; MPI_DATATYPE_NULL if MPI has none. */
MPI_Datatype call_mpi_type(trv_type_t type);
MPI_Op call_mpi_op(trv_op_t op);

/* ---- The MPI library's algorithms (call_library.c) --------------------------------------------------------------- */

/* Enables the selection of the library's algorithms. Must be called before MPI_Init. */
void call_library_prepare(void);
/* Returns the name of the i-th algorithm (NULL after the last) of a collective and stores its number. The first one is
 * the library's own selection. */
const char *call_library_name(trv_collective_t collective, int i, int *setting);
/* Returns a communicator on which the library uses the algorithm; MPI_COMM_NULL, with an error message, if the
 * algorithm cannot be selected. Collective over `comm`. The communicator exists until the program ends. */
MPI_Comm call_library_comm(MPI_Comm comm, trv_collective_t collective, int setting);
/* Selects the algorithm for the next call. Must precede every call, for libraries that read their control variable
 * in each call. */
void call_library_choose(trv_collective_t collective, int setting);
void call_library_end(void);

#endif
