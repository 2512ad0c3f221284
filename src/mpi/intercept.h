/*
 * What stands between a program and its MPI library: one entry per collective, behind the preload
 * libraries and the Open MPI component.
 *
 * An entry returns true when the call was served; *code is then what the program's call returns, its error handler has
 * been called if it is an error. False means pass: the caller hands the program's own arguments to the PMPI_ function.
 * Nothing has been sent then that any other rank does not know of.
 *
 * Whether a call passes depends on facts that are equal on all ranks: the environment, count (AllGather: bytes), type,
 * operation, communicator. Arguments that are wrong pass too: what follows is the MPI library's own error. What may
 * differ between ranks (memory, buffers on a GPU) is agreed on when a communicator or a shape of call is first seen.
 */
#ifndef TRIVANCE_MPI_INTERCEPT_H
#define TRIVANCE_MPI_INTERCEPT_H

#include <stdbool.h>

#include <mpi.h>

#include "mpi/fallback.h"
#include "mpi/gather.h"
#include "mpi/request.h"

/* AllReduce, and Reduce-Scatter in its block form. */
bool trv_mpi_intercept_reduce(const trv_mpi_arguments_t *call, MPI_Comm comm, int *code);

bool trv_mpi_intercept_allgather(const trv_mpi_gather_t *gather, MPI_Comm comm, int *code);

/* AllReduce of one byte. */
bool trv_mpi_intercept_barrier(MPI_Comm comm, int *code);

/* Non-blocking and persistent calls: a request that can be started, or NULL: pass. Nothing in here waits for another
 * rank, so only what a blocking call of the same shape on the same communicator has made ready is served. One of
 * `call` and `gather` is NULL. */
trv_mpi_request_t *trv_mpi_intercept_post(const trv_mpi_arguments_t *call, const trv_mpi_gather_t *gather,
                                          MPI_Comm comm, bool persistent, void (*done)(void *context, int code),
                                          void *context);

/* Serves calls on a communicator by this algorithm from now on, or (`mpi`) leaves them to the MPI library. Collective; a
 * name that does not serve is told, and changes nothing. */
void trv_mpi_intercept_hint(MPI_Comm comm, const char *algorithm);

/* Counts a call that always passes, and says why at the level info. */
void trv_mpi_intercept_note(const char *name, const char *why, MPI_Comm comm);

#endif
