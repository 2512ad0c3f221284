/*
 * The gain of stars (docs/stars.md), in the packet simulator:
 *
 *     gain          the planner's choice, stars among its candidates, against the better of Trivance L and B, by the
 *                   reference's rules (two channels per link), 800 Gb/s, alpha 1.5 us
 *     sensitivity   the planner's choice with stars against its choice without, for other alphas and with an overhead
 *                   of the sender for each message; one queue per link. 1.00: stars are not chosen, or gain nothing
 *
 *     star [--full]     --full: up to 128 MiB instead of 8 MiB (some minutes)
 *
 * Exit status 1 if a goal, which is printed beside its gain, is missed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>

#include "measure.h"

#define CHOICES_MAX 256
#define SIZES_MAX   16

static const uint64_t bytes_min = 32, small_max = 8 << 10, middle_max = 8 << 20, full_max = 128 << 20;

/* Goals of the gains: at 32 B, up to 8 KiB, up to 8 MiB; 0: none. */
static const struct {
    const char *torus;
    double smallest, small, middle;
} cases[] = {
    {"4x4", 1.8, 1.75, 0},    {"8x8", 1.15, 1.15, 0},   {"12x12", 1.35, 1.35, 1.2},
    {"16x16", 1.25, 1.25, 0}, {"32x32", 1.15, 1.15, 0}, {"4x4x4", 1.8, 1.75, 0},
    {"4x4x8", 0, 0, 0},       {"8x8x8", 1.1, 1.1, 0},   {"16x16x16", 1.2, 1.2, 0},
};

static const struct {
    double alpha_us, overhead_us;
} settings[] = {{0.5, 0}, {1.5, 0}, {5, 0}, {1.5, 0.1}, {1.5, 0.2}, {1.5, 0.5}};

static const char *const sensitive[] = {"4x4", "8x8", "16x16", "4x4x4", "8x8x8"};

static int check(int code) { return measure_check(code, "star"); }

static void print_size(uint64_t bytes)
{
    char text[MEASURE_BYTES_TEXT_MAX];
    printf(" %8s", measure_bytes(bytes, text));
}

/* ---- Gains ------------------------------------------------------------------------------------------------------- */

/* The time of an algorithm; INFINITY if its lower bound is not less than `enough_ns`. */
static double time_of(const trv_torus_t *torus, const char *name, const trv_simulate_options_t *network, uint64_t bytes,
                      double enough_ns)
{
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    trv_simulation_t result;
    double bound_ns, time_ns = INFINITY;
    check(trv_schedule_create(&schedule, torus, name, TRV_ALLREDUCE));
    check(trv_simulator_create(&simulator, schedule));
    check(trv_simulate_bound_ns(simulator, network, bytes, &bound_ns));
    if (bound_ns < enough_ns) {
        check(trv_simulate(simulator, network, bytes, &result));
        time_ns = result.time_ns;
        trv_simulation_clear(&result);
    }
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
    return time_ns;
}

/* The time of the better one of Trivance L and B, which is probably the one with the smaller lower bound. */
static double trivance_ns(const trv_torus_t *torus, const trv_simulate_options_t *network, uint64_t bytes)
{
    const bool l_first = bytes <= 64 << 10;
    double first = time_of(torus, l_first ? "trivance-l" : "trivance-b", network, bytes, INFINITY);
    double other = time_of(torus, l_first ? "trivance-b" : "trivance-l", network, bytes, first);
    return other < first ? other : first;
}

