/*
 * trivance testbed bench: the interface of its parts.
 *
 * bench.c          options; a testbed for every torus, a job for every MPI library and mode
 * bench_job.c      the algorithms compared, the job (trivance bench), and its output
 * bench_predict.c  times predicted by the packet simulator
 * bench_program.c  a user's program instead: without the drop-in and with it
 * bench_output.c   tables, CSV, plots
 * bench_progress.c the progress bar
 */
#ifndef TRIVANCE_TESTBED_COMMAND_BENCH_H
#define TRIVANCE_TESTBED_COMMAND_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <trivance/algorithms.h>
#include <trivance/simulate.h>

#include "cli/shared/link_options.h"
#include "cli/shared/progress.h"
#include "cli/shared/table.h"
#include "schedule/collective.h"
#include "testbed/command/commands.h"

#define CLI_BENCH_SERIES_MAX 32
#define CLI_BENCH_SIZES_MAX  16
#define CLI_BENCH_NAME_MAX   48
#define CLI_BENCH_ROUNDS_MAX 101

/* A competitor: an algorithm of the MPI library, or one of Trivance for one type. */
typedef struct cli_series {
    bool own;
    char label[CLI_BENCH_NAME_MAX]; /* its name in trivance bench: "mpi:recdoub", "auto=int32" */
    char name[CLI_BENCH_NAME_MAX];  /* "recdoub", "trivance-b", "auto" */
    const char *type;               /* int, double, max */
} cli_series_t;

typedef struct cli_bench_cell {
    bool measured;
    double median_ns, min_ns, max_ns;
    int wrong;                              /* number of wrong elements, over all ranks; expected: 0 */
    double core_ns;                         /* time for which the ranks kept a core that they share busy */
    char served_by[TRV_ALGORITHM_NAME_MAX]; /* the algorithm that ran; "" if it is not known */
    double predicted_ns;                    /* NAN: no prediction */
} cli_bench_cell_t;

/* The times of a program. */
typedef struct cli_bench_times {
    double median_ns, min_ns, max_ns;
    bool whole;             /* times of the whole job, start included, because its ranks recorded none; otherwise: */
    double allreduce_share; /* fraction of the time in MPI_Allreduce, averaged over all ranks */
    long calls;             /* maximum number of these calls on a rank */
} cli_bench_times_t;

/* One job: a torus, an MPI library, rendezvous on or off. */
typedef struct cli_bench_job {
    tb_network_t network;
    double check_worst, lateness_p99_ns; /* from the check before the job */
    double lateness_job_p99_ns;          /* during the job */
    bool faithful;                       /* before and during the job */
    const char *mpi;
    bool rendezvous;
    cli_links_t links;
    int slow_links; /* number of directed slow and cut links */
    trv_collective_t collective;
    int rounds;
    int sizes, expected, series_count;
    uint64_t bytes[CLI_BENCH_SIZES_MAX];
    char algorithms[CLI_BENCH_SERIES_MAX * CLI_BENCH_NAME_MAX]; /* the list for trivance bench … */
    cli_series_t series[CLI_BENCH_SERIES_MAX];                  /* … of about `expected`; series_count have rows */
    double alpha_ns, message_ns; /* measured cost of a step, and of every message in it */
    double start_ns;             /* measured cost of starting all ranks together, on the cores that they share */
    double first_step_ns;        /* of the exchange whose rows are being read */
    cli_bench_cell_t cell[CLI_BENCH_SIZES_MAX][CLI_BENCH_SERIES_MAX];
    char **word; /* a program and its arguments: if set, only `times` is measured */
    int words;
    cli_bench_times_t times[2]; /* without the drop-in, and with it */
} cli_bench_job_t;

/* The network of the job: its torus, with its slow and cut links. Routes are fixed by the emulator. */
static inline trv_network_t cli_bench_network(const cli_bench_job_t *job)
{
    return (trv_network_t){TRV_NETWORK, .torus = job->network.torus, .slow_links = job->slow_links,
                           .slow_link = job->links.directed, .routes = TRV_ROUTES_FIXED};
}

/* Fills in `algorithms`: all algorithms of the MPI library, and those of the comma-separated list `algorithms` (NULL:
 * every algorithm of Trivance for the collective, planned and auto). TRV_ERR_ARGUMENT for an unknown name. */
