/*
 * trivance-mpi tune: measures the network and the collectives, and writes rules that never lose to the MPI library.
 *
 *     tune.c          the command line, and all in order
 *     tune_network.c  alpha, bandwidth, hop latency and the overhead of a message, by ping-pong
 *     tune_measure.c  the library's collective and our algorithms, turn by turn
 *     tune_rules.c    who wins where, as a rules file and as a table
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
#include "cli/mpi/crowd.h"
#include "cli/shared/table.h"
#include "schedule/collective.h"

#define TUNE_SIZES_MAX      64
#define TUNE_CANDIDATES_MAX 40 /* the MPI library, our algorithms, and plans */
#define TUNE_PLANS_MAX      4  /* of which so many */
#define TUNE_RUNS_MAX       101

typedef struct tune_options {
    bool has_torus; /* --torus was given; otherwise the environment says it */
    trv_torus_t torus;
    int collectives, sizes;
    trv_collective_t collective[TRV_COLLECTIVES];
    uint64_t bytes[TUNE_SIZES_MAX]; /* of the whole vector, ascending */
    double seconds;
    const char *output; /* rank 0's; NULL: none */
    cli_format_t format;
} tune_options_t;

/* The median over the runs of the slowest rank's time, and the quartiles. */
typedef struct tune_times {
    double low_us, median_us, high_us;
    int runs;
} tune_times_t;

typedef struct tune_candidate {
    call_t call; /* the library's own, which is candidate 0, or a plan */
    int runs;
    double run_us[TUNE_RUNS_MAX];
    tune_times_t times;
} tune_candidate_t;

/* What was measured for one collective and size. */
typedef struct tune_cell {
    trv_collective_t collective;
    uint64_t bytes; /* as measured: whole elements on every rank */
    int candidates;
    char name[TUNE_CANDIDATES_MAX][TRV_ALGORITHM_NAME_MAX];
    tune_times_t times[TUNE_CANDIDATES_MAX];
    int best;  /* the fastest of ours; 0 where none serves */
    bool wins; /* it was faster than the library by more than noise, twice */
} tune_cell_t;

typedef struct tune {
    tune_options_t options;
    MPI_Comm comm;
    int rank, ranks;
    const int *member; /* the rank at every place of the torus; NULL: place p has rank p */
    float *send, *receive;
    trv_hockney_t network;
    double overhead_ns; /* of a message */
    crowd_t crowd;
    double begun; /* by MPI_Wtime; what counts is rank 0's */
    int cells;    /* measured; the others there was no time for */
    tune_cell_t *cell;
} tune_t;

/* Network parameters, the same on all ranks. 0 or a negative code. */
int tune_network(tune_t *tune);

/* Fills a cell within about so many seconds by rank 0's clock; what is in it is the same on all ranks. 0 or a negative
 * code. */
int tune_measure(tune_t *tune, trv_collective_t collective, uint64_t bytes, double seconds, tune_cell_t *cell);

/* Rank 0: the measurements, and the rules of the cells. */
int tune_print(const tune_t *tune, FILE *out);
void tune_write_rules(const tune_t *tune, FILE *out);

/* The whole program: the exit code. */
int tune_main(int argc, char **argv);

#endif
