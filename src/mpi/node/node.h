/*
 * Several ranks per node: AllReduce in three stages.
 *
 *     1  the ranks of a node reduce their vectors, in the order of their ranks, in shared memory
 *     2  the lowest rank of each node, its leader, runs the torus's schedule with the other leaders
 *     3  the other ranks copy the result
 *
 *     node 0:  0 1 2 3 -> 0 ──┐ torus ┌── 4 <- 4 5 6 7 :node 1
 *
 * A test of a run makes progress and never blocks, like a test of a plan. Ranks wait for counters in the shared memory,
 * which only increase; there are no barriers. Each rank reduces a part of the vector, or the leader all of it if it is
 * short. A vector is processed in chunks, of which the memory holds two, and the stages are a pipeline: while the
 * leaders send some chunks, later chunks are being reduced and earlier ones copied.
 */
#ifndef TRIVANCE_MPI_NODE_NODE_H
#define TRIVANCE_MPI_NODE_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include <trivance/execute.h>

/* The size of a chunk, and the maximum size of an element. */
#define TRV_MPI_NODE_CHUNK_BYTES 65536

typedef struct trv_mpi_node trv_mpi_node_t;

/* The ranks of a node, and the communicator and tag of the messages by which they create it. */
typedef struct trv_mpi_node_group {
    MPI_Comm comm;     /* not owned; must exist as long as the node; its errors are returned */
    int tag;           /* for the messages that create the node; no other message may use it */
    int rank, ranks;   /* this rank's index on the node, and the number of its ranks */
    const int *member; /* their ranks in `comm`, ascending; the first is the leader */
} trv_mpi_node_group_t;

/* Creates a node. Collective over the ranks of the node only; all of them return the same code, with the same message
 * in trv_last_error(). A rank that has no memory still performs all exchanges, because the others wait for it. */
int trv_mpi_node_create(trv_mpi_node_t **node, const trv_mpi_node_group_t *group);
/* Local. All runs of the node must have been destroyed. */
void trv_mpi_node_destroy(trv_mpi_node_t *node);
/* Whether this rank is the leader of its node, which is the lowest rank. */
bool trv_mpi_node_leads(const trv_mpi_node_t *node);

/* Whether a slot is free for one more run that is not shared; the same on all ranks. */
bool trv_mpi_node_has_free_slot(const trv_mpi_node_t *node);

/* An AllReduce that can be started repeatedly, with any count. Shared runs with the same position (state.h) use the
 * same slot, one after the other. A run that is not shared has its own slot; all ranks must create and destroy these
 * runs in the same order. */
typedef struct trv_mpi_node_run trv_mpi_node_run_t;

/* `plan`: the leader's plan, which must outlive the run; NULL on other ranks. TRV_OK, TRV_ERR_MEMORY, or
 * TRV_ERR_UNSUPPORTED, on all ranks, if no slot is left for a run that is not shared. */
int trv_mpi_node_run_create(trv_mpi_node_run_t **run, trv_mpi_node_t *node, const trv_elements_t *elements,
                            trv_plan_t *plan, bool shared);
/* Sets the position of later starts of a shared run, 0 … TRV_MPI_REQUEST_POSITIONS. */
void trv_mpi_node_run_set_position(trv_mpi_node_run_t *run, int position);
void trv_mpi_node_run_destroy(trv_mpi_node_run_t *run);

/* As trv_plan_start_count, trv_plan_test and trv_plan_describe_as; a start cannot fail. */
void trv_mpi_node_run_start(trv_mpi_node_run_t *run, size_t count, const void *input, void *output);
int trv_mpi_node_run_test(trv_mpi_node_run_t *run);
void trv_mpi_node_run_describe(const trv_mpi_node_run_t *run, const int *name, char *text, size_t size);

#endif
