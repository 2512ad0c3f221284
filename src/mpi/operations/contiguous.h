/*
 * Types whose elements are contiguous, so that their bytes are moved without MPI_Pack; and whether types are committed.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_CONTIGUOUS_H
#define TRIVANCE_MPI_OPERATIONS_CONTIGUOUS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Checks a type without an operation. *size: bytes of an element, or 0 if it has gaps, or its parts are not known to be
 * in the order of their addresses. MPI_SUCCESS, or MPI_ERR_TYPE with the message in trv_last_error(). */
int trv_mpi_contiguous(MPI_Datatype datatype, size_t *size);

/* Whether the MPI library accepts the type in communication: a derived type must be committed. Takes a few
 * nanoseconds. */
bool trv_mpi_is_committed(MPI_Datatype datatype);
/* Returns MPI_ERR_TYPE, for a type that is not committed, with the message in trv_last_error(). */
int trv_mpi_fail_uncommitted(void);

#endif
