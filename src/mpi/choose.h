/*
 * Which schedule serves a call.
 */
#ifndef TRIVANCE_MPI_CHOOSE_H
#define TRIVANCE_MPI_CHOOSE_H

#include <stdbool.h>

#include "mpi/operation.h"

typedef struct trv_mpi_choice {
    const trv_schedule_t *schedule; /* the state's; NULL: the MPI library serves */
    bool meant;                     /* which is what the user wanted */
    char why[TRV_MPI_WHY_MAX];      /* for the log */
} trv_mpi_choice_t;

/* The same on all ranks. TRV_OK, or a code of the core. */
int trv_mpi_choose(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_choice_t *choice);

#endif
