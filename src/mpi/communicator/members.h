/*
 * The ranks of a communicator within a domain; shared by a communicator and its duplicates, whose ranks are the same.
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
    int *of;      /* the rank in the domain of every rank; NULL: the same */
    int *scratch; /* two numbers of every rank, until the wiring is known: made before the ranks agree, as all is that
                     they rely on */
    struct trv_mpi_wiring *wiring;
} trv_mpi_members_t;

static inline int trv_mpi_member(const trv_mpi_members_t *members, int rank)
{
    return members->of ? members->of[rank] : rank;
}

#endif
