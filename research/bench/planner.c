/*
 * Measures the quality of the planner's choices by simulation, on the tori and sizes of the paper's figures:
 *
 *     fifo        the plan against the best of all named algorithms, on all networks; and against the better of
 *                 Trivance L and B, at the paper's 800 Gb/s and alpha 1.5 us
 *     dateline    the plan for links with two channels, for which every rank is simulated, on the tori and sizes of
 *                 `trivance figures --quick`
 *     time        how long a choice takes
 *
 *     planner [--full]      every size and network instead of every second, and all tori under dateline
 *
 * Exit status 1 if a goal, which is printed beside its column, is missed.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>

#include "measure.h"

#define ALGORITHMS_MAX 32
#define WORKERS_MAX    64

static const uint64_t bytes_min = 32, bytes_max = 128 << 20, middle_min = 32 << 10, middle_max = 8 << 20;
static const double fifo_goal = 1.005, dateline_goal = 1.02, best_goal = 1.25, mean_goal = 1.10;
static const double cold_goal_ms = 50, warm_goal_ms = 1;

/* Without --full only every second network is used. */
static const double bandwidth_gbps[] = {200, 400, 800, 1600, 3200}, alpha_us[] = {0.5, 1, 1.5, 2.5, 5};

typedef struct {
    const char *text;
    bool gains;    /* the goals against Trivance L and B apply to it */
    bool dateline; /* simulated with two channels even without --full */
} case_t;

/* The most expensive ones first. */
static const case_t cases[] = {
    {"16x16x16", true, false}, {"16x64", false, false}, {"32x32", true, false}, {"8x64", false, false},
    {"27x27", true, false},    {"8x8x8", true, false},  {"128", false, false},  {"8x16", false, true},
    {"64", false, true},       {"8x8", false, true},    {"8", false, true},
};
#define CASES MEASURE_COUNT(cases)

/* The worst of many ratios, and the case in which it occurred. */
typedef struct {
    double ratio;
    uint64_t bytes;
    double bandwidth_bps, alpha_ns;
    char choice[TRV_ALGORITHM_NAME_MAX], other[TRV_ALGORITHM_NAME_MAX];
} worst_t;

typedef struct {
    int fifo_points, dateline_points, gains;
    double fifo_log, dateline_log; /* sums of the logarithms of the ratios */
    worst_t fifo, dateline, gain;  /* gain: the best */
    double log_gain;
    double cold_ms, warm_ms, dateline_ms;
} result_t;

/* A torus, with the simulators and results for it. */
typedef struct {
    const case_t *spec;
    bool full;
    trv_torus_t torus;
    int algorithms;
    const char *name[ALGORITHMS_MAX];
    trv_simulator_t *simulator[ALGORITHMS_MAX];
    result_t result;
} job_t;

static int check(int code) { return measure_check(code, "planner"); }

/* ---- Times ------------------------------------------------------------------------------------------------------- */

static trv_simulator_t *read_algorithm(const trv_torus_t *torus, const char *name)
{
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    check(trv_schedule_create(&schedule, torus, name, TRV_ALLREDUCE));
    check(trv_simulator_create(&simulator, schedule));
    trv_schedule_destroy(schedule);
    return simulator;
}

static double simulated(const trv_simulator_t *simulator, const trv_simulate_options_t *network, uint64_t bytes)
{
    trv_simulation_t result;
    check(trv_simulate(simulator, network, bytes, &result));
    double time_ns = result.time_ns;
    trv_simulation_clear(&result);
    return time_ns;
}

/* The best of all named algorithms, in the order of their lower bounds. Algorithms whose lower bound excludes them are
 * not simulated. */
static double best_named(const job_t *job, const trv_simulate_options_t *network, uint64_t bytes, const char **name)
{
    double best_ns = INFINITY, bound_ns[ALGORITHMS_MAX];
    for (int i = 0; i < job->algorithms; i++)
        check(trv_simulate_bound_ns(job->simulator[i], network, bytes, &bound_ns[i]));
    for (;;) {
        int min = 0;
        for (int i = 1; i < job->algorithms; i++)
            min = bound_ns[i] < bound_ns[min] ? i : min;
        if (bound_ns[min] >= best_ns)
            return best_ns;
        double time_ns = simulated(job->simulator[min], network, bytes);
        bound_ns[min] = INFINITY;
        if (time_ns < best_ns) {
            best_ns = time_ns;
            *name = job->name[min];
        }
    }
}

