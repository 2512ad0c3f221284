/*
 * Small agreements between the ranks of a communicator during the program's own collective on it, so that the order of
 * exchanges is the program's. Before they have a context id they use the MPI library's non-blocking collectives on the
 * program's communicator; afterwards messages of our own on the domain's, a *circle*, which nothing of the program's can
 * come between (Open MPI mixes up the order of non-blocking collectives while an MPI_Comm_idup is pending). They are
 * polled for, never waited for inside MPI: ranks that outnumber cores must give way to each other.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_EXCHANGE_H
#define TRIVANCE_MPI_COMMUNICATOR_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

/* MPI_Comm_idup is called on it: from now on, as all its ranks know, the three below take MPI's blocking collectives,
 * which nothing mixes up. For a library in front of MPI, whose requests nobody waits for meanwhile. */
void trv_mpi_mark_duplicated(MPI_Comm comm);

/* The greatest of every word over all ranks. Words are 0 … TRV_MPI_WORD_MAX: as signed numbers, because MPICH 4.0
 * compares unsigned ones as if they were. `what` the ranks have to do, in words, for a rank that waits too long. All
 * three return MPI's code. */
#define TRV_MPI_WORD_MAX INT64_MAX
int trv_mpi_greatest(MPI_Comm comm, int64_t *word, int words, const char *what);

/* The same over both groups of an intercommunicator. */
int trv_mpi_greatest_of_both(MPI_Comm comm, int64_t *word, const char *what);

/* Gives the data of rank `from` to all. */
int trv_mpi_tell(MPI_Comm comm, void *data, size_t bytes, int from, const char *what);

/* Collects `bytes` of every rank in the order of their ranks. */
int trv_mpi_collect(MPI_Comm comm, const void *mine, void *all, size_t bytes, const char *what);

/* The ranks of a communicator on a domain's, and a tag for nothing but its exchanges. */
typedef struct trv_mpi_circle {
    MPI_Comm comm;
    const int *member; /* the rank in `comm` of every rank; NULL: the same */
    int rank, ranks, tag;
} trv_mpi_circle_t;

/* As above; at most so many words, and rank 0 tells. */
#define TRV_MPI_WORDS_MAX 16
int trv_mpi_circle_greatest(const trv_mpi_circle_t *circle, int64_t *word, int words, const char *what);
int trv_mpi_circle_tell(const trv_mpi_circle_t *circle, void *data, size_t bytes, const char *what);

/* A word that two ranks have in common if and only if `greatest` leaves both words as they were: word[0] the value,
 * word[1] its complement. */
void trv_mpi_word_pair(int64_t word[2], uint64_t value);
int trv_mpi_word_agrees(const int64_t word[2]);

#endif
