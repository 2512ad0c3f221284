/*
 * trivance sweep: a grid of simulations, whose results are rows of a file.
 *
 *     values.c     lists and ranges on the command line
 *     points.c     the axes of the grid, and the point at an index
 *     rows.c       the file of results: its rows, and which points it has already
 *     json.c       the grid in a file
 *     options.c    the command line
 *     run.c        points to simulate, and their results
 *     cmd_sweep.c  the command on one machine; src/cli/mpi/mpi_sweep.c is the same on many ranks
 *
 * A point is known by its index in the grid (the first axis changes slowest), so a grid takes no memory in proportion
 * to its points, and an index is all that a rank must be told.
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

#define CLI_VALUES_MAX 10000 /* of one axis */

/* The values of one axis. Quantities are in the base unit of their kind ("1.5us" is "1500ns"), which is cut off in the
 * results; words stay as they were typed. */
typedef struct cli_values {
    int count;
    char **text;
    const char *unit, *suffix; /* "ns" and "_ns", "b/s" and "_bps", …; NULL where the values are words */
} cli_values_t;

/* Reads a comma-separated list. With `ranges`, entries may be MIN:MAX (doubling), MIN:MAX:xFACTOR or MIN:MAX:+STEP,
 * MAX included. What is there twice counts once. */
int cli_values_read(cli_values_t *values, const char *what, const char *list, bool ranges);
/* Takes over nothing: adds a copy of the text, unless it is there. */
int cli_values_add(cli_values_t *values, const char *what, const char *text);
void cli_values_clear(cli_values_t *values);

/* ---- The grid (points.c) ----------------------------------------------------------------------------------------- */

enum { CLI_AXIS_TORUS, CLI_AXIS_ALGORITHM, CLI_AXIS_BYTES, CLI_AXIS_COLLECTIVE, CLI_AXIS_NETWORK };
#define CLI_AXES (CLI_AXIS_NETWORK + CLI_NETWORK_COUNT)

typedef struct cli_axis {
    char column[40]; /* its title in the results */
    cli_values_t values;
} cli_axis_t;

typedef struct cli_sweep_grid {
    char *list[CLI_AXES];      /* the values of every axis as given, NULL: not given; set these, then call _finish */
    cli_axis_t axis[CLI_AXES]; /* those not given have no values */
    cli_selection_t selection; /* choice i is value i of the axis of algorithms */
    uint64_t points;           /* combinations of all values, … */
    uint64_t left_out;         /* … and those of them that cli_sweep_has not */
} cli_sweep_grid_t;

/* The name of an axis, as an option without dashes or a key: "torus", "algorithm", …, "slow-link". */
const char *cli_axis_name(int axis);
/* The axis of that name, or -1. */
int cli_axis_find(const char *name);

/* Reads the lists; what is not given and needed gets its default. TRV_ERR_ARGUMENT for bad values, no torus, or more
 * than 2^62 points. */
int cli_sweep_grid_finish(cli_sweep_grid_t *grid);
void cli_sweep_grid_clear(cli_sweep_grid_t *grid);
/* "2 tori × 14 algorithms × 12 sizes × 3 values of alpha": the axes with more than one value. Returns `text`. */
char *cli_sweep_grid_format(const cli_sweep_grid_t *grid, char *text, size_t size);
/* The lists as JSON, freed by the caller, and back (then call _finish). A list that is there already stays. */
char *cli_sweep_grid_dump(const cli_sweep_grid_t *grid);
/* Makes a list longer, with a comma between. */
int cli_sweep_append(char **list, const char *text);
int cli_sweep_grid_load(cli_sweep_grid_t *grid, const trv_json_t *json);

/* Whether the point is simulated: algorithms that nobody named (`all`) are left out where they do not serve the torus or
 * the collective. */
bool cli_sweep_has(const cli_sweep_grid_t *grid, uint64_t index);

/* The number of a value in an axis for the point at `index`. */
int cli_sweep_digit(const cli_sweep_grid_t *grid, uint64_t index, int axis);
/* Fills the point's torus, collective, choice, bytes and options (which refer to `network`). TRV_ERR_ARGUMENT with a
 * sentence where the parameters do not go together, or not with the torus. */
int cli_sweep_point(const cli_sweep_grid_t *grid, uint64_t index, cli_network_t *network, cli_point_t *point);

