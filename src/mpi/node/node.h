/*
 * Several ranks per node: AllReduce in three stages.
 *
 *     1  the ranks of a node add their vectors, in the order of their ranks, in memory that they share
 *     2  the lowest of them, its leader, runs the torus's schedule with the other leaders
 *     3  the others copy the result
 *
 *     node 0:  0 1 2 3 -> 0 ──┐ torus ┌── 4 <- 4 5 6 7 :node 1
 *
 * All in steps of a test, as plans are; ranks wait for counters in the shared memory, which only grow, never for a
 * barrier. Every rank adds a part of the vector, or the leader alone where it is short. A vector passes through in
 * chunks, of which the memory holds two, and the stages are a pipeline: while some chunks travel, the ones behind them
 * are added, and those before them copied.
 */
#ifndef TRIVANCE_MPI_NODE_NODE_H
#define TRIVANCE_MPI_NODE_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include <trivance/execute.h>

/* An element must not be larger. */
#define TRV_MPI_NODE_CHUNK_BYTES 65536

typedef struct trv_mpi_node trv_mpi_node_t;

/* Where a node is made. */
typedef struct trv_mpi_node_place {
    MPI_Comm comm;     /* which the node keeps using; its errors are returned */
    int tag;           /* of the messages that make it: no others have it */
    int rank, ranks;   /* this one's index among the ranks of the node, and their number */
    const int *member; /* their ranks in `comm`, ascending; the first one leads */
} trv_mpi_node_place_t;

/* Collective over the ranks of the node, and them only: all get the same code and the same sentence. Ranks that cannot
 * take part (no memory, say) do so to the end, because the others wait. */
int trv_mpi_node_create(trv_mpi_node_t **node, const trv_mpi_node_place_t *where);
/* Local. After all its runs. */
void trv_mpi_node_destroy(trv_mpi_node_t *node);
/* Whether this rank is the lowest one. */
bool trv_mpi_node_leads(const trv_mpi_node_t *node);

/* Whether a slot is free for one more run that is not shared: the same answer on all ranks. */
bool trv_mpi_node_has_free_slot(const trv_mpi_node_t *node);

/* An AllReduce, to be run many times, of any count. `shared`: those of a position (state.h) run one after the
 * other; any other has a part of the memory to itself, and all ranks make and destroy these in the same order. */
typedef struct trv_mpi_node_run trv_mpi_node_run_t;

/* `plan`: the leaders' (NULL on other ranks), which must outlive the run. TRV_ERR_UNSUPPORTED, on all ranks alike,
 * where there are too many runs that are not shared. */
int trv_mpi_node_run_create(trv_mpi_node_run_t **run, trv_mpi_node_t *node, const trv_elements_t *elements,
                            trv_plan_t *plan, bool shared);
/* The position of a shared run's later starts, 0 … TRV_MPI_TURNS. */
void trv_mpi_node_run_place(trv_mpi_node_run_t *run, int position);
void trv_mpi_node_run_destroy(trv_mpi_node_run_t *run);

/* As trv_plan_start_count, trv_plan_test and trv_plan_describe_as; a start cannot fail. */
void trv_mpi_node_run_start(trv_mpi_node_run_t *run, size_t count, const void *input, void *output);
int trv_mpi_node_run_test(trv_mpi_node_run_t *run);
void trv_mpi_node_run_describe(const trv_mpi_node_run_t *run, const int *name, char *text, size_t size);

#endif
