/*
 * All ranks of a schedule in one thread, for the executor's tests: creates a plan per rank on a loopback transport,
 * fills the inputs, drives the plans in turn, and compares the results with a closed form.
 *
 * Rank r contributes scale(r) * (i + 1) + shift(r) at element i, modulo 2^32. Sums are then known without adding, and
 * any contribution that is missing, doubled, or at the wrong place is detected.
 */
#ifndef TEST_EXECUTE_WORLD_H
#define TEST_EXECUTE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/trivance.h>

#include "exhaustive.h"

typedef struct world {
    const trv_schedule_t *schedule;
    trv_loopback_t *loopback;
    trv_plan_t **plan;
    char **input, **output;
    int ranks;
    trv_collective_t collective;
    int root;                    /* of a rooted collective */
    size_t count, size, in, out; /* elements of a plan; bytes of an element; maximum elements of input and output */
} world_t;

static inline size_t world_in(const world_t *world, int rank)
{
    const trv_collective_t c = world->collective;
    return (c == TRV_BROADCAST || c == TRV_SCATTER) && rank != world->root ? 0 : world->in;
}

static inline size_t world_out(const world_t *world, int rank)
{
    const trv_collective_t c = world->collective;
    return (c == TRV_REDUCE || c == TRV_GATHER) && rank != world->root ? 0 : world->out;
}

static inline uint32_t scale(int rank) { return (uint32_t)(rank + 1) * 2654435761u ^ 0x5bd1e995u; }

static inline uint32_t shift(int rank) { return (uint32_t)(rank + 7) * 40503u * 65599u; }

static inline uint32_t contribution(int rank, size_t i) { return scale(rank) * (uint32_t)(i + 1) + shift(rank); }

static inline world_t world_make(const trv_schedule_t *schedule, size_t count, const trv_elements_t *elements,
                                 const trv_plan_options_t *options)
{
    world_t world = {.schedule = schedule, .ranks = trv_schedule_torus(schedule)->ranks, .count = count};
    const size_t n = (size_t)world.ranks;
    world.collective = trv_schedule_collective(schedule);
    world.size = elements->reduce ? elements->element_size : trv_type_size(elements->type);
    world.root = trv_schedule_root(schedule);
    const trv_collective_t c = world.collective;
    world.in = c == TRV_REDUCE_SCATTER || c == TRV_SCATTER || c == TRV_ALLTOALL ? n * count : count;
    world.out = c == TRV_ALLGATHER || c == TRV_GATHER || c == TRV_ALLTOALL ? n * count : count;
    world.plan = calloc(n, sizeof *world.plan);
    world.input = calloc(n, sizeof *world.input);
    world.output = calloc(n, sizeof *world.output);
    assert_true(world.plan && world.input && world.output);
    assert_int_equal(trv_loopback_create(&world.loopback, world.ranks), 0);
    for (int r = 0; r < world.ranks; r++) {
        /* Exact sizes, so that AddressSanitizer and valgrind detect overruns. Large enough for a run in place. */
        const size_t in = world_in(&world, r), out = world_out(&world, r);
        world.input[r] = malloc(in * world.size + !in);
        world.output[r] = malloc((in > out ? in : out) * world.size + (in + out == 0));
        assert_true(world.input[r] && world.output[r]);
        const trv_transport_t *transport = trv_loopback_transport(world.loopback, r);
        int rc = trv_plan_create(&world.plan[r], schedule, r, count, elements, transport, options);
        if (rc)
            fail_msg("%s, rank %d, count %zu: %s", trv_schedule_name(schedule), r, count, trv_last_error());
    }
    return world;
}

static inline void world_destroy(world_t *world)
{
    for (int r = 0; r < world->ranks; r++) {
        trv_plan_destroy(world->plan[r]);
        free(world->input[r]);
        free(world->output[r]);
    }
    trv_loopback_destroy(world->loopback);
    free(world->plan);
    free(world->input);
    free(world->output);
}

/* Drives all plans, one call each in turn, until all are complete. */
static inline void world_drive(world_t *world)
{
    int running = world->ranks;
    for (long turns = 0; running > 0; turns++) {
        running = 0;
        for (int r = 0; r < world->ranks; r++) {
            int rc = trv_plan_test(world->plan[r]);
            if (rc < 0)
                fail_msg("%s, rank %d, count %zu: %s", trv_schedule_name(world->schedule), r, world->count,
                         trv_last_error());
            running += rc == 0;
        }
        if (turns > 1000000) {
            char text[300];
            trv_plan_describe(world->plan[0], text, sizeof text);
            fail_msg("%s hangs at count %zu: %s", trv_schedule_name(world->schedule), world->count, text);
        }
    }
}

/* Runs once with the data in `input` or, in place, in `output`. */
static inline void world_run(world_t *world, bool in_place)
{
    for (int r = 0; r < world->ranks; r++) {
        int rc = trv_plan_start(world->plan[r], in_place ? world->output[r] : world->input[r], world->output[r]);
        if (rc)
            fail_msg("%s, rank %d: %s", trv_schedule_name(world->schedule), r, trv_last_error());
    }
    world_drive(world);
}

/* The offset of a rank's contribution in an in-place buffer, and that of its result. */
static inline size_t world_offset(const world_t *world, int rank, bool in_place)
{
    const bool own = world->collective == TRV_ALLGATHER || (world->collective == TRV_GATHER && rank == world->root);
    return in_place && own ? (size_t)rank * world->count : 0;
}

static inline size_t world_result_offset(const world_t *world, int rank, bool in_place)
{
    const bool own = world->collective == TRV_SCATTER && rank == world->root;
    return in_place && own ? (size_t)rank * world->count : 0;
}

