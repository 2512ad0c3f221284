/*
 * The state of a communicator, as far as there is one, and the beginning of all.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_ATTRIBUTE_H
#define TRIVANCE_MPI_COMMUNICATOR_ATTRIBUTE_H

#include "mpi/communicator/state.h"

/* Makes the job's domain, after MPI_Init: collective over MPI_COMM_WORLD, whether or not anything is set, for the
 * drop-in and the component; `wanted`: this rank is asked to serve (a priority of the component). Once; later calls do
 * nothing. Returns whether anything will ever be served. */
bool trv_mpi_begin(bool wanted);
/* Whether the drop-in may serve anything: false before trv_mpi_begin, and where it found that all calls pass. */
bool trv_mpi_begun(void);

/* The state of a communicator, made at its first collective, which is this call, on all ranks; *state = NULL for an
 * intercommunicator, for what is no communicator, and under the drop-in for one of one rank. Under the drop-in what
 * keeps one rank from having it makes all ranks abandon it; in the API it is the error of all. MPI_SUCCESS, or an error
 * class with a sentence in trv_last_error(). Not configured yet perhaps: see trv_mpi_state_configure. */
int trv_mpi_state_find(MPI_Comm comm, trv_mpi_state_t **state);

/* Whether all ranks are of this MPI_COMM_WORLD. The ranks of a world that does not know us would not come to the
 * exchange; a communicator of several worlds is so on all of them, and is left alone. Open MPI looks ranks up one by one,
 * so large communicators, which nobody has put together from several worlds yet, are not asked. */
bool trv_mpi_within_world(MPI_Comm comm, int ranks);

/* The state that an earlier call made; false if there is none, or it is not configured, or abandoned. Local. */
bool trv_mpi_state_known(MPI_Comm comm, trv_mpi_state_t **state);

/* Sets whether this thread is in a call that duplicates a communicator. Returns the previous value, which the caller
 * restores afterwards, because copy callbacks of the program may duplicate other communicators. Open MPI 4.1 copies
 * attributes in MPI_Comm_create_group and MPI_Intercomm_create, too; with it, a communicator inherits only in calls that
 * duplicate. MPICH follows the standard. */
bool trv_mpi_duplicates(bool duplicates);

#endif
