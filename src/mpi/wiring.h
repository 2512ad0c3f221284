/*
 * The torus of a communicator, as far as the environment and MPI know it: the part of TRIVANCE_TOPOLOGY_FILE's or
 * TRIVANCE_TORUS's torus that its ranks form, or the dimensions of a periodic Cartesian communicator.
 */
#ifndef TRIVANCE_MPI_WIRING_H
#define TRIVANCE_MPI_WIRING_H

#include <stdbool.h>

#include "mpi/fit.h"
#include "mpi/node/node.h"
#include "mpi/operation.h"
#include "mpi/state.h"

typedef enum trv_mpi_known {
    TRV_MPI_FITS,    /* the torus is known */
    TRV_MPI_MISFITS, /* one is known, and the communicator is no part of it that is a torus */
    TRV_MPI_UNKNOWN, /* nothing says */
    TRV_MPI_WRONG    /* what is said is wrong, or does not fit MPI_COMM_WORLD */
} trv_mpi_known_t;

typedef struct trv_mpi_wiring {
    trv_mpi_known_t known;
    char why[TRV_MPI_WHY_MAX]; /* who says so; or what is wrong */
    trv_mpi_fit_t fit;         /* valid where the torus is known */
    int place;
    bool in_order;        /* place p has rank p */
    trv_mpi_node_t *node; /* where several ranks share every place */
} trv_mpi_wiring_t;

/* Collective over the state's communicators; the same answer on all ranks. NULL: out of memory. */
trv_mpi_wiring_t *trv_mpi_wiring_create(const trv_mpi_state_t *state);
void trv_mpi_wiring_destroy(trv_mpi_wiring_t *wiring);

/* Why no schedule on the state's torus can serve the want, though its torus is known; NULL where one can. */
const char *trv_mpi_wiring_refuses(const trv_mpi_state_t *state, const trv_mpi_want_t *want);

#endif
