/*
 * Measures the speed of the packet simulator: packet-hops per second on one core, and the time for tori of thousands
 * and of a million ranks by the symmetry reduction, which needs the one queue per link of the model `fifo`.
 *
 *     simulate [RUNS, default 3]
 *
 * "set up" is the time to create the schedule and to read it, "simulate" that of the simulation; both are medians.
 * Packet-hops are those that were simulated; the next column has those of the whole torus. The paper's simulator (SST
 * 11.1 with Merlin) processes 30,000 to 440,000 packet-hops per second on such machines, and takes 226 s for the second
 * line.
 */
#include <stdio.h>
#include <stdlib.h>

#include <trivance/trivance.h>

#include "measure.h"

enum { RUNS_MAX = 101 };

typedef struct {
    const char *algorithm, *torus;
    uint64_t bytes;
    trv_link_model_t model;
    double hops_per_s, wall_s; /* goals: a minimum and a maximum; 0: none */
} line_t;

static const line_t lines[] = {
    {"recdoub-b", "16x16", 8 << 20, TRV_DATELINE, 20e6, 0},
    {"bruck-b", "27x27", 32 << 20, TRV_DATELINE, 20e6, 0},
    {"trivance-b", "20x20x24", 128 << 20, TRV_FIFO, 0, 1},
    {"trivance-b", "100x100x100", 128 << 20, TRV_FIFO, 0, 10},
};

/* One run of a line, from its name to its result. */
static void run(const line_t *line, trv_simulation_t *result, double *setup_s, double *simulate_s)
{
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    trv_torus_t torus;
    trv_schedule_t *schedule = NULL;
    trv_simulator_t *simulator = NULL;
    options.model = line->model;
    const double start_s = trv_now_s();
    measure_check(trv_torus_parse(line->torus, &torus), "simulate");
    measure_check(trv_schedule_create(&schedule, &torus, line->algorithm, TRV_ALLREDUCE), "simulate");
    measure_check(trv_simulator_create(&simulator, schedule), "simulate");
    const double ready_s = trv_now_s();
    measure_check(trv_simulate(simulator, &options, line->bytes, result), "simulate");
    *simulate_s = trv_now_s() - ready_s;
    *setup_s = ready_s - start_s;
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
}

/* Prints one row. */
static void measure(const line_t *line, int runs, int *missed)
{
    char size[MEASURE_BYTES_TEXT_MAX];
    double setup_s[RUNS_MAX], simulate_s[RUNS_MAX];
    trv_simulation_t result = {0};
    for (int i = 0; i < runs; i++) {
        trv_simulation_clear(&result);
        run(line, &result, &setup_s[i], &simulate_s[i]);
    }
    double setup = trv_median(setup_s, runs), simulate = trv_median(simulate_s, runs);
    double rate = (double)result.simulated_hops / simulate;
    bool good = rate >= line->hops_per_s && (line->wall_s == 0 || setup + simulate <= line->wall_s);
    printf("%-11s  %-11s  %8s  %-8s  %12.3f  %12llu  %14llu  %9.3f  %11.3f  %12.1f  %s\n", line->torus, line->algorithm,
           measure_bytes(line->bytes, size), line->model == TRV_FIFO ? "fifo" : "dateline", result.time_ns / 1e3,
           (unsigned long long)result.simulated_hops, (unsigned long long)result.packet_hops, setup * 1e3,
           simulate * 1e3, rate / 1e6, measure_mark(good, missed));
    trv_simulation_clear(&result);
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? measure_number(argv[1], RUNS_MAX) : 3, missed = 0;
    if (runs == 0) {
        fprintf(stderr, "simulate: expected 1 to %d runs, not %s\n", RUNS_MAX, argv[1]);
        return 2;
    }
    printf("Goals: 20 million packet-hops/s under dateline; 1 s for 20x20x24, 10 s for 100x100x100.\n"
           "The paper's simulator: 0.03 to 0.44 million packet-hops/s, 226 s for bruck-b on 27x27.\n\n"
           "%-11s  %-11s  %8s  %-8s  %12s  %12s  %14s  %9s  %11s  %12s  %s\n",
           "torus", "algorithm", "bytes", "model", "simulated us", "packet-hops", "of the torus", "set up ms",
           "simulate ms", "Mhops/s/core", "goal reached");
    for (int i = 0; i < MEASURE_COUNT(lines); i++)
        measure(&lines[i], runs, &missed);
    return missed > 0;
}
