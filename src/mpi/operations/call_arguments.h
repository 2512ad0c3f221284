/*
 * The arguments of a call: as the program passes them (trv_mpi_reduction_t), and checked and converted for the executor
 * (trv_mpi_arguments_t).
 */
#ifndef TRIVANCE_MPI_OPERATIONS_CALL_ARGUMENTS_H
#define TRIVANCE_MPI_OPERATIONS_CALL_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include <trivance/schedule.h>

#include "collective/signature.h"
#include "execute/run/arguments.h"
#include "mpi/operations/block_counts.h"
#include "mpi/operations/elements.h"

/* The arguments that the program passes to a reduction, or to a plan of any collective, whose input and output have one
 * type. Other calls of collectives that move data use trv_mpi_movement_t. */
typedef struct trv_mpi_reduction {
    trv_collective_t collective;
    const void *input; /* or MPI_IN_PLACE */
    void *output;
    MPI_Count count;
    MPI_Datatype datatype;
    MPI_Op op; /* of a reduction */
    int root;  /* 0 for collectives without a root */
} trv_mpi_reduction_t;

/* The converted arguments. The elements of collectives that move data are bytes: see trv_mpi_byte_arguments. */
typedef struct trv_mpi_arguments {
    trv_collective_t collective;
    int root;     /* 0 for collectives without a root */
    size_t count; /* elements of the vector, or of a block for collectives with blocks */
    MPI_Datatype datatype;
    MPI_Op op;
    trv_mpi_elements_t elements;
    const trv_schedule_t *schedule; /* passed by the user; NULL: one is chosen */
    bool unequal;             /* blocks have different sizes; `count` is then their mean, and not 0 if any is not */
    trv_mpi_blocks_t *blocks; /* their sizes, owned; NULL if they are equal, and in the signature of a decision */
    bool uncommitted;         /* a type of this rank is not committed. The call runs nevertheless, so that no other rank
                                 waits, and then returns MPI_ERR_TYPE */
} trv_mpi_arguments_t;

/* Frees the block sizes. */
void trv_mpi_arguments_clear(trv_mpi_arguments_t *arguments);
/* Sets the sizes of the blocks, which the arguments then own: equal ones as a count. */
void trv_mpi_arguments_set_blocks(trv_mpi_arguments_t *arguments, trv_mpi_blocks_t *blocks, int ranks);

/* Checks and converts count, type and operation. MPI_SUCCESS, or an error class with the message in
 * trv_last_error(). */
int trv_mpi_arguments(const trv_mpi_reduction_t *reduction, trv_mpi_arguments_t *arguments);

/* The converted arguments of a collective that moves vectors or blocks of `bytes`. */
trv_mpi_arguments_t trv_mpi_byte_arguments(trv_collective_t collective, int root, size_t bytes);

/* MPI_SUCCESS; or MPI_ERR_ROOT, with the message in trv_last_error(), if the communicator has no such root. */
int trv_mpi_root_check(trv_collective_t collective, int root, int ranks);

/* Whether a rank is the root of the call. */
static inline bool trv_mpi_is_root(const trv_mpi_arguments_t *arguments, int rank)
{
    return trv_collective_has_root(arguments->collective) && rank == arguments->root;
}

static inline trv_signature_t trv_mpi_signature(const trv_mpi_arguments_t *arguments)
{
    return (trv_signature_t){.collective = arguments->collective,
                             .element_bytes = arguments->elements.size,
                             .exact = arguments->elements.exact,
                             .idempotent = arguments->elements.idempotent};
}

/* Bytes of the input and of the output of a rank. */
static inline size_t trv_mpi_input_bytes(const trv_mpi_arguments_t *arguments, int rank, int ranks)
{
    const trv_mpi_blocks_t *blocks = arguments->blocks;
    const size_t size = arguments->elements.size;
    if (blocks)
        return (arguments->collective == TRV_ALLGATHER ? blocks->count[rank] : blocks->total) * size;
    return trv_input_bytes(arguments->collective, arguments->count * size, ranks, trv_mpi_is_root(arguments, rank));
}
static inline size_t trv_mpi_output_bytes(const trv_mpi_arguments_t *arguments, int rank, int ranks)
{
    const trv_mpi_blocks_t *blocks = arguments->blocks;
    const size_t size = arguments->elements.size;
    if (blocks)
        return (arguments->collective == TRV_ALLGATHER ? blocks->total : blocks->count[rank]) * size;
    return trv_output_bytes(arguments->collective, arguments->count * size, ranks, trv_mpi_is_root(arguments, rank));
}

/* Bytes of the whole vector on `ranks` ranks. */
static inline size_t trv_mpi_vector_bytes(const trv_mpi_arguments_t *arguments, int ranks)
{
    if (arguments->blocks)
        return arguments->blocks->total * arguments->elements.size;
    return trv_vector_bytes(arguments->collective, arguments->elements.size, arguments->count, ranks);
}

/* Whether two calls have the same operation signature, whatever their counts and roots. Only properties that are the
 * same on all ranks are compared: the type of a kernel, not its handle (MPI_INT on one rank may be MPI_INTEGER on
 * another). For user-defined types and operations the sizes and properties are compared, because MPI may reuse the
 * handle of one that was freed. */
bool trv_mpi_same_signature(const trv_mpi_arguments_t *a, const trv_mpi_arguments_t *b);

/* A hash of the operation signature, the same on all ranks. */
uint64_t trv_mpi_signature_hash(const trv_mpi_arguments_t *arguments);

/* Whether the send buffer overlaps the receive buffer, without MPI_IN_PLACE. MPI forbids this. Such a call runs on
 * copies (TRV_MPI_COPIED), so that no other rank waits or gets wrong results. Afterwards it returns an error
 * (TRV_MPI_FORBIDDEN) if the MPI library would. MPICH does if the send buffer begins at the same address as this rank's
 * part of the receive buffer; Open MPI does in AllReduce with more than one element, and in Reduce (with another class,
 * TRV_MPI_FORBIDDEN_ARG). With TRIVANCE_CHECK it is always an error, and all ranks return one before they send any
 * data. */
typedef enum trv_mpi_alias { TRV_MPI_APART, TRV_MPI_COPIED, TRV_MPI_FORBIDDEN, TRV_MPI_FORBIDDEN_ARG } trv_mpi_alias_t;
trv_mpi_alias_t trv_mpi_alias(const trv_mpi_arguments_t *arguments, int rank, int ranks, const void *input,
                              const void *output);
/* The result for buffers that begin at the same address. */
trv_mpi_alias_t trv_mpi_alias_of_same(trv_collective_t collective, size_t count);
/* MPI_ERR_BUFFER for TRV_MPI_FORBIDDEN or MPI_ERR_ARG for TRV_MPI_FORBIDDEN_ARG, with the message in trv_last_error();
 * else MPI_SUCCESS. */
int trv_mpi_alias_class(trv_mpi_alias_t alias);

#endif
