/*
 * A second simulator, for the tests: the rules of docs/simulator.md written down as plainly as possible, packet by
 * packet and event by event, with nothing shared with src/simulate but the options. Slow; the engine must agree with it
 * to the femtosecond.
 *
 * It knows no jitter, no symmetry and no observer.
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

/* False where the simulation ends with ranks that still wait. Anything else that goes wrong ends the program. */
bool naive_simulate(const trv_schedule_t *schedule, const trv_simulate_options_t *options, uint64_t vector_bytes,
                    naive_result_t *result);

#endif
