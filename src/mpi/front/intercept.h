/*
 * Interception of MPI calls: one entry per collective, which the preload libraries and the Open MPI component call.
 *
 * An entry returns true when the call was served; *code is then what the program's call returns, its error handler has
 * been called if it is an error. False means pass: the caller hands the program's own arguments to the PMPI_ function.
 * Whether a call passes is the same on all ranks (serve.c), except on a rank where the communicator is broken: there it
 * returns an error. Invalid arguments pass, too, so that the MPI library reports them.
 */
#ifndef TRIVANCE_MPI_FRONT_INTERCEPT_H
#define TRIVANCE_MPI_FRONT_INTERCEPT_H

#include <stdbool.h>

#include <mpi.h>

#include "mpi/front/serve.h"

/* After the MPI library's MPI_Init, on all ranks: they compare what they are and how they are set, and make what they
 * need. `wanted`: see trv_mpi_begin. Whatever comes before passes. Once; later calls do nothing. */
void trv_mpi_intercept_begin(bool wanted);

/* AllReduce, and Reduce-Scatter in its block form. */
bool trv_mpi_intercept_reduce(const trv_mpi_arguments_t *call, MPI_Comm comm, int *code);

/* Reduce-Scatter whose counts, a list of so many bytes, are not all equal: passes; with TRIVANCE_CHECK the ranks compare
 * what they call, because on others they may be equal. */
bool trv_mpi_intercept_uneven(const trv_mpi_arguments_t *call, const void *counts, size_t bytes, MPI_Comm comm,
                              int *code);

bool trv_mpi_intercept_allgather(const trv_mpi_gather_t *gather, MPI_Comm comm, int *code);

/* AllReduce of one byte. */
bool trv_mpi_intercept_barrier(MPI_Comm comm, int *code);

/* Non-blocking and persistent calls: a request that can be started, or NULL: pass, or an error in *code. Nothing in
 * here waits for another rank, so only what a blocking call of the same kind and size on the same communicator has made
 * ready is served. `done` and `context` NULL: the caller has no memory for its own part, an error where a schedule is
 * ready. */
trv_mpi_request_t *trv_mpi_intercept_post(const trv_mpi_call_t *call, MPI_Comm comm, bool persistent,
                                          void (*done)(void *context, int class), void *context, int *code);

/* Serves calls on a communicator by this algorithm from now on, leaves them to the MPI library (`mpi`), or does again
 * what the environment says (`default`); NULL: this rank has no hint, others may. Collective; a name that does not
 * serve, or that is not the same on all ranks, is told, and changes nothing. */
void trv_mpi_intercept_hint(MPI_Comm comm, const char *algorithm);

/* Counts a call that always passes, and says why at the level info. */
void trv_mpi_intercept_note(const char *name, const char *why, MPI_Comm comm);

#endif
