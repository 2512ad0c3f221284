/*
 * The cost model: what a schedule costs, measured by routing every message over the torus, and the completion time of
 * the congestion-aware Hockney model (paper section 2.1): steps * alpha + sum over steps of the busiest link's bytes /
 * bandwidth.
 *
 * Stability: experimental.
 */
#ifndef TRIVANCE_COST_H
#define TRIVANCE_COST_H

#include <stdint.h>

#include <trivance/common.h>
#include <trivance/network.h>
#include <trivance/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The parameters of the Hockney model. */
typedef struct trv_hockney {
    double bandwidth_bps; /* of a directed link, bits per second */
    double alpha_ns;      /* added at the start of every step */
    double hop_ns;        /* per hop of a step's longest message; 0 in the paper's plain model */
    double message_ns;    /* from the start of a message to its arrival, without its hops and bytes; 0 in that model.
                             Limits count it once: a rank begins its next step when its message has left */
} trv_hockney_t;

/* The paper's evaluation: 800 Gb/s, alpha 1.5 us; hops are free in the Hockney model. */
#define TRV_HOCKNEY_PAPER                                                                                              \
    {                                                                                                                  \
        .bandwidth_bps = 800e9, .alpha_ns = 1500                                                                       \
    }

/* One step, over all streams. */
typedef struct trv_step_cost {
    int messages;         /* maximum number on one link */
    double link_fraction; /* bytes over the busiest link, as a fraction of the vector m */
    double port_fraction; /* bytes of the largest message, as a fraction of m */
    int hops;             /* hops of the longest route */
} trv_step_cost_t;

typedef struct trv_cost {
    int steps;
    double lambda;     /* steps / log3 n (0 for one rank) */
    double delta;      /* maximum bytes sent by a rank / 2m */
    double theta;      /* D * sum over steps of link_fraction, D the dimensions larger than 1 (paper tables 1 and 2) */
    uint64_t messages; /* of all ranks, streams and steps */
    trv_step_cost_t *step; /* `steps` of them; freed by trv_cost_clear */
} trv_cost_t;

/* Routes every message of every rank. Units are counted exactly (not rounded to bytes). For translation-invariant
 * schedules one rank suffices and gives the same numbers. */
TRV_API int trv_cost_measure(const trv_schedule_t *schedule, trv_cost_t *cost);
TRV_API void trv_cost_clear(trv_cost_t *cost);

/* Completion time in ns for a vector of `vector_bytes`. Message sizes are rounded up to bytes, as in the simulator. */
TRV_API int trv_cost_time_ns(const trv_schedule_t *schedule, const trv_hockney_t *network, uint64_t vector_bytes,
                             double *time_ns);

/* ---- Lower bounds ------------------------------------------------------------------------------------------------ */

/* Three lower bounds on the time of any schedule with at most the network's messages per port: by the steps that such
 * messages need to reach all ranks, with the hops between them (on a network that does not forward, at least a step for
 * each of these hops; if the number is unlimited, one step); by the bytes that must leave and enter sets of ranks; by
 * the bytes that all links together carry. */
typedef struct trv_limit {
    double startup_ns, sets_ns, links_ns;
    double time_ns;  /* the largest of them */
    double steps_ns; /* no bound: all steps, each with alpha_ns and message_ns, and the hops to the farthest rank */
    /* Not a bound, but a reference for sizes in the middle, at which a schedule pays for steps and for bytes: steps_ns
     * plus the larger one of sets_ns and links_ns. */
    double reference_ns;
} trv_limit_t;

/* The limit of a collective on a network, where a step takes `times->alpha_ns`, a message `times->message_ns` and a hop
 * `times->hop_ns`, without any bytes. `in_flight_bytes`: bytes that every link may still carry at the end, which are
 * therefore not counted; one packet in a simulation with TRV_DELIVERY_HEAD (trivance/simulate.h), otherwise 0.
 * TRV_ERR_ARGUMENT for links that do not exist. */
TRV_API int trv_limit_find(const trv_network_t *network, const trv_hockney_t *times, trv_collective_t collective,
                           int root, uint64_t vector_bytes, uint64_t in_flight_bytes, trv_limit_t *limit);

#ifdef __cplusplus
}
#endif
#endif
