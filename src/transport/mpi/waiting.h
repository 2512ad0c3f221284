/*
 * Waiting: a rank polls, then yields its core, and, if there are more ranks than cores, sleeps for a very short time.
 */
#ifndef TRIVANCE_TRANSPORT_MPI_WAITING_H
#define TRIVANCE_TRANSPORT_MPI_WAITING_H

#include <mpi.h>

/* Called after an unsuccessful poll, with their number: does nothing, yields the core, or sleeps for a short time. */
void trv_mpi_pause(unsigned polls);

/* Waits for a request of MPI; returns MPI's code. */
int trv_mpi_poll(MPI_Request *request);

/* Sets a function that every pause calls first. A rank that waits for one operation must make progress on all others;
 * otherwise ranks that wait for them in different orders would deadlock. `progress` must be reentrant. */
void trv_mpi_set_progress_hook(int (*progress)(void));

#endif
