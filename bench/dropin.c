/*
 * What a preload library costs and gains: MPI_Allreduce, which it serves or passes on, against PMPI_Allreduce, which is
 * the MPI library's own in the same process, against the best exchange written by hand, and against the algorithms that
 * the MPI library can be made to use.
 *
 *     mpirun -n 2 env LD_PRELOAD=libtrivance_pmpi_openmpi.so dropin                      nothing set: it passes on
 *     mpirun -n 3 env LD_PRELOAD=libtrivance_pmpi_openmpi.so TRIVANCE_TORUS=3 dropin     Trivance serves
 *
 * At the end the life of a short communicator: duplicated, used once, freed.
 *
 * All take turns round by round, so that they see the same machine; shown are medians over the rounds of the slowest
 * rank's time per call in microseconds.
 *
 * Open MPI keeps an algorithm per communicator, chosen when that is made by the control variable (needs
 * coll_tuned_use_dynamic_rules=1); MPICH looks at its variable in every call (needs DEVICE_COLLECTIVES=none; its radix
 * 3 is set by the environment, see scripts/bench.sh).
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "by_hand.h"

#define ROUNDS     60
#define SIZES      7
#define RIVALS_MAX 10

typedef struct rival {
    const char *name;
    int setting; /* of the MPI library's control variable; 0: its own choice */
    MPI_Comm comm;
} rival_t;

/* ---- The MPI library's own algorithms ---------------------------------------------------------------------------- */

#ifdef OPEN_MPI
static const char variable[] = "coll_tuned_allreduce_algorithm";
static const rival_t own[] = {{"recdoub", 3, MPI_COMM_NULL},
                              {"ring", 4, MPI_COMM_NULL},
                              {"segring", 5, MPI_COMM_NULL},
                              {"rabens.", 6, MPI_COMM_NULL}};
#else
static const char variable[] = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"; /* numbers as in MPICH 4.0 */
static const rival_t own[] = {{"recdoub", 3, MPI_COMM_NULL},
                              {"redscat", 4, MPI_COMM_NULL},
                              {"radix 3", 1, MPI_COMM_NULL}};
#endif

static MPI_T_cvar_handle handle;

/* Whether the variable can be written. */
static bool open_variable(void)
{
    int threads, index, count;
    return MPI_T_init_thread(MPI_THREAD_SINGLE, &threads) == MPI_SUCCESS &&
           MPI_T_cvar_get_index(variable, &index) == MPI_SUCCESS &&
           MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS;
}

static void write_variable(int value) { MPI_T_cvar_write(handle, &value); }

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

enum { HAND_WHOLE, HAND_PARTS, DROP_IN, LIBRARY, FIRST_OWN };

static void call(const hand_t *hand, const rival_t *rival, int at, const double *input, double *output, size_t count)
{
    if (at == HAND_WHOLE)
        hand_whole(hand, input, output, count);
    else if (at == HAND_PARTS)
        hand_parts(hand, input, output, count);
    else if (at == DROP_IN)
        MPI_Allreduce(input, output, (int)count, MPI_DOUBLE, MPI_SUM, hand->comm);
    else
        PMPI_Allreduce(input, output, (int)count, MPI_DOUBLE, MPI_SUM, rival->comm);
}

static void measure(const hand_t *hand, const rival_t *rival, int rivals, const double *input, double *output,
                    size_t count, double *median)
{
    static double time[RIVALS_MAX][ROUNDS];
    int calls = count <= 1024 ? 50 : count <= 16384 ? 10 : 3;
    for (int round = -3; round < ROUNDS; round++)
        for (int k = 0; k < rivals; k++) {
            int at = (round + 3 + k) % rivals;
#ifndef OPEN_MPI
            write_variable(rival[at].setting);
#endif
            call(hand, &rival[at], at, input, output, count);
            hand_barrier(hand);
            double start = MPI_Wtime();
            for (int i = 0; i < calls; i++)
                call(hand, &rival[at], at, input, output, count);
            double most = hand_most(hand, 1e6 * (MPI_Wtime() - start) / calls);
            if (round >= 0)
                time[at][round] = most;
        }
    for (int at = 0; at < rivals; at++)
        median[at] = hand_median(time[at], ROUNDS);
}

static int gather_rivals(const hand_t *hand, rival_t *rival)
{
    static const char *const first[] = {"hand 1", "hand 2", "MPI_", "PMPI_"};
    int rivals = 0;
    for (; rivals < FIRST_OWN; rivals++)
        rival[rivals] = (rival_t){first[rivals], 0, hand->comm};
    if (!open_variable()) {
        if (hand->rank == 0)
            printf("(the MPI library's %s cannot be set: its own choice stands alone)\n", variable);
        return rivals;
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++, rivals++) {
        rival[rivals] = own[i];
        write_variable(own[i].setting);
        MPI_Comm_dup(hand->comm, &rival[rivals].comm);
    }
#ifdef OPEN_MPI
    write_variable(0);
#endif
    return rivals;
}