/* Measures one torus; returns whether the gains reach their goals. */
static bool print_gain(int number, uint64_t bytes_max)
{
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    trv_planner_t *planner;
    trv_torus_t torus;
    char chosen[SIZES_MAX][TRV_ALGORITHM_NAME_MAX];
    bool reached = true;
    int sizes = 0;
    network.model = TRV_DATELINE;
    check(trv_torus_parse(cases[number].torus, &torus));
    check(trv_planner_create(&planner, &torus, TRV_ALLREDUCE, 0, &network, NULL));
    printf("%-9s", cases[number].torus);
    for (uint64_t bytes = bytes_min; bytes <= bytes_max; bytes *= 4) {
        trv_planner_choice_t choice;
        check(trv_planner_rank(planner, bytes, 1, &choice));
        double goal = bytes == bytes_min    ? cases[number].smallest
                      : bytes <= small_max  ? cases[number].small
                      : bytes <= middle_max ? cases[number].middle
                                            : 0;
        double gain = trivance_ns(&torus, &network, bytes) /
                      time_of(&torus, choice.algorithm, &network, bytes, INFINITY);
        reached = reached && gain >= goal;
        printf(" %7.3fx", gain);
        fflush(stdout);
        snprintf(chosen[sizes++], sizeof chosen[0], "%s", choice.algorithm);
    }
    printf("%s\n         ", cases[number].smallest == 0 ? "" : reached ? "  yes" : "  NO");
    for (int i = 0; i < sizes; i++)
        printf(" %s%s", i && strcmp(chosen[i], chosen[i - 1]) == 0 ? "=" : chosen[i], i < sizes - 1 ? "," : "\n");
    trv_planner_destroy(planner);
    return reached;
}

static int print_gains(uint64_t bytes_max)
{
    int missed = 0;
    printf(
        "Time of the better of Trivance L and B / time of the plan, and the plans (=: as before); dateline, 800 Gb/s, "
        "alpha 1.5 us.\n\ntorus    ");
    for (uint64_t bytes = bytes_min; bytes <= bytes_max; bytes *= 4)
        print_size(bytes);
    printf("  met\n");
    for (int i = 0; i < MEASURE_COUNT(cases); i++)
        missed += !print_gain(i, bytes_max);
    return missed;
}

/* ---- Sensitivity ------------------------------------------------------------------------------------------------- */

/* The ratio of the time of the best plan without stars to that of the best plan. */
static double gain_of_stars(trv_planner_t *planner, uint64_t bytes)
{
    static trv_planner_choice_t choice[CHOICES_MAX];
    for (int capacity = 16; capacity <= CHOICES_MAX; capacity *= 4) {
        int choices = trv_planner_rank(planner, bytes, capacity, choice);
        check(choices);
        for (int i = 0; i < choices; i++)
            if (strncmp(choice[i].algorithm, "star", 4) != 0)
                return choice[i].time_ns / choice[0].time_ns;
    }
    return NAN;
}

static void print_sensitivity(const char *text)
{
    trv_torus_t torus;
    check(trv_torus_parse(text, &torus));
    for (int s = 0; s < MEASURE_COUNT(settings); s++) {
        trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
        trv_planner_t *planner;
        network.alpha_ns = settings[s].alpha_us * 1e3;
        network.message_overhead_ns = settings[s].overhead_us * 1e3;
        check(trv_planner_create(&planner, &torus, TRV_ALLREDUCE, 0, &network, NULL));
        printf("%-9s %4.1f us  %6.1f us", text, settings[s].alpha_us, settings[s].overhead_us);
        for (uint64_t bytes = bytes_min; bytes <= middle_max; bytes *= 4)
            printf(" %7.3fx", gain_of_stars(planner, bytes));
        printf("\n");
        trv_planner_destroy(planner);
    }
}

int main(int argc, char **argv)
{
    const bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
    if (argc > 2 || (argc == 2 && !full)) {
        fprintf(stderr, "usage: star [--full]\n");
        return 2;
    }
    int missed = print_gains(full ? full_max : middle_max);
    printf("\nTime of the best plan without stars / time of the best plan; fifo, 800 Gb/s.\n\ntorus     alpha    "
           "overhead ");
    for (uint64_t bytes = bytes_min; bytes <= middle_max; bytes *= 4)
        print_size(bytes);
    printf("\n");
    for (int i = 0; i < MEASURE_COUNT(sensitive); i++)
        print_sensitivity(sensitive[i]);
    return missed > 0;
}
