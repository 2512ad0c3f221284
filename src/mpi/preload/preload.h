/*
 * Functions that the definitions of the C and of the Fortran functions share.
 */
#ifndef TRIVANCE_MPI_PRELOAD_PRELOAD_H
#define TRIVANCE_MPI_PRELOAD_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include "mpi/front/dispatch.h"

/* Initializes Trivance, after the MPI library's MPI_Init. Collective over MPI_COMM_WORLD. */
void trv_preload_init(void);

/* Applies the hint in a communicator's info, if it has one. Collective. */
void trv_preload_hint(MPI_Comm comm, MPI_Info info);

/* Called before MPI_Comm_idup on a communicator: Open MPI confuses non-blocking collectives while that is pending, so
 * exchanges must not use them (trv_mpi_mark_idup). */
void trv_preload_mark_idup(MPI_Comm comm);

/* Reports a call of the non-blocking or persistent function `name`, which a preload library cannot dispatch. `call`:
 * its arguments, or NULL. */
void trv_preload_report_fallback(const char *name, const trv_mpi_call_t *call, MPI_Comm comm);

#endif
