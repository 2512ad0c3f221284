/*
 * The memory that the ranks of a node share. Several runs use it at the same time, each in a slot of its own:
 *
 *     slot   collected, ready             counters of the leader's
 *            rank 0 … k-1                 given, of what kind; reduced, taken
 *            inputs of rank 0 … k-1       two chunks each: what the others add
 *            sums                         two chunks: what others than the leader have added
 *            results                      two chunks
 *
 * Chunks are numbered through all runs of a slot; a counter says how many of them are done.
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

#define NODE_POSITIONS TRV_MPI_POSITIONS     /* of shared runs: the first slots */
#define NODE_SLOTS     (NODE_POSITIONS + 15) /* the others are each for one run at a time */
#define NODE_CHUNKS    2                     /* in flight */

/* Alone on its line of the cache. */
typedef struct node_counter {
    alignas(64) _Atomic uint64_t value;
} node_counter_t;

typedef struct node_rank {
    node_counter_t given;   /* chunks whose input lies in the memory … */
    _Atomic uint64_t kind;  /* … of a vector of this kind; on the same line of the cache */
    node_counter_t reduced; /* chunks of which this rank has added its part */
    node_counter_t taken;   /* chunks whose result this rank has copied */
} node_rank_t;

typedef struct node_head {
    node_counter_t collected; /* chunks whose sums the leader has copied */
    node_counter_t ready;     /* chunks whose results lie in the memory */
    node_rank_t rank[];
} node_head_t;

struct trv_mpi_node {
    MPI_Comm comm;   /* asked for progress while waiting */
    int rank, ranks; /* of the node */
    int number;      /* this rank's in `comm` */
    unsigned char *memory;
    size_t bytes, slot_bytes;
    bool taken[NODE_SLOTS];
    uint64_t chunks[NODE_SLOTS]; /* of all runs that were started in the slot: the same on all ranks */
};

node_head_t *trv_mpi_node_head(const trv_mpi_node_t *node, int slot);
/* Where a chunk's input of a rank, sum and result lie. */
char *trv_mpi_node_input(const trv_mpi_node_t *node, int slot, int rank, uint64_t chunk);
char *trv_mpi_node_sum(const trv_mpi_node_t *node, int slot, uint64_t chunk);
char *trv_mpi_node_result(const trv_mpi_node_t *node, int slot, uint64_t chunk);

#endif
