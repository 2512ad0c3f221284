/*
 * Exchanges of small data between the ranks of a communicator, within a collective call of the program on it, so that
 * all ranks perform them in the same order.
 *
 * Before a communicator has a context id, the exchanges use the MPI library's non-blocking collectives on the program's
 * communicator. Afterwards they use point-to-point messages on the domain's communicator, in an *out-of-band group*,
 * which communication of the program cannot disturb (Open MPI confuses the order of non-blocking collectives while an
 * MPI_Comm_idup is pending). Exchanges poll and never block inside MPI: if there are more ranks than cores, a waiting
 * rank must yield its core.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_EXCHANGE_H
#define TRIVANCE_MPI_COMMUNICATOR_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include "collective/group.h"

/* Marks a communicator. Called on all its ranks before the program calls MPI_Comm_idup on it. From then on
 * trv_mpi_allreduce_max, trv_mpi_broadcast and trv_mpi_allgather use MPI's blocking collectives on it, whose order Open
 * MPI does not confuse. Only the preload library may call this: it has no requests, which would make no progress during
 * a blocking collective. */
void trv_mpi_mark_idup(MPI_Comm comm);

/* An allreduce of the maximum of every word (0 … TRV_WORD_MAX). `action` names the action that all ranks must take,
 * such as "make the same call"; a rank that waits too long reports it. This function and the next three return MPI's
 * code. */
int trv_mpi_allreduce_max(MPI_Comm comm, int64_t *word, int words, const char *action);

/* The same over both groups of an intercommunicator, for one word. */
int trv_mpi_allreduce_max_of_both(MPI_Comm comm, int64_t *word, const char *action);

/* A broadcast from rank `from`. */
int trv_mpi_broadcast(MPI_Comm comm, void *data, size_t bytes, int from, const char *action);

/* An allgather of `bytes` from every rank. */
int trv_mpi_allgather(MPI_Comm comm, const void *mine, void *all, size_t bytes, const char *action);

/* An out-of-band group: the ranks of a communicator, on the domain's communicator, with a tag that only its exchanges
 * use. */
typedef struct trv_mpi_oob {
    MPI_Comm comm;
    const int *member; /* the rank in `comm` of every rank of the group; NULL: the same number */
    int rank, ranks, tag;
} trv_mpi_oob_t;

/* Perform an exchange in an out-of-band group. The first one was prepared without a group (collective/group.h). */
int trv_mpi_oob_run(const trv_mpi_oob_t *oob, trv_exchange_t *exchange, const char *action);
int trv_mpi_oob_allreduce_max(const trv_mpi_oob_t *oob, int64_t *word, int words, const char *action);
int trv_mpi_oob_broadcast(const trv_mpi_oob_t *oob, void *data, size_t bytes, const char *action);

#endif
