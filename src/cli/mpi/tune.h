/*
 * trivance-mpi tune: measures the network and the collectives, and writes rules that select Trivance only where it is
 * faster than the MPI library.
 *
 *     tune.c          the command line and the sequence of measurements
 *     tune_network.c  alpha, bandwidth, hop latency and message overhead, by ping-pong
 *     tune_measure.c  the library's collective and our algorithms, in turns
 *     tune_rules.c    the fastest candidate by size, as a rules file and as a table
 */
#ifndef TRIVANCE_CLI_MPI_TUNE_H
#define TRIVANCE_CLI_MPI_TUNE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <mpi.h>

#include <trivance/cost.h>
#include <trivance/algorithms.h>
#include <trivance/torus.h>
#include <trivance/trivance_mpi.h>

#include "cli/mpi/call.h"
#include "cli/mpi/machine_load.h"
#include "cli/shared/table.h"
#include "schedule/collective.h"

#define TUNE_SIZES_MAX      64
#define TUNE_CANDIDATES_MAX 40 /* the MPI library, our algorithms, and the choices of the planner */
#define TUNE_CHOICES_MAX    4  /* maximum number of these choices */
#define TUNE_RUNS_MAX       101

typedef struct tune_options {
    bool has_torus; /* --torus was given; otherwise the environment specifies it */
    trv_torus_t torus;
    int collectives, sizes;
    trv_collective_t collective[TRV_COLLECTIVES];
    uint64_t bytes[TUNE_SIZES_MAX]; /* of the whole vector, ascending */
    double seconds;
    const char *output; /* valid on rank 0; NULL: none */
    cli_format_t format;
} tune_options_t;

/* Median and quartiles over the runs of the slowest rank's time. */
typedef struct tune_times {
    double low_us, median_us, high_us;
    int runs;
} tune_times_t;

typedef struct tune_candidate {
    call_t call; /* the library's collective (candidate 0) or a plan */
    int runs;
    double run_us[TUNE_RUNS_MAX];
    tune_times_t times;
} tune_candidate_t;

/* Measurements of one collective and size. */
typedef struct tune_cell {
    trv_collective_t collective;
    uint64_t bytes; /* measured size: whole elements on every rank */
    int candidates;
    char name[TUNE_CANDIDATES_MAX][TRV_ALGORITHM_NAME_MAX];
    tune_times_t times[TUNE_CANDIDATES_MAX];
    int best;  /* the fastest of our candidates; 0 if there is none */
    bool wins; /* it was significantly faster than the library in both measurements */
} tune_cell_t;

typedef struct tune {
    tune_options_t options;
    MPI_Comm comm;
    int rank, ranks;
    const int *member; /* the rank at every torus coordinate; NULL: coordinate p has rank p */
    float *send, *receive;
    trv_hockney_t network;
    double overhead_ns; /* of a message */
    machine_load_t machine_load;
    double begun;         /* by MPI_Wtime; rank 0's value is used */
    int cells, cells_all; /* measured, and listed; there was no time for the others */
    tune_cell_t *cell;
} tune_t;

/* Measures the network parameters, which are the same on all ranks. Returns 0 or a negative code. */
int tune_network(tune_t *tune);

/* Measures the collective and size of a cell within about `seconds` by rank 0's clock; the result is the same on all
 * ranks. Returns 0 or a negative code. */
int tune_measure(tune_t *tune, double seconds, tune_cell_t *cell);

/* On rank 0: print the measurements; write the rules of the cells. */
int tune_print(const tune_t *tune, FILE *out);
void tune_write_rules(const tune_t *tune, FILE *out);

/* Runs the whole program and returns the exit code. */
int tune_main(int argc, char **argv);

#endif