/* ---- Exact integers ---------------------------------------------------------------------------------------------- */

static inline void world_fill(world_t *world, bool in_place)
{
    for (int r = 0; r < world->ranks; r++) {
        uint32_t *to = (uint32_t *)(in_place ? world->output[r] : world->input[r]);
        const size_t in = world_in(world, r), out = world_out(world, r);
        memset(world->output[r], 0xee, (in > out ? in : out) * sizeof *to);
        for (size_t i = 0; i < in; i++)
            to[world_offset(world, r, in_place) + i] = contribution(r, i);
    }
}

/* Buffer for the maximum over ranks, which has no closed form; created once per world. */
static inline uint32_t *world_maximum(const world_t *world)
{
    uint32_t *maximum = calloc(world->in + 1, sizeof *maximum);
    assert_non_null(maximum);
    for (int r = 0; r < world->ranks; r++)
        for (size_t i = 0; i < world->in; i++)
            maximum[i] = contribution(r, i) > maximum[i] ? contribution(r, i) : maximum[i];
    return maximum;
}

/* Element i of rank r's result. */
static inline uint32_t world_expected(const world_t *world, int rank, size_t i, uint32_t scales, uint32_t shifts,
                                      const uint32_t *maximum)
{
    const size_t own = (size_t)rank * world->count;
    switch (world->collective) {
    case TRV_ALLGATHER:
    case TRV_GATHER: return contribution((int)(i / world->count), i % world->count);
    case TRV_BROADCAST: return contribution(world->root, i);
    case TRV_SCATTER: return contribution(world->root, own + i);
    case TRV_ALLTOALL: return contribution((int)(i / world->count), own + i % world->count);
    case TRV_REDUCE_SCATTER: i += own; break;
    default: break;
    }
    return maximum ? maximum[i] : scales * (uint32_t)(i + 1) + shifts;
}

static inline void world_check(const world_t *world, bool in_place, const uint32_t *maximum)
{
    uint32_t scales = 0, shifts = 0;
    for (int r = 0; r < world->ranks; r++) {
        scales += scale(r);
        shifts += shift(r);
    }
    for (int r = 0; r < world->ranks; r++) {
        const uint32_t *result = (const uint32_t *)world->output[r] + world_result_offset(world, r, in_place);
        char torus[TRV_TORUS_TEXT_MAX];
        for (size_t i = 0; i < world_out(world, r); i++)
            if (result[i] != world_expected(world, r, i, scales, shifts, maximum))
                fail_msg("%s on %s, collective %d, count %zu, %s: rank %d has element %zu wrong",
                         trv_schedule_name(world->schedule),
                         trv_torus_format(trv_schedule_torus(world->schedule), torus, sizeof torus), world->collective,
                         world->count, in_place ? "in place" : "out of place", r, i);
        for (size_t i = 0; !in_place && i < world_in(world, r); i++)
            assert_int_equal(((const uint32_t *)world->input[r])[i], contribution(r, i));
    }
}

/* Sums (or, for schedules that only cover, maxima) of 32-bit integers, out of place and in place, twice each: the
 * second run must find nothing left over from the first. */
static inline void world_try(const trv_schedule_t *schedule, size_t count, size_t chunk_bytes)
{
    bool covers = trv_schedule_exactness(schedule) == TRV_COVERS;
    trv_elements_t elements = {.type = TRV_UINT32, .op = covers ? TRV_MAX : TRV_SUM};
    trv_plan_options_t options = {TRV_PLAN_OPTIONS, .chunk_bytes = chunk_bytes};
    world_t world = world_make(schedule, count, &elements, &options);
    uint32_t *maximum = covers ? world_maximum(&world) : NULL;
    for (int round = 0; round < 3; round++) {
        bool in_place = round > 0;
        world_fill(&world, in_place);
        world_run(&world, in_place);
        world_check(&world, in_place, maximum);
    }
    free(maximum);
    world_destroy(&world);
}

/* ---- Every algorithm --------------------------------------------------------------------------------------------- */

/* Calls `work` with the schedule of every algorithm that supports the torus and the collective, for the given root.
 * Returns their number. */
static inline int world_every_root(const trv_torus_t *torus, trv_collective_t collective, int root,
                                   void (*work)(const trv_schedule_t *schedule))
{
    const trv_network_t network = {TRV_NETWORK, .torus = *torus};
    int count = 0;
    for (int a = 0; a < trv_algorithms_count(); a++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(a);
        trv_schedule_t *schedule;
        if (trv_algorithm_supports(algorithm, torus, collective))
            continue;
        int rc = trv_schedule_create_on(&schedule, &network, trv_algorithm_name(algorithm), collective, root);
        if (rc)
            fail_msg("%s: %s", trv_algorithm_name(algorithm), trv_last_error());
        work(schedule);
        trv_schedule_destroy(schedule);
        count++;
    }
    return count;
}

static inline int world_every(const trv_torus_t *torus, trv_collective_t collective,
                              void (*work)(const trv_schedule_t *schedule))
{
    return world_every_root(torus, collective, 0, work);
}

/* The same, with at least `min` schedules, on rings of 2 to 64 ranks; in the quick tier on a sample up to 33, and on
 * 64. */
static inline void world_rings(trv_collective_t collective, int min, void (*work)(const trv_schedule_t *schedule))
{
    for (int n = 2; n <= 64; n++) {
        trv_torus_t torus;
        if (!try_size(n) || (n > 33 && n < 64 && !exhaustive()))
            continue;
        assert_int_equal(trv_torus_init(&torus, 1, &n), 0);
        assert_true(world_every(&torus, collective, work) >= min);
    }
}

#endif
