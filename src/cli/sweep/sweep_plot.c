/*
 * The picture of a sweep's results: one line per algorithm over the sizes, on one torus and network.
 */
#include "cli/shared/plot.h"

#include "base/error.h"
#include "cli/sweep/sweep.h"

int cli_sweep_plot_check(const cli_sweep_grid_t *grid, const char *path, const char *output)
{
    for (int i = 0; i < CLI_AXES; i++) {
        const int values = grid->axis[i].values.count;
        if (i == CLI_AXIS_BYTES && values < 2)
            return trv_fail(TRV_ERR_ARGUMENT, "--plot draws times over several sizes, for example --bytes=1K:64M");
        if (i != CLI_AXIS_BYTES && i != CLI_AXIS_ALGORITHM && values > 1)
            return trv_fail(TRV_ERR_ARGUMENT,
                            "--plot draws algorithms and sizes for a single %s; here there are %d, so give one",
                            cli_axis_name(i), values);
    }
    return cli_plot_check(path, output);
}

int cli_sweep_plot_draw(const cli_sweep_rows_t *rows, const char *path)
{
    const cli_sweep_grid_t *grid = rows->grid;
    const int sizes = grid->axis[CLI_AXIS_BYTES].values.count;
    cli_plot_t plot = {0};
    int rc = TRV_OK;
    for (uint64_t i = 0; i < grid->points && !rc; i++) {
        cli_network_t network;
        cli_point_t point;
        rc = cli_sweep_point(grid, i, &network, &point);
        if (!rc && i == 0)
            cli_plot_begin(&plot, &point.torus, point.collective, &point.options);
        if (!rc)
            cli_plot_add(&plot, point.choice->label, point.bytes, rows->time_ns[i]);
        if (!rc && i < (uint64_t)sizes)
            rc = cli_plot_add_limit(&plot, &point.torus, point.collective, point.root, &point.options, point.bytes);
    }
    if (!rc)
        rc = cli_plot_draw(path, &plot);
    cli_plot_clear(&plot);
    return rc;
}
