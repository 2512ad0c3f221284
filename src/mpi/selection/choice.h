/*
 * What rank 0 of a communicator thinks should serve calls of a kind.
 */
#ifndef TRIVANCE_MPI_SELECTION_CHOICE_H
#define TRIVANCE_MPI_SELECTION_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/algorithms.h>
#include <trivance/network.h>

#include "mpi/communicator/state.h"
#include "mpi/operations/want.h"

typedef struct trv_mpi_choice {
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* "": the MPI library serves */
    bool meant;                             /* which is what the user wanted */
    bool laid;                              /* along the nodes of a set, in an … */
    trv_order_t order;
    trv_torus_t torus;             /* … as a line or ring of so many; else on the communicator's own */
    char why[TRV_MPI_WHY_MAX];     /* for the log */
    uint64_t bytes_min, bytes_max; /* vectors that the same is chosen for */
} trv_mpi_choice_t;

#endif
