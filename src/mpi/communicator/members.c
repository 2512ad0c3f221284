/*
 * Members: their life.
 */
#include "mpi/communicator/members.h"

#include <stdlib.h>

#include "common/error.h"
#include "mpi/communicator/wiring.h"

trv_mpi_members_t *trv_mpi_members_create(int rank, int ranks)
{
    trv_mpi_members_t *members = calloc(1, sizeof *members);
    int *of = malloc((size_t)ranks * sizeof *of), *room = malloc(2 * (size_t)ranks * sizeof *room);
    trv_mpi_wiring_t *wiring = calloc(1, sizeof *wiring);
    if (!members || !of || !room || !wiring) {
        free(members);
        free(of);
        free(room);
        free(wiring);
        trv_fail_memory();
        return NULL;
    }
    *members = (trv_mpi_members_t){.rank = rank, .ranks = ranks, .of = of, .room = room,
                                   .wiring = wiring};
    atomic_init(&members->references, 1);
    return members;
}

void trv_mpi_members_hold(trv_mpi_members_t *members)
{
    atomic_fetch_add_explicit(&members->references, 1, memory_order_relaxed);
}

void trv_mpi_members_release(trv_mpi_members_t *members)
{
    if (!members || atomic_fetch_sub_explicit(&members->references, 1, memory_order_acq_rel) > 1)
        return;
    trv_mpi_wiring_clear(members->wiring);
    free(members->wiring);
    trv_mpi_domain_release(members->domain);
    free(members->of);
    free(members->room);
    free(members);
}