static void update_worst(worst_t *worst, double ratio, uint64_t bytes, const trv_simulate_options_t *network,
                         const char *choice, const char *other)
{
    if (ratio <= worst->ratio)
        return;
    *worst = (worst_t){ratio, bytes, network->bandwidth_bps, network->alpha_ns, "", ""};
    snprintf(worst->choice, sizeof worst->choice, "%s", choice);
    snprintf(worst->other, sizeof worst->other, "%s", other);
}

/* The fastest of the choices on this network. */
static int best_choice(const trv_torus_t *torus, const trv_simulate_options_t *network, uint64_t bytes,
                       const trv_planner_choice_t *choice, int choices, double *best_ns)
{
    int best = 0;
    *best_ns = INFINITY;
    for (int i = 0; i < choices; i++) {
        double bound_ns;
        trv_simulator_t *simulator = read_algorithm(torus, choice[i].algorithm);
        check(trv_simulate_bound_ns(simulator, network, bytes, &bound_ns));
        double time_ns = bound_ns < *best_ns ? simulated(simulator, network, bytes) : INFINITY;
        trv_simulator_destroy(simulator);
        if (time_ns < *best_ns) {
            best = i;
            *best_ns = time_ns;
        }
    }
    return best;
}

/* ---- One torus --------------------------------------------------------------------------------------------------- */

static void compare_fifo(job_t *job, trv_planner_t *planner, const trv_simulate_options_t *network, uint64_t bytes)
{
    trv_planner_choice_t choice;
    const char *name = "";
    check(trv_planner_rank(planner, bytes, 1, &choice));
    double named_ns = best_named(job, network, bytes, &name);
    job->result.fifo_points++;
    job->result.fifo_log += log(choice.time_ns / named_ns);
    update_worst(&job->result.fifo, choice.time_ns / named_ns, bytes, network, choice.algorithm, name);
}

static void compare_paper(job_t *job, trv_planner_t *planner, const trv_simulate_options_t *network, uint64_t bytes)
{
    trv_planner_choice_t choice, l, b;
    check(trv_planner_rank(planner, bytes, 1, &choice));
    check(trv_planner_time(planner, bytes, "trivance-l", &l));
    check(trv_planner_time(planner, bytes, "trivance-b", &b));
    double gain = (l.time_ns < b.time_ns ? l.time_ns : b.time_ns) / choice.time_ns;
    update_worst(&job->result.gain, gain, bytes, network, choice.algorithm, l.time_ns < b.time_ns ? "L" : "B");
    if (bytes >= middle_min && bytes <= middle_max) {
        job->result.log_gain += log(gain);
        job->result.gains++;
    }
}

static void compare_dateline(job_t *job, trv_planner_t *planner, const trv_simulate_options_t *network, uint64_t bytes)
{
    trv_planner_choice_t choice;
    const char *name = "";
    check(trv_planner_rank(planner, bytes, 1, &choice));
    double choice_ns, named_ns = best_named(job, network, bytes, &name);
    best_choice(&job->torus, network, bytes, &choice, 1, &choice_ns);
    job->result.dateline_points++;
    job->result.dateline_log += log(choice_ns / named_ns);
    update_worst(&job->result.dateline, choice_ns / named_ns, bytes, network, choice.algorithm, name);
}

static void compare_all(job_t *job, const trv_simulate_options_t *network, int factor,
                        void (*compare)(job_t *, trv_planner_t *, const trv_simulate_options_t *, uint64_t))
{
    trv_planner_t *planner;
    check(trv_planner_create(&planner, &job->torus, TRV_ALLREDUCE, 0, network, NULL));
    for (uint64_t bytes = bytes_min; bytes <= bytes_max; bytes *= (uint64_t)factor)
        compare(job, planner, network, bytes);
    trv_planner_destroy(planner);
}

