/*
 * How the ranks of a communicator come to one mind: the MPI library's own collectives on the program's communicator, in
 * the midst of the program's own collective on it, so that their order is the program's. They are polled for, never
 * waited for inside MPI: ranks that outnumber cores must give way to each other.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_EXCHANGE_H
#define TRIVANCE_MPI_COMMUNICATOR_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

/* The greatest of every word over all ranks. Words are 0 … TRV_MPI_WORD_MAX: as signed numbers, because MPICH 4.0
 * compares unsigned ones as if they were. `what` the ranks have to do, in words, for a rank that waits too long. All
 * three return MPI's code. */
#define TRV_MPI_WORD_MAX INT64_MAX
int trv_mpi_greatest(MPI_Comm comm, int64_t *word, int words, const char *what);

/* Gives the data of rank `from` to all. */
int trv_mpi_tell(MPI_Comm comm, void *data, size_t bytes, int from, const char *what);

/* Collects `bytes` of every rank in the order of their ranks. */
int trv_mpi_collect(MPI_Comm comm, const void *mine, void *all, size_t bytes, const char *what);

/* A word that two ranks have in common if and only if `greatest` leaves both words as they were: word[0] the value,
 * word[1] its complement. */
void trv_mpi_word_pair(int64_t word[2], uint64_t value);
int trv_mpi_word_agrees(const int64_t word[2]);

#endif
