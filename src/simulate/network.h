/*
 * The network: packets over links, in order of time. It knows nothing of schedules: a driver sends messages and sets
 * timers, and is called back when a timer is due, a message has been injected, or has arrived. The drivers are steps.c
 * (schedules) and goal.c (GOAL programs).
 *
 * One network serves one run: create, start the driver's first timers, run, read the results, destroy.
 *
 * Times are whole femtoseconds since the start. What happens at the same time is ordered by keys that a translation of
 * the torus preserves: arrivals at a port by the input they come from, callbacks of timers by their id, …; so a
 * schedule that is the same under translation can be run on a smaller, *folded* torus, where a rank stands for all
 * that differ from it by such a translation (the hops of a message are given, not derived from the sizes).
 */
#ifndef TRIVANCE_SIMULATE_NETWORK_H
#define TRIVANCE_SIMULATE_NETWORK_H

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

/* All return 0, or an error that ends the run. `id` is what the driver gave. */
typedef struct trv_driver {
    void *context;
    int (*timer)(void *context, uint32_t id); /* timers of one moment come in ascending order of id */
    int (*sent)(void *context, uint32_t id);  /* the last packet has left the network interface; may be NULL */
    int (*arrived)(void *context, uint32_t id);
} trv_driver_t;

typedef struct trv_packets trv_packets_t;

/* The span that a run reports its progress to, and the time at which it ends early (trv_packets_ended). */
typedef struct trv_watch {
    trv_span_t part;
    double hops;      /* of packets, in all: an estimate */
    double enough_ns; /* of the simulated time; 0: to the end */
} trv_watch_t;

/* Between the last message of a step and the next step of a rank, for the drivers; as measured on the reference
 * simulator. */
#define TRV_STEP_GAP_FS 80000

/* Of one message. */
#define TRV_PACKETS_MAX (UINT32_MAX / 8192)

/* Checks the options. The torus, the options and the driver are copied; the arrays and the observer they point to are
 * not. */
int trv_packets_create(trv_packets_t **net, const trv_torus_t *torus, const trv_simulate_options_t *options,
                       const trv_driver_t *driver);
void trv_packets_destroy(trv_packets_t *net);
void trv_packets_watch(trv_packets_t *net, const trv_watch_t *watch);

/* The present, in fs. */
int64_t trv_packets_now(const trv_packets_t *net);
/* No run goes beyond an hour, and nothing that is added to a time is longer: two of them fit in 64 bits, with a
 * quarter to spare, which is the most for a packet on a link and for a message at an interface. */
#define TRV_HORIZON_FS INT64_C(3600000000000000000)

/* ns to fs; TRV_ERR_ARGUMENT if negative or more than an hour. `what` names it. */
int trv_packets_fs(double ns, const char *what, int64_t *fs);
/* TRV_ERR_UNSUPPORTED: the run would go beyond the horizon. */
int trv_packets_fail_horizon(void);
/* By how much each rank is slower than it should be, from malloc; NULL where none is. */
int trv_packets_slowness(const trv_simulate_options_t *options, int ranks, double **slowness);

/* Calls driver->timer(id) at `at` >= now. */
int trv_packets_timer(trv_packets_t *net, int64_t at, uint32_t id);
/* Whether the dimensions that are narrow exist on a torus of so many. */
int trv_packets_check_narrow(const trv_simulate_options_t *options, int dims);

/* Sends now. nic: the port whose interface injects it, or -1: that of the first leg's port, or while that one is busy
 * the other of its dimension. Both callbacks get `id`. */
int trv_packets_send(trv_packets_t *net, int node, int nic, const trv_legs_t *legs, uint64_t bytes, uint32_t id);

/* Until nothing is left to happen, or only what is of no interest. TRV_ERR_INVALID when packets are left that wait for one
 * another's buffers. */
int trv_packets_run(trv_packets_t *net);
/* Whether the run has ended before the end, because it was of no more interest. */
bool trv_packets_ended(const trv_packets_t *net);

/* Totals so far, and the loads of the links, into `result` (its other fields are left alone). */
int trv_packets_results(const trv_packets_t *net, trv_simulation_t *result);

#endif
