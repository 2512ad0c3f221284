/*
 * trivance-mpi bench: collectives on real MPI ranks, every result checked.
 *
 *     bench_options.c  what the user asked for
 *     bench_entries.c  the algorithms among it
 *     bench_schedule.c a schedule of the user's own, from a file
 *     bench_data.c     inputs whose results are known exactly, and the check
 *     bench_measure.c  rows: calls, their check, their times on all ranks; exchanges with neighbours
 *     bench_output.c   rows as table, csv, json, or laid out as the OSU benchmarks and nccl-tests do
 *     bench_matrix.c   a mark for every result instead of rows
 *     bench.c          which rows, in which order
 */
#ifndef TRIVANCE_CLI_MPI_BENCH_H
#define TRIVANCE_CLI_MPI_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include <trivance/algorithms.h>
#include <trivance/network.h>
#include <trivance/reduce.h>
#include <trivance/schedule.h>

#include "cli/mpi/call.h"
#include "cli/mpi/crowd.h"
#include "cli/shared/select.h"
#include "cli/shared/table.h"

#define BENCH_TORI_MAX       16
#define BENCH_SIZES_MAX      256
#define BENCH_ENTRIES_MAX    (CLI_CHOICES_MAX + 10)
#define BENCH_TRANSPORTS_MAX 2

/* ---- Data -------------------------------------------------------------------------------------------------------- */

/* A vector's content repeats with this period, in elements: a prime, so that a block in a wrong place is seen. */
#define BENCH_PERIOD 1009

typedef struct bench_data {
    trv_collective_t collective;
    trv_type_t type;
    trv_op_t op;
    int rank, ranks;
    char *input;    /* BENCH_PERIOD elements: what this rank contributes */
    char *expected; /* BENCH_PERIOD elements: the reduction of all ranks' */
} bench_data_t;

/* Collective, type and operation are the caller's. */
int bench_data_init(bench_data_t *data, int rank, int ranks);
void bench_data_clear(bench_data_t *data);
/* Fills the send buffer: `count` elements, a block per rank for Reduce-Scatter. */
void bench_data_fill(const bench_data_t *data, char *buffer, uint64_t count);
/* Elements of the result that are wrong; `count` as the executor's (a block for Reduce-Scatter and AllGather). */
uint64_t bench_data_wrong(const bench_data_t *data, const char *result, uint64_t count);
/* Equal for bitwise equal results (the padding inside long doubles is left out). */
uint64_t bench_data_hash(const bench_data_t *data, const char *result, uint64_t count);

/* ---- Options ----------------------------------------------------------------------------------------------------- */

typedef enum bench_format { BENCH_TABLE, BENCH_CSV, BENCH_JSON, BENCH_OSU, BENCH_NCCL, BENCH_MATRIX } bench_format_t;

/* One entry of --algorithm: an algorithm, a family (the fastest of its members is shown), the MPI library's own
 * collective ("mpi", "mpi:ring"), what TRV_Comm_set leaves to the library ("auto", "planned"), the schedule of a file,
 * or exchanges with the neighbours. */
typedef enum bench_kind { BENCH_ALGORITHM, BENCH_LIBRARY, BENCH_CHOSEN, BENCH_SCHEDULE, BENCH_EXCHANGE } bench_kind_t;

typedef struct bench_entry {
    bench_kind_t kind;
    bool required; /* named by the user: it must serve one of the tori */
    int setting;   /* BENCH_LIBRARY: the number of its algorithm (call.h) … */
    MPI_Comm comm; /* … and what it runs on; MPI_COMM_NULL: all that run have one */
    cli_choice_t choice;
    char label[TRV_ALGORITHM_NAME_MAX + 32]; /* as typed: "auto=int32", of a family's member its name */
    bench_data_t data;                       /* with its type and operation */
} bench_entry_t;

typedef struct bench_options {
    trv_collective_t collective;
    int tori, sizes, entries, transports;
    int transport[BENCH_TRANSPORTS_MAX]; /* trv_transport_way_t */
    trv_torus_t torus[BENCH_TORI_MAX];
    trv_network_t network; /* of the environment, with its links: the only torus is that one; else it has no ranks */
    bench_entry_t entry[BENCH_ENTRIES_MAX];
    uint64_t bytes[BENCH_SIZES_MAX]; /* of the whole vector */
    trv_type_t type;                 /* of entries that name none */
    trv_op_t op;
    int iterations, warmup; /* -1: adapted to the time of a run */
    bool in_place, check, turns;
    bool full; /* OSU's -f */
    bench_format_t format;
    trv_schedule_t *schedule; /* of --schedule, verified; NULL: none. bench_options_clear destroys it */
} bench_options_t;

/* CLI_OK; -1 when there is nothing to run (--help was served); else the exit code. All ranks get the same; rank 0
 * prints. */
