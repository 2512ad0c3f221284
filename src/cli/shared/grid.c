/*
 * Points of subcommands as a comparison.
 */
#include "cli/shared/grid.h"

#include <stdlib.h>
#include <string.h>

#include <trivance/compare.h>

#include "base/error.h"

typedef struct grid {
    cli_point_t *point;
    cli_point_done_t *done;
    void *context;
} grid_t;

static int grid_add(trv_compare_t *compare, const cli_point_t *point)
{
    const trv_compare_point_t asked = {TRV_COMPARE_POINT,
                                       .torus = point->torus,
                                       .network = &point->options,
                                       .collective = point->collective,
                                       .root = point->root,
                                       .vector_bytes = point->bytes,
                                       .algorithms = point->schedule ? NULL : point->choice->label,
                                       .schedule = point->schedule};
    const int64_t index = trv_compare_add(compare, &asked);
    return index < 0 ? (int)index : TRV_OK;
}

static int grid_done(void *context, int64_t index, const trv_compare_row_t *row)
{
    const grid_t *grid = context;
    cli_point_t *point = &grid->point[index];
    point->rc = row->code;
    point->reason = row->reason ? strdup(row->reason) : NULL;
    memcpy(point->algorithm, row->algorithm, sizeof point->algorithm);
    point->time_ns = row->time_ns;
    point->wall_s = row->wall_s;
    point->packet_hops = row->packet_hops;
    point->simulated_hops = row->simulated_hops;
    point->share = row->share;
    if (row->reason && !point->reason)
        return trv_fail_memory();
    return grid->done ? grid->done(grid->context, point) : TRV_OK;
}

int cli_grid_run(cli_point_t *point, size_t points, int workers, trv_span_t span, cli_point_done_t *done, void *context)
{
    grid_t grid = {point, done, context};
    const trv_compare_options_t options = {TRV_COMPARE_OPTIONS,
                                           .workers = workers,
                                           .progress = span.callback ? trv_span_callback : NULL,
                                           .progress_context = &span,
                                           .done = grid_done,
                                           .done_context = &grid};
    trv_compare_t *compare;
    int rc = trv_compare_create(&compare);
    for (size_t i = 0; i < points && !rc; i++)
        rc = grid_add(compare, &point[i]);
    if (!rc)
        rc = trv_compare_run(compare, &options);
    trv_compare_destroy(compare);
    return rc;
}

void cli_points_clear(cli_point_t *point, size_t points)
{
    for (size_t i = 0; i < points; i++) {
        free((char *)(size_t)point[i].reason);
        point[i].reason = NULL;
    }
}
