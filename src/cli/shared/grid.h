/*
 * Many simulations, independent of one another, on all cores. `sweep` and `figures` are made of these.
 */
#ifndef TRIVANCE_CLI_SHARED_GRID_H
#define TRIVANCE_CLI_SHARED_GRID_H

#include <stddef.h>
#include <stdint.h>

#include <trivance/simulate.h>

#include "base/span.h"
#include "cli/shared/select.h"

/* One simulation: what to simulate, and when it is done the result. */
typedef struct cli_point {
    trv_torus_t torus;
    const cli_choice_t *choice; /* an algorithm; a family: its fastest member; `planned`: the plan for the options */
    uint64_t bytes;
    trv_simulate_options_t options;
    trv_collective_t collective; /* 0: AllReduce */

    int rc;             /* TRV_OK, or why there is no result: TRV_ERR_UNSUPPORTED where no member takes the torus */
    const char *reason; /* the sentence to that, or NULL; owned by the point, see cli_points_clear */
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* the member that was fastest, or the plan; "" where there is none */
    double time_ns, wall_s;
    uint64_t packet_hops, simulated_hops;
    double share; /* of the work of all points, estimated before the first is begun: they add up to 1 */
} cli_point_t;

/* Called for every point when it is done, one call at a time, in any order. Not 0: no further points are begun. */
typedef int cli_point_done_t(void *context, const cli_point_t *point);

/* Plans what is planned, then simulates all points with `workers` threads (0: one per core): one the cheapest first, the
 * others the dearest. Points of the same torus and algorithm share one trv_simulator_t. Of a family, members that a
 * lower bound excludes are not simulated. 0, or what `done` returned (with its sentence), or an error other than TRV_ERR_UNSUPPORTED. */
int cli_grid_run(cli_point_t *point, size_t points, int workers, cli_point_done_t *done, void *context);
/* The same without `done`, with progress reported to the span, from any thread, one report at a time. */
int cli_grid_run_reporting(cli_point_t *point, size_t points, int workers, trv_span_t span);

/* Frees the reasons. */
void cli_points_clear(cli_point_t *point, size_t points);

#endif
