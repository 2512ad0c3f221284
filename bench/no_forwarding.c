/*
 * Compares plans for rings of hosts that do not forward, 200 Gb/s and alpha 5 us, with Ring, Bucket, and with Swing and
 * Recursive Doubling whose messages are passed on (the fastest of each family), by simulation, and with the lower
 * bound. AllReduce, one queue per link. Ends with status 1 if a plan is slower than one of them, if on 4 and 5 ranks up
 * to 64 KiB the better of Ring and Bucket does not take twice as long, or if a plan for 64 MiB takes more than 1.15
 * times the limit.
 *
 *     no_forwarding         rings of 3 to 8
 *     no_forwarding TORUS…  these networks instead
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trivance/trivance.h>

#include "measure.h"

#define BYTES_MIN   8
#define BYTES_MAX   ((uint64_t)64 << 20)
#define SHORT_MAX   ((uint64_t)64 << 10)
#define SHORT_RATIO 2.0
#define LONG_RATIO  1.15

static const struct {
    const char *title, *name[3];
} baselines[] = {
    {"ring", {"ring"}},
    {"bucket", {"bucket"}},
    {"swing", {"relayed:swing-l", "relayed:swing-b"}},
    {"recdoub", {"relayed:recdoub-l", "relayed:recdoub-b", "relayed:recdoub-b-split"}},
};
enum { RING, BUCKET, BASELINES = sizeof baselines / sizeof baselines[0], NAMES = 3 };

static int check(int code) { return measure_check(code, "no_forwarding"); }

/* The time of the fastest algorithm of a baseline; INFINITY if none supports the network. */
static double baseline_ns(trv_planner_t *planner, int baseline, uint64_t bytes)
{
    double best_ns = INFINITY;
    for (int i = 0; i < NAMES && baselines[baseline].name[i]; i++) {
        trv_planner_choice_t choice;
        const int rc = trv_planner_time(planner, bytes, baselines[baseline].name[i], &choice);
        if (rc != TRV_ERR_UNSUPPORTED && check(rc) == TRV_OK)
            best_ns = fmin(best_ns, choice.time_ns);
    }
    return best_ns;
}

/* Prints a row. Returns whether all requirements are met. */
static bool print_size(trv_planner_t *planner, const trv_network_t *network, const trv_simulate_options_t *options,
                       uint64_t bytes)
{
    const double router_ns = options->router_in_ns + options->router_out_ns;
    const trv_hockney_t times = {options->bandwidth_bps, options->alpha_ns + 2 * options->host_latency_ns + router_ns,
                                 options->link_latency_ns + router_ns};
    trv_planner_choice_t plan;
    trv_limit_t limit;
    char text[MEASURE_BYTES_TEXT_MAX], torus[TRV_TORUS_TEXT_MAX];
    double ratio[BASELINES], least = INFINITY;
    check(trv_planner_rank(planner, bytes, 1, &plan));
    check(trv_limit_find(network, &times, TRV_ALLREDUCE, 0, bytes, options->packet_bytes, &limit));
    for (int b = 0; b < BASELINES; b++) {
        ratio[b] = baseline_ns(planner, b, bytes) / plan.time_ns;
        least = fmin(least, ratio[b]);
    }
    const int ranks = network->torus.ranks;
    const bool is_short = network->torus.dims == 1 && (ranks == 4 || ranks == 5) && bytes <= SHORT_MAX;
    const double limit_ratio = plan.time_ns / limit.time_ns, slower = fmin(ratio[RING], ratio[BUCKET]);
    const bool met = least >= 1 && (!is_short || slower >= SHORT_RATIO) &&
                     (bytes < BYTES_MAX || limit_ratio <= LONG_RATIO);
    printf("%-6s %8s %11.2f %7.3f", trv_torus_format(&network->torus, torus, sizeof torus), measure_bytes(bytes, text),
           plan.time_ns / 1e3, limit_ratio);
    for (int b = 0; b < BASELINES; b++)
        isfinite(ratio[b]) ? printf(" %7.2f", ratio[b]) : printf(" %7s", "-");
    printf("  %s%s\n", plan.algorithm, met ? "" : "  MISSED");
    fflush(stdout);
    return met;
}

static bool print_network(const char *text)
{
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    trv_network_t network = {TRV_NETWORK, .no_forwarding = true};
    trv_planner_t *planner;
    bool met = true;
    options.bandwidth_bps = 200e9;
    options.alpha_ns = 5000;
    options.no_forwarding = true;
    check(trv_torus_parse(text, &network.torus));
    check(trv_planner_create(&planner, &network.torus, TRV_ALLREDUCE, 0, &options, NULL));
    for (uint64_t bytes = BYTES_MIN; bytes <= BYTES_MAX; bytes *= 2)
        met &= print_size(planner, &network, &options, bytes);
    trv_planner_destroy(planner);
    return met;
}

int main(int argc, char **argv)
{
    static const char *const rings[] = {"3", "4", "5", "6", "7", "8"};
    const int networks = argc > 1 ? argc - 1 : MEASURE_COUNT(rings);
    bool met = true;
    printf("%-6s %8s %11s %7s", "torus", "bytes", "plan us", "limit");
    for (int b = 0; b < BASELINES; b++)
        printf(" %7s", baselines[b].title);
    printf("  plan (limit: its time / the limit; others: their time / that of the plan)\n");
    for (int i = 0; i < networks; i++)
        met &= print_network(argc > 1 ? argv[i + 1] : rings[i]);
    printf("%s\n", met ? "all requirements are met" : "some requirements are MISSED");
    return met ? 0 : 1;
}
