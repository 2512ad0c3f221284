/*
 * trivance sweep: a grid of simulations, whose results are rows of a file.
 *
 *     values.c     lists and ranges on the command line
 *     points.c     the axes of the grid, and the point at an index
 *     rows.c       the file of results: its rows, and the points that it has already
 *     json.c       the grid in a file
 *     sweep_plot.c the picture of the results
 *     options.c    the command line
 *     run.c        points to simulate, and their results
 *     cmd_sweep.c  the command on one machine; src/cli/mpi/mpi_sweep.c is the same on many ranks
 *
 * A point is identified by its index in the grid (the first axis changes slowest). A grid therefore takes no memory in
 * proportion to its points, and ranks exchange only indices.
 */
#ifndef TRIVANCE_CLI_SWEEP_SWEEP_H
#define TRIVANCE_CLI_SWEEP_SWEEP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "json/json.h"
#include "cli/shared/grid.h"
#include "cli/shared/network_options.h"
#include "cli/shared/progress.h"
#include "cli/shared/select.h"
#include "cli/shared/table.h"

/* ---- Values (values.c) ------------------------------------------------------------------------------------- */

#define CLI_VALUES_MAX 10000 /* per axis */
#define CLI_VALUE_MAX  256   /* bytes of a value's text */

/* The values of one axis. Quantities are in their base unit ("1.5us" becomes "1500ns"), which the results omit. Words
 * are stored as typed, and files of networks with a hash (format_network in points.c). */
typedef struct cli_values {
    int count;
    char **text;
    const char *unit, *suffix; /* "ns" and "_ns", "b/s" and "_bps", …; NULL if the values are words */
} cli_values_t;

/* Reads a comma-separated list. With `ranges`, entries may be MIN:MAX (doubling), MIN:MAX:xFACTOR or MIN:MAX:+STEP,
 * MAX included. Duplicates are dropped. */
int cli_values_read(cli_values_t *values, const char *what, const char *list, bool ranges);
/* Adds a copy of the text, unless the axis has it already. */
int cli_values_add(cli_values_t *values, const char *what, const char *text);
void cli_values_clear(cli_values_t *values);

/* ---- The grid (points.c) ----------------------------------------------------------------------------------------- */

enum { CLI_AXIS_TORUS, CLI_AXIS_ALGORITHM, CLI_AXIS_BYTES, CLI_AXIS_COLLECTIVE, CLI_AXIS_ROOT, CLI_AXIS_NETWORK };
#define CLI_AXES (CLI_AXIS_NETWORK + CLI_NETWORK_MAX)

typedef struct cli_axis {
    char column[40]; /* its title in the results */
    cli_values_t values;
} cli_axis_t;

typedef struct cli_sweep_grid {
    char *list[CLI_AXES];      /* the values of every axis as given; NULL: not given. Set these, then call _finish */
    cli_axis_t axis[CLI_AXES]; /* axes that are not given have no values */
    cli_selection_t selection; /* choice i is value i of the axis of algorithms */
    uint64_t points;           /* number of combinations of all values */
    uint64_t left_out;         /* number of these that are not simulated (cli_sweep_has) */
} cli_sweep_grid_t;

/* The name of an axis, as an option without dashes or a key: "torus", "algorithm", …, "slow-link". */
const char *cli_axis_name(int axis);
/* The axis with that name, or -1. */
int cli_axis_find(const char *name);

/* Reads the lists; axes that are needed and not given get their defaults. TRV_ERR_ARGUMENT for bad values, no torus, a
 * root other than 0 beside a collective that has none, or more than 2^62 points. */
int cli_sweep_grid_finish(cli_sweep_grid_t *grid);
void cli_sweep_grid_clear(cli_sweep_grid_t *grid);
/* Checks a list of values of an axis. */
int cli_sweep_check_list(int axis, const char *list);
/* Whether the only value of an axis of a finished grid is the default. */
bool cli_sweep_axis_is_default(const cli_sweep_grid_t *grid, int axis);
/* Whether the text in a row's column `network` is a file of this sweep, but with other parameters (points.c). */
bool cli_sweep_is_other_content(const cli_values_t *networks, const char *text);
/* "2 tori × 14 algorithms × 12 sizes × 3 values of alpha": the axes with more than one value. Returns `text`. */
char *cli_sweep_grid_format(const cli_sweep_grid_t *grid, char *text, size_t size);
/* The lists as JSON, which the caller frees. */
char *cli_sweep_grid_dump(const cli_sweep_grid_t *grid);
/* Appends to a list, separated by a comma. */
int cli_sweep_append(char **list, const char *text);
/* Reads the lists from JSON; call _finish then. Lists that are set already are not changed. */
int cli_sweep_grid_load(cli_sweep_grid_t *grid, const trv_json_t *json);

/* Whether the point is simulated: with `all`, algorithms are left out that do not support the torus or the
 * collective. */
bool cli_sweep_has(const cli_sweep_grid_t *grid, uint64_t index);

/* The index, within an axis, of its value for the point at `index`. */
int cli_sweep_digit(const cli_sweep_grid_t *grid, uint64_t index, int axis);
/* Fills in the point's torus, collective, choice, bytes and options (which refer to `network`). TRV_ERR_ARGUMENT with a
 * message if the parameters are incompatible with each other or with the torus. */
