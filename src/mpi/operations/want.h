/*
 * The arguments of a call, checked and in the executor's terms.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_WANT_H
#define TRIVANCE_MPI_OPERATIONS_WANT_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include <trivance/schedule.h>

#include "collective/signature.h"
#include "mpi/operations/elements.h"

/* A call as the program makes it, but for AllGather with types that differ (gather.h). */
typedef struct trv_mpi_arguments {
    trv_collective_t collective;
    const void *input; /* or MPI_IN_PLACE */
    void *output;
    MPI_Count count;
    MPI_Datatype datatype;
    MPI_Op op; /* not for AllGather */
} trv_mpi_arguments_t;

/* For AllGather count, datatype and op are those of bytes: see trv_mpi_bytes. */
typedef struct trv_mpi_want {
    trv_collective_t collective;
    size_t count; /* of the executor: the vector for AllReduce, a block for the others */
    MPI_Datatype datatype;
    MPI_Op op;
    trv_mpi_elements_t elements;
    const trv_schedule_t *schedule; /* the user's own; NULL: one is chosen */
} trv_mpi_want_t;

/* Count, type and operation into a want. MPI_SUCCESS or an error class. */
int trv_mpi_want(const trv_mpi_arguments_t *arguments, trv_mpi_want_t *want);

/* A want of AllGather: `bytes` from every rank. */
trv_mpi_want_t trv_mpi_bytes(size_t bytes);

static inline trv_signature_t trv_mpi_signature(const trv_mpi_want_t *want)
{
    return (trv_signature_t){.collective = want->collective,
                             .element_bytes = want->elements.size,
                             .exact = want->elements.exact,
                             .idempotent = want->elements.idempotent};
}

/* Bytes of the whole vector on so many ranks. */
static inline size_t trv_mpi_vector_bytes(const trv_mpi_want_t *want, int ranks)
{
    const trv_signature_t signature = trv_mpi_signature(want);
    return trv_signature_bytes(&signature, want->count, ranks);
}

/* Whether what serves one serves the other, whatever their counts. Only what is the same on all ranks is looked at: a
 * kernel's type rather than its handle (MPI_INT here may be MPI_INTEGER there). Handles of user-defined types and
 * operations may be freed and given out again; there the shape is what counts. */
bool trv_mpi_same_kind(const trv_mpi_want_t *a, const trv_mpi_want_t *b);

/* A number that differs where two wants are not of one kind; the same on all ranks. */
uint64_t trv_mpi_kind_hash(const trv_mpi_want_t *want);

/* What the library does with a send buffer that shares memory with the receive buffer, without MPI_IN_PLACE. MPI forbids
 * it. The call is served from a copy, so that no other rank waits or gets wrong results; then it is an error where it is
 * one to the MPI library beneath: in MPICH, where the send buffer begins where this rank's part of the receive buffer
 * does. With TRIVANCE_CHECK it is always an error, of which all ranks learn before anything is sent. */
typedef enum trv_mpi_alias { TRV_MPI_APART, TRV_MPI_COPIED, TRV_MPI_FORBIDDEN } trv_mpi_alias_t;
trv_mpi_alias_t trv_mpi_alias(const trv_mpi_want_t *want, int rank, int ranks, const void *input, const void *output);
/* MPI_ERR_BUFFER, with the sentence, for what is forbidden; else MPI_SUCCESS. */
int trv_mpi_alias_class(trv_mpi_alias_t alias);

#endif
