/*
 * Simulators that the points of a grid share: one per algorithm, network and collective, created when the first point
 * needs it and freed after the last.
 */
#ifndef TRIVANCE_CLI_SHARED_SIMULATORS_H
#define TRIVANCE_CLI_SHARED_SIMULATORS_H

#include <pthread.h>
#include <stddef.h>

#include <trivance/planner.h>

#include "simulate/simulator.h"

typedef struct cli_simulator {
    trv_network_t network; /* its links are borrowed */
    trv_collective_t collective;
    int root;
    char algorithm[TRV_ALGORITHM_NAME_MAX];
    int rc; /* TRV_ERR_UNSUPPORTED, with the reason, if the algorithm does not support the torus */
    char *reason;
    /* Messages of rank 0: hops of messages, and hops of bytes per byte of the vector. Number of ranks after the
     * symmetry reduction. Largest message of rank 0, as a share of the vector. */
    double message_hops, byte_hops, ranks_reduced, largest;
    pthread_mutex_t lock;
    trv_simulator_t *simulator; /* while it is acquired */
    size_t users;               /* unfinished points; the owner sets it before the first one acquires the simulator */
    struct cli_simulator *older;
} cli_simulator_t;

/* Whether schedules for one network are also schedules for the other. */
bool cli_network_equal(const trv_network_t *a, const trv_network_t *b);

/* Finds the entry in the list that begins with *newest (NULL: empty), or adds it with its estimates. Not
 * thread-safe. An algorithm that does not support the torus has an entry, too. */
int cli_simulators_find(cli_simulator_t **newest, const trv_network_t *network, const char *algorithm,
                        trv_collective_t collective, int root, cli_simulator_t **entry);
void cli_simulators_clear(cli_simulator_t *newest);

/* Returns TRV_ERR_UNSUPPORTED if a message would have more packets than the simulator can number. */
int cli_simulator_check(const cli_simulator_t *entry, uint64_t vector_bytes, uint32_t packet_bytes);

/* Any thread may call these. acquire creates the simulator unless it exists (TRV_ERR_UNSUPPORTED with the entry's
 * reason if that is impossible); release removes one user, and the last one frees the simulator. */
int cli_simulator_acquire(cli_simulator_t *entry);
void cli_simulator_release(cli_simulator_t *entry);

#endif