int cli_sweep_point(const cli_sweep_grid_t *grid, uint64_t index, cli_network_t *network, cli_point_t *point);

/* ---- Results and their file (rows.c) ----------------------------------------------------------------------- */

/* A result. It contains no pointers, so it can be sent to another process of the same program. */
typedef struct cli_sweep_result {
    uint64_t index, packet_hops;
    double time_ns, wall_s;
    double share;                           /* its fraction of its batch's work, times the points of the batch */
    bool valid;                             /* false: `error` has the reason, and there are no numbers */
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* the named algorithm, the fastest of the family, or the plan */
    char error[400];
} cli_sweep_result_t;

typedef struct cli_sweep_rows {
    const char *path; /* NULL: stdout */
    cli_format_t format;
    const cli_sweep_grid_t *grid;
    cli_table_t table;
    int descriptor; /* of the file */
    bool regular;   /* a regular file, not a device or pipe: it is read, and truncated after its last whole row */
    off_t end;      /* offset of the end of its last whole row */
    uint64_t *done; /* the points that the file had at the start, ascending */
    size_t done_count;
    int64_t done_capacity;
    bool limit;      /* rows have the columns of --limit */
    double *time_ns; /* of every point, for a plot; NAN: it has none */
    bool numbers;    /* at least one of its rows is not an error */
} cli_sweep_rows_t;

/* The format of a path that ends in .csv or .jsonl; TRV_ERR_ARGUMENT with a message otherwise. */
int cli_sweep_format_of(const char *path, cli_format_t *format);
/* Opens the file and reads its rows or, with `restart`, empties it. A file with other columns or points is an error and
 * is not changed. With `limit` rows have the columns of --limit. `time_ns`: NULL, or an
 * array of all points that are NAN, for the times of the rows in the file and of those that are added. */
int cli_sweep_rows_open(cli_sweep_rows_t *rows, const cli_sweep_grid_t *grid, const char *path, cli_format_t format,
                        bool restart, bool limit, double *time_ns);
/* Appends and writes a row. If that fails, the file has only whole rows. */
int cli_sweep_rows_add(cli_sweep_rows_t *rows, const cli_sweep_result_t *result);
int cli_sweep_rows_close(cli_sweep_rows_t *rows);

/* ---- The plot (sweep_plot.c) ------------------------------------------------------------------------------- */

/* Checks that the grid can be drawn: algorithms and sizes only, and several sizes. */
int cli_sweep_plot_check(const cli_sweep_grid_t *grid, const char *path, const char *output);
/* Draws the times of all points. */
int cli_sweep_plot_draw(const cli_sweep_rows_t *rows, const char *path);

/* ---- Running (options.c, run.c) ---------------------------------------------------------------------------------- */

typedef struct cli_sweep {
    const char *command, *path; /* path of the results; NULL: stdout */
    const char *plot;           /* --plot, or NULL */
    double *time_ns;            /* for the plot: the times of all points */
    cli_format_t format;
    bool restart, yes, dry, limit, with_format, started;
    int workers; /* 0: one per core */
    cli_sweep_grid_t grid;
    cli_sweep_rows_t rows;
    cli_progress_t progress;
    pthread_mutex_t lock;   /* protects everything below, and the rows and the progress bar */
    uint64_t next;          /* all points before it are done or being simulated */
    size_t skipped;         /* number of entries of rows.done before it */
    uint64_t added, failed; /* number of rows, and of those that are errors */
} cli_sweep_t;

/* Reads the command line into `sweep` and checks it. Returns 0; 1 after --help; CLI_BAD after a message. */
int cli_sweep_read(cli_sweep_t *sweep, int argc, char **argv);
extern const cli_command_t cli_sweep_command;

/* Reads the command line and opens the results. Returns 0; 1 after --help or --dry-run; CLI_BAD after a message. In all
 * cases cli_sweep_end must follow. */
int cli_sweep_begin(cli_sweep_t *sweep, int argc, char **argv);
/* Closes the results and prints a summary line. `rc` is the result of the run; returns the exit code. */
int cli_sweep_end(cli_sweep_t *sweep, int rc);
/* The exit code of a sweep that ended without an error: CLI_WRONG if every row is an error. */
int cli_sweep_verdict(const cli_sweep_t *sweep);

/* The number of points without those that are left out, and the number of these that have no row yet. The caller of
 * cli_sweep_pending holds the lock or is the only thread. */
uint64_t cli_sweep_points(const cli_sweep_grid_t *grid);
uint64_t cli_sweep_pending(const cli_sweep_t *sweep);
/* Writes the next points to `index` and returns their number: at most `max`, and at most 1 / `shares` of the remaining
 * ones. 0: none are left. Any thread may call it. */
size_t cli_sweep_take(cli_sweep_t *sweep, uint64_t *index, size_t max, unsigned shares);
/* Appends a row; any thread may call it. */
int cli_sweep_add(cli_sweep_t *sweep, const cli_sweep_result_t *result);

/* Called for every point, one call at a time, in any order; `i` is its position in the array of points. */
typedef int cli_sweep_done_t(void *context, size_t i, const cli_sweep_result_t *result);

/* Simulates points of the grid. Returns 0, the nonzero result of `done`, or a negative TRV_ERR_*. */
int cli_sweep_simulate(const cli_sweep_grid_t *grid, const uint64_t *index, size_t points, int workers,
                       cli_sweep_done_t *done, void *context);

#endif
