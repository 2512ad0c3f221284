/*
 * Initialization of the library in MPI_Init, and the state of each communicator, stored as an attribute of it.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_ATTRIBUTE_H
#define TRIVANCE_MPI_COMMUNICATOR_ATTRIBUTE_H

#include "mpi/communicator/state.h"

/* Prepares the library in this process, in its first call. Local; later calls do nothing. MPI_SUCCESS; or MPI_ERR_OTHER
 * with the message in trv_last_error(), for example before MPI_Init. */
int trv_mpi_process_init(void);

/* Compares the settings of all ranks and creates the job's domain, after MPI_Init. Collective over MPI_COMM_WORLD; the
 * drop-in and the component call it on every rank, whatever the settings are. `enabled`: Trivance is enabled on this
 * rank (by the priority of the component). Later calls do nothing. Returns whether calls may be dispatched at all. */
bool trv_mpi_job_init(bool enabled);
/* Whether the drop-in may dispatch calls: false before trv_mpi_job_init, and if that found that all calls fall back. */
bool trv_mpi_is_active(void);

/* A communicator of this process alone, which returns errors: calls on it have the MPI library check arguments without
 * an effect on other ranks. MPI_COMM_NULL: it could not be created, or MPI is not running. */
MPI_Comm trv_mpi_own_comm(void);

/* Finds the state of a communicator. The first call on a communicator initializes it and is collective. *state is NULL
 * for an intercommunicator, and under the drop-in for MPI_COMM_NULL, a communicator of one rank, or one with ranks of
 * another MPI_COMM_WORLD. If one rank cannot initialize it, all ranks mark it as abandoned (drop-in) or return an error
 * (API). MPI_SUCCESS, or an error class with the message in trv_last_error(). */
int trv_mpi_state_find(MPI_Comm comm, trv_mpi_state_t **state);

/* Whether all ranks of a communicator belong to this MPI_COMM_WORLD. Ranks of another MPI_COMM_WORLD may not run
 * Trivance and would not take part in the exchanges; all ranks of such a communicator see that and fall back. Open MPI
 * looks up ranks one by one, so communicators of more than 4096 ranks are not checked and count as within the world. */
bool trv_mpi_within_world(MPI_Comm comm, int ranks);

/* The state that an earlier call initialized. False if there is none, or if it has no context id, is not configured or
 * is abandoned. Local. */
bool trv_mpi_state_known(MPI_Comm comm, trv_mpi_state_t **state);

/* Sets whether this thread is in a call that duplicates a communicator. Returns the previous value, which the caller
 * restores afterwards, because copy callbacks of the program may duplicate other communicators. Reason: Open MPI 4.1
 * copies attributes in MPI_Comm_create_group and MPI_Intercomm_create, too, so with Open MPI a communicator inherits
 * its state only while this is set. MPICH follows the standard. */
bool trv_mpi_set_duplicating(bool duplicates);

#endif
