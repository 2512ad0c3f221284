/*
 * Runs a sweep: selects the next points, simulates them, and writes their rows.
 */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shared/tool.h"
#include "cli/sweep/sweep.h"
#include "base/error.h"

static void sweep_print_points(const cli_sweep_grid_t *grid)
{
    char axes[512];
    cli_sweep_grid_format(grid, axes, sizeof axes);
    printf("%" PRIu64 " point%s", cli_sweep_points(grid), cli_sweep_points(grid) == 1 ? "" : "s");
    if (axes[0] && grid->left_out > 0)
        printf(" (%s, minus %" PRIu64 " whose algorithm does not support the torus or the collective)", axes,
               grid->left_out);
    else if (axes[0])
        printf(" (%s)", axes);
    putchar('\n');
}

static int prepare_plot(cli_sweep_t *sweep)
{
    int rc = cli_sweep_plot_check(&sweep->grid, sweep->plot, sweep->path);
    if (rc)
        return rc;
    sweep->time_ns = malloc((size_t)sweep->grid.points * sizeof *sweep->time_ns);
    for (uint64_t i = 0; i < sweep->grid.points && sweep->time_ns; i++)
        sweep->time_ns[i] = NAN;
    return sweep->time_ns ? TRV_OK : trv_fail_memory();
}

int cli_sweep_begin(cli_sweep_t *sweep, int argc, char **argv)
{
    *sweep = (cli_sweep_t){.command = argv[0]};
    pthread_mutex_init(&sweep->lock, NULL);
    signal(SIGXFSZ, SIG_IGN); /* exceeding the limit on file sizes then fails the write, which reports it */
    int code = cli_sweep_read(sweep, argc, argv);
    if (code)
        return code;
    if (sweep->plot && prepare_plot(sweep))
        return cli_bad_last(sweep->command);
    if (sweep->dry) {
        sweep_print_points(&sweep->grid);
        return 1;
    }
    if (cli_sweep_rows_open(&sweep->rows, &sweep->grid, sweep->path, sweep->format, sweep->restart, sweep->limit,
                            sweep->time_ns))
        return cli_bad_last(sweep->command);
    /* Rows that appear one by one on the terminal would collide with the bar; a table is printed only when complete. */
    if (sweep->path || sweep->format == CLI_FORMAT_TABLE || !cli_stdout_is_terminal())
        cli_progress_begin(&sweep->progress, "sweep", (double)cli_sweep_pending(sweep));
    sweep->started = true;
    return 0;
}

int cli_sweep_end(cli_sweep_t *sweep, int rc)
{
    cli_progress_end(&sweep->progress);
    int code = rc < 0 ? cli_bad_last(sweep->command) : CLI_OK;
    char failed[32] = "none";
    if (sweep->failed > 0)
        snprintf(failed, sizeof failed, "%" PRIu64, sweep->failed);
    if (cli_sweep_rows_close(&sweep->rows) < 0 && code == CLI_OK)
        code = cli_bad_last(sweep->command);
    if (sweep->started && sweep->path && code == CLI_OK)
        printf("%s has all %" PRIu64 " points, %" PRIu64 " new, %s with an error\n", sweep->path,
               cli_sweep_points(&sweep->grid), sweep->added, failed);
    if (sweep->started && code == CLI_OK && sweep->grid.left_out > 0)
        fprintf(stderr,
                "trivance %s: %" PRIu64 " of %" PRIu64
                " points left out: their algorithm does not support the torus or the collective\n",
                sweep->command, sweep->grid.left_out, sweep->grid.points);
    if (sweep->started && code == CLI_OK && (code = cli_sweep_verdict(sweep)) != CLI_OK)
        cli_bad(sweep->command, "no point has a result; the column error has the reasons");
    if (sweep->started && code == CLI_OK && sweep->plot && cli_sweep_plot_draw(&sweep->rows, sweep->plot))
        code = cli_bad_last(sweep->command);
    free(sweep->time_ns);
    cli_sweep_grid_clear(&sweep->grid);
    return code;
}

