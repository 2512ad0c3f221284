/*
 * The ranks of a communicator within a domain. A communicator shares this with its duplicates, whose ranks are the
 * same.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_MEMBERS_H
#define TRIVANCE_MPI_COMMUNICATOR_MEMBERS_H

#include <stdatomic.h>
#include <stddef.h>

#include "mpi/communicator/domain.h"

typedef struct trv_mpi_members {
    atomic_int references;
    trv_mpi_domain_t *domain;
    int rank, ranks;
    int *of;      /* the rank in the domain of every rank of the communicator; NULL: the same number */
    int *scratch; /* two ints per rank, until the wiring is known; allocated before the exchanges of the initialization,
                     because allocation can fail on a single rank */
    struct trv_mpi_wiring *wiring;
} trv_mpi_members_t;

static inline int trv_mpi_member(const trv_mpi_members_t *members, int rank)
{
    return members->of ? members->of[rank] : rank;
}

#endif
