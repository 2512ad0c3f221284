/*
 * Detection of a busy machine, on which measured times include waiting for cores that other processes use.
 */
#ifndef TRIVANCE_CLI_MPI_CROWD_H
#define TRIVANCE_CLI_MPI_CROWD_H

#include <stdbool.h>

#include <mpi.h>

#define CROWD_SPREAD_MAX 2.0 /* maximum on a machine that is not busy */

/* Each value is the maximum over the nodes. */
typedef struct crowd {
    double ranks_per_core; /* of the cores that the ranks may use */
    double load;           /* runnable processes per core in the last minute */
    double spread;         /* ratio of the long runs to the short runs; 0: unknown */
    bool busy;             /* times are longer than on dedicated cores */
} crowd_t;

/* Collective, before the first measurement; the result is the same on all ranks. Returns 0 or a negative code. */
int crowd_find(MPI_Comm comm, crowd_t *crowd);

/* Takes the spread of the measured runs into account. */
void crowd_add_spread(crowd_t *crowd, double spread);

/* On rank 0: prints a warning with the reason if the machine is busy. */
void crowd_warn(const char *command, const crowd_t *crowd);

#endif
