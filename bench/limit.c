/*
 * Compares the times of plans with the lower bound for all schedules (trv_limit_find), on tori, meshes and networks
 * with a slow or cut link, simulated at the paper's 800 Gb/s and alpha 1.5 us, one queue per link.
 *
 *     limit [TORUS…]        these instead of the networks below
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <trivance/trivance.h>

#include "measure.h"

static const struct {
    const char *title, *torus;
    int links;
    trv_slow_link_t link[2];
} networks[] = {
    {"8x8m", "8x8m", 0, {{0}}},
    {"8mx8m", "8mx8m", 0, {{0}}},
    {"27mx27m", "27mx27m", 0, {{0}}},
    {"9mx9mx9m", "9mx9mx9m", 0, {{0}}},
    {"4mx4mx8m", "4mx4mx8m", 0, {{0}}},
    {"9m", "9m", 0, {{0}}},
    {"27m", "27m", 0, {{0}}},
    {"8x64", "8x64", 0, {{0}}},
    {"4x4x16", "4x4x16", 0, {{0}}},
    {"16x64", "16x64", 0, {{0}}},
    {"32x32", "32x32", 0, {{0}}},
    {"32x32, a link cut", "32x32", 2, {{0, 0, INFINITY}, {32, 1, INFINITY}}},
    {"9, a link at a tenth", "9", 1, {{0, 0, 10}}},
    {"9x9, a link at a tenth", "9x9", 1, {{0, 0, 10}}},
    {"32x32, a link at a tenth", "32x32", 1, {{0, 0, 10}}},
};

static const uint64_t sizes[] = {32, 8 << 10, 1 << 20, 512 << 20};

static int check(int code) { return measure_check(code, "limit"); }

static void print_network(const char *title, const char *torus, const trv_slow_link_t *link, int links)
{
    trv_network_t network = {TRV_NETWORK, .slow_links = links, .slow_link = link};
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    check(trv_torus_parse(torus, &network.torus));
    options.slow_links = links;
    options.slow_link = link;
    /* In addition to its hops a message traverses two connections of host and router, and one router's input and
     * output. */
    const double router_ns = options.router_in_ns + options.router_out_ns;
    const trv_hockney_t times = {options.bandwidth_bps, options.alpha_ns + 2 * options.host_latency_ns + router_ns,
                                 options.link_latency_ns + router_ns};
    for (int s = 0; s < MEASURE_COUNT(sizes); s++) {
        trv_planner_choice_t choice;
        trv_limit_t limit;
        char bytes[MEASURE_BYTES_TEXT_MAX];
        check(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, sizes[s], &options, NULL, &choice));
        check(trv_limit_find(&network, &times, TRV_ALLREDUCE, 0, sizes[s], options.packet_bytes, &limit));
        printf("%-25s %8s %12.3f %12.3f %7.3f  %s%s\n", s ? "" : title, measure_bytes(sizes[s], bytes),
               choice.time_ns / 1e3, limit.time_ns / 1e3, choice.time_ns / limit.time_ns, choice.algorithm,
               choice.modelled ? " (by its model)" : "");
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    printf("%-25s %8s %12s %12s %7s  %s\n", "network", "bytes", "plan us", "limit us", "ratio", "plan");
    for (int i = 1; i < argc; i++)
        print_network(argv[i], argv[i], NULL, 0);
    for (int i = 0; i < MEASURE_COUNT(networks) && argc == 1; i++)
        print_network(networks[i].title, networks[i].torus, networks[i].link, networks[i].links);
    return 0;
}
