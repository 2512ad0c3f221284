/*
 * Checks the arguments of calls and converts them for the executor.
 */
#include "mpi/operations/call_arguments.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/hash.h"
#include "mpi/settings/job_settings.h"
#include "transport/mpi/mpi_library.h"

int trv_mpi_arguments(const trv_mpi_reduction_t *reduction, trv_mpi_arguments_t *arguments)
{
    *arguments = (trv_mpi_arguments_t){.collective = reduction->collective,
                                       .root = reduction->root,
                                       .datatype = reduction->datatype,
                                       .op = reduction->op};
    size_t bytes;
    int code = trv_mpi_count_bytes(reduction->count, 0, &bytes);
    if (code == MPI_SUCCESS)
        code = trv_mpi_elements(reduction->datatype, reduction->op, &arguments->elements);
    if (code == MPI_SUCCESS)
        code = trv_mpi_count_bytes(reduction->count, arguments->elements.size, &bytes);
    arguments->count = code == MPI_SUCCESS ? (size_t)reduction->count : 0;
    return code;
}

void trv_mpi_arguments_clear(trv_mpi_arguments_t *arguments)
{
    free(arguments->blocks);
    arguments->blocks = NULL;
}

void trv_mpi_arguments_set_blocks(trv_mpi_arguments_t *arguments, trv_mpi_blocks_t *blocks, int ranks)
{
    arguments->unequal = !blocks->equal;
    arguments->count = blocks->equal ? blocks->count[0] : (blocks->total + (size_t)ranks - 1) / (size_t)ranks;
    arguments->blocks = blocks->equal ? NULL : blocks;
    if (blocks->equal)
        free(blocks);
}

int trv_mpi_root_check(trv_collective_t collective, int root, int ranks)
{
    if (!trv_collective_has_root(collective) || (root >= 0 && root < ranks))
        return MPI_SUCCESS;
    return trv_fail(TRV_ERR_ARGUMENT, "the root is %d; the ranks of the communicator are 0 … %d", root, ranks - 1),
           MPI_ERR_ROOT;
}

trv_mpi_arguments_t trv_mpi_byte_arguments(trv_collective_t collective, int root, size_t bytes)
{
    /* Elements are always bytes: a rank with a different count must still have the same operation signature. */
    trv_mpi_arguments_t arguments = {.collective = collective, .datatype = MPI_BYTE, .op = MPI_OP_NULL};
    arguments.root = trv_collective_has_root(collective) ? root : 0;
    arguments.count = bytes;
    arguments.elements = (trv_mpi_elements_t){.reducer = TRV_MPI_KERNEL,
                                              .type = TRV_UINT8,
                                              .op = TRV_BOR,
                                              .size = 1,
                                              .exact = true,
                                              .idempotent = true,
                                              .commutative = true,
                                              .predefined = true};
    return arguments;
}

bool trv_mpi_same_signature(const trv_mpi_arguments_t *a, const trv_mpi_arguments_t *b)
{
    const trv_mpi_elements_t *x = &a->elements, *y = &b->elements;
    if (a->collective != b->collective || a->unequal != b->unequal || x->reducer != y->reducer || x->size != y->size ||
        x->predefined != y->predefined || x->commutative != y->commutative || x->reason != y->reason)
        return false;
    if (x->reducer == TRV_MPI_KERNEL)
        return x->type == y->type && x->op == y->op;
    return !x->predefined || (a->datatype == b->datatype && a->op == b->op);
}

uint64_t trv_mpi_signature_hash(const trv_mpi_arguments_t *arguments)
{
    const trv_mpi_elements_t *elements = &arguments->elements;
    bool kernel = elements->reducer == TRV_MPI_KERNEL;
    const uint64_t property[] = {(uint64_t)arguments->collective,
                                 arguments->unequal,
                                 elements->size,
                                 elements->reducer,
                                 elements->predefined,
                                 elements->commutative,
                                 kernel ? (uint64_t)elements->type : 0,
                                 kernel ? (uint64_t)elements->op : 0};
    return trv_hash(TRV_HASH_SEED, property, sizeof property);
}

/* Before it calls the component, Open MPI has checked the buffers already. */
trv_mpi_alias_t trv_mpi_alias_of_same(trv_collective_t collective, size_t count)
{
    if (trv_mpi_library() == TRV_MPICH)
        return TRV_MPI_FORBIDDEN;
    if (trv_mpi_library() != TRV_OPEN_MPI || trv_mpi_is_component())
        return TRV_MPI_COPIED;
    return collective == TRV_REDUCE                   ? TRV_MPI_FORBIDDEN_ARG
           : collective == TRV_ALLREDUCE && count > 1 ? TRV_MPI_FORBIDDEN
                                                      : TRV_MPI_COPIED;
}

trv_mpi_alias_t trv_mpi_alias(const trv_mpi_arguments_t *arguments, int rank, int ranks, const void *input,
                              const void *output)
{
    if (input == MPI_IN_PLACE || arguments->count == 0 || (arguments->blocks && arguments->collective == TRV_ALLGATHER))
        return TRV_MPI_APART; /* in the last case the caller has compared the blocks */
    if (!trv_memory_overlaps(input, trv_mpi_input_bytes(arguments, rank, ranks), output,
                             trv_mpi_output_bytes(arguments, rank, ranks)))
        return TRV_MPI_APART;
    const size_t part = arguments->count * arguments->elements.size;
    const size_t own = (size_t)rank * part; /* the offset of this rank's block among those of all ranks */
    const bool to_block = trv_collective_shape(arguments->collective)->before == TRV_OWNER;
    const bool same = (const char *)input + (arguments->collective == TRV_SCATTER ? own : 0) ==
                      (const char *)output + (to_block ? own : 0);
    const trv_mpi_alias_t alias = same ? trv_mpi_alias_of_same(arguments->collective, arguments->count)
                                       : TRV_MPI_COPIED;
    return alias == TRV_MPI_COPIED && trv_mpi_settings()->check ? TRV_MPI_FORBIDDEN : alias;
}

int trv_mpi_alias_class(trv_mpi_alias_t alias)
{
    if (alias == TRV_MPI_APART || alias == TRV_MPI_COPIED)
        return MPI_SUCCESS;
    trv_fail(TRV_ERR_ARGUMENT,
             "the send buffer and the receive buffer are the same, or overlap; pass MPI_IN_PLACE as the send "
             "buffer, or two buffers that do not overlap");
    return alias == TRV_MPI_FORBIDDEN_ARG ? MPI_ERR_ARG : MPI_ERR_BUFFER;
}
