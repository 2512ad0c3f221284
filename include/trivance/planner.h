/*
 * The planner: the fastest schedule for a torus or mesh, a size and a network, of which links may be slow or cut.
 *
 * It ranks every named algorithm and the families with parameters (hybrids: trivance/algorithms.h) by a model of steps,
 * hops and link loads; the packet simulator (trivance/simulate.h, one queue per link) decides among the best. The
 * result, a choice, contains a name for trv_schedule_create. The tool, the environment and rules files accept this name
 * wherever an algorithm is named.
 *
 * Lines and slow or cut links make ranks differ. The best few candidates are then simulated rank by rank, as they are
 * and with slow links avoided (NAME@F, trivance/network.h). Schedules that pass a cut link are excluded, and no
 * choice is slower than the choice for the torus without lines, slow and cut links. The name is then one for
 * trv_schedule_create_on.
 *
 * Schedules with more messages per port and step than the network allows (trv_simulate_options_t) are no candidates.
 *
 * Everything is deterministic and limited by work, not by time: the same arguments give the same choice on every rank.
 *
 * Stability: experimental.
 */
#ifndef TRIVANCE_PLANNER_H
#define TRIVANCE_PLANNER_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/algorithms.h>
#include <trivance/common.h>
#include <trivance/network.h>
#include <trivance/schedule.h>
#include <trivance/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Requirements of a choice. With all members zero except for size, the schedule is only required to be exact. */
typedef struct trv_planner_constraints {
    size_t size;           /* of this struct, as the caller knows it: begin with {TRV_PLANNER_CONSTRAINTS} */
    bool consistent;       /* bitwise identical results on all ranks, also for floating point */
    bool idempotent;       /* accept schedules that only cover (TRV_COVERS): MAX, MIN, AND, OR */
    uint64_t memory_bytes; /* maximum memory for scratch registers per rank; 0: any */
} trv_planner_constraints_t;
#define TRV_PLANNER_CONSTRAINTS TRV_SIZED(trv_planner_constraints_t)

typedef struct trv_planner_choice {
    /* For trv_schedule_create: "hybrid:4x8/3", "swing-b", …; or the name given to trv_planner_add. */
    char algorithm[TRV_ALGORITHM_NAME_MAX];
    int steps;
    bool consistent;
    /* Completion time, simulated on the given network, and its parts: steps * alpha, or less if ranks are idle in some
     * steps; the additional time of a vector of one byte; the rest. Streams overlap, so the parts are those of the
     * whole, not of each stream. */
    double time_ns, alpha_ns, hops_ns, transmission_ns;
    bool approximate; /* simulated with enlarged packets (trv_simulate) */
} trv_planner_choice_t;

/* Finds the fastest schedule for a size. `root` is as in trv_schedule_create_on (trivance/network.h). `network` is
 * initialized with TRV_SIMULATE_DEFAULTS or any other set of options, of which finite buffers, balanced ties, jitter
 * and slow ranks are ignored. Slow and cut links are copied. `constraints` may be NULL.
 *
 * With one queue per link (TRV_FIFO) a call takes milliseconds. With two channels (TRV_DATELINE) the best few
 * candidates are simulated on the whole torus, which takes seconds on thousands of ranks. With lines, slow or cut links
 * it takes up to four seconds on 1,024 ranks; candidates whose simulation would take longer are left out. Choices are
 * cached, so a repeated call takes microseconds. Thread-safe.
 *
 * TRV_ERR_ARGUMENT for an impossible network or constraint (a bandwidth of 0, a negative latency);
 * TRV_ERR_UNSUPPORTED if a dimension has more than 2^20 ranks, if a row is cut in two (trv_network_check), or if no
 * schedule satisfies the constraints, with a sentence that states which of them excludes which schedules. */
TRV_API int trv_planner_best(const trv_torus_t *torus, trv_collective_t collective, int root, uint64_t vector_bytes,
                             const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints,
                             trv_planner_choice_t *choice);

/* A planner holds the candidates for one torus, collective, network and set of constraints. It answers queries for many
 * sizes, and also returns the runners-up. One thread at a time may use it. It stores network->progress with its
 * context, and every later call on the planner calls that function. */
