/*
 * Starting together without a message in between: rank 0 broadcasts the start of a round; every rank knows how long
 * each call takes, and so when the next may start.
 */
#include "cli/mpi/samples.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>

#include "base/ascending.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/mpi/together.h"

#define LEAD_NS     30e6 /* from rank 0's announcement to the first start, beside the time that it travels */
#define SPARE_NS    10e6 /* between two calls, for the traffic of the one before to end */
#define LATE_NS     1e6  /* a start that is later than this does not count */
#define ROUNDS_MORE 2    /* after this multiple of the rounds, what comes late counts, too: the machine is busy */

typedef struct samples_clock {
    double lead_ns;
    double slot_ns[SAMPLES_KINDS_MAX]; /* what each kind of call is given, beside SPARE_NS */
    double late_ns[SAMPLES_KINDS_MAX]; /* of the last round: the start; and what the call took of a core … */
    double core_ns[SAMPLES_KINDS_MAX]; /* … of all ranks together */
} samples_clock_t;

/* ---- A round ----------------------------------------------------------------------------------------------------- */

static void sleep_until(double time_ns)
{
    struct timespec until = {(time_t)(time_ns / 1e9), (long)(time_ns - 1e9 * (double)(time_t)(time_ns / 1e9))};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* One sample, from *start_ns on: the time agreed on, or when this rank has left the barrier. */
static int samples_sample(samples_t *samples, int kind, double *start_ns)
{
    samples_clock_t *clock = samples->clock;
    int code = TRV_OK;
    if (clock)
        sleep_until(*start_ns);
    else
        code = together_barrier(samples->comm);
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
    int code = samples->clock ? together_share(samples->comm, &start_ns, sizeof start_ns) : TRV_OK;
    for (int i = 0; i < samples->kinds && code == TRV_OK; i++) {
        const int kind = (i + round) % samples->kinds;
        if (!samples->left_out[kind])
            code = samples_sample(samples, kind, &start_ns);
    }
    return code;
}

/* ---- Turns by the clock ------------------------------------------------------------------------------------------ */

/* The cores that the ranks share: all that this one may run on. */
static int shared_cores(void)
{
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

/* The time that a message of rank 0 to all takes at most. */
static int find_lead(const samples_t *samples, samples_clock_t *clock)
{
    double travel_ns = 0;
    int code = TRV_OK;
    for (int i = 0; i < 3 && code == TRV_OK; i++) {
        double begin_ns = trv_now_ns();
        code = together_share(samples->comm, &begin_ns, sizeof begin_ns);
        travel_ns = fmax(travel_ns, trv_now_ns() - begin_ns);
        if (code == TRV_OK)
            code = together_barrier(samples->comm);
    }
    if (code == TRV_OK)
        code = together_reduce(samples->comm, &travel_ns, 1, MPI_MAX);
    clock->lead_ns = travel_ns + LEAD_NS;
    return code;
}

/* How long each kind takes, roughly: the second of two calls, one after another. */
static int find_slots(samples_t *samples, samples_clock_t *clock)
{
    int code = TRV_OK;
    for (int i = 0; i < 2 && code == TRV_OK; i++)
        code = samples_round(samples, 0);
    for (int kind = 0; kind < samples->kinds; kind++)
        clock->slot_ns[kind] = 1e3 * samples->us[kind];
    return code == TRV_OK ? together_reduce(samples->comm, clock->slot_ns, samples->kinds, MPI_MAX) : code;
}

typedef struct turns {
    int rounds, cores, *kept;
    double *time_us; /* rounds of each kind, kind by kind */
    samples_times_t *times;
} turns_t;

/* Takes over what of a round counts, and widens the slots that were too short. The same on all ranks. Whether some kind
 * still has too few samples. */
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
            code = together_reduce(samples->comm, samples->us, kinds, MPI_MAX);
        if (code == TRV_OK)
            code = together_reduce(samples->comm, clock->late_ns, kinds, MPI_MAX);
        if (code == TRV_OK)
            code = together_reduce(samples->comm, clock->core_ns, kinds, MPI_SUM);
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
    int code = together_agree(samples->comm, turns.kept && turns.time_us) ? TRV_OK : trv_fail_memory();
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
        times[kind].median_us = trv_median(time_us, rounds); /* which sorts them */
        times[kind].min_us = time_us[0];
        times[kind].max_us = time_us[rounds - 1];
    }
    samples->clock = NULL;
    free(turns.kept);
    free(turns.time_us);
    return code;
}
