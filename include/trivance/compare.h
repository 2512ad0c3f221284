/*
 * Comparisons: how long collectives take by algorithms, by the fastest member of a family, by the planner's choice and
 * by the caller's own schedules, on networks and at sizes.
 *
 * A comparison is a list of points. A run simulates the points in threads and fills in a row for each of them. Points
 * that differ in size or in parameters of the network, but not in its torus and its links, share their simulators
 * (trivance/simulate.h), which exist only as long as they are needed.
 *
 *     trv_compare_t *compare;
 *     trv_compare_create(&compare);
 *     for (uint64_t bytes = 32; bytes <= 1 << 20; bytes *= 2)
 *         trv_compare_add(compare, &(trv_compare_point_t){TRV_COMPARE_POINT, .torus = torus, .network = &options,
 *                                                         .algorithms = "trivance", .vector_bytes = bytes});
 *     trv_compare_run(compare, NULL);
 *     trv_compare_row(compare, 0)->time_ns …
 *     trv_compare_destroy(compare);
 *
 * The fastest of several candidates is found by simulating them in the order of their lower bounds
 * (trv_simulate_bound_ns), until the next bound is no shorter than the best time. Of candidates with equal times the
 * one with the smaller bound is taken, and if these are equal, too, the first one: in the order of the list, and of a
 * family in that of the table of algorithms. Every row is determined by its point; it does not depend on other points
 * or on the number of threads.
 *
 * Stability: experimental.
 */
#ifndef TRIVANCE_COMPARE_H
#define TRIVANCE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/common.h>
#include <trivance/cost.h>
#include <trivance/planner.h>
#include <trivance/schedule.h>
#include <trivance/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A point: the candidates, and on which network and for which vector they are timed. Begin with {TRV_COMPARE_POINT}. */
typedef struct trv_compare_point {
    size_t size; /* of this struct, as the caller knows it */
    trv_torus_t torus;
    const trv_simulate_options_t *network; /* NULL: TRV_SIMULATE_DEFAULTS; its observer, link_loads and progress are
                                              ignored */
    trv_collective_t collective;
    int root; /* of a broadcast, reduce, scatter or gather; otherwise 0 */
    uint64_t vector_bytes;
    /* The candidates: "planned", the planner's choice; or names of algorithms and families, separated by commas, such
     * as "trivance-b", "hybrid:4x8", "trivance" or "swing,bucket". The members of a family are its exact algorithms
     * that support the collective, or if none does, all exact ones. */
    const char *algorithms;
    /* NULL, or a schedule of the caller that is a further candidate, after the names. Without names the torus, the
     * collective and the root are those of the schedule. */
    const trv_schedule_t *schedule;
    /* Simulate as the planner does: with one queue per link, without slow ranks and jitter. The time of "planned" is
     * then that of its choice. */
    bool as_planned;
    bool with_limit; /* fill in `limit` and `ratio` */
} trv_compare_point_t;
#define TRV_COMPARE_POINT TRV_SIZED(trv_compare_point_t)

/* The result of a point. */
typedef struct trv_compare_row {
    int code;                               /* TRV_OK; TRV_ERR_UNSUPPORTED if no candidate can run */
    const char *reason;                     /* the sentence of that error, of the last candidate; otherwise NULL */
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* the fastest candidate; a plan also if it cannot be simulated */
    double time_ns;
    bool approximate; /* simulated with enlarged packets (trv_simulate) */
    bool covers;      /* its schedule only covers (TRV_COVERS) */
    double wall_s;    /* duration of its simulations */
    /* Of the fastest candidate's simulation (trv_simulation_t); 0 for "planned" with as_planned. */
    uint64_t messages, packets, packet_hops, simulated_hops;
    trv_limit_t limit; /* with_limit: lower bounds and the reference; NAN if there are none … */
    double ratio;      /* … and time_ns / limit.time_ns, 1 if both are 0 */
} trv_compare_row_t;

typedef struct trv_compare trv_compare_t;

/* A comparison without points. One thread at a time may use it. */
TRV_API int trv_compare_create(trv_compare_t **compare);
TRV_API void trv_compare_destroy(trv_compare_t *compare);

/* Appends a point and returns its index, from 0, or an error: TRV_ERR_ARGUMENT for a name that is not of an algorithm
 * or family, for "planned" beside other candidates, and for a point without candidates. The point, its names and its
 * network with all links and slow ranks are copied; the schedule is borrowed until the comparison is destroyed. */
TRV_API int64_t trv_compare_add(trv_compare_t *compare, const trv_compare_point_t *point);

typedef struct trv_compare_options {
    size_t size; /* of this struct, as the caller knows it: begin with {TRV_COMPARE_OPTIONS} */
    int workers; /* threads that simulate; 0: one per core that the process may use */
    /* Callbacks, or NULL. The thread that calls trv_compare_run calls them; they may not add points. `progress` is
     * called about every 10 ms with the fraction 0 … 1 of the run that is done, which never decreases; a result other
     * than 0 cancels the run. `done` is called once for every row that the run has filled in, in any order; the run
     * ends with its result if that is not 0. */
    int (*progress)(void *context, double fraction);
    void *progress_context;
    int (*done)(void *context, int64_t index, const trv_compare_row_t *row);
    void *done_context;
} trv_compare_options_t;
#define TRV_COMPARE_OPTIONS TRV_SIZED(trv_compare_options_t)

/* Fills in the rows of all points; `options` may be NULL. One worker takes the points in ascending order of work, so
 * that the first rows are done early; the others take them in descending order. A single worker is the calling
 * thread. A candidate that does not support the point, or whose messages are too long to be simulated, is left out; if
 * all are, the row has the reason, and the run continues. Otherwise returns 0 or the first error of any point, such as
 * TRV_ERR_ARGUMENT for an impossible network; TRV_ERR_CANCELLED if `progress` asked for it; or the result of `done`.
 * After an error only the rows that `done` has received are known. */
TRV_API int trv_compare_run(trv_compare_t *compare, const trv_compare_options_t *options);

/* The row of a point; it belongs to the comparison and moves when a point is added. NULL if there is no such point. */
TRV_API const trv_compare_row_t *trv_compare_row(const trv_compare_t *compare, int64_t index);

/* Finds the row of a single point, in the calling thread. Returns the errors of trv_compare_add and trv_compare_run, or
 * row->code; the sentence of an error is that of trv_last_error(), and row->reason is NULL. */
TRV_API int trv_compare_one(const trv_compare_point_t *point, trv_compare_row_t *row);

/* The lower bounds of trv_limit_find (trivance/cost.h) that apply to times of the simulator with these options. */
TRV_API int trv_compare_limit(const trv_torus_t *torus, const trv_simulate_options_t *network,
                              trv_collective_t collective, int root, uint64_t vector_bytes, trv_limit_t *limit);

#ifdef __cplusplus
}
#endif
#endif
