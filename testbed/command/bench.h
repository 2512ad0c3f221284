/*
 * trivance testbed bench: the parts.
 *
 * bench.c          options; for every torus a testbed, for every MPI and mode a job
 * bench_job.c      the algorithms compared, the job (trivance bench), and its output
 * bench_predict.c  times predicted by the packet simulator
 * bench_program.c  a user's program instead: without the drop-in and with it
 * bench_output.c   tables, CSV
 * bench_plot.c     plots
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
#include "testbed/command/commands.h"

#define CLI_BENCH_RIVALS_MAX 32
#define CLI_BENCH_SIZES_MAX  16
#define CLI_BENCH_NAME_MAX   48
#define CLI_BENCH_ROUNDS_MAX 101

/* One that takes part: an algorithm of the MPI library, or of Trivance for one type. */
typedef struct cli_rival {
    bool own;
    char label[CLI_BENCH_NAME_MAX]; /* as trivance bench has it: "mpi:recdoub", "auto=int32" */
    char name[CLI_BENCH_NAME_MAX];  /* "recdoub", "trivance-b", "auto" */
    const char *type;               /* int, double, max */
} cli_rival_t;

typedef struct cli_bench_cell {
    bool measured;
    double median_ns, least_ns, most_ns;
    int wrong;                              /* elements, of all ranks: 0 */
    double core_ns;                         /* so long was a core that the ranks share busy with them */
    char served_by[TRV_ALGORITHM_NAME_MAX]; /* by which algorithm; "" where that is not known */
    double predicted_ns;                    /* NAN: nothing predicts it */
} cli_bench_cell_t;

/* What a program takes. */
typedef struct cli_bench_times {
    double median_ns, least_ns, most_ns;
    bool whole;             /* of the job, start included, because its ranks did not tell theirs; else … */
    double allreduce_share; /* … so much of it is in MPI_Allreduce, on the average of all ranks, … */
    long calls;             /* … in so many calls */
} cli_bench_times_t;

/* One job: a torus, an MPI, rendezvous on or off. */
typedef struct cli_bench_job {
    tb_network_t network;
    double check_worst, lateness_p99_ns; /* of the testbed, before its jobs */
    double lateness_job_p99_ns;          /* during the job */
    bool faithful;                       /* before it and during it */
    const char *mpi;
    bool rendezvous;
    cli_links_t links;
    int slow_links; /* of their directed ones */
    int rounds;
    int sizes, asked, rivals;
    uint64_t bytes[CLI_BENCH_SIZES_MAX];
    char algorithms[CLI_BENCH_RIVALS_MAX * CLI_BENCH_NAME_MAX]; /* what trivance bench is asked for, … */
    cli_rival_t rival[CLI_BENCH_RIVALS_MAX];                    /* … which are about `asked`, and those with rows */
    double alpha_ns, message_ns; /* what a step costs, and every message in it, as measured … */
    double start_ns;             /* … and that all ranks begin together, on the cores that they share */
    double first_step_ns;        /* of the exchange that is being read */
    cli_bench_cell_t cell[CLI_BENCH_SIZES_MAX][CLI_BENCH_RIVALS_MAX];
    char **word; /* a program and its arguments: it is measured, and nothing of the above */
    int words;
    cli_bench_times_t times[2]; /* without the drop-in, and with it */
} cli_bench_job_t;

/* The torus with the links, which are the job's; ways are the emulator's. */
static inline trv_network_t cli_bench_network(const cli_bench_job_t *job)
{
    return (trv_network_t){TRV_NETWORK, .torus = job->network.torus, .slow_links = job->slow_links,
                           .slow_link = job->links.directed, .routes = TRV_ROUTES_FIXED};
}

/* Fills in `algorithms`: all algorithms of the MPI library's, and of `algorithms`, a list with commas (NULL: every
 * form of Trivance, planned and auto). TRV_ERR_ARGUMENT for a name that there is not. */
int cli_bench_ask(cli_bench_job_t *job, const char *algorithms);

