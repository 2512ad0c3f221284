/*
 * What the ports of a job are worth: each dimension's two ways alone, and both at once, by messages between neighbours.
 */
#ifndef TRIVANCE_CLI_PORTS_PROBE_H
#define TRIVANCE_CLI_PORTS_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include <trivance/net.h>

typedef enum trv_paths {
    TRV_PATHS_TWO,       /* both at once take about as long as one alone */
    TRV_PATHS_INTERFACE, /* they share a path, and an interface on some rank */
    TRV_PATHS_ROUTE,     /* they share a path although they have interfaces of their own */
    TRV_PATHS_UNCLEAR    /* sometimes the one, sometimes the other */
} trv_paths_t;

typedef struct trv_probe {
    double alone_ns[2], both_ns; /* of the slowest rank: +, -, both; in the median round */
    double gain;                 /* the two alone, one after the other, against both at once; likewise */
    bool one_interface;          /* for both, on some rank */
    trv_paths_t paths;
    bool strays; /* on some rank the system has sent by another device than the interface that the map names */
} trv_probe_t;

#define TRV_PROBE_TWO 1.5 /* the ways alone, one after the other, take so many times as long as both at once, or more */

/* Collective: every rank sends `bytes` to its neighbours in the dimension, in as many rounds as it takes to tell. remote:
 * whether the neighbours (+, -) are on other hosts. */
int trv_probe_dimension(trv_net_t *net, int dimension, size_t bytes, const bool remote[2], trv_probe_t *probe);
/* The rank next to this one that way; -1: a line ends here. */
int trv_probe_neighbour(const trv_net_t *net, int way);

/* The whole of `trivance topology --ports`: joins the job, and rank 0 prints. The exit code: CLI_WRONG where the
 * measurement contradicts the map. */
int trv_probe_main(int argc, char **argv, const trv_net_options_t *options);

#endif
