/*
 * The memory that the ranks of a node share. Several runs use it at the same time, each in a separate slot:
 *
 *     slot   collected, ready             counters of the leader
 *            rank 0 … k-1                 counters of each rank (contributed, reduced, fetched)
 *            inputs of rank 0 … k-1       two chunks each, to be reduced
 *            sums                         two chunks: the parts that ranks other than the leader have reduced
 *            results                      two chunks
 *
 * Chunks are numbered consecutively over all runs of a slot. The value of a counter is the number of processed chunks.
 * With each input and result there is a hash of its run, by which the ranks detect that their calls differ.
 */
#ifndef TRIVANCE_MPI_NODE_MEMORY_H
#define TRIVANCE_MPI_NODE_MEMORY_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/node/node.h"
#include "transport/mpi/channel.h"

#define NODE_POSITIONS TRV_MPI_POSITIONS     /* the first slots, one per position, are for shared runs */
#define NODE_SLOTS     (NODE_POSITIONS + 15) /* each of the others belongs to one run that is not shared */
#define NODE_CHUNKS    2                     /* chunks per buffer */

/* A counter on a separate cache line. */
typedef struct node_counter {
    alignas(64) _Atomic uint64_t value;
} node_counter_t;

typedef struct node_rank {
    node_counter_t contributed;              /* chunks whose input this rank has copied to the memory */
    _Atomic uint64_t signature[NODE_CHUNKS]; /* hash of the run whose input is in each of its buffers */
    node_counter_t reduced;                  /* chunks of inputs that this rank no longer needs, … */
    node_counter_t fetched;                  /* … and of results */
} node_rank_t;

typedef struct node_head {
    node_counter_t collected;                /* chunks of sums that the leader no longer needs */
    node_counter_t ready;                    /* chunks whose results are in the memory */
    _Atomic uint64_t signature[NODE_CHUNKS]; /* hash of the run whose result is in each buffer */
    node_rank_t rank[];
} node_head_t;

struct trv_mpi_node {
    MPI_Comm comm;         /* a run that waits calls MPI on it, so that MPI makes progress */
    int rank, ranks;       /* this rank's index on the node, and the number of its ranks */
    int number;            /* this rank in `comm` */
    int coordinate, nodes; /* of this node, and the number of nodes */
    const int *rank_at;    /* the communicator's rank at every position in node order; NULL: the same number */
    unsigned char *memory;
    size_t bytes, slot_bytes;
    bool slot_used[NODE_SLOTS];
    uint64_t chunks[NODE_SLOTS]; /* number of chunks of all runs started in the slot; the same on all ranks */
};

node_head_t *trv_mpi_node_head(const trv_mpi_node_t *node, int slot);
/* The buffers of a chunk: the input of a rank, the sum and the result. */
char *trv_mpi_node_input(const trv_mpi_node_t *node, int slot, int rank, uint64_t chunk);
char *trv_mpi_node_sum(const trv_mpi_node_t *node, int slot, uint64_t chunk);
char *trv_mpi_node_result(const trv_mpi_node_t *node, int slot, uint64_t chunk);

#endif
