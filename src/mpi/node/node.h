/*
 * Several ranks per node: collectives in three stages.
 *
 *     1  the leader of each node, its lowest rank, obtains the input of its node from the shared memory: the vectors of
 *        its ranks added in the order of the ranks, their blocks, or the vector of the root
 *     2  the leaders run the torus's schedule of the same collective
 *     3  the other ranks copy their part of the result
 *
 *     node 0:  0 1 2 3 -> 0 ──┐ torus ┌── 4 <- 4 5 6 7 :node 1
 *
 * A test of a run makes progress and never blocks, like a test of a plan. Ranks wait for counters in the shared memory,
 * which only increase; there are no barriers. Each rank reduces a part of the vector, or the leader all of it if it is
 * short. A vector is processed in chunks, of which the memory holds two. In an AllReduce the stages are a pipeline:
 * while the leaders send some chunks, later chunks are being reduced and earlier ones copied. In a Broadcast and a
 * Reduce the last two stages are, and in other collectives the stages follow each other.
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

/* Sets the place of the node among `nodes` nodes, for collectives other than AllReduce. `rank_at`: the communicator's
 * rank at every position in node order, which is by coordinate and at each coordinate by rank; it must exist as long as
 * the node. */
void trv_mpi_node_set_layout(trv_mpi_node_t *node, int coordinate, int nodes, const int *rank_at);
/* The coordinate of a rank of the communicator, and its index at this coordinate. */
int trv_mpi_node_coordinate_of(const trv_mpi_node_t *node, int rank);
int trv_mpi_node_index_of(const trv_mpi_node_t *node, int rank);
/* The rank of the communicator at a coordinate and index. */
int trv_mpi_node_rank_of(const trv_mpi_node_t *node, int coordinate, int index);

/* Whether a slot is free for one more run that is not shared; the same on all ranks. */
bool trv_mpi_node_has_free_slot(const trv_mpi_node_t *node);

/* A collective that can be started repeatedly, with any count. Shared runs with the same
 * position (state.h) use the same slot, one after the other. A run that is not shared has its own slot; all ranks must
 * create and destroy these runs in the same order. */
typedef struct trv_mpi_node_run trv_mpi_node_run_t;

typedef struct trv_mpi_node_call {
    trv_collective_t collective;
    int root;                          /* rank of the communicator; 0 for collectives without a root */
    trv_elements_t elements;           /* bytes, for collectives that move data */
    trv_plan_t *plan;                  /* the leader's, which must outlive the run; NULL on other ranks */
    const trv_plan_options_t *options; /* the functions that allocate scratch memory on the leader; NULL: malloc */
    bool shared;
} trv_mpi_node_call_t;

/* Bytes of scratch memory that a run with this count needs on the leader, for whichever root; 0 on other ranks. */
size_t trv_mpi_node_scratch_bytes(const trv_mpi_node_t *node, trv_collective_t collective, size_t count,
                                  size_t element_bytes);

/* TRV_OK, TRV_ERR_MEMORY, or TRV_ERR_UNSUPPORTED, on all ranks, if no slot is left for a run that is not shared. */
int trv_mpi_node_run_create(trv_mpi_node_run_t **run, trv_mpi_node_t *node, const trv_mpi_node_call_t *call);
/* Sets the position of later starts of a shared run, 0 … TRV_MPI_REQUEST_POSITIONS. */
void trv_mpi_node_run_set_position(trv_mpi_node_run_t *run, int position);
void trv_mpi_node_run_destroy(trv_mpi_node_run_t *run);

/* As trv_plan_start_count, trv_plan_test and trv_plan_describe_as. A start fails, with TRV_ERR_MEMORY, on a leader that
 * has no scratch memory. */
int trv_mpi_node_run_start(trv_mpi_node_run_t *run, size_t count, const void *input, void *output);
int trv_mpi_node_run_test(trv_mpi_node_run_t *run);
void trv_mpi_node_run_describe(const trv_mpi_node_run_t *run, const int *name, char *text, size_t size);

#endif
