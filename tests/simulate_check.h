/*
 * For the simulator's tests: schedules by name, simulations that must succeed, and a random generator.
 */
#ifndef TRIVANCE_TESTS_SIMULATE_CHECK_H
#define TRIVANCE_TESTS_SIMULATE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/trivance.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static inline trv_torus_t torus_of(const char *text)
{
    trv_torus_t torus;
    if (trv_torus_parse(text, &torus))
        fail_msg("%s", trv_last_error());
    return torus;
}

static inline trv_schedule_t *schedule_of(const char *algorithm, const char *text)
{
    trv_torus_t torus = torus_of(text);
    trv_schedule_t *schedule;
    if (trv_schedule_create(&schedule, &torus, algorithm, TRV_ALLREDUCE))
        fail_msg("%s on %s: %s", algorithm, text, trv_last_error());
    return schedule;
}

/* Runs a simulation that must succeed; the caller clears the result. */
static inline trv_simulation_t simulate(const trv_schedule_t *schedule, const trv_simulate_options_t *options,
                                        uint64_t bytes)
{
    trv_simulator_t *simulator;
    trv_simulation_t result = {0};
    if (trv_simulator_create(&simulator, schedule) || trv_simulate(simulator, options, bytes, &result))
        fail_msg("%s: %s", trv_schedule_name(schedule), trv_last_error());
    trv_simulator_destroy(simulator);
    return result;
}

/* The same; returns only the time. */
static inline uint64_t simulated_fs(const trv_schedule_t *schedule, const trv_simulate_options_t *options,
                                    uint64_t bytes)
{
    trv_simulation_t result = simulate(schedule, options, bytes);
    uint64_t time_fs = result.time_fs;
    trv_simulation_clear(&result);
    return time_fs;
}

/* A schedule with one message of `bytes` from rank 0 to rank `to`, by `port`. */
static inline trv_schedule_t *single_message(const char *text, int to, int port)
{
    trv_torus_t torus = torus_of(text);
    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1, .registers = 2, .units = 1};
    trv_explicit_part_t part = {.to_reg = 1, .count = 1, .unit = (int64_t[]){0}};
    trv_schedule_t *schedule;
    if (trv_explicit_create(&schedule, &torus, "one message", &options) ||
        trv_explicit_message(schedule, 0, 0, 0, to, port, -1, TRV_SEND | TRV_RECEIVE, 1, &part))
        fail_msg("%s", trv_last_error());
    return schedule;
}

/* Whether some route turns into a lower dimension, as in star schedules; full buffers may then wait for each other. */
static inline bool turns_back(const trv_schedule_t *schedule)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    int own[TRV_DIMS_MAX], peer[TRV_DIMS_MAX];
    trv_step_t step = TRV_STEP_INIT;
    bool found = false;
    for (int i = 0; i < trv_schedule_streams(schedule) * trv_schedule_steps(schedule); i++)
        for (int rank = 0; rank < torus->ranks; rank++) {
            assert_int_equal(trv_schedule_step(schedule, rank, i / trv_schedule_steps(schedule),
                                               i % trv_schedule_steps(schedule), &step),
                             TRV_OK);
            trv_torus_coordinates(torus, rank, own);
            for (int m = 0; m < step.sends; m++) {
                trv_torus_coordinates(torus, step.send[m].peer, peer);
                for (int d = 0; d < trv_port_dimension(step.send[m].port); d++)
                    found = found || own[d] != peer[d];
            }
        }
    trv_step_clear(&step);
    return found;
}

static uint64_t random_state = 1;

/* Starts the random sequence that belongs to this number. */
static inline void random_restart(size_t number) { random_state = 1 + number; }

static inline int random_below(int limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (uint64_t)limit);
}

#define ONE_OF(list) ((list)[random_below((int)COUNT(list))])

#endif