static void read_named(job_t *job)
{
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (trv_algorithm_exactness(algorithm) == TRV_COVERS ||
            trv_algorithm_supports(algorithm, &job->torus, TRV_ALLREDUCE) != TRV_OK)
            continue;
        job->name[job->algorithms] = trv_algorithm_name(algorithm);
        job->simulator[job->algorithms] = read_algorithm(&job->torus, job->name[job->algorithms]);
        job->algorithms++;
    }
}

static void run_job(job_t *job)
{
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    const int stride = job->full ? 1 : 2, factor = job->full ? 2 : 4;
    check(trv_torus_parse(job->spec->text, &job->torus));
    read_named(job);
    if (job->spec->dateline || job->full) {
        network.model = TRV_DATELINE;
        compare_all(job, &network, 4, compare_dateline);
    }
    network.model = TRV_FIFO;
    compare_all(job, &network, 2, compare_paper);
    for (int b = 0; b < MEASURE_COUNT(bandwidth_gbps); b += stride)
        for (int a = 0; a < MEASURE_COUNT(alpha_us); a += stride) {
            network.bandwidth_bps = bandwidth_gbps[b] * 1e9;
            network.alpha_ns = alpha_us[a] * 1e3;
            compare_all(job, &network, factor, compare_fifo);
        }
    for (int i = 0; i < job->algorithms; i++)
        trv_simulator_destroy(job->simulator[i]);
}

/* Time to create a planner and a plan. */
static double time_cold(const trv_torus_t *torus, const trv_simulate_options_t *network, uint64_t bytes)
{
    trv_planner_t *planner;
    trv_planner_choice_t choice;
    const double begin_ms = 1e-6 * trv_now_ns();
    check(trv_planner_create(&planner, torus, TRV_ALLREDUCE, 0, network, NULL));
    check(trv_planner_rank(planner, bytes, 1, &choice));
    const double cold_ms = 1e-6 * trv_now_ns() - begin_ms;
    trv_planner_destroy(planner);
    return cold_ms;
}

/* Time of a choice, of the slowest size. Cold: the first query for a torus. Warm: the same query again. */
static void time_choice(job_t *job)
{
    const trv_simulate_options_t fifo = TRV_SIMULATE_DEFAULTS;
    trv_simulate_options_t dateline = fifo;
    dateline.model = TRV_DATELINE;
    for (uint64_t bytes = bytes_min; bytes <= bytes_max; bytes *= 2) {
        trv_planner_choice_t choice;
        job->result.cold_ms = fmax(job->result.cold_ms, time_cold(&job->torus, &fifo, bytes));
        check(trv_planner_best(&job->torus, TRV_ALLREDUCE, 0, bytes, &fifo, NULL, &choice));
        const double begin_ms = 1e-6 * trv_now_ns();
        check(trv_planner_best(&job->torus, TRV_ALLREDUCE, 0, bytes, &fifo, NULL, &choice));
        job->result.warm_ms = fmax(job->result.warm_ms, 1e-6 * trv_now_ns() - begin_ms);
    }
    for (uint64_t bytes = bytes_min; bytes <= bytes_max; bytes *= 64)
        job->result.dateline_ms = fmax(job->result.dateline_ms, time_cold(&job->torus, &dateline, bytes));
}

/* ---- All tori ---------------------------------------------------------------------------------------------------- */

static job_t jobs[CASES];
static atomic_int next;

static void *work(void *unused)
{
    for (int i; (i = atomic_fetch_add(&next, 1)) < CASES;)
        run_job(&jobs[i]);
    return unused;
}

static void run_all(bool full)
{
    pthread_t thread[WORKERS_MAX];
    int workers = 0;
    const char *cores = getenv("PLANNER_WORKERS");
    const int workers_max = cores ? atoi(cores) : 2;
    for (int i = 0; i < CASES; i++)
        jobs[i] = (job_t){.spec = &cases[i], .full = full};
    while (workers < workers_max - 1 && workers < WORKERS_MAX &&
           pthread_create(&thread[workers], NULL, work, NULL) == 0)
        workers++;
    work(NULL);
    while (workers-- > 0)
        pthread_join(thread[workers], NULL);
    for (int i = 0; i < CASES; i++)
        time_choice(&jobs[i]);
}

