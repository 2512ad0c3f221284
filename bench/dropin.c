/*
 * The cost of a preload library: MPI_Allreduce, which it executes or falls back on the MPI library for, against
 * PMPI_Allreduce, the MPI library's own function in the same process, and against the best exchange written by hand.
 * (`trivance bench --turns -a auto,mpi:all` compares with each algorithm of the MPI library.)
 *
 *     mpirun -n 2 env LD_PRELOAD=libtrivance_pmpi_openmpi.so dropin                      no settings: falls back
 *     mpirun -n 3 env LD_PRELOAD=libtrivance_pmpi_openmpi.so TRIVANCE_TORUS=3 dropin     Trivance executes
 *
 * At the end it measures a communicator of short life: duplicated, used once, freed.
 *
 * All sides take turns round by round, so that they run under the same conditions. The program prints medians over the
 * rounds of the slowest rank's time per call in microseconds.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "by_hand.h"

#define ROUNDS 60
#define SIZES  7

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

enum { HAND_WHOLE, HAND_PARTS, DROP_IN, LIBRARY, SIDES };

static void call(const hand_t *hand, void *context, int side)
{
    (void)context;
    if (side == DROP_IN)
        MPI_Allreduce(hand->input, hand->output, (int)hand->count, MPI_DOUBLE, MPI_SUM, hand->comm);
    else if (side == LIBRARY)
        PMPI_Allreduce(hand->input, hand->output, (int)hand->count, MPI_DOUBLE, MPI_SUM, hand->comm);
    else
        hand_run(hand, side == HAND_PARTS);
}

static void compare_calls(hand_t *hand)
{
    static const size_t sizes[SIZES] = {8, 64, 512, 4096, 32768, 262144, 1048576};
    const char *torus = getenv("TRIVANCE_TORUS");
    double median[SIDES], to_hand[SIZES], to_library[SIZES];
    const bool first = hand->exchange.rank == 0;
    if (first)
        printf("AllReduce on %d ranks, sum of double, us per call; TRIVANCE_TORUS=%s\n"
               "%10s  %9s  %9s  %9s  %9s  %9s  %9s\n",
               hand->exchange.ranks, torus ? torus : "", "bytes", "hand 1", "hand 2", "MPI_", "PMPI_", "MPI_/hand",
               "MPI_/PMPI");
    for (int i = 0; i < SIZES; i++) {
        hand->count = sizes[i] / sizeof *hand->input;
        hand_sides(hand, call, NULL, SIDES, ROUNDS, median);
        to_hand[i] = median[DROP_IN] /
                     (median[HAND_WHOLE] < median[HAND_PARTS] ? median[HAND_WHOLE] : median[HAND_PARTS]);
        to_library[i] = median[DROP_IN] / median[LIBRARY];
        if (first)
            printf("%10zu  %9.2f  %9.2f  %9.2f  %9.2f  %9.3f  %9.3f\n", sizes[i], median[HAND_WHOLE],
                   median[HAND_PARTS], median[DROP_IN], median[LIBRARY], to_hand[i], to_library[i]);
    }
    if (first)
        printf("8 bytes: %.3f of PMPI_ (aim where nothing is set: at most 1.05); "
               "median over the sizes: %.2f of the best by hand (aim where Trivance serves: at most 1.10)\n",
               to_library[0], trv_median(to_hand, SIZES));
}

/* ---- Communicators of short life --------------------------------------------------------------------------------- */

#define LIVES 2000

typedef struct lives {
    const hand_t *hand;
    MPI_Comm known, plain; /* the library knows the duplicates of `known`; it has never seen `plain` */
} lives_t;

static double live(void *context, int side)
{
    const lives_t *lives = context;
    MPI_Comm made;
    double one = 1, sum;
    hand_barrier(lives->hand);
    const double start = PMPI_Wtime();
    if (side == 0) {
        MPI_Comm_dup(lives->known, &made);
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, made);
        MPI_Comm_free(&made);
    } else {
        PMPI_Comm_dup(lives->plain, &made);
        PMPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, made);
        PMPI_Comm_free(&made);
    }
    return hand_most(lives->hand, 1e6 * (PMPI_Wtime() - start));
}

static void compare_lives(const hand_t *hand)
{
    lives_t lives = {.hand = hand};
    double one = 1, sum, median[2];
    MPI_Comm_split(hand->comm, 0, hand->exchange.rank, &lives.known);
    MPI_Comm_split(hand->comm, 0, hand->exchange.rank, &lives.plain);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, lives.known);
    measure_sides(live, &lives, 2, 0, LIVES, 0, median);
    if (hand->exchange.rank == 0)
        printf("a duplicate, one AllReduce on it, freed: MPI_ %.2f us, PMPI_ %.2f us, %.2f (aim: at most 1.5)\n",
               median[0], median[1], median[0] / median[1]);
    MPI_Comm_free(&lives.known);
    MPI_Comm_free(&lives.plain);
}

int main(int argc, char **argv)
{
    hand_t hand;
    MPI_Init(&argc, &argv);
    if (!hand_begin(&hand, MPI_COMM_WORLD, "dropin"))
        return MPI_Finalize(), 2;
    compare_calls(&hand);
    compare_lives(&hand);
    hand_end(&hand);
    MPI_Finalize();
    return 0;
}
