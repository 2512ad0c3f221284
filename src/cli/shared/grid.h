/*
 * Independent simulations on all cores, for `simulate` and `sweep`: the points of a comparison (trivance/compare.h).
 */
#ifndef TRIVANCE_CLI_SHARED_GRID_H
#define TRIVANCE_CLI_SHARED_GRID_H

#include <stddef.h>
#include <stdint.h>

#include <trivance/simulate.h>

#include "base/span.h"
#include "cli/shared/select.h"

/* One simulation: its parameters and, once it has finished, its result. */
typedef struct cli_point {
    trv_torus_t torus;
    const cli_choice_t *choice; /* an algorithm; a family: its fastest member; `planned`: the plan for the options */
    const trv_schedule_t *schedule; /* the schedule instead, or NULL */
    uint64_t bytes;
    trv_simulate_options_t options;
    trv_collective_t collective; /* 0: AllReduce */
    int root;

    int rc;             /* TRV_OK, or an error: TRV_ERR_UNSUPPORTED if no member supports the torus */
    const char *reason; /* message of that error, or NULL; owned by the point, see cli_points_clear */
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* the fastest member, the plan or the schedule's name */
    double time_ns, wall_s;
    uint64_t packet_hops, simulated_hops;
    double share; /* estimated share of the work of all points, set when it has finished; sums to 1 */
} cli_point_t;

/* Called for every point when it has finished, in any order, by the thread that called cli_grid_run. After a result
 * other than 0 no further points are started. */
typedef int cli_point_done_t(void *context, const cli_point_t *point);

/* Simulates all points with `workers` threads (0: one per core); reports the progress to the span. `done` may be NULL.
 * Returns 0, the result of `done` if that is not 0 (with its message), or an error other than TRV_ERR_UNSUPPORTED. */
int cli_grid_run(cli_point_t *point, size_t points, int workers, trv_span_t span, cli_point_done_t *done,
                 void *context);

/* Frees the reasons. */
void cli_points_clear(cli_point_t *point, size_t points);

#endif
