/*
 * Simulators that the points of a run share: one per candidate, network and collective, created when the first point
 * needs it and destroyed when no group of points holds it any more.
 */
#ifndef TRIVANCE_COMPARE_SIMULATORS_H
#define TRIVANCE_COMPARE_SIMULATORS_H

#include <pthread.h>
#include <stddef.h>

#include <trivance/algorithms.h>
#include <trivance/network.h>
#include <trivance/simulate.h>

typedef struct trv_shared_simulator {
    trv_network_t network; /* its links are borrowed */
    trv_collective_t collective;
    int root;
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* or the schedule's name */
    const trv_schedule_t *schedule;         /* the caller's, or NULL */
    int code; /* TRV_ERR_UNSUPPORTED, with the reason, if the algorithm does not support the network */
    char *reason;
    /* Messages of rank 0: hops of messages, and hops of bytes per byte of the vector. Number of ranks after the
     * symmetry reduction. Largest message of rank 0, as a share of the vector. */
    double message_hops, byte_hops, ranks_reduced, largest;
    bool covers; /* the schedule only covers (TRV_COVERS) */
    pthread_mutex_t lock;
    trv_simulator_t *simulator; /* while it is acquired */
    size_t holders;
    struct trv_shared_simulator *older;
} trv_shared_simulator_t;

typedef struct trv_simulators {
    pthread_mutex_t lock;
    trv_shared_simulator_t *newest;
} trv_simulators_t;

void trv_simulators_init(trv_simulators_t *simulators);
void trv_simulators_clear(trv_simulators_t *simulators);

/* Whether schedules for one network are also schedules for the other. */
bool trv_network_same_schedules(const trv_network_t *a, const trv_network_t *b);

/* Finds the entry with the network, collective, root, algorithm and schedule of `key`, or adds it with its
 * estimates; and adds a holder. An algorithm that does not support the network has an entry, too. Any thread may call
 * this and the functions below. */
int trv_simulators_hold(trv_simulators_t *simulators, const trv_shared_simulator_t *key,
                        trv_shared_simulator_t **entry);

/* Creates the simulator unless it exists. TRV_ERR_UNSUPPORTED with the entry's reason if that is impossible. */
int trv_shared_simulator_acquire(trv_shared_simulator_t *entry);

/* Removes a holder; the last one destroys the simulator. */
void trv_shared_simulator_release(trv_shared_simulator_t *entry);

/* Estimated packet-hops of a simulation. */
double trv_shared_simulator_hops(const trv_shared_simulator_t *entry, const trv_simulate_options_t *options,
                                 uint64_t vector_bytes);

/* TRV_ERR_UNSUPPORTED if a message would have more packets than the simulator can number. */
int trv_shared_simulator_check(const trv_shared_simulator_t *entry, const trv_simulate_options_t *options,
                               uint64_t vector_bytes);

#endif
