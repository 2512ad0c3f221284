/*
 * Simulators that the points of a grid share: one per algorithm, network and collective, made when the first point needs
 * it and freed after the last.
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
    char algorithm[TRV_ALGORITHM_NAME_MAX];
    int rc; /* TRV_ERR_UNSUPPORTED where the algorithm does not take the torus, with the reason */
    char *reason;
    /* What rank 0 sends, in hops of messages and in hops of bytes per byte of the vector; the ranks that the symmetry
     * reduction leaves; its largest message, as a share of the vector. */
    double message_hops, byte_hops, ranks_reduced, largest;
    pthread_mutex_t lock;
    trv_simulator_t *simulator; /* while it is acquired */
    size_t users;               /* points that are not done: counted up by the owner before the first acquires */
    struct cli_simulator *older;
} cli_simulator_t;

/* Whether schedules for one are those for the other. */
bool cli_network_equal(const trv_network_t *a, const trv_network_t *b);

/* The entry in the list that begins with *newest (NULL: empty); added, with its estimates, if it is new. Not
 * thread-safe. An algorithm that does not take the torus is an entry, too. */
int cli_simulators_find(cli_simulator_t **newest, const trv_network_t *network, const char *algorithm,
                        trv_collective_t collective, cli_simulator_t **entry);
void cli_simulators_clear(cli_simulator_t *newest);

/* TRV_ERR_UNSUPPORTED where a message would have more packets than the simulator can number. */
int cli_simulator_check(const cli_simulator_t *entry, uint64_t vector_bytes, uint32_t packet_bytes);

/* From any thread: makes the simulator if nobody has yet (TRV_ERR_UNSUPPORTED with the entry's reason where that
 * cannot be); one user less needs it, and after the last it is freed. */
int cli_simulator_acquire(cli_simulator_t *entry);
void cli_simulator_release(cli_simulator_t *entry);

#endif
