/*
 * Detection of a busy machine, on which measured times include waiting for cores that other processes use.
 */
#ifndef TRIVANCE_CLI_MPI_MACHINE_LOAD_H
#define TRIVANCE_CLI_MPI_MACHINE_LOAD_H

#include <stdbool.h>

#include <mpi.h>

#define MACHINE_LOAD_SPREAD_MAX 2.0 /* maximum on a machine that is not busy */

/* Each value is the maximum over the nodes. */
typedef struct machine_load {
    double ranks_per_core; /* of the cores that the ranks may use */
    double load;           /* runnable processes per core in the last minute */
    double spread;         /* ratio of the long runs to the short runs; 0: unknown */
    bool busy;             /* times are longer than on dedicated cores */
} machine_load_t;

/* Collective, before the first measurement; the result is the same on all ranks. Returns 0 or a negative code. */
int machine_load_measure(MPI_Comm comm, machine_load_t *machine_load);

/* Takes the spread of the measured runs into account. */
void machine_load_add_spread(machine_load_t *machine_load, double spread);

/* On rank 0: prints a warning with the reason if the machine is busy. */
void machine_load_warn(const char *command, const machine_load_t *machine_load);

#endif
