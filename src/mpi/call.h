/*
 * What every call has in common: its arguments are checked, turned into a want, compared with the other ranks' when
 * TRIVANCE_CHECK asks for it, and overlapping buffers are set right.
 */
#ifndef TRIVANCE_MPI_CALL_H
#define TRIVANCE_MPI_CALL_H

#include <stdint.h>

#include <mpi.h>

#include "mpi/fallback.h"
#include "mpi/operation.h"
#include "mpi/state.h"

/* Count, type and operation into a want. MPI_SUCCESS or an error class. */
int trv_mpi_want(const trv_mpi_arguments_t *arguments, trv_mpi_want_t *want);

/* A want of AllGather: `bytes` from every rank. */
trv_mpi_want_t trv_mpi_bytes(size_t bytes);

/* The least of every word over all ranks. MPI's code. */
int trv_mpi_least(MPI_Comm comm, uint64_t *word, int words);

/* A number that differs where the ranks' torus or algorithm differs. */
uint64_t trv_mpi_setting(const trv_mpi_state_t *state);

/* Compares the want, the setting and `fault` (an error class found on this rank, or MPI_SUCCESS) among all ranks, if
 * TRIVANCE_CHECK is set; otherwise returns `fault`. Where anything differs, all ranks return an error class. */
int trv_mpi_agree(trv_mpi_state_t *state, trv_collective_t collective, const trv_mpi_want_t *want, int fault);

/* Finds buffers that overlap without MPI_IN_PLACE. MPI_ERR_BUFFER with the sentence, or MPI_SUCCESS. */
int trv_mpi_overlap(const trv_mpi_state_t *state, const trv_mpi_want_t *want, const void *input, const void *output);

#endif
