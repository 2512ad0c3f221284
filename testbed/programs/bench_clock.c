/*
 * Starting together without a message in between: rank 0 tells a round's beginning, everybody knows how long each call
 * takes, and so when the next may start. A call for which some rank came late does not count, and is made once more.
 */
#include "testbed/programs/bench_program.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define LEAD_NS     30e6 /* from rank 0's announcement to the first start, beside the time that it travels */
#define SPARE_NS    10e6 /* between two calls, for the traffic of the one before to end */
#define LATE_NS     1e6  /* a start that is later than this does not count */
#define ROUNDS_MORE 2    /* after so many times as many rounds, what comes late counts, too: the machine is busy */

/* The cores that the ranks share: all that this one may run on. */
static int shared_cores(void)
{
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

static void sleep_until(double time_ns)
{
    struct timespec until = {(time_t)(time_ns / 1e9), (long)(time_ns - 1e9 * (double)(time_t)(time_ns / 1e9))};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void most(double *value, int count)
{
    PMPI_Allreduce(MPI_IN_PLACE, value, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

/* The time that a message of rank 0 to all takes at most. */
static double travel_ns(void)
{
    double begin_ns, travel = 0;
    for (int i = 0; i < 3; i++) {
        begin_ns = trv_now_ns();
        PMPI_Bcast(&begin_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        double taken = trv_now_ns() - begin_ns;
        travel = taken > travel ? taken : travel;
        PMPI_Barrier(MPI_COMM_WORLD);
    }
    most(&travel, 1);
    return travel;
}

typedef struct plan {
    bench_call_t *call;
    void *context;
    int count;
    double lead_ns;
    double *slot_ns;  /* what each kind of call is given, beside SPARE_NS */
    double *taken_ns; /* of a round: since the common start; then (2nd half) how late the start was … */
    double *core_ns;  /* … and what the call took of a core, of all ranks together */
} plan_t;

/* One round, which begins with kind `first`. */
static void run_round(const plan_t *plan, int first)
{
    double start_ns = trv_now_ns() + plan->lead_ns;
    PMPI_Bcast(&start_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int k = 0; k < plan->count; k++) {
        int which = (first + k) % plan->count;
        sleep_until(start_ns);
        plan->taken_ns[plan->count + which] = trv_now_ns() - start_ns;
        double before_ns = trv_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        plan->call(plan->context, which);
        plan->taken_ns[which] = trv_now_ns() - start_ns;
        plan->core_ns[which] = trv_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns;
        start_ns += plan->slot_ns[which] + SPARE_NS;
    }
    most(plan->taken_ns, 2 * plan->count);
    PMPI_Allreduce(MPI_IN_PLACE, plan->core_ns, plan->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* How long each kind takes, roughly: the second of two calls, one after another. */
static void make_slots(const plan_t *plan)
{
    for (int which = 0; which < plan->count; which++)
        for (int i = 0; i < 2; i++) {
            PMPI_Barrier(MPI_COMM_WORLD);
            double begin_ns = trv_now_ns();
            plan->call(plan->context, which);
            plan->slot_ns[which] = trv_now_ns() - begin_ns;
        }
    most(plan->slot_ns, plan->count);
}

/* Takes over what of a round counts, and widens the slots that were too short. The same on all ranks. Whether some kind
 * still has less than `rounds` times. */
static bool keep_round(const plan_t *plan, int rounds, bool all, int *kept, bench_times_t *times)
{
    bool more = false;
    for (int which = 0; which < plan->count; which++) {
        double taken_ns = plan->taken_ns[which], late_ns = plan->taken_ns[plan->count + which];
        if (kept[which] < rounds && (late_ns < LATE_NS || all)) {
            times->time_ns[which * rounds + kept[which]++] = taken_ns;
            times->core_ns[which] += plan->core_ns[which] / rounds / times->cores;
        }
        if (taken_ns > plan->slot_ns[which])
            plan->slot_ns[which] = taken_ns;
        more = more || kept[which] < rounds;
    }
    return more;
}

void bench_time_together(bench_call_t *call, bench_round_t *told, void *context, int count, int rounds,
                         bench_times_t *times)
{
    plan_t plan = {call,
                   context,
                   count,
                   travel_ns() + LEAD_NS,
                   calloc((size_t)count, sizeof(double)),
                   calloc(2 * (size_t)count, sizeof(double)),
                   calloc((size_t)count, sizeof(double))};
    int *kept = calloc((size_t)count, sizeof *kept);
    if (!plan.slot_ns || !plan.taken_ns || !plan.core_ns || !kept)
        MPI_Abort(MPI_COMM_WORLD, 1);
    times->cores = shared_cores();
    memset(times->core_ns, 0, (size_t)count * sizeof(double));
    make_slots(&plan);
    for (int round = 0, more = 1; more; round++) {
        run_round(&plan, round);
        more = keep_round(&plan, rounds, round >= rounds * ROUNDS_MORE, kept, times);
        if (told)
            told(context);
    }
    free(plan.slot_ns);
    free(plan.taken_ns);
    free(plan.core_ns);
    free(kept);
}
