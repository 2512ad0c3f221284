/*
 * A second simulator, for the tests: the rules of docs/simulator.md written down as plainly as possible, packet by
 * packet and event by event. It shares only the options with src/simulate. It is slow; the two must agree to the
 * femtosecond.
 *
 * It does not support jitter, the symmetry reduction and observers.
 */
#ifndef TRIVANCE_TESTS_NAIVE_SIMULATOR_H
#define TRIVANCE_TESTS_NAIVE_SIMULATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/simulate.h>

typedef struct naive_result {
    int64_t time_fs;
    uint64_t messages, packets, packet_hops;
} naive_result_t;

/* Returns false if the simulation ends while ranks still wait. Any other error ends the program. */
bool naive_simulate(const trv_schedule_t *schedule, const trv_simulate_options_t *options, uint64_t vector_bytes,
                    naive_result_t *result);

#endif