int cli_bench_select(cli_bench_job_t *job, const char *algorithms);

/* A progress bar over all jobs. It is shown from the first row of a job to the job's end. */
typedef struct cli_bench_progress {
    cli_progress_t bar;
    const cli_bench_job_t *job; /* the job that runs */
    const char *rows;           /* the file to which it writes its rows */
    double done_ns;             /* the part of its expected work that is done */
    int sizes;                  /* number of sizes that it has measured … */
    double since_ns;            /* … at this time */
} cli_bench_progress_t;
void cli_bench_progress_begin(cli_bench_progress_t *progress, const cli_bench_job_t *job, int jobs);
void cli_bench_progress_job(cli_bench_progress_t *progress, const cli_bench_job_t *job, const char *rows);
void cli_bench_progress_watch(void *progress);
/* Reports start number `number` of the program, from 0; odd ones are with the drop-in. */
void cli_bench_progress_start(cli_bench_progress_t *progress, int number);
void cli_bench_progress_job_end(cli_bench_progress_t *progress);

/* Runs the job on the testbed that is up, and fills in its measurements; its files are written to `folder`. CLI_OK, or
 * an exit code after a message. */
int cli_bench_run(const char *command, cli_bench_job_t *job, const char *folder, cli_bench_progress_t *progress);

/* The same for a job that has a program. Its output is kept in the folder. */
int cli_bench_run_program(const char *command, cli_bench_job_t *job, const char *folder,
                          cli_bench_progress_t *progress);

/* Fills in predicted_ns if the algorithm is known. */
int cli_bench_predict(cli_bench_job_t *job);

/* The index of the MPI library's fastest algorithm for a size; -1 if none was measured. */
int cli_bench_best_own(const cli_bench_job_t *job, int size);
/* "MPICH, torus 9 of 50 Mb/s and 2 ms, rendezvous off": the title of the job's table. Returns `text`. */
#define CLI_BENCH_TITLE_MAX (TRV_TORUS_TEXT_MAX + CLI_LINKS_TEXT_MAX + 200)
char *cli_bench_title(const cli_bench_job_t *job, char text[CLI_BENCH_TITLE_MAX]);

/* Prints the job as a table, the emulator's lateness, and with `compare` the predictions beside the measurements. */
int cli_bench_print(const cli_bench_job_t *job, bool compare);
int cli_bench_print_program(const cli_bench_job_t *job);
/* Prints the line about the lateness, for either kind of job. */
void cli_bench_print_lateness(const cli_bench_job_t *job);
/* Prints, for all jobs, the gain of auto over the MPI library's best algorithm. */
int cli_bench_print_summary(const cli_bench_job_t *job, int jobs);
/* Lists the jobs that were not faithful; prints nothing if all were. */
void cli_bench_print_unfaithful(const cli_bench_job_t *job, int jobs);
/* Writes all jobs as CSV. */
int cli_bench_write_csv(const cli_bench_job_t *job, int jobs, const char *path);
int cli_bench_write_program_csv(const cli_bench_job_t *job, int jobs, const char *path);
/* The same with the columns in `key`, between those that every row has: the job it belongs to, and how faithful that
 * was. `write_rows` writes the rows of a job, each between row_begin and row_end. */
typedef void cli_bench_rows_t(cli_table_t *table, const cli_bench_job_t *job);
int cli_bench_write_rows(const cli_bench_job_t *job, int jobs, const char *keys, cli_bench_rows_t *write_rows,
                         const char *path);
void cli_bench_row_begin(cli_table_t *table, const cli_bench_job_t *job);
void cli_bench_row_end(cli_table_t *table, const cli_bench_job_t *job);
/* Draws the jobs of a CSV file as plots beside it, if there is a Python with matplotlib and the package trivance. */
int cli_bench_draw(const char *path);

/* "9-openmpi-eager", "9-openmpi-eager-broadcast": the base name of the job's files. Returns `text`. */
#define CLI_BENCH_LABEL_MAX (TRV_TORUS_TEXT_MAX + 48)
char *cli_bench_label(const cli_bench_job_t *job, char text[CLI_BENCH_LABEL_MAX]);

#endif
