/*
 * Waiting: poll, then give the core away, then, where ranks outnumber cores, sleep for an instant.
 */
#ifndef TRIVANCE_TRANSPORT_MPI_WAITING_H
#define TRIVANCE_TRANSPORT_MPI_WAITING_H

#include <mpi.h>

/* What to do after so many polls in vain: nothing, sched_yield, or a short sleep. */
void trv_mpi_pause(unsigned polls);

/* Waits for a request of MPI; MPI's code. */
int trv_mpi_poll(MPI_Request *request);

/* What every pause does first: a rank that waits for one thing makes progress with all others, or ranks that wait in
 * another order would wait for ever. Set once; it may be called in the midst of itself. */
void trv_mpi_wait_meanwhile(int (*progress)(void));

#endif
