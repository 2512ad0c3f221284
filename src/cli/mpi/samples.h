/*
 * Samples of collective calls of several kinds, measured in turns, so that a disturbance of the machine affects all
 * kinds equally.
 */
#ifndef TRIVANCE_CLI_MPI_SAMPLES_H
#define TRIVANCE_CLI_MPI_SAMPLES_H

#include <stdbool.h>

#include <mpi.h>

#define SAMPLES_KINDS_MAX 160

/* Makes one call of a kind, on every rank. Returns 0 or a negative code. */
typedef int samples_run_t(void *context, int kind);

/* The caller sets the first five members; the others are zero initially. */
typedef struct samples {
    MPI_Comm comm;
    samples_run_t *run;
    void *context;
    int kinds, batch;                 /* batch: calls in a sample */
    bool excluded[SAMPLES_KINDS_MAX]; /* from further rounds */
    double us[SAMPLES_KINDS_MAX];     /* of the last round: this rank's time per call */
    struct samples_clock *clock;      /* NULL: each sample starts after a barrier */
} samples_t;

/* Takes one sample of each kind; every round begins with a different kind. Collective. Returns 0 or a negative code. */
int samples_round(samples_t *samples, int round);

/* Times of one kind's runs, each from the common start until the last rank has finished. */
typedef struct samples_times {
    double median_us, min_us, max_us;
    double core_us; /* average time for which a call occupies each of the ranks' cores */
} samples_times_t;

/* Runs each kind `rounds` times in turns. All ranks must be on one machine. Every call starts on all ranks at a
 * common time of its clock, when the previous call has finished on every rank, so that no barrier's messages
 * interfere. A call for which a rank started late is repeated. The times are the same on all ranks. Collective.
 * Returns 0 or a negative code. */
int samples_turns(samples_t *samples, int rounds, samples_times_t *times);

#endif
