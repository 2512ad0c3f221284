/*
 * A schedule prepared for the simulator: for every rank that differs from the others, its messages in each step.
 * Sizes are in shares (trv_schedule_shares), so that the schedule is read once for all sizes of the vector.
 */
#ifndef TRIVANCE_SIMULATE_SIMULATOR_H
#define TRIVANCE_SIMULATE_SIMULATOR_H

#include <trivance/network.h>

#include "simulate/network.h"

typedef struct send {
    int64_t shares;
    uint32_t first_leg; /* in trv_simulator.leg */
    int16_t legs;
    int16_t nic;
    bool opens; /* the first message of the stream to this peer, with only a part of the stream's data */
} send_t;

/* Two received messages of a stage: the one with the longest path and the largest one. Which of them arrives last
 * depends on the network. */
enum { FARTHEST, LARGEST, INCOMING };

typedef struct stage { /* one rank's step of one stream */
    uint32_t first_send;
    uint16_t sends, receives;
    uint16_t incoming_hops[INCOMING]; /* 65535: 65535 or more */
    int64_t incoming_shares[INCOMING];
    int64_t reduced_shares; /* shares that its reductions read */
    uint16_t opened;        /* number of sends with `opens` */
} stage_t;

struct trv_simulator {
    char name[64];
    trv_torus_t torus;
    trv_torus_t
        fold; /* the ranks that differ: 1 x 1 x … under translation, 2 x 2 x … by parity, the torus itself without
                         a symmetry; a dimension that is a line is not folded */
    int streams, steps;
    uint64_t shares; /* shares of the whole vector, all streams */
    stage_t *stage;  /* (rank of fold * streams + stream) * steps + step */
    send_t *send;
    trv_leg_t *leg;
    size_t sends, legs;
    double message_hops, byte_hops; /* of the fold: links that messages pass; the same times their part of the vector */
    struct {
        int from, to, hops;
    } farthest; /* the message that crosses the most links */
};

/* The rank of the fold that represents a rank of the torus. */
int trv_simulator_class(const trv_simulator_t *simulator, int rank);

/* The maximum number of messages that one rank sends or receives in a step of a stream. */
int trv_simulator_simultaneous(const trv_simulator_t *simulator);

/* Whether the fold may represent the torus, because nothing in the options makes ranks differ; and whether packets may
 * be enlarged. */
bool trv_simulate_may_fold(const trv_simulate_options_t *options);
bool trv_simulate_may_enlarge(const trv_simulate_options_t *options);

/* The work of a simulation with these options, on the fold if they permit it, otherwise on the torus: an upper bound on
 * the sum over all packets of the links that each passes. */
double trv_simulate_hops(const trv_simulator_t *simulator, const trv_simulate_options_t *options,
                         uint64_t vector_bytes);

/* The time of reductions that read `bytes` in one of `streams` streams, on a rank that is not slow; and that of the
 * reductions of a step. */
double trv_reduction_ns(const trv_simulate_options_t *options, double bytes, double streams);
double trv_simulator_reduction_ns(const trv_simulator_t *simulator, const trv_simulate_options_t *options,
                                  const stage_t *stage, uint64_t vector_bytes);

/* TRV_ERR_UNSUPPORTED if the network does not forward and a message crosses several links. */
int trv_simulator_check_forwarding(const trv_simulator_t *simulator, const trv_simulate_options_t *options);

/* The network for which schedules are created: the torus with the links, routes and forwarding of the options. The
 * links are borrowed. */
trv_network_t trv_simulate_network(const trv_torus_t *torus, const trv_simulate_options_t *options);

/* Removes the slow and cut links from the options if no message of the schedule passes one. On TRV_ERR_MEMORY they
 * remain. */
int trv_simulator_drop_links(const trv_simulator_t *simulator, trv_simulate_options_t *options);

/* As trv_simulate, for options from which trv_simulator_drop_links has removed unused links. options->progress is
 * ignored; progress is reported to `progress`. Packets are enlarged beyond `hops_max` packet-hops. A run is stopped at
 * `cutoff_ns`, unless that is 0; its time is then INFINITY. */
int trv_simulate_until(const trv_simulator_t *simulator, const trv_simulate_options_t *options, uint64_t vector_bytes,
                       double hops_max, trv_span_t progress, double cutoff_ns, trv_simulation_t *result);

/* The network with the packets of such a run. */
trv_simulate_options_t trv_simulate_packets(const trv_simulator_t *simulator, const trv_simulate_options_t *options,
                                            uint64_t vector_bytes, double hops_max);

#endif
