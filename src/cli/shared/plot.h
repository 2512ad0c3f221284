/*
 * --plot: completion time over size as an SVG picture, drawn by the Python package (trivance.figures.curves).
 */
#ifndef TRIVANCE_CLI_SHARED_PLOT_H
#define TRIVANCE_CLI_SHARED_PLOT_H

#include <stdint.h>

#include <jansson.h>

#include <trivance/schedule.h>
#include <trivance/simulate.h>

#define CLI_PLOT_HELP                                                                                                  \
    "draw the completion times over the size into this SVG file, one line per algorithm, with the lower bound of "     \
    "--limit as a dashed line; requires python3 with numpy, matplotlib and the package trivance"

/* A plot. Begin with {0}; cli_plot_clear frees it. */
typedef struct cli_plot {
    json_t *curves; /* with their names and points */
    json_t *limit;
    char title[512];
} cli_plot_t;

/* Sets the title: "AllReduce on the torus 8x8: fifo, 800 Gb/s, alpha 1.5 us". */
void cli_plot_begin(cli_plot_t *plot, const trv_torus_t *torus, trv_collective_t collective,
                    const trv_simulate_options_t *network);
/* Adds a point of a curve; the first point of a name begins its curve. */
void cli_plot_add(cli_plot_t *plot, const char *name, uint64_t bytes, double time_ns);
/* Adds the limit for a size; sizes are added in ascending order. */
int cli_plot_add_limit(cli_plot_t *plot, const trv_torus_t *torus, trv_collective_t collective, int root,
                       const trv_simulate_options_t *network, uint64_t bytes);
void cli_plot_clear(cli_plot_t *plot);

/* Checks before long work that the file can be drawn: its name ends in .svg, it can be written and is not `output` (the
 * file of --output, or NULL), and there is a Python with the packages. TRV_ERR_ARGUMENT otherwise. Implemented by
 * cli/host. */
int cli_plot_check(const char *path, const char *output);
/* Draws the plot. No incomplete file is left behind. Implemented by cli/host. */
int cli_plot_draw(const char *path, const cli_plot_t *plot);

#endif