typedef struct trv_planner trv_planner_t;
TRV_API int trv_planner_create(trv_planner_t **planner, const trv_torus_t *torus, trv_collective_t collective, int root,
                               const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints);
TRV_API void trv_planner_destroy(trv_planner_t *planner);

/* Makes a schedule of the caller a candidate with the given name, which choices have in `algorithm` if it is chosen. It
 * is not verified (trivance/verify.h), and may be destroyed after the call. TRV_ERR_ARGUMENT if it is for another
 * torus, collective or root, or if the name is too long or that of an algorithm or another candidate;
 * TRV_ERR_UNSUPPORTED, with the reason, if it violates the constraints, has more messages per port than the network
 * allows, or sends over a cut link; TRV_ERR_INVALID if a rank waits for a message that no rank sends;
 * TRV_ERR_MEMORY. */
TRV_API int trv_planner_add(trv_planner_t *planner, const trv_schedule_t *schedule, const char *name);

/* Finds the fastest schedules, best first. Writes at most `capacity` choices and returns their number, or an error. */
TRV_API int trv_planner_rank(trv_planner_t *planner, uint64_t vector_bytes, int capacity, trv_planner_choice_t *choice);

/* Times one algorithm (a name as in trv_planner_choice_t.algorithm) in the same way. It may take seconds on large
 * tori if the schedule has no symmetry. TRV_ERR_UNSUPPORTED, with the reason, if the algorithm does not support the
 * torus or violates the constraints; its messages per port are not limited. */
TRV_API int trv_planner_time(trv_planner_t *planner, uint64_t vector_bytes, const char *algorithm,
                             trv_planner_choice_t *choice);

/* ---- Any set of nodes ------------------------------------------------------------------------------------------ */

/* A choice for ranks on a set of nodes: the schedule `choice.algorithm` on `torus`, with one rank per node. The torus
 * is a line ("29m"), a ring, or the torus or mesh that a box forms ("4mx4m", trivance/network.h). Rank i is the i-th
 * node in the order (trv_order_nodes, trv_schedule_embed). */
typedef struct trv_planner_node_choice {
    trv_order_t order;
    trv_torus_t torus;
    trv_planner_choice_t choice;
} trv_planner_node_choice_t;

/* Finds the fastest schedules for a set of nodes of `machine`, best first. Writes at most `capacity` choices and
 * returns their number, or an error. The best candidates for the line and for the ring and all algorithms of the table
 * are simulated in two orders (snake and thirds) on the whole machine with its slow and cut links (`network`), and so
 * are those for the torus or mesh of a box, in one order, unless their times there are already known. The simulations
 * end when a fixed amount of work is done: about two seconds on 1,024 nodes, where algorithms with as many steps as
 * nodes are left out. `root` is an index in `node`; in the schedule of a choice the root is the position of that node
 * in its order. `constraints` may be NULL. Thread-safe. TRV_ERR_UNSUPPORTED if no schedule is possible, or simulating
 * one would be too much work. */
TRV_API int trv_planner_nodes(const trv_torus_t *machine, int nodes, const int *node, trv_collective_t collective,
                              int root, uint64_t vector_bytes, const trv_simulate_options_t *network,
                              const trv_planner_constraints_t *constraints, int capacity,
                              trv_planner_node_choice_t *choice);

/* Times one algorithm on such a set, without constraints: on a ring of which rank i is node[i], in the given order,
 * as a library does that does not know the network. If a simulation would be too much work, *is_bound is true and
 * the time is a lower bound by its steps or bytes. If messages would pass a cut link, around which the network may
 * route them, the time is that without cuts, and *is_bound is true. */
TRV_API int trv_planner_nodes_time(const trv_torus_t *machine, int nodes, const int *node, trv_collective_t collective,
                                   int root, uint64_t vector_bytes, const trv_simulate_options_t *network,
                                   const char *algorithm, double *time_ns, bool *is_bound);

#ifdef __cplusplus
}
#endif
#endif
