/*
 * A schedule as the simulator reads it: for every rank that differs from the others, its messages and what it waits
 * for. Sizes are in shares (trv_schedule_shares), so that one reading serves all sizes of the vector.
 */
#ifndef TRIVANCE_SIMULATE_SIMULATOR_H
#define TRIVANCE_SIMULATE_SIMULATOR_H

#include "simulate/network.h"

typedef struct sending {
    int64_t shares;
    uint32_t first_leg; /* in trv_simulator.leg */
    int16_t legs;
    int16_t nic;
} sending_t;

/* Of received messages the one with the longest way and the largest one: which comes last depends on the network. */
enum { FARTHEST, LARGEST, INCOMING };

typedef struct stage { /* one rank's step of one stream */
    uint32_t first_sending;
    uint16_t sendings, receives;
    uint16_t incoming_hops[INCOMING]; /* 65535: or more */
    int64_t incoming_shares[INCOMING];
    int64_t reduced_shares; /* that its reductions read */
} stage_t;

struct trv_simulator {
    char name[64];
    trv_torus_t torus;
    trv_torus_t fold; /* the ranks that differ: the torus itself, 1 x 1 x … under translation, 2 x 2 x … by parity; all
                         ranks of a dimension that is a line */
    int streams, steps;
    uint64_t shares; /* of the whole vector, all streams */
    stage_t *stage;  /* (rank of fold * streams + stream) * steps + step */
    sending_t *sending;
    trv_leg_t *leg;
    size_t sendings, legs;
};

/* The rank of the fold that stands for a rank of the torus. */
int trv_simulator_class(const trv_simulator_t *simulator, int rank);

/* The work of a simulation of the fold: its packets, times the links that each goes over. */
double trv_simulator_hops(const trv_simulator_t *simulator, uint32_t packet_bytes, uint64_t vector_bytes);

/* The same for what trv_simulate would do with these options: of the fold where it may, else of the torus. */
double trv_simulate_hops(const trv_simulator_t *simulator, const trv_simulate_options_t *options,
                         uint64_t vector_bytes);

/* Leaves the slow and cut links out of the options if no message of the schedule passes one. */
int trv_simulator_drop_links(const trv_simulator_t *simulator, trv_simulate_options_t *options);

/* trv_simulate for options from which trv_simulator_drop_links has left out what it may, and whose `progress` is ignored:
 * progress is reported to the part. A time above `enough_ns`, unless that is 0, is INFINITY. */
int trv_simulate_dropped(const trv_simulator_t *simulator, const trv_simulate_options_t *options, uint64_t vector_bytes,
                         trv_span_t part, double enough_ns, trv_simulation_t *result);

#endif
