/*
 * How fast is the packet simulator? Packet-hops per second on one core, and the time for tori of thousands and of a
 * million ranks by the symmetry reduction, which needs the one queue per link of the model `fifo`.
 *
 *     simulate [RUNS, default 3]
 *
 * "set up" makes the schedule and reads it, "simulate" is the simulation; medians. Packet-hops are those that were
 * simulated; those of the whole torus stand beside them. The paper's simulator (SST 11.1 with Merlin) handles 30,000 to
 * 440,000 packet-hops per second on such machines, and takes 226 s for the second line.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <trivance/trivance.h>

enum { RUNS_MAX = 101 };

typedef struct {
    const char *algorithm, *torus, *size;
    uint64_t bytes;
    trv_link_model_t model;
    double hops_per_s, wall_s; /* the goal: at least, at most; 0: none */
} line_t;

static const line_t lines[] = {
    {"recdoub-b", "16x16", "8 MiB", 8 << 20, TRV_DATELINE, 20e6, 0},
    {"bruck-b", "27x27", "32 MiB", 32 << 20, TRV_DATELINE, 20e6, 0},
    {"trivance-b", "20x20x24", "128 MiB", 128 << 20, TRV_FIFO, 0, 1},
    {"trivance-b", "100x100x100", "128 MiB", 128 << 20, TRV_FIFO, 0, 10},
};

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, ascending);
    return value[count / 2];
}

/* One run of a line, from its name to its result. */
static int run(const line_t *line, trv_simulation_t *result, double *setup_s, double *simulate_s)
{
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    trv_torus_t torus;
    trv_schedule_t *schedule = NULL;
    trv_simulator_t *simulator = NULL;
    options.model = line->model;
    double start_s = now_s();
    int rc = trv_torus_parse(line->torus, &torus);
    rc = rc ? rc : trv_schedule_create(&schedule, &torus, line->algorithm, TRV_ALLREDUCE);
    rc = rc ? rc : trv_simulator_create(&simulator, schedule);
    double ready_s = now_s();
    rc = rc ? rc : trv_simulate(simulator, &options, line->bytes, result);
    *simulate_s = now_s() - ready_s;
    *setup_s = ready_s - start_s;
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
    return rc;
}

/* Prints one row. */
static int measure(const line_t *line, int runs)
{
    double setup_s[RUNS_MAX], simulate_s[RUNS_MAX];
    trv_simulation_t result = {0};
    for (int i = 0; i < runs; i++) {
        trv_simulation_clear(&result);
        if (run(line, &result, &setup_s[i], &simulate_s[i])) {
            fprintf(stderr, "simulate: %s on %s: %s\n", line->algorithm, line->torus, trv_last_error());
            return 1;
        }
    }
    double setup = median(setup_s, runs), simulate = median(simulate_s, runs);
    double rate = (double)result.simulated_hops / simulate;
    bool good = rate >= line->hops_per_s && (line->wall_s == 0 || setup + simulate <= line->wall_s);
    printf("%-11s  %-11s  %8s  %-8s  %12.3f  %12llu  %14llu  %9.3f  %11.3f  %12.1f  %s\n", line->torus, line->algorithm,
           line->size, line->model == TRV_FIFO ? "fifo" : "dateline", result.time_ns / 1e3,
           (unsigned long long)result.simulated_hops, (unsigned long long)result.packet_hops, setup * 1e3,
           simulate * 1e3, rate / 1e6, good ? "yes" : "NO");
    trv_simulation_clear(&result);
    return 0;
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 3, failed = 0;
    if (runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "simulate: runs are 1 to %d, not %s\n", RUNS_MAX, argv[1]);
        return 2;
    }
    printf("Goals: 20 million packet-hops/s under dateline; 1 s for 20x20x24, 10 s for 100x100x100.\n"
           "The paper's simulator: 0.03 to 0.44 million packet-hops/s, 226 s for bruck-b on 27x27.\n\n"
           "%-11s  %-11s  %8s  %-8s  %12s  %12s  %14s  %9s  %11s  %12s  %s\n",
           "torus", "algorithm", "bytes", "model", "simulated us", "packet-hops", "of the torus", "set up ms",
           "simulate ms", "Mhops/s/core", "goal kept");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        failed += measure(&lines[i], runs);
    return failed != 0;
}
