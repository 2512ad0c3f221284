/*
 * Whether what is measured here is the network and the algorithms, or waiting for cores that others have.
 */
#ifndef TRIVANCE_CLI_MPI_CROWD_H
#define TRIVANCE_CLI_MPI_CROWD_H

#include <stdbool.h>

#include <mpi.h>

#define CROWD_SPREAD_MAX 2.0 /* what it may be on a machine that is not busy */

/* Of the node where each is the most. */
typedef struct crowd {
    double ranks_per_core; /* of the cores that the ranks may use */
    double load;           /* processes that wanted a core in the last minute, per core */
    double spread;         /* how many times as long as the short ones the long runs took; 0: not known */
    bool busy;             /* times are longer than they would be on cores of one's own */
} crowd_t;

/* All ranks, before anything is measured: the same on all of them. 0 or a negative code. */
int crowd_find(MPI_Comm comm, crowd_t *crowd);

/* What the runs themselves say. */
void crowd_add_spread(crowd_t *crowd, double spread);

/* Rank 0: a sentence about what makes it busy, if anything does. */
void crowd_warn(const char *command, const crowd_t *crowd);

#endif
