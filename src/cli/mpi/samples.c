/*
 * Synchronized starts without messages between calls: rank 0 broadcasts the start of a round, and every rank computes
 * the start of each call from the time slots of the calls before it.
 */
#include "cli/mpi/samples.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>

#include "base/ascending.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/mpi/polled.h"

#define LEAD_NS     30e6 /* from rank 0's broadcast to the first start, in addition to the time of the broadcast */
#define SPARE_NS    10e6 /* between two calls, so that the traffic of the previous call ends */
#define LATE_NS     1e6  /* a call whose start is later than this is discarded */
#define ROUNDS_MORE 2    /* after this multiple of the rounds late calls are kept, too: the machine is busy */

typedef struct samples_clock {
    double lead_ns;
    double slot_ns[SAMPLES_KINDS_MAX]; /* time slot of each kind of call, without SPARE_NS */
    double late_ns[SAMPLES_KINDS_MAX]; /* how late it started in the last round; CPU time that it used … */
    double core_ns[SAMPLES_KINDS_MAX]; /* … summed over all ranks */
} samples_clock_t;

/* ---- A round ----------------------------------------------------------------------------------------------------- */

static void sleep_until(double time_ns)
{
    struct timespec until = {(time_t)(time_ns / 1e9), (long)(time_ns - 1e9 * (double)(time_t)(time_ns / 1e9))};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Takes one sample from *start_ns on: the common start time, or the time at which this rank left the barrier. */
static int samples_sample(samples_t *samples, int kind, double *start_ns)
{
    samples_clock_t *clock = samples->clock;
    int code = TRV_OK;
    if (clock)
        sleep_until(*start_ns);
    else
        code = polled_barrier(samples->comm);
    const double begin_ns = trv_now_ns(), core_ns = clock ? trv_clock_ns(CLOCK_PROCESS_CPUTIME_ID) : 0;
    for (int i = 0; i < samples->batch && code == TRV_OK; i++)
        code = samples->run(samples->context, kind);
    samples->us[kind] = 1e-3 * (trv_now_ns() - (clock ? *start_ns : begin_ns)) / samples->batch;
    if (clock) {
        clock->late_ns[kind] = begin_ns - *start_ns;
        clock->core_ns[kind] = trv_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - core_ns;
        *start_ns += clock->slot_ns[kind] + SPARE_NS;
    }
    return code;
}

int samples_round(samples_t *samples, int round)
{
    double start_ns = samples->clock ? trv_now_ns() + samples->clock->lead_ns : 0;
    int code = samples->clock ? polled_broadcast(samples->comm, &start_ns, sizeof start_ns) : TRV_OK;
    for (int i = 0; i < samples->kinds && code == TRV_OK; i++) {
        const int kind = (i + round) % samples->kinds;
        if (!samples->excluded[kind])
            code = samples_sample(samples, kind, &start_ns);
    }
    return code;
}

/* ---- Turns with synchronized starts ------------------------------------------------------------------------------ */

/* The number of cores that the ranks share: all cores that this rank may use. */
static int shared_cores(void)
{
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

/* Measures the maximum time of a broadcast from rank 0. */
static int find_lead(const samples_t *samples, samples_clock_t *clock)
{
    double travel_ns = 0;
    int code = TRV_OK;
    for (int i = 0; i < 3 && code == TRV_OK; i++) {
        double begin_ns = trv_now_ns();
        code = polled_broadcast(samples->comm, &begin_ns, sizeof begin_ns);
        travel_ns = fmax(travel_ns, trv_now_ns() - begin_ns);
        if (code == TRV_OK)
            code = polled_barrier(samples->comm);
    }
    if (code == TRV_OK)
        code = polled_reduce(samples->comm, &travel_ns, 1, MPI_MAX);
    clock->lead_ns = travel_ns + LEAD_NS;
    return code;
}

/* Estimates the time of each kind of call from the second of two consecutive calls. */
static int find_slots(samples_t *samples, samples_clock_t *clock)
{
    int code = TRV_OK;
    for (int i = 0; i < 2 && code == TRV_OK; i++)
        code = samples_round(samples, 0);
    for (int kind = 0; kind < samples->kinds; kind++)
        clock->slot_ns[kind] = 1e3 * samples->us[kind];
    return code == TRV_OK ? polled_reduce(samples->comm, clock->slot_ns, samples->kinds, MPI_MAX) : code;
}

typedef struct turns {
    int rounds, cores, *kept;
    double *time_us; /* `rounds` times of each kind, kind by kind */
    samples_times_t *times;
} turns_t;

/* Keeps the valid samples of a round and extends slots that were too short; the result is the same on all ranks.
 * Returns whether some kind still has too few samples. */
static bool keep_round(const samples_t *samples, const turns_t *turns, bool all)
{
    samples_clock_t *clock = samples->clock;
    bool more = false;
    for (int kind = 0; kind < samples->kinds; kind++) {
        int *kept = &turns->kept[kind];
        if (*kept < turns->rounds && (clock->late_ns[kind] < LATE_NS || all)) {
            turns->time_us[kind * turns->rounds + (*kept)++] = samples->us[kind];
            turns->times[kind].core_us += 1e-3 * clock->core_ns[kind] / turns->rounds / turns->cores;
        }
        clock->slot_ns[kind] = fmax(clock->slot_ns[kind], 1e3 * samples->us[kind]);
        more = more || *kept < turns->rounds;
    }
    return more;
}

static int run_turns(samples_t *samples, const turns_t *turns)
{
    samples_clock_t *clock = samples->clock;
    int code = TRV_OK, kinds = samples->kinds;
    for (int round = 0, more = 1; more && code == TRV_OK; round++) {
        code = samples_round(samples, round);
        if (code == TRV_OK)
            code = polled_reduce(samples->comm, samples->us, kinds, MPI_MAX);
        if (code == TRV_OK)
            code = polled_reduce(samples->comm, clock->late_ns, kinds, MPI_MAX);
        if (code == TRV_OK)
            code = polled_reduce(samples->comm, clock->core_ns, kinds, MPI_SUM);
        more = keep_round(samples, turns, round >= turns->rounds * ROUNDS_MORE);
    }
    return code;
}

int samples_turns(samples_t *samples, int rounds, samples_times_t *times)
{
    samples_clock_t clock = {0};
    const int kinds = samples->kinds;
    turns_t turns = {rounds, shared_cores(), calloc((size_t)kinds, sizeof(int)),
                     calloc((size_t)kinds * (size_t)rounds, sizeof(double)), times};
    int code = polled_all_true(samples->comm, turns.kept && turns.time_us) ? TRV_OK : trv_fail_memory();
    if (code == TRV_OK)
        code = find_lead(samples, &clock);
    if (code == TRV_OK)
        code = find_slots(samples, &clock);
    samples->clock = &clock;
    for (int kind = 0; kind < kinds; kind++)
        times[kind].core_us = 0;
    if (code == TRV_OK)
        code = run_turns(samples, &turns);
    for (int kind = 0; kind < kinds && code == TRV_OK; kind++) {
        double *time_us = turns.time_us + kind * rounds;
        times[kind].median_us = trv_median(time_us, rounds); /* sorts time_us */
        times[kind].min_us = time_us[0];
        times[kind].max_us = time_us[rounds - 1];
    }
    samples->clock = NULL;
    free(turns.kept);
    free(turns.time_us);
    return code;
}
