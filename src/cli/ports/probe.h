/*
 * Measurement of the ports of a job: the throughput of each dimension's two ports separately and concurrently, by
 * messages between neighbours.
 */
#ifndef TRIVANCE_CLI_PORTS_PROBE_H
#define TRIVANCE_CLI_PORTS_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include <trivance/net.h>

typedef enum trv_path_verdict {
    TRV_PATHS_TWO,       /* both ports concurrently take about as long as one alone */
    TRV_PATHS_INTERFACE, /* the ports share a path, and on some rank an interface */
    TRV_PATHS_ROUTE,     /* the ports share a path although they have separate interfaces */
    TRV_PATHS_UNCLEAR    /* the rounds disagree */
} trv_path_verdict_t;

typedef struct trv_probe {
    double alone_ns[2], both_ns; /* times of the slowest rank in the median round: +, -, both */
    double gain;                 /* ratio of the sum of the separate times to the concurrent time, median */
    bool one_interface;          /* both ports use one interface on some rank */
    trv_path_verdict_t paths;
    bool strays; /* on some rank the system sent through another device than the interface in the map */
} trv_probe_t;

#define TRV_PROBE_TWO 1.5 /* minimum gain with two paths */

/* Collective: every rank sends `bytes` to its neighbours in the dimension, in as many rounds as a clear result
 * requires. remote: whether the neighbours (+, -) are on other hosts. */
int trv_probe_dimension(trv_net_t *net, int dimension, size_t bytes, const bool remote[2], trv_probe_t *probe);
/* Runs the whole of `trivance topology --ports`: joins the job, measures, and prints on rank 0. Returns the exit
 * code: CLI_WRONG if the measurement contradicts the map. */
int trv_probe_main(int argc, char **argv, const trv_net_options_t *options);

#endif
