/*
 * The state of a run on a node, and its vectors. Vectors of several blocks are in node order: by coordinate, and at
 * each coordinate by rank.
 *
 *     input    of each rank that contributes: `in_count` elements, copied to the shared memory in chunks
 *     whole    of the leader: the inputs added, concatenated, or that of the root; input of the torus's schedule
 *     result   of the leader: `out_count` elements, of which each rank copies `wanted` to its output
 *
 * In an All-to-All `whole` has, for every rank in node order, its blocks from the ranks of this node; after the
 * schedule, for every node and each rank of this node, the blocks from the ranks of that node. `result` is published by
 * rank of this node, so that what each of them wants is contiguous.
 *
 * `whole` and `result` are parts of the program's buffers, if these have the right size and order, or of `scratch`.
 */
#ifndef TRIVANCE_MPI_NODE_NODE_RUN_H
#define TRIVANCE_MPI_NODE_NODE_RUN_H

#include "execute/run/run_scratch.h"
#include "mpi/node/memory.h"

/* A part of a vector, in elements. */
typedef struct part {
    size_t first, count;
} part_t;

/* How the leader obtains `whole` from the inputs of its node. */
typedef enum assembly { NOTHING, SUM, CONCATENATION, INTERLEAVING, FROM_ROOT } assembly_t;

struct trv_mpi_node_run {
    trv_mpi_node_t *node;
    int slot;
    trv_collective_t collective;
    int root_node, root_index; /* coordinate of the root's node, and the root's index on it */
    trv_elements_t elements;
    size_t size, chunk_count; /* bytes of an element; elements of a chunk */
    trv_plan_t *plan;
    const void **source;        /* scratch memory: the inputs of all ranks of the node, for the kernels */
    trv_plan_options_t options; /* its functions for scratch memory */
    trv_run_scratch_t scratch;  /* leader: memory of the current run */
    unsigned idle;              /* number of unsuccessful tests */

    size_t count; /* of the call: elements of the vector or of a block */
    uint64_t signature;
    uint64_t base, chunks; /* the number of this run's first chunk in its slot, and the number of its chunks */
    const char *input;
    char *output;
    assembly_t assembly;
    size_t in_count, out_count;
    uint64_t in_chunks, out_chunks; /* out_chunks: 0 on the leader if only the leader copies `result` */
    bool contributes;               /* copies its input to the shared memory */
    part_t wanted;                  /* of `result`; count 0: nothing */
    char *whole, *result;           /* leader */
    size_t whole_at;                /* CONCATENATION: element of `whole` at which the blocks of the node begin;
                                     * INTERLEAVING: 0 */
    const void *plan_input;
    void *plan_output;
    size_t plan_count;
    bool delivered; /* leader: its part of `result` is in its output */
    /* Chunks of this run after each step; finished: published or fetched. */
    uint64_t contributed, reduced, collected, finished;
    bool torus_started, torus_done;
};

/* Whether the root is on this node. */
static inline bool trv_mpi_node_has_root(const trv_mpi_node_run_t *run)
{
    return run->root_node == run->node->coordinate;
}

/* Fills the members from `assembly` on for a start with run->count, run->input and run->output, and assembles what the
 * leader has itself. TRV_OK, or TRV_ERR_MEMORY: no scratch memory on the leader. */
int trv_mpi_node_run_prepare(trv_mpi_node_run_t *run);

/* The root with which the run of another rank of the node has this signature, if it differs from this run only in the
 * root; otherwise -1. */
int trv_mpi_node_run_find_root(const trv_mpi_node_run_t *run, uint64_t signature);

/* Copies a range of a vector of blocks, in the order of the communicator's ranks, to `part`, in node order. */
void trv_mpi_node_to_node_order(const trv_mpi_node_run_t *run, char *part, const char *vector, part_t range);

/* Copies a chunk of the input of a rank of the node to its place in `whole`. */
void trv_mpi_node_run_place(const trv_mpi_node_run_t *run, int rank, const char *from, part_t chunk);

/* Copies a chunk of `result`, in the order in which it is published. */
void trv_mpi_node_run_publish(const trv_mpi_node_run_t *run, char *to, part_t chunk);

/* Copies the elements of `range` that this rank wants to its output; `from` is the address of the range in the
 * published result. */
void trv_mpi_node_run_deliver(const trv_mpi_node_run_t *run, const char *from, part_t range);

/* Copies what the leader wants of `result` to its output. */
void trv_mpi_node_run_deliver_own(const trv_mpi_node_run_t *run);

#endif
