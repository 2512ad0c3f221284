/*
 * The planner: which schedule is the fastest for a torus, a size and a network.
 *
 * It knows every named algorithm and the families with parameters (hybrids: trivance/algorithms.h), ranks them by a
 * model of steps, hops and link loads, and has the packet simulator (trivance/simulate.h, one queue per link) decide
 * among those that come near. A plan is a name: what trv_schedule_create takes, and what the tool, the environment and
 * rule files accept wherever an algorithm is named.
 *
 * Everything is deterministic and limited by work, not by time: the same arguments give the same plan on every rank.
 */
#ifndef TRIVANCE_PLAN_H
#define TRIVANCE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/algorithms.h>
#include <trivance/common.h>
#include <trivance/schedule.h>
#include <trivance/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a plan must satisfy. All zero but for the size: nothing but to be exact. */
typedef struct trv_plan_constraints {
    size_t size;           /* of this struct, as the caller knows it: begin with {TRV_PLAN_CONSTRAINTS} */
    bool consistent;       /* bitwise the same result on every rank for floating point */
    bool idempotent;       /* schedules that merely cover (TRV_COVERS) will do: MAX, MIN, AND, OR */
    uint64_t memory_bytes; /* most memory for scratch registers per rank; 0: any */
    int messages_per_port; /* most messages of a stream that leave a rank by one port in a step; 0: any */
    unsigned narrow;       /* bit d: dimension d has no two separate paths; no step may send both ways in it */
} trv_plan_constraints_t;
#define TRV_PLAN_CONSTRAINTS .size = sizeof(trv_plan_constraints_t)

typedef struct trv_planned {
    char algorithm[TRV_PLAN_NAME_MAX]; /* for trv_schedule_create: "hybrid:4x8/3", "swing-b", … */
    int steps;
    bool consistent;
    /* Completion time, simulated on the network given, and its parts: steps * alpha; what a vector of one byte takes on
     * top of that; the rest. Streams overlap, so the parts are those of the whole, not of each stream. */
    double time_ns, alpha_ns, hops_ns, transmission_ns;
} trv_planned_t;

/* The fastest plan. `network` is TRV_SIMULATE_DEFAULTS or any other set of options, of which finite buffers, jitter, slow
 * ranks and links are left out of account. With one queue per link (TRV_FIFO) a choice takes milliseconds; with two
 * channels (TRV_DATELINE) the best few are simulated on the whole torus, which on thousands of ranks takes seconds.
 * constraints may be NULL. Plans are kept, so a question that was asked before is answered in microseconds. Thread-safe.
 * TRV_ERR_ARGUMENT for a network or constraints that say nothing possible (a bandwidth of 0, a negative latency);
 * TRV_ERR_UNSUPPORTED where nothing keeps to the constraints, with a sentence that says which of them excludes what. */
TRV_API int trv_plan_best(const trv_torus_t *torus, trv_collective_t collective, uint64_t vector_bytes,
                          const trv_simulate_options_t *network, const trv_plan_constraints_t *constraints,
                          trv_planned_t *plan);

/* A planner holds the candidates for one torus, collective, network and set of constraints; for many sizes, and for the
 * runners-up. One thread at a time. */
typedef struct trv_planner trv_planner_t;
TRV_API int trv_planner_create(trv_planner_t **planner, const trv_torus_t *torus, trv_collective_t collective,
                               const trv_simulate_options_t *network, const trv_plan_constraints_t *constraints);
TRV_API void trv_planner_destroy(trv_planner_t *planner);

/* The fastest plans, best first: writes at most `room` of them and returns how many, or an error. */
TRV_API int trv_planner_rank(trv_planner_t *planner, uint64_t vector_bytes, int room, trv_planned_t *plan);

/* The plan of one algorithm (a name as in trv_planned_t.algorithm), timed in the same way; it may take
 * seconds on large tori if its schedule has no symmetry. TRV_ERR_UNSUPPORTED, with the reason, where it does not serve
 * the torus or does not keep to the constraints. */
TRV_API int trv_planner_time(trv_planner_t *planner, uint64_t vector_bytes, const char *algorithm, trv_planned_t *plan);

#ifdef __cplusplus
}
#endif
#endif