/* A bar over all jobs. It is shown from a job's first row to the job's end. */
typedef struct cli_bench_progress {
    cli_progress_t bar;
    const cli_bench_job_t *job; /* that runs … */
    const char *rows;           /* … and where it writes them */
    double done_ns;             /* of its work */
    int sizes;                  /* that it has measured … */
    double since_ns;            /* … at this time */
} cli_bench_progress_t;
void cli_bench_progress_begin(cli_bench_progress_t *progress, const cli_bench_job_t *job, int jobs);
void cli_bench_progress_job(cli_bench_progress_t *progress, const cli_bench_job_t *job, const char *rows);
void cli_bench_progress_watch(void *progress);
/* The program is started for the time `number`, from 0; the odd ones are with the drop-in. */
void cli_bench_progress_start(cli_bench_progress_t *progress, int number);
void cli_bench_progress_job_end(cli_bench_progress_t *progress);

/* Runs the job on the testbed that is up, and fills in what it measured; its files go to `folder`. CLI_OK, or an exit
 * code after a sentence. */
int cli_bench_run(const char *command, cli_bench_job_t *job, const char *folder, cli_bench_progress_t *progress);

/* The same for a job that has a program. Its output is kept in the folder. */
int cli_bench_run_program(const char *command, cli_bench_job_t *job, const char *folder,
                          cli_bench_progress_t *progress);

/* Fills in predicted_ns where the algorithm is known. */
int cli_bench_predict(cli_bench_job_t *job);

/* The fastest of the MPI library's own for a size; -1 where none was measured. */
int cli_bench_best_own(const cli_bench_job_t *job, int size);
/* "MPICH, torus 9 of 50 Mb/s and 2 ms, rendezvous off": heads the job's table and its plot. Returns `text`. */
#define CLI_BENCH_TITLE_MAX (TRV_TORUS_TEXT_MAX + CLI_LINKS_TEXT_MAX + 200)
char *cli_bench_title(const cli_bench_job_t *job, char text[CLI_BENCH_TITLE_MAX]);

/* The job as a table, how late the emulator was, and measured against predicted where `compare`. */
int cli_bench_print(const cli_bench_job_t *job, bool compare);
int cli_bench_print_program(const cli_bench_job_t *job);
/* The line about the lateness, of both. */
void cli_bench_print_lateness(const cli_bench_job_t *job);
/* Of all jobs, what auto gains over the best of the library's own. */
int cli_bench_print_summary(const cli_bench_job_t *job, int jobs);
/* Which were not faithful; nothing where all were. */
void cli_bench_print_unfaithful(const cli_bench_job_t *job, int jobs);
/* All jobs as CSV. */
int cli_bench_write_csv(const cli_bench_job_t *job, int jobs, const char *path);
int cli_bench_write_program_csv(const cli_bench_job_t *job, int jobs, const char *path);
/* With the columns that `key` names, and before and after them those that every row has: where it is from, and how
 * faithful that was. `write_rows` writes a job's, each between row_begin and row_end. */
typedef void cli_bench_rows_t(cli_table_t *table, const cli_bench_job_t *job);
int cli_bench_write_rows(const cli_bench_job_t *job, int jobs, const char *const *key, int keys,
                         cli_bench_rows_t *write_rows, const char *path);
void cli_bench_row_begin(cli_table_t *table, const cli_bench_job_t *job);
void cli_bench_row_end(cli_table_t *table, const cli_bench_job_t *job);
/* The job as a script of gnuplot, and what it draws (where there is gnuplot), in `folder`. */
int cli_bench_plot(const cli_bench_job_t *job, const char *folder);

/* "9-openmpi-eager": names the job's files. Returns `text`. */
#define CLI_BENCH_LABEL_MAX (TRV_TORUS_TEXT_MAX + 32)
char *cli_bench_label(const cli_bench_job_t *job, char text[CLI_BENCH_LABEL_MAX]);

#endif
