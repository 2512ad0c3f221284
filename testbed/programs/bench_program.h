/*
 * The benchmark program of `trivance testbed bench`: what the tool tells it, and the lines by which it answers.
 *
 *     trivance-testbed-bench.<mpi> OUTPUT SIZES ITERATIONS TORUS RIVAL…
 *
 * SIZES are bytes with commas between; TORUS as "3x3", for the neighbours whose exchange is timed. A rival is four
 * words with commas: KIND,NAME,TYPE,MOST. KIND is `own`, an algorithm of the MPI library by the value of its control
 * variable (NAME is a number), or `hint`, an algorithm of the preload library by name (`auto` needs none). TYPE is int,
 * double or max (the maximum of ints); vectors of more than MOST bytes are not for it.
 *
 * OUTPUT gets lines:
 *     steps STEPS MESSAGES MEDIAN_NS          exchanges of 8 bytes with so many neighbours, one after another
 *     round BYTES                             of all rivals, is over
 *     row BYTES RIVAL ROUNDS MEDIAN_NS MIN_NS MAX_NS WRONG CORE_NS     RIVAL counts from 0;
 *         CORE_NS is what each core that the ranks share was busy with them for, on the average of the rounds
 */
#ifndef TRIVANCE_TESTBED_PROGRAMS_BENCH_PROGRAM_H
#define TRIVANCE_TESTBED_PROGRAMS_BENCH_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#define BENCH_RIVALS_MAX 32
#define BENCH_SIZES_MAX  16
#define BENCH_ROUNDS_MAX 101

typedef struct bench_rival {
    bool own;    /* of the MPI library: called by its PMPI_ name */
    int setting; /* of its control variable */
    MPI_Datatype type;
    MPI_Op op;
    size_t most_bytes;
    MPI_Comm comm; /* which keeps its algorithm, or carries the hint */
} bench_rival_t;

/* ---- bench_rivals.c: the algorithms compared --------------------------------------------------------------------- */

/* Reads the words and makes their communicators. NULL, or a sentence. Collective. */
const char *bench_rivals_make(char **word, int count, bench_rival_t *rival);
void bench_rivals_free(bench_rival_t *rival, int count);
/* Before a call, for MPI libraries that look at their variable in every call. */
void bench_rival_choose(const bench_rival_t *rival);

/* ---- bench_clock.c: starting together, and timing to the last rank's end ----------------------------------------- */

/* What is timed: one call, on every rank; and what is told when each has been called once more. */
typedef void bench_call_t(void *context, int which);
typedef void bench_round_t(void *context);

typedef struct bench_times {
    double time_ns[BENCH_RIVALS_MAX * BENCH_ROUNDS_MAX]; /* (count * rounds) to the last rank's end, kind by kind */
    double core_ns[BENCH_RIVALS_MAX];                    /* (count) of each core that the ranks share, on average */
    int cores;
} bench_times_t;

/* Runs `count` kinds of calls in turns, `rounds` times each; every call starts at a time of CLOCK_MONOTONIC (all ranks
 * are on one machine) that all have agreed on, when the one before is over on every rank. `told` may be NULL. */
void bench_time_together(bench_call_t *call, bench_round_t *told, void *context, int count, int rounds,
                         bench_times_t *times);

#endif