/* ---- The tables -------------------------------------------------------------------------------------------------- */

static void print_where(const worst_t *worst)
{
    char bytes[MEASURE_BYTES_TEXT_MAX];
    printf("  %8s, %4.0f Gb/s, alpha %.1f us: %s, %s\n", measure_bytes(worst->bytes, bytes), worst->bandwidth_bps / 1e9,
           worst->alpha_ns / 1e3, worst->choice, worst->other);
}

static int print_ratios(const char *title, double goal, bool dateline)
{
    int missed = 0;
    printf("\n%s: time of the plan / best of all named algorithms, at most %.3f.\n\n%-9s %6s  %6s  %6s  %-4s  %s\n",
           title, goal, "torus", "points", "mean", "worst", "met", "where; plan, best named");
    for (int i = CASES - 1; i >= 0; i--) {
        const result_t *r = &jobs[i].result;
        const worst_t *worst = dateline ? &r->dateline : &r->fifo;
        int points = dateline ? r->dateline_points : r->fifo_points;
        if (points == 0)
            continue;
        printf("%-9s %6d  %.4f  %.4f  %-4s", cases[i].text, points,
               exp((dateline ? r->dateline_log : r->fifo_log) / points), worst->ratio,
               measure_mark(worst->ratio <= goal, &missed));
        if (worst->ratio > 1)
            print_where(worst);
        else
            printf("\n");
    }
    return missed;
}

static int print_gains(void)
{
    int missed = 0;
    printf("\nGain over the better of Trivance L and B, 800 Gb/s, alpha 1.5 us, powers of two: best point (at least "
           "%.2f) and\ngeometric mean over 32 KiB to 8 MiB (at least %.2f) where goals are set.\n\n"
           "%-9s %6s  %6s  %-4s  %s\n",
           best_goal, mean_goal, "torus", "best", "mean", "met", "where; plan, better of L and B");
    for (int i = CASES - 1; i >= 0; i--) {
        const result_t *r = &jobs[i].result;
        const double mean = exp(r->log_gain / r->gains);
        const bool reached = r->gain.ratio >= best_goal && mean >= mean_goal;
        printf("%-9s %6.3f  %6.3f  %-4s", cases[i].text, r->gain.ratio, mean,
               cases[i].gains ? measure_mark(reached, &missed) : "");
        print_where(&r->gain);
    }
    return missed;
}

static int print_times(void)
{
    int missed = 0;
    printf(
        "\nTime of a choice, the slowest of all sizes: cold at most %.0f ms, warm at most %.0f ms with one queue per "
        "link;\nwith two channels the best few are simulated on the whole torus.\n\n"
        "%-9s %8s  %8s  %4s  %16s\n",
        cold_goal_ms, warm_goal_ms, "torus", "cold ms", "warm ms", "met", "two channels, ms");
    for (int i = CASES - 1; i >= 0; i--) {
        const result_t *r = &jobs[i].result;
        const char *reached = measure_mark(r->cold_ms <= cold_goal_ms && r->warm_ms <= warm_goal_ms, &missed);
        printf("%-9s %8.2f  %8.4f  %4s  %16.0f\n", cases[i].text, r->cold_ms, r->warm_ms, reached, r->dateline_ms);
    }
    return missed;
}

int main(int argc, char **argv)
{
    const bool full = argc == 2 && strcmp(argv[1], "--full") == 0;
    if (argc > 1 && !full) {
        fprintf(stderr, "planner: unknown option '%s': expected --full\n", argv[1]);
        return 2;
    }
    run_all(full);
    int missed = print_ratios("One queue per link", fifo_goal, false);
    missed += print_ratios("Two channels per link (dateline)", dateline_goal, true);
    missed += print_gains();
    missed += print_times();
    return missed > 0;
}
