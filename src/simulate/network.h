/*
 * The network: packets over links, in order of time. It is independent of schedules: a driver sends messages and sets
 * timers, and the network calls it when a timer is due and when a message has been injected or has arrived. The drivers
 * are steps.c (schedules) and goal_run.c (GOAL programs).
 *
 * A network is used for one run: create, start the driver's first timers, run, read the results, destroy.
 *
 * Times are whole femtoseconds since the start. Simultaneous events are ordered by keys that a translation of the torus
 * preserves: arrivals at a port by the input they come from, callbacks of timers by their id, and so on. A schedule
 * that is invariant under translation can therefore be run on a smaller, *folded* torus, in which a rank represents all
 * ranks that differ from it by such a translation. For this reason the hops of a message are given, not derived from
 * the sizes.
 */
#ifndef TRIVANCE_SIMULATE_NETWORK_H
#define TRIVANCE_SIMULATE_NETWORK_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <trivance/simulate.h>

#include "base/span.h"

/* A route as a list of straight legs. */
typedef struct trv_leg {
    uint32_t port, hops;
} trv_leg_t;

typedef struct trv_legs {
    int count; /* 0: the message stays in its node */
    trv_leg_t leg[TRV_DIMS_MAX];
} trv_legs_t;

/* The route of trv_route_begin. */
trv_legs_t trv_legs(const trv_torus_t *torus, int from, int to, int port, bool mirrored);

/* The number of links on the route. */
static inline int trv_legs_length(const trv_legs_t *legs)
{
    uint32_t hops = 0;
    for (int l = 0; l < legs->count; l++)
        hops += legs->leg[l].hops;
    return (int)hops;
}

/* The driver's callbacks. They return 0, or an error that ends the run. `id` is the driver's. */
typedef struct trv_driver {
    void *context;
    int (*timer)(void *context, uint32_t id); /* simultaneous timers are called in ascending order of id */
    int (*sent)(void *context, uint32_t id);  /* the last packet has left the network interface; may be NULL */
    int (*arrived)(void *context, uint32_t id);
} trv_driver_t;

typedef struct trv_packets trv_packets_t;

/* The progress reports of a run, and the time at which it is stopped (trv_packets_stopped). */
typedef struct trv_watch {
    trv_span_t progress;
    double hops;      /* estimated packet-hops of the whole run, for the progress */
    double cutoff_ns; /* simulated time at which the run is stopped; 0: not stopped */
} trv_watch_t;

/* The time between the last message of a step and the next step of a rank, as measured on the reference simulator,
 * which the drivers add. */
#define TRV_STEP_GAP_FS 80000

/* A link carries whole flits. */
#define TRV_FLIT_BYTES 256

/* The flits of a full packet. */
static inline uint32_t trv_packet_flits(const trv_simulate_options_t *options)
{
    return (options->packet_bytes + TRV_FLIT_BYTES - 1) / TRV_FLIT_BYTES;
}

/* The maximum number of packets of a message. */
#define TRV_PACKETS_MAX (UINT32_MAX / 8192)

/* The options have been checked (trv_simulate_check). The torus, the options and the driver are copied; the arrays and
 * the observer they point to are not. */
int trv_packets_create(trv_packets_t **net, const trv_torus_t *torus, const trv_simulate_options_t *options,
                       const trv_driver_t *driver);
void trv_packets_destroy(trv_packets_t *net);
/* The packets of the options are enlarged ones, each instead of several of `packet_bytes`. Under TRV_DELIVERY_HEAD a
 * message then arrives as early as if it had been sent in these. */
void trv_packets_enlarged_from(trv_packets_t *net, uint32_t packet_bytes);
void trv_packets_watch(trv_packets_t *net, const trv_watch_t *watch);

/* The present simulated time, in fs. */
int64_t trv_packets_now(const trv_packets_t *net);
/* The longest time of a run, one hour. No single delay is longer, so the sum of a time and a delay fits in 64 bits with
 * a quarter of an hour to spare. That quarter is the limit for a packet on a link and for a message at an interface. */
#define TRV_HORIZON_FS INT64_C(3600000000000000000)

/* Converts ns to fs; trv_packets_fs returns TRV_ERR_UNSUPPORTED if they are more than an hour. */
static inline int64_t trv_fs(double ns) { return llround(ns * 1e6); }
int trv_packets_fs(double ns, int64_t *fs);
/* Returns TRV_ERR_UNSUPPORTED if packets take more than a quarter of an hour on a link. */
int trv_packets_check_rate(const trv_simulate_options_t *options, double bandwidth_bps);
/* Returns TRV_ERR_UNSUPPORTED: the run would exceed the horizon. */
int trv_packets_fail_horizon(void);
/* The factor by which each rank is slow, in an array from malloc; NULL if no rank is slow. */
int trv_packets_slowness(const trv_simulate_options_t *options, int ranks, double **slowness);

/* Calls driver->timer(id) at the time `at`, which is not before now. */
int trv_packets_timer(trv_packets_t *net, int64_t at, uint32_t id);

/* Sends a message now. nic: the port whose interface injects it; -1: that of the first leg's port or, while that one is
 * busy, the other one of its dimension. Both callbacks receive `id`. */
int trv_packets_send(trv_packets_t *net, int node, int nic, const trv_legs_t *legs, uint64_t bytes, uint32_t id);

/* Runs until no events are left, or until watch->cutoff_ns. TRV_ERR_INVALID if packets are left that wait for each
 * other's buffers. */
int trv_packets_run(trv_packets_t *net);
/* Whether the run was stopped at watch->cutoff_ns. */
bool trv_packets_stopped(const trv_packets_t *net);

/* Writes the totals so far and the loads of the links into `result`; its other members are not changed. */
int trv_packets_results(const trv_packets_t *net, trv_simulation_t *result);

#endif
