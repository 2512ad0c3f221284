/*
 * Samples of calls that all ranks make together, of several kinds that take turns, so that whatever disturbs the
 * machine disturbs all of them.
 */
#ifndef TRIVANCE_CLI_MPI_SAMPLES_H
#define TRIVANCE_CLI_MPI_SAMPLES_H

#include <stdbool.h>

#include <mpi.h>

#define SAMPLES_KINDS_MAX 96

/* One call of a kind, on every rank. 0 or a negative code. */
typedef int samples_run_t(void *context, int kind);

/* The first five are the caller's, the others zeros at the beginning. */
typedef struct samples {
    MPI_Comm comm;
    samples_run_t *run;
    void *context;
    int kinds, batch;                 /* batch: calls in a sample */
    bool left_out[SAMPLES_KINDS_MAX]; /* takes no part any more */
    double us[SAMPLES_KINDS_MAX];     /* of the last round: this rank's time per call */
    struct samples_clock *clock;      /* NULL: samples begin behind a barrier */
} samples_t;

/* One sample of each kind, in an order that begins with another kind every round. Collective. 0 or a negative code. */
int samples_round(samples_t *samples, int round);

/* Of one kind's runs, each from the common start to the last rank's end. */
typedef struct samples_times {
    double median_us, min_us, max_us;
    double core_us; /* so long each core that the ranks share is busy with a call, on average */
} samples_times_t;

/* Runs each kind `rounds` times in turns. Every call starts at a time of the clock of the machine, which all ranks
 * must be on, that they have agreed on, when the one before is over on every rank: no message of a barrier is in its
 * way. A call for which some rank came late is made once more. The same times on all ranks. Collective. 0 or a
 * negative code. */
int samples_turns(samples_t *samples, int rounds, samples_times_t *times);

#endif