/* The two ratios at the end of the row go to *to_hand and *to_library. */
static void print_row(size_t bytes, const double *median, int rivals, double *to_hand, double *to_library)
{
    double best = median[HAND_WHOLE] < median[HAND_PARTS] ? median[HAND_WHOLE] : median[HAND_PARTS];
    *to_hand = median[DROP_IN] / best;
    *to_library = median[DROP_IN] / median[LIBRARY];
    printf("%10zu", bytes);
    for (int at = 0; at < rivals; at++)
        printf("  %9.2f", median[at]);
    printf("  %9.3f  %9.3f\n", *to_hand, *to_library);
}

/* ---- Communicators that come and go ------------------------------------------------------------------------------ */

#define LIVES 2000

/* Of a communicator whose duplicates the library knows, and of one that it has never seen. */
static double live(const hand_t *hand, MPI_Comm known, MPI_Comm plain)
{
    MPI_Comm made;
    double one = 1, sum;
    hand_barrier(hand);
    double start = MPI_Wtime();
    if (known != MPI_COMM_NULL) {
        MPI_Comm_dup(known, &made);
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, made);
        MPI_Comm_free(&made);
    } else {
        PMPI_Comm_dup(plain, &made);
        PMPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, made);
        PMPI_Comm_free(&made);
    }
    return hand_most(hand, 1e6 * (MPI_Wtime() - start));
}

static void compare_lives(const hand_t *hand)
{
    double *time[2] = {malloc(LIVES * sizeof(double)), malloc(LIVES * sizeof(double))}, one = 1, sum;
    MPI_Comm known, plain;
    MPI_Comm_split(hand->comm, 0, hand->rank, &known);
    MPI_Comm_split(hand->comm, 0, hand->rank, &plain);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, known);
    for (int i = 0; i < LIVES; i++) {
        time[0][i] = live(hand, known, MPI_COMM_NULL);
        time[1][i] = live(hand, MPI_COMM_NULL, plain);
    }
    double ours = hand_median(time[0], LIVES), theirs = hand_median(time[1], LIVES);
    if (hand->rank == 0)
        printf("a duplicate, one AllReduce on it, freed: MPI_ %.2f us, PMPI_ %.2f us, %.2f (aim: at most 1.5)\n", ours,
               theirs, ours / theirs);
    MPI_Comm_free(&known);
    MPI_Comm_free(&plain);
    free(time[0]);
    free(time[1]);
}

int main(int argc, char **argv)
{
    static const size_t sizes[SIZES] = {8, 64, 512, 4096, 32768, 262144, 1048576};
    hand_t hand;
    rival_t rival[RIVALS_MAX];
    double median[RIVALS_MAX], to_hand[SIZES], to_library[SIZES];
    MPI_Init(&argc, &argv);
    if (!hand_begin(&hand, MPI_COMM_WORLD, "dropin"))
        return MPI_Finalize(), 2;
    double *input = malloc(BYTES_MAX), *output = malloc(BYTES_MAX);
    for (size_t i = 0; i < BYTES_MAX / sizeof *input; i++)
        input[i] = (double)(i % 100);
    int rivals = gather_rivals(&hand, rival);
    if (hand.rank == 0) {
        printf("AllReduce on %d ranks, sum of double, us per call; TRIVANCE_TORUS=%s\n%10s", hand.ranks,
               getenv("TRIVANCE_TORUS") ? getenv("TRIVANCE_TORUS") : "", "bytes");
        for (int at = 0; at < rivals; at++)
            printf("  %9s", rival[at].name);
        printf("  %9s  %9s\n", "MPI_/hand", "MPI_/PMPI");
    }
    for (int i = 0; i < SIZES; i++) {
        measure(&hand, rival, rivals, input, output, sizes[i] / sizeof *input, median);
        if (hand.rank == 0)
            print_row(sizes[i], median, rivals, &to_hand[i], &to_library[i]);
    }
    if (hand.rank == 0) {
        printf("8 bytes: %.3f of PMPI_ (aim where nothing is set: at most 1.05); ", to_library[0]);
        printf("median over the sizes: %.2f of the best by hand (aim where Trivance serves: at most 1.10)\n",
               hand_median(to_hand, SIZES));
    }
    for (int at = FIRST_OWN; at < rivals; at++)
        MPI_Comm_free(&rival[at].comm);
    compare_lives(&hand);
    free(input);
    free(output);
    hand_end(&hand);
    MPI_Finalize();
    return 0;
}
