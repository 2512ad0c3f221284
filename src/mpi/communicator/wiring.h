/*
 * The network of a communicator, as far as the environment and MPI know it: the part of TRIVANCE_TOPOLOGY_FILE's or
 * TRIVANCE_TORUS's that its ranks form, their nodes there where that is no torus, or a Cartesian communicator's dimensions.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_WIRING_H
#define TRIVANCE_MPI_COMMUNICATOR_WIRING_H

#include <stdbool.h>

#include "mpi/communicator/fit.h"
#include "mpi/communicator/members.h"
#include "mpi/node/node.h"

#define TRV_MPI_WHY_MAX 640

typedef enum trv_mpi_known {
    TRV_MPI_FITS,    /* the torus is known */
    TRV_MPI_SET,     /* its nodes are known, and form none: the fit is of a set of nodes */
    TRV_MPI_MISFITS, /* one is known, and the communicator has not the same number of ranks at all its coordinates */
    TRV_MPI_UNKNOWN, /* nothing says */
    TRV_MPI_WRONG,   /* what is said is wrong, or does not fit MPI_COMM_WORLD */
    TRV_MPI_FAILED   /* this rank has no memory for it, or its node has not; the others may not know */
} trv_mpi_known_t;

typedef struct trv_mpi_wiring {
    trv_mpi_known_t known;
    char why[TRV_MPI_WHY_MAX]; /* who says so; or what is wrong */
    trv_mpi_fit_t fit;         /* valid where the torus, or the set of nodes, is known */
    int place;
    bool in_order;        /* place p has rank p */
    bool grid;            /* a mesh by the Cartesian communicator alone */
    bool shared;          /* several ranks share a place: known on all ranks, also where this one's node has failed */
    trv_mpi_node_t *node; /* where several ranks share every place */
    int *member;          /* in the domain, of every place; NULL: place p is rank p there */
} trv_mpi_wiring_t;

/* What the ranks of a communicator said of their places. */
typedef struct trv_mpi_seat {
    int32_t rank;    /* in the domain */
    int32_t place;   /* valid if code > 0 */
    int32_t code;    /* of trv_mpi_world, TRV_ERR_STATE where it is not known yet */
    int32_t taken;   /* the block proposed is */
    uint64_t digest; /* of what is known */
} trv_mpi_seat_t;

/* Of all facts the same are on all ranks: so is the answer, but for TRV_MPI_FAILED. Where several ranks share every
 * place, those of one node make their memory together. `seat`: of every rank. */
void trv_mpi_wiring_init(trv_mpi_wiring_t *wiring, const trv_mpi_members_t *members, const trv_mpi_seat_t *seat,
                         MPI_Comm user, int tag);

static inline bool trv_mpi_wiring_has_fit(const trv_mpi_wiring_t *wiring)
{
    return wiring->known == TRV_MPI_FITS || wiring->known == TRV_MPI_SET;
}

/* ---- Members, which own their wiring ----------------------------------------------------------------------------- */

/* NULL: no memory, with the sentence. `of` has an entry for every rank. It is held once. */
trv_mpi_members_t *trv_mpi_members_create(int rank, int ranks);
void trv_mpi_members_hold(trv_mpi_members_t *members);
void trv_mpi_members_release(trv_mpi_members_t *members);

#endif