int bench_options(int argc, char **argv, MPI_Comm comm, bench_options_t *options);

void bench_options_clear(bench_options_t *options);

/* bench_entries.c: reads --algorithm. `comm` is for the MPI library's algorithms. */
int bench_read_entries(bench_options_t *options, const char *list, MPI_Comm comm);
/* Appends an entry, unless there is one with the same label. */
int bench_add_entry(bench_options_t *options, const bench_entry_t *entry);
/* 0 if MPI has the type and the operation is defined on it. */
int bench_check_elements(const bench_options_t *options, trv_type_t type, trv_op_t op);
/* 0 if a member of the entry, with the parameters that were typed, may serve the collective and the operation on the
 * torus, else the reason. */
int bench_serves(const bench_options_t *options, const bench_entry_t *entry, int member, const trv_torus_t *torus);

/* What carries the messages of an entry's i-th lines: "mpi" or "ofi"; NULL for the MPI library's own collective. */
const char *bench_transport(const bench_options_t *options, const bench_entry_t *entry, int i);

/* bench_schedule.c: reads a schedule file on rank 0, gives it to all ranks and verifies it there. 0, CLI_WRONG or a
 * negative code on all ranks alike. */
int bench_schedule_load(const char *path, MPI_Comm comm, trv_schedule_t **schedule);

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Common to all measurements. */
typedef struct bench_team {
    const bench_options_t *options;
    MPI_Comm comm;
    int rank, ranks;
    char *send, *receive; /* of the largest vector */
} bench_team_t;

typedef struct bench_row {
    const trv_torus_t *torus;
    const bench_entry_t *entry;
    char algorithm[TRV_ALGORITHM_NAME_MAX];
    const char *transport; /* "mpi", "ofi"; NULL: the library's own affair */
    uint64_t bytes, count; /* of the whole vector, in bytes and elements */
    bool in_place;
    int steps, iterations;
    uint64_t bytes_sent;                  /* most over the ranks */
    double average_us, least_us, most_us; /* per rank the average, then over the ranks; in turns the median and the
                                           * bounds over the runs, each to the last rank's end … */
    double core_us;                       /* … and how long a run keeps each core busy */
    double spread;                        /* the average against the shortest run */
    uint64_t wrong;                       /* of all ranks */
    bool checked, identical;
} bench_row_t;

/* One measurement: an entry's member (-1: what it leaves to others), over the way of `transport`. */
typedef struct bench_task {
    const trv_torus_t *torus;
    const bench_entry_t *entry;
    int member, transport;
    uint64_t bytes;
    bool in_place;
} bench_task_t;

/* Fills in the row, on all ranks alike. 0, or a negative code. */
int bench_measure(const bench_team_t *team, const bench_task_t *task, bench_row_t *row);
/* The same of several tasks in turns, by the clock of the machine that the ranks are on. */
int bench_measure_turns(const bench_team_t *team, const bench_task_t *task, int tasks, bench_row_t *row);

/* Exchanges of 8 bytes with all neighbours in the first dimensions, in turns: two rows for each number of
 * neighbours, of one step and of several, one after another. */
#define BENCH_EXCHANGES_MAX (2 * TRV_DIMS_MAX)
int bench_measure_exchange(const bench_team_t *team, const bench_task_t *task, bench_row_t *row, int *rows);

/* GB/s by the customs of nccl-tests. */
double bench_algorithm_bandwidth(const bench_row_t *row);
double bench_bus_bandwidth(const bench_row_t *row);

/* ---- Output (rank 0) --------------------------------------------------------------------------------------------- */

typedef struct bench_output {
    const bench_options_t *options;
    const crowd_t *crowd;
    cli_table_t table;
    uint64_t wrong;
    double bandwidth; /* sum of bus bandwidths */
    int rows;
    unsigned char *mark; /* of --format=matrix, by torus, entry and size */
} bench_output_t;

void bench_output_begin(bench_output_t *output, const bench_options_t *options, const crowd_t *crowd, int ranks);
/* Before the rows of an algorithm on a torus, for the layouts that show one at a time. `transport`: NULL, not told. */
void bench_output_section(bench_output_t *output, const trv_torus_t *torus, const bench_entry_t *entry,
                          const char *transport);
/* `second`: the in-place run beside the first one (nccl layout only), else NULL. */
void bench_output_row(bench_output_t *output, const bench_row_t *row, const bench_row_t *second);
int bench_output_end(bench_output_t *output);

/* bench_matrix.c: the output of --format=matrix. */
void bench_matrix_begin(bench_output_t *output);
void bench_matrix_row(bench_output_t *output, const bench_row_t *row);
int bench_matrix_end(bench_output_t *output);

/* The whole program: the exit code. */
int bench_main(int argc, char **argv);

#endif