int cli_sweep_verdict(const cli_sweep_t *sweep) { return sweep->rows.numbers ? CLI_OK : CLI_WRONG; }

uint64_t cli_sweep_pending(const cli_sweep_t *sweep)
{
    return cli_sweep_points(&sweep->grid) - sweep->rows.done_count - sweep->added;
}

size_t cli_sweep_take(cli_sweep_t *sweep, uint64_t *index, size_t max, unsigned shares)
{
    size_t count = 0;
    pthread_mutex_lock(&sweep->lock);
    uint64_t left = sweep->grid.points - sweep->next - (sweep->rows.done_count - sweep->skipped);
    max = left / shares < max ? (size_t)(left / shares) : max;
    max = max > 0 ? max : 1;
    for (; count < max && sweep->next < sweep->grid.points; sweep->next++)
        if (sweep->skipped < sweep->rows.done_count && sweep->rows.done[sweep->skipped] == sweep->next)
            sweep->skipped++;
        else if (cli_sweep_has(&sweep->grid, sweep->next))
            index[count++] = sweep->next;
    pthread_mutex_unlock(&sweep->lock);
    return count;
}

int cli_sweep_add(cli_sweep_t *sweep, const cli_sweep_result_t *result)
{
    pthread_mutex_lock(&sweep->lock);
    int rc = cli_sweep_rows_add(&sweep->rows, result);
    sweep->added += !rc;
    sweep->failed += !rc && !result->valid;
    pthread_mutex_unlock(&sweep->lock);
    return rc;
}

/* ---- Simulating -------------------------------------------------------------------------------------------------- */

/* Points with compatible parameters, and their positions in the array of all points. */
typedef struct batch {
    cli_point_t *point;
    cli_network_t *network;
    size_t *position, points;
    const uint64_t *index;
    cli_sweep_done_t *done;
    void *context;
} batch_t;

static void set_text(char *into, size_t size, const char *text) { snprintf(into, size, "%s", text ? text : ""); }

static int report(void *context, const cli_point_t *point)
{
    const batch_t *batch = context;
    size_t position = batch->position[point - batch->point];
    cli_sweep_result_t result = {
        .index = batch->index[position],
        .packet_hops = point->packet_hops,
        .time_ns = point->time_ns,
        .wall_s = point->wall_s,
        .share = point->share * (double)batch->points,
        .valid = !point->rc,
    };
    set_text(result.algorithm, sizeof result.algorithm, point->algorithm);
    set_text(result.error, sizeof result.error, point->reason);
    return batch->done(batch->context, position, &result);
}

/* Reports a point with incompatible parameters; trv_last_error has the reason. */
static int report_incompatible(const batch_t *batch, size_t position)
{
    cli_sweep_result_t result = {.index = batch->index[position], .share = 1};
    set_text(result.error, sizeof result.error, trv_last_error());
    return batch->done(batch->context, position, &result);
}

int cli_sweep_simulate(const cli_sweep_grid_t *grid, const uint64_t *index, size_t points, int workers,
                       cli_sweep_done_t *done, void *context)
{
    batch_t batch = {.index = index, .done = done, .context = context};
    batch.point = calloc(points, sizeof *batch.point);
    batch.network = calloc(points, sizeof *batch.network);
    batch.position = calloc(points, sizeof *batch.position);
    int rc = batch.point && batch.network && batch.position ? TRV_OK : trv_fail_memory();
    for (size_t i = 0; i < points && !rc; i++) {
        cli_point_t *point = &batch.point[batch.points];
        if (cli_sweep_point(grid, index[i], &batch.network[batch.points], point) == TRV_OK)
            batch.position[batch.points++] = i;
        else
            rc = report_incompatible(&batch, i);
    }
    if (!rc)
        rc = cli_grid_run(batch.point, batch.points, workers, (trv_span_t){0}, report, &batch);
    cli_points_clear(batch.point, batch.points);
    free(batch.point);
    free(batch.network);
    free(batch.position);
    return rc;
}
