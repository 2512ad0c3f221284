/*
 * The cost of a preload library: MPI_Allreduce, which it executes or falls back on the MPI library for, against
 * PMPI_Allreduce, the MPI library's own function in the same process, and against the best exchange written by hand.
 * (`trivance bench --turns -a auto,mpi:all` compares with each algorithm of the MPI library.)
 *
 *     mpirun -n 2 env LD_PRELOAD=libtrivance_pmpi_openmpi.so dropin                      no settings: falls back
 *     mpirun -n 3 env LD_PRELOAD=libtrivance_pmpi_openmpi.so TRIVANCE_TORUS=3 dropin     Trivance executes
 *
 * At the end it measures a short-lived communicator: duplicated, used once, freed.
 *
 * All sides take turns round by round, so that they run under the same conditions. The program prints medians over the
 * rounds of the slowest rank's time per call in microseconds.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "baseline.h"

#define ROUNDS 60
#define SIZES  7

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

enum { BASELINE_WHOLE, BASELINE_PARTS, DROP_IN, LIBRARY, SIDES };

static void call(const baseline_t *baseline, void *context, int side)
{
    (void)context;
    if (side == DROP_IN)
        MPI_Allreduce(baseline->input, baseline->output, (int)baseline->count, MPI_DOUBLE, MPI_SUM, baseline->comm);
    else if (side == LIBRARY)
        PMPI_Allreduce(baseline->input, baseline->output, (int)baseline->count, MPI_DOUBLE, MPI_SUM, baseline->comm);
    else
        baseline_run(baseline, side == BASELINE_PARTS);
}

static void compare_calls(baseline_t *baseline)
{
    static const size_t sizes[SIZES] = {8, 64, 512, 4096, 32768, 262144, 1048576};
    const char *torus = getenv("TRIVANCE_TORUS");
    double median[SIDES], to_baseline[SIZES], to_library[SIZES];
    const bool first = baseline->exchange.rank == 0;
    if (first)
        printf("AllReduce on %d ranks, sum of double, us per call; TRIVANCE_TORUS=%s\n"
               "%10s  %9s  %9s  %9s  %9s  %9s  %9s\n",
               baseline->exchange.ranks, torus ? torus : "", "bytes", "base 1", "base 2", "MPI_", "PMPI_", "MPI_/base",
               "MPI_/PMPI");
    for (int i = 0; i < SIZES; i++) {
        baseline->count = sizes[i] / sizeof *baseline->input;
        baseline_measure(baseline, call, NULL, SIDES, ROUNDS, median);
        to_baseline[i] = median[DROP_IN] / (median[BASELINE_WHOLE] < median[BASELINE_PARTS] ? median[BASELINE_WHOLE]
                                                                                            : median[BASELINE_PARTS]);
        to_library[i] = median[DROP_IN] / median[LIBRARY];
        if (first)
            printf("%10zu  %9.2f  %9.2f  %9.2f  %9.2f  %9.3f  %9.3f\n", sizes[i], median[BASELINE_WHOLE],
                   median[BASELINE_PARTS], median[DROP_IN], median[LIBRARY], to_baseline[i], to_library[i]);
    }
    if (first)
        printf("8 bytes: %.3f of PMPI_ (goal without settings: at most 1.05); "
               "median over the sizes: %.2f of the faster baseline (goal if Trivance executes: at most 1.10)\n",
               to_library[0], trv_median(to_baseline, SIZES));
}

/* ---- Short-lived communicators ----------------------------------------------------------------------------------- */

#define ROUNDS_SHORT_LIVED 2000

typedef struct comms {
    const baseline_t *baseline;
    MPI_Comm known, plain; /* the library knows the duplicates of `known`; it has never seen `plain` */
} short_lived_t;

static double short_lived(void *context, int side)
{
    const short_lived_t *comms = context;
    MPI_Comm duplicate;
    double one = 1, sum;
    baseline_barrier(comms->baseline);
    const double start = PMPI_Wtime();
    if (side == 0) {
        MPI_Comm_dup(comms->known, &duplicate);
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, duplicate);
        MPI_Comm_free(&duplicate);
    } else {
        PMPI_Comm_dup(comms->plain, &duplicate);
        PMPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, duplicate);
        PMPI_Comm_free(&duplicate);
    }
    return baseline_max(comms->baseline, 1e6 * (PMPI_Wtime() - start));
}

static void compare_short_lived(const baseline_t *baseline)
{
    short_lived_t comms = {.baseline = baseline};
    double one = 1, sum, median[2];
    MPI_Comm_split(baseline->comm, 0, baseline->exchange.rank, &comms.known);
    MPI_Comm_split(baseline->comm, 0, baseline->exchange.rank, &comms.plain);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comms.known);
    measure_sides(short_lived, &comms, 2, 0, ROUNDS_SHORT_LIVED, 0, median);
    if (baseline->exchange.rank == 0)
        printf("duplicate, one AllReduce, free: MPI_ %.2f us, PMPI_ %.2f us, %.2f (goal: at most 1.5)\n", median[0],
               median[1], median[0] / median[1]);
    MPI_Comm_free(&comms.known);
    MPI_Comm_free(&comms.plain);
}

int main(int argc, char **argv)
{
    baseline_t baseline;
    MPI_Init(&argc, &argv);
    if (!baseline_create(&baseline, MPI_COMM_WORLD, "dropin"))
        return MPI_Finalize(), 2;
    compare_calls(&baseline);
    compare_short_lived(&baseline);
    baseline_destroy(&baseline);
    MPI_Finalize();
    return 0;
}