/* ---- Results and their file (rows.c) ----------------------------------------------------------------------- */

/* A plain value, which may be sent to another process of the same program. */
typedef struct cli_sweep_result {
    uint64_t index, packet_hops;
    double time_ns, wall_s;
    double share;                           /* of the work of the points it was simulated with, times their number */
    bool good;                              /* false: the reason stands in `error`, and there are no numbers */
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* that was asked for, the fastest of its family, or the plan */
    char error[400];
} cli_sweep_result_t;

typedef struct cli_sweep_rows {
    const char *path; /* NULL: stdout */
    cli_format_t format;
    const cli_sweep_grid_t *grid;
    cli_table_t table;
    int descriptor; /* of the file */
    bool regular;   /* a file of the disk, not a device or pipe: it is read, and cut behind its last whole row */
    off_t end;      /* behind its last whole row */
    uint64_t *done; /* the points it had at the start, ascending */
    size_t dones;
    int64_t done_capacity;
    bool numbers; /* any of its rows is no error */
} cli_sweep_rows_t;

/* Whether the path ends in .csv or .jsonl; TRV_ERR_ARGUMENT with a sentence otherwise. */
int cli_sweep_format_of(const char *path, cli_format_t *format);
/* Opens the file and reads its rows, or, with `restart`, empties it. A file of other columns or points is refused and
 * left as it is. */
int cli_sweep_rows_open(cli_sweep_rows_t *rows, const cli_sweep_grid_t *grid, const char *path, cli_format_t format,
                        bool restart);
/* Appends a row at once. Where that fails, the file is left with whole rows only. */
int cli_sweep_rows_add(cli_sweep_rows_t *rows, const cli_sweep_result_t *result);
int cli_sweep_rows_close(cli_sweep_rows_t *rows);

/* ---- Running (options.c, run.c) ---------------------------------------------------------------------------------- */

typedef struct cli_sweep {
    const char *command, *path; /* path of the results; NULL: stdout */
    cli_format_t format;
    bool restart, yes, dry, with_format, begun;
    int workers; /* 0: one per core */
    cli_sweep_grid_t grid;
    cli_sweep_rows_t rows;
    cli_progress_t progress;
    pthread_mutex_t lock;   /* of all below, and of the rows and the bar */
    uint64_t next;          /* points before it are done or being simulated */
    size_t skipped;         /* entries of rows.done that lie before it */
    uint64_t added, failed; /* rows, and those of them that are errors */
} cli_sweep_t;

/* Reads the command line into `sweep` and checks it. 0; 1 where --help was served; CLI_BAD after a sentence. */
int cli_sweep_read(cli_sweep_t *sweep, int argc, char **argv);
extern const cli_command_t cli_sweep_command;

/* Reads the command line and opens the results. 0; 1 where --help or --dry-run was served; CLI_BAD after printing a
 * sentence. In all cases cli_sweep_end must follow. */
int cli_sweep_begin(cli_sweep_t *sweep, int argc, char **argv);
/* Closes the results and says in a line what they are; the exit code, `rc` being how the run went. */
int cli_sweep_end(cli_sweep_t *sweep, int rc);
/* The exit code of a sweep that has ended well: CLI_WRONG where every row is an error. */
int cli_sweep_verdict(const cli_sweep_t *sweep);

/* How many points there are without those that are left out, and how many of them have no row yet; by who holds the
 * lock, or is alone. */
uint64_t cli_sweep_points(const cli_sweep_grid_t *grid);
uint64_t cli_sweep_pending(const cli_sweep_t *sweep);
/* Writes the next points to `index` and returns how many: at most `most`, and only one of `shares` parts of what is
 * left. 0: there are no more. Any thread may call it. */
size_t cli_sweep_take(cli_sweep_t *sweep, uint64_t *index, size_t most, unsigned shares);
/* Appends a row; any thread may call it. */
int cli_sweep_add(cli_sweep_t *sweep, const cli_sweep_result_t *result);

/* Called for every point, one call at a time, in any order; `i` is its place among them. */
typedef int cli_sweep_done_t(void *context, size_t i, const cli_sweep_result_t *result);

/* Simulates points of the grid. 0, what `done` returned, or a negative code. */
int cli_sweep_simulate(const cli_sweep_grid_t *grid, const uint64_t *index, size_t points, int workers,
                       cli_sweep_done_t *done, void *context);

#endif
