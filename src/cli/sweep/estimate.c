/*
 * What --dry-run says: how many points the grid has, and about how long they take. Of many points a sample is
 * estimated, spread over the grid by the golden ratio, which keeps step with no axis.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/sweep/sweep.h"
#include "base/error.h"

#define SAMPLE_MAX        1024
#define PACKET_HOPS_PER_S 2e7 /* of one core, more or less */

typedef struct sample {
    cli_point_t point[SAMPLE_MAX];
    cli_network_t network[SAMPLE_MAX]; /* which the points refer to */
    size_t points;
    size_t tried; /* those that are left out or cannot run included, which take no time */
} sample_t;

static void take_sample(const cli_sweep_grid_t *grid, sample_t *sample)
{
    const double golden = 0.6180339887498949;
    bool all = grid->points <= SAMPLE_MAX;
    sample->tried = all ? (size_t)grid->points : SAMPLE_MAX;
    for (size_t i = 0; i < sample->tried; i++) {
        uint64_t index = all ? i : (uint64_t)(fmod((double)i * golden, 1) * (double)grid->points);
        cli_network_t *network = &sample->network[sample->points];
        if (cli_sweep_has(grid, index) &&
            cli_sweep_point(grid, index, network, &sample->point[sample->points]) == TRV_OK)
            sample->points++;
    }
}

static void print_duration(double s)
{
    if (s < 1)
        printf("less than a second");
    else if (s < 100)
        printf("about %.0f s", s);
    else if (s < 100 * 60.0)
        printf("about %.0f min", s / 60);
    else
        printf("about %.0f h", s / 3600);
}

int cli_sweep_estimate(const cli_sweep_grid_t *grid)
{
    char axes[512];
    double packet_hops = 0;
    sample_t *sample = calloc(1, sizeof *sample);
    if (!sample)
        return trv_fail_memory();
    take_sample(grid, sample);
    int rc = cli_grid_estimate(sample->point, sample->points, &packet_hops);
    cli_points_clear(sample->point, sample->points);
    packet_hops *= (double)grid->points / (double)sample->tried;
    free(sample);
    if (rc)
        return rc;
    printf("%" PRIu64 " point%s", cli_sweep_points(grid), cli_sweep_points(grid) == 1 ? "" : "s");
    cli_sweep_grid_format(grid, axes, sizeof axes);
    if (axes[0] && grid->left_out > 0)
        printf(" (%s, less %" PRIu64 " whose algorithm does not serve the torus or the collective)", axes,
               grid->left_out);
    else if (axes[0])
        printf(" (%s)", axes);
    printf("\n%.2g packet-hops: ", packet_hops);
    print_duration(packet_hops / PACKET_HOPS_PER_S);
    printf(" on one core\n");
    return TRV_OK;
}
